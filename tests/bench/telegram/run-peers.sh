#!/usr/bin/env bash
# Runs scenarios over several bots, one bot after another within each scenario, so that all of them meet the machine in the
# same mood. Makes no table; run.sh does, and names the scenarios of the table.
#
#   PEERS=DIR tests/bench/telegram/run-peers.sh OUT.json "SCENARIOS [OPTIONS]"...
#
# DIR is what install-peers.sh was given. BOTS names the bots, of: null teloxide ours hubot grammy ptb aiogram errbot opsdroid
# nanobot hermes openclaw (default: null teloxide ours). OPTIONS are those of tgbench.py. Results are added to OUT.json.
set -uo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
case "${1:-}" in
    "" | -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
if [[ -n "${PEERS:-}" ]]; then
    # shellcheck source=/dev/null
    source "$PEERS/env" || exit 2
fi

# Set for Python on some machines; a peer would compile its libraries at each start.
unset PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED

# The bot's command, in the array `command`, and what is to be done before each start of it.
command_of() {
    prepare=()
    case "$1" in
        null) command=("${PY:?}" "$here/bots/null_bot.py") ;;
        ours) command=("${OURS:-$here/bots/ours.sh}") prepare=(--prepare "'${OURS:-$here/bots/ours.sh}' prepare") ;;
        teloxide) command=("${TELOXIDE_ECHO:?}") ;;
        ptb) command=("${PTB_PY:?}" "$here/bots/ptb_echo.py") ;;
        aiogram) command=("${PTB_PY:?}" "$here/bots/aiogram_echo.py") ;;
        grammy) command=(node "$here/bots/grammy_echo.js") ;;
        # What these two import from here would leave __pycache__ behind.
        errbot) command=(env PYTHONDONTWRITEBYTECODE=1 "${ERRBOT:?}" -c "$here/bots/errbot_root/config.py") ;;
        opsdroid) command=(env PYTHONDONTWRITEBYTECODE=1 "${OPSDROID_PY:?}" "$here/bots/opsdroid_run.py") ;;
        hubot)
            local root="$here/bots/hubot_root"
            command=(env -C "$root" node "${HUBOT:?}" -d -n hubot -f "$root/tgadapter.mjs")
            ;;
        nanobot) command=("${NANOBOT_PY:?}" "$here/bots/nanobot_run.py") ;;
        hermes) command=("${HERMES_PY:?}" "$here/bots/hermes_run.py") ;;
        openclaw) command=("$here/bots/openclaw_run.sh") ;;
        *) echo "run-peers.sh: no bot is called \`$1\`" >&2; return 1 ;;
    esac
}

out="$1"
shift
failed=0
for spec in "$@"; do
    read -r -a words <<<"$spec"
    for bot in ${BOTS:-null teloxide ours}; do
        command_of "$bot" || exit 2
        timeout 300 "${PY:?run install-peers.sh, and name its folder in PEERS}" -B "$here/tgbench.py" --name "$bot" --out "$out" \
            --scenarios "${words[0]}" "${words[@]:1}" "${prepare[@]}" -- "${command[@]}" || failed=1
    done
done
exit "$failed"

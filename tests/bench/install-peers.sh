#!/usr/bin/env bash
# Installs what the Telegram bench runs beside our bot: the harness's Python, the peers, and the teloxide floor. Everything
# goes into one folder outside the repository, with a file `env` that telegram/run-peers.sh reads. Measures nothing.
#
#   tests/bench/install-peers.sh DIR            all of them
#   tests/bench/install-peers.sh DIR PEER...    only these: harness teloxide node ptb errbot opsdroid limits agents
#
# Needs python3 with venv, node 20 or newer with npm, and cargo. The versions are those the figures in README.md were
# measured with. What is already there is installed again, which changes nothing.
set -euo pipefail

PYTHON_TELEGRAM_BOT=22.8 AIOGRAM=3.31.0 ERRBOT=6.2.1 OPSDROID=0.31.0 GRAMMY=1.46.0 HUBOT=14.1.0
NANOBOT=0.3.5 HERMES=0.19

repository="$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../..")"

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

# venv NAME REQUIREMENT...: a virtual environment of its own, because the peers disagree about their libraries.
venv() {
    local name="$1"
    shift
    [[ -x "$dir/$name/bin/python" ]] || python3 -m venv "$dir/$name"
    "$dir/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
    # Compiled as on a server, so that a start is not a compilation.
    "$dir/$name/bin/python" -m compileall -q "$dir/$name/lib" >/dev/null || true
}

install_harness() {
    venv harness uvloop httptools orjson aiohttp
    remember PY "$dir/harness/bin/python"
}

install_ptb() {
    venv ptb "python-telegram-bot==$PYTHON_TELEGRAM_BOT" "aiogram==$AIOGRAM"
    remember PTB_PY "$dir/ptb/bin/python"
}

# errbot's Telegram backend is of python-telegram-bot's old line, and imports pkg_resources, which setuptools 80 dropped.
install_errbot() {
    venv errbot "errbot==$ERRBOT" "python-telegram-bot==13.15" "setuptools<80"
    remember ERRBOT "$dir/errbot/bin/errbot"
}

install_opsdroid() {
    # emoji: its Telegram connector imports it, and the package does not ask for it.
    venv opsdroid "opsdroid==$OPSDROID" emoji "setuptools<80"
    remember OPSDROID_PY "$dir/opsdroid/bin/python"
}

install_node() {
    mkdir -p "$dir/node"
    npm install --silent --no-fund --no-audit --prefix "$dir/node" "grammy@$GRAMMY" "hubot@$HUBOT"
    remember NODE_MODS "$dir/node/node_modules"
    remember HUBOT "$dir/node/node_modules/hubot/bin/Hubot.mjs"
}

# built NAME FOLDER [CRATE VERSION]: a release build of our own program in FOLDER, from a copy, so that neither a lock file nor
# a target folder appears in the repository; with that crate held at that version.
built() {
    local name="$1" source="$2"
    shift 2
    rm -rf -- "$dir/$name/source"
    mkdir -p "$dir/$name"
    cp -r -- "$repository/tests/bench/$source" "$dir/$name/source"
    (
        cd "$dir/$name/source"
        [[ $# == 0 ]] || cargo update --quiet "$1" --precise "$2"
        CARGO_TARGET_DIR="$dir/$name/target" cargo build --release --quiet
    )
}

# The last takecell that compiles on the Rust of this repository.
install_teloxide() {
    built teloxide telegram/bots/teloxide_echo takecell 0.1.1
    remember TELOXIDE_ECHO "$dir/teloxide/target/release/teloxide_echo"
}

# Agents with a model, for run-agents.sh; not among the defaults, because they are large.
install_agents() {
    # Its Telegram channel installs its library at the first start, unless that is there.
    venv nanobot "nanobot-ai==$NANOBOT" "python-telegram-bot[socks]==$PYTHON_TELEGRAM_BOT"
    remember NANOBOT_PY "$dir/nanobot/bin/python"
    venv hermes "hermes-agent[messaging]==$HERMES"
    remember HERMES_PY "$dir/hermes/bin/python"
}

# What the machine itself can do; not among the defaults, because it takes long to build.
install_limits() {
    built limits limits
    remember PHYSICAL_LIMITS "$dir/limits/target/release/limits"
}

# remember NAME VALUE: one line of DIR/env, in the place of the one that stood there.
remember() {
    touch "$dir/env"
    sed -i "/^export $1=/d" "$dir/env"
    printf 'export %s=%q\n' "$1" "$2" >>"$dir/env"
}

case "${1:-}" in
    "" | -h | --help) usage; exit 0 ;;
esac
dir="$(realpath -m -- "$1")"
shift
if [[ "$dir/" == "$repository/"* ]]; then
    echo "install-peers.sh: $dir is inside the repository; name a folder outside it" >&2
    exit 2
fi
mkdir -p -- "$dir"
for peer in "${@:-harness teloxide node ptb errbot opsdroid}"; do
    for name in $peer; do
        [[ "$(type -t "install_$name")" == function ]] || {
            echo "install-peers.sh: no peer is called \`$name\`" >&2
            usage >&2
            exit 2
        }
        echo "installing $name"
        "install_$name"
    done
done
echo "installed into $dir; now: PEERS=$dir tests/bench/telegram/run.sh"

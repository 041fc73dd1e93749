#!/usr/bin/env bash
# What a turn costs beside the model: our bot and agents that others wrote, over the fake Bot API, with a fake model that answers
# at once. Prints a table in Markdown: model calls a request, bytes of what a model is sent, processor time and waiting a turn.
#
#   cargo build --release --features model,telegram
#   tests/bench/install-peers.sh DIR harness agents
#   PEERS=DIR tests/bench/telegram/run-agents.sh [OUT]
#
# OUT (DIR/out/agents) is a folder that must not exist. BOTS names the bots (ours nanobot hermes), TURNS how many turns each
# takes (30), ROUNDS how often each is run, one after another (3): the table has the medians.
set -uo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
case "${1:-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
# shellcheck source=/dev/null
source "${PEERS:?the folder that install-peers.sh was given}/env" || exit 2
out="${1:-$PEERS/out/agents}"
if [[ -e "$out" ]]; then
    echo "run-agents.sh: $out is there already; remove it, or name another folder" >&2
    exit 2
fi
mkdir -p -- "$out"

failed=0
for round in $(seq "${ROUNDS:-3}"); do
    for bot in ${BOTS:-ours nanobot hermes}; do
        echo "$(date +%H:%M:%S) round $round: $bot, load $(cut -d' ' -f1 /proc/loadavg)" >&2
        port="$("${PY:?run install-peers.sh with \`harness\`}" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')"
        # A model of its own for each, so that its log holds nobody else's calls.
        "$PY" "$here/fakellm.py" --port "$port" --log "$out/$bot.$round.calls.jsonl" &
        model=$!
        # A bot that is quicker than it would be told that there is no model.
        "$PY" - "$port" <<'WAIT'
import socket, sys, time
for _ in range(200):
    try:
        sys.exit(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close())
    except OSError:
        time.sleep(0.05)
sys.exit("the fake model does not listen")
WAIT
        SPOKES="${SPOKES:-true}" LLM_BASE="http://127.0.0.1:$port/v1" BOTS="$bot" "$here/run-peers.sh" "$out/turns.json" \
            "turns --turns ${TURNS:-30} --boot-timeout 120 --message-timeout 120" >>"$out/log.txt" 2>&1 || failed=1
        kill "$model" 2>/dev/null
        wait "$model" 2>/dev/null
    done
done
"$PY" "$here/agents.py" "$out"
exit "$failed"

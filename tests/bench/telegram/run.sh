#!/usr/bin/env bash
# The whole table of BENCH.md section A for our bot beside its peers, in one run: at most 25 minutes on two cores, which should
# have nothing else to do. Prints the table in Markdown at the end.
#
#   cargo build --release --features telegram
#   tests/bench/install-peers.sh DIR
#   PEERS=DIR tests/bench/telegram/run.sh [OUT.json]
#
# OUT.json (DIR/out/table.json) must not exist: two runs do not go into one table. ROUNDS (3) is how often the noisy scenarios
# are run; the table has the medians. BOTS names the bots.
set -euo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
case "${1:-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
out="${1:-${PEERS:?the folder that install-peers.sh was given}/out/table.json}"
if [[ -e "$out" ]]; then
    echo "run.sh: $out is there already; remove it, or name another file" >&2
    exit 2
fi
mkdir -p -- "$(dirname -- "$out")"
export BOTS="${BOTS:-null teloxide ours hubot grammy ptb errbot}"
ours="${COUNTERSIGN:-$here/../../../target/release/countersign}"
if [[ " $BOTS " == *" ours "* && ! -x "$ours" ]]; then
    echo "run.sh: $ours is missing; build it with: cargo build --release --features telegram" >&2
    exit 2
fi

peers() { "$here/run-peers.sh" "$out" "$@" >>"$out.txt" || echo "   some bot failed; see $out.txt" >&2; }
now_running() { echo "$(date +%H:%M:%S) $*, load $(cut -d' ' -f1 /proc/loadavg)" >&2; }

for round in $(seq "${ROUNDS:-3}"); do
    now_running "round $round: closed, open, fair"
    peers "closed --duration 2 --warm 200" "open --duration 2.5 --rates 20,50,100 --warm 100" "fair --quiet 30 --warm 50"
done
now_running "once: cold, idle, lat, burst, limited, chats"
peers "cold --cold-runs 5" "idle" "lat --closed 16,64 --duration 4 --warm 20" "burst --settle-s 15" limited \
    "chats --chats 500,1000,2000,4000"
now_running "done"
"${PY:-python3}" "$here/table.py" "$out"

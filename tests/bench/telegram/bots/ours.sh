#!/usr/bin/env bash
# Starts our bot for the Telegram bench: makes the configuration for the fake's address, and becomes the bot. Rights, rules,
# rates, audit trail and database are all on; only the limits are lifted that would silence a load test.
#
#   bots/ours.sh prepare    only makes the files in $TG_DATA, so that this does not count as the bot's start
#   bots/ours.sh            makes them where they are missing, and starts the bot
#
# From tgbench.py: TG_BASE, TG_TOKEN, TG_DATA (a fresh folder), TG_SCENARIO, LIMITS (on: the platform limits as shipped; else
# lifted, because then the fake has none). From whoever runs it: COUNTERSIGN, the binary (target/release/countersign), and
# SPOKES=true to start the built-in tool server, too, whose memory is reported apart. LLM_BASE: the model, which is then asked
# what else a rule would answer.
set -euo pipefail

bots="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
binary="${COUNTERSIGN:-$bots/../../../../target/release/countersign}"
data="${TG_DATA:-$(mktemp -d)}"

configuration() {
    printf '[telegram]\napi_url = "%s"\n' "${TG_BASE:?the base URL of the Bot API}"
    if [[ "${LIMITS:-off}" != on ]]; then
        printf '%s = 0\n' per_second per_chat_per_second per_group_per_minute
    fi
    if [[ -n "${LLM_BASE:-}" ]]; then
        printf '[model]\nbase_url = "%s"\nsmart = "fake-model"\n' "$LLM_BASE"
    fi
    printf '[intents]\nfile = "intents.toml"\n[access]\nfile = "access.toml"\n'
    printf '[spokes.host]\nenabled = %s\n' "${SPOKES:-false}"
    # As high as they go. `at_work` stays as it is: it is no limit on what people say, but how turns are shared.
    printf '[rates]\nopen_per_person = 1000000\n'
    local who
    for who in person stranger strangers room team resolve read write; do
        printf '[rates.%s]\nper_minute = 1000000\nburst = 1000000\n' "$who"
    done
}

intents() {
    if [[ -n "${LLM_BASE:-}" ]]; then
        printf '[[intent]]\nname = "ping"\nabout = "whether it is there"\nexamples = ["ping"]\npatterns = ["ping"]\nreply = "pong"\n'
        return
    fi
    cat <<'INTENTS'
[[intent]]
name = "bench-restart"
about = "the canned answer of the bench"
examples = ["restart svc7 n42"]
patterns = ['''restart (?P<service>\S+) (?P<nonce>\S+)''']
reply = "ok restart {service} {nonce}"
INTENTS
}

# people FIRST COUNT: each chat of scenarios.py is a person of its own, who may talk and read.
people() {
    seq "$1" "$(($1 + $2 - 1))" | awk '{
        printf "[[people]]\nname = \"p%s\"\naccounts = [\"telegram:%s\"]\nroles = [\"viewer\"]\n", $1, $1
    }'
}

access() {
    people 50 2
    people 500 1
    people 600 8
    people 777 1
    people 10000 64
    people 20000 50
    people 30000 20
    people 40000 200
    people 60000 10
    if [[ "${TG_SCENARIO:-}" == chats ]]; then
        people 1000000 10000
    fi
}

prepare() {
    intents >"$data/intents.toml"
    access >"$data/access.toml"
    configuration >"$data/countersign.toml"
}

case "${1:-}" in
    prepare) prepare; exit 0 ;;
    "") [[ -e "$data/countersign.toml" ]] || prepare ;;
    *) echo "ours.sh: unknown argument \`$1\`" >&2; exit 2 ;;
esac
[[ -x "$binary" ]] || { echo "ours.sh: $binary is missing; build it with: cargo build --release --features telegram" >&2; exit 2; }
# The token comes from the environment, as a team's would.
export COUNTERSIGN_TELEGRAM__TOKEN="${TG_TOKEN:?the token of the bot}"
exec "$binary" --config "$data/countersign.toml" --data "$data/state"

#!/usr/bin/env python3
"""The table of run-agents.sh: what each bot sent to the model, and what its turns cost. Reads the folder that it wrote into."""

import collections
import glob
import json
import os
import statistics
import sys

COLUMNS = [
    "bot",
    "model calls a request",
    "bytes sent: first / last turn",
    "of them tools / system",
    "CPU ms per turn",
    "p50 ms per turn",
    "RSS MiB before / after",
]


def calls_of(folder, bot):
    """Of each round, what was sent, by request: the number in the question tells one from another. What a bot asks a model
    beside that, as for a title, counts to no request and is told apart."""
    rounds = []
    for path in sorted(glob.glob(f"{folder}/{bot}.*.calls.jsonl")):
        by_request, others = collections.OrderedDict(), 0
        with open(path) as file:
            for line in file:
                call = json.loads(line)
                if call["nonce"] is None:
                    others += 1
                else:
                    by_request.setdefault(call["nonce"], []).append(call)
        rounds.append((list(by_request.values()), others))
    return rounds


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def shown(value):
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) and value < 100 else f"{value:.0f}"


def row(folder, bot, rounds):
    sound = [one for one in rounds if "error" not in one]
    calls = [(requests, others) for requests, others in calls_of(folder, bot) if requests]
    each = [(sum(map(len, requests)) + others) / len(requests) for requests, others in calls]
    first = [requests[0][0] for requests, _ in calls]
    last = [requests[-1][-1] for requests, _ in calls]
    waited = [value for one in sound for value in one["waited_ms"]]
    memory = [tuple(one[when].get("rss_mib") for when in ("before", "after")) for one in sound]
    figures = [
        shown(median(each)),
        f"{shown(median([call['bytes'] for call in first]))} / {shown(median([call['bytes'] for call in last]))}",
        f"{shown(median([call['tool_bytes'] for call in first]))} / {shown(median([call['system_bytes'] for call in first]))}",
        shown(median([one["cpu_ms"] for one in sound])),
        shown(median(waited)),
        f"{shown(median([one[0] for one in memory]))} / {shown(median([one[1] for one in memory]))}",
    ]
    return f"| {bot} | {' | '.join(figures)} |"


def main(folder):
    with open(os.path.join(folder, "turns.json")) as file:
        results = json.load(file)
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for bot, scenarios in results.items():
        print(row(folder, bot, scenarios["turns"]))
        for one in scenarios["turns"]:
            if "error" in one:
                print(f"{bot}: {one['error']}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])

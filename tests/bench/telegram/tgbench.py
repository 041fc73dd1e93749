#!/usr/bin/env python3
"""Drives one Telegram bot, in any language, against the fake Bot API and measures it:

    tgbench.py --name ptb --out out.json --scenarios cold,closed -- COMMAND ARGUMENT...

The bot finds TG_BASE (the API's base URL), TG_TOKEN, TG_PORT and TG_DATA (a folder of its own, empty at each start) in its
environment, TG_SCENARIO, and LIMITS=on where the fake keeps Telegram's limits. It must answer `restart svc7 n42` with a text
that holds `n42`; `--match chat` pairs replies by chat instead, for bots that do not echo. Each run of a scenario is added to
the file, so that the same command once more gives another round; table.py makes medians of them. Scenarios are in
scenarios.py."""

import argparse
import asyncio
import json
import os
import sys

from bench import Bench
from scenarios import SCENARIOS


def numbers(text):
    return [float(one) if "." in one else int(one) for one in text.split(",")]


def options(arguments, command):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--name", required=True, help="what the bot is called in the file")
    add("--out", required=True, help="the JSON file; the bot's own output goes beside it")
    add("--scenarios", default="cold,closed", help=f"of {', '.join(SCENARIOS)}")
    add("--prepare", help="a shell command before each start of the bot, in its environment; it counts for nothing")
    add("--text", default="restart svc{k} n{n}")
    add("--match", choices=["nonce", "chat"], default="nonce")
    add("--duration", type=float, default=8, help="seconds for one step of closed, open, lat")
    add("--closed", type=numbers, default=[1, 16, 64], help="chats at once, in closed and lat")
    add("--rates", type=numbers, default=[20, 50, 100], help="messages a second, in open")
    add("--chats", type=numbers, default=[1000, 5000, 10000], help="different chats, in chats")
    add("--noisy", type=int, default=20, help="noisy chats, in fair")
    add("--depth", type=int, default=10, help="open questions of each of them")
    add("--quiet", type=int, default=30, help="questions of the quiet chat")
    add("--warm", type=int, default=300, help="messages before it counts")
    add("--burst", type=int, default=1000)
    add("--settle-s", type=float, default=30, help="seconds after a burst until memory is read again")
    add("--limited", type=int, default=100, help="messages in limited")
    add("--turns", type=int, default=30)
    add("--cold-runs", type=int, default=3)
    add("--idle-s", type=float, default=8)
    add("--message-timeout", type=float, default=60)
    add("--boot-timeout", type=float, default=60)
    found = parser.parse_args(arguments)
    found.command = command
    wrong = set(found.scenarios.split(",")) - set(SCENARIOS)
    if wrong or not command:
        parser.error(f"no such scenario: {', '.join(sorted(wrong))}" if wrong else "no command after `--`")
    return found


async def measure(given, scenario):
    """One scenario. What goes wrong with the bot is its result; the bot is ended in any case."""
    bench = Bench(given, scenario)
    try:
        found = await SCENARIOS[scenario](bench)
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    finally:
        await bench.end()
    return {**found, "stray": bench.stray} if bench.stray else found


def keep(path, name, scenario, found):
    """Adds one round to the file: {bot: {scenario: [round, ...]}}."""
    results = {}
    if os.path.exists(path):
        with open(path) as file:
            results = json.load(file)
    results.setdefault(name, {}).setdefault(scenario, []).append(found)
    with open(f"{path}.new", "w") as file:
        json.dump(results, file, indent=1)
    os.replace(f"{path}.new", path)


async def main(given):
    """Runs the scenarios; whether all of them came to figures."""
    sound = True
    for scenario in given.scenarios.split(","):
        found = await measure(given, scenario)
        keep(given.out, given.name, scenario, found)
        print(given.name, scenario, json.dumps(found), flush=True)
        sound = sound and "error" not in found
    return sound


if __name__ == "__main__":
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = options(sys.argv[1:split], sys.argv[split + 1 :])
    try:
        import uvloop
    except ImportError:
        print("uvloop is not installed: the harness costs more than it should", file=sys.stderr)
    else:
        uvloop.install()
    sys.exit(0 if asyncio.run(main(given)) else 1)

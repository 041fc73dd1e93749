#!/usr/bin/env python3
"""Prints what tgbench.py has measured as Markdown: `table.py OUT.json`. A row is a bot, a figure is the median of its rounds.
Nothing is judged here but the run itself: where the floor drifted too far between the rounds, it says so."""

import json
import statistics
import sys

# BENCH.md, "Method": a series whose brackets differ by more than this is thrown away.
DRIFT_MAX = 1.5


def walk(value, path):
    for step in path:
        value = value[step]
    return value


class Bot:
    """The rounds of one bot: {scenario: [round, ...]}."""

    def __init__(self, rounds):
        self.rounds = rounds

    def each(self, scenario, *path):
        """The figure of every round that has it."""
        sound = [one for one in self.rounds.get(scenario, []) if "error" not in one]
        found = [walk(one, path) for one in sound]
        return [one for one in found if one is not None]

    def median(self, scenario, *path):
        found = self.each(scenario, *path)
        return statistics.median(found) if found else None

    def step(self, scenario, key, value):
        """Where in the runs of a scenario the one with this number of chats, or this rate, stands."""
        sound = [one for one in self.rounds.get(scenario, []) if "error" not in one]
        runs = sound[0]["runs"] if sound else []
        return next((at for at, run in enumerate(runs) if run[key] == value), None)

    def of(self, scenario, key, value, *path):
        at = self.step(scenario, key, value)
        return None if at is None else self.median(scenario, "runs", at, *path)


def figure(value):
    """Three digits, no more: the machine is not better than that."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def joined(*values):
    return "-" if all(value is None for value in values) else " / ".join(map(figure, values))


def cold(bot):
    ready, first = bot.each("cold", "ready_s"), bot.each("cold", "first_reply_s")
    middle = [statistics.median(sum(rounds, [])) if rounds else None for rounds in (ready, first)]
    return joined(*middle)


def closed(chats, *fields):
    def cell(bot):
        return joined(*(bot.of("closed", "chats", chats, *field) for field in fields))

    return cell


def open_at(rate):
    def cell(bot):
        return joined(*(bot.of("open", "per_s", rate, "waited", name) for name in ("p50_ms", "p99_ms")))

    return cell


def slow_api(bot):
    return joined(*(bot.of("lat", "chats", chats, "messages_per_s") for chats in (16, 64)))


def fair_from_to(bot):
    alone, beside = bot.median("fair", "alone", "p50_ms"), bot.median("fair", "beside", "p50_ms")
    return "-" if alone is None else f"{figure(alone)} -> {figure(beside)}"


def fair_ratio(bot):
    return joined(bot.median("fair", "p50_ratio"), bot.median("fair", "p99_ratio"))


def burst(bot):
    return joined(bot.median("burst", "drained_s"), bot.median("burst", "cpu_ms"))


def burst_memory(bot):
    return joined(*(bot.median("burst", when, "rss_mib") for when in ("before", "right_after", "settled")))


def lost(bot):
    sent, gone = bot.median("limited", "sent"), bot.median("limited", "lost")
    return "-" if sent is None else f"{gone:.0f} of {sent:.0f}"


def limited_time(bot):
    return joined(bot.median("limited", "took_s"), bot.median("limited", "floor_s"))


def order(bot):
    """Replies that overtook another one of their chat, in burst and limited."""
    found = [bot.median(scenario, "reordered") for scenario in ("burst", "limited")]
    return figure(sum(one for one in found if one is not None)) if any(one is not None for one in found) else "-"


def per_chat(bot):
    found = bot.median("chats", "bytes_per_chat")
    return figure(None if found is None else found / 1024)


def idle(bot):
    return joined(bot.median("idle", "fresh", "rss_mib"), bot.median("idle", "after_200_messages", "rss_mib"))


def idle_work(bot):
    return joined(bot.median("idle", "cpu_percent"), bot.median("idle", "calls_per_s"))


P50, P99, CPU, RATE = ("waited", "p50_ms"), ("waited", "p99_ms"), ("cpu_ms",), ("messages_per_s",)

TABLES = {
    "Speed": [
        ("start: ready / first reply s", cold),
        ("1 chat: p50 / p99 ms", closed(1, P50, P99)),
        ("1 chat: CPU ms per message", closed(1, CPU)),
        ("16 chats: msg/s", closed(16, RATE)),
        ("16 chats: CPU ms per message", closed(16, CPU)),
        ("64 chats: msg/s", closed(64, RATE)),
        ("20 per s: p50 / p99 ms", open_at(20)),
        ("50 per s: p50 / p99 ms", open_at(50)),
        ("100 per s: p50 / p99 ms", open_at(100)),
        ("50 ms API, 16 / 64 chats: msg/s", slow_api),
        ("burst of 1000: s / CPU ms per message", burst),
    ],
    "Fairness, limits, memory": [
        ("quiet user's p50 alone -> beside 20x10 noisy, ms", fair_from_to),
        ("ratio p50 / p99", fair_ratio),
        ("replies lost at Telegram's limits", lost),
        ("took s / floor s", limited_time),
        ("replies out of order", order),
        ("idle: RSS MiB fresh / after 200 messages", idle),
        ("idle: CPU % / calls per s", idle_work),
        ("RSS MiB before / after / 15 s after the burst", burst_memory),
        ("RSS KiB per new chat", per_chat),
    ],
}


def table(bots, columns):
    lines = [["bot", *(title for title, _ in columns)], ["---"] * (len(columns) + 1)]
    lines += [[name, *(cell(bot) for _, cell in columns)] for name, bot in bots.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def drift(bots):
    """How far the floor was from itself, round by round."""
    for name, bot in bots.items():
        if name not in ("null", "teloxide"):
            continue
        at = bot.step("closed", "chats", 16)
        rounds = [] if at is None else bot.each("closed", "runs", at, "cpu_ms")
        if len(rounds) < 2 or not min(rounds):
            yield f"{name}: one round only, so that nothing says how much the machine drifted."
            continue
        far = max(rounds) / min(rounds)
        verdict = "sound" if far <= DRIFT_MAX else f"NOT SOUND, above {DRIFT_MAX}: run it again on a quieter machine"
        yield f"{name}, CPU ms per message at 16 chats, by round: {', '.join(map(figure, rounds))}; {far:.2f}x, {verdict}."


def failures(bots):
    for name, bot in bots.items():
        for scenario, rounds in bot.rounds.items():
            for found in rounds:
                if "error" in found:
                    yield f"{name}, {scenario}: {found['error']}"


def main(path):
    with open(path) as file:
        bots = {name: Bot(rounds) for name, rounds in json.load(file).items()}
    for title, columns in TABLES.items():
        print(f"### {title}\n\n{table(bots, columns)}\n")
    for line in [*drift(bots), *failures(bots)]:
        print(f"- {line}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

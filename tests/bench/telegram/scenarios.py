"""The scenarios of BENCH.md section A: what is sent to a bot, and the figures that come out of it. Each is a coroutine that
takes a fresh `Bench` and returns a dictionary; SCENARIOS names them. Chats have numbers of their own in each scenario, and
each chat is one person: 500 cold, 600 warming up, 777 the quiet one, and the `*_CHATS` below; bots/ours.sh makes the same
people known."""

import asyncio
import time

from processes import cpu_seconds, memory, thread_count
from tgfake import now

QUIET = 777
CLOSED_CHATS, OPEN_CHATS, NOISY_CHATS, BURST_CHATS, LIMITED_CHATS, MANY_CHATS = 10_000, 20_000, 30_000, 40_000, 60_000, 1_000_000

# Telegram's own limits: messages a second to one chat, and altogether.
PER_CHAT, ALTOGETHER = 1.0, 30.0
# No peer that still retries is silent for so long: the fake never asks for more than a few seconds.
GIVEN_UP_S = 12


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def spread(seconds):
    """Number and quantiles in milliseconds, rounded to a microsecond."""
    shares = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "max_ms": 1}
    return {
        "n": len(seconds),
        **{name: round(quantile(seconds, share) * 1e3, 3) if seconds else None for name, share in shares.items()},
    }


def per_message(seconds, count):
    return round(seconds / max(count, 1) * 1e3, 4)


class Replies:
    """Collects what came back; `done` is set when as many came as were expected."""

    def __init__(self, expected):
        self.expected = expected
        self.waited, self.took = [], []
        self.last = now()
        self.done = asyncio.Event()

    def __call__(self, message, at):
        self.last = at
        self.waited.append(message.waited(at))
        self.took.append(message.took(at))
        if len(self.waited) == self.expected:
            self.done.set()

    async def wait(self, timeout):
        """Whether all came in time."""
        try:
            await asyncio.wait_for(self.done.wait(), timeout)
        except asyncio.TimeoutError:
            return False
        return True


async def cold(bench):
    """From the start of the process to its first poll, and to its first reply."""
    ready, first = [], []
    for run in range(bench.options.cold_runs):
        if run:
            await bench.end()
        await bench.boot()
        await bench.ask(500, timeout=bench.options.boot_timeout)
        ready.append(round(bench.ready_s, 4))
        first.append(round(now() - bench.began, 4))
    return {"ready_s": ready, "first_reply_s": first}


async def idle(bench):
    """What it costs to do nothing, and how much memory it keeps after 200 messages."""
    seconds = bench.options.idle_s
    await bench.boot()
    await asyncio.sleep(3)
    fresh, cpu, calls = memory(bench.pid), cpu_seconds(bench.pid), bench.api.calls.total()
    await asyncio.sleep(seconds)
    found = {
        "fresh": fresh,
        "cpu_percent": round((cpu_seconds(bench.pid) - cpu) / seconds * 100, 3),
        "calls_per_s": round((bench.api.calls.total() - calls) / seconds, 3),
        "threads": thread_count(bench.pid),
    }
    await bench.warm_up(200)
    await asyncio.sleep(2)
    return {**found, "after_200_messages": memory(bench.pid)}


async def closed(bench, **limits):
    """So many chats at once, each asking again as soon as it is answered."""
    await bench.boot(**limits)
    await bench.warm_up()
    runs = [await closed_run(bench, chats, bench.options.duration) for chats in bench.options.closed]
    return {"runs": runs, "memory_after": memory(bench.pid)}


async def closed_run(bench, chats, duration):
    replies, silent = Replies(None), asyncio.Event()
    stop, asking = now() + duration, chats

    def on_reply(message, at):
        nonlocal asking
        replies(message, at)
        if now() < stop:
            bench.send(message.chat, on_reply)
        else:
            asking -= 1
            if not asking:
                silent.set()

    cpu, own_cpu, began, calls = cpu_seconds(bench.pid), time.process_time(), now(), bench.api.calls.copy()
    for chat in range(chats):
        bench.send(CLOSED_CHATS + chat, on_reply)
    try:
        await asyncio.wait_for(silent.wait(), duration + bench.options.message_timeout)
    except asyncio.TimeoutError:
        pass
    seconds, count = now() - began, len(replies.waited)
    return {
        "chats": chats,
        "messages": count,
        "messages_per_s": round(count / seconds, 1),
        "cpu_ms": per_message(cpu_seconds(bench.pid) - cpu, count),
        "harness_cpu_ms": per_message(time.process_time() - own_cpu, count),
        "calls_per_message": {name: round(n / max(count, 1), 3) for name, n in (bench.api.calls - calls).items()},
        "unanswered": asking,
        "waited": spread(replies.waited),
        "took": spread(replies.took),
    }


async def lat(bench):
    """`closed` with 50 ms for each call of the API, as over the internet: who does one thing after another?"""
    return await closed(bench, api_latency=0.05)


async def open_loop(bench):
    """So many messages a second from 50 chats, whether they are answered or not."""
    await bench.boot()
    await bench.warm_up()
    return {"runs": [await open_run(bench, rate, bench.options.duration) for rate in bench.options.rates]}


async def open_run(bench, rate, duration):
    count = int(rate * duration)
    replies = Replies(count)
    cpu, began = cpu_seconds(bench.pid), now() + 0.01
    for number in range(count):
        due = began + number / rate
        if due > now():
            await asyncio.sleep(due - now())
        bench.send(OPEN_CHATS + number % 50, replies, due)
    await replies.wait(30)
    answered = len(replies.waited)
    return {
        "per_s": rate,
        "sent": count,
        "answered": answered,
        "cpu_ms": per_message(cpu_seconds(bench.pid) - cpu, answered),
        "waited": spread(replies.waited),
        "took": spread(replies.took),
    }


async def burst(bench):
    """A thousand messages at once from 200 chats; and what memory is left a while later."""
    await bench.boot()
    await bench.warm_up()
    count = bench.options.burst
    before, replies, cpu, began = memory(bench.pid), Replies(count), cpu_seconds(bench.pid), now()
    for number in range(count):
        bench.send(BURST_CHATS + number % 200, replies)
    await replies.wait(120)
    seconds, answered = replies.last - began, len(replies.waited)
    used, right_after = cpu_seconds(bench.pid) - cpu, memory(bench.pid)
    await asyncio.sleep(bench.options.settle_s)
    return {
        "sent": count,
        "answered": answered,
        "drained_s": round(seconds, 3),
        "reordered": bench.reordered,
        "cpu_ms": per_message(used, answered),
        "waited": spread(replies.waited),
        "before": before,
        "right_after": right_after,
        "settled": memory(bench.pid),
    }


async def fair(bench, **limits):
    """Noisy chats with many questions open each, and one quiet chat that asks now and then: alone, and beside them."""
    options = bench.options
    await bench.boot(**limits)
    await bench.warm_up(100)
    alone = await quiet(bench, options.quiet, 0.1)
    going, answered = True, 0

    def on_reply(message, _):
        nonlocal answered
        answered += 1
        if going:
            bench.send(message.chat, on_reply)

    for chat in range(options.noisy):
        for _ in range(options.depth):
            bench.send(NOISY_CHATS + chat, on_reply)
    await asyncio.sleep(1)
    began, before = now(), answered
    beside = await quiet(bench, options.quiet, 0.2)
    per_s = round((answered - before) / (now() - began), 1)
    going = False
    return {
        "noisy": options.noisy,
        "depth": options.depth,
        "noisy_per_s": per_s,
        "alone": spread(alone),
        "beside": spread(beside),
        "p50_ratio": round(quantile(beside, 0.5) / quantile(alone, 0.5), 2),
        "p99_ratio": round(quantile(beside, 0.99) / quantile(alone, 0.99), 2),
    }


async def fair_lat(bench):
    """`fair` with 50 ms for each call of the API."""
    return await fair(bench, api_latency=0.05)


async def quiet(bench, count, pause):
    """What the quiet one waits, in seconds; no answer within 30 counts as 30."""
    waited = []
    for _ in range(count):
        try:
            waited.append(await bench.ask(QUIET, timeout=30))
        except asyncio.TimeoutError:
            waited.append(30.0)
        await asyncio.sleep(pause)
    return waited


async def limited(bench):
    """Many replies under Telegram's own limits, which answer 429 with retry_after: what is lost, what is late?"""
    count, chats = bench.options.limited, 10
    await bench.boot(limit_chat=PER_CHAT, limit_global=ALTOGETHER)
    replies, began = Replies(count), now()
    for number in range(count):
        bench.send(LIMITED_CHATS + number % chats, replies)
    while not await replies.wait(1) and now() - replies.last < GIVEN_UP_S:
        pass
    # The fake lets three messages through at once to each chat.
    floor = max(0, count / chats / PER_CHAT - 3)
    answered = len(replies.waited)
    return {
        "sent": count,
        "answered": answered,
        "lost": count - answered,
        "answers_429": bench.api.answers_429,
        "floor_s": floor,
        "took_s": round(replies.last - began, 2),
        "reordered": bench.reordered,
        "waited": spread(replies.waited),
    }


async def chats(bench):
    """Memory as more and more different chats have asked something."""
    await bench.boot()
    await bench.warm_up()
    await asyncio.sleep(1)
    points, asked = [{"chats": 0, **memory(bench.pid)}], 0
    for target in bench.options.chats:
        answered = await ask_each(bench, range(MANY_CHATS + asked, MANY_CHATS + target))
        asked = target
        await asyncio.sleep(2)
        later = [await bench.ask(MANY_CHATS + asked - 1 - number % 50) for number in range(100)]
        points.append({"chats": asked, "answered": answered, **memory(bench.pid), "waited": spread(later)})
    grown = points[-1]["rss_mib"] - points[0]["rss_mib"]
    return {"points": points, "bytes_per_chat": round(grown * 1024 * 1024 / asked)}


async def ask_each(bench, numbers):
    """One question a chat, 32 at a time; how many were answered."""
    turns = asyncio.Semaphore(32)

    async def one(chat):
        async with turns:
            try:
                await bench.ask(chat)
            except asyncio.TimeoutError:
                return 0
            return 1

    return sum(await asyncio.gather(*(one(chat) for chat in numbers)))


async def turns(bench):
    """One chat, one turn after another: does a turn get dearer as the thread grows? For bots with a model."""
    await bench.boot()
    await bench.ask(50, timeout=180)
    await asyncio.sleep(3)
    before, cpu, waited = memory(bench.pid), cpu_seconds(bench.pid), []
    for _ in range(bench.options.turns):
        try:
            waited.append(round(await bench.ask(51, timeout=120) * 1e3, 1))
        except asyncio.TimeoutError:
            waited.append(None)
    return {
        "turns": bench.options.turns,
        "waited_ms": waited,
        "cpu_ms": per_message(cpu_seconds(bench.pid) - cpu, bench.options.turns),
        "before": before,
        "after": memory(bench.pid),
    }


SCENARIOS = {
    "cold": cold,
    "idle": idle,
    "closed": closed,
    "open": open_loop,
    "lat": lat,
    "burst": burst,
    "fair": fair,
    "fair_lat": fair_lat,
    "limited": limited,
    "chats": chats,
    "turns": turns,
}

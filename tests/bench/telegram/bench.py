"""One bot under test: starts it against the fake Bot API, sends it messages, pairs its replies with them, ends it. What is
sent when, and what is made of the times, is in scenarios.py.

All times are `perf_counter` of this process. A message counts from the moment it was due, so that a driver that falls behind
does not hide the wait (no coordinated omission)."""

import asyncio
import collections
import os
import re
import shutil
import signal
import subprocess
import tempfile

from processes import tree
from tgfake import TelegramFake, now

NONCE = re.compile(r"\bn(\d+)\b")
TOKEN = "123456:TESTTOKEN"


class BotFailed(Exception):
    """The bot ended, or did not begin to poll."""


class Message:
    """One that was sent: when it was due, when the bot fetched it, whom to tell of the reply."""

    __slots__ = ("due", "delivered", "on_reply", "chat")

    def __init__(self, due, chat, on_reply):
        self.due, self.chat, self.on_reply = due, chat, on_reply
        self.delivered = None

    def waited(self, at):
        return at - self.due

    def took(self, at):
        """Without the time in the fake's queue, before the bot asked for it."""
        return at - (self.delivered or self.due)


class Bench:
    def __init__(self, options, scenario):
        self.options, self.scenario = options, scenario
        self.api = self.process = self.data = None
        self.number = 0
        self.stray = 0
        self.reordered = 0
        self.forget()

    def forget(self):
        self.waiting = {}
        self.by_chat = collections.defaultdict(list)
        self.last_in_chat = {}

    @property
    def pid(self):
        return self.process.pid

    # ---- the process ---------------------------------------------------------------------------------------------------

    async def boot(self, **limits):
        """A fresh fake, a fresh folder for data, the bot; until it polls for the first time. `limits` are the fake's."""
        self.api = TelegramFake(**limits)
        self.api.on_reply = self.replied
        port = await self.api.start()
        self.data = tempfile.mkdtemp(prefix=f"bench-{self.options.name}-")
        given = {"TG_BASE": f"http://127.0.0.1:{port}", "TG_PORT": str(port), "TG_TOKEN": TOKEN, "TG_DATA": self.data}
        given |= {"TG_SCENARIO": self.scenario, "LIMITS": "on" if "limit_chat" in limits else "off"}
        environment = {**os.environ, **given}
        with open(f"{self.options.out}.{self.options.name}.log", "ab") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            if self.options.prepare:
                subprocess.run(self.options.prepare, shell=True, check=True, env=environment, **streams)
            self.began = now()
            self.process = subprocess.Popen(self.options.command, env=environment, start_new_session=True, **streams)
        while self.api.first_poll is None:
            await asyncio.sleep(0.002)
            if self.process.poll() is not None:
                raise BotFailed(f"exited with {self.process.returncode}; see {self.options.out}.{self.options.name}.log")
            if now() - self.began > self.options.boot_timeout:
                raise BotFailed(f"did not poll within {self.options.boot_timeout} s")
        self.ready_s = self.api.first_poll - self.began

    async def end(self):
        """Asks it to end, waits five seconds, then makes it; with everything that it has started."""
        started = tree(self.pid) if self.process else []
        if self.process:
            self.signal_group(signal.SIGTERM)
            for _ in range(100):
                if self.process.poll() is not None:
                    break
                await asyncio.sleep(0.05)
            self.signal_group(signal.SIGKILL)
            self.process.wait()
        for pid in started[1:]:  # children that have left the group
            self.signal_quietly(os.kill, pid, signal.SIGKILL)
        if self.api:
            await self.api.stop()
        if self.data:
            shutil.rmtree(self.data, ignore_errors=True)
        self.forget()

    def signal_group(self, number):
        self.signal_quietly(os.killpg, self.pid, number)

    @staticmethod
    def signal_quietly(send, pid, number):
        try:
            send(pid, number)
        except ProcessLookupError:
            pass

    # ---- messages ------------------------------------------------------------------------------------------------------

    def send(self, chat, on_reply, due=None):
        """Puts a message into the fake's queue. `on_reply(message, at)` is called once, when its reply comes."""
        self.number += 1
        number = self.number
        message = Message(due or now(), chat, on_reply)
        self.waiting[number] = message
        if self.options.match == "chat":
            self.by_chat[chat].append(number)
        text = self.options.text.format(k=number % 97, n=number)
        update = self.api.message_update(chat, text)
        self.api.inject(update, lambda at: setattr(message, "delivered", at))

    def replied(self, parameters, at):
        """The fake has taken a message from the bot: whose reply is it?"""
        number = self.number_of(parameters)
        message = self.waiting.pop(number, None)
        if message is None:
            self.stray += 1
            return
        if number < self.last_in_chat.get(message.chat, 0):
            self.reordered += 1
        self.last_in_chat[message.chat] = number
        message.on_reply(message, at)

    def number_of(self, parameters):
        if self.options.match == "nonce":
            found = NONCE.search(str(parameters.get("text", "")))
            return int(found[1]) if found else None
        sent = self.by_chat[int(parameters.get("chat_id", 0))]
        return sent.pop(0) if sent else None

    async def ask(self, chat, timeout=None):
        """One message and its reply: how many seconds that took. Raises TimeoutError."""
        answer = asyncio.get_running_loop().create_future()

        def on_reply(message, at):
            if not answer.done():
                answer.set_result(message.waited(at))

        self.send(chat, on_reply)
        return await asyncio.wait_for(answer, timeout or self.options.message_timeout)

    async def warm_up(self, most=None):
        for number in range(min(most or self.options.warm, self.options.warm)):
            await self.ask(600 + number % 8)

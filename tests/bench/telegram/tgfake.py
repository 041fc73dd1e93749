"""A fake Telegram Bot API for load: it costs little next to the bot under test, some 20,000 messages a second. Loopback only.

It has long polling with offset, limit and redelivery, a webhook sender, limits that answer 429, a delay for each call, and a
counter for each method. It is strict about nothing: the fake that tests what our bot sends stands in tests/fakes."""

import asyncio
import collections
import itertools
import json
import socket
import time
import urllib.parse

import httptools

try:
    from orjson import dumps, loads
except ImportError:  # slower, and right all the same
    loads = json.loads

    def dumps(value):
        return json.dumps(value, separators=(",", ":")).encode()


now = time.perf_counter

BOT = {
    "id": 123456,
    "is_bot": True,
    "first_name": "bench",
    "username": "bench_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": True,
    "supports_inline_queries": False,
    "can_connect_to_business": False,
    "has_main_web_app": False,
}
SENDING = {"sendmessage", "editmessagetext", "sendphoto", "senddocument"}


class Bucket:
    """So many a second, so many at once."""

    __slots__ = ("rate", "most", "level", "at")

    def __init__(self, rate, most):
        self.rate, self.most, self.level, self.at = rate, most, most, now()

    def take(self):
        """Seconds to wait; 0 if one was taken."""
        at = now()
        self.level = min(self.most, self.level + (at - self.at) * self.rate)
        self.at = at
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.rate


class TelegramFake:
    def __init__(self, api_latency=0.0, limit_global=0.0, limit_chat=0.0):
        self.api_latency = api_latency
        self.limit_chat = limit_chat
        self.altogether = Bucket(limit_global, limit_global) if limit_global else None
        self.of_chat = {}
        self.queue = collections.deque()  # (update, on_deliver)
        self.unconfirmed = {}  # by update id
        self.pollers = []
        self.update_ids, self.message_ids = itertools.count(1), itertools.count(1000)
        self.calls = collections.Counter()
        self.answers_429 = 0
        self.first_poll = None  # or the first setWebhook
        self.on_reply = None  # f(parameters, at)
        self.server = self.webhook = None

    async def start(self):
        """Listens on a free port, and returns it."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Connection(self), "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def stop(self):
        self.server.close()
        if self.webhook:
            await self.webhook.stop()

    # ---- updates -------------------------------------------------------------------------------------------------------

    def message_update(self, chat, text):
        """A private message; the person has the number of the chat, as on Telegram."""
        person = {"id": chat, "first_name": f"User{chat}", "username": f"user{chat}"}
        message = {
            "message_id": next(self.message_ids),
            "date": int(time.time()),
            "from": {**person, "is_bot": False, "language_code": "en"},
            "chat": {**person, "type": "private"},
            "text": text,
        }
        if text.startswith("/"):
            message["entities"] = [{"offset": 0, "length": len(text.split()[0]), "type": "bot_command"}]
        return {"update_id": next(self.update_ids), "message": message}

    def inject(self, update, on_deliver):
        """Puts an update into the queue; `on_deliver(at)` is called when the bot is given it for the first time."""
        if self.webhook:
            self.webhook.put(update, on_deliver)
            return
        self.queue.append((update, on_deliver))
        while self.pollers:
            poller = self.pollers.pop()
            if not poller.done():
                poller.set_result(None)
                break

    async def get_updates(self, parameters):
        offset, timeout = int(parameters.get("offset") or 0), float(parameters.get("timeout") or 0)
        most = min(int(parameters.get("limit") or 100), 100)
        self.first_poll = self.first_poll or now()
        if offset < 0:
            self.unconfirmed.clear()
        for number in [number for number in self.unconfirmed if number < offset]:
            del self.unconfirmed[number]
        found = list(self.unconfirmed.values())[:most]
        if not found and not self.queue and timeout > 0:
            await self.something_new(timeout)
        delivered = []
        while self.queue and len(found) < most:
            update, on_deliver = self.queue.popleft()
            self.unconfirmed[update["update_id"]] = update
            found.append(update)
            delivered.append(on_deliver)
        at = now()
        for on_deliver in delivered:
            on_deliver(at)
        return found

    async def something_new(self, timeout):
        poller = asyncio.get_running_loop().create_future()
        self.pollers.append(poller)
        try:
            await asyncio.wait_for(poller, timeout)
        except asyncio.TimeoutError:
            pass

    # ---- methods -------------------------------------------------------------------------------------------------------

    async def handle(self, method, parameters):
        """One call: the HTTP status and the body."""
        method = method.lower()
        self.calls[method] += 1
        if method == "getupdates":
            return 200, {"ok": True, "result": await self.get_updates(parameters)}
        at = now()
        if method in SENDING and (wait := self.must_wait(parameters)):
            self.answers_429 += 1
            seconds = int(wait) + 1
            said = f"Too Many Requests: retry after {seconds}"
            return 429, {"ok": False, "error_code": 429, "description": said, "parameters": {"retry_after": seconds}}
        if self.api_latency:
            await asyncio.sleep(self.api_latency)
        if method in SENDING:
            if self.on_reply:
                self.on_reply(parameters, at)
            return 200, {"ok": True, "result": self.sent(method, parameters)}
        return 200, {"ok": True, "result": await self.other(method, parameters)}

    def must_wait(self, parameters):
        """Seconds that Telegram's limits ask for, 0 if the message may go."""
        wait = self.altogether.take() if self.altogether else 0.0
        if wait or not self.limit_chat:
            return wait
        burst = max(1, 3 * self.limit_chat)
        return self.of_chat.setdefault(str(parameters.get("chat_id")), Bucket(self.limit_chat, burst)).take()

    def sent(self, method, parameters):
        number = int(parameters["message_id"]) if method == "editmessagetext" else next(self.message_ids)
        chat = {"id": int(parameters.get("chat_id", 0)), "type": "private", "first_name": "u"}
        text = parameters.get("text", "")
        return {"message_id": number, "date": int(time.time()), "from": BOT, "chat": chat, "text": text}

    async def other(self, method, parameters):
        if method == "setwebhook" and parameters.get("url"):
            await self.set_webhook(parameters)
        chat = int(parameters.get("chat_id", 0))
        person = {"id": int(parameters.get("user_id", 0)), "is_bot": False, "first_name": "u"}
        results = {
            "getme": BOT,
            "getmycommands": [],
            "getwebhookinfo": {"url": "", "has_custom_certificate": False, "pending_update_count": len(self.queue)},
            "getchat": {
                "id": chat,
                "type": "private",
                "first_name": "u",
                "accent_color_id": 0,
                "max_reaction_count": 11,
            },
            "getchatmember": {"status": "member", "user": person},
        }
        return results.get(method, True)

    async def set_webhook(self, parameters):
        self.first_poll = self.first_poll or now()
        if self.webhook:
            await self.webhook.stop()
        most = int(parameters.get("max_connections") or 40)
        self.webhook = Webhook(parameters["url"], most, parameters.get("secret_token"))
        while self.queue:
            self.webhook.put(*self.queue.popleft())


class Webhook:
    """Posts updates to the bot, on several connections, and posts one again that failed, as Telegram does."""

    def __init__(self, url, most, secret):
        import aiohttp  # only for bots that have a webhook

        self.url, self.failed = url, aiohttp.ClientError
        self.headers = {"content-type": "application/json"}
        if secret:
            self.headers["X-Telegram-Bot-Api-Secret-Token"] = secret
        self.queue = asyncio.Queue()
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        self.workers = [asyncio.ensure_future(self.work()) for _ in range(most)]

    def put(self, update, on_deliver):
        self.queue.put_nowait((update, on_deliver))

    async def stop(self):
        for worker in self.workers:
            worker.cancel()
        await self.session.close()

    async def work(self):
        while True:
            update, on_deliver = await self.queue.get()
            on_deliver(now())
            for _ in range(50):
                if await self.post(dumps(update)):
                    break
                await asyncio.sleep(0.1)

    async def post(self, body):
        try:
            async with self.session.post(self.url, data=body, headers=self.headers) as response:
                await response.read()
                return response.status < 300
        except self.failed:
            return False


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive; what one connection asks is answered in order."""

    def __init__(self, api):
        self.api = api
        self.asked = collections.deque()
        self.task = None
        self.begin()

    def begin(self):
        self.url, self.body, self.content_type = b"", [], ""

    def connection_made(self, transport):
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, _):
        if self.task:
            self.task.cancel()

    def data_received(self, data):
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.close()

    # What the parser calls.

    def on_url(self, url):
        self.url += url

    def on_header(self, name, value):
        name = name.lower()
        if name == b"content-type":
            self.content_type = value.decode("latin1")
        elif name == b"expect":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body):
        self.body.append(body)

    def on_message_complete(self):
        self.asked.append((self.url, b"".join(self.body), self.content_type, self.parser.should_keep_alive()))
        self.begin()
        if self.task is None or self.task.done():
            self.task = asyncio.ensure_future(self.answer())

    async def answer(self):
        while self.asked:
            url, body, content_type, keep_alive = self.asked.popleft()
            try:
                found = httptools.parse_url(url)
                parameters = parse(found.query or b"", body, content_type)
                status, result = await self.api.handle(found.path.decode().rpartition("/")[2], parameters)
            except (ValueError, KeyError) as error:
                status, result = 400, {"ok": False, "error_code": 400, "description": repr(error)}
            text = dumps(result)
            close = b"" if keep_alive else b"connection: close\r\n"
            head = b"HTTP/1.1 %d OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n"
            self.transport.write(head % (status, len(text), close) + text)
            if not keep_alive:
                self.transport.close()
                return


def parse(query, body, content_type):
    """The parameters of a call, in any of the four ways in which the Bot API takes them."""
    parameters = dict(urllib.parse.parse_qsl(query.decode()))
    if not body:
        return parameters
    if "json" in content_type:
        return {**parameters, **loads(body)}
    if "multipart" in content_type:
        return {**parameters, **parse_multipart(body, content_type)}
    return {**parameters, **dict(urllib.parse.parse_qsl(body.decode()))}


def parse_multipart(body, content_type):
    boundary = content_type.split("boundary=")[1].split(";")[0].strip('"').encode()
    found = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, value = part.strip(b"\r\n").partition(b"\r\n\r\n")
        name = head.decode("latin1").partition('name="')[2].partition('"')[0]
        if name:
            found[name] = value.decode("utf8", "replace")
    return found

"""The ceiling of the harness: the least that a bot can do. One socket polls, another sends without waiting for an answer."""

import asyncio
import os
import re

import orjson
import uvloop

PATTERN = re.compile(r"^restart (\S+) (\S+)$")
LENGTH = re.compile(rb"content-length: (\d+)")
PORT, TOKEN = int(os.environ["TG_PORT"]), os.environ["TG_TOKEN"].encode()


def request(method, parameters):
    body = orjson.dumps(parameters)
    head = b"POST /bot%s/%s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % (TOKEN, method, len(body)) + body


async def response(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    return orjson.loads(await reader.readexactly(int(LENGTH.search(head)[1])))


async def drain(reader):
    while True:
        await response(reader)


def reply(message):
    found = PATTERN.match(message["text"])
    if not found:
        return b""
    return request(b"sendMessage", {"chat_id": message["chat"]["id"], "text": f"ok restart {found[1]} {found[2]}"})


async def main():
    polled, poll = await asyncio.open_connection("127.0.0.1", PORT)
    sent, send = await asyncio.open_connection("127.0.0.1", PORT)
    draining = asyncio.create_task(drain(sent))
    offset = 0
    while not draining.done():
        poll.write(request(b"getUpdates", {"offset": offset, "timeout": 30}))
        updates = (await response(polled))["result"]
        send.write(b"".join(reply(update["message"]) for update in updates))
        offset = updates[-1]["update_id"] + 1 if updates else offset


uvloop.run(main())

#!/usr/bin/env python3
"""A fake model for load: an OpenAI-compatible chat endpoint on loopback. It answers `ok n42`, with the newest such number that
a person wrote, at once or after `--delay` seconds, and writes one JSON object per call: bytes of the prompt, of the system
part and of the tools, number of messages and tools. Needs aiohttp.

    fakellm.py --log calls.jsonl [--port 9900] [--delay 1]"""

import argparse
import asyncio
import json
import re
import time

from aiohttp import web

NONCE = re.compile(r"\bn(\d+)\b")


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content if isinstance(part, dict))


def nonce_of(messages):
    """The first number in the newest message of a person that has one: what follows there may be what was said before."""
    said = [NONCE.findall(text_of(one)) for one in messages if one.get("role") == "user"]
    return next((found[0] for found in reversed(said) if found), None)


def note_of(path, raw, asked, nonce):
    messages, tools = asked.get("messages", []), asked.get("tools") or []
    system = (text_of(one) for one in messages if one.get("role") in ("system", "developer"))
    return {
        "at": time.time(),
        "path": path,
        "bytes": len(raw),
        "messages": len(messages),
        "tools": len(tools),
        "tool_bytes": len(json.dumps(tools)),
        "system_bytes": sum(len(one.encode()) for one in system),
        "stream": bool(asked.get("stream")),
        "nonce": nonce,
    }


class Model:
    def __init__(self, log, delay):
        self.log, self.delay = log, delay

    async def chat(self, request):
        raw = await request.read()
        asked = json.loads(raw)
        nonce = nonce_of(asked.get("messages", []))
        self.log.write(json.dumps(note_of(request.path, raw, asked, nonce)) + "\n")
        if self.delay:
            await asyncio.sleep(self.delay)
        answer = {"role": "assistant", "content": f"ok n{nonce}" if nonce else "ok"}
        # About four bytes a token, which is all that anybody needs of a fake.
        prompt = len(raw) // 4
        usage = {"prompt_tokens": prompt, "completion_tokens": 3, "total_tokens": prompt + 3}
        head = {"id": "x", "created": int(time.time()), "model": asked.get("model", "fake-model")}
        if asked.get("stream"):
            return await self.stream(request, head, answer, usage)
        choice = {"index": 0, "finish_reason": "stop", "message": answer}
        return web.json_response({**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    async def stream(self, request, head, answer, usage):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        head = {**head, "object": "chat.completion.chunk"}
        chunks = [
            {**head, "choices": [{"index": 0, "delta": answer, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**head, "choices": [], "usage": usage},
        ]
        for chunk in chunks:
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response


async def models(_):
    return web.json_response(
        {"object": "list", "data": [{"id": "fake-model", "object": "model", "context_length": 200000}]}
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9900)
    parser.add_argument("--log", required=True)
    parser.add_argument("--delay", type=float, default=0)
    given = parser.parse_args()
    with open(given.log, "a", buffering=1) as log:
        model = Model(log, given.delay)
        application = web.Application(client_max_size=64 << 20)
        for base in ("", "/v1"):
            application.router.add_post(f"{base}/chat/completions", model.chat)
            application.router.add_get(f"{base}/models", models)
        web.run_app(application, host="127.0.0.1", port=given.port, print=None)


if __name__ == "__main__":
    main()

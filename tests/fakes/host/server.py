#!/usr/bin/env python3
"""The host's tool server, played for tests that must not touch the machine: speaks MCP over stdio, finds whatever is looked
for, does nothing, and answers every reading with made-up data, of which some is hard to show. Standard library only.

Usage: `server.py`. It takes the place of the built-in server of `config/tools/host.toml` (`spokes.host.command`).
"""

import json
import sys
import time
import zlib

TOOLS = [
    "host_machine", "host_disk", "host_process", "host_service", "host_network", "host_log", "host_file", "host_command",
    "host_wait",
]  # fmt: skip


def deep(levels):
    """A text of brackets that open and close so often."""
    return "[" * levels + "]" * levels


# What a command, a log or a file may say.
OUTPUTS = [
    "one line",
    "\n".join(f"line {number}" for number in range(400)),
    "x" * 60_000,
    "\x1b[31mred\x1b[0m \u202eright to left\u202c \u200bhidden\u200b \x00 \x07",
    deep(5_000),
    "password=hunter2hunter2 token: ghp_0123456789abcdefghijklmnopqrstuvwxyz " * 200,
    "<b>&lt;</b> **bold** _it_ `code` ```\n" * 300,
    "👩‍💻" * 3_000,
    "a=" * 20_000,
    '"\\' * 20_000,
]


FOUND = {}


def resource(action, query):
    """The one thing that a discovery finds."""
    kind = {"host_process.find": "process", "host_service.find": "service", "host_disk.find": "mount",
            "host_network.ports": "port", "host_file.locate": "file"}.get(action, "host")  # fmt: skip
    attrs = {"sha256": "0" * 64, "user": "nobody", "state": "active", "run": "1", "pid": "1", "started": "1"}
    if kind == "host":
        return {"id": "host:fake", "name": "fake", "attrs": attrs}
    # What was found once is found again by its id.
    if query not in FOUND:
        uid = f"{kind}:fake:{zlib.crc32(query.encode('utf-8', 'replace')):08x}"
        FOUND[uid] = {"id": uid, "name": query[:64] or "thing", "attrs": attrs, "aliases": ["1"]}
        return FOUND[uid]
    return FOUND[query]


def answer(name, arguments):
    """The data of one call."""
    action = f"{name}.{arguments.get('action')}"
    if action.endswith((".find", ".locate")) and action != "host_file.find":
        return {"resources": [resource(action, str(arguments.get("query", "")))]}
    percent = {"percent": 12.5, "used": 1, "total": 8, "available": 7}
    known = {
        "name": "fake", "state": "running", "present": True, "pid": 1, "cpu": 12.5, "cpus": 2, "memory": percent, "disk": percent,
        "load_text": "0.1 0.1 0.1", "uptime": 1000, "sha256": "0" * 64, "after": "0" * 64, "parses": "yes", "size": 10,
        "path": "/made/up", "from": 1, "command": "made up", "exit_code": 0, "errors": "",
    }  # fmt: skip
    output = OUTPUTS[zlib.crc32(json.dumps(arguments, sort_keys=True).encode()) % len(OUTPUTS)]
    lines = output.split("\n")
    rows = [{"name": line[:80], "path": line[:80], "pid": 1} for line in lines[:50]]
    return {**known, "output": output, "lines": output, "preview": output[:2_000], "entries": rows, "processes": rows}


def result(request):
    """What one request comes to."""
    params = request.get("params", {})
    if request["method"] == "initialize":
        about = {"name": "host", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if request["method"] == "tools/list":
        return {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in TOOLS]}
    if request["method"] == "tools/call":
        data = answer(params["name"], params.get("arguments", {}))
        meta = {"observed_at": int(time.time() * 1000)}
        return {"content": [], "structuredContent": {"ok": True, "data": data, "meta": meta}}
    return {}


def main():
    """Answers one request after the other, until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result(request)}), flush=True)


if __name__ == "__main__":
    main()

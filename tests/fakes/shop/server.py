#!/usr/bin/env python3
"""The tool server of a shop's pods, for tests: speaks MCP over stdio, and says of each action what a test has written down for
it. Standard library only.

Usage: `server.py DIR`. An action `status` is answered with the envelope in `DIR/status.json`, read anew for each call, and
each call is written to `DIR/calls`, an action a line; what came with the last one, and the environment, are in `DIR/last`. What it can be asked is declared in `tools/shop.toml`.
"""

import json
import os
import sys
import time
from pathlib import Path


def answer(folder, arguments):
    """The envelope of one call."""
    action = arguments["action"]
    (folder / "last").write_text(json.dumps({"arguments": arguments, "env": dict(os.environ)}), encoding="utf-8")
    with open(folder / "calls", "a", encoding="utf-8") as calls:
        calls.write(f"{action}\n")
    envelope = json.loads((folder / f"{action}.json").read_text(encoding="utf-8"))
    if envelope["ok"]:
        envelope["meta"] = {"observed_at": int(time.time() * 1000)}
    return envelope


def result(request, folder):
    """What one request comes to."""
    params = request.get("params", {})
    if request["method"] == "initialize":
        version, about = params["protocolVersion"], {"name": "shop", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if request["method"] == "tools/list":
        return {"tools": [{"name": "shop_pods", "inputSchema": {"type": "object"}}]}
    if request["method"] == "tools/call":
        return {"content": [], "structuredContent": answer(folder, params["arguments"])}
    return {}


def main():
    """Answers one request after the other, until the input ends."""
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            message = {"jsonrpc": "2.0", "id": request["id"], "result": result(request, folder)}
            print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()

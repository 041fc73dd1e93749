"""nanobot as an agent peer: its own gateway, with the fake Bot API and the fake model (LLM_BASE)."""

import json
import os
import socket
import sys

home = os.environ["HOME"] = os.environ["TG_DATA"]
configuration = {
    "agents": {"defaults": {"model": "fake-model", "provider": "custom", "workspace": f"{home}/workspace"}},
    "providers": {"custom": {"apiKey": "x", "apiBase": os.environ.get("LLM_BASE", "http://127.0.0.1:9900/v1")}},
    "channels": {
        "telegram": {"enabled": True, "token": os.environ["TG_TOKEN"], "allowFrom": ["*"], "streaming": False}
    },
}
os.makedirs(f"{home}/.nanobot")
with open(f"{home}/.nanobot/config.json", "w") as file:
    json.dump(configuration, file)

from telegram.ext import ApplicationBuilder

build = ApplicationBuilder.build


def build_for_the_fake(self):
    self.base_url(os.environ["TG_BASE"] + "/bot")
    self.base_file_url(os.environ["TG_BASE"] + "/file/bot")
    return build(self)


ApplicationBuilder.build = build_for_the_fake
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
sys.argv = ["nanobot", "gateway", "--port", str(port)]
from nanobot.cli.commands import app

app()

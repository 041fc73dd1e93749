"""opsdroid as a peer: its own Telegram connector, which has a webhook, and one skill. It has no setting for the API's address,
so its client is pointed at the fake here."""

import os
import socket
import sys

import aiohttp
import yaml

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
skill = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opsdroid_root/skill")
configuration = {
    "logging": {"level": "warning", "console": True},
    "welcome-message": False,
    "web": {"host": "127.0.0.1", "port": port, "base-url": f"http://127.0.0.1:{port}"},
    "connectors": {"telegram": {"token": os.environ["TG_TOKEN"], "bot-name": "bench"}},
    "skills": {"bench": {"path": skill}},
    "parsers": {"regex": {}},
}
path = os.path.join(os.environ["TG_DATA"], "configuration.yaml")
with open(path, "w") as file:
    yaml.safe_dump(configuration, file)

request = aiohttp.ClientSession._request


async def request_of_the_fake(self, method, url, **options):
    return await request(self, method, str(url).replace("https://api.telegram.org", os.environ["TG_BASE"]), **options)


aiohttp.ClientSession._request = request_of_the_fake
sys.argv = ["opsdroid", "start", "-f", path]
from opsdroid.cli import cli

cli()

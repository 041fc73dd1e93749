"""hermes-agent as an agent peer: its own gateway, with the fake Bot API and the fake model (LLM_BASE)."""

import os
import sys

import yaml

home = os.environ["HOME"] = os.environ["HERMES_HOME"] = os.environ["TG_DATA"]
model = os.environ.get("LLM_BASE", "http://127.0.0.1:9900/v1")
bases = {"base_url": os.environ["TG_BASE"] + "/bot", "base_file_url": os.environ["TG_BASE"] + "/file/bot"}
configuration = {
    "model": {
        "provider": "custom",
        "default": "fake-model",
        "base_url": model,
        "api_key": "x",
        "context_length": 200000,
    },
    "platforms": {"telegram": {"enabled": True, "token": os.environ["TG_TOKEN"], "extra": bases}},
}
with open(f"{home}/config.yaml", "w") as file:
    yaml.safe_dump(configuration, file)

os.environ |= {
    "TELEGRAM_BOT_TOKEN": os.environ["TG_TOKEN"],
    "TELEGRAM_ALLOW_ALL_USERS": "true",
    "GATEWAY_ALLOW_ALL_USERS": "true",
    "OPENAI_API_KEY": "x",
    "OPENAI_BASE_URL": model,
}
sys.argv = ["hermes", "gateway", "run"]
from hermes_cli.main import main

main()

"""errbot as a peer: its Telegram backend and one plugin. It has no setting for the API's address, so its client is pointed at
the fake here."""

import logging
import os

import telegram

BACKEND = "Telegram"
BOT_DATA_DIR = os.environ["TG_DATA"]
BOT_EXTRA_PLUGIN_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugins")
BOT_LOG_FILE = None
BOT_LOG_LEVEL = logging.WARNING
BOT_IDENTITY = {"token": os.environ["TG_TOKEN"]}
BOT_ADMINS = ("1",)
CORE_PLUGINS = ("ACLs", "Help", "Health", "Utils")
SUPPRESS_CMD_NOT_FOUND = True

make = telegram.Bot.__init__


def make_for_the_fake(self, token, *args, **options):
    make(self, token, *args, **{**options, "base_url": os.environ["TG_BASE"] + "/bot"})


telegram.Bot.__init__ = make_for_the_fake

"""python-telegram-bot as a peer: its Application with one handler. PTB_CONC=N switches its concurrent updates on, which gives
up the order within a chat."""

import os
import re

from telegram import Update
from telegram.ext import Application, MessageHandler, filters


async def echo(update: Update, context):
    found = context.matches[0]
    await update.message.reply_text(f"ok restart {found[1]} {found[2]}")


base = os.environ["TG_BASE"]
builder = Application.builder().token(os.environ["TG_TOKEN"]).base_url(f"{base}/bot").base_file_url(f"{base}/file/bot")
if concurrent := os.environ.get("PTB_CONC"):
    builder = builder.concurrent_updates(int(concurrent)).connection_pool_size(512).pool_timeout(60)
application = builder.build()
application.add_handler(MessageHandler(filters.Regex(re.compile(r"^restart (\S+) (\S+)$")), echo))
application.run_polling(allowed_updates=["message"])

"""aiogram as a peer: its Dispatcher with one handler."""

import asyncio
import os

from aiogram import Bot, Dispatcher, F
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer

dispatcher = Dispatcher()


@dispatcher.message(F.text.regexp(r"^restart (\S+) (\S+)$").as_("found"))
async def echo(message, found):
    await message.answer(f"ok restart {found[1]} {found[2]}")


async def main():
    session = AiohttpSession(api=TelegramAPIServer.from_base(os.environ["TG_BASE"]))
    await dispatcher.start_polling(Bot(os.environ["TG_TOKEN"], session=session), handle_signals=True)


asyncio.run(main())

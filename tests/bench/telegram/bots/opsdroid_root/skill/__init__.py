"""The skill of opsdroid as a peer: one pattern, one reply."""

from opsdroid.matchers import match_regex
from opsdroid.skill import Skill


class Bench(Skill):
    @match_regex(r"^restart (\S+) (\S+)$")
    async def restart(self, message):
        await message.respond(f"ok restart {message.regex.group(1)} {message.regex.group(2)}")

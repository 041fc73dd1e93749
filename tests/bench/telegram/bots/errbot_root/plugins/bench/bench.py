"""The plugin of errbot as a peer: one pattern, one reply."""

from errbot import BotPlugin, re_botcmd


class Bench(BotPlugin):
    @re_botcmd(pattern=r"^restart (\S+) (\S+)$", prefixed=False)
    def do_restart(self, message, match):
        return f"ok restart {match[1]} {match[2]}"

// grammY as a peer: its Bot with one handler. NODE_MODS is the folder node_modules that holds it.
const { Bot } = require(process.env.NODE_MODS + "/grammy");

const bot = new Bot(process.env.TG_TOKEN, { client: { apiRoot: process.env.TG_BASE } });
bot.hears(/^restart (\S+) (\S+)$/, context => context.reply(`ok restart ${context.match[1]} ${context.match[2]}`));
bot.start();
process.on("SIGTERM", () => process.exit(0));

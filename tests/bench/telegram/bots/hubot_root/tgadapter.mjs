// The smallest Telegram adapter for Hubot, which has none that is kept up: long polling in, sendMessage out, by Hubot's own
// adapter API. NODE_MODS is the folder node_modules that holds Hubot.
import http from "http";
import { pathToFileURL } from "url";

const { Adapter, TextMessage } = await import(pathToFileURL(process.env.NODE_MODS + "/hubot/index.mjs").href);
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const base = `${process.env.TG_BASE}/bot${process.env.TG_TOKEN}/`;

const call = (method, parameters) =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(parameters);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const request = http.request(base + method, { method: "POST", agent, headers }, response => {
      let text = "";
      response.on("data", part => (text += part));
      response.on("end", () => resolve(JSON.parse(text)));
    });
    request.on("error", reject);
    request.end(body);
  });

class Telegram extends Adapter {
  async send(envelope, ...strings) {
    for (const text of strings) await call("sendMessage", { chat_id: envelope.room, text });
  }

  async reply(envelope, ...strings) {
    return this.send(envelope, ...strings);
  }

  async run() {
    this.emit("connected");
    // Scripts are loaded after "connected"; a message before that would be lost.
    while (this.robot.listeners.length === 0) await new Promise(resolve => setTimeout(resolve, 2));
    for (let offset = 0; ; ) {
      const { result } = await call("getUpdates", { offset, timeout: 30 });
      for (const { update_id, message } of result) {
        offset = update_id + 1;
        if (message) this.take(message);
      }
    }
  }

  take(message) {
    const details = { name: message.from.username, room: message.chat.id };
    const user = this.robot.brain.userForId(String(message.from.id), details);
    this.robot.receive(new TextMessage(user, message.text, String(message.message_id)));
  }
}

export default { use: robot => new Telegram(robot) };

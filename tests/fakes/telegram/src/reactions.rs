//! The reactions that anybody can give: Telegram's own list (Bot API, `ReactionTypeEmoji`). A tick or a cross is not
//! among them, which a bot that wants one finds out here.

const ALLOWED: &str = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 \
    💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡";

/// Whether Telegram lets it be given, with or without the variation selector that some keyboards add.
pub(crate) fn allowed(emoji: &str) -> bool {
    let plain = |text: &str| text.replace('\u{fe0f}', "");
    ALLOWED.split_whitespace().any(|known| plain(known) == plain(emoji))
}

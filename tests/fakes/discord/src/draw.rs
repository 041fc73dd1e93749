//! Drawing a channel as Discord shows it, in plain text for snapshots and for reading: everything stands on the left, below
//! the name of whoever wrote it; cards have a bar, buttons and menus stand below. Times are left out, so that the same
//! conversation is always the same picture.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::channel::{Channel, ChannelId, ChannelKind, Message};
use crate::keyboard::Key;
use crate::plain;
use crate::server::Fake;
use crate::state::State;
use crate::wrap::{cut, wrap};

/// Columns of the whole picture, of the margin before what somebody says, and of what stands in it.
const WIDTH: usize = 60;
const MARGIN: usize = 2;
const TEXT: usize = WIDTH - MARGIN;
/// Discord's number for the notice of a new thread, and for a thread's first message.
const OPENED: u8 = 18;
const STARTER: u8 = 21;

impl Fake {
    /// The channel or thread with everything in it, also what is for one person's eyes; at most 60 columns wide.
    pub fn draw(&self, channel: ChannelId) -> String {
        self.picture(channel, |_| true)
    }

    /// The channel or thread as one person sees it.
    pub fn draw_for(&self, user: u64, channel: ChannelId) -> String {
        self.picture(channel, |message| message.ephemeral_for.is_none_or(|only| only == user))
    }

    fn picture(&self, channel: ChannelId, seen: impl Fn(&Message) -> bool) -> String {
        let state = self.shared().look();
        let Some(channel) = state.channels.get(&channel) else { return "there is no such channel".to_owned() };
        let mut lines = head(&state, channel);
        let mut before = None;
        for message in channel.messages.values().filter(|message| !message.deleted && seen(message)) {
            lines.extend(draw(&state, channel, message, before));
            before = Some(message);
        }
        if state.typing.contains(&channel.id) {
            lines.push("● Ops is typing…".to_owned());
        }
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }
}

fn head(state: &State, channel: &Channel) -> Vec<String> {
    let above = channel.parent.and_then(|parent| state.channels.get(&parent));
    let (title, kind) = match channel.kind {
        ChannelKind::Private => (format!("@ {}", channel.name), "direct messages"),
        ChannelKind::Text => (format!("# {}", channel.name), "channel"),
        ChannelKind::Thread | ChannelKind::PrivateThread => {
            (format!("# {} › {}", above.map_or("", |above| &above.name), channel.name), "thread")
        }
    };
    let title = cut(&title, WIDTH - kind.width() - 4);
    let gap = WIDTH.saturating_sub(title.width() + kind.width() + 2);
    vec![format!(" {title}{}{kind}", " ".repeat(gap)), "─".repeat(WIDTH)]
}

fn draw(state: &State, channel: &Channel, message: &Message, before: Option<&Message>) -> Vec<String> {
    if message.kind == OPENED {
        return vec![cut(&format!("→ {} started a thread: {}", name(state, message.from), message.text), WIDTH)];
    }
    if message.kind == STARTER {
        let above = channel.parent.and_then(|parent| state.message(parent, message.channel.0));
        return above.map(|above| draw(state, channel, above, None)).unwrap_or_default();
    }
    let mut lines = above(state, channel, message);
    // Whoever goes on speaking is not named again.
    let goes_on = before.is_some_and(|before| {
        before.from == message.from
            && ![OPENED, STARTER].contains(&before.kind)
            && before.ephemeral_for == message.ephemeral_for
    });
    if !goes_on || !lines.is_empty() {
        let badge = match state.users.get(&message.from) {
            Some(user) if user.is_bot || user.is_webhook => " [APP]",
            _ => "",
        };
        lines.push(format!("{}{badge}", cut(&name(state, message.from), TEXT - badge.width())));
    }
    let inside = body(state, channel, message).into_iter();
    lines.extend(inside.map(|line| format!("{}{line}", " ".repeat(MARGIN))));
    lines
}

fn name(state: &State, user: u64) -> String {
    state.users.get(&user).map_or("somebody", |user| user.name.as_str()).to_owned()
}

/// What stands above the name: what is answered, or the command that was run.
fn above(state: &State, channel: &Channel, message: &Message) -> Vec<String> {
    if let Some(answered) = message.reply_to.and_then(|id| channel.messages.get(&id)) {
        let text = if answered.deleted {
            "Original message was deleted".to_owned()
        } else {
            readable(state, first_line(answered))
        };
        return vec![cut(&format!("╭ {}: {text}", name(state, answered.from)), WIDTH)];
    }
    let asked = message.interaction.as_ref().and_then(|id| state.interactions.get(id));
    let command = asked.and_then(|asked| asked.command.as_ref().map(|command| (asked.user, command)));
    let line = command.map(|(user, command)| format!("╭ {} used /{command}", name(state, user)));
    line.map(|line| cut(&line, WIDTH)).into_iter().collect()
}

fn first_line(message: &Message) -> &str {
    message.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("(no text)")
}

fn body(state: &State, channel: &Channel, message: &Message) -> Vec<String> {
    let mut lines = Vec::new();
    if message.thinking {
        lines.push("● ● ● is thinking…".to_owned());
    }
    if let Some((from, id)) = message.forwarded {
        lines.push("↪ Forwarded".to_owned());
        let original = state.channels.get(&from).and_then(|channel| channel.messages.get(&id));
        lines.extend(original.map(|original| text(state, &original.text, TEXT)).unwrap_or_default());
    }
    let mut said = text(state, &message.text, TEXT);
    if message.edits > 0 {
        match said.last_mut().filter(|last| last.width() + 9 <= TEXT) {
            Some(last) => last.push_str(" (edited)"),
            None => said.push("(edited)".to_owned()),
        }
    }
    lines.extend(said);
    lines.extend(message.embeds.iter().filter(|_| !message.suppress_embeds).flat_map(|embed| card(state, embed)));
    lines.extend(
        message.documents.iter().map(|file| cut(&format!("▤ {} · {} bytes", file.name, file.bytes.len()), TEXT)),
    );
    lines.extend(message.keyboard.rows.iter().map(|row| keys(row)));
    lines.extend(reactions(message));
    // A thread shows the message that it was opened from, and not itself below that.
    let thread = message.thread.filter(|thread| *thread != channel.id);
    if let Some(thread) = thread.and_then(|thread| state.channels.get(&thread)) {
        let count = thread.messages.values().filter(|message| !message.deleted && message.kind != STARTER).count();
        lines.push(cut(
            &format!("└ {} · {count} {}", thread.name, if count == 1 { "message" } else { "messages" }),
            TEXT,
        ));
    }
    if let Some(only) = message.ephemeral_for {
        lines.push(cut(&format!("◉ Only {} can see this", name(state, only)), TEXT));
    }
    lines
}

/// The text in lines that fit. A block of code and a quotation have a bar before them; marks of style are taken away.
fn text(state: &State, text: &str, wide: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_code = false;
    if text.is_empty() {
        return lines;
    }
    for line in text.split('\n') {
        if let Some(rest) = line.strip_prefix("```") {
            // A fence may open and close on one line; what is behind it names the language.
            match rest.strip_suffix("```").filter(|_| !in_code) {
                Some(code) => lines.extend(barred("▏", code, wide)),
                None => in_code = !in_code,
            }
        } else if in_code {
            let (code, closed) = line.strip_suffix("```").map_or((line, false), |code| (code, true));
            lines.extend(barred("▏", code, wide));
            in_code = !closed;
        } else if let Some(quoted) = line.strip_prefix("> ") {
            lines.extend(barred("┃ ", &readable(state, quoted), wide));
        } else {
            lines.extend(wrap(&readable(state, line), wide));
        }
    }
    lines
}

fn barred(bar: &str, line: &str, wide: usize) -> Vec<String> {
    wrap(line, wide - bar.width()).into_iter().map(|line| format!("{bar}{line}")).collect()
}

/// One line without its marks: names for people and channels, plain letters for escaped ones, no stars and backticks.
fn readable(state: &State, line: &str) -> String {
    plain::line(line, &|inside| named(state, inside))
}

/// What `@ID`, `#ID`, `&ID` and the like in angle brackets show.
fn named(state: &State, inside: &str) -> Option<String> {
    let id = |start: &str| inside.strip_prefix(start).and_then(|id| id.parse::<u64>().ok());
    if let Some(user) = id("@!").or_else(|| id("@")) {
        return Some(format!("@{}", name(state, user)));
    }
    if let Some(role) = id("@&") {
        return state.guilds.values().find_map(|guild| guild.roles.get(&role)).map(|role| format!("@{role}"));
    }
    if let Some(channel) = id("#") {
        return state.channels.get(&ChannelId(channel)).map(|channel| format!("#{}", channel.name));
    }
    inside.starts_with("http").then(|| inside.to_owned())
}

/// A card: its parts behind a bar.
fn card(state: &State, embed: &Value) -> Vec<String> {
    let wide = TEXT - 2;
    let part = |at: &Value| text(state, at.as_str().unwrap_or_default(), wide);
    let mut lines = part(&embed["author"]["name"]);
    lines.extend(part(&embed["title"]));
    lines.extend(part(&embed["description"]));
    for field in embed["fields"].as_array().into_iter().flatten() {
        if field["inline"] == true {
            let line = format!(
                "{}: {}",
                field["name"].as_str().unwrap_or_default(),
                field["value"].as_str().unwrap_or_default()
            );
            lines.extend(text(state, &line, wide));
        } else {
            lines.extend(part(&field["name"]));
            lines.extend(part(&field["value"]).into_iter().flat_map(|line| wrap(&format!("  {line}"), wide)));
        }
    }
    lines.extend(part(&embed["footer"]["text"]));
    lines.into_iter().map(|line| format!("▌ {line}")).collect()
}

fn keys(row: &[Key]) -> String {
    let share = TEXT / row.len().max(1);
    let label = |key: &Key| match key {
        Key::Button(button) => {
            let mark = if button.url.is_some() { " ↗" } else { "" };
            let label = cut(&button.text, share.saturating_sub(5 + mark.width()));
            if button.disabled { format!("( {label}{mark} )") } else { format!("[ {label}{mark} ]") }
        }
        Key::Select(menu) => format!("[ {} ▾ ]", cut(menu.hint.as_deref().unwrap_or("Make a selection"), TEXT - 6)),
    };
    row.iter().map(label).collect::<Vec<_>>().join(" ")
}

fn reactions(message: &Message) -> Option<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for emoji in message.reactions.values().flatten() {
        match counted.iter_mut().find(|(known, _)| known == emoji) {
            Some((_, count)) => *count += 1,
            None => counted.push((emoji, 1)),
        }
    }
    let drawn: Vec<String> = counted.iter().map(|(emoji, count)| format!("{emoji} {count}")).collect();
    (!drawn.is_empty()).then(|| cut(&drawn.join("  "), TEXT))
}

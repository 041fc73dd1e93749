//! Drawing a conversation as a phone shows it, in plain text for snapshots and for reading: what the bot says stands on
//! the left, what people say on the right. Times are left out, so that the same conversation is always the same picture.

use unicode_width::UnicodeWidthStr;

use crate::chat::{Chat, ChatId, ChatKind, Message, Origin, Service};
use crate::entities::{Entity, EntityKind, units};
use crate::server::Fake;
use crate::state::State;

/// Columns of the whole picture, and of the text inside a bubble.
const WIDTH: usize = 60;
const TEXT: usize = 46;

impl Fake {
    /// The chat, or one topic of it, at most 60 columns wide.
    pub fn draw(&self, chat: ChatId, topic: Option<i64>) -> String {
        let state = self.shared().look();
        let Some(chat) = state.chats.get(&chat) else { return "there is no such chat".to_owned() };
        let mut lines = head(chat, topic);
        let messages = chat.messages.values().filter(|message| !message.deleted);
        for message in messages.filter(|message| topic.is_none() || message.topic == topic) {
            lines.extend(draw(&state, chat, message));
        }
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }
}

fn head(chat: &Chat, topic: Option<i64>) -> Vec<String> {
    let topic = topic.and_then(|topic| chat.topics.get(&topic)).map(|name| format!(" › {name}"));
    let title = format!("{}{}", chat.title, topic.unwrap_or_default());
    let kind = match chat.kind {
        ChatKind::Private => "private chat",
        ChatKind::Group | ChatKind::Supergroup => "group",
        ChatKind::Forum => "forum",
        ChatKind::Channel => "channel",
    };
    let title = cut(&title, WIDTH - kind.width() - 4);
    let gap = WIDTH.saturating_sub(title.width() + kind.width() + 2);
    vec![format!(" {title}{}{kind}", " ".repeat(gap)), "─".repeat(WIDTH)]
}

fn draw(state: &State, chat: &Chat, message: &Message) -> Vec<String> {
    let notice = message.service.as_ref().map(|service| match service {
        Service::TopicCreated(name) => format!("· topic “{name}” was opened ·"),
        Service::MovedTo(_) | Service::MovedFrom(_) => "· this group is a supergroup now ·".to_owned(),
    });
    if let Some(notice) = notice {
        let notice = cut(&notice, WIDTH);
        return vec![format!("{}{notice}", " ".repeat(WIDTH.saturating_sub(notice.width()) / 2))];
    }
    let mut inside = above(state, chat, message);
    inside.extend(body(message));
    let edited = if message.edits > 0 { " edited " } else { "" };
    let keyboard: Vec<String> =
        message.keyboard.iter().map(|row| keys(&row.iter().map(|key| key.text.as_str()).collect::<Vec<_>>())).collect();
    let keys_wide = keyboard.iter().map(|row| row.width()).max().unwrap_or(0).saturating_sub(4);
    let wide = inside.iter().map(|line| line.width()).max().unwrap_or(0).max(edited.width()).max(keys_wide);
    let mut lines = vec![name(state, message), format!("╭{}╮", "─".repeat(wide + 2))];
    lines.extend(inside.iter().map(|line| format!("│ {line}{} │", " ".repeat(wide - line.width()))));
    lines.push(format!("╰{}{edited}╯", "─".repeat(wide + 2 - edited.width())));
    lines.extend(keyboard);
    lines.extend(reactions(message));
    place(message, lines, wide + 4)
}

/// The bot's on the left, everybody else's on the right, in one block.
fn place(message: &Message, lines: Vec<String>, wide: usize) -> Vec<String> {
    if message.from_bot {
        return lines;
    }
    let margin = " ".repeat(WIDTH.saturating_sub(wide));
    lines.into_iter().map(|line| format!("{margin}{line}")).collect()
}

fn name(state: &State, message: &Message) -> String {
    let chat = message.sender_chat.and_then(|id| state.chats.get(&id)).map(|chat| chat.title.as_str());
    let user = message.from.and_then(|id| state.users.get(&id)).map(|user| user.name.as_str());
    let via = message.via_bot.and_then(|id| state.users.get(&id)).and_then(|bot| bot.username.as_deref());
    let via = via.map(|bot| format!(" via @{bot}")).unwrap_or_default();
    cut(&format!(" {}{via}", chat.or(user).unwrap_or_default()), TEXT)
}

/// What stands above the text: where it was forwarded from, what it answers, its file.
fn above(state: &State, chat: &Chat, message: &Message) -> Vec<String> {
    let mut lines = Vec::new();
    let named = |id: &i64| state.users.get(id).map_or("somebody", |user| user.name.as_str()).to_owned();
    let titled = |id: &ChatId| state.chats.get(id).map_or("a channel", |chat| chat.title.as_str()).to_owned();
    match &message.forwarded {
        Some(Origin::User(id)) => lines.push(format!("Forwarded from {}", named(id))),
        Some(Origin::Hidden(name)) => lines.push(format!("Forwarded from {name}")),
        Some(Origin::Channel(id, _)) => lines.push(format!("Forwarded from {}", titled(id))),
        None => {}
    }
    if let Some(answered) = message.reply_to.and_then(|id| chat.messages.get(&id)) {
        let who = answered.from.as_ref().map(named).unwrap_or_default();
        let quoted = message.quote.as_ref().map_or(answered.text.as_str(), |quote| quote.text.as_str());
        let text = if answered.deleted { "Deleted message" } else { quoted.lines().next().unwrap_or_default() };
        lines.push(cut(&format!("┃ {who}"), TEXT));
        lines.push(cut(&format!("┃ {text}"), TEXT));
    }
    if let Some(document) = &message.document {
        lines.push(cut(&format!("▤ {} · {} bytes", document.name, document.bytes.len()), TEXT));
    }
    lines
}

/// The text in lines that fit. A block of code and a quotation have a bar before them; other marks are not drawn.
fn body(message: &Message) -> Vec<String> {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in message.text.split('\n') {
        let bar = message.entities.iter().filter(|entity| within(entity, offset, line)).find_map(bar);
        match bar {
            Some(bar) => lines.extend(wrap(line, TEXT - bar.width()).into_iter().map(|part| format!("{bar}{part}"))),
            None => lines.extend(wrap(line, TEXT)),
        }
        offset += units(line) + 1;
    }
    if message.text.is_empty() { Vec::new() } else { lines }
}

/// An empty line between two marked ones belongs to the mark.
fn within(entity: &Entity, offset: usize, line: &str) -> bool {
    entity.offset <= offset && offset < entity.end() && (offset + units(line)).min(entity.end()) >= offset
}

fn bar(entity: &Entity) -> Option<&'static str> {
    match entity.kind {
        EntityKind::Pre(_) => Some("▏"),
        EntityKind::Blockquote | EntityKind::ExpandableBlockquote => Some("┃ "),
        _ => None,
    }
}

/// Breaks at blanks, and inside a word only where the word alone is too wide.
fn wrap(line: &str, wide: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let mut word = word.to_owned();
        loop {
            let last = lines.last_mut().expect("invariant: there is always a last line");
            if last.width() + word.trim_end().width() <= wide {
                last.push_str(&word);
                break;
            }
            if last.trim().is_empty() {
                let head = head_of(&word, wide - last.width());
                last.push_str(&head);
                word = word.get(head.len()..).unwrap_or_default().to_owned();
            }
            lines.push(String::new());
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// As much of the text as fits, and at least one letter.
fn head_of(text: &str, wide: usize) -> String {
    let mut head = String::new();
    for letter in text.chars() {
        let longer = format!("{head}{letter}");
        if longer.width() > wide && !head.is_empty() {
            break;
        }
        head = longer;
    }
    head
}

fn cut(text: &str, wide: usize) -> String {
    if text.width() <= wide {
        return text.to_owned();
    }
    format!("{}…", head_of(text, wide.saturating_sub(1)).trim_end())
}

/// One row of buttons, shortened where they do not fit.
fn keys(labels: &[&str]) -> String {
    let each = (TEXT + 4) / labels.len().max(1);
    let keys: Vec<String> =
        labels.iter().map(|label| format!("[ {} ]", cut(label, each.saturating_sub(5).max(1)))).collect();
    keys.join(" ")
}

fn reactions(message: &Message) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for emoji in message.reactions.values().flatten() {
        match counts.iter_mut().find(|(known, _)| *known == emoji) {
            Some((_, count)) => *count += 1,
            None => counts.push((emoji, 1)),
        }
    }
    let shown: Vec<String> = counts.iter().map(|(emoji, count)| format!("{emoji} {count}")).collect();
    (!shown.is_empty()).then(|| format!(" {}", shown.join("  ")))
}

//! Entities: the marked stretches of a text, in UTF-16 units as Telegram counts, those that Telegram finds by itself, and
//! how marks that do not go together are sorted out. Where marks come from (HTML, a person) is elsewhere.

/// A marked stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// What it is marked as.
    pub kind: EntityKind,
    /// Where it begins, in UTF-16 units.
    pub offset: usize,
    /// How long it is, in UTF-16 units.
    pub length: usize,
}

/// Telegram's kinds of marks, without those that no bot here uses (custom emoji, cashtag, phone number, e-mail).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is Telegram's own word")]
pub enum EntityKind {
    Blockquote,
    ExpandableBlockquote,
    Pre(Option<String>),
    Code,
    TextLink(String),
    TextMention(i64),
    Mention,
    BotCommand,
    Hashtag,
    Url,
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
}

impl EntityKind {
    /// Marks that bear no other marks inside (Bot API, formatting options).
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self, Self::Pre(_) | Self::Code)
    }

    /// Marks of which no two may overlap, found or given.
    fn is_whole(&self) -> bool {
        self.is_literal()
            || matches!(
                self,
                Self::TextLink(_) | Self::TextMention(_) | Self::Mention | Self::BotCommand | Self::Hashtag | Self::Url
            )
    }
}

impl Entity {
    pub(crate) fn end(&self) -> usize {
        self.offset + self.length
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

/// A text with its marks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Formatted {
    pub(crate) text: String,
    pub(crate) entities: Vec<Entity>,
}

/// How long Telegram says that `text` is.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The part of `text` from one UTF-16 offset to another.
pub(crate) fn slice(text: &str, offset: usize, length: usize) -> String {
    let wanted: Vec<u16> = text.encode_utf16().skip(offset).take(length).collect();
    String::from_utf16_lossy(&wanted)
}

impl Formatted {
    /// As Telegram stores it: blanks at both ends gone, marks that do not go together dropped, and what Telegram finds by
    /// itself (mentions, commands, tags, links) marked. Telegram splits overlapping marks of style; here they are kept.
    pub(crate) fn finished(self) -> Self {
        let mut trimmed = self.trimmed();
        trimmed.entities.sort_by_key(|entity| (entity.offset, usize::MAX - entity.length));
        let given = std::mem::take(&mut trimmed.entities);
        for entity in given.into_iter().chain(found(&trimmed.text)) {
            let clash = |kept: &Entity| {
                entity.overlaps(kept) && (kept.kind.is_literal() || (kept.kind.is_whole() && entity.kind.is_whole()))
            };
            if !trimmed.entities.iter().any(clash) {
                if entity.kind.is_literal() {
                    let quote =
                        |kind: &EntityKind| matches!(kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote);
                    trimmed.entities.retain(|kept| quote(&kept.kind) || !entity.overlaps(kept));
                }
                trimmed.entities.push(entity);
            }
        }
        trimmed.entities.sort_by_key(|entity| (entity.offset, usize::MAX - entity.length));
        trimmed
    }

    /// Blanks before the first mark and at the end are not kept.
    fn trimmed(self) -> Self {
        let text = self.text.trim_end();
        let first = self.entities.iter().map(|entity| entity.offset).min().unwrap_or(usize::MAX);
        let lead = text.bytes().take(first).take_while(|byte| matches!(byte, b' ' | b'\n')).count();
        let text = text.get(lead..).unwrap_or_default().to_owned();
        let end = units(&text);
        let entities = self.entities.into_iter().filter_map(|entity| {
            let offset = entity.offset - lead;
            let length = entity.length.min(end.saturating_sub(offset));
            (length > 0).then_some(Entity { offset, length, ..entity })
        });
        let entities = entities.collect();
        Self { text, entities }
    }
}

/// What Telegram marks by itself in `text`.
pub(crate) fn found(text: &str) -> Vec<Entity> {
    let (mut found, mut before, mut offset, mut skip) = (Vec::<Entity>::new(), ' ', 0, 0);
    for (at, letter) in text.char_indices() {
        if at >= skip {
            let rest = text.get(at..).unwrap_or_default();
            if let Some((kind, bytes)) = begins(letter, before, rest) {
                found.push(Entity { kind, offset, length: units(rest.get(..bytes).unwrap_or_default()) });
                skip = at + bytes;
            }
        }
        offset += letter.len_utf16();
        before = letter;
    }
    found
}

fn begins(letter: char, before: char, rest: &str) -> Option<(EntityKind, usize)> {
    let joined = before.is_alphanumeric() || before == '_';
    match letter {
        '@' if !joined => mention(rest).map(|bytes| (EntityKind::Mention, bytes)),
        '#' if !joined => hashtag(rest).map(|bytes| (EntityKind::Hashtag, bytes)),
        '/' if !joined && !"/<>".contains(before) => command(rest).map(|bytes| (EntityKind::BotCommand, bytes)),
        'h' if !joined => link(rest).map(|bytes| (EntityKind::Url, bytes)),
        _ => None,
    }
}

fn word(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// A user's name has 4 to 32 letters, digits and underscores.
fn mention(rest: &str) -> Option<usize> {
    let name = word(rest.get(1..)?);
    (4..=32).contains(&name).then_some(name + 1)
}

fn hashtag(rest: &str) -> Option<usize> {
    let tag = rest.get(1..)?;
    let name: usize =
        tag.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').map(char::len_utf8).sum();
    let digits_only = tag.get(..name)?.bytes().all(|byte| byte.is_ascii_digit());
    (name > 0 && !digits_only).then_some(name + 1)
}

/// `/name`, with `@bot` or without, and not the beginning of a path.
fn command(rest: &str) -> Option<usize> {
    let name = word(rest.get(1..)?);
    if !(1..=64).contains(&name) {
        return None;
    }
    let mut bytes = name + 1;
    if let Some(addressed) = rest.get(bytes..)?.strip_prefix('@') {
        let bot = word(addressed);
        if (3..=32).contains(&bot) {
            bytes += bot + 1;
        }
    }
    let after = rest.get(bytes..)?.chars().next();
    after.is_none_or(|after| !after.is_alphanumeric() && !"/<>".contains(after)).then_some(bytes)
}

/// Only links that name their scheme; Telegram finds bare domains, too.
fn link(rest: &str) -> Option<usize> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| rest.starts_with(scheme))?;
    let whole = rest.split(char::is_whitespace).next()?;
    let kept = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '>']);
    (kept.len() > scheme.len()).then_some(kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(String, EntityKind)> {
        found(text).into_iter().map(|found| (slice(text, found.offset, found.length), found.kind)).collect()
    }

    #[test]
    fn telegram_finds_what_it_finds() {
        use EntityKind::{BotCommand, Hashtag, Mention, Url};
        let rows: [(&str, Vec<(&str, EntityKind)>); 9] = [
            ("/status now", vec![("/status", BotCommand)]),
            ("😀 /status@fake_ops_bot now", vec![("/status@fake_ops_bot", BotCommand)]),
            ("read /var/log/syslog", vec![]),
            ("ask @carol, or @bob", vec![("@carol", Mention)]),
            ("mail carol@example.org", vec![]),
            ("@@checkout is a resource", vec![("@checkout", Mention)]),
            ("#incident #42", vec![("#incident", Hashtag)]),
            ("see https://example.org/a?b=1.", vec![("https://example.org/a?b=1", Url)]),
            ("oh/no", vec![]),
        ];
        for (text, expected) in rows {
            let expected: Vec<_> = expected.into_iter().map(|(part, kind)| (part.to_owned(), kind)).collect();
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_marked_inside_code_and_blanks_at_the_ends_go() {
        let text = "  \n /status \n".to_owned();
        let code = Entity { kind: EntityKind::Code, offset: 4, length: 8 };
        let finished = Formatted { text, entities: vec![code] }.finished();
        assert_eq!(finished.text, "/status");
        assert_eq!(finished.entities, [Entity { kind: EntityKind::Code, offset: 0, length: 7 }]);
    }
}

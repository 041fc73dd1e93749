//! Names that Telegram would take for a mention, and so wake somebody: in HTML they stand as code, where Telegram looks for
//! none; in plain text a space parts them. The core has already taken the mass mentions apart (`core/text.rs`).

use super::line::{Span, Style};

/// The span as spans in which no mention is left outside code. `@@name` is a resource, and looks like one.
pub(super) fn guarded(span: Span) -> Vec<Span> {
    if span.style == Style::Code {
        return vec![span];
    }
    let mut out = Vec::new();
    let mut rest = span.text.as_str();
    while let Some((before, name, after)) = first(rest) {
        out.push(Span::new(span.style, before));
        out.push(Span::new(Style::Code, name));
        rest = after;
    }
    out.push(Span::new(span.style, rest));
    out
}

/// The text with a space behind each `@` that could begin a mention.
pub(super) fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '@' && chars.peek().is_some_and(|&next| in_name(next)) {
            out.push(' ');
        }
    }
    out
}

/// What stands before the first mention, the mention, and what follows it. An `@` behind a letter or a digit is part of an
/// address, which is none; behind any other letter than those of an address, who knows what Telegram takes it for. One at
/// the very end may become one by what follows.
fn first(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('@').find_map(|(at, _)| {
        let (before, from) = (text.get(..at)?, text.get(at..)?);
        if before.chars().next_back().is_some_and(in_name) {
            return None;
        }
        let length = name_length(from);
        (length > 1 || from == "@").then(|| (before, &from[..length], &from[length..]))
    })
}

/// How many bytes the name takes, its sign included.
fn name_length(from: &str) -> usize {
    let resource = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    match from.strip_prefix("@@") {
        Some(name) => {
            let all = name.find(|c| !resource(c)).unwrap_or(name.len());
            2 + name[..all].trim_end_matches(['.', ':', '-', '/']).len()
        }
        None => 1 + from[1..].find(|c| !in_name(c)).unwrap_or(from.len() - 1),
    }
}

/// What a user's name on Telegram is made of.
const fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mark = |span: Span| if span.style == Style::Code { format!("[{}]", span.text) } else { span.text };
        guarded(Span::new(Style::Plain, text)).into_iter().map(mark).collect()
    }

    #[test]
    fn a_mention_is_code_and_an_address_is_not() {
        let table = [
            ("ask @ann_b, or (@bob)", "ask [@ann_b], or ([@bob])"),
            ("is @@homepage-docker up?", "is [@@homepage-docker] up?"),
            ("@@host:web-1. Next: @@a/b:", "[@@host:web-1]. Next: [@@a/b]:"),
            ("ops@example.org", "ops@example.org"),
            ("@ everyone @ 3", "@ everyone @ 3"),
            ("-@ann @ann@bob", "-[@ann] [@ann][@bob]"),
            ("ends in @", "ends in [@]"),
            ("größe@ann é@bob", "größe@ann é[@bob]"),
            ("Ⓐ@bobby 日@ann ²@ann", "Ⓐ[@bobby] 日[@ann] ²[@ann]"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn plain_text_mentions_nobody() {
        assert_eq!(defused("@ann and ops@example.org @@web"), "@ ann and ops@ example.org @@ web");
        assert_eq!(defused("@ ann @"), "@ ann @");
    }
}

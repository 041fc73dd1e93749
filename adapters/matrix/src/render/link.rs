//! Words that a client would make a link or a pill of by itself: addresses, domains, and the names of accounts and rooms. In
//! HTML they stand as code, where clients look for none: who reads a link in what the bot says must not be led away by
//! whoever wrote the log that it is from. Whether somebody is woken is not left to this: a message mentions nobody.

use super::line::{Span, Style};

/// The span as spans in which no word outside code is a link.
pub(super) fn guarded(span: Span) -> Vec<Span> {
    if span.style.is_code() {
        return vec![span];
    }
    let mut out = Vec::new();
    let mut plain = String::new();
    for word in span.text.split_inclusive(char::is_whitespace) {
        let (before, core, after) = bare(word);
        if !is_link(core) {
            plain.push_str(word);
            continue;
        }
        plain.push_str(before);
        out.push(Span::new(span.style, &std::mem::take(&mut plain)));
        out.push(Span::new(Style::Code, core));
        plain.push_str(after);
    }
    out.push(Span::new(span.style, &plain));
    out
}

/// A word between the signs around it.
fn bare(word: &str) -> (&str, &str, &str) {
    let opened = word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '*', '_', ',', ';', '.', '…']);
    let (before, rest) = word.split_at(word.len() - opened.len());
    let closes = |c: char| c.is_whitespace() || ")]}>\"'`*_,;.:!?…".contains(c);
    let (core, after) = rest.split_at(rest.trim_end_matches(closes).len());
    (before, core, after)
}

/// Whether a client could take it for a link. Rather one too many: as code it reads well, too.
fn is_link(word: &str) -> bool {
    word.contains("://") || has_scheme(word) || is_name(word) || has_domain(word)
}

/// What opens something without `//`.
fn has_scheme(word: &str) -> bool {
    let schemes =
        ["mailto:", "matrix:", "tel:", "sip:", "xmpp:", "magnet:", "geo:", "bitcoin:", "javascript:", "data:"];
    let lower = word.to_ascii_lowercase();
    schemes.iter().any(|scheme| lower.contains(scheme))
}

/// The name of an account, a room, a room's alias or an event: `@ann:example.org`.
fn is_name(word: &str) -> bool {
    let signs = ['@', '#', '!', '$', '+'];
    word.find(signs).and_then(|at| word.get(at..)).is_some_and(|from| from.contains(':'))
}

/// Whether a dot stands between a letter or digit and two letters, as in `example.org` and `ops@example.org`, or the word is
/// an address of numbers.
fn has_domain(word: &str) -> bool {
    let dotted = word.match_indices('.').any(|(at, _)| {
        let before = word.get(..at).and_then(|before| before.chars().next_back());
        let mut after = word.get(at + 1..).unwrap_or_default().chars();
        before.is_some_and(char::is_alphanumeric) && after.next().is_some_and(char::is_alphabetic) && {
            after.next().is_some_and(|c| c.is_alphanumeric() || c == '-')
        }
    });
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let head = word.split([':', '/']).next().unwrap_or_default();
    dotted || (head.split('.').count() == 4 && head.split('.').all(|part| is_number(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mark = |span: Span| if span.style == Style::Code { format!("[{}]", span.text) } else { span.text };
        guarded(Span::new(Style::Plain, text)).into_iter().map(mark).collect()
    }

    #[test]
    fn what_would_be_a_link_is_code_and_nothing_else_is() {
        let table = [
            ("see https://a.b/c_d, or (www.example.org).", "see [https://a.b/c_d], or ([www.example.org])."),
            ("ask @ann:example.org in #ops:example.org:", "ask [@ann:example.org] in [#ops:example.org]:"),
            ("!abc:example.org $ev:example.org", "[!abc:example.org] [$ev:example.org]"),
            ("mail ops@example.org or MAILTO:x", "mail [ops@example.org] or [MAILTO:x]"),
            ("10.0.0.7:80/x and 10.0.0.7", "[10.0.0.7:80/x] and [10.0.0.7]"),
            ("\"evil.example\" -> <x.de>", "\"[evil.example]\" -> <[x.de]>"),
            ("@ann, @@web-1 and @ 3", "@ann, @@web-1 and @ 3"),
            ("3.5 of 7. Well: 12:30, e.g. v1.2.3", "3.5 of 7. Well: 12:30, e.g. v1.2.3"),
            ("größe.de bücher.example/x", "[größe.de] [bücher.example/x]"),
            ("https:// alone, ://", "[https://] alone, [://]"),
            ("a.b\u{a0}c.de", "a.b\u{a0}[c.de]"),
            ("https//x", "https//x"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}

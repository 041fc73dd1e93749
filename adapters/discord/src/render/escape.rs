//! Takes the meaning out of Discord's markup: what a tool or a person says is shown as it is, and becomes no markup, no
//! mention, no link and no emoji. Whether somebody is woken is not left to this: a message allows no mentions at all.

/// What means something wherever it stands. A backslash before it takes that away.
const ANYWHERE: [char; 10] = ['\\', '`', '*', '_', '~', '|', '<', '>', '[', '#'];

/// The text with a backslash before each sign that would mean something. `at_start` says that it begins a line, where more
/// does.
pub(super) fn escaped(text: &str, at_start: bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let listed = if at_start { list_sign(text) } else { None };
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if ANYWHERE.contains(&c) || Some(at) == listed || is_of_address(c, next) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether it is the colon of an address, `https://`: without it, nothing is a link.
const fn is_of_address(c: char, next: Option<char>) -> bool {
    c == ':' && matches!(next, Some('/'))
}

/// Where the sign stands by which a line would be an item of a list: a dash, a plus, or the dot behind a number.
fn list_sign(text: &str) -> Option<usize> {
    let rest = text.trim_start();
    let indent = text.len() - rest.len();
    if rest.starts_with(['-', '+']) {
        return Some(indent);
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    (digits > 0 && rest[digits..].starts_with(['.', ')'])).then_some(indent + digits)
}

/// The most that a character takes when it is drawn, in UTF-16 units. Discord counts characters, which are never more.
pub(super) const fn units(c: char) -> usize {
    c.len_utf16() + if c.is_ascii_punctuation() { 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_markup_is_shown_as_it_is() {
        let table = [
            ("**bold** _it_ ~~no~~ ||spoiler||", r"\*\*bold\*\* \_it\_ \~\~no\~\~ \|\|spoiler\|\|"),
            ("<@12> <#3> <:x:4> <t:1>", r"\<@12\> \<\#3\> \<:x:4\> \<t:1\>"),
            ("# head", r"\# head"),
            ("> quote", r"\> quote"),
            ("- item", r"\- item"),
            ("  + item", r"  \+ item"),
            ("-# small", r"\-\# small"),
            ("12. item", r"12\. item"),
            ("1) item", r"1\) item"),
            ("3.5 of 7. Well", r"3\.5 of 7. Well"),
            ("see https://a.b/c_d", r"see https\://a.b/c\_d"),
            ("[x](https://a.b)", r"\[x](https\://a.b)"),
            (r"a\b `c`", r"a\\b \`c\`"),
            ("plain, with a dash - and a colon: yes", "plain, with a dash - and a colon: yes"),
        ];
        for (text, expected) in table {
            assert_eq!(escaped(text, true), expected, "{text}");
        }
        assert_eq!(escaped("- 1. x", false), "- 1. x");
    }
}

//! Discord's markup as people read it: marks of style are taken away, and what is escaped or stands in code is itself. How a
//! message is laid out is in `draw`.

use crate::channel::Message;

impl Message {
    /// Its text without markup: fences are gone, and every other line stands where it stood. Marks that call somebody stay
    /// as they were sent.
    pub fn plain(&self) -> String {
        let mut in_code = false;
        let mut shown = Vec::new();
        for text in self.text.split('\n') {
            if text.starts_with("```") {
                in_code = !in_code;
            } else if in_code {
                shown.push(text.to_owned());
            } else {
                shown.push(line(text, &|_| None));
            }
        }
        shown.join("\n")
    }
}

/// One line without its marks. `named` says what a mark in angle brackets shows.
pub(crate) fn line(line: &str, named: &dyn Fn(&str) -> Option<String>) -> String {
    let mut shown = String::new();
    let mut rest = line;
    let mut italic = false;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let mark = (letter == '<').then(|| after.split_once('>')).flatten();
        if let Some((named, tail)) = mark.and_then(|(inside, tail)| Some((named(inside)?, tail))) {
            shown.push_str(&named);
            rest = tail;
            continue;
        }
        rest = after;
        match letter {
            '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                shown.extend(after.chars().next());
                rest = after.get(1..).unwrap_or_default();
            }
            '`' => {
                if let Some((inside, tail)) = after.split_once('`') {
                    shown.push_str(inside);
                    rest = tail;
                }
            }
            '*' | '~' | '|' if after.starts_with(letter) => rest = after.get(1..).unwrap_or_default(),
            '*' if italic || (after.contains('*') && !after.starts_with(' ')) => italic = !italic,
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_people_read_it() {
        let table = [
            (r"**bold** and \*stars\*", "bold and *stars*"),
            (r"`a\b **c**` \`d\`", r"a\b **c** `d`"),
            ("*(may be a repeat)*", "(may be a repeat)"),
            ("2 * 3 = 6", "2 * 3 = 6"),
            ("~~no~~ ||never||", "no never"),
            ("<@12> said `x", "@Ann said x"),
        ];
        for (text, expected) in table {
            assert_eq!(line(text, &|inside| (inside == "@12").then(|| "@Ann".to_owned())), expected, "{text}");
        }
    }
}

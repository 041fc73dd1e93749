//! Fitting text into columns: breaking lines, and cutting what must stay on one. What is drawn is in `draw`.

use unicode_width::UnicodeWidthStr;

/// Breaks at blanks, and inside a word only where the word alone is too wide.
pub(crate) fn wrap(line: &str, wide: usize) -> Vec<String> {
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

/// On one line, with a sign that something was cut off.
pub(crate) fn cut(text: &str, wide: usize) -> String {
    if text.width() <= wide {
        return text.to_owned();
    }
    format!("{}…", head_of(text, wide.saturating_sub(1)).trim_end())
}

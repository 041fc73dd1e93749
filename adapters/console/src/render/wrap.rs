//! Breaks lines at words, by the columns that characters take. Text is already harmless when it comes here.

use unicode_width::UnicodeWidthStr as _;

/// One line as lines of at most `width` columns. A word that is wider stands alone and whole: a path or an id that is
/// broken cannot be copied. The indent of the line is kept.
pub(super) fn wrap(line: &str, width: usize) -> Vec<String> {
    let line = line.trim_end_matches(' ');
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
    let mut lines = Vec::new();
    let mut current = indent.to_owned();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let started = current.len() > indent.len();
        if started && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, indent.to_owned()));
        } else if started {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}

/// Text behind a lead: what follows its first line stands under the start of the text.
pub(super) fn hang(lead: &str, text: &str, width: usize) -> Vec<String> {
    let columns = lead.width();
    // Where the lead takes nearly everything, a few columns of text are still better than one word a line.
    let room = width.saturating_sub(columns).max(20);
    let wrapped: Vec<String> = text.lines().flat_map(|line| wrap(line, room)).collect();
    let indent = " ".repeat(columns);
    let Some((first, rest)) = wrapped.split_first() else { return vec![lead.trim_end().to_owned()] };
    let follow = rest.iter().map(|line| format!("{indent}{line}").trim_end().to_owned());
    std::iter::once(format!("{lead}{first}").trim_end().to_owned()).chain(follow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_indents_too() {
        assert_eq!(wrap("one two three", 20), ["one two three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("  one two three", 8), ["  one", "  two", "  three"]);
        assert_eq!(wrap("see /var/lib/docker/overlay2 now", 10), ["see", "/var/lib/docker/overlay2", "now"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn width_is_columns_and_not_bytes_or_characters() {
        assert_eq!(wrap("日本 語語 x", 9), ["日本 語語", "x"]);
        assert_eq!(wrap("ä ö ü ß", 7), ["ä ö ü ß"]);
    }
}

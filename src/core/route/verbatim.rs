//! The content or command that stands in a message, mostly at its end, taken as it was typed: a route looks at evened-out words,
//! and what is written into a file, or run, must keep its spaces and lines.

/// What follows `before` in the original, where `before` is the beginning of the evened-out message: from there to the
/// end, without the one space or line end that parts them, and out of its fence where it stands in one.
pub(super) fn after(original: &str, before: &str) -> Option<String> {
    if before.trim().is_empty() {
        return Some(out_of_fence(original.trim()).to_owned());
    }
    let start = end_of(original, before)?;
    let rest = original.get(start..)?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', ' '])).unwrap_or(rest);
    Some(out_of_fence(rest).replace("\r\n", "\n"))
}

/// Returns the text between `before` and `behind` in the original, as it was typed. White space at its ends is dropped unless
/// quotation marks delimit it.
pub(super) fn between(original: &str, before: &str, behind: &str) -> Option<String> {
    let start = end_of(original, before)?;
    let rest = original.get(start..)?;
    let (wanted, typed) = (marks(behind), marks(rest));
    let at = typed.windows(wanted.len().max(1)).rposition(|run| same(run, &wanted))?;
    let (end, _) = typed.get(at)?;
    let found = rest.get(..*end)?;
    let is_marked = !before.ends_with(char::is_whitespace) && !behind.starts_with(char::is_whitespace);
    let found = if is_marked { found } else { out_of_fence(found.trim()) };
    Some(found.replace("\r\n", "\n"))
}

/// The byte after the last character of `before` in the original, white space apart.
fn end_of(original: &str, before: &str) -> Option<usize> {
    let (wanted, typed) = (marks(before), marks(original));
    let run = typed.windows(wanted.len().max(1)).find(|run| same(run, &wanted))?;
    run.last().map(|(byte, c)| byte.saturating_add(c.len_utf8()))
}

/// Returns the characters of a text with where they begin, white space apart.
fn marks(text: &str) -> Vec<(usize, char)> {
    text.char_indices().filter(|(_, c)| !c.is_whitespace()).collect()
}

fn same(run: &[(usize, char)], wanted: &[(usize, char)]) -> bool {
    run.iter().map(|(_, c)| c).eq(wanted.iter().map(|(_, c)| c))
}

/// Three backticks around lines, or one around a word or more, are how people mark what is to be taken as it stands.
fn out_of_fence(content: &str) -> &str {
    let trimmed = content.trim();
    if let Some(inner) = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        // The rest of the first line names a language.
        return inner.split_once('\n').map_or(inner, |(_, lines)| lines);
    }
    match trimmed.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        Some(inner) if !inner.is_empty() && !inner.contains('`') => inner,
        Some(_) | None => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_in_the_middle_ends_where_the_rest_begins() {
        let table = [
            ("append \"a  b \" to /x please", "append \"", "\" to /x", Some("a  b ")),
            ("add the line  to  to /x", "add the line ", " to /x", Some("to")),
            ("add the line `a  b` to /x", "add the line ", " to /x", Some("a  b")),
            ("append \"x\" to /x\" to /x", "append \"", "\" to /x", Some("x\" to /x")),
            ("append \"x\" to /y", "append \"", "\" to /x", None),
        ];
        for (original, before, behind, expected) in table {
            assert_eq!(between(original, before, behind).as_deref(), expected, "{original:?}");
        }
    }

    #[test]
    fn content_is_taken_as_it_was_typed() {
        let table = [
            ("append to /a:  x = 1  ", "append to /a:", Some(" x = 1  ")),
            ("please  append   to /a: thanks", "append to /a:", Some("thanks")),
            ("write /a:\n[x]\n  y: 1\n", "write /a:", Some("[x]\n  y: 1\n")),
            ("write /a:\r\nb\r\nc", "write /a:", Some("b\nc")),
            ("write /a: ```toml\nx = 1\n\ty\n```", "write /a:", Some("x = 1\n\ty\n")),
            ("write /a: `x  y`", "write /a:", Some("x  y")),
            ("write /a: `x` and `y`", "write /a:", Some("`x` and `y`")),
            ("write /a with b", "write /a with", Some("b")),
            ("write /ä:é", "write /ä:", Some("é")),
            ("write /a: x", "write /b:", None),
            (" ps aux | grep \"a  b\" ", "", Some("ps aux | grep \"a  b\"")),
            ("run  echo \"a  b\" ?", "run", Some(" echo \"a  b\" ?")),
        ];
        for (original, before, expected) in table {
            assert_eq!(after(original, before).as_deref(), expected, "{original:?}");
        }
    }
}

//! What a change does to a text, line by line, as people know it from `diff -u`. Line ends that cannot be seen are named.

use std::path::Path;

use similar::TextDiff;

/// How many unchanged lines stand around a change.
const CONTEXT_LINES: usize = 3;

/// What stands for a carriage return, which would not be seen.
const RETURN: &str = "␍";

/// The difference as `diff -u` writes it; `before` is none where there is no file yet.
pub(super) fn show(path: &Path, before: Option<&str>, after: &str) -> String {
    let path = path.display();
    let old = before.map_or_else(|| "does not exist".to_owned(), line_ends);
    let old_header = format!("{path} ({old})");
    let new_header = format!("{path} ({})", line_ends(after));
    let before = before.unwrap_or_default();
    if before == after {
        return format!("{path} ({}): nothing changes", line_ends(after));
    }
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let text = unified.context_radius(CONTEXT_LINES).header(&old_header, &new_header).to_string();
    text.replace('\r', RETURN)
}

/// How the lines of a text end.
fn line_ends(text: &str) -> String {
    let all = text.matches('\n').count();
    let returns = text.matches("\r\n").count();
    let kind = match (all, returns) {
        (0, _) if text.is_empty() => "empty",
        (0, _) => "no line end",
        (_, 0) => "line ends LF",
        (all, returns) if all == returns => "line ends CRLF",
        _ => "line ends mixed: LF and CRLF",
    };
    let open = !text.is_empty() && !text.ends_with('\n') && all > 0;
    if open { format!("{kind}, the last line has none") } else { kind.to_owned() }
}

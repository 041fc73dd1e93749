//! Tables whose header names a column of secrets: CSV, TSV, what clients of databases print, Markdown, columns of blanks.

use std::ops::Range;

use super::names::class_of_name;
use super::rules::{Find, is_marker, is_nothing, looks_random};

/// The most characters of the title of a column.
const TITLE_CHARS_MAX: usize = 40;

/// What stands between two cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Sign(char),
    /// Two blanks and more.
    Blanks,
    /// White space of any width, in rows under a header of [`Between::Blanks`].
    Words,
}

/// A table that is being read.
struct Table {
    between: Between,
    columns: usize,
    /// The columns of secrets and their classes.
    secret: Vec<(usize, &'static str)>,
    /// Whether the header has the columns `Key` and `Value`, so that a row names its own secret.
    is_pairs: bool,
}

/// Secrets in the rows of every table.
pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut table: Option<Table> = None;
    let mut from = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = from;
        from += line.len();
        let line = line.trim_end();
        if is_rule(line) {
            continue;
        }
        if let Some(rows) = &table
            && let Some(cells) = rows.cells(line)
        {
            rows.row(line, start, &cells, &mut finds);
            continue;
        }
        let next = lines.peek().map_or("", |next| next.trim_end());
        table = Table::of_header(line, next);
    }
    finds
}

impl Table {
    fn of_header(line: &str, next: &str) -> Option<Self> {
        let sign = ['|', '\t', ';', ','].into_iter().find(|sign| line.contains(*sign));
        let between = sign.map_or(Between::Blanks, Between::Sign);
        let cells = cells(line, between);
        // One column is a table only over a line of dashes.
        if cells.len() < 2 && !is_rule(next) {
            return None;
        }
        let titles: Vec<&str> = cells.iter().map(|cell| line.get(cell.clone()).unwrap_or_default()).collect();
        let is_title = |title: &&str| {
            let words = title.split(' ').count();
            !title.is_empty()
                && !title.starts_with(|c: char| c.is_ascii_digit())
                && title.len() <= TITLE_CHARS_MAX
                && words <= 2
                && !title.contains(['=', ':', '"', '\'', '/'])
        };
        if !titles.iter().all(is_title) {
            return None;
        }
        let class = |title: &str| {
            class_of_name(&title.replace(' ', "_"))
                .or_else(|| ["pass", "pw", "Pass", "PASS"].contains(&title).then_some("password"))
        };
        let secret: Vec<_> = titles.iter().enumerate().filter_map(|(n, title)| Some((n, class(title)?))).collect();
        let lower = |n: usize| titles.get(n).map(|title: &&str| title.to_lowercase());
        let is_pairs = titles.len() == 2
            && matches!(lower(0).as_deref(), Some("key" | "name"))
            && matches!(lower(1).as_deref(), Some("value" | "data"));
        (is_pairs || !secret.is_empty()).then_some(Self { between, columns: cells.len(), secret, is_pairs })
    }

    /// The cells of a row; none where the line is no row of this table.
    fn cells(&self, line: &str) -> Option<Vec<Range<usize>>> {
        let found = cells(line, self.between);
        let fits = |cells: &Vec<Range<usize>>| cells.len() == self.columns && !line.trim().is_empty();
        if fits(&found) {
            return Some(found);
        }
        let words = (self.between == Between::Blanks).then(|| cells(line, Between::Words));
        words.filter(fits)
    }

    fn row(&self, line: &str, start: usize, cells: &[Range<usize>], finds: &mut Vec<Find>) {
        let get = |n: usize| cells.get(n).and_then(|cell| line.get(cell.clone())).unwrap_or_default();
        let named = class_of_name(get(0)).filter(|_| self.is_pairs).map(|class| (1, class));
        for (n, class) in self.secret.iter().copied().chain(named) {
            let (cell, text) = (cells.get(n).cloned().unwrap_or_default(), get(n));
            // A column may hold the names of secrets.
            let is_name = class == "secret" && !looks_random(text);
            if !is_nothing(text) && !is_marker(text) && !is_name {
                finds.push(Find { at: start + cell.start..start + cell.end, class });
            }
        }
    }
}

/// A line of dashes and the like, as between a header and its rows.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '+' | '|' | '=' | ':' | ' '))
}

/// The cells of a line, without blanks and quotes around them.
fn cells(line: &str, between: Between) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut from = 0;
    let mut quote = false;
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        quote ^= *byte == b'"';
        let blank = |at: usize| bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
        let ends = match between {
            Between::Sign(sign) => !quote && char::from(*byte) == sign,
            Between::Blanks => blank(at) && blank(at + 1) && !blank(at.wrapping_sub(1)),
            Between::Words => blank(at) && !blank(at.wrapping_sub(1)),
        };
        if ends {
            cells.push(from..at);
            from = at + 1;
        }
    }
    cells.push(from..line.len());
    let trimmed = cells.into_iter().map(|cell| trimmed(line, cell));
    // Lines of Markdown begin and end with a sign; lines of columns may begin with blanks.
    let mut trimmed: Vec<Range<usize>> = trimmed.collect();
    let outer = matches!(between, Between::Sign('|') | Between::Blanks | Between::Words);
    if outer && trimmed.last().is_some_and(Range::is_empty) {
        trimmed.pop();
    }
    if outer && trimmed.first().is_some_and(Range::is_empty) {
        trimmed.remove(0);
    }
    trimmed
}

fn trimmed(line: &str, cell: Range<usize>) -> Range<usize> {
    let text = line.get(cell.clone()).unwrap_or_default();
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '\'' | '*');
    let inside = text.trim_matches(is_edge);
    let begin = cell.start + text.find(inside).unwrap_or(0);
    begin..begin + inside.len()
}

/// `INSERT INTO users (name, password) VALUES ('bob', 'x'), ...`: a table in a statement.
pub(super) fn inserts(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let lower = text.to_ascii_lowercase();
    for (at, word) in lower.match_indices("insert into") {
        let list = |from: usize| {
            let open = from + text.get(from..)?.find('(')?;
            let close = open + text.get(open..)?.find(')')?;
            Some(open + 1..close)
        };
        let Some(columns) = list(at + word.len()) else { continue };
        let titles = cells(text.get(columns.clone()).unwrap_or_default(), Between::Sign(','));
        let names = text.get(columns.clone()).unwrap_or_default();
        let class = |cell: &Range<usize>| class_of_name(names.get(cell.clone()).unwrap_or_default());
        let secret: Vec<_> = titles.iter().enumerate().filter_map(|(n, cell)| Some((n, class(cell)?))).collect();
        let mut next = columns.end + 1;
        while !secret.is_empty() {
            let Some(row) = list(next).filter(|row| text.get(next..row.start).is_some_and(is_between_rows)) else {
                break;
            };
            let values = text.get(row.clone()).unwrap_or_default();
            let cells = cells(values, Between::Sign(','));
            for (n, class) in &secret {
                let Some(cell) = cells.get(*n) else { continue };
                let value = values.get(cell.clone()).unwrap_or_default();
                if !is_nothing(value) && !is_marker(value) {
                    finds.push(Find { at: row.start + cell.start..row.start + cell.end, class });
                }
            }
            next = row.end + 1;
        }
    }
    finds
}

fn is_between_rows(text: &str) -> bool {
    let word = text.trim_matches(|c: char| c.is_whitespace() || c == ',' || c == '(');
    word.is_empty() || word.eq_ignore_ascii_case("values")
}

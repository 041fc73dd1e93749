//! Draws a table: aligned where it is narrow enough, else each row as a small list. No cell is ever cut.

use countersign_core::port::TableColumn;
use unicode_width::UnicodeWidthStr as _;

use super::line::{Line, Span, Style};

/// What a narrow window shows of preformatted text without breaking its lines, in columns. A phone shows fewer, and breaks them.
const NARROW_COLUMNS: usize = 56;

/// Between two columns.
const GAP: &str = "  ";

/// A table as lines. `fence` is its position in the message; `wide` says that there is room for any width.
pub(super) fn table(fence: usize, columns: &[TableColumn], rows: &[Vec<String>], wide: bool) -> Vec<Line> {
    let heading: Vec<String> = columns.iter().map(|column| one_line(&column.title)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let all: Vec<&[String]> = std::iter::once(&heading).chain(&rows).map(Vec::as_slice).collect();
    let widths: Vec<usize> = (0..columns.len()).map(|index| width_of(index, &all)).collect();
    let total = widths.iter().sum::<usize>() + GAP.len() * columns.len().saturating_sub(1);
    if wide || total <= NARROW_COLUMNS {
        return all.iter().map(|row| Line::fenced(fence, &aligned(row, columns, &widths))).collect();
    }
    rows.iter().enumerate().flat_map(|(at, row)| list(&heading, row, at > 0)).collect()
}

/// A cell on one line: a row is one line.
fn one_line(cell: &str) -> String {
    cell.replace(['\n', '\r'], " ")
}

fn width_of(index: usize, rows: &[&[String]]) -> usize {
    rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.width()).max().unwrap_or(0)
}

fn aligned(row: &[String], columns: &[TableColumn], widths: &[usize]) -> String {
    let cell = |(index, (column, &width)): (usize, (&TableColumn, &usize))| {
        let text = row.get(index).map_or("", String::as_str);
        let space = " ".repeat(width.saturating_sub(text.width()));
        if column.right { format!("{space}{text}") } else { format!("{text}{space}") }
    };
    let drawn: Vec<String> = columns.iter().zip(widths).enumerate().map(cell).collect();
    drawn.join(GAP).trim_end().to_owned()
}

/// One row: its first cell, then the others by their headings. `apart` puts a blank line before it.
fn list(heading: &[String], row: &[String], apart: bool) -> Vec<Line> {
    let mut cells = heading.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
    let first = cells.next().map(|(_, cell)| Line::prose(vec![Span::new(Style::Bold, cell)]));
    let rest = cells.map(|(title, cell)| {
        let title = if title.is_empty() { String::new() } else { format!("{title}: ") };
        Line::plain(&format!("{title}{cell}"))
    });
    apart.then(|| Line::plain("")).into_iter().chain(first).chain(rest).collect()
}

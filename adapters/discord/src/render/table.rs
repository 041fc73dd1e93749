//! Draws a table: aligned where it is narrow enough, else each row on one line. No cell is ever cut; a row shows four.

use countersign_core::port::TableColumn;
use unicode_width::UnicodeWidthStr as _;

use super::line::{Line, Span, Style, fits_fence};

/// What a narrow window shows of preformatted text without breaking its lines, in columns. A phone shows fewer, and breaks them.
const NARROW_COLUMNS: usize = 56;

/// The most cells of a row that stands on one line: what it is called, how it is, and two facts.
const CELLS_MAX: usize = 4;

/// Between two columns.
const GAP: &str = "  ";

/// A table as lines. `fence` is its position in the message; `wide` says that there is room for any width.
pub(super) fn table(fence: usize, columns: &[TableColumn], rows: &[Vec<String>], wide: bool) -> Vec<Line> {
    let heading: Vec<String> = columns.iter().map(|column| one_line(&column.title)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let all: Vec<&[String]> = std::iter::once(&heading).chain(&rows).map(Vec::as_slice).collect();
    let widths: Vec<usize> = (0..columns.len()).map(|index| width_of(index, &all)).collect();
    let total = widths.iter().sum::<usize>() + GAP.len() * columns.len().saturating_sub(1);
    let fits = total <= NARROW_COLUMNS && all.iter().copied().flatten().all(|cell| fits_fence(cell));
    if wide || fits {
        return all.iter().map(|row| Line::fenced(fence, &aligned(row, columns, &widths))).collect();
    }
    rows.iter().map(|row| list(columns, row)).chain(left_out(columns)).collect()
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

/// A row on one line: its first cells, numbers by their headings.
fn list(columns: &[TableColumn], row: &[String]) -> Line {
    let cells = columns.iter().zip(row).take(CELLS_MAX).filter(|(_, cell)| !cell.is_empty());
    let spans = cells.enumerate().map(|(at, (column, cell))| match at {
        0 => Span::new(Style::Bold, cell),
        _ if column.right => Span::new(Style::Plain, &format!(" · {} {cell}", one_line(&column.title))),
        _ => Span::new(Style::Plain, &format!(" · {cell}")),
    });
    Line::prose(spans.collect())
}

/// Names the columns that no row shows.
fn left_out(columns: &[TableColumn]) -> Option<Line> {
    let titles: Vec<String> = columns.iter().skip(CELLS_MAX).map(|column| one_line(&column.title)).collect();
    (!titles.is_empty()).then(|| Line::plain(&format!("Not shown here: {}.", titles.join(", "))))
}

//! Draws a table whose rows fit a width. Numbers are never cut: half a number is a wrong number.

use countersign_core::port::TableColumn;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::clean;

/// Between two columns.
const GAP: usize = 2;

/// No column of text is cut below this: less tells nothing.
const COLUMN_MIN: usize = 8;

/// Headings and rows as lines. A row is wider than `width` only where its numbers alone are.
pub(super) fn table(columns: &[TableColumn], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let heading: Vec<String> = columns.iter().map(|column| clean::visible_line(&column.title)).collect();
    let cells: Vec<Vec<String>> = std::iter::once(heading)
        .chain(rows.iter().map(|row| row.iter().map(|cell| clean::visible_line(cell)).collect()))
        .collect();
    let natural = |index: usize| cells.iter().filter_map(|row| row.get(index)).map(|cell| cell.width()).max();
    let mut widths: Vec<usize> = (0..columns.len()).map(|index| natural(index).unwrap_or(0)).collect();
    shrink(&mut widths, columns, width);
    cells.iter().map(|row| line(row, columns, &widths)).collect()
}

/// Takes columns away from the widest text column, one by one, until a row fits or nothing more may be cut.
fn shrink(widths: &mut [usize], columns: &[TableColumn], width: usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while excess > 0 {
        let cuttable = widths.iter_mut().zip(columns).filter(|(width, column)| !column.right && **width > COLUMN_MIN);
        let Some((widest, _)) = cuttable.max_by_key(|(width, _)| **width) else { return };
        *widest -= 1;
        excess -= 1;
    }
}

fn line(row: &[String], columns: &[TableColumn], widths: &[usize]) -> String {
    let cell = |(index, (column, &width)): (usize, (&TableColumn, &usize))| {
        let text = fit(row.get(index).map_or("", String::as_str), width);
        let space = " ".repeat(width.saturating_sub(text.width()));
        if column.right { format!("{space}{text}") } else { format!("{text}{space}") }
    };
    let drawn: Vec<String> = columns.iter().zip(widths).enumerate().map(cell).collect();
    drawn.join(&" ".repeat(GAP)).trim_end().to_owned()
}

/// The text in at most `width` columns, with `…` where something is missing.
fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        out.push(c);
        used += columns;
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_exactly() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("日本語", 4), "日…");
    }

    #[test]
    fn the_widest_text_column_gives_first_and_numbers_never() {
        let column = |right| TableColumn { title: String::new(), right };
        let columns = [column(false), column(true), column(false)];
        let mut widths = [40, 30, 20];
        shrink(&mut widths, &columns, 70);
        assert_eq!(widths, [18, 30, 18]);
        shrink(&mut widths, &columns, 10);
        assert_eq!(widths, [COLUMN_MIN, 30, COLUMN_MIN]);
    }
}

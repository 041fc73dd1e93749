//! An answer as its action's declaration says: a sentence, named values, a table, a text, and what was left out. An empty
//! list is said to be empty; a list that is not there at all is said to be missing, because "none" is a claim.

use serde_json::{Map, Value};

use super::clean::as_sentence;
use super::path::Path;
use super::template::{Scope, Template};
use super::{clean, failure, units};
use crate::envelope::Envelope;
use crate::port::{Block, TableColumn};
use crate::secrets::Mask;
use crate::text;
use crate::tool::{Column, Show, Table};

/// The most rows of a table that are shown (DAT-03: 20 to 25).
pub const ROWS_MAX: usize = 20;

/// The most rows where somebody asked for so many, by an argument `limit`.
const ROWS_ASKED_MAX: usize = 50;

/// The most characters of a cell: a command line stays recognizable and a row stays a row.
const CELL_CHARS_MAX: usize = 120;

/// The most characters of a named value, and of what a tool says that it left out.
const VALUE_CHARS_MAX: usize = 400;

/// The most characters of a sentence made from a template.
const SENTENCE_CHARS_MAX: usize = 2_000;

/// The most characters of one line of a text: longer ones are no lines that a person reads.
const TEXT_LINE_CHARS_MAX: usize = 2_000;

/// The most lines of a text.
const TEXT_LINES_MAX: usize = 500;

/// The most bytes of a text: what a Matrix event holds, the largest message of any platform (DAT-04).
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// What stands in a cell whose value is missing.
const NO_VALUE: &str = "-";

/// Shows a tool's answer to a call with these arguments. Everything that comes from the tool or from the arguments is
/// masked, escaped and bounded. An answer that is a failure is shown as one, whatever the declaration says (FMT-03).
pub fn show(show: &Show, args: &Map<String, Value>, envelope: &Envelope, mask: &Mask) -> Vec<Block> {
    if let Some(error) = envelope.error.as_ref().filter(|_| !envelope.ok) {
        return failure(error, None, mask);
    }
    if !envelope.ok {
        return vec![said("The tool reported a failure and did not say which.")];
    }
    let rows_max = args.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    let rows_max = rows_max.map_or(ROWS_MAX, |limit| limit.clamp(ROWS_MAX, ROWS_ASKED_MAX));
    let tool_left_out = !envelope.meta.left_out.trim().is_empty();
    let scope = Scope::new(mask, &envelope.data, Some(args));
    let mut blocks = Showing { show, scope, mask, rows_max, tool_left_out }.blocks();
    if tool_left_out {
        blocks.push(Block::Text { text: as_sentence(&clean::line(mask, &envelope.meta.left_out, VALUE_CHARS_MAX)) });
    }
    blocks
}

/// A part of an answer that may be empty or missing.
enum Part {
    /// What is shown of it, and what is said to be left out.
    Full(Block, Option<String>),
    /// It is there and has nothing in it.
    Empty,
    /// It is not there, or is something else.
    Missing(String),
}

struct Showing<'a> {
    show: &'a Show,
    scope: Scope,
    mask: &'a Mask,
    rows_max: usize,
    tool_left_out: bool,
}

impl Showing<'_> {
    fn blocks(&self) -> Vec<Block> {
        let table = self.show.table.as_ref().map(|table| self.table(table));
        let text = self.show.text.as_ref().map(|path| self.text(path));
        let parts: Vec<Part> = [table, text].into_iter().flatten().collect();
        let all_empty = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Empty));
        if let Some(empty) = self.show.empty.as_ref().filter(|_| all_empty) {
            return vec![Block::Text { text: self.sentence(empty) }];
        }
        let lead = self.show.lead.iter().map(|lead| Block::Text { text: self.sentence(lead) });
        let mut blocks: Vec<Block> = lead.chain(self.fields()).collect();
        for part in parts {
            blocks.extend(self.part(part));
        }
        if blocks.is_empty() {
            blocks.push(said("There is nothing to show."));
        }
        blocks
    }

    fn part(&self, part: Part) -> Vec<Block> {
        match part {
            Part::Full(block, None) => vec![block],
            Part::Full(block, Some(shown)) => vec![block, Block::Text { text: self.how_to_see_more(&shown) }],
            Part::Empty => Vec::new(),
            Part::Missing(path) => {
                vec![Block::Text { text: format!("The answer does not have the expected form: `{path}` is missing.") }]
            }
        }
    }

    fn how_to_see_more(&self, shown: &str) -> String {
        match &self.show.more {
            // What the tool itself left out is said after this, and says how to see more.
            Some(_) if self.tool_left_out => shown.to_owned(),
            Some(more) => format!("{shown} To see more: {}", self.sentence(more)),
            None => shown.to_owned(),
        }
    }

    /// A rendered template. A malformed one, which the registry refuses, is shown as it is written.
    fn sentence(&self, template: &str) -> String {
        let rendered = Template::parse(template).map(|template| template.render(&self.scope));
        clean::prose(self.mask, &rendered.unwrap_or_else(|_| template.to_owned()), SENTENCE_CHARS_MAX)
    }

    fn fields(&self) -> Option<Block> {
        let fields: Vec<(String, String)> = self
            .show
            .fields
            .iter()
            .filter_map(|field| {
                let value = Path::parse(&field.path).ok()?.find(&self.scope.data)?;
                let written = clean::line(self.mask, &units::write(value, field.unit), VALUE_CHARS_MAX);
                (!written.is_empty()).then(|| (field.title.clone(), written))
            })
            .collect();
        (!fields.is_empty()).then_some(Block::Fields { fields })
    }

    fn table(&self, table: &Table) -> Part {
        let rows = Path::parse(&table.rows).ok().and_then(|path| path.find(&self.scope.data)?.as_array());
        let Some(rows) = rows else { return Part::Missing(table.rows.clone()) };
        if rows.is_empty() {
            return Part::Empty;
        }
        let shown: Vec<&Value> = rows.iter().take(self.rows_max).collect();
        let columns = table.columns.iter().map(|column| heading(column, &shown)).collect();
        let cells = |row: &&Value| table.columns.iter().map(|column| self.cell(column, row)).collect();
        let left_out = (rows.len() > self.rows_max).then(|| self.rows_shown(rows.len()));
        Part::Full(Block::Table { columns, rows: shown.iter().map(cells).collect() }, left_out)
    }

    fn rows_shown(&self, all: usize) -> String {
        if self.tool_left_out {
            // The tool's own count is the whole one; a second would contradict it.
            return format!("The first {} are shown here.", self.rows_max);
        }
        format!("{} of {all} shown.", self.rows_max)
    }

    fn cell(&self, column: &Column, row: &Value) -> String {
        let written = value_in(column, row).map(|value| units::write(value, column.unit));
        written.map_or_else(|| NO_VALUE.to_owned(), |written| clean::line(self.mask, &written, CELL_CHARS_MAX))
    }

    fn text(&self, path: &str) -> Part {
        let found = Path::parse(path).ok().and_then(|path| as_lines(path.find(&self.scope.data)?));
        let Some(found) = found else { return Part::Missing(path.to_owned()) };
        if found.trim().is_empty() {
            return Part::Empty;
        }
        let escaped = clean::lines(self.mask, found.trim_end());
        let (text, shown) = first_lines(&escaped);
        let all = escaped.lines().count();
        let left_out = (shown < all).then(|| format!("{shown} of {all} lines shown."));
        Part::Full(Block::Code { text }, left_out)
    }
}

fn said(sentence: &str) -> Block {
    Block::Text { text: sentence.to_owned() }
}

fn value_in<'v>(column: &Column, row: &'v Value) -> Option<&'v Value> {
    Path::parse(&column.path).ok()?.find(row)
}

fn heading(column: &Column, rows: &[&Value]) -> TableColumn {
    let values: Vec<&Value> = rows.iter().filter_map(|row| value_in(column, row)).collect();
    let numbers = !values.is_empty() && values.iter().all(|value| value.is_number());
    let plain_numbers = numbers && column.unit == crate::tool::Unit::Plain;
    TableColumn { title: column.title.clone(), right: units::is_numeric(column.unit) || plain_numbers }
}

/// A string, or a list of strings with one a line.
fn as_lines(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let lines: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            lines.map(|lines| lines.join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// As many lines from the beginning as the limits allow, and how many those are.
fn first_lines(escaped: &str) -> (String, usize) {
    let mut text = String::new();
    let mut shown = 0;
    for line in escaped.lines().take(TEXT_LINES_MAX) {
        let line = text::cut(line, TEXT_LINE_CHARS_MAX);
        if text.len() + line.len() + 1 > TEXT_BYTES_MAX {
            break;
        }
        if shown > 0 {
            text.push('\n');
        }
        text.push_str(&line);
        shown += 1;
    }
    (text, shown)
}

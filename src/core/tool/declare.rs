//! The format of a tool file. What the words mean together (does the resolving action exist, does a read have a target
//! it can resolve) is checked in `registry.rs`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ArgSpec, ToolKind};
use crate::approval::{Expectation, Risk};

/// One file of `config/tools/`: the tools of one server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// The server that answers; the configuration's `[spokes.NAME]`.
    pub spoke: String,
    /// Its tools.
    #[serde(rename = "tool")]
    pub tools: Vec<ToolSpec>,
}

/// One tool of a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Unique among all tools; begins with the server's name and `_`, which decides where a call goes (TPR-10).
    pub name: String,
    /// For the model and for `help`.
    pub about: String,
    /// Its actions, by name. Names are lower case.
    #[serde(rename = "action")]
    pub actions: BTreeMap<String, ActionSpec>,
}

/// One action of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionSpec {
    /// Resolve, read, write or record. There is no default.
    pub kind: ToolKind,
    /// For the model and for `help`.
    pub about: String,
    /// How long it may take, in milliseconds. A hard limit wraps every call, whatever its own bound (C-21).
    pub limit_ms: u64,
    /// Its arguments, by name. `action` and `target` are reserved.
    #[serde(default)]
    pub args: BTreeMap<String, ArgSpec>,
    /// The kind of resource it runs on: `host`, `process`, ... A resolve action has none.
    #[serde(default)]
    pub target: Option<String>,
    /// `tool.action` that discovers that target from a name given as its argument `query` (or from nothing).
    #[serde(default)]
    pub resolve: Option<String>,
    /// For a resolve action: the kind of resource it discovers, or `any`.
    #[serde(default)]
    pub resolves: Option<String>,
    /// Credentials that must be present, private and unchanged (gate `vault`).
    #[serde(default)]
    pub credentials: Vec<String>,
    /// Of a write: everything that makes it one that can be countersigned, carried out and verified.
    #[serde(default)]
    pub change: Option<ChangeSpec>,
    /// How its answer is shown.
    #[serde(default)]
    pub show: Show,
    /// What is remembered of its answer (KNO-06).
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactSpec>,
}

/// What a write action declares about itself (DESIGN.md section 3). Without it a write is never carried out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// What it does, in words, for the card: a template over `target.id`, `target.name`, the target's attributes as
    /// `target.NAME`, `args.NAME` and the preview's data as `preview.NAME`.
    pub title: String,
    /// How much it can hurt.
    pub risk: Risk,
    /// Attributes of the target, as its resolve action reports them, that must be equal when it is carried out.
    #[serde(default)]
    pub precondition: Vec<String>,
    /// `tool.action` of a read with the same target and arguments that says what would change: `preview` in its data is
    /// shown on the card, and its other data may be used by `title` and `expect`.
    #[serde(default)]
    pub preview: Option<String>,
    /// `tool.action` of a read of the same target that verifies it. Its data has `present`, a boolean.
    pub verify: String,
    /// What that read must show.
    #[serde(default)]
    pub expect: Expectation,
    /// For how long that read is made again where it does not show this yet, in milliseconds: a process takes its time to
    /// end. 0 is a change that shows at once.
    #[serde(default)]
    pub settles_ms: u32,
}

/// How an answer is shown: any of its parts, in this order. Texts are templates: `{path}` or `{path|unit}` takes a value
/// from the envelope's `data` by a dotted path, or from the call's arguments where the path begins with `args.`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Show {
    /// One sentence before the rest.
    pub lead: Option<String>,
    /// Name and value, one a line.
    pub fields: Vec<Field>,
    /// Rows and columns.
    pub table: Option<Table>,
    /// A path to a string, or to a list of strings, that is shown as it is, in a code block.
    pub text: Option<String>,
    /// Shown instead of everything else where the table or the text is empty.
    pub empty: Option<String>,
    /// How to see more, where rows were left out.
    pub more: Option<String>,
}

/// A named value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// What a person calls it.
    pub title: String,
    /// A dotted path into `data`. A field whose value is missing is left out.
    pub path: String,
    /// How the value is written.
    #[serde(default)]
    pub unit: Unit,
}

/// A list of objects as a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// A dotted path to the list.
    pub rows: String,
    /// Left to right.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// A dotted path into the row.
    pub path: String,
    /// How its values are written. Numbers are aligned right.
    #[serde(default)]
    pub unit: Unit,
}

/// How a value is written for people. The values themselves are plain: bytes, seconds, milliseconds, a percentage as a
/// number from 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// As it is.
    #[default]
    Plain,
    /// Bytes as B, KiB, MiB, GiB, TiB.
    Bytes,
    /// Percent, one decimal below 10.
    Percent,
    /// Seconds as days, hours, minutes, seconds: the two largest.
    Duration,
    /// Milliseconds since the Unix epoch as `2026-11-21 22:47:05 UTC`.
    Time,
    /// `true` as yes, `false` as no.
    YesNo,
    /// Degrees Celsius.
    Celsius,
}

/// A fact that is remembered of an answer: its key is the target's id and `attr` (KNO-03).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSpec {
    /// The last part of the key: `status`, `memory`.
    pub attr: String,
    /// A template like those of [`Show`]; cut to 200 characters (KNO-04).
    pub value: String,
}

/// What is wrong with a TOML file, on one line: where, and what. It never repeats the file's own text.
pub(crate) fn toml_problem(content: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| content.get(..span.start));
    let line = before.map(|before| format!("line {}: ", before.matches('\n').count().saturating_add(1)));
    format!("{}{}", line.unwrap_or_default(), error.message().replace('\n', ", "))
}

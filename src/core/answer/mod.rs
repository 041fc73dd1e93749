//! Turns what a tool answered into neutral blocks, as the action's declaration says, and what a refusal says into
//! sentences (FMT-01, FMT-03, FMT-04). All data is masked, made harmless and bounded here; an adapter adds only its own
//! markup. What is remembered of an answer is rendered here too, and kept elsewhere.

mod claims;
mod clean;
mod errors;
mod failure;
mod path;
mod plain;
mod show;
mod template;
mod units;

use serde_json::{Map, Value};

use crate::envelope::Envelope;
use crate::secrets::Mask;
use crate::tool::{ActionSpec, FactSpec};

pub use claims::Claims;
pub(crate) use claims::{Evidence, Unfounded};
pub use errors::{Errors, Rule};
pub use failure::failure;
pub(crate) use failure::{explained, meaning};
pub(crate) use plain::plain;
pub use show::{ROWS_MAX, show};
pub use template::Template;
pub use units::{clock, wall as time};

use path::Path;
use template::Scope;

/// The most characters of a remembered value (KNO-04).
pub const FACT_CHARS_MAX: usize = 200;

/// What is remembered of an answer, as (attribute, value): masked, on one line, at most [`FACT_CHARS_MAX`] characters. A
/// fact that needs a value which the answer lacks is absent, and a failure leaves no facts.
pub fn facts(specs: &[FactSpec], envelope: &Envelope, mask: &Mask) -> Vec<(String, String)> {
    if !envelope.ok {
        return Vec::new();
    }
    let scope = Scope::new(mask, &envelope.data, None);
    let value = |spec: &FactSpec| Template::parse(&spec.value).ok()?.render_whole(&scope);
    let clean = |text: String| clean::line(mask, &text, FACT_CHARS_MAX);
    specs.iter().filter_map(|spec| Some((spec.attr.clone(), clean(value(spec)?)))).collect()
}

/// The most characters of what a model wrote: an answer, and no essay.
const PROSE_CHARS_MAX: usize = 3_000;

/// What a model wrote, made fit to be shown.
pub(crate) fn prose(untrusted: &str, mask: &Mask) -> String {
    clean::prose(mask, untrusted, PROSE_CHARS_MAX)
}

/// The most characters of an answer as it came: what tells a machine's words from ours, and not all of them.
const RAW_CHARS_MAX: usize = 1_200;

/// What a tool answered as it came, made fit to be shown.
pub(crate) fn raw(envelope: &Envelope, mask: &Mask) -> String {
    let text = match &envelope.error {
        Some(failure) => format!("{}: {}", failure.code, failure.message),
        None => format!("{:#}", mask.mask_json(&envelope.data)),
    };
    clean::prose(mask, &text, RAW_CHARS_MAX)
}

/// A template over data of our own and arguments, whole or not at all. Not masked: it becomes part of a plan, which is
/// shown as it is or not at all.
pub(crate) fn sentence(template: &str, data: &Value, args: &Map<String, Value>) -> Option<String> {
    Template::parse(template).ok()?.render_whole(&Scope::unmasked(data, args))
}

/// What is wrong with the templates and paths of a declaration, with the fix; none where all of them can be rendered.
/// Called when the declaration is loaded, so that nobody meets a malformed template at 3 a.m.
pub fn problem_of(spec: &ActionSpec) -> Option<String> {
    let show = &spec.show;
    let texts = [("show.lead", &show.lead), ("show.empty", &show.empty), ("show.more", &show.more)];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?)));
    let facts = spec.facts.iter().map(|fact| ("fact.value", fact.value.as_str()));
    let title = spec.change.iter().map(|change| ("change.title", change.title.as_str()));
    let expected = spec.change.iter().flat_map(|change| change.expect.equals.values());
    let expected = expected.map(|value| ("change.expect.equals", value.as_str()));
    texts
        .chain(facts)
        .chain(title)
        .chain(expected)
        .find_map(|(key, text)| template_problem(spec, key, text))
        .or_else(|| path_problem(spec))
}

fn template_problem(spec: &ActionSpec, key: &str, text: &str) -> Option<String> {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(problem) => return Some(format!("`{key}`: {problem}")),
    };
    let undeclared = template.args().find(|arg| !spec.args.contains_key(*arg))?;
    Some(format!("`{key}` uses `args.{undeclared}`, which is no argument of this action"))
}

fn path_problem(spec: &ActionSpec) -> Option<String> {
    let show = &spec.show;
    let fields = show.fields.iter().map(|field| ("show.fields", field.path.as_str()));
    let table = show.table.iter().flat_map(|table| {
        let columns = table.columns.iter().map(|column| ("show.table.columns", column.path.as_str()));
        [("show.table.rows", table.rows.as_str())].into_iter().chain(columns)
    });
    let text = show.text.iter().map(|path| ("show.text", path.as_str()));
    let mut paths = fields.chain(table).chain(text);
    paths.find_map(|(key, path)| Some(format!("`{key}`: {}", Path::parse(path).err()?)))
}

#[cfg(test)]
mod tests;

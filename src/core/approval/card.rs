//! The card: what people see before they countersign. Drawn from the canonical bytes alone, and whole; what cannot be
//! shown whole cannot be approved (AC-16). All text in it is escaped.

use std::fmt::Write;

use serde_json::Value;

use super::{Frozen, Plan, Risk};
use crate::port::{Block, CardChoice};
use crate::text;
use crate::tool::credential_in;

/// The most bytes of text on a card (DESIGN.md section 4).
pub const CARD_BYTES_MAX: usize = 8 * 1024;

/// Draws the card, or says why it cannot be shown whole.
pub fn card(frozen: &Frozen) -> Result<Vec<Block>, String> {
    let plan = read(frozen)?;
    let mut blocks = body(&plan, frozen, format!("Countersign this? {}", shown(&plan.title)));
    blocks.extend(requester(&plan).map(|text| Block::Text { text }));
    let bytes: usize = blocks.iter().map(bytes_of).sum();
    if bytes > CARD_BYTES_MAX {
        return Err(format!("it takes {bytes} bytes to show, and a card has {CARD_BYTES_MAX}"));
    }
    let choices = vec![CardChoice::Approve, CardChoice::Deny];
    blocks.push(Block::Card { plan: plan.id, digest: frozen.digest().clone(), risk: plan.risk, choices });
    Ok(blocks)
}

/// Draws what stays of a card that nobody can decide any more: the whole plan, and nothing that asks for anything. The error
/// says why it cannot be read.
pub fn card_once_decided(frozen: &Frozen) -> Result<Vec<Block>, String> {
    let plan = read(frozen)?;
    Ok(body(&plan, frozen, shown(&plan.title)))
}

/// From the bytes once more, so that nothing but them can stand on a card.
fn read(frozen: &Frozen) -> Result<Plan, String> {
    serde_json::from_str(frozen.bytes()).map_err(|error| format!("the plan cannot be read: {error}"))
}

fn body(plan: &Plan, frozen: &Frozen, first: String) -> Vec<Block> {
    let preview = plan.preview.as_deref().map(|preview| Block::Code { text: block_text(preview) });
    let all = [Block::Text { text: first }, Block::Fields { fields: fields(plan, frozen) }];
    all.into_iter().chain(preview).collect()
}

/// Whether who asked for it may countersign it. Nothing where that is not settled: a low risk needs no second person.
fn requester(plan: &Plan) -> Option<String> {
    let several = plan.terms.quorum.get() > 1;
    let text = match (plan.alone, several) {
        (true, false) => "You asked for this yourself, and may countersign it alone; the record says so.",
        (true, true) => "You asked for this yourself, and may be one of those who countersign; the record says so.",
        (false, false) if plan.risk == Risk::Low => return None,
        (false, false) if plan.terms.circles.is_empty() => "Somebody else has to countersign it.",
        (false, false) => {
            return Some(format!("Somebody else has to countersign it: {}.", shown(&plan.terms.who(None))));
        }
        (false, true) => return Some(format!("Others have to countersign it: {}.", shown(&plan.terms.who(None)))),
    };
    Some(text.to_owned())
}

fn fields(plan: &Plan, frozen: &Frozen) -> Vec<(String, String)> {
    let mut fields = vec![("Does".to_owned(), shown(&plan.call())), ("To".to_owned(), shown(plan.target.as_str()))];
    if !plan.target_about.is_empty() {
        fields.push(("That is".to_owned(), shown(&plan.target_about)));
    }
    // What the preview shows line by line is not repeated as one long argument.
    let previewed = |value: &Value| plan.preview.is_some() && value.as_str().is_some_and(|text| text.contains('\n'));
    for (name, value) in plan.args.iter().filter(|(_, value)| !previewed(value)) {
        let value = match value.as_str() {
            // Its name alone: `secret:NAME` looks like a secret itself.
            Some(text) => credential_in(text).map_or_else(|| text.to_owned(), |name| format!("the credential {name}")),
            None => value.to_string(),
        };
        fields.push((format!("With {}", shown(name)), shown(&value)));
    }
    let before: Vec<String> = plan.before.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !before.is_empty() {
        fields.push(("Only while".to_owned(), shown(&before.join(", "))));
    }
    fields.push(("Then expects".to_owned(), shown(&expected(plan))));
    let why = plan.risk_because.as_ref().map(|why| format!(": {why}"));
    fields.push(("Risk".to_owned(), shown(&format!("{}{}", plan.risk.as_str(), why.unwrap_or_default()))));
    if plan.terms.quorum.get() > 1 || !plan.terms.circles.is_empty() {
        fields.push(("Needs".to_owned(), shown(&plan.terms.who(None))));
    }
    if plan.tainted {
        fields.push(("Careful".to_owned(), "proposed after reading text that nobody vouches for".to_owned()));
    }
    fields.push(("Why".to_owned(), shown(&plan.because)));
    fields.push(("Until".to_owned(), crate::answer::time(plan.expires_at)));
    fields.push(("Plan".to_owned(), format!("{} ({})", plan.id, frozen.digest().short())));
    fields
}

fn expected(plan: &Plan) -> String {
    if plan.expect.absent {
        return "it is gone".to_owned();
    }
    let equals = plan.expect.equals.iter().map(|(path, value)| format!("{path} {value}"));
    let changed = plan.expect.changed.iter().map(|path| format!("another {path}"));
    let all: Vec<String> = equals.chain(changed).collect();
    if all.is_empty() { "it is still there".to_owned() } else { all.join(", ") }
}

/// Untrusted text on one line: whole, escaped, and harmless.
fn shown(untrusted: &str) -> String {
    text::defuse_mentions(&text::one_line(untrusted, usize::MAX))
}

/// Untrusted text of several lines: whole, each line escaped.
fn block_text(untrusted: &str) -> String {
    let mut out = String::new();
    for line in untrusted.lines() {
        let _infallible = writeln!(out, "{}", text::defuse_mentions(&text::escape(line)));
    }
    out.trim_end_matches('\n').to_owned()
}

fn bytes_of(block: &Block) -> usize {
    crate::gate::texts_of(block).iter().map(|text| text.len()).sum()
}

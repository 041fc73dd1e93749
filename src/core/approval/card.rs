//! The card: what people see before they approve. A few lines that a decision needs, and the change itself, whole. The rest is
//! in the details. Both are drawn from the canonical bytes alone; a plan whose details cannot be shown whole cannot be approved
//! (AC-16). All text in it is escaped.

use std::fmt::Write;

use serde_json::Value;

use super::{Frozen, Plan, PlanId, Risk};
use crate::answer;
use crate::port::{Block, CardChoice};
use crate::text;
use crate::tool::credential_in;

/// The most bytes of text that show a plan whole (DESIGN.md section 4).
pub const CARD_BYTES_MAX: usize = 8 * 1024;

/// The most deciders that a card names.
pub const NAMED_DECIDERS_MAX: usize = 3;

/// The most characters of a target's description and of the words that were asked, on the card. The details have them whole.
const ABOUT_CHARS_MAX: usize = 60;
const ASKED_CHARS_MAX: usize = 31;

/// The most characters of a name that an account gave itself.
const NAME_CHARS_MAX: usize = 48;

/// Draws the card: at most six lines, the change, and the buttons. Returns an error if the plan cannot be shown whole.
pub fn card(frozen: &Frozen) -> Result<Vec<Block>, String> {
    let plan = read(frozen)?;
    let mut blocks = vec![Block::Text { text: summary(&plan).join("\n") }];
    blocks.extend(change(&plan));
    let bytes = |blocks: &[Block]| -> usize { blocks.iter().map(bytes_of).sum() };
    let bytes = bytes(&blocks).max(bytes(&details(frozen)?));
    if bytes > CARD_BYTES_MAX {
        return Err(format!("it takes {bytes} bytes to show, and a card has {CARD_BYTES_MAX}"));
    }
    let choices = vec![CardChoice::Approve, CardChoice::Deny];
    blocks.push(Block::Card { plan: plan.id, digest: frozen.digest().clone(), risk: plan.risk, choices });
    Ok(blocks)
}

/// Draws the whole plan, with its full id. Returns an error if the plan cannot be read.
pub fn details(frozen: &Frozen) -> Result<Vec<Block>, String> {
    let plan = read(frozen)?;
    let lead = Block::Text { text: format!("The whole plan: {}.", shown(&plan.title)) };
    let preview = plan.preview.as_deref().map(|preview| Block::Code { text: block_text(preview) });
    let all = [lead, Block::Fields { fields: fields(&plan, frozen) }];
    Ok(all.into_iter().chain(preview).collect())
}

/// Returns the line that stays of a decided card: what was planned, on what, and the plan's short id. The status follows it. Returns
/// an error if the plan cannot be read.
pub fn heading(frozen: &Frozen) -> Result<String, String> {
    let plan = read(frozen)?;
    Ok(format!("{}{} ({})", shown(&plan.title), place(&plan), short(&plan.id)))
}

/// Returns the beginning of an id, for people to tell plans apart. It selects nothing (AC-24).
pub fn short(id: &PlanId) -> &str {
    id.as_str().get(..4).unwrap_or_else(|| id.as_str())
}

/// Reads the plan from its bytes, so that nothing but them can stand on a card.
fn read(frozen: &Frozen) -> Result<Plan, String> {
    serde_json::from_str(frozen.bytes()).map_err(|error| format!("the plan cannot be read: {error}"))
}

/// Returns what a decision needs, one sentence a line.
fn summary(plan: &Plan) -> Vec<String> {
    let asks = format!("{} asks to {}{}.", requester_name(plan), shown(&plan.title), place(plan));
    let about = (!plan.target_about.is_empty())
        .then(|| format!("It is: {}", text::defuse_mentions(&text::one_line(&plan.target_about, ABOUT_CHARS_MAX))));
    let careful = plan.tainted.then(|| "Proposed by a model that read untrusted text.".to_owned());
    let who = format!("{} until {}.", who(plan), answer::clock(plan.expires_at, plan.requested_at));
    [Some(asks), about, Some(risk_and_effect(plan)), careful, Some(who), Some(asked(plan))]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the requester's name. An unknown account chooses its own, so it is cut to a part of a line.
fn requester_name(plan: &Plan) -> String {
    let is_known = plan.requester.display == plan.requester_person;
    let chars_max = if is_known { usize::MAX } else { NAME_CHARS_MAX };
    text::defuse_mentions(&text::one_line(&plan.requester.display, chars_max))
}

/// Returns where the target is: ` on web-1 (production)`.
fn place(plan: &Plan) -> String {
    let host = plan.target.scope().unwrap_or_default();
    let is_told = host.is_empty() || plan.title == host || plan.title.ends_with(&format!(" on {host}"));
    let on = if is_told { String::new() } else { format!(" on {}", shown(host)) };
    let environment = plan.environment.as_ref().map(|name| format!(" ({})", shown(name))).unwrap_or_default();
    on + &environment
}

/// Returns the risk with its reason, and what changes: `Medium risk. State active → active, another run.`
fn risk_and_effect(plan: &Plan) -> String {
    let risk = match plan.risk {
        Risk::Low => "Low risk",
        Risk::Medium => "Medium risk",
        Risk::High => "High risk",
    };
    let why = plan.risk_because.as_ref().map(|why| format!(": {}", shown(why))).unwrap_or_default();
    let effect = effect(plan);
    let effect = if effect.is_empty() { effect } else { format!(" {}.", shown(&effect)) };
    format!("{risk}{why}.{effect}")
}

/// Returns how the target is now and how it will be. A hash says nothing to people, so it is left to the details.
fn effect(plan: &Plan) -> String {
    if plan.expect.absent {
        return "It will be gone".to_owned();
    }
    let values = plan.expect.equals.iter().filter(|(_, value)| !is_hash(value)).map(|(path, value)| {
        // How something is needs no name.
        let name = if path == "state" { String::new() } else { format!("{path} ") };
        match plan.before.get(path) {
            Some(now) => format!("{name}{now} → {value}"),
            None => format!("then {name}{value}"),
        }
    });
    let changed = plan.expect.changed.iter().map(|path| format!("another {path}"));
    let all: Vec<String> = values.chain(changed).collect();
    text::capital(&all.join(", "))
}

fn is_hash(value: &str) -> bool {
    value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns who can approve it: `bob or carol can approve`.
fn who(plan: &Plan) -> String {
    let waiver = if plan.terms.quorum.get() > 1 { "who asked" } else { "alone" };
    let alone = plan.alone.then(|| format!("{} ({waiver}; the record says so)", requester_name(plan)));
    let deciders = plan.deciders.as_deref().unwrap_or_default();
    let others = if deciders.len() > NAMED_DECIDERS_MAX { vec!["others".to_owned()] } else { Vec::new() };
    let deciders = deciders.iter().take(NAMED_DECIDERS_MAX).map(|name| shown(name));
    let names: Vec<String> = alone.into_iter().chain(deciders).chain(others).collect();
    let several = plan.terms.quorum.get() > 1 || !plan.terms.circles.is_empty();
    let takes = if several { format!("It takes {}: ", shown(&plan.terms.who(None))) } else { String::new() };
    match plan.deciders {
        _ if !names.is_empty() => format!("{takes}{} can approve", names.join(" or ")),
        Some(_) => format!("{takes}No one here can approve yet"),
        None if several => format!("It takes {} to approve", shown(&plan.terms.who(None))),
        None if plan.risk == Risk::Low => "Who has the right can approve".to_owned(),
        None => "Another person has to approve".to_owned(),
    }
}

/// Returns the words that were asked, and the short id.
fn asked(plan: &Plan) -> String {
    let by = &plan.requester.display;
    let leads = [format!("asked by {by}: "), format!("a model proposes it for {by}, who wrote: ")];
    let words = leads.iter().find_map(|lead| plan.because.strip_prefix(lead)).unwrap_or(&plan.because);
    let words = text::defuse_mentions(&text::one_line(words, ASKED_CHARS_MAX));
    format!("Plan {}: “{words}”", short(&plan.id))
}

/// Returns the change itself, whole: its arguments and its preview.
fn change(plan: &Plan) -> Vec<Block> {
    let arguments = unshown_arguments(plan);
    let arguments = (!arguments.is_empty()).then_some(Block::Fields { fields: arguments });
    let preview = plan.preview.as_deref().map(|preview| Block::Code { text: block_text(preview) });
    arguments.into_iter().chain(preview).collect()
}

/// Returns the arguments that the preview does not show: with one, the single argument whose every line stands in it as an added
/// line is left out.
fn unshown_arguments(plan: &Plan) -> Vec<(String, String)> {
    let added: Vec<&str> = plan.preview.iter().flat_map(|preview| preview.lines()).filter_map(added_line).collect();
    let is_shown = |value: &Value| {
        value.as_str().is_some_and(|text| !text.trim().is_empty() && text.lines().all(|line| added.contains(&line)))
    };
    let shown: Vec<&String> = plan.args.iter().filter(|(_, value)| is_shown(value)).map(|(name, _)| name).collect();
    // Where several could be meant, none is left out.
    let left_out = if let [only] = shown.as_slice() { Some(*only) } else { None };
    arguments(plan, |name| Some(name) != left_out)
}

/// Returns the content of an added line of a diff. Its heading is none.
fn added_line(line: &str) -> Option<&str> {
    line.strip_prefix('+').filter(|_| !line.starts_with("+++ "))
}

fn arguments(plan: &Plan, is_wanted: impl Fn(&String) -> bool) -> Vec<(String, String)> {
    let value = |value: &Value| match value.as_str() {
        // Its name alone: `secret:NAME` looks like a secret itself.
        Some(text) => credential_in(text).map_or_else(|| text.to_owned(), |name| format!("the credential {name}")),
        None => value.to_string(),
    };
    let given = plan.args.iter().filter(|(name, _)| is_wanted(name));
    given.map(|(name, given)| (format!("With {}", shown(name)), shown(&value(given)))).collect()
}

/// Returns whether the requester may approve it; none if that is not settled, because a low risk needs no second person.
fn requester(plan: &Plan) -> Option<&'static str> {
    match (plan.alone, plan.terms.quorum.get() > 1) {
        (true, false) => Some("the requester, alone; the record says so"),
        (true, true) => Some("the requester, as one of them; the record says so"),
        (false, false) if plan.risk == Risk::Low => None,
        (false, _) => Some("others than the requester"),
    }
}

fn fields(plan: &Plan, frozen: &Frozen) -> Vec<(String, String)> {
    let mut fields = vec![
        ("Asked by".to_owned(), shown(&plan.requester.display)),
        ("Does".to_owned(), shown(&plan.call())),
        ("To".to_owned(), shown(plan.target.as_str())),
    ];
    fields.extend(plan.environment.as_ref().map(|name| ("In".to_owned(), shown(name))));
    if !plan.target_about.is_empty() {
        fields.push(("That is".to_owned(), shown(&plan.target_about)));
    }
    fields.extend(arguments(plan, |_| true));
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
    fields.push(("Who can".to_owned(), who(plan)));
    fields.extend(requester(plan).map(|who| ("Approver".to_owned(), who.to_owned())));
    if plan.tainted {
        fields.push(("Careful".to_owned(), "proposed after reading text that nobody vouches for".to_owned()));
    }
    fields.push(("Why".to_owned(), shown(&plan.because)));
    fields.push(("Until".to_owned(), answer::time(plan.expires_at)));
    fields.push(("Plan".to_owned(), plan.id.to_string()));
    fields.push(("Digest".to_owned(), frozen.digest().as_str().to_owned()));
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

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;

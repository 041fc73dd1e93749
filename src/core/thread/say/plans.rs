//! What the bot says about plans: decided, carried out, verified, not verified. An answer never says more than was
//! verified. The card itself is drawn by `approval/card.rs`.

use std::fmt::Write;

use serde_json::Value;

use crate::answer;
use crate::approval::{
    self, Decided, Desk, Filed, Finding, Outcome, Plan, PlanId, PlanState, Told, Verb, is_success, told,
};
use crate::envelope::Failure;
use crate::gate::Refusal;
use crate::port::Block;
use crate::secrets::Mask;
use crate::signal::Wall;
use crate::text;

use super::{quote, sentence};

/// The end of everything that was refused before it was begun.
pub(in crate::thread) const NOTHING_CHANGED: &str = "Nothing was changed.";

/// The most characters of a title in a sentence.
const TITLE_CHARS_MAX: usize = 160;

/// The most characters of one argument among others.
const ARGUMENT_CHARS_MAX: usize = 60;

/// The most characters of all arguments on one line.
const ARGUMENTS_CHARS_MAX: usize = 160;

/// The most characters of what a tool said went wrong: its exit code and the first lines of what it wrote.
const TOOL_CHARS_MAX: usize = 500;

pub(super) fn title(plan: &Plan) -> String {
    text::defuse_mentions(&text::one_line(&plan.title, TITLE_CHARS_MAX))
}

/// The line above the card of a change that was asked for again.
pub(in crate::thread) fn waits_already() -> String {
    "This change waits already; its card has the words of the first request.".to_owned()
}

/// The line above a card that is shown again after a decision without an id.
pub(in crate::thread) fn waits_here(verb: Verb, plan: &PlanId) -> String {
    let (verb, short) = (verb.as_str(), approval::short(plan));
    format!("This plan waits here. To {verb} it, use its card, or type `{verb} {short}` now:")
}

pub(in crate::thread) fn say_the_id(verb: Verb, desk: &Desk) -> Vec<Block> {
    let mut open = desk.open();
    // What is approved already can only be cancelled.
    open.retain(|filed| filed.state() == PlanState::Pending || (verb == Verb::Cancel && !filed.state().holds_target()));
    let verb = verb.as_str();
    if open.is_empty() {
        return sentence(format!("No plan waits in this thread, so there is nothing to {verb}."));
    }
    let mut said = format!("Say which plan to {verb}, by its full id:");
    for filed in open {
        let _infallible = write!(said, "\n  {verb} {} - {}", filed.id(), title(filed.frozen.plan()));
    }
    sentence(said)
}

pub(in crate::thread) fn no_plan() -> Vec<Block> {
    sentence("No change was asked for in this thread lately. To see a thing in detail, name it: `service ssh`.")
}

pub(in crate::thread) fn no_such_plan() -> Vec<Block> {
    sentence("No plan of this thread has this id. `approvals` lists those that wait.")
}

/// More than one plan fits `details`.
pub(in crate::thread) fn which_details(plans: &[&Filed]) -> Vec<Block> {
    let mut said = "Which plan?".to_owned();
    for filed in plans {
        let _infallible =
            write!(said, "\n  `details {}` - {}", approval::short(filed.id()), title(filed.frozen.plan()));
    }
    sentence(said)
}

/// Returns the words that decide a waiting plan; of any other its state.
pub(in crate::thread) fn in_words(filed: &Filed) -> String {
    let id = filed.id();
    if filed.state() == PlanState::Pending {
        return format!("To decide it in words: `approve {id}`, or `deny {id}` and why.");
    }
    format!("This plan is {}.", told(filed).map_or_else(|| filed.state().as_str(), Told::word))
}

pub(in crate::thread) fn not_decided(refusal: &Refusal, filed: &Filed, mask: &Mask) -> Vec<Block> {
    let mut blocks = super::refused(refusal, mask);
    if let Some(decided) = &filed.standing.decided {
        let reason =
            if decided.reason.is_empty() { String::new() } else { format!(": {}", quote(&decided.reason, mask)) };
        let by = text::one_line(&decided.by.display, 64);
        blocks.extend(sentence(format!("{by} decided it at {}{reason}.", answer::time(decided.at))));
    }
    blocks
}

/// What the audit row of a decision says.
/// Recorded where policy lets high risk be approved by what a server could have made up.
pub(super) const UNSEALED: &str = "; without a verified device, as policy allows here";

pub(in crate::thread) fn decision_record(verb: Verb, decided: &Decided, plan: &Plan) -> String {
    let waiver = match (decided.waiver && verb == Verb::Approve, plan.terms.quorum.get()) {
        (false, _) => "",
        (true, 1) => "; waiver: the requester countersigned alone, as policy allows here",
        (true, _) => "; waiver: the requester is one of those who countersigned, as policy allows here",
    };
    let reason = if decided.reason.is_empty() { String::new() } else { format!("; reason: {}", decided.reason) };
    let unsealed = if decided.unsealed && verb == Verb::Approve { UNSEALED } else { "" };
    format!("{} by {}: {}{waiver}{unsealed}{reason}", verb.as_str(), decided.by.id, plan.title)
}

pub(in crate::thread) fn not_carried_out(filed: &Filed, refusal: &Refusal, mask: &Mask) -> Vec<Block> {
    let mut blocks = sentence(format!("Not done: {}.", title(filed.frozen.plan())));
    blocks.extend(super::refused(refusal, mask));
    blocks.extend(sentence(NOTHING_CHANGED));
    blocks
}

pub(in crate::thread) fn never_begun(filed: &Filed) -> Vec<Block> {
    sentence(format!(
        "I was interrupted before I began: {}. {NOTHING_CHANGED} The plan is cancelled; ask again.",
        title(filed.frozen.plan())
    ))
}

pub(in crate::thread) fn outcome_unknown(filed: &Filed, now: Wall) -> Vec<Block> {
    let over_at = filed.standing.over_at.filter(|at| *at > now);
    let when = over_at.map_or_else(|| "now".to_owned(), |at| format!("at {}", answer::time(at)));
    sentence(format!(
        "I do not know whether this was done: {}. I was interrupted, or got no answer. I look {when}, when it can no longer \
         happen, and tell you. Until then nothing else is changed in this thread.",
        title(filed.frozen.plan())
    ))
}

pub(in crate::thread) fn nothing_to_verify() -> Vec<Block> {
    sentence("Nothing is waiting to be verified in this thread.")
}

pub(in crate::thread) fn too_early(filed: &Filed) -> Vec<Block> {
    let at = filed.standing.over_at.map_or_else(|| "in a moment".to_owned(), |at| format!("at {}", answer::time(at)));
    sentence(format!("It may still be done until then, so a look now would prove nothing. I look {at}."))
}

/// What a verification found, for the record.
pub(in crate::thread) fn found(plan: &Plan, outcome: Outcome, findings: &[Finding]) -> String {
    let seen: Vec<String> = findings.iter().map(finding).collect();
    let success = if is_success(plan, outcome) { "as it should be" } else { "not as it should be" };
    if seen.is_empty() { success.to_owned() } else { format!("{success}: {}", seen.join("; ")) }
}

pub(in crate::thread) fn verified(
    filed: &Filed,
    outcome: Outcome,
    findings: &[Finding],
    trouble: Option<&Failure>,
    mask: &Mask,
) -> Vec<Block> {
    let plan = filed.frozen.plan();
    let saw = saw(plan, outcome, findings);
    let lead = match (is_success(plan, outcome), trouble) {
        (true, None) => format!("Done and verified: {}. {saw}", title(plan)),
        (true, Some(_)) => format!("{} did not go smoothly, but it took effect. {saw}", text::capital(&title(plan))),
        (false, _) => format!("Not as planned: {}. {saw}", title(plan)),
    };
    let mut blocks = sentence(lead);
    blocks.extend(fields(findings, mask));
    blocks.extend(trouble.map(|failure| tool_said(failure, mask)));
    blocks
}

/// A change that may only take its time.
pub(in crate::thread) fn not_yet(
    filed: &Filed,
    outcome: Outcome,
    findings: &[Finding],
    next: Wall,
    mask: &Mask,
) -> Vec<Block> {
    let plan = filed.frozen.plan();
    let mut blocks = sentence(format!("Not yet: {}. {}", title(plan), saw(plan, outcome, findings)));
    blocks.extend(fields(findings, mask));
    blocks.extend(sentence(format!(
        "I look again at {} and tell you how it ends. Until then nothing else is changed in this thread.",
        answer::time(next)
    )));
    blocks
}

fn saw(plan: &Plan, outcome: Outcome, findings: &[Finding]) -> String {
    let name = text::defuse_mentions(&text::one_line(&plan.target_name, 100));
    match outcome {
        Outcome::AsExpected if findings.is_empty() => format!("A fresh read shows {name} still there, as expected."),
        Outcome::AsExpected => "A fresh read shows what was expected.".to_owned(),
        Outcome::Differs if plan.expect.absent => format!("A fresh read shows {name} still there."),
        Outcome::Differs => "A fresh read shows something else than was expected.".to_owned(),
        Outcome::Absent if plan.expect.absent => format!("A fresh read shows that {name} is gone."),
        Outcome::Absent => format!("A fresh read shows that {name} is not there."),
    }
}

fn fields(findings: &[Finding], mask: &Mask) -> Option<Block> {
    let fields = findings.iter().map(|one| (text::one_line(&one.path, 40), seen_and_expected(one, mask)));
    (!findings.is_empty()).then(|| Block::Fields { fields: fields.collect() })
}

pub(in crate::thread) fn not_verified(
    filed: &Filed,
    trouble: Option<&Failure>,
    why: &str,
    next: Wall,
    mask: &Mask,
) -> Vec<Block> {
    let plan = filed.frozen.plan();
    let mut blocks =
        sentence(format!("Not verified: {}. Its target could not be read: {}", title(plan), quote(why, mask)));
    blocks.extend(trouble.map(|failure| tool_said(failure, mask)));
    blocks.extend(sentence(format!(
        "Nothing else is changed in this thread until it can be read. I try again at {}, or type `verify`.",
        answer::time(next)
    )));
    blocks
}

/// Before any reading while a change is not verified (C-06).
pub(in crate::thread) fn still_unverified(call: &str, target: &str) -> Block {
    let text = format!("Not verified yet: {} on {}.", text::one_line(call, 80), text::one_line(target, 120));
    Block::Text { text }
}

/// A plan that somebody else moved while this was being done.
pub(in crate::thread) fn moved_meanwhile(filed: &Filed) -> Vec<Block> {
    let by = filed.standing.decided.as_ref().map(|decided| format!(" by {}", text::one_line(&decided.by.display, 64)));
    let (title, state) = (title(filed.frozen.plan()), filed.state().as_str());
    sentence(format!("Somebody else was faster: {title} is {state}{} already.", by.unwrap_or_default()))
}

/// The open plans of the thread.
pub(in crate::thread) fn approvals(desk: &Desk, mask: &Mask) -> Vec<Block> {
    let open = desk.open();
    if open.is_empty() {
        return sentence("No plan is open in this thread.");
    }
    open.into_iter().map(|filed| Block::Fields { fields: open_plan(filed, mask) }).collect()
}

/// One open plan in lines that are short: a phone has 40 columns, and the id must stay on one line to be copied.
fn open_plan(filed: &Filed, mask: &Mask) -> Vec<(String, String)> {
    let plan = filed.frozen.plan();
    let (state, risk) = (filed.state(), plan.risk.as_str());
    let mut fields = vec![
        ("Plan", title(plan)),
        ("State", format!("{}, risk {risk}", state.as_str())),
        ("By", text::defuse_mentions(&text::one_line(&plan.requester.display, 40))),
    ];
    if !plan.args.is_empty() {
        fields.push(("With", arguments(plan, mask)));
    }
    fields.extend(needs(filed).map(|needs| ("Needs", needs)));
    if !state.holds_target() {
        fields.push(("Until", answer::time(filed.decide_by())));
    }
    fields.push(("Id", filed.id().to_string()));
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What tells a plan from its like, on one line.
fn arguments(plan: &Plan, mask: &Mask) -> String {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let short = |(name, given): (&String, &Value)| {
        let given = text::one_line(&mask.apply(&value(given)), ARGUMENT_CHARS_MAX);
        format!("{} {given}", text::one_line(name, ARGUMENT_CHARS_MAX))
    };
    let all: Vec<String> = plan.args.iter().map(short).collect();
    text::defuse_mentions(&text::one_line(&mask.apply(&all.join(", ")), ARGUMENTS_CHARS_MAX))
}

/// Who has to countersign it, and who has: where it takes more than one person, or one of a group.
fn needs(filed: &Filed) -> Option<String> {
    let terms = &filed.frozen.plan().terms;
    let takes_more = terms.quorum.get() > 1 || !terms.circles.is_empty();
    let who = terms.who(terms.reached_ms(filed.standing.level));
    let by: Vec<String> = filed.standing.votes.iter().map(|vote| text::one_line(&vote.by.display, 40)).collect();
    let so_far = if by.is_empty() { String::new() } else { format!("; countersigned by {}", by.join(", ")) };
    takes_more.then(|| text::defuse_mentions(&format!("{}{so_far}", text::escape(&who))))
}

fn finding(one: &Finding) -> String {
    let seen = one.seen.as_deref().unwrap_or("nothing");
    format!("{} is {seen}, expected {}", one.path, one.expected)
}

fn seen_and_expected(one: &Finding, mask: &Mask) -> String {
    let seen = one.seen.as_ref().map_or_else(|| "not shown".to_owned(), |seen| quote(seen, mask));
    if one.met { format!("{seen} (as expected)") } else { format!("{seen}, expected {}", quote(&one.expected, mask)) }
}

fn tool_said(failure: &Failure, mask: &Mask) -> Block {
    let said = text::one_line(&mask.apply(&failure.message), TOOL_CHARS_MAX);
    Block::Text { text: format!("The tool said ({}): {}", failure.code, text::defuse_mentions(&said)) }
}

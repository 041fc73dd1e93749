//! What the bot says where a model drives a request and its answer cannot be shown.

use crate::answer::Unfounded;
use crate::approval::{self, Desk, PlanState, Told, told};
use crate::gate::{Judged, Refusal};
use crate::mind::{Minds, Tier};
use crate::port::Block;
use crate::secrets::Mask;
use crate::text;
use crate::thread::request::Request;
use crate::tool::{Registry, ToolKind};

use super::plans;
use super::{line, sentence};

/// Which models there are.
pub(in crate::thread) fn models(minds: &Minds) -> String {
    let named = |tier: Tier, name: &Option<String>| {
        name.as_ref().map(|name| format!("{} {}", tier.as_str(), text::one_line(name, 60)))
    };
    let all = [named(Tier::Fast, &minds.fast), named(Tier::Smart, &minds.smart)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() { "none configured".to_owned() } else { all.join(", ") }
}

/// Nobody answered.
pub(in crate::thread) fn unheard(why: &str, mask: &Mask) -> Vec<Block> {
    let why = text::defuse_mentions(&text::one_line(&mask.apply(why), 260));
    // A server's own words may be whole sentences.
    let why = why.trim_end_matches('.');
    sentence(format!(
        "I do not know a set command for that, and the model did not answer: {why}. Set commands, approvals and rules need \
         no model; `help` lists them."
    ))
}

/// What the model answered was neither words nor a call.
pub(in crate::thread) fn senseless() -> Vec<Block> {
    sentence(
        "I could not make sense of what the model answered. Ask again in other words, or type `help` for set commands.",
    )
}

/// The model goes on with calls that cannot be made: what it called now, and which gate refused it (SIG-07, VAL-10).
pub(in crate::thread) fn invented(refusal: &Refusal, mask: &Mask) -> Vec<Block> {
    let last = text::defuse_mentions(&text::one_line(&mask.apply(&refusal.message), 200));
    sentence(format!(
        "I stopped the model, because it goes on with calls that cannot be made: {last} ({}, gate `{}`). Ask again in other words, \
         or type `help` for set commands.",
        refusal.code, refusal.gate
    ))
}

/// What a model wants is refused again and again: that it is the model's doing, and the last refusal (SIG-07).
pub(in crate::thread) fn refused_again(refusal: &Refusal, mask: &Mask) -> Vec<Block> {
    let mut blocks = sentence("I stopped the model, because what it wants is refused again and again. The last time:");
    blocks.extend(super::refused(refusal, mask));
    blocks
}

/// The facts that stand above a model's words: made by code, from what happened in this request and what waits in this thread.
pub(in crate::thread) struct Facts<'a> {
    pub(in crate::thread) request: &'a Request,
    pub(in crate::thread) desk: &'a Desk,
    pub(in crate::thread) registry: &'a Registry,
    /// The readings of an earlier request that the model explains.
    pub(in crate::thread) explains: bool,
}

/// Returns the line above a model's words: what was changed, what was refused, what was read, what waits.
pub(in crate::thread) fn facts(about: &Facts<'_>) -> Block {
    let Facts { request, desk, registry, explains } = about;
    let changed = request.carrying.as_ref().and_then(|plan| desk.get(plan)).map_or_else(
        || "This answer changed nothing.".to_owned(),
        |filed| {
            format!(
                "{}: {}.",
                told(filed).map_or_else(|| filed.state().as_str(), Told::word),
                plans::title(filed.frozen.plan())
            )
        },
    );
    let refused = refused_change(&request.judged, registry);
    let read = match (request.sources.len(), explains) {
        (0, true) => "Read: what failed.".to_owned(),
        (0, false) => "Nothing was read.".to_owned(),
        (1, _) => "Read: 1 thing (`sources`).".to_owned(),
        (count, _) => format!("Read: {count} things (`sources`)."),
    };
    let all = [Some(changed), refused, Some(read), still_waits(desk), Some("The model says:".to_owned())];
    line(all.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Names the plans that wait for approval.
fn still_waits(desk: &Desk) -> Option<String> {
    let open = desk.open();
    let waiting: Vec<&str> = open
        .iter()
        .filter(|filed| filed.state() == PlanState::Pending)
        .map(|filed| approval::short(filed.id()))
        .collect();
    match waiting.as_slice() {
        [] => None,
        [one] => Some(format!("Waiting for approval: plan {one}.")),
        several => Some(format!("Waiting for approval: {} plans.", several.len())),
    }
}

/// What a model wanted to change and no gate let pass, whatever its words make of that.
fn refused_change(judged: &[Judged], registry: &Registry) -> Option<String> {
    let is_change = |what: &str| registry.named(what).is_none_or(|(_, _, spec)| spec.kind == ToolKind::Write);
    let refused =
        judged.iter().rev().find(|judged| judged.plan.is_none() && judged.refusal.is_some() && is_change(&judged.what));
    let code = refused?.refusal.as_ref()?.code;
    // A name that is declared nowhere is the model's own words.
    let what = match registry.named(&refused?.what) {
        Some((tool, action, _)) => format!("`{tool}.{action}`"),
        None => "a call that does not exist".to_owned(),
    };
    Some(format!("Refused: {what} ({code}; `why` tells more)."))
}

/// What was run in the place of what a model wanted (LOOP-26).
pub(in crate::thread) fn rewrote(done: &[(String, String)], mask: &Mask) -> Option<Block> {
    let fit = |words: &str| text::defuse_mentions(&text::one_line(&mask.apply(words), 160));
    let each = done.iter().map(|(from, to)| format!("I rewrote `{}` to `{}`.", fit(from), fit(to)));
    let lines: Vec<String> = each.collect();
    (!lines.is_empty()).then(|| line(lines.join("\n")))
}

/// What stands over what a model wants to look at.
pub(in crate::thread) fn wants_to_look() -> Block {
    line(
        "The model wants to look at something that nobody here has named. Press one to look at it yourself:".to_owned(),
    )
}

/// What stands over a reading that is shown instead of an answer.
pub(in crate::thread) fn was_read() -> Block {
    line("This was read last:".to_owned())
}

/// What a model wrote is not shown. Where nothing was read, the three likeliest causes are said (LOOP-15).
pub(in crate::thread) fn withheld(unfounded: &Unfounded, has_reading: bool) -> Vec<Block> {
    let what = match unfounded {
        Unfounded::Change => "it says that something was changed, and nothing was".to_owned(),
        Unfounded::State => "it says how something is, and nothing was looked at".to_owned(),
        Unfounded::Call => "it looks like a call, and none was made".to_owned(),
        Unfounded::Figure(figure) => format!("the number {} in it was never read", text::one_line(figure, 40)),
        Unfounded::Link => "it holds a link, which could carry what was read to somebody else".to_owned(),
        Unfounded::Decision => "it talks people into deciding a plan".to_owned(),
    };
    let causes = "The model may not be able to call tools, the tools may not be there, or the connection to it may be bad. \
                  Ask again, or type `help` for set commands.";
    let is_said = has_reading || matches!(unfounded, Unfounded::Link | Unfounded::Decision);
    let rest = if is_said { String::new() } else { format!(" {causes}") };
    sentence(format!("What the model wrote is not shown: {what}.{rest}"))
}

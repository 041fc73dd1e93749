//! Gate `egress`: where anything may go. A call, and a command that a person runs, talks only to destinations that the
//! configuration names; a message goes only to the thread that asked, and calls nobody by the dozen.

use crate::command::CommandList;
use crate::egress::host_of;
use crate::envelope::{Code, Details};
use crate::port::Outgoing;
use crate::text;
use crate::tool::ArgKind;

use super::secrets::texts_of;
use super::{CallCase, Ctx, Gate, Standing, Verdict};

pub(super) const GATE: Gate = Gate { name: "egress", priority: 450, call, post };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let allowed = &ctx.env.limits.egress;
    if let Some((argument, message)) = command(case, ctx) {
        let details = Details { argument: Some(argument), ..Details::default() };
        return Verdict::refuse_with(Code::PolicyBlocked, message, details);
    }
    let Some((argument, place)) = case.args_of(ArgKind::Destination).find(|(_, place)| !allowed.allow_place(place))
    else {
        return Verdict::Pass;
    };
    let host = text::one_line(host_of(&place).map_or(&place, |(host, _)| host), 100);
    let details = Details {
        argument: Some(argument.to_owned()),
        recovery_hint: Some("an administrator can add it to `egress.allow` in the configuration".to_owned()),
        ..Details::default()
    };
    let message = format!("`{host}` is not among the destinations that tools may talk to");
    Verdict::refuse_with(Code::PolicyBlocked, message, details)
}

/// Why a command line may not talk to whom it names.
fn command(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Option<(String, String)> {
    case.args_of(ArgKind::Command).find_map(|(name, line)| {
        let judged = ctx.env.commands.judge(&line);
        let mut stages = judged.run.iter().flat_map(CommandList::stages);
        let message =
            stages.find_map(|stage| stage.traits.reach.network.as_ref()?.refused_by(&ctx.env.limits.egress))?;
        Some((name.to_owned(), message))
    })
}

fn post(post: &Outgoing, standing: &Standing<'_>) -> Verdict {
    if let Standing::Fresh { ctx, .. } = standing
        && post.to != ctx.signal.thread
    {
        return Verdict::refuse(Code::PolicyBlocked, "an answer goes to the thread that asked, and nowhere else");
    }
    if post.blocks.iter().flat_map(texts_of).any(text::mentions_everyone) {
        return Verdict::refuse(Code::PolicyBlocked, "the message would call everybody in the room");
    }
    Verdict::Pass
}

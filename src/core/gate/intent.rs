//! Gate `intent`: a read only runs a command that is proven to read and to end; of a model's, none that talks to another machine
//! or has redirections. The proof is `command/`'s; what kind of call it is was decided by tool and action alone (invariant 13).

use crate::command::Judgement;
use crate::envelope::{Code, Details};
use crate::tool::{ArgKind, ToolKind};
use crate::usage::Origin;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "intent", priority: 600, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve | ToolKind::Read => {}
        ToolKind::Write | ToolKind::Record => return Verdict::Pass,
    }
    let judged = case.args_of(ArgKind::Command).map(|(name, line)| (name, ctx.env.commands.judge(&line)));
    for (name, judged) in judged {
        if !judged.is_proven() {
            return not_proven(case, name, judged);
        }
        if let Some(what) = for_people_alone(&judged).filter(|_| case.by == Origin::Model) {
            return by_a_model(case, name, what);
        }
    }
    Verdict::Pass
}

/// What a model's line never does, whatever it reads: it could carry what was read to somebody else, or hide where it goes.
fn for_people_alone(judged: &Judgement) -> Option<&'static str> {
    if judged.uses_network() {
        Some("a command that talks to another machine")
    } else if judged.asks_a_service() {
        Some("a statement or a command that another program of this machine carries out")
    } else if judged.has_redirects() {
        Some("a line with redirections")
    } else {
        None
    }
}

fn by_a_model(case: &CallCase<'_>, argument: &str, what: &str) -> Verdict {
    let details = Details {
        argument: Some(argument.to_owned()),
        action: Some(case.shown_name()),
        recovery_hint: Some("leave it out, or answer in words; a person can type the line".to_owned()),
        ..Details::default()
    };
    Verdict::refuse_with(Code::PolicyBlocked, format!("a model does not run {what}"), details)
}

fn not_proven(case: &CallCase<'_>, name: &str, judged: Judgement) -> Verdict {
    let hint = judged.rewrite.as_ref().map(|rewrite| format!("run `{rewrite}` instead"));
    let details = Details {
        argument: Some(name.to_owned()),
        action: Some(case.shown_name()),
        recovery_hint: hint,
        suggested_rewrite: judged.rewrite,
        category: judged.category,
        ..Details::default()
    };
    Verdict::refuse_with(Code::ReadOnlyViolation, format!("not run: {}", judged.reason), details)
}

//! Gate `intent`: a read only runs a command that is proven to read and to end. The proof is `command/`'s; what kind of
//! call it is was decided by tool and action alone (invariant 13).

use crate::envelope::{Code, Details};
use crate::tool::{ArgKind, ToolKind};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "intent", priority: 600, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve | ToolKind::Read => {}
        ToolKind::Write | ToolKind::Record => return Verdict::Pass,
    }
    let refused = case.args_of(ArgKind::Command).find_map(|(name, line)| {
        let judged = ctx.env.commands.judge(&line);
        (!judged.is_proven()).then_some((name, judged))
    });
    let Some((name, judged)) = refused else {
        return Verdict::Pass;
    };
    let hint = judged.rewrite.as_ref().map(|rewrite| format!("run `{rewrite}` instead"));
    let details = Details {
        argument: Some(name.to_owned()),
        action: Some(case.shown_name()),
        recovery_hint: hint,
        suggested_rewrite: judged.rewrite,
        ..Details::default()
    };
    Verdict::refuse_with(Code::ReadOnlyViolation, format!("not run: {}", judged.reason), details)
}

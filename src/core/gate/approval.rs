//! Gate `approval`: what changes something needs somebody's countersignature on exactly that plan. This version can only
//! ask: it knows no approval yet, so that no write passes here, whoever asks and however often (invariant 2).

use crate::envelope::{Code, Details};
use crate::tool::ToolKind;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "approval", priority: 100, call, post: not_about_messages };

fn call(case: &CallCase<'_>, _: &Ctx<'_>) -> Verdict {
    match case.kind {
        ToolKind::Resolve | ToolKind::Read | ToolKind::Record => Verdict::Pass,
        ToolKind::Write => {
            let details = Details { action: Some(case.shown_name()), ..Details::default() };
            Verdict::refuse_with(
                Code::ApprovalRequired,
                format!("`{}` must be countersigned first", case.shown_name()),
                details,
            )
        }
    }
}

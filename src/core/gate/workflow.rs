//! Gate `workflow`: the table of `thread/fsm.rs`. Of a message: while a write is in flight or unverified no
//! change is claimed, and a reading only with the word that the write is not verified (invariant 3, C-06).

use crate::envelope::{Code, Details};
use crate::port::{Claim, Outgoing};
use crate::thread::{Fsm, State};

use super::{CallCase, Ctx, Gate, Standing, Verdict};

pub(super) const GATE: Gate = Gate { name: "workflow", priority: 750, call, post };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if ctx.fsm.can_execute(case.kind) {
        return Verdict::Pass;
    }
    let (message, hint) = match ctx.fsm.state() {
        State::Resolving => (
            "nothing was discovered in this thread yet, so nothing may be changed".to_owned(),
            "discover the target first".to_owned(),
        ),
        State::Writing => ("a change is being made".to_owned(), "wait until it is done and verified".to_owned()),
        State::Reading | State::Verifying => {
            (unverified_yet(ctx.fsm), "type `verify`; no other look ends this".to_owned())
        }
    };
    let details = Details { recovery_hint: Some(hint), action: Some(case.shown_name()), ..Details::default() };
    Verdict::refuse_with(Code::FsmBlocked, message, details)
}

fn post(post: &Outgoing, standing: &Standing<'_>) -> Verdict {
    let Standing::Fresh { ctx, .. } = standing else {
        return Verdict::Pass;
    };
    match &post.claim {
        Claim::Nothing => Verdict::Pass,
        Claim::Readings { unverified, .. } => match ctx.fsm.open_write() {
            // Reading goes on while a change is not verified (invariant 6), but never as if nothing were open (C-06).
            Some(open) if *unverified != Some(open.target.clone()) => {
                Verdict::refuse(Code::FsmBlocked, unverified_yet(ctx.fsm))
            }
            Some(_) => Verdict::Pass,
            None if ctx.fsm.can_final_answer() => Verdict::Pass,
            None => Verdict::refuse(Code::FsmBlocked, unverified_yet(ctx.fsm)),
        },
        Claim::Change { .. } if ctx.fsm.can_final_answer() => Verdict::Pass,
        Claim::Change { .. } => Verdict::refuse(Code::FsmBlocked, unverified_yet(ctx.fsm)),
    }
}

fn unverified_yet(fsm: &Fsm) -> String {
    match fsm.open_write() {
        Some(write) => format!("`{}` on `{}` is not verified yet", write.call, write.target),
        None => "a change is not verified yet".to_owned(),
    }
}

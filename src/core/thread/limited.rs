//! A message that came over a limit: it is refused, recorded and told, and nothing of what it said is looked at. Which
//! message that is, the shell has counted.

use crate::effect::Ending;
use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::port::{Claim, Mark};
use crate::rate::{Allowance, Scope};

use super::request::Request;
use super::say;
use super::state::{AuditAbout, Turn};

/// Says which limit it was, once: what else comes over it is not even stored.
pub(super) fn refuse(turn: &mut Turn<'_>, mut request: Request, over: &Allowance) {
    let message = say::limits::too_much(over);
    let code = if over.scope == Scope::Message { Code::InvalidInput } else { Code::RateLimited };
    let refusal = Refusal { gate: "rate", code, message, details: Details::default() };
    turn.count("gate_block_total", &[("gate", "rate"), ("code", refusal.code.as_str()), ("tool", "message")]);
    let about =
        AuditAbout { call: "message", detail: &refusal.message, refusal: Some(&refusal), ..AuditAbout::default() };
    turn.audit("refused", &request.signal, about);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, say::refused(&refusal, turn.env.mask));
    turn.finish(request, Ending::Answered);
}

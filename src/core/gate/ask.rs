//! What is asked of a model: the third thing that leaves the core. It meets the gates that have something to say about it:
//! whoever it is asked for, who may have lost every right since they wrote; the budgets; and the secrets, because a model's
//! server is somebody else's machine.

use crate::envelope::Code;
use crate::mind::{Ask, Situation};
use crate::port::Right;

use super::allowance::model_may_go_on;
use super::{Cleared, Ctx, Refusal, Verdict};

/// Judges a question to a model.
///
/// # Errors
///
/// The refusal, where a gate has one.
pub fn judge_ask(ask: Ask, ctx: &Ctx<'_>) -> Result<Cleared<Ask>, Box<Refusal>> {
    let judges = [
        ("actor", may_talk(ctx)),
        ("allowance", model_may_go_on(ctx)),
        ("secrets", holds_no_secret(&ask.situation, ctx)),
    ];
    for (gate, verdict) in judges {
        #[cfg(test)]
        let verdict = crate::step::broken::gate(gate, verdict);
        if let Verdict::Refuse(refusal) = verdict {
            return Err(Box::new(Refusal { gate, ..*refusal }));
        }
    }
    Ok(Cleared::seal(ask))
}

fn may_talk(ctx: &Ctx<'_>) -> Verdict {
    if ctx.env.rights.may(&ctx.signal.asker(), &Right::Talk) {
        return Verdict::Pass;
    }
    Verdict::refuse(Code::Forbidden, "you may not talk to me any more")
}

fn holds_no_secret(situation: &Situation, ctx: &Ctx<'_>) -> Verdict {
    match texts_of(situation).find_map(|text| ctx.env.mask.class_of(text)) {
        Some(class) => {
            Verdict::refuse(Code::PolicyBlocked, format!("a model would be told a secret ({class}); say it without"))
        }
        None => Verdict::Pass,
    }
}

/// Every text in it that is not ours.
fn texts_of(situation: &Situation) -> impl Iterator<Item = &str> {
    let lines = [&situation.targets, &situation.known, &situation.earlier, &situation.since];
    let lines = lines.into_iter().flatten().map(String::as_str);
    let told = situation.exchanges.iter().flat_map(|exchange| {
        let target = exchange.target.as_deref().unwrap_or_default();
        [exchange.call.as_str(), target, exchange.args.as_str(), exchange.result.as_str()]
    });
    let own = std::iter::once(situation.question.as_str()).chain(situation.unverified.as_deref());
    own.chain(lines).chain(told)
}

//! What a model is told: what was asked, what it may call (`offers.rs`), what the thread knows (`before.rs`), and what it did
//! so far. Masked, and never more than a hard cap, whatever a thread has seen: what is old is told in short, and then not at
//! all (LOOP-16 to LOOP-18).

use serde_json::Value;

use crate::envelope::Envelope;
use crate::gate::ToolCall;
use crate::mind::{Exchange, Situation};
use crate::resource::Resource;
use crate::secrets::Mask;
use crate::text;
use crate::thread::request::Request;
use crate::thread::sight::Sight;
use crate::thread::state::Turn;
use crate::tool::{ActionSpec, ArgKind};
use crate::usage::Usage;

use super::offers::offers;
use super::{Agent, Done, NUDGE_AGAIN_AT, NUDGE_AT};

/// The most characters of everything together, as a prompt has it: 4,000 tokens, at three and a half characters each.
pub(super) const CHARS_MAX: usize = 14_000;

/// The most characters of what a person wrote.
const QUESTION_CHARS_MAX: usize = 2_000;

/// The most characters of what one call came to.
pub(super) const RESULT_CHARS_MAX: usize = 3_000;

/// The most characters of a call's arguments, told again.
pub(super) const ARGS_CHARS_MAX: usize = 300;

/// The room that is kept for what was done: what was read for this very question is told before anything older.
const EXCHANGES_CHARS_MIN: usize = 3_500;

/// How many turns are told whole (LOOP-16).
const WHOLE_TURNS: usize = 2;

/// How many old calls are left out at once, so that the next turns begin as this one does.
const LEFT_OUT_AT_ONCE: usize = 6;

/// What is not longer is never shortened (LOOP-17).
const SHORT_CHARS: usize = 300;

/// What is left of a result of which nothing was learnt (LOOP-18).
const CUT_CHARS: usize = 200;

const ANSWER_NOW: &str = "Answer now, in words, with what you know. Nothing can be called any more.";
const COME_TO_AN_END: &str =
    "You have made many calls. Answer with what you know, unless one more call is really needed.";
const END_NOW: &str = "You have made too many calls. Answer now.";
const GARBLED: &str = "Your last answer was neither a call nor words. Make one call, or answer in words.";
const EXPLAIN: &str = "The first call above is what was asked for, and it did not work. Say in a few short sentences what \
                       happened, why, and what to do. Read more only where that tells why.";

/// Everything that the model is told now.
pub(super) fn of(turn: &Turn<'_>, request: &Request, agent: &mut Agent, may_call: bool) -> Situation {
    let question = masked(turn.env.mask, &agent.words, QUESTION_CHARS_MAX);
    let sight = Sight::of(turn, request.signal.asker());
    let (targets, known) = (agent.before.targets(&sight), agent.before.known(turn, &sight));
    let (earlier, since) = (agent.before.earlier(turn, &sight), agent.before.since(turn, &sight));
    for line in targets.iter().chain(&since) {
        agent.evidence.mentioned(line);
    }
    let offers = if may_call { offers(turn, request, &agent.ranked) } else { Vec::new() };
    let notes = notes(agent, may_call);
    let unverified = turn.state.fsm.open_write().map(|open| told_line(turn.env.mask, open.target.as_str()));
    let exchanges = Vec::new();
    let mut situation = Situation { question, targets, known, earlier, exchanges, since, unverified, offers, notes };
    shrink(&mut situation, CHARS_MAX.saturating_sub(EXCHANGES_CHARS_MIN));
    let room = CHARS_MAX.saturating_sub(situation.chars());
    situation.exchanges = exchanges_within(&agent.rounds, room);
    situation
}

/// What a question uses at least: what is written in it, at three and a half characters a token. What it costs only the
/// model's server can say.
pub(super) fn estimate(situation: &Situation) -> Usage {
    let chars = u64::try_from(situation.chars()).unwrap_or(u64::MAX);
    Usage { tokens_in: chars.saturating_mul(2).div_ceil(7), ..Usage::default() }
}

/// Leaves out what can be asked for again, until it is no more than this: the last of the longest list, and then the calls
/// that fit the question least. That comes about where a question is very long, or what may be called is.
fn shrink(situation: &mut Situation, chars_max: usize) {
    while situation.chars() > chars_max {
        let size = |list: &Vec<String>| list.iter().map(|line| line.chars().count()).sum::<usize>();
        let Situation { targets, known, earlier, since, .. } = situation;
        let longest = [earlier, known, targets, since].into_iter().max_by_key(|list| size(list));
        if longest.and_then(Vec::pop).is_none() && situation.offers.pop().is_none() {
            return;
        }
    }
}

fn notes(agent: &mut Agent, may_call: bool) -> Vec<&'static str> {
    let calls = agent.calls();
    let is_garbled = std::mem::take(&mut agent.is_garbled);
    let nudge = match (may_call, calls) {
        (false, _) => Some(ANSWER_NOW),
        (true, NUDGE_AGAIN_AT..) => Some(END_NOW),
        (true, NUDGE_AT..) => Some(COME_TO_AN_END),
        (true, _) => None,
    };
    let explain = agent.explains.then_some(EXPLAIN);
    is_garbled.then_some(GARBLED).into_iter().chain(explain).chain(nudge).collect()
}

/// What is not ours, fit to be told: masked, cut, and masked again, because a cut may go through the middle of a mark that
/// stands for a secret.
pub(super) fn masked(mask: &Mask, text: &str, chars_max: usize) -> String {
    let masked = mask.apply(text);
    let cut = text::cut(&masked, chars_max);
    if cut == masked { cut } else { mask.apply(&cut).into_owned() }
}

/// The same on one line.
pub(super) fn told_line(mask: &Mask, text: &str) -> String {
    masked(mask, &text::one_line(text, ARGS_CHARS_MAX), ARGS_CHARS_MAX)
}

/// One thing on one line. Not masked yet.
pub(super) fn line(resource: &Resource) -> String {
    let about = text::one_line(&format!("{} {}", resource.name, resource.about), 120);
    format!("{}  {about}", resource.id)
}

/// What a discovery found, a line each.
pub(super) fn found(turn: &Turn<'_>, envelope: &Envelope) -> String {
    let found = envelope.resources();
    let lines: Vec<String> = found.iter().map(|resource| told_line(turn.env.mask, &line(resource))).collect();
    if lines.is_empty() { "nothing was found".to_owned() } else { lines.join("\n") }
}

/// The commands that a call ran.
pub(super) fn commands(spec: &ActionSpec, call: &ToolCall) -> String {
    let is_command = |name: &str| spec.args.get(name).is_some_and(|arg| arg.kind == ArgKind::Command);
    let commands = call.args.iter().filter(|(name, _)| is_command(name));
    commands.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}

/// How long the longest list in an answer is: a number that may be said of it.
pub(super) fn items(envelope: &Envelope) -> usize {
    let lists = envelope.data.as_object().into_iter().flat_map(|data| data.values()).filter_map(Value::as_array);
    lists.map(Vec::len).max().unwrap_or_default()
}

/// What was done, within so many characters: the last turns whole, what is older in short, and of that the newest.
fn exchanges_within(rounds: &[Vec<Done>], room: usize) -> Vec<Exchange> {
    let whole_from = rounds.len().saturating_sub(WHOLE_TURNS);
    let told = rounds.iter().enumerate().flat_map(|(at, round)| {
        round.iter().map(move |done| if at < whole_from { in_short(done) } else { done.exchange.clone() })
    });
    let told: Vec<Exchange> = told.collect();
    let (all, last) = (told.len(), rounds.iter().skip(whole_from).map(Vec::len).sum());
    let mut left = room;
    let mut newest: Vec<Exchange> = told
        .into_iter()
        .rev()
        .map_while(|exchange| {
            let exchange = cut_to(exchange, left)?;
            left = left.saturating_sub(exchange.chars());
            Some(exchange)
        })
        .collect();
    let left_out = all.saturating_sub(newest.len()).next_multiple_of(LEFT_OUT_AT_ONCE);
    newest.truncate(all.saturating_sub(left_out).max(last));
    newest.reverse();
    newest
}

fn in_short(done: &Done) -> Exchange {
    let Done { exchange, facts } = done;
    if exchange.result.chars().count() <= SHORT_CHARS {
        return exchange.clone();
    }
    let result = if facts.is_empty() {
        format!("{} [truncated]", text::cut(&exchange.result, CUT_CHARS))
    } else {
        facts.clone()
    };
    Exchange { result, ..exchange.clone() }
}

/// An exchange that fits; none where not even its beginning does.
fn cut_to(exchange: Exchange, room: usize) -> Option<Exchange> {
    let over = exchange.chars().saturating_sub(room);
    if over == 0 {
        return Some(exchange);
    }
    let kept = exchange.result.chars().count().checked_sub(over.saturating_add(CUT_CHARS))?;
    Some(Exchange { result: format!("{} [truncated]", text::cut(&exchange.result, kept)), ..exchange })
}

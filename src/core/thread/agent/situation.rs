//! What a model is told: what was asked, what it may call, what is known to be there, what was learnt, and what it did so
//! far. Masked, and never more than a hard cap, whatever a thread has seen: what is old is told in short, and then not at
//! all (LOOP-16 to LOOP-18, RAG-02, RAG-06, RAG-07).

use serde_json::Value;

use crate::env::Env;
use crate::envelope::Envelope;
use crate::mind::{Exchange, Offer, OfferedArg, Situation};
use crate::port::Right;
use crate::resource::Resource;
use crate::route::Does;
use crate::secrets::Mask;
use crate::text;
use crate::thread::prefetch::may_see;
use crate::thread::request::Request;
use crate::thread::state::Turn;
use crate::thread::{Fact, State};
use crate::tool::{ArgKind, ToolKind};

use super::{Agent, Done, NUDGE_AGAIN_AT, NUDGE_AT};

/// How many calls are offered (RAG-02).
const OFFERS_MAX: usize = 8;

/// The most characters of everything together: 4,000 tokens, at three and a half characters each.
pub(super) const CHARS_MAX: usize = 14_000;

/// The most characters of what a person wrote.
const QUESTION_CHARS_MAX: usize = 2_000;

/// The most characters of what one call came to.
pub(super) const RESULT_CHARS_MAX: usize = 3_000;

/// The most characters of a call's arguments, told again.
pub(super) const ARGS_CHARS_MAX: usize = 300;

/// The most characters of the list of what is there.
const TARGETS_CHARS_MAX: usize = 2_000;

/// The most characters of what was learnt, with what it is about.
const KNOWN_CHARS_MAX: usize = 2_500;

/// How many turns are told whole (LOOP-16).
const WHOLE_TURNS: usize = 2;

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
    let targets = targets(turn, request);
    let known = known(turn, request);
    for line in &targets {
        agent.evidence.mentioned(line);
    }
    let offers = if may_call { offers(turn, request, &agent.ranked) } else { Vec::new() };
    let notes = notes(agent, may_call);
    let unverified = turn.state.fsm.open_write().map(|open| told_line(turn.env.mask, open.target.as_str()));
    let exchanges = Vec::new();
    let mut situation = Situation { question, unverified, offers, targets, known, exchanges, notes };
    let room = CHARS_MAX.saturating_sub(chars(&situation));
    situation.exchanges = exchanges_within(&agent.rounds, room);
    situation
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

/// What is there, as far as whoever asks may see it.
fn targets(turn: &Turn<'_>, request: &Request) -> Vec<String> {
    let asker = request.signal.asker();
    let seen = turn.state.resolved.iter().filter(|resource| may_see(turn.env.rights, &asker, resource));
    within(seen.map(|resource| line(resource, turn.env.mask)), TARGETS_CHARS_MAX)
}

/// What was learnt of things that whoever asks may see, the newest first. It is no reading of this request, so that its
/// numbers bear nothing out.
fn known(turn: &Turn<'_>, request: &Request) -> Vec<String> {
    let asker = request.signal.asker();
    let seen = turn.state.resolved.iter().filter(|resource| may_see(turn.env.rights, &asker, resource));
    let facts = seen.flat_map(|resource| turn.state.knowledge.about(&resource.id));
    let mut facts: Vec<&Fact> = facts.filter(|fact| !fact.key.ends_with(":queried")).collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.observed_at));
    let lines = facts.into_iter().map(|fact| told_line(turn.env.mask, &format!("{}: {}", fact.key, fact.value)));
    within(lines, KNOWN_CHARS_MAX)
}

/// The first of these lines, as long as they have room.
fn within(lines: impl Iterator<Item = String>, chars_max: usize) -> Vec<String> {
    let mut left = chars_max;
    let fits = |line: &String| {
        let chars = line.chars().count();
        let fits = chars <= left;
        left = left.saturating_sub(chars);
        fits
    };
    lines.take_while(fits).collect()
}

/// What is not ours, fit to be told: masked, cut, and masked again, because a cut may go through the middle of a mark that
/// stands for a secret.
pub(super) fn masked(mask: &Mask, text: &str, chars_max: usize) -> String {
    let cut = text::cut(&mask.apply(text), chars_max);
    mask.apply(&cut).into_owned()
}

/// The same on one line.
pub(super) fn told_line(mask: &Mask, text: &str) -> String {
    masked(mask, &text::one_line(text, ARGS_CHARS_MAX), ARGS_CHARS_MAX)
}

fn line(resource: &Resource, mask: &Mask) -> String {
    let about = text::one_line(&format!("{} {}", resource.name, resource.about), 120);
    told_line(mask, &format!("{}  {about}", resource.id))
}

/// What a discovery found, a line each: what whoever asks may see.
pub(super) fn found(turn: &Turn<'_>, request: &Request, envelope: &Envelope) -> String {
    let asker = request.signal.asker();
    let listed = envelope.data.get("resources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let found = listed.iter().filter_map(|one| serde_json::from_value::<Resource>(one.clone()).ok());
    let seen = found.filter(|resource| may_see(turn.env.rights, &asker, resource));
    let lines: Vec<String> = seen.map(|resource| line(&resource, turn.env.mask)).collect();
    if lines.is_empty() { "nothing was found".to_owned() } else { lines.join("\n") }
}

/// How long the longest list in an answer is: a number that may be said of it.
pub(super) fn items(envelope: &Envelope) -> usize {
    let lists = envelope.data.as_object().into_iter().flat_map(|data| data.values()).filter_map(Value::as_array);
    lists.map(Vec::len).max().unwrap_or_default()
}

/// The calls that fit the question best, of those that whoever asks may make; each with what finds its target, and where a
/// change is not verified what verifies it.
fn offers(turn: &Turn<'_>, request: &Request, ranked: &[String]) -> Vec<Offer> {
    let asker = request.signal.asker();
    let is_verifying = turn.state.fsm.state() == State::Verifying;
    let may = |name: &str, kind: ToolKind| {
        let right = Right::Request { kind, tool: Some(name.to_owned()), on: None, labels: Vec::new() };
        !(is_verifying && kind == ToolKind::Write) && turn.env.rights.may(&asker, &right)
    };
    let verify = turn.state.fsm.open_write().and_then(|open| turn.env.registry.named(&open.call));
    let verify = verify.and_then(|(_, _, spec)| spec.change.as_ref()).map(|change| change.verify.as_str());
    let mut chosen: Vec<&str> = verify.into_iter().collect();
    let most = OFFERS_MAX.saturating_add(chosen.len());
    for name in ranked {
        let Some((_, _, spec)) = turn.env.registry.named(name) else { continue };
        let needed = spec.resolve.as_deref().into_iter().chain([name.as_str()]);
        let needed: Vec<&str> = needed.filter(|name| !chosen.contains(name)).collect();
        if chosen.len() == most {
            break;
        }
        if chosen.len().saturating_add(needed.len()) <= most && may(name, spec.kind) {
            chosen.extend(needed);
        }
    }
    chosen.into_iter().filter_map(|name| offer(&turn.env, name)).collect()
}

/// Every call, the likeliest first: by what it says of itself, and by the questions that are known to lead to it. Looked up
/// once a request: the words stay the same.
pub(super) fn ranked(env: &Env<'_>, question: &str) -> Vec<String> {
    let question = question.to_lowercase();
    let alike = |text: &str| env.similarity.alike(&question, &text.to_lowercase());
    let examples = |tool: &str, action: &str| {
        let leads = env.intents.iter().filter(|intent| match &intent.does {
            Does::Call { tool: to, action: by } => to.as_str() == tool && by.as_str() == action,
            Does::Own(_) | Does::Reply(_) => false,
        });
        leads.flat_map(|intent| &intent.examples).map(|example| alike(example)).max().unwrap_or_default()
    };
    let actions = env.registry.tools().flat_map(|tool| {
        tool.actions.iter().map(|(action, spec)| {
            let name = format!("{}.{action}", tool.name);
            let words = format!("{} {} {}", tool.name.replace('_', " "), action, spec.about);
            (std::cmp::Reverse(alike(&words).max(examples(&tool.name, action))), name)
        })
    });
    let mut ranked: Vec<_> = actions.collect();
    ranked.sort();
    ranked.into_iter().map(|(_, name)| name).collect()
}

fn offer(env: &Env<'_>, name: &str) -> Option<Offer> {
    let (_, _, spec) = env.registry.named(name)?;
    let args = spec.args.iter().map(|(name, arg)| OfferedArg {
        name: name.clone(),
        about: arg.about.clone(),
        kind: match arg.kind {
            ArgKind::Integer => "integer",
            ArgKind::Boolean => "boolean",
            ArgKind::Choice
            | ArgKind::Path
            | ArgKind::Text
            | ArgKind::Destination
            | ArgKind::Command
            | ArgKind::Content => "string",
        },
        choices: arg.choices.clone(),
        required: arg.required,
    });
    let args = args.collect();
    Some(Offer { name: name.to_owned(), about: spec.about.clone(), target: spec.target.clone(), args })
}

/// What was done, within so many characters: the last turns whole, what is older in short, and of that the newest.
fn exchanges_within(rounds: &[Vec<Done>], room: usize) -> Vec<Exchange> {
    let whole_from = rounds.len().saturating_sub(WHOLE_TURNS);
    let told = rounds.iter().enumerate().flat_map(|(at, round)| {
        round.iter().map(move |done| if at < whole_from { in_short(done) } else { done.exchange.clone() })
    });
    let mut left = room;
    let mut newest: Vec<Exchange> = told
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .map_while(|exchange| {
            let exchange = cut_to(exchange, left)?;
            left = left.saturating_sub(chars_of(&exchange));
            Some(exchange)
        })
        .collect();
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
    let over = chars_of(&exchange).saturating_sub(room);
    if over == 0 {
        return Some(exchange);
    }
    let kept = exchange.result.chars().count().checked_sub(over.saturating_add(CUT_CHARS))?;
    Some(Exchange { result: format!("{} [truncated]", text::cut(&exchange.result, kept)), ..exchange })
}

fn chars_of(exchange: &Exchange) -> usize {
    let target = exchange.target.as_deref().unwrap_or_default();
    [exchange.call.as_str(), target, &exchange.args, &exchange.result].iter().map(|text| text.chars().count()).sum()
}

/// How much of it there is.
pub(super) fn chars(situation: &Situation) -> usize {
    let offered = situation.offers.iter().map(|offer| {
        let args = offer.args.iter().map(|arg| {
            let choices: usize = arg.choices.iter().map(|choice| choice.chars().count()).sum();
            arg.name.chars().count().saturating_add(arg.about.chars().count()).saturating_add(choices)
        });
        offer.name.chars().count().saturating_add(offer.about.chars().count()).saturating_add(args.sum())
    });
    let lines = situation.targets.iter().chain(&situation.known).map(|line| line.chars().count());
    let notes = situation.notes.iter().map(|note| note.chars().count());
    let told = situation.exchanges.iter().map(chars_of);
    let unverified = situation.unverified.iter().map(|target| target.chars().count());
    let question = std::iter::once(situation.question.chars().count()).chain(unverified);
    offered.chain(lines).chain(notes).chain(told).chain(question).sum()
}

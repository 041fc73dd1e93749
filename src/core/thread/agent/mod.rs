//! The loop that a model drives: it is told where things stand, wants calls, and is told what came of them, until it answers
//! in words. Everything it wants is a proposal that meets the same gates as a procedure's; everything it says is shown only
//! where this request has borne it out (DESIGN.md section 3, LOOP-*). What a proposal leads to is in `run.rs`, and a change
//! that is proposed becomes a plan in `draft.rs`, whose card ends the request.

mod about;
mod asks;
mod before;
mod offers;
mod reply;
mod results;
mod rewrite;
mod situation;
mod steps;

use crate::answer::{self, Evidence, Unfounded};
use crate::effect::{Effect, Ending};
use crate::env::Env;
use crate::envelope::{Code, Envelope, Failure};
use crate::gate::{ToolCall, judge_ask};
use crate::mind::{Ask, Exchange, Thought, Tier, Unheard};
use crate::port::{Block, Claim, Mark};
use crate::proposal::Proposal;
use crate::signal::{CallId, Signal};
use crate::tool::ToolKind;
use crate::usage::{Origin, Usage};

use super::follow_up::LastAsked;
use super::request::{Driver, Request};
use super::run::{Proposed, found_by, learn_missing, on_failure, on_success, set_deadline};
use super::spend::{end_for_budget, spend};
use super::state::Turn;
use super::{State, say};
use super::{carry, draft, trouble};

use asks::Asks;
use before::Before;
use reply::{Reply, Wanted};
use results::{done, not_tried, refused};
use rewrite::Rewrites;

/// How many refusals are told to a model before its request ends (SIG-07).
const REFUSALS_MAX: u32 = 3;

/// How many answers that nobody can make sense of, or with calls that nobody knows, are borne with (VAL-08, FM-9).
const GARBLED_MAX: u32 = 2;

/// After how many calls a model is told to come to an end, and told so again (LOOP-19).
const NUDGE_AT: usize = 12;
const NUDGE_AGAIN_AT: usize = 18;

const ALONE: &str = "not tried: a change is proposed alone, after everything that it rests on was read";
const NO_OBJECT: &str = "not tried: the arguments are no JSON object";

/// A request that a model drives.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What the person wrote.
    words: String,
    /// Every call, the one that fits these words best first.
    ranked: Vec<String>,
    /// What the thread knew when it began.
    before: Before,
    tier: Tier,
    /// What stands around all that is not to be trusted, through the whole request.
    fence: u64,
    /// How often a model was asked.
    asked: u32,
    /// What was done so far: the calls of each turn, in the order in which they were wanted.
    rounds: Vec<Vec<Done>>,
    /// The calls of this turn.
    batch: Vec<Slot>,
    /// What was read.
    evidence: Evidence,
    /// The last reading, as people are shown it.
    shown: Vec<Block>,
    refused: u32,
    garbled: u32,
    /// The last answer made no sense, and it is told so.
    is_garbled: bool,
    /// What was mended.
    rewrites: Rewrites,
    /// What it wants to look at where nobody has named it: people are asked.
    asks: Asks,
    /// People were told of a failure already, and it is asked what that means.
    explains: bool,
}

/// A call that was wanted, and what came of it.
#[derive(Clone, Debug)]
struct Done {
    exchange: Exchange,
    /// What is worth keeping of it, in short; empty where nothing is.
    facts: String,
}

/// The place of a call in its turn: results keep the order of the calls, however they come in (LOOP-04).
#[derive(Debug)]
enum Slot {
    /// Under way.
    Waits(CallId, Wanted),
    /// Over.
    Over(Done),
}

impl Agent {
    fn new(words: &str, tier: Tier, turn: &Turn<'_>, request: &Request) -> Self {
        let seed = turn.now.seed;
        let mut evidence = Evidence::default();
        evidence.asked(words);
        Self {
            words: words.to_owned(),
            ranked: turn.env.catalogue.ranked(words),
            before: Before::new(turn, request, words),
            tier,
            fence: u64::try_from((seed ^ (seed >> 64)) & u128::from(u64::MAX)).unwrap_or_default(),
            asked: 0,
            rounds: Vec::new(),
            batch: Vec::new(),
            evidence,
            shown: Vec::new(),
            refused: 0,
            garbled: 0,
            is_garbled: false,
            rewrites: Rewrites::default(),
            asks: Asks::default(),
            explains: false,
        }
    }

    /// An answer makes no sense, whatever part of it. The second time the larger model takes over (SPB-03).
    fn garbled(&mut self, env: &Env<'_>) {
        self.garbled = self.garbled.saturating_add(1);
        if self.garbled == GARBLED_MAX {
            self.tier = env.minds.above(self.tier).unwrap_or(self.tier);
        }
    }

    /// The last reading, as people are shown it.
    pub(super) fn last_reading(&self) -> &[Block] {
        &self.shown
    }

    fn calls(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Whether this is the question that waits for its answer: the last one, while no call does.
    fn waits_for(&self, n: u32) -> bool {
        self.asked == n && self.batch.is_empty()
    }

    fn is_waiting(&self) -> bool {
        self.batch.iter().any(|slot| matches!(slot, Slot::Waits(..)))
    }
}

/// Begins a request that no route understands, where there is a model to ask; else gives it back.
pub(super) fn begin(turn: &mut Turn<'_>, request: Request, words: &str) -> Option<Request> {
    let Some(first) = turn.env.minds.first() else { return Some(request) };
    turn.state.last_asked = LastAsked::Nothing;
    let above = turn.env.minds.above(first).filter(|_| steps::are_several(words));
    let agent = Agent::new(words, above.unwrap_or(first), turn, &request);
    think(turn, request, agent);
    None
}

/// A failure that nobody knows, of which people were told: a model is asked what it means, like anything else that it is
/// asked. Where it has nothing to say, nothing more is said.
pub(super) fn explain(turn: &mut Turn<'_>, request: Request, call: Option<&ToolCall>, failure: &Failure) {
    let Some(tier) = turn.env.minds.first() else { return turn.finish(request, Ending::Answered) };
    let words = request.signal.payload.words();
    let mut agent = Agent { explains: true, ..Agent::new(&words, tier, turn, &request) };
    let result = situation::masked(turn.env.mask, &failure.message, situation::RESULT_CHARS_MAX);
    agent.evidence.told(&result);
    let told = |text: String| situation::told_line(turn.env.mask, &text);
    let args = call.map(|call| serde_json::Value::Object(call.args.clone()).to_string());
    let exchange = Exchange {
        call: told(call.map(ToolCall::name).unwrap_or_default()),
        target: call.and_then(|call| call.target.as_ref()).map(|target| told(target.to_string())),
        args: told(args.unwrap_or_default()),
        result,
        ok: false,
    };
    agent.rounds.push(vec![Done { exchange, facts: String::new() }]);
    think(turn, request, agent);
}

/// Asks the model what is next.
fn think(turn: &mut Turn<'_>, mut request: Request, mut agent: Agent) {
    if agent.asked == 0 {
        request.told = agent.before.facts();
    }
    request.thought_by = Origin::Model;
    request.budget.begin_turn();
    agent.asked = agent.asked.saturating_add(1);
    let may_call = !is_last_turn(turn, &request);
    let situation = situation::of(turn, &request, &mut agent, may_call);
    request.offered = situation.offers.iter().map(|offer| offer.name.clone()).collect();
    let asked = situation::estimate(&situation);
    let (signal, n, tier, fence) = (request.signal.id.clone(), agent.asked, agent.tier, agent.fence);
    match judge_ask(Ask { signal, n, tier, fence, situation }, &turn.ctx(&request)) {
        Ok(ask) => {
            let model = turn.env.minds.name(tier);
            turn.count("agentic_iterations_total", &[("model", model), ("tier", tier.as_str())]);
            set_deadline(turn, &mut request);
            turn.show_thinking(&mut request);
            request.asked = Some(asked);
            request.driver = Some(Driver::Agent(Box::new(agent)));
            turn.state.request = Some(request);
            turn.effects.push(Effect::Think(Box::new(ask)));
        }
        Err(refusal) => {
            turn.note_refusal(&request, &refusal, None);
            give_up(turn, request, &agent, Mark::Refused, say::refused(&refusal, turn.env.mask));
        }
    }
}

/// The turns are nearly used up: the model has to answer now. Never while a change is not verified (C-06).
fn is_last_turn(turn: &Turn<'_>, request: &Request) -> bool {
    request.budget.turns() >= turn.env.limits.turns_max && turn.state.fsm.state() != State::Verifying
}

/// A model said something, or did not. What nobody waits for any more was used all the same.
pub(crate) fn on_thought(turn: &mut Turn<'_>, signal: &Signal, n: u32, heard: Result<Thought, Unheard>) {
    let usage = match &heard {
        Ok(thought) => Some(thought.usage),
        Err(unheard) => Some(unheard.usage).filter(|usage| *usage != Usage::default()),
    };
    let waits = |request: &Request| match &request.driver {
        Some(Driver::Agent(agent)) => request.signal.id == signal.id && agent.waits_for(n),
        Some(Driver::Procedure(_) | Driver::Draft(_) | Driver::Carrying(_)) | None => false,
    };
    let Some(mut request) = turn.state.request.take_if(|request| waits(request)) else {
        if let Some(usage) = usage {
            turn.count_use(signal, Origin::Model, usage);
        }
        return;
    };
    let Some(Driver::Agent(agent)) = request.driver.take() else { return };
    // What it has used is known by now, also where it failed.
    request.asked = None;
    if let Some(usage) = usage
        && let Err(why) = spend(turn, &mut request, Origin::Model, usage)
    {
        return end_for_budget(turn, request, &why);
    }
    match heard {
        Ok(thought) => match reply::read(&thought) {
            Reply::Calls(calls) if !is_last_turn(turn, &request) => act(turn, request, *agent, calls),
            Reply::Says(text) => conclude(turn, request, &agent, &text),
            Reply::Calls(_) | Reply::Nothing => on_garbled(turn, request, *agent),
        },
        Err(unheard) => on_unheard(turn, request, *agent, &unheard),
    }
}

/// The larger model is asked, where there is one; else people are told, and what needs no model goes on (invariant 10).
fn on_unheard(turn: &mut Turn<'_>, request: Request, mut agent: Agent, unheard: &Unheard) {
    turn.count("model_failures_total", &[("model", turn.env.minds.name(agent.tier)), ("tier", agent.tier.as_str())]);
    if let Some(above) = turn.env.minds.above(agent.tier) {
        agent.tier = above;
        return think(turn, request, agent);
    }
    let blocks = say::agent::unheard(&unheard.why, turn.env.mask);
    give_up(turn, request, &agent, Mark::Failed, blocks);
}

/// An answer that nobody can make sense of: the model is told so, then the larger one is asked, and then it is over.
fn on_garbled(turn: &mut Turn<'_>, request: Request, mut agent: Agent) {
    agent.garbled(&turn.env);
    agent.is_garbled = true;
    think_unless_garbled(turn, request, agent);
}

fn think_unless_garbled(turn: &mut Turn<'_>, request: Request, agent: Agent) {
    if agent.garbled > GARBLED_MAX {
        return give_up(turn, request, &agent, Mark::Failed, say::agent::senseless());
    }
    think(turn, request, agent);
}

/// Ends a request that came to nothing: why, and what was read all the same.
fn give_up(turn: &mut Turn<'_>, request: Request, agent: &Agent, mark: Mark, mut blocks: Vec<Block>) {
    if agent.explains && agent.shown.is_empty() && agent.asks.is_empty() {
        return turn.finish(request, Ending::Answered);
    }
    blocks.extend(say::agent::rewrote(agent.rewrites.done(), turn.env.mask));
    if !agent.shown.is_empty() {
        blocks.push(say::agent::was_read());
        blocks.extend(agent.shown.clone());
    }
    let claim = if agent.shown.is_empty() { Claim::Nothing } else { request.readings() };
    end(turn, request, agent, (mark, claim, blocks));
}

/// The last message of a request that a model drove. A change of this thread that is not verified is named first, whatever
/// the message says, and then the core looks at it itself: no model's words end that (C-06, FSM-24).
fn end(turn: &mut Turn<'_>, mut request: Request, agent: &Agent, (mark, claim, blocks): (Mark, Claim, Vec<Block>)) {
    let unverified = turn.state.fsm.open_write().filter(|_| claim == Claim::Nothing);
    let unverified = unverified.map(|open| say::plans::still_unverified(&open.call, open.target.as_str()));
    if unverified.is_some() {
        turn.count_final_block();
    }
    let choices = turn.choices(&request, agent.asks.choices());
    let asks = choices.into_iter().flat_map(|choices| [say::agent::wants_to_look(), choices]);
    let blocks = unverified.into_iter().chain(blocks).chain(asks).collect();
    turn.say(&mut request, mark, claim, blocks);
    carry::verify_after_all(turn, request);
}

/// The model wants these calls: each is judged in order, those that pass run beside each other (LOOP-01 to LOOP-03).
fn act(turn: &mut Turn<'_>, mut request: Request, mut agent: Agent, calls: Vec<Wanted>) {
    let is_alone = calls.len() == 1;
    let (mut is_garbled, mut invented) = (false, None);
    for mut wanted in calls {
        let kind = turn.env.registry.action(&wanted.tool, &wanted.action).map(|spec| spec.kind);
        let Some(args) = wanted.args.clone() else {
            is_garbled = true;
            agent.batch.push(Slot::Over(not_tried(turn, &wanted, NO_OBJECT)));
            continue;
        };
        if kind == Some(ToolKind::Write) && !is_alone {
            // One change, and nothing beside it: what was read together with it could not have been thought of (C-16).
            agent.batch.push(Slot::Over(not_tried(turn, &wanted, ALONE)));
            continue;
        }
        let proposal = proposal(&request, &wanted, args);
        match agent.rewrites.propose((turn, &mut request), &mut wanted, &proposal) {
            Proposed::Called(id) => agent.batch.push(Slot::Waits(id, wanted)),
            Proposed::Known(envelope) => {
                let done = done(turn, &mut agent, &wanted, (None, &envelope));
                agent.batch.push(Slot::Over(done));
            }
            Proposed::Refused(refusal) if refusal.code == Code::ApprovalRequired && kind == Some(ToolKind::Write) => {
                return draft::begin(turn, request, proposal, draft::By::Model);
            }
            Proposed::Refused(refusal) if refusal.code == Code::ApprovalRequired => {
                // It did nothing wrong: the person decides whether to look there.
                agent.asks.add(turn, &proposal, &refusal);
                agent.batch.push(Slot::Over(refused(turn, &wanted, &refusal)));
            }
            Proposed::Refused(refusal) => {
                // What was only too fast says nothing about the model.
                agent.refused = agent.refused.saturating_add(u32::from(refusal.code != Code::RateLimited));
                agent.batch.push(Slot::Over(refused(turn, &wanted, &refusal)));
                if agent.refused > REFUSALS_MAX {
                    let blocks = say::agent::refused_again(&refusal, turn.env.mask);
                    return give_up(turn, request, &agent, Mark::Refused, blocks);
                }
                // What there is and was not offered is no invention.
                let is_invented = refusal.gate == "schema" && (kind.is_none() || refusal.code != Code::NotFound);
                invented = invented.or(Some(refusal).filter(|_| is_invented));
            }
        }
    }
    if is_garbled || invented.is_some() {
        agent.garbled(&turn.env);
    }
    match invented.filter(|_| agent.garbled > GARBLED_MAX) {
        Some(refusal) => give_up(turn, request, &agent, Mark::Refused, say::agent::invented(&refusal, turn.env.mask)),
        None => go_on(turn, request, agent),
    }
}

/// Waits for what is under way, else asks again.
fn go_on(turn: &mut Turn<'_>, mut request: Request, mut agent: Agent) {
    if agent.is_waiting() {
        request.driver = Some(Driver::Agent(Box::new(agent)));
        turn.state.request = Some(request);
        return;
    }
    let round = std::mem::take(&mut agent.batch).into_iter().filter_map(|slot| match slot {
        Slot::Over(done) => Some(done),
        Slot::Waits(..) => None,
    });
    agent.rounds.push(round.collect());
    think_unless_garbled(turn, request, agent);
}

/// A person is behind it, and the words are theirs: what a model gives as its reason is nothing that anybody should decide by.
fn proposal(request: &Request, wanted: &Wanted, args: serde_json::Map<String, serde_json::Value>) -> Proposal {
    let by = crate::text::one_line(&request.signal.actor.display, 64);
    let because = format!("a model proposes it for {by}, who wrote: {}", request.signal.payload.words());
    let (tool, action, target) = (wanted.tool.clone(), wanted.action.clone(), wanted.target.clone());
    Proposal { tool, action, target, args, because }
}

/// A tool answered.
pub(super) fn on_answer(
    turn: &mut Turn<'_>,
    mut request: Request,
    mut agent: Agent,
    call: &ToolCall,
    envelope: &Envelope,
) {
    let at = agent.batch.iter().position(|slot| matches!(slot, Slot::Waits(id, _) if *id == call.id));
    let Some(Slot::Waits(_, wanted)) = at.map(|at| agent.batch.remove(at)) else {
        return go_on(turn, request, agent);
    };
    match &envelope.error {
        Some(failure) => {
            if on_failure(turn, &mut request, call.target.as_ref(), failure).is_none() {
                trouble::record(turn, &request, Some(call), failure);
            }
        }
        None => {
            let found = found_by(Some(call), envelope);
            on_success(turn, &mut request, call, envelope, &found);
            if found.is_empty() {
                learn_missing(turn, &request, call, envelope);
            }
        }
    }
    agent.rewrites.answered(turn, &call.id, envelope.ok);
    let done = done(turn, &mut agent, &wanted, (Some(call), envelope));
    agent.batch.insert(at.unwrap_or_default(), Slot::Over(done));
    go_on(turn, request, agent);
}

/// The model's last word: shown where everything in it was borne out; else what was read is (C-19, C-57).
fn conclude(turn: &mut Turn<'_>, request: Request, agent: &Agent, text: &str) {
    let open = turn.state.desk.open();
    let hex: String = text.to_lowercase().chars().filter(char::is_ascii_hexdigit).collect();
    let names_one = open.iter().any(|filed| hex.contains(filed.id().as_str()));
    let unfounded = if names_one || (!open.is_empty() && turn.env.claims.talks_into(text)) {
        Some(Unfounded::Decision)
    } else if reply::writes_a_call(text, turn.env.registry) {
        Some(Unfounded::Call)
    } else {
        turn.env.claims.unfounded(text, &agent.evidence)
    };
    let Some(unfounded) = unfounded else {
        let (desk, registry) = (&turn.state.desk, turn.env.registry);
        let facts =
            say::agent::facts(&say::agent::Facts { request: &request, desk, registry, explains: agent.explains });
        let words = Block::Quote { text: answer::prose(text, turn.env.mask) };
        let rewrote = say::agent::rewrote(agent.rewrites.done(), turn.env.mask);
        let claim = request.readings();
        let blocks = rewrote.into_iter().chain([facts, words]).collect();
        let about = about::spoken_of(turn, &request, text);
        turn.state.entities.remember(&request.signal.actor.id, request.turn, about);
        return end(turn, request, agent, (Mark::Plain, claim, blocks));
    };
    let (model, tier) = (turn.env.minds.name(agent.tier), agent.tier.as_str());
    turn.count("phantom_detected_total", &[("model", model), ("tier", tier), ("claim", unfounded.as_str())]);
    let blocks = say::agent::withheld(&unfounded, !agent.shown.is_empty());
    give_up(turn, request, agent, Mark::Plain, blocks);
}

#[cfg(test)]
mod tests;

#[cfg(test)]
#[path = "lies_tests.rs"]
mod lies;

#[cfg(test)]
#[path = "loop_tests.rs"]
mod loops;

#[cfg(test)]
#[path = "reach_tests.rs"]
mod reach;

#[cfg(test)]
#[path = "injection_tests.rs"]
mod injections;

#[cfg(test)]
#[path = "earlier_tests.rs"]
mod earlier;

#[cfg(test)]
#[path = "planted_tests.rs"]
mod planted;

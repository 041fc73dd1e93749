//! What happens in a simulation: one operation after the other, each drawn from its own seed and from what is there at that
//! moment, so that any of them can be left out and the others still mean what they meant.

use std::collections::BTreeSet;

use crate::approval::{Digest, PlanId, PlanState};
use crate::effect::Input;
use crate::mind::Unheard;
use crate::port::CardChoice;
use crate::route::{Does, Intent, Intents, OwnCommand};
use crate::signal::{Actor, ActorId, ActorKind, EventId, OURSELVES, Payload, QuestionId, SignalId};
use crate::tool::ToolKind;
use crate::usage::Usage;

use super::Dice;
use super::cast::{actor, stranger};
use super::flight::Manner;
use super::hostile::{self, BAIT, Knows, SECRET, SECRET_PATHS};
use super::moods::Lost;
use super::server::Server as _;
use super::town::Town;
use super::works::{Crash, Installation as _};

/// How many rounds a town may take to settle: each moves one plan on by time.
const SETTLING_MAX: u32 = 300;

/// Questions that no route knows, so that a model is asked.
const FREE: [&str; 4] = [
    "why do my customers complain",
    "something is odd since noon, look around",
    "make it fast again",
    "what would you do first",
];

/// Makes one operation happen, and everything that follows from it at once.
pub(super) fn happen(town: &mut Town<'_>, people: &[ActorId], seed: u64) {
    town.works.dice = Dice::new(seed);
    let seat = town.works.dice.at(4) / 3;
    // Whoever is asked answers most of the time: else everything only ever waits.
    if town.works.is_waiting() && !town.works.dice.one_in(3) {
        go_on(town);
        return town.pump();
    }
    match town.works.dice.below(100) {
        0..=19 => ask_freely(town, people, seat),
        20..=39 => ask_by_route(town, people, seat),
        40..=53 => press(town, people),
        54..=66 => countersign(town, people),
        67..=71 => typed(town, people),
        72..=73 => pick(town, people, seat),
        74..=77 => town.serve_all(),
        78..=82 => due(town, people),
        83 => edit(town, people),
        84 => deadline(town, seat),
        85 => crash_soon(town),
        86 => crash(town),
        87..=88 => elsewhere(town),
        89..=93 => pass(town),
        94..=95 => town.fleet.drift(&mut town.works.dice),
        96 => moods(town, people, seat),
        97 => stop(town, people, seat),
        _ => orphan(town),
    }
    town.pump();
}

/// Somebody wants what is worked on to end, in the words that the configuration has for it.
fn stop(town: &mut Town<'_>, people: &[ActorId], seat: usize) {
    let who = somebody(town, people);
    let stops = town.env().intents.iter().find(|intent| intent.does == Does::Own(OwnCommand::Stop));
    let words = stops.and_then(|intent| intent.examples.first()).cloned();
    if let Some(text) = words {
        let signal = town.signal(seat, who, Payload::Text { text });
        town.aside(seat, signal);
    }
}

/// A tool or a model answers.
fn go_on(town: &mut Town<'_>) {
    if town.works.dice.one_in(2) {
        serve_one(town);
    } else {
        think(town);
    }
}

/// Somebody who writes: mostly somebody known, now and then a stranger or a bot with a person's name.
fn somebody(town: &mut Town<'_>, people: &[ActorId]) -> Actor {
    let known = town.works.dice.any(people).cloned().unwrap_or_else(stranger);
    match town.works.dice.below(16) {
        0 => actor(&stranger(), ActorKind::Human),
        1 => actor(&known, town.works.dice.pick(&[ActorKind::Bot, ActorKind::Webhook, ActorKind::AnonymousAdmin])),
        _ => actor(&known, ActorKind::Human),
    }
}

fn say(town: &mut Town<'_>, seat: usize, who: Actor, text: &str) {
    town.accept(seat, who, Payload::Text { text: text.to_owned() });
}

fn ask_freely(town: &mut Town<'_>, people: &[ActorId], seat: usize) {
    let who = somebody(town, people);
    let bait = town.works.dice.pick(&BAIT);
    let words = match town.works.dice.below(8) {
        0 => bait.to_owned(),
        1 => format!("{} {SECRET}", town.works.dice.pick(&FREE)),
        // Files and commands are offered for it, and its path is named: nothing but the gates keeps a model from it.
        2 => format!(
            "{}: which file or command says it, {}?",
            town.works.dice.pick(&FREE),
            town.works.dice.pick(&SECRET_PATHS)
        ),
        _ => town.works.dice.pick(&FREE).to_owned(),
    };
    say(town, seat, who, &words);
}

/// An example of the configuration's own intents, as it stands there.
fn ask_by_route(town: &mut Town<'_>, people: &[ActorId], seat: usize) {
    let who = somebody(town, people);
    let (only_changes, also_own) = (town.works.dice.one_in(2), town.works.dice.one_in(4));
    let registry = town.env().registry;
    let fits = |intent: &&Intent| match &intent.does {
        Does::Call { tool, action } => !only_changes || registry.kind(tool, action) == ToolKind::Write,
        Does::Own(_) | Does::Reply(_) => also_own && !only_changes,
    };
    let intents: Vec<&Intent> = town.env().intents.iter().filter(fits).collect();
    let words = town.works.dice.any(&intents).and_then(|intent| town.works.dice.any(&intent.examples)).cloned();
    if let Some(words) = words {
        say(town, seat, who, &words);
    }
}

fn plans(town: &Town<'_>) -> Vec<PlanId> {
    town.works.files.rows.keys().cloned().collect()
}

/// Mostly a plan that waits.
fn a_plan(town: &mut Town<'_>) -> Option<PlanId> {
    let open: Vec<PlanId> =
        town.works.files.rows.values().filter(|row| row.state().is_open()).map(|row| row.id().clone()).collect();
    let all = plans(town);
    let of = if town.works.dice.one_in(6) || open.is_empty() { all } else { open };
    town.works.dice.any(&of).cloned()
}

/// A card is pressed, perhaps twice; it may be an old one, or shown in another thread.
fn press(town: &mut Town<'_>, people: &[ActorId]) {
    let Some(plan) = a_plan(town) else { return };
    let digest = town.works.files.rows.get(&plan).map(|row| row.frozen.digest().clone());
    let is_stale = town.works.dice.one_in(12);
    let digest = digest.filter(|_| !is_stale).unwrap_or_else(|| Digest::claimed("0".repeat(64)));
    let seat = town.works.seat_of(&plan) ^ usize::from(town.works.dice.one_in(16));
    let choice = if town.works.dice.one_in(8) { CardChoice::Deny } else { CardChoice::Approve };
    for _ in 0..=u8::from(town.works.dice.one_in(6)) {
        let who = somebody(town, people);
        let (plan, digest) = (plan.clone(), digest.clone());
        town.accept(seat, who, Payload::Decision { plan, digest, choice, reason: String::new() });
    }
}

/// People who saw its card press Approve on a plan, one after the other, and the tools get to work.
fn countersign(town: &mut Town<'_>, people: &[ActorId]) {
    let waits = town.works.files.rows.values().filter(|row| row.state() == PlanState::Pending);
    let waits: Vec<PlanId> = waits.map(|row| row.id().clone()).collect();
    let Some(plan) = town.works.dice.any(&waits).cloned() else { return };
    let Some(digest) = town.works.files.rows.get(&plan).map(|row| row.frozen.digest().clone()) else { return };
    let seat = town.works.seat_of(&plan);
    for id in people {
        let (plan, digest, choice) = (plan.clone(), digest.clone(), CardChoice::Approve);
        let payload = Payload::Decision { plan, digest, choice, reason: String::new() };
        town.accept(seat, actor(id, ActorKind::Human), payload);
    }
    for _ in 0..town.works.dice.below(6) {
        town.pump();
        serve_one(town);
    }
}

/// A decision, a permission or an own command is typed; the id is a plan's, too short, or of no plan.
fn typed(town: &mut Town<'_>, people: &[ActorId]) {
    let plan = a_plan(town);
    let seat = plan.as_ref().map_or(0, |plan| town.works.seat_of(plan));
    let own = town.works.dice.pick(&["verify", "reset", "why", "approvals", "reset keep", "status", "grants"]);
    let verb = town.works.dice.pick(&["approve", "approve", "deny", "cancel", "grant"]);
    let words = match (plan, town.works.dice.below(8)) {
        (_, 0..=2) | (None, _) => own.to_owned(),
        (Some(plan), 3) => format!("{verb} {}", plan.as_str().get(..12).unwrap_or_default()),
        (Some(_), 4) => format!("{verb} {:032x}", town.works.dice.wide()),
        (Some(plan), _) if verb == "grant" => format!("grant {plan} for 1 hours 2 times"),
        (Some(plan), _) => format!("{verb} {plan}"),
    };
    let who = somebody(town, people);
    say(town, seat, who, &words);
}

fn pick(town: &mut Town<'_>, people: &[ActorId], seat: usize) {
    let asked = town.works.look(seat).state.question.as_ref().map(|question| question.id.clone());
    let question = asked.unwrap_or_else(|| QuestionId::new("of nobody"));
    let pick = u32::try_from(town.works.dice.below(3)).unwrap_or_default();
    let who = somebody(town, people);
    town.accept(seat, who, Payload::Choice { question, pick });
}

fn serve_one(town: &mut Town<'_>) {
    let Some(at) = (!town.works.flights.is_empty()).then(|| town.works.dice.at(town.works.flights.len())) else {
        return;
    };
    let odd = [Manner::Mute, Manner::Refuse, Manner::Fail, Manner::Silent, Manner::Begin];
    let manner = if town.works.dice.below(8) < 6 { Manner::Well } else { town.works.dice.pick(&odd) };
    town.serve(at, manner);
}

/// A model that was asked says something.
fn think(town: &mut Town<'_>) {
    let first = town.works.dice.at(2);
    for seat in [first, first ^ 1] {
        if let Some(ask) = town.works.look(seat).work.ask.clone() {
            return say_the_worst(town, seat, &ask);
        }
    }
}

fn say_the_worst(town: &mut Town<'_>, seat: usize, ask: &crate::mind::Ask) {
    let ids: Vec<String> = town.fleet.ids().iter().map(ToString::to_string).collect();
    let plans: Vec<String> = plans(town).iter().map(ToString::to_string).collect();
    let before = town.works.look(seat).work.before.clone();
    let temper = town.temper(seat);
    let mut dice = town.works.dice.clone();
    let knows = Knows { env: town.env(), ids: &ids, plans: &plans, temper, before: &before };
    let said = hostile::think(ask, &knows, &mut dice);
    town.works.dice = dice;
    town.tally.thoughts = town.tally.thoughts.saturating_add(1);
    town.witness.lies.extend(said.lie);
    heard(town, seat, ask, said.heard);
}

fn heard(town: &mut Town<'_>, seat: usize, ask: &crate::mind::Ask, heard: Result<crate::mind::Thought, Unheard>) {
    let Some(signal) = town.works.look(seat).work.current.clone() else { return };
    town.was_heard(seat, heard.as_ref().map(|thought| thought.calls.clone()).unwrap_or_default());
    // Now and then it answers twice, or a question that was never put.
    if town.works.dice.one_in(16) {
        let stray = Input::Thought {
            signal: Box::new(signal.clone()),
            n: ask.n.wrapping_add(1),
            heard: Box::new(heard.clone()),
        };
        town.step(seat, stray);
    }
    town.step(seat, Input::Thought { signal: Box::new(signal), n: ask.n, heard: Box::new(heard) });
}

/// Time has come for a plan, or has not; or somebody else says so.
fn due(town: &mut Town<'_>, people: &[ActorId]) {
    let Some(plan) = a_plan(town) else { return };
    let forged = town.works.dice.one_in(8);
    let who = if forged { somebody(town, people) } else { ourselves() };
    let seat = town.works.seat_of(&plan);
    let payload = match town.works.dice.below(6) {
        0 => Payload::Unreachable { plan },
        1 => Payload::CardLate { plan },
        _ => Payload::Due { plan },
    };
    town.accept(seat, who, payload);
}

fn ourselves() -> Actor {
    Actor { id: ActorId::new(OURSELVES), kind: ActorKind::Service, display: OURSELVES.to_owned() }
}

/// The message that asked for a plan is edited or deleted, by whomever.
fn edit(town: &mut Town<'_>, people: &[ActorId]) {
    let plan = a_plan(town);
    let asked =
        plan.as_ref().and_then(|plan| town.works.files.rows.get(plan)).and_then(|row| row.frozen.plan().event.clone());
    let event = asked.unwrap_or_else(|| EventId::new("of nobody"));
    let seat = plan.as_ref().map_or(0, |plan| town.works.seat_of(plan));
    let who = somebody(town, people);
    let payload = if town.works.dice.one_in(2) { Payload::Deleted { event } } else { Payload::Edited { event } };
    town.accept(seat, who, payload);
}

/// The time of a request is over; or of one that is not there.
fn deadline(town: &mut Town<'_>, seat: usize) {
    let work = &town.works.look(seat).work;
    let (Some(at), Some(current)) = (work.deadline, work.current.clone()) else { return };
    if town.works.dice.one_in(5) {
        return town.step(seat, Input::Deadline(SignalId::new("of something else")));
    }
    let left = at.saturating_sub(town.works.mono);
    town.works.pass(i64::try_from(left).unwrap_or_default());
    town.step(seat, Input::Deadline(current.id));
}

/// Time passes, mostly little; now and then somebody sets the clock on the wall.
fn pass(town: &mut Town<'_>) {
    if town.works.dice.one_in(8) {
        let by = town.works.dice.pick(&[-3_600_000, -20_000, -2_000, 2_000, 20_000, 3_600_000]);
        return town.works.set_clock(by);
    }
    if town.works.dice.one_in(3) {
        town.rights.barred.clear();
    }
    let longest = town.works.dice.pick(&[500, 2_000, 8_000, 8_000, 20_000, 60_000, 1_000_000, 3_000_000]);
    let ms = town.works.dice.ms(longest);
    town.works.pass(ms);
}

fn crash_soon(town: &mut Town<'_>) {
    let kind = town.works.dice.pick(&[Crash::BeforeStored, Crash::AfterStored]);
    town.works.crash = Some((town.works.dice.below(5), kind));
}

fn crash(town: &mut Town<'_>) {
    town.end_process();
    let down = town.works.dice.pick(&[0, 50, 3_000, 8_000, 1_000_000]);
    town.works.pass(down);
}

/// Somebody loses every right, or a part of them; or everybody has them back; or a thread is idle for so long that it is forgotten.
fn moods(town: &mut Town<'_>, people: &[ActorId], seat: usize) {
    match town.works.dice.below(5) {
        0 => bar(town, people),
        1 if !town.works.is_busy(seat) => town.drop_thread(seat),
        1 => {}
        2 => town.rights.barred.clear(),
        _ => keep_from(town, people),
    }
}

fn bar(town: &mut Town<'_>, people: &[ActorId]) {
    let who = town.works.dice.any(people).cloned();
    town.rights.barred.extend(who.map(|who| (who, Lost::Everything)));
}

/// Somebody loses a part of their rights: to decide, to change anything, to have one call made, or to see a
/// thing.
fn keep_from(town: &mut Town<'_>, people: &[ActorId]) {
    let calls = town
        .env()
        .registry
        .tools()
        .flat_map(|tool| tool.actions.keys().map(move |action| format!("{}.{action}", tool.name)));
    let calls: Vec<String> = calls.collect();
    let Some(call) = town.works.dice.any(&calls).cloned() else { return };
    let thing = town.works.dice.any(&town.fleet.ids()).cloned();
    let lost = [Lost::Deciding, Lost::Changing, Lost::Call(call)].into_iter().chain(thing.map(Lost::Sight));
    let lost: Vec<Lost> = lost.collect();
    let (who, lost) = (town.works.dice.any(people).cloned(), town.works.dice.any(&lost).cloned());
    town.rights.barred.extend(who.zip(lost));
}

/// Another instance takes a plan back, and this one does not know.
fn elsewhere(town: &mut Town<'_>) {
    let waits = town.works.files.rows.values().filter(|row| row.state() == PlanState::Pending);
    let waits: Vec<PlanId> = waits.map(|row| row.id().clone()).collect();
    if let Some(plan) = town.works.dice.any(&waits).cloned() {
        town.taken_back_elsewhere(&plan);
    }
}

/// A write that nobody waits for goes on.
fn orphan(town: &mut Town<'_>) {
    let Some(at) = town.works.flights.iter().position(|flight| flight.is_write() && !flight.awaited) else { return };
    if town.works.dice.one_in(2) {
        return town.begin_write(at);
    }
    town.act(at);
    town.works.flights.remove(at);
}

/// The dust settles: everything is served, every model is silent, time passes, and what is due is told. Nothing may be left.
pub(super) fn settle(town: &mut Town<'_>, seed: u64) {
    town.works.dice = Dice::new(seed);
    town.works.crash = None;
    for _ in 0..SETTLING_MAX {
        town.serve_all();
        silence(town);
        (0..2).for_each(|seat| town.load(seat));
        let next = (0..2).find_map(|seat| town.works.look(seat).state.next_due());
        if town.is_over() {
            return;
        }
        let is_idle = town.works.flights.iter().all(|flight| !flight.awaited) && town.works.unfinished() == 0;
        let Some((due_at, plan)) = next else {
            if is_idle {
                break;
            }
            continue;
        };
        let wait = due_at.wait_ms(crate::signal::Wall(town.works.wall), crate::signal::Mono(town.works.mono));
        town.works.pass(i64::try_from(wait).unwrap_or(i64::MAX));
        let seat = town.works.seat_of(&plan);
        town.accept(seat, ourselves(), Payload::Due { plan });
        town.pump();
    }
    town.end_writes();
    let unfinished = town.works.unfinished();
    town.witness.settled(unfinished, &town.works.files);
}

/// Every model that is asked breaks off.
fn silence(town: &mut Town<'_>) {
    for seat in 0..2 {
        while let Some(ask) = town.works.look(seat).work.ask.clone() {
            if town.is_over() {
                return;
            }
            heard(town, seat, &ask, Err(Unheard { why: "it is over".to_owned(), usage: Usage::default() }));
            town.pump();
        }
    }
}

/// The words that some route knows: no model is ever asked about them.
pub(super) fn routed(intents: &Intents) -> BTreeSet<String> {
    intents.iter().flat_map(|intent| intent.examples.iter().cloned()).collect()
}

/// The words that have a thread forget.
pub(super) fn resets(intents: &Intents) -> BTreeSet<String> {
    let forgets = |intent: &&Intent| matches!(intent.does, Does::Own(OwnCommand::Reset | OwnCommand::ResetKeep));
    let examples = intents.iter().filter(forgets).flat_map(|intent| intent.examples.iter().cloned());
    examples.chain(["reset", "reset keep"].map(str::to_owned)).collect()
}

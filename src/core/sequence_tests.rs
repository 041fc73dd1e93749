//! Plans in a hostile world: sequences of clicks, votes, edits, expiries, reminders, escalations, changes of who may
//! what, restarts, crashes, clock jumps, drifts and deaths of the tool server, in any order, from a seed. Whatever happens, every plan moves along its table, is executed at most once
//! and never without clearance, and comes to an end. The world is in `sequence_tests/town.rs` and `spoke.rs`, what must
//! hold in `ledger.rs`; single cases are told in `plan_tests.rs`.
//!
//! A failing sequence prints its seed and its operations. `SEQUENCES_SEED=that SEQUENCES=1` runs it alone, and
//! `SEQUENCES=n` runs n of them instead of what the test runs by default.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::approval::{Circle, Decided, Digest, Escalation, Filed, Outcome, PlanId, PlanState, Terms, Vote};
use crate::effect::Input;
use crate::port::CardChoice;
use crate::signal::{Actor, ActorId, ActorKind, Assurance, ConversationKind, OURSELVES, Payload, SignalId, Wall};
use crate::sim::dice::Dice;
use crate::sim::flight::{failed, no_answer};
use crate::sim::server::Server as _;
use crate::sim::works::Installation as _;
use crate::testkit::{World, resource};

#[path = "sequence_tests/cards.rs"]
mod cards;
#[path = "sequence_tests/grants.rs"]
mod grants;
#[path = "sequence_tests/ledger.rs"]
mod ledger;
#[path = "sequence_tests/op.rs"]
mod op;
#[path = "sequence_tests/spoke.rs"]
mod spoke;
#[path = "sequence_tests/town.rs"]
mod town;

use ledger::{Tally, counted, entitled, person};
use op::{Op, Who, draw};
use town::Town;

/// How many sequences run by default, in all shards together.
const SEQUENCES: u64 = 100_000;

/// In how many tests, so that they run beside each other.
const SHARDS: u64 = 2;

/// The seed of the default run.
const SEED: u64 = 20_240_229;

/// How many rounds a sequence may take to settle: each moves one plan on by time.
const SETTLING_MAX: u32 = 300;

/// Makes one operation happen, and everything that follows from it at once.
fn happen(town: &mut Town<'_>, op: &Op) {
    match op {
        Op::Ask { seat, who, what } => say(town, *seat, who, &format!("restart {what}")),
        Op::Press { plan, who, choice, stale, elsewhere, twice } => {
            for _ in 0..=u8::from(*twice) {
                pressed(town, plan, *who, *choice, (*stale, *elsewhere));
            }
        }
        Op::Type { seat, who, text } => say(town, *seat, who, text),
        Op::Say { seat, text } => say(town, *seat, "ann", text),
        Op::Due { plan, forged } => due(town, plan, *forged),
        Op::Edit { plan, deleted } => edit(town, plan, *deleted),
        Op::Lost { plan, forged } => ours(town, plan, *forged, Payload::Unreachable { plan: plan.clone() }),
        Op::Bar { who } => toggle(&mut town.people.barred, who),
        Op::Waive { who } => toggle(&mut town.people.alone, who),
        Op::Join { who, group } => toggle(town.people.groups.entry((*group).to_owned()).or_default(), who),
        Op::Rule { n } => town.people.terms = terms(*n),
        Op::Serve { nth, manner } => town.serve(*nth, *manner),
        Op::ServeAll => town.serve_all(),
        Op::Orphan { nth, begins } => orphan(town, *nth, *begins),
        Op::SpokeDies => spoke_dies(town),
        Op::Deadline { seat, stray } => deadline(town, *seat, *stray),
        Op::CrashIn { steps, kind } => town.works.crash = Some((*steps, *kind)),
        Op::Crash { down_ms } => {
            town.end_process();
            town.works.pass(*down_ms);
            let eager = town.works.dice.at(3);
            (0..eager).for_each(|seat| town.load(seat));
        }
        Op::Pass { ms } => town.works.pass(*ms),
        Op::Set { by } => town.works.set_clock(*by),
        Op::Drift { service, how } => drift(town, *service, *how),
        Op::Elsewhere { plan, to } => moved_elsewhere(town, plan, *to),
        Op::Evict { seat } => {
            if !town.works.look(*seat).state.is_busy() {
                town.drop_thread(*seat);
            }
        }
        Op::Panic { seat } => town.panic(*seat),
        Op::Grants(op) => grants::happen(town, op),
    }
    town.pump();
}

fn say(town: &mut Town<'_>, seat: usize, who: &str, text: &str) {
    town.accept(seat, who, |signal| signal.payload = Payload::Text { text: text.to_owned() });
}

fn pressed(town: &mut Town<'_>, plan: &PlanId, who: Who, choice: CardChoice, (stale, elsewhere): (bool, bool)) {
    let digest = town.works.files.rows.get(plan).map(|row| row.frozen.digest().clone());
    let digest = digest.filter(|_| !stale).unwrap_or_else(|| Digest::claimed("0".repeat(64)));
    let seat = town.works.seat_of(plan) ^ usize::from(elsewhere);
    let (id, kind) = match who {
        Who::Person(id) => (id, ActorKind::Human),
        Who::Bot => ("bob", ActorKind::Bot),
    };
    town.accept(seat, id, |signal| {
        signal.actor.kind = kind;
        signal.payload = Payload::Decision { plan: plan.clone(), digest, choice, reason: String::new() };
    });
}

fn due(town: &mut Town<'_>, plan: &PlanId, forged: bool) {
    ours(town, plan, forged, Payload::Due { plan: plan.clone() });
}

fn ours(town: &mut Town<'_>, plan: &PlanId, forged: bool, payload: Payload) {
    let seat = town.works.seat_of(plan);
    let (id, kind) = if forged { ("bob", ActorKind::Human) } else { (OURSELVES, ActorKind::Service) };
    town.accept(seat, id, |signal| {
        (signal.actor.kind, signal.depth) = (kind, 1);
        signal.payload = payload;
    });
}

/// The message that asked for a plan is edited or deleted.
fn edit(town: &mut Town<'_>, plan: &PlanId, deleted: bool) {
    let (seat, asked) =
        (town.works.seat_of(plan), town.works.files.rows.get(plan).and_then(|row| row.frozen.plan().event.clone()));
    let Some(event) = asked else { return };
    town.accept(seat, "eve", |signal| {
        signal.payload = if deleted { Payload::Deleted { event } } else { Payload::Edited { event } };
    });
}

fn toggle(set: &mut BTreeSet<String>, who: &str) {
    if !set.remove(who) {
        set.insert(who.to_owned());
    }
}

/// What a plan takes: nothing special, two people, or one or two of a group that is escalated.
fn terms(n: usize) -> Terms {
    let step = |after_ms: u64, group: &str| Escalation { after_ms, group: group.to_owned() };
    let escalate = vec![step(4_000, "leads"), step(120_000, "heads")];
    let circles = BTreeSet::from([Circle { group: "sre".to_owned(), escalate }]);
    let two = NonZeroU32::new(2).expect("invariant: two");
    match n % 4 {
        0 => Terms::default(),
        1 => Terms { quorum: two, ..Terms::default() },
        2 => Terms { circles, remind_ms: Some(2_000), ..Terms::default() },
        _ => Terms { quorum: two, circles, expires_ms: Some(300_000), remind_ms: Some(60_000) },
    }
}

fn orphan(town: &mut Town<'_>, nth: usize, begins: bool) {
    let Some(flight) = town.works.flights.get(nth).filter(|flight| flight.is_write() && !flight.awaited) else {
        return;
    };
    if begins && flight.begun.is_none() {
        return town.begin_write(nth);
    }
    town.act(nth);
    town.works.flights.remove(nth);
}

fn spoke_dies(town: &mut Town<'_>) {
    while let Some(last) = town.works.flights.len().checked_sub(1) {
        let is_write = town.works.flights[last].is_write();
        if is_write && town.works.dice.one_in(2) {
            town.act(last);
        }
        let envelope = if is_write { no_answer(true) } else { failed() };
        town.answer(last, envelope);
        if town.is_over() {
            return;
        }
    }
}

fn deadline(town: &mut Town<'_>, seat: usize, stray: bool) {
    let (Some(at), Some(current)) = (town.works.look(seat).work.deadline, town.works.look(seat).work.current.clone())
    else {
        return;
    };
    if stray {
        return town.step(seat, Input::Deadline(SignalId::new("of something else")));
    }
    let left = at.saturating_sub(town.works.mono);
    town.works.pass(i64::try_from(left).expect("invariant: minutes"));
    town.step(seat, Input::Deadline(current.id));
}

fn drift(town: &mut Town<'_>, at: usize, how: u64) {
    let service = &mut town.spoke.services[at];
    match how {
        0 => service.run += 1,
        1 => service.present = false,
        2 => service.state = "stopped",
        _ => (service.present, service.state, service.run) = (true, "running", service.run + 1),
    }
}

/// A legal move by another instance, which knows nothing of this one.
fn moved_elsewhere(town: &mut Town<'_>, plan: &PlanId, to: PlanState) {
    let Some(row) = town.works.files.rows.get(plan) else { return };
    let wall = Wall(town.works.wall);
    let is_over = row.standing.over_at.is_none_or(|over| wall >= over);
    let looks = matches!(to, PlanState::Verified(_));
    let stands_still = row.state() == to || (looks && !is_over);
    if stands_still || !crate::approval::may_become(row.state(), to) {
        return;
    }
    let asked = &row.frozen.plan().requester.id;
    let other = if asked.as_str() == "ann" { "bob" } else { "ann" };
    let by = somebody(other);
    let platform = row.frozen.plan().thread.platform.clone();
    let signal = SignalId::new("elsewhere");
    let decided = Decided {
        platform,
        by,
        signal,
        at: wall,
        waiver: false,
        unsealed: false,
        reason: String::new(),
        unasked: None,
    };
    let Some(votes) = (if to == PlanState::Approved { votes_elsewhere(town, row) } else { Some(Vec::new()) }) else {
        return;
    };
    town.moved_elsewhere(plan, |standing| {
        standing.state = to;
        standing.votes.extend(votes);
        if to == PlanState::Approved {
            standing.decided = Some(decided);
        }
    });
}

fn somebody(name: &str) -> Actor {
    Actor { id: ActorId::new(name), kind: ActorKind::Human, display: name.to_owned() }
}

/// What is still missing to approve a plan, given by whoever may; none where there are not enough of them, or no time.
fn votes_elsewhere(town: &Town<'_>, row: &Filed) -> Option<Vec<Vote>> {
    let (plan, standing) = (row.frozen.plan(), &row.standing);
    let mut votes = standing.votes.clone();
    for name in ["ann", "bob", "carol"] {
        let (count, quorum) = counted(&town.people, plan, standing.level, &votes);
        let is_new = votes.iter().all(|vote| person(&vote.by) != name) && person(&plan.requester) != name;
        if count < quorum && is_new && entitled(&town.people, plan, standing.level, &somebody(name)) {
            votes.push(Vote {
                platform: plan.thread.platform.clone(),
                by: somebody(name),
                person: name.to_owned(),
                roles: Vec::new(),
                assurance: Assurance::Platform,
                room: ConversationKind::Group,
                signal: SignalId::new("elsewhere"),
                at: Wall(town.works.wall),
                waiver: false,
                unsealed: false,
            });
        }
    }
    let (count, quorum) = counted(&town.people, plan, standing.level, &votes);
    (count >= quorum && town.works.wall < plan.expires_at.0).then(|| votes.split_off(standing.votes.len()))
}

/// The dust settles: everything is served, time passes, and what is due is told. Nothing may be left.
fn settle(town: &mut Town<'_>) {
    town.works.crash = None;
    for _ in 0..SETTLING_MAX {
        town.serve_all();
        (0..2).for_each(|seat| town.load(seat));
        let next = (0..2).find_map(|seat| town.works.look(seat).state.desk.next_due(None));
        if town.is_over() {
            return;
        }
        let Some((due_at, plan)) = next else { break };
        let wait = due_at.wait_ms(Wall(town.works.wall), crate::signal::Mono(town.works.mono));
        town.works.pass(i64::try_from(wait).unwrap_or(i64::MAX));
        due(town, &plan, false);
    }
    town.end_writes();
    let open = town.works.files.rows.values().find(|row| row.state().is_open()).cloned();
    town.ledger.demand(open.is_none(), || format!("never ended: {open:?}"));
    let unfinished = town.works.unfinished();
    town.ledger.demand(unfinished == 0, || format!("{unfinished} signals never ended"));
    for seat in 0..2 {
        let fsm = town.works.look(seat).state.fsm();
        town.ledger.demand(fsm.can_final_answer(), || format!("nothing is open, and a thread is {fsm:?}"));
    }
}

/// One sequence. Its operations are noted as they happen, so that they are known also where the code under test panics.
fn run(ground: &Ground, seed: u64, tally: &mut Tally, ops: &mut Vec<Op>) -> Option<String> {
    let mut town = Town::new(&ground.world, seed, tally);
    for _ in 0..town.works.dice.pick(&[0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]) {
        let plan = &ground.asked[town.works.dice.at(ground.asked.len())];
        if !town.works.files.rows.contains_key(plan.id()) {
            town.file(plan);
        }
    }
    // From 8 to 25, and the shorter the more often.
    let length = 8 + town.works.dice.below(18).min(town.works.dice.below(18));
    for _ in 0..length {
        let op = draw(&mut town);
        town.tally.one(op.name());
        ops.push(op.clone());
        happen(&mut town, &op);
        if town.is_over() {
            return town.ledger.problem;
        }
    }
    settle(&mut town);
    for row in town.works.files.rows.values() {
        town.tally.one(end_name(row.state()));
    }
    town.ledger.problem
}

fn end_name(state: PlanState) -> &'static str {
    match state {
        PlanState::Verified(Outcome::AsExpected) => "end: as_expected",
        PlanState::Verified(Outcome::Differs) => "end: differs",
        PlanState::Verified(Outcome::Absent) => "end: absent",
        PlanState::Denied => "end: denied",
        PlanState::Expired => "end: expired",
        PlanState::Cancelled => "end: cancelled",
        PlanState::Refused(_) => "end: refused",
        PlanState::Failed => "end: failed",
        PlanState::Pending
        | PlanState::Approved
        | PlanState::Executing
        | PlanState::Unverified
        | PlanState::Unknown => "end: none",
    }
}

/// What every sequence begins with.
struct Ground {
    world: World,
    /// Plans that an earlier process was asked for: to ask anew costs more than all the rest of a sequence.
    asked: Vec<Filed>,
}

/// The services that a spoke knows, as a discovery reports them, and every plan that can be asked for.
fn ground() -> Ground {
    let mut world = World::with_fleet();
    world.people.group("sre", &["ann", "bob"]);
    world.people.group("leads", &["carol", "tom"]);
    world.script.resources = vec![resource("host:web-1", "web-1")];
    for name in ["nginx", "postgres"] {
        let mut service = resource(&format!("service:web-1:{name}"), name);
        service.chain = vec!["host:web-1".parse().expect("an id")];
        world.script.resources.push(service);
    }
    let mut asked = Vec::new();
    for n in 0..32_u64 {
        // Half of them take nothing special.
        world.people.terms = terms(if n < 16 { 0 } else { usize::from(n % 4 > 0) + usize::from(n % 8 > 4) * 2 });
        world.people.alone = BTreeSet::from_iter((n % 5 == 0).then(|| "ann".to_owned()));
        let (seat, who) = (usize::from(n % 4 > 1), if n % 2 == 0 { "ann" } else { "bob" });
        let what = if n % 3 > 0 { "nginx" } else { "postgres" };
        let mut tally = Tally::default();
        let mut town = Town::new(&world, n, &mut tally);
        say(&mut town, seat, who, &format!("restart {what}"));
        town.serve_all();
        asked.extend(town.works.files.rows.into_values());
    }
    world.people.terms = Terms::default();
    Ground { world, asked }
}

/// Runs sequences until one breaks a promise, and then says which and what happened in it.
fn sequences(run_seed: u64, from: u64, to: u64, tally: &mut Tally) -> Result<(), String> {
    let ground = ground();
    for n in from..to {
        let seed = Dice::seed_of(run_seed, n);
        let mut ops = Vec::new();
        let ended = catch_unwind(AssertUnwindSafe(|| run(&ground, seed, tally, &mut ops)));
        let problem = ended.unwrap_or_else(|_| Some("it panicked; the message stands above".to_owned()));
        if let Some(problem) = problem {
            let ops: Vec<String> = ops.iter().enumerate().map(|(at, op)| format!("  {at}: {op:?}")).collect();
            return Err(format!("SEQUENCES_SEED={seed} SEQUENCES=1: {problem}\n{}", ops.join("\n")));
        }
    }
    Ok(())
}

/// What the first of so many sequences, from the default seed, has to say that does not hold.
pub(super) fn notice(sequences_max: u64) -> Option<String> {
    sequences(SEED, 0, sequences_max, &mut Tally::default()).err()
}

#[expect(clippy::disallowed_methods, reason = "how long a test runs is for whoever starts it to say")]
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a whole number"))
}

#[expect(clippy::disallowed_macros, reason = "the figures are for people; a test run shows them with --nocapture")]
fn shard(n: u64) {
    let seed = from_environment("SEQUENCES_SEED").unwrap_or(SEED);
    let all = from_environment("SEQUENCES");
    let wanted = all.unwrap_or(SEQUENCES);
    let mut tally = Tally::default();
    if let Err(problem) = sequences(seed, wanted * n / SHARDS, wanted * (n + 1) / SHARDS, &mut tally) {
        panic!("{problem}");
    }
    let figures: Vec<String> = tally.0.iter().map(|(what, n)| format!("{n:>9}  {what}")).collect();
    println!("shard {n} of {SHARDS}, of {wanted} sequences from the seed {seed}:\n{}", figures.join("\n"));
    if all.is_none() {
        nothing_was_left_out(&tally);
    }
}

/// A test that reaches nothing shows nothing.
fn nothing_was_left_out(tally: &Tally) {
    let reached = [
        "pending",
        "approved",
        "executing",
        "unverified",
        "unknown",
        "as_expected",
        "differs",
        "absent",
        "denied",
        "expired",
        "cancelled",
        "refused",
        "failed",
        "voted",
        "approved by several",
        "reminded",
        "escalated",
        "withdrawn",
        "executed",
        "executed as an orphan",
        "changes claimed",
        "crashes",
        "lost",
        "held",
    ];
    for what in reached.into_iter().chain(grants::REACHED).chain(cards::REACHED) {
        assert!(tally.of(what) > 0, "never happened: {what}");
    }
}

#[test]
fn any_order_of_events_leaves_every_plan_legal() {
    shard(0);
}

#[test]
fn any_order_of_events_leaves_every_plan_legal_second_half() {
    shard(1);
}

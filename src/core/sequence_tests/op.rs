//! What can happen in a sequence, and how it is drawn: from what is there, so that most of it means something. What it
//! does to the world is in `sequence_tests.rs`.

use crate::approval::{Outcome, PlanId, PlanState};
use crate::port::CardChoice;

use crate::sim::flight::Manner;
use crate::sim::works::Crash;

use super::grants::{self, GrantOp};
use super::town::Town;

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Somebody asks for a restart.
    Ask { seat: usize, who: &'static str, what: &'static str },
    /// A card is pressed, perhaps twice.
    Press { plan: PlanId, who: Who, choice: CardChoice, stale: bool, elsewhere: bool, twice: bool },
    /// A decision is typed; `id` is the plan's, too short, or of no plan.
    Type { seat: usize, who: &'static str, text: String },
    /// Words that decide nothing.
    Say { seat: usize, text: &'static str },
    /// Time has come for a plan, or has not; or somebody else says so.
    Due { plan: PlanId, forged: bool },
    /// The request of a plan is edited or deleted.
    Edit { plan: PlanId, deleted: bool },
    /// A card will never be delivered; or somebody else says so.
    Lost { plan: PlanId, forged: bool },
    /// Somebody loses every right, or has it back.
    Bar { who: &'static str },
    /// Somebody may decide alone, or no longer.
    Waive { who: &'static str },
    /// Somebody comes into a group, or leaves it.
    Join { who: &'static str, group: &'static str },
    /// From now on plans take something else.
    Rule { n: usize },
    /// The tool server works on a call.
    Serve { nth: usize, manner: Manner },
    /// Everything that is asked of the tool server is done, until nobody waits any more.
    ServeAll,
    /// A write that nobody waits for goes on.
    Orphan { nth: usize, begins: bool },
    /// The tool server dies: each write was done before, or was not.
    SpokeDies,
    /// The time of a request is over.
    Deadline { seat: usize, stray: bool },
    /// The process ends in the step after so many.
    CrashIn { steps: u64, kind: Crash },
    /// The process ends between two inputs, and another one begins.
    Crash { down_ms: i64 },
    /// Time passes.
    Pass { ms: i64 },
    /// The wall clock is set.
    Set { by: i64 },
    /// Somebody else does something to a service.
    Drift { service: usize, how: u64 },
    /// Another instance moves a row.
    Elsewhere { plan: PlanId, to: PlanState },
    /// An idle thread is dropped.
    Evict { seat: usize },
    /// A thread breaks.
    Panic { seat: usize },
    /// Something about permissions.
    Grants(GrantOp),
}

/// Who presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Person(&'static str),
    /// A bot with a person's id.
    Bot,
}

impl Op {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "op: ask",
            Self::Press { .. } => "op: press",
            Self::Type { .. } => "op: type a decision",
            Self::Say { .. } => "op: say something else",
            Self::Due { .. } => "op: due",
            Self::Edit { .. } => "op: edit",
            Self::Lost { .. } => "op: a lost card",
            Self::Bar { .. } => "op: bar",
            Self::Waive { .. } => "op: waive",
            Self::Join { .. } => "op: join",
            Self::Rule { .. } => "op: rule",
            Self::Serve { .. } => "op: serve one call",
            Self::ServeAll => "op: serve all calls",
            Self::Orphan { .. } => "op: an orphan goes on",
            Self::SpokeDies => "op: the tool server dies",
            Self::Deadline { .. } => "op: deadline",
            Self::CrashIn { .. } => "op: crash within a step",
            Self::Crash { .. } => "op: crash between steps",
            Self::Pass { .. } => "op: time passes",
            Self::Set { .. } => "op: the clock is set",
            Self::Drift { .. } => "op: drift",
            Self::Elsewhere { .. } => "op: another instance",
            Self::Evict { .. } => "op: a thread is dropped",
            Self::Panic { .. } => "op: a thread breaks",
            Self::Grants(op) => op.name(),
        }
    }
}

/// The next operation. It is drawn from what is there, so that most of them mean something.
pub(super) fn draw(town: &mut Town<'_>) -> Op {
    if let Some(op) = grants::draw(town) {
        return op;
    }
    let plans: Vec<PlanId> = town.works.files.rows.keys().cloned().collect();
    let flights = town.works.flights.len();
    let (thrown, seat) = (town.works.dice.below(110), town.works.dice.at(4) / 3);
    let who = town.works.dice.pick(&["ann", "bob"]);
    let plan = (!plans.is_empty()).then(|| plans[town.works.dice.at(plans.len())].clone());
    match (thrown, plan) {
        (_, None) if flights > 0 => serve(town, flights),
        (0, _) | (_, None) => Op::Ask { seat, who, what: town.works.dice.pick(&["nginx", "nginx", "postgres"]) },
        (1..=27, Some(plan)) => press(town, plan),
        (28..=52, _) if flights > 0 => serve(town, flights),
        (28..=52, Some(plan)) if town.works.dice.one_in(2) => press(town, plan),
        (28..=58, Some(plan)) => Op::Due { plan, forged: town.works.dice.one_in(8) },
        (59..=62, Some(_)) => Op::ServeAll,
        (63..=65, Some(plan)) => typed(town, &plan, seat),
        (66..=67, _) => {
            Op::Say { seat, text: town.works.dice.pick(&["verify", "verify", "reset", "load", "approvals"]) }
        }
        (68..=70, _) if flights > 0 => {
            Op::Orphan { nth: town.works.dice.at(flights), begins: town.works.dice.one_in(2) }
        }
        (71..=72, _) => Op::SpokeDies,
        (73..=74, _) => Op::Deadline { seat, stray: town.works.dice.one_in(5) },
        (68..=70 | 75..=79, _) => Op::CrashIn {
            steps: town.works.dice.below(5),
            kind: town.works.dice.pick(&[Crash::BeforeStored, Crash::AfterStored]),
        },
        (80..=83, _) => Op::Crash { down_ms: town.works.dice.pick(&[0, 50, 3_000, 8_000, 1_000_000]) },
        (84..=89, _) => Op::Pass { ms: pause(town) },
        (90..=91, _) => Op::Set { by: town.works.dice.pick(&[-3_600_000, -20_000, -2_000, 2_000, 20_000, 3_600_000]) },
        (92..=94, _) => Op::Drift { service: town.works.dice.at(2), how: town.works.dice.below(4) },
        (95..=96, Some(plan)) => Op::Elsewhere { plan, to: elsewhere(town) },
        (97, _) => Op::Evict { seat },
        (98..=99, _) => Op::Panic { seat },
        (100.., Some(plan)) => who_may(town, plan),
    }
}

/// What changes who decides a plan, or takes it away.
fn who_may(town: &mut Town<'_>, plan: PlanId) -> Op {
    let who = town.works.dice.pick(&["ann", "bob", "carol"]);
    match town.works.dice.below(12) {
        0..=2 => Op::Edit { plan, deleted: town.works.dice.one_in(2) },
        3 => Op::Lost { plan, forged: town.works.dice.one_in(2) },
        4..=7 => Op::Bar { who },
        8 => Op::Waive { who: "ann" },
        9..=10 => Op::Join { who, group: town.works.dice.pick(&["sre", "leads", "heads"]) },
        _ => Op::Rule { n: town.works.dice.at(4) },
    }
}

fn press(town: &mut Town<'_>, plan: PlanId) -> Op {
    let who = match town.works.dice.below(12) {
        0 => Who::Bot,
        1 => Who::Person("eve"),
        2 => Who::Person(town.works.dice.pick(&["tom", "ann@work"])),
        3..=5 => Who::Person("ann"),
        6..=8 => Who::Person("carol"),
        _ => Who::Person("bob"),
    };
    let choice = if town.works.dice.one_in(9) { CardChoice::Deny } else { CardChoice::Approve };
    let (stale, elsewhere, twice) = (town.works.dice.one_in(12), town.works.dice.one_in(16), town.works.dice.one_in(6));
    Op::Press { plan, who, choice, stale, elsewhere, twice }
}

fn serve(town: &mut Town<'_>, flights: usize) -> Op {
    let odd = [Manner::Mute, Manner::Refuse, Manner::Fail, Manner::Silent, Manner::Begin];
    let manner = if town.works.dice.below(8) < 5 { Manner::Well } else { town.works.dice.pick(&odd) };
    Op::Serve { nth: town.works.dice.at(flights), manner }
}

fn typed(town: &mut Town<'_>, plan: &PlanId, seat: usize) -> Op {
    let verb = town.works.dice.pick(&["approve", "approve", "deny", "cancel", "cancel"]);
    let text = match town.works.dice.below(6) {
        0 => format!("{verb} {}", &plan.as_str()[..12]),
        1 => format!("{verb} {:032x}", town.works.dice.next()),
        2 => verb.to_owned(),
        _ => format!("{verb} {plan}"),
    };
    let seat = if town.works.dice.one_in(6) { seat } else { town.works.seat_of(plan) };
    Op::Type { seat, who: town.works.dice.pick(&["ann", "bob", "bob", "eve"]), text }
}

fn pause(town: &mut Town<'_>) -> i64 {
    let longest = town.works.dice.pick(&[500, 2_000, 8_000, 8_000, 60_000, 1_000_000, 3_000_000]);
    town.works.dice.ms(longest)
}

fn elsewhere(town: &mut Town<'_>) -> PlanState {
    town.works.dice.pick(&[
        PlanState::Approved,
        PlanState::Denied,
        PlanState::Cancelled,
        PlanState::Expired,
        PlanState::Unknown,
        PlanState::Verified(Outcome::Differs),
    ])
}

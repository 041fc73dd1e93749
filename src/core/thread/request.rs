//! One request: from an accepted signal to what was said about it. A thread works on one at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::PlanId;
use crate::gate::{Judged, ToolCall};
use crate::port::{Claim, Source};
use crate::resource::ResourceId;
use crate::signal::{CallId, Signal};
use crate::tool::ToolKind;
use crate::usage::{Origin, Usage};

use super::Budget;
use super::agent::Agent;
use super::carry::Carrying;
use super::draft::Draft;
use super::outputs::Outputs;
use super::procedure::Procedure;
use super::talk::Thing;

/// What drives a request on from one answer to the next.
#[derive(Debug)]
pub(crate) enum Driver {
    /// A route.
    Procedure(Procedure),
    /// A model.
    Agent(Box<Agent>),
    /// A plan in the making.
    Draft(Draft),
    /// A plan that is carried out or verified.
    Carrying(Carrying),
}

/// What a thread is working on.
#[derive(Debug)]
pub(crate) struct Request {
    /// What it answers.
    pub signal: Signal,
    /// Whether an earlier process began it and did not end it.
    pub again: bool,
    /// Which request of the thread it is, from 1.
    pub turn: u64,
    /// What it has used up.
    pub budget: Budget,
    /// Calls that were made and have not answered.
    pub waiting: BTreeMap<CallId, ToolCall>,
    /// The readings that succeeded.
    pub sources: Vec<Source>,
    /// What its calls came back with, for `sources`.
    pub outputs: Outputs,
    /// What discoveries found.
    pub found: BTreeSet<ResourceId>,
    /// The facts that a model was told for it, and what they are of: what it says may rest on one.
    pub told: Vec<(Thing, String)>,
    /// What was said to everybody, where a model may be told of it later; none where it is about the bot itself.
    pub said: Option<Vec<String>>,
    /// After a choice: the words that led to the question, and the label that was picked.
    pub chosen: Option<String>,
    /// Who thinks about it: a model from its first question on. What fails then is told to people, and explained by nobody.
    pub thought_by: Origin,
    /// What a model was offered when it was asked last, as `tool.action`: it calls nothing else.
    pub offered: Vec<String>,
    /// Every judgement, for `why`.
    pub judged: Vec<Judged>,
    /// What drives it. None where the answer needs no tool.
    pub driver: Option<Driver>,
    /// The plan that it carries out or verifies.
    pub carrying: Option<PlanId>,
    /// What the question to a model uses that waits for its answer, as far as that is known beforehand.
    pub asked: Option<Usage>,
    /// Who has asked for its end, by name.
    pub stopped_by: Option<String>,
    /// Whether its time is being measured: from its first call on.
    pub deadline_set: bool,
    /// Whether a gate has refused to have its progress shown.
    pub is_progress_refused: bool,
    /// The number of the next call.
    pub next_call: u32,
    /// The number of the next message.
    pub next_post: u32,
}

impl Request {
    pub(crate) fn new(signal: Signal, turn: u64) -> Self {
        Self {
            signal,
            again: false,
            turn,
            budget: Budget::default(),
            waiting: BTreeMap::new(),
            sources: Vec::new(),
            outputs: Outputs::default(),
            found: BTreeSet::new(),
            told: Vec::new(),
            said: None,
            chosen: None,
            thought_by: Origin::Rule,
            offered: Vec::new(),
            judged: Vec::new(),
            driver: None,
            carrying: None,
            asked: None,
            stopped_by: None,
            deadline_set: false,
            is_progress_refused: false,
            next_call: 0,
            next_post: 0,
        }
    }

    /// Returns what was asked for, in words.
    pub(crate) fn words(&self) -> String {
        self.chosen.clone().unwrap_or_else(|| self.signal.payload.words())
    }

    /// A model may be told later what was asked and answered.
    pub(crate) fn becomes_talk(&mut self) {
        self.said.get_or_insert_default();
    }

    /// A fresh id for a call: unique in the thread, since turns only rise.
    pub(crate) fn call_id(&mut self) -> CallId {
        self.next_call = self.next_call.saturating_add(1);
        CallId::new(format!("{}.{}", self.turn, self.next_call))
    }

    /// The readings that have not answered.
    pub(crate) fn open_readings(&self) -> Vec<CallId> {
        let reads = self.waiting.values().filter(|call| matches!(call.kind, ToolKind::Resolve | ToolKind::Read));
        reads.map(|call| call.id.clone()).collect()
    }

    /// Whether a model thinks of what is next.
    pub(crate) const fn is_driven_by_a_model(&self) -> bool {
        matches!(self.driver, Some(Driver::Agent(_)))
    }

    /// Whether a route does.
    pub(crate) const fn is_driven_by_a_route(&self) -> bool {
        matches!(self.driver, Some(Driver::Procedure(_)))
    }

    /// That what is shown rests on everything that was read, or on nothing.
    pub(crate) fn readings(&self) -> Claim {
        let sources = self.sources.clone();
        if sources.is_empty() { Claim::Nothing } else { Claim::Readings { sources, unverified: None } }
    }

    /// The number of the next message.
    pub(crate) const fn post_number(&mut self) -> u32 {
        let n = self.next_post;
        self.next_post = n.saturating_add(1);
        n
    }
}

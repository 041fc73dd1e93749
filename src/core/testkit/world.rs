//! The world: one thread, scripted tools, a hand clock, and people who may everything or nothing.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::effect::{Effect, Input};
use crate::env::{Env, Limits, OwnDeployment, Vault};
use crate::envelope::{Code, Details, Envelope, Meta};
use crate::gate::{Refusal, ToolCall};
use crate::port::{Block, Mark, Outgoing, Right, Rights};
use crate::proposal::Proposal;
use crate::resource::Resource;
use crate::route::{ExactRoutes, Intents, Lexical};
use crate::secrets::Mask;
use crate::signal::{Actor, Mono, Now, Signal, ThreadKey, Wall};
use crate::step::step;
use crate::thread::{ThreadState, Turn};
use crate::tool::Registry;

use super::fixtures::{INTENTS, TOOLS, signal};

/// Ann and Bob may ask for anything; everybody else may nothing.
struct TwoPeople;

impl Rights for TwoPeople {
    fn may(&self, actor: &Actor, _: &ThreadKey, _: &Right) -> bool {
        matches!(actor.id.as_str(), "ann" | "bob")
    }

    fn roles(&self, actor: &Actor) -> Vec<String> {
        if self.may(actor, &super::thread_key("main"), &Right::Talk) { vec!["operator".to_owned()] } else { Vec::new() }
    }
}

/// How the scripted tools answer: by `tool.action`, else from the scripted resources.
#[derive(Debug, Default)]
pub struct Script {
    /// What discoveries find, by the kind in their ids.
    pub resources: Vec<Resource>,
    /// What other calls answer.
    pub answers: BTreeMap<String, Envelope>,
}

/// What an input came to.
#[derive(Debug, Default)]
pub struct Told {
    /// The messages, as plain text.
    pub said: String,
    /// The calls that were made.
    pub calls: Vec<ToolCall>,
    /// Everything else, in order, as text.
    pub effects: Vec<String>,
    /// The counters that were raised.
    pub counted: Vec<String>,
}

/// One thread in a small world.
pub struct World {
    /// The declared tools.
    pub registry: Registry,
    /// The intents.
    pub intents: Intents,
    /// Routes asked before.
    pub exact: ExactRoutes,
    /// Limits.
    pub limits: Limits,
    /// What is the bot's own.
    pub own: OwnDeployment,
    /// Credentials.
    pub vault: Vault,
    /// The mask.
    pub mask: Mask,
    /// The thread.
    pub state: ThreadState,
    /// The tools.
    pub script: Script,
    /// The clock, in milliseconds.
    pub clock: u64,
    steps: u64,
}

impl World {
    /// A world with the tools and intents of the fixtures.
    pub fn new() -> Self {
        let registry = Registry::load([("tools.toml", TOOLS)]).expect("invariant: the fixture is sound");
        let intents = Intents::load([("intents.toml", INTENTS)], &registry).expect("invariant: the fixture is sound");
        Self {
            registry,
            intents,
            exact: ExactRoutes::default(),
            limits: Limits::default(),
            own: OwnDeployment::default(),
            vault: Vault::default(),
            mask: Mask::default(),
            state: ThreadState::default(),
            script: Script::default(),
            clock: 1_000,
            steps: 0,
        }
    }

    /// A world with one host and two services on it.
    pub fn with_fleet() -> Self {
        let mut world = Self::new();
        let mut nginx = super::resource("service:web-1:nginx", "nginx");
        nginx.chain = vec!["host:web-1".parse().expect("invariant: an id")];
        let mut postgres = super::resource("service:web-1:postgres", "postgres");
        postgres.chain.clone_from(&nginx.chain);
        world.script.resources = vec![super::resource("host:web-1", "web-1"), nginx, postgres];
        world.answers("lab_read.load", serde_json::json!({ "load": "0.5" }));
        world.answers("lab_read.status", serde_json::json!({ "name": "nginx", "state": "running" }));
        world
    }

    /// Scripts what a call answers.
    pub fn answers(&mut self, call: &str, data: serde_json::Value) {
        let meta = Meta { observed_at: 1, left_out: String::new() };
        self.script.answers.insert(call.to_owned(), Envelope::success(data, meta));
    }

    /// Ann says something, and everything that follows from it is done.
    pub fn say(&mut self, text: &str) -> Told {
        let id = format!("s{}", self.steps);
        self.hear(signal(&id, "ann", text))
    }

    /// A signal comes in, and everything that follows from it is done.
    pub fn hear(&mut self, signal: Signal) -> Told {
        let mut told = Told::default();
        let mut inputs = vec![Input::Signal(Box::new(signal))];
        while let Some(input) = inputs.pop() {
            let call = self.input(input, &mut told);
            inputs.extend(call.into_iter().map(|call| self.run(&call)));
        }
        told
    }

    /// One input, one step; returns the calls that it makes, unanswered.
    pub fn input(&mut self, input: Input, told: &mut Told) -> Vec<ToolCall> {
        let now = self.now();
        let state = std::mem::take(&mut self.state);
        let (state, effects) = step(self.env(), state, input, now);
        self.state = state;
        let mut calls = Vec::new();
        for effect in effects {
            match effect {
                Effect::Call(call) => {
                    calls.push(call.get().clone());
                    told.calls.push(call.get().clone());
                }
                Effect::Post { message, .. } => told.said.push_str(&plain(message.get())),
                Effect::Count(count) => told.counted.push(format!("{}{:?}", count.name, count.labels)),
                Effect::Remember { key, route } => self.exact.remember(key, route),
                Effect::Audit(_) | Effect::Wake { .. } | Effect::Finish { .. } => {
                    told.effects.push(format!("{effect:?}"));
                }
            }
        }
        calls
    }

    /// A proposal by whoever drives the loop: a misbehaving model, say. Nothing is executed; returns the call that would
    /// be made, or the refusal.
    pub fn propose(&mut self, proposal: &Proposal) -> Result<Option<ToolCall>, Box<Refusal>> {
        self.propose_as(signal("p", "ann", "whatever"), std::slice::from_ref(proposal))
            .pop()
            .expect("invariant: one in, one out")
    }

    /// Several proposals of one request.
    pub fn propose_as(
        &mut self,
        signal: Signal,
        proposals: &[Proposal],
    ) -> Vec<Result<Option<ToolCall>, Box<Refusal>>> {
        let now = self.now();
        let state = std::mem::take(&mut self.state);
        let mut turn = Turn::new(self.env(), now, state);
        let mut request = crate::thread::begin_request(&mut turn, signal);
        let results =
            proposals.iter().map(|proposal| crate::thread::judge_for_test(&mut turn, &mut request, proposal)).collect();
        let state = turn.state;
        self.state = state;
        results
    }

    /// The world outside, as the thread sees it.
    pub fn env(&self) -> Env<'_> {
        Env {
            registry: &self.registry,
            intents: &self.intents,
            exact: &self.exact,
            rights: &TwoPeople,
            similarity: &Lexical,
            limits: &self.limits,
            own: &self.own,
            vault: &self.vault,
            mask: &self.mask,
            spokes: &[],
        }
    }

    /// The time now; every look moves the seed on.
    pub fn now(&mut self) -> Now {
        self.steps += 1;
        Now { wall: Wall(1_700_000_000_000), mono: Mono(self.clock), seed: self.steps }
    }

    /// What the scripted tools answer to a call.
    pub fn run(&self, call: &ToolCall) -> Input {
        let name = call.name();
        let envelope = match self.script.answers.get(&name) {
            Some(answer) => answer.clone(),
            None if call.tool == "lab_find" => self.find(call),
            None => Envelope::failed(Code::NotFound, format!("`{name}` is not scripted"), false, Details::default()),
        };
        Input::Answer { call: call.id.clone(), envelope: Box::new(envelope) }
    }

    fn find(&self, call: &ToolCall) -> Envelope {
        let query = call.args.get("query").and_then(|query| query.as_str());
        let fits = |resource: &&Resource| {
            resource.id.kind() == call.action
                && query.is_none_or(|query| resource.name.contains(query) || resource.id.as_str() == query)
        };
        let found: Vec<&Resource> = self.script.resources.iter().filter(fits).collect();
        let meta = Meta { observed_at: 1, left_out: String::new() };
        Envelope::success(serde_json::json!({ "resources": found }), meta)
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// A message as plain text, for tests.
pub fn plain(message: &Outgoing) -> String {
    let mut text = match message.mark {
        Mark::Plain => String::new(),
        Mark::Question => "? ".to_owned(),
        Mark::Refused => "refused: ".to_owned(),
        Mark::Failed => "failed: ".to_owned(),
    };
    for block in &message.blocks {
        let _infallible = match block {
            Block::Text { text: said } | Block::Code { text: said } => writeln!(text, "{said}"),
            Block::Fields { fields } => fields.iter().try_for_each(|(name, value)| writeln!(text, "{name}: {value}")),
            Block::Table { columns, rows } => {
                let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
                writeln!(text, "{}", titles.join(" | "))
                    .and_then(|()| rows.iter().try_for_each(|row| writeln!(text, "{}", row.join(" | "))))
            }
            Block::Choices { choices, .. } => choices
                .iter()
                .enumerate()
                .try_for_each(|(at, choice)| writeln!(text, "{}) {} {}", at + 1, choice.label, choice.about)),
        };
    }
    text
}

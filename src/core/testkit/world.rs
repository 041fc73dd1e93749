//! The world: one thread, scripted tools, a hand clock, and the people of `people.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::OnceLock;

use crate::answer::{self, Claims, Errors};
use crate::approval::Places;
use crate::command::Tables;
use crate::effect::{Effect, Input};
use crate::env::{Env, Limits, OwnDeployment, Vault};
use crate::envelope::{Code, Details, Envelope, Meta};
use crate::gate::{Refusal, ToolCall};
use crate::ledger::Ledger;
use crate::mind::{Ask, Minds, Thought, Unheard};
use crate::port::{Block, Mark, Outgoing, Rights, Standing, Visibility};
use crate::proposal::Proposal;
use crate::rate::Allowance;
use crate::resource::Resource;
use crate::route::{Catalogue, ExactRoutes, Intents, Lexical};
use crate::secrets::Mask;
use crate::signal::{Mono, Now, Signal, Wall};
use crate::sim::Files;
use crate::sim::store::NotStored;
use crate::step::step;
use crate::thread::{ThreadState, Turn};
use crate::tool::Registry;
use crate::usage::{Book, Budgets, Day, Spent, Usage, payers};

use super::People;
use super::fixtures::{INTENTS, TOOLS, signal};

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
    /// What was shown while the work went on, as plain text.
    pub progress: Vec<String>,
    /// What cards show by now, as plain text, in order.
    pub cards: Vec<String>,
    /// What a model was asked.
    pub asks: Vec<Ask>,
    /// The messages for one person alone: whom, and what.
    pub alone: Vec<(String, String)>,
}

/// One thread in a small world.
pub struct World {
    /// The declared tools.
    pub registry: Registry,
    /// The intents.
    pub intents: Intents,
    /// What somebody may mean, of the tools and intents that there are at the first step.
    catalogue: OnceLock<Catalogue>,
    /// Routes asked before.
    pub exact: ExactRoutes,
    /// Limits.
    pub limits: Limits,
    /// What is the bot's own.
    pub own: OwnDeployment,
    /// The places in which a change is of high risk.
    pub places: Places,
    /// Credentials.
    pub vault: Vault,
    /// The mask.
    pub mask: Mask,
    /// What each tool of a command line does.
    pub commands: Tables,
    /// How much whoever asks may still have.
    pub allowances: Vec<Allowance>,
    /// The thread.
    pub state: ThreadState,
    /// Who there is.
    pub people: People,
    /// The tools.
    pub script: Script,
    /// The models.
    pub minds: Minds,
    /// What they say, in order; then nobody answers any more.
    pub thoughts: VecDeque<Thought>,
    /// What words claim something.
    pub claims: Claims,
    /// Which failures are known.
    pub errors: Errors,
    /// The plans, as the store has them.
    pub files: Files,
    /// The stopwatch, in milliseconds.
    pub clock: u64,
    /// The clock on the wall, in milliseconds since the Unix epoch.
    pub wall: i64,
    /// How much may be used a day.
    pub budgets: Budgets,
    /// What was used, as the store has it.
    pub book: Book,
    /// What the payers of the request at work have used.
    spent: Option<Spent>,
    /// Who may what, where it is not the people above.
    pub rights: Option<Box<dyn Rights>>,
    /// What the thread still takes for the ledger, where somebody else has changed it since.
    pub stale: Option<Ledger>,
    /// What the thread is working on, for steps that are not stored.
    at_work: Option<Signal>,
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
            catalogue: OnceLock::new(),
            exact: ExactRoutes::default(),
            limits: Limits::default(),
            own: OwnDeployment::default(),
            places: Places::default(),
            vault: Vault::default(),
            mask: Mask::default(),
            commands: Tables::default(),
            allowances: Vec::new(),
            state: ThreadState::default(),
            people: People::default(),
            script: Script::default(),
            minds: Minds::default(),
            thoughts: VecDeque::new(),
            claims: Claims::default(),
            errors: Errors::default(),
            files: Files::default(),
            clock: 1_000,
            wall: 1_700_000_000_000,
            budgets: Budgets::default(),
            book: Book::new(Day(0)),
            spent: None,
            rights: None,
            stale: None,
            at_work: None,
            steps: 0,
        }
    }

    /// A world with one host and two services on it.
    pub fn with_fleet() -> Self {
        let mut world = Self::new();
        let mut nginx = super::resource("service:web-1:nginx", "nginx");
        nginx.chain = vec!["host:web-1".parse().expect("invariant: an id")];
        nginx.attrs.insert("run".to_owned(), "1".to_owned());
        let mut postgres = super::resource("service:web-1:postgres", "postgres");
        postgres.chain.clone_from(&nginx.chain);
        world.script.resources = vec![super::resource("host:web-1", "web-1"), nginx, postgres];
        world.answers("lab_read.load", serde_json::json!({ "load": "0.5" }));
        let status = serde_json::json!({ "name": "nginx", "present": true, "state": "running", "run": "1" });
        world.answers("lab_read.status", status);
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
        self.follow(Input::Signal(Box::new(signal)))
    }

    /// A signal that an earlier process did not answer comes in again.
    pub fn hear_again(&mut self, signal: Signal) -> Told {
        self.follow(Input::Again(Box::new(signal)))
    }

    fn follow(&mut self, input: Input) -> Told {
        let mut told = Told::default();
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let asked = told.asks.len();
            let call = self.input(input, &mut told);
            inputs.extend(call.into_iter().map(|call| self.run(&call)));
            inputs.extend(told.asks.get(asked).cloned().and_then(|ask| self.think(&ask)));
        }
        told
    }

    /// What the scripted model says to a question.
    fn think(&mut self, ask: &Ask) -> Option<Input> {
        let gone = || Unheard { why: "it cannot be reached".to_owned(), usage: Usage::default() };
        let heard = Box::new(self.thoughts.pop_front().ok_or_else(gone));
        Some(Input::Thought { signal: Box::new(self.at_work.clone()?), n: ask.n, heard })
    }

    /// One input, one step; returns the calls that it makes, unanswered. What the store refuses is not done.
    pub fn input(&mut self, input: Input, told: &mut Told) -> Vec<ToolCall> {
        if let Input::Signal(signal) | Input::Again(signal) | Input::Interrupted(signal) = &input {
            self.at_work = Some(Signal::clone(signal));
        }
        let now = self.now();
        let signal = self.at_work.clone();
        self.look_up_spent(signal.as_ref(), now);
        let state = std::mem::take(&mut self.state);
        let (state, effects) = step(self.env(), state, input, now);
        self.state = state;
        match (self.files.store(&effects, now), self.at_work.clone().map(Box::new)) {
            (Ok(()), _) => {
                if let Some(rights) = &self.rights {
                    rights.follow(&self.files.ledger);
                }
                self.perform(effects, told)
            }
            (Err(NotStored::Lost(filed)), Some(signal)) => self.input(Input::Lost { signal, filed }, told),
            (Err(NotStored::Held(filed, by)), Some(signal)) => self.input(Input::Held { signal, filed, by }, told),
            (Err(NotStored::Overtaken), Some(signal)) => {
                self.stale = None;
                self.input(Input::Overtaken(signal), told)
            }
            (Err(_), None) => unreachable!("only a signal's step moves a plan"),
        }
    }

    /// The process ends and another one begins: the thread's memory is gone, and what the store has is told to it.
    pub fn restart(&mut self) {
        self.state = ThreadState::default();
        let open = self.files.rows.values().filter(|row| row.state().is_open()).cloned().collect();
        self.input(Input::Filed(open), &mut Told::default());
    }

    /// Time passes, on both clocks.
    pub fn pass(&mut self, ms: u64) {
        self.clock += ms;
        self.wall += i64::try_from(ms).unwrap_or(i64::MAX);
    }

    fn perform(&mut self, effects: Vec<Effect>, told: &mut Told) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for effect in effects {
            match effect {
                Effect::Call(call) => {
                    calls.push(call.get().clone());
                    told.calls.push(call.get().clone());
                }
                Effect::Post { message, .. } => {
                    let said = plain(message.get());
                    told.said.push_str(&said);
                    if let Visibility::Only(whom) = &message.get().visibility {
                        told.alone.push((whom.to_string(), said));
                    }
                }
                Effect::Think(ask) => told.asks.push(ask.get().clone()),
                Effect::Progress(message) => told.progress.push(plain(message.get())),
                Effect::Redraw { message, .. } => told.cards.push(plain(message.get())),
                Effect::Count(count) => told.counted.push(format!("{}{:?}", count.name, count.labels)),
                Effect::Remember { key, route } => self.exact.remember(key, route),
                Effect::Spend(spend) => {
                    spend.payers.iter().for_each(|payer| self.book.add(payer.clone(), spend.ground, spend.usage));
                    told.effects.push(format!("{spend:?}"));
                }
                Effect::File(_)
                | Effect::Move(_)
                | Effect::Keep(_)
                | Effect::Audit(_)
                | Effect::Wake { .. }
                | Effect::GiveUp { .. }
                | Effect::Finish { .. } => {
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
        self.look_up_spent(Some(&signal), now);
        let state = std::mem::take(&mut self.state);
        let mut turn = Turn::new(self.env(), now, state);
        let mut request = crate::thread::begin_request(&mut turn, signal);
        let results =
            proposals.iter().map(|proposal| crate::thread::judge_for_test(&mut turn, &mut request, proposal)).collect();
        let state = turn.state;
        self.state = state;
        results
    }

    /// What the payers of the request at work have used, as the engine would know it from the store.
    fn look_up_spent(&mut self, signal: Option<&Signal>, now: Now) {
        let day = Day::of(now.wall);
        if self.book.day() != day {
            self.book = Book::new(day);
        }
        self.spent = signal.map(|signal| self.book.spent(&payers(&self.people, &signal.actor, &signal.thread), day));
    }

    /// The world outside, as the thread sees it.
    pub fn env(&self) -> Env<'_> {
        Env {
            registry: &self.registry,
            intents: &self.intents,
            catalogue: self.catalogue.get_or_init(|| Catalogue::new(&self.registry, &self.intents, &Lexical)),
            exact: &self.exact,
            rights: self.rights.as_deref().unwrap_or(&self.people),
            ledger: self.stale.as_ref().unwrap_or(&self.files.ledger),
            similarity: &Lexical,
            limits: &self.limits,
            budgets: &self.budgets,
            spent: self.spent.as_ref(),
            own: &self.own,
            places: &self.places,
            vault: &self.vault,
            mask: &self.mask,
            commands: &self.commands,
            spokes: &[],
            platforms: &[],
            set_aside: 0,
            standing: Standing::Current,
            allowances: &self.allowances,
            minds: &self.minds,
            claims: &self.claims,
            errors: &self.errors,
        }
    }

    /// The time now; every look moves the seed on.
    pub fn now(&mut self) -> Now {
        self.steps += 1;
        Now { wall: Wall(self.wall), mono: Mono(self.clock), seed: u128::from(self.steps) }
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
            Block::Card { choices, .. } => writeln!(text, "{choices:?}"),
            Block::Choices { choices, .. } => choices
                .iter()
                .enumerate()
                .try_for_each(|(at, choice)| writeln!(text, "{}) {} {}", at + 1, choice.label, choice.about)),
            Block::Quote { text: words } => words.lines().try_for_each(|line| writeln!(text, "| {line}")),
            Block::Text { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => {
                writeln!(text, "{}", answer::plain(std::slice::from_ref(block)))
            }
        };
    }
    text
}

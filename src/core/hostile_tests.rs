//! One thread against a hostile world: 20,000 random signals, proposals, answers, picks, deadlines and resets from a
//! seed, and after each the promises of `lib.rs` that can be seen from outside. Single cases are in `step_tests.rs`.

use serde_json::{Map, Value, json};

use crate::effect::{Effect, Input};
use crate::envelope::{Code, Details, Envelope, Meta};
use crate::gate::ToolCall;
use crate::port::{Claim, Outgoing};
use crate::proposal::Proposal;
use crate::secrets::Mask;
use crate::signal::{ActorKind, Addressed, CallId, Payload, QuestionId, Signal, SignalId};
use crate::step::step;
use crate::testkit::{World, plain, resource, signal};
use crate::thread::{OpenWrite, State, TTL_MS, Turn, begin_request, judge_for_test};
use crate::tool::ToolKind;

/// How many inputs are thrown.
const ROUNDS: u64 = 20_000;

/// A configured secret: no rule knows its shape, so that only the mask's own list can catch it.
const PLANTED: &str = "plantedzebra";

/// What is said, claimed and answered: words that lead somewhere, and words that should lead nowhere.
const WORDS: [&str; 40] = [
    "load",
    "status of nginx",
    "status of it",
    "status of ghost",
    "list services",
    "restart nginx",
    "show file /etc/shadow",
    "show file /etc/hosts",
    "run uptime",
    "run rm -rf /",
    "run tail -f /var/log/syslog",
    "what do you know about nginx",
    "@@nginx load",
    "help",
    "status",
    "who am i",
    "why",
    "reset",
    "reset keep",
    "1",
    "2",
    "yes",
    "0",
    "lod",
    "",
    " ",
    "?",
    "status of plantedzebra",
    "what do you know about plantedzebra",
    "password=plantedzebra",
    "show file /srv/plantedzebra",
    "@everyone <@1> @room",
    "\u{1b}[2J\u{202e}\u{0}\u{7}",
    "status of \u{1b}]0;x\u{7}",
    "run plantedzebra \u{200b}",
    "-----BEGIN PRIVATE KEY-----",
    "host:web-1",
    "service:web-1:nginx",
    "service:web-9:plantedzebra",
    "a:b:c:d:\u{202e}",
];

/// Pseudo-random numbers (xorshift64*), so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let at = self.below(of.len() as u64);
        of[usize::try_from(at).expect("invariant: below the length")]
    }

    fn text(&mut self) -> String {
        let word = self.pick(&WORDS);
        match self.below(8) {
            0 => format!("{word} {}", self.pick(&WORDS)),
            1 => word.to_uppercase(),
            2 => word.repeat(usize::try_from(self.below(60)).expect("invariant: small")),
            3 => format!("{word}{PLANTED}\u{9b}31m"),
            _ => word.to_owned(),
        }
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.one_in(2)),
            2 => json!(i64::MIN.wrapping_add(i64::try_from(self.next()).expect("invariant: 53 bits"))),
            3 | 4 => json!(self.text()),
            5 => Value::Array((0..self.below(4)).map(|_| self.value(depth - 1)).collect()),
            _ => Value::Object((0..self.below(4)).map(|_| (self.key(), self.value(depth - 1))).collect()),
        }
    }

    fn key(&mut self) -> String {
        let names = ["query", "path", "line", "url", "text", "load", "name", "state", "id", "resources", "nearest"];
        if self.one_in(6) { self.text() } else { self.pick(&names).to_owned() }
    }

    fn args(&mut self) -> Map<String, Value> {
        (0..self.below(4)).map(|_| (self.key(), self.value(2))).collect()
    }

    fn id(&mut self) -> String {
        match self.below(4) {
            0 => self.text(),
            _ => self.pick(&["host:web-1", "service:web-1:nginx", "service:web-1:postgres", "host:ghost"]).to_owned(),
        }
    }

    fn proposal(&mut self) -> Proposal {
        let calls = [
            ("lab_find", "host"),
            ("lab_find", "service"),
            ("lab_read", "load"),
            ("lab_read", "file"),
            ("lab_read", "run"),
            ("lab_read", "fetch"),
            ("lab_read", "status"),
            ("lab_read", "vaulted"),
            ("lab_control", "restart"),
            ("LAB_CONTROL", "Restart"),
            ("lab_notes", "note"),
            ("lab_read", "restart"),
            ("ghost", "find"),
        ];
        let (tool, action) = self.pick(&calls);
        let target = (!self.one_in(4)).then(|| self.id());
        let args = if self.one_in(2) { Map::new() } else { self.args() };
        Proposal { tool: tool.to_owned(), action: action.to_owned(), target, args, because: self.text() }
    }

    fn envelope(&mut self) -> Envelope {
        match self.below(6) {
            0 => Envelope::failed(self.code(), self.text(), self.one_in(2), Details::default()),
            1 => Envelope::blocked(self.code(), self.text(), Details::default()),
            2 => {
                let found = [resource("service:web-1:nginx", &self.text()), resource("host:web-1", &self.text())];
                Envelope::success(json!({ "resources": found, "nearest": self.value(2) }), self.meta())
            }
            3 => Envelope::success(json!({ "resources": self.value(3) }), self.meta()),
            _ => Envelope::success(self.value(3), self.meta()),
        }
    }

    fn code(&mut self) -> Code {
        self.pick(&[Code::NotFound, Code::Timeout, Code::PolicyBlocked, Code::Forbidden, Code::ExecutionFailed])
    }

    fn meta(&mut self) -> Meta {
        Meta { observed_at: 1, left_out: if self.one_in(3) { self.text() } else { String::new() } }
    }

    fn signal(&mut self, n: u64, question: Option<QuestionId>) -> Signal {
        let mut signal = signal(&format!("s{n}"), self.pick(&["ann", "bob", "eve", ""]), &self.text());
        signal.actor.display = self.text();
        if self.one_in(6) {
            signal.actor.kind = self.pick(&[ActorKind::Bot, ActorKind::Webhook, ActorKind::Bridge, ActorKind::Service]);
        }
        if self.one_in(12) {
            signal.depth = u8::try_from(self.below(256)).expect("invariant: below 256");
        }
        if self.one_in(20) {
            signal.addressed = Addressed::No;
        }
        if self.one_in(8) {
            let question = question.unwrap_or_else(|| QuestionId::new("forged"));
            signal.payload =
                Payload::Choice { question, pick: u32::try_from(self.below(5)).expect("invariant: small") };
        }
        signal
    }
}

/// The world, and what is under way in it.
struct Siege {
    world: World,
    dice: Dice,
    pending: Vec<ToolCall>,
    running: Option<SignalId>,
    finished: u64,
    begun: u64,
    refused: u64,
    cleared: u64,
    progress: u64,
}

impl Siege {
    fn new(seed: u64) -> Self {
        let mut world = World::with_fleet();
        world.mask = Mask::new([PLANTED.to_owned()]);
        let (pending, running) = (Vec::new(), None);
        Self { world, dice: Dice(seed), pending, running, finished: 0, begun: 0, refused: 0, cleared: 0, progress: 0 }
    }

    fn round(&mut self, n: u64) {
        self.world.clock += if self.dice.one_in(5_000) { TTL_MS + 1 } else { self.dice.below(50) };
        if self.dice.one_in(3) {
            return self.propose(n);
        }
        let known = self.known();
        let input = self.next_input(n);
        let discovers = self.answers_a_discovery(&input);
        self.take(input, n);
        assert!(discovers || self.known().iter().all(|id| known.contains(id)), "round {n}: the context grew by itself");
    }

    fn known(&self) -> Vec<String> {
        self.world.state.resolved().iter().map(|resource| resource.id.to_string()).collect()
    }

    fn next_input(&mut self, n: u64) -> Input {
        if self.running.is_none() {
            let question = self.world.state.question.as_ref().map(|question| question.id.clone());
            let signal = Box::new(self.dice.signal(n, question));
            self.running = Some(signal.id.clone());
            self.begun += 1;
            return match self.dice.below(12) {
                0 => Input::Again(signal),
                1 => Input::Interrupted(signal),
                _ => Input::Signal(signal),
            };
        }
        match self.dice.below(10) {
            0 => Input::Deadline(self.running.clone().expect("invariant: looked at above")),
            1 => Input::Deadline(SignalId::new("s0")),
            2 => Input::Answer { call: CallId::new("1.1"), envelope: Box::new(self.dice.envelope()) },
            hostile => {
                let Some(call) = self.pending.pop() else {
                    return Input::Deadline(self.running.clone().expect("invariant: looked at above"));
                };
                if hostile < 6 {
                    return Input::Answer { call: call.id, envelope: Box::new(self.dice.envelope()) };
                }
                self.world.run(&call)
            }
        }
    }

    fn answers_a_discovery(&self, input: &Input) -> bool {
        // The call was taken from `pending` already, so that the thread is asked what it waits for.
        let Input::Answer { call, .. } = input else { return false };
        let waiting = self.world.state.request.as_ref().and_then(|request| request.waiting.get(call));
        waiting.is_some_and(|call| matches!(call.kind, ToolKind::Resolve))
    }

    fn take(&mut self, input: Input, n: u64) {
        let now = self.world.now();
        let state = std::mem::take(&mut self.world.state);
        let (state, effects) = step(self.world.env(), state, input, now);
        self.world.state = state;
        self.check_effects(&effects, n);
        let finished = effects.iter().filter(|effect| matches!(effect, Effect::Finish { .. })).count();
        let busy = self.world.state.is_busy();
        match &self.running {
            Some(_) => assert_eq!(finished, usize::from(!busy), "round {n}: one end, and only one, for each signal"),
            None => assert_eq!(finished, 0, "round {n}: an end of nothing"),
        }
        if finished == 1 {
            let last = effects.last();
            assert!(
                matches!(last, Some(Effect::Finish { signal, .. }) if Some(signal) == self.running.as_ref()),
                "round {n}: the end of something else"
            );
            self.finished += 1;
            self.running = None;
            self.pending.clear();
        }
    }

    /// A proposal by whoever drives the loop, and perhaps in the middle of an unverified write.
    fn propose(&mut self, n: u64) {
        let proposal = self.dice.proposal();
        let signal = self.dice.signal(n, None);
        let verifying = self.dice.one_in(4);
        let now = self.world.now();
        let state = std::mem::take(&mut self.world.state);
        let mut turn = Turn::new(self.world.env(), now, state);
        let before = turn.state.fsm.clone();
        if verifying {
            let target = "service:web-1:nginx".parse().expect("invariant: an id");
            turn.state.fsm.on_open_write_found(OpenWrite { target, call: "lab_control.restart".to_owned() });
        }
        let mut request = begin_request(&mut turn, signal);
        let judged = judge_for_test(&mut turn, &mut request, &proposal);
        assert!(!verifying || turn.state.fsm.state() == State::Verifying, "round {n}: a proposal ended an open write");
        turn.state.fsm = before;
        let effects = std::mem::take(&mut turn.effects);
        self.world.state = turn.state;
        match judged {
            Ok(_) => self.cleared += 1,
            Err(_) => {
                self.refused += 1;
                let counted = effects
                    .iter()
                    .position(|effect| matches!(effect, Effect::Count(count) if count.name == "gate_block_total"));
                let recorded =
                    effects.iter().position(|effect| matches!(effect, Effect::Audit(audit) if audit.what == "refused"));
                assert!(counted.is_some() && recorded.is_some(), "round {n}: a refusal without a count and a row");
            }
        }
        self.check_effects(&effects, n);
    }

    fn check_effects(&mut self, effects: &[Effect], n: u64) {
        let (mut counted, mut recorded) = (false, false);
        for effect in effects {
            match effect {
                Effect::Call(call) => {
                    self.check_call(call.get(), n);
                    self.pending.push(call.get().clone());
                }
                Effect::Post { message, .. } => {
                    let refused = matches!(message.get().mark, crate::port::Mark::Refused);
                    assert!(!refused || (counted && recorded), "round {n}: told before it was recorded");
                    check_message(message.get(), n);
                }
                Effect::Progress(message) => {
                    self.progress += 1;
                    assert_eq!(message.get().claim, Claim::Nothing, "round {n}: progress claims something");
                    check_message(message.get(), n);
                }
                Effect::Redraw { .. } => unreachable!("round {n}: no card was shown, because no plan was filed"),
                Effect::Audit(audit) => {
                    recorded |= audit.what == "refused";
                    let row = [&audit.call, &audit.detail, audit.target.as_ref().unwrap_or(&audit.detail)];
                    assert!(row.iter().all(|text| !text.contains(PLANTED)), "round {n}: {audit:?}");
                }
                Effect::Count(count) => {
                    counted |= count.name == "gate_block_total";
                    let labels = count.labels.iter().map(|(_, value)| value);
                    assert!(labels.clone().all(|value| !value.contains(PLANTED)), "round {n}: {count:?}");
                }
                Effect::Think(_)
                | Effect::File(_)
                | Effect::Move(_)
                | Effect::Spend(_)
                | Effect::Keep(_)
                | Effect::Remember { .. }
                | Effect::Wake { .. }
                | Effect::GiveUp { .. }
                | Effect::Finish { .. } => {}
            }
        }
    }

    fn check_call(&self, call: &ToolCall, n: u64) {
        let declared = self.world.registry.kind(&call.tool, &call.action);
        assert_eq!(call.kind, declared, "round {n}: the kind comes from tool and action");
        assert!(call.kind != ToolKind::Write, "round {n}: a write was cleared: {call:?}");
        if let Some(target) = call.target.as_ref() {
            let known = self.world.state.resolved().peek(target).is_some();
            assert!(known, "round {n}: nobody discovered {call:?}");
        }
    }
}

fn check_message(message: &Outgoing, n: u64) {
    let text = plain(message);
    assert!(!text.contains(PLANTED), "round {n}: shows a secret: {text:?}");
    assert!(!crate::text::mentions_everyone(&text), "round {n}: calls everybody: {text:?}");
    assert_eq!(crate::text::escape(&text), text, "round {n}: something invisible is left");
}

#[test]
fn nothing_that_is_thrown_at_a_thread_breaks_its_promises() {
    let mut siege = Siege::new(0x9e37_79b9_7f4a_7c15);
    for n in 0..ROUNDS {
        siege.round(n);
    }
    assert!(siege.begun - siege.finished <= 1, "every signal but the last ended");
    // The siege reached both sides of the gates, or it has shown nothing.
    let reached = (siege.finished, siege.cleared, siege.refused, siege.progress);
    assert!(reached.0 > 5_000 && reached.1 > 50 && reached.2 > 5_000 && reached.3 > 500, "{reached:?}");
}

#[test]
fn a_note_about_a_written_thing_verifies_nothing() {
    let mut world = World::with_fleet();
    world.say("status of nginx");
    let target = "host:web-1".parse().expect("an id");
    world.state.fsm.on_open_write_found(OpenWrite { target, call: "lab_control.restart".to_owned() });
    let args = json!({ "text": "it is fine" }).as_object().cloned().expect("an object");
    let (tool, action) = ("lab_notes".to_owned(), "note".to_owned());
    let target = Some("host:web-1".to_owned());
    let note = Proposal { tool, action, target, args, because: "to note it".to_owned() };
    let cleared = world.propose(&note).ok().flatten();
    if let Some(call) = &cleared {
        world.state.fsm.on_tool_success(call.kind, call.target.as_ref());
    }
    let fsm = world.state.fsm();
    assert!(
        fsm.state() == State::Verifying && fsm.open_write().is_some(),
        "only a look verifies: {fsm:?}, {cleared:?}"
    );
}

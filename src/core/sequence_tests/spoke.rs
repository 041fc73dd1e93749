//! The tool server: services with a state and a counter of their runs, and the writes that it was given. It acts on a
//! permit as the built-in servers do: begun before the permit is over by the clock on the wall, and ended within the
//! action's own limit by a stopwatch; also when the bot that asked for it is gone. It judges nothing else.

use serde_json::{Value, json};

use super::dice::Dice;
use crate::envelope::{Code, Details, Envelope, Meta};
use crate::gate::ToolCall;
use crate::resource::{Resource, ResourceId};

/// What a call comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Done and answered.
    Well,
    /// Done, and the answer is lost.
    Mute,
    /// Refused by the server's own last check.
    Refuse,
    /// It goes wrong, before or after it took effect; the server knows that it is over.
    Fail,
    /// No answer comes, and it may be done later.
    Silent,
    /// It is begun and takes its time.
    Begin,
}

/// One service.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) state: &'static str,
    pub(super) run: u64,
    pub(super) present: bool,
}

/// Whether the wall clock was set forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leapt {
    No,
    Forward,
    /// And then a new process began: to it the write is over, and where the clock is set back within the permit's few
    /// seconds, it is not.
    Misled,
}

/// A call under way.
#[derive(Debug)]
pub(super) struct Flight {
    /// Which thread made it.
    pub(super) seat: usize,
    pub(super) call: ToolCall,
    /// When it was sent, by the stopwatch, and how long its permit was good then: both clocks bind a permit.
    pub(super) sent: u64,
    pub(super) good_for: i64,
    /// When it was begun, by the stopwatch.
    pub(super) begun: Option<u64>,
    /// Whether the wall clock was set forward since then.
    pub(super) jumped: bool,
    /// Whether the wall clock was set forward since it was sent.
    pub(super) leapt: Leapt,
    /// Whether a bot still waits for its answer.
    pub(super) awaited: bool,
}

impl Flight {
    pub(super) fn is_write(&self) -> bool {
        self.call.warrant.is_some()
    }

    /// Whether it may go on now: begun in time, or not begun and still permitted.
    pub(super) fn may_act(&self, mono: u64, wall: i64) -> bool {
        match self.begun {
            Some(at) => mono - at <= self.call.limit_ms,
            None => {
                let aged = i64::try_from(mono - self.sent).expect("invariant: minutes");
                aged < self.good_for && self.call.warrant.as_ref().is_some_and(|warrant| wall < warrant.until.0)
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Spoke {
    pub(super) services: [Service; 2],
    pub(super) flights: Vec<Flight>,
}

impl Spoke {
    pub(super) fn new() -> Self {
        let service = |name| Service { name, state: "running", run: 1, present: true };
        Self { services: [service("nginx"), service("postgres")], flights: Vec::new() }
    }

    /// The write takes effect, for better or worse.
    pub(super) fn restart(&mut self, target: Option<&ResourceId>, dice: &mut Dice) {
        let Some(service) = target.and_then(|target| self.services.iter_mut().find(|s| s.name == target.uid())) else {
            return;
        };
        service.run += 1;
        match dice.below(16) {
            0 => service.present = false,
            1 | 2 => service.state = "stopped",
            _ => service.state = "running",
        }
    }

    /// What a read or a discovery says now.
    pub(super) fn answer(&self, call: &ToolCall, known: &[Resource]) -> Envelope {
        let data = match (call.tool.as_str(), call.action.as_str()) {
            ("lab_find", kind) => self.found(call, kind, known),
            ("lab_read", "status") => self.status(call.target.as_ref()),
            _ => json!({ "load": "0.5" }),
        };
        Envelope::success(data, Meta { observed_at: 1, left_out: String::new() })
    }

    fn found(&self, call: &ToolCall, kind: &str, known: &[Resource]) -> Value {
        let query = call.args.get("query").and_then(Value::as_str);
        let fits = |resource: &&Resource| {
            resource.id.kind() == kind && query.is_none_or(|q| resource.name == q || resource.id.as_str() == q)
        };
        let mut found: Vec<Resource> = known.iter().filter(fits).cloned().collect();
        for service in &self.services {
            found.retain(|resource| service.present || resource.name != service.name);
            for resource in found.iter_mut().filter(|resource| resource.name == service.name) {
                resource.attrs.insert("run".to_owned(), service.run.to_string());
            }
        }
        json!({ "resources": found })
    }

    fn status(&self, target: Option<&ResourceId>) -> Value {
        match target.and_then(|target| self.services.iter().find(|s| s.name == target.uid() && s.present)) {
            Some(service) => {
                let run = service.run.to_string();
                json!({ "name": service.name, "present": true, "state": service.state, "run": run })
            }
            None => json!({ "present": false }),
        }
    }
}

/// The write was done.
pub(super) fn done() -> Envelope {
    Envelope::success(json!({ "done": true }), Meta { observed_at: 1, left_out: String::new() })
}

/// Nobody knows.
pub(super) fn no_answer(is_write: bool) -> Envelope {
    let details = Details { outcome_unknown: is_write, ..Details::default() };
    Envelope::failed(Code::Timeout, "no answer in time", false, details)
}

/// Refused, and nothing was done.
pub(super) fn refused(why: &str) -> Envelope {
    Envelope::blocked(Code::PolicyBlocked, why, Details::default())
}

/// It could not even be begun.
pub(super) fn not_begun() -> Envelope {
    Envelope::blocked(Code::ExecutionFailed, "the permit has expired", Details::default())
}

/// It went wrong, and it is over.
pub(super) fn failed() -> Envelope {
    Envelope::failed(Code::ExecutionFailed, "exit status 1", false, Details::default())
}

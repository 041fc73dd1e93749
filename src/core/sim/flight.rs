//! A call under way in a simulation, and what may come back of it. A write is bound by its permit as the built-in tool
//! servers are: begun before the permit is over by the clock on the wall, and ended within the action's own limit by a
//! stopwatch; also when the bot that asked for it is gone. What a call does is not here.

use serde_json::json;

use crate::envelope::{Code, Details, Envelope, Meta};
use crate::gate::ToolCall;

/// What a call comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
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

/// Whether the wall clock was set forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leapt {
    No,
    Forward,
    /// And then a new process began: to it the write is over, and where the clock is set back within the permit's few
    /// seconds, it is not.
    Misled,
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct Flight {
    /// Which thread made it.
    pub(crate) seat: usize,
    pub(crate) call: ToolCall,
    /// When it was sent, by the stopwatch, and how long its permit was good then: both clocks bind a permit.
    pub(crate) sent: u64,
    pub(crate) good_for: i64,
    /// When it was begun, by the stopwatch.
    pub(crate) begun: Option<u64>,
    /// Whether the wall clock was set forward since then.
    pub(crate) jumped: bool,
    /// Whether the wall clock was set forward since it was sent.
    pub(crate) leapt: Leapt,
    /// Whether a bot still waits for its answer.
    pub(crate) awaited: bool,
}

impl Flight {
    pub(crate) fn is_write(&self) -> bool {
        self.call.warrant.is_some()
    }

    /// Whether it may go on now: begun in time, or not begun and still permitted.
    pub(crate) fn may_act(&self, mono: u64, wall: i64) -> bool {
        match self.begun {
            Some(at) => mono - at <= self.call.limit_ms,
            None => {
                let aged = i64::try_from(mono - self.sent).expect("invariant: minutes");
                aged < self.good_for && self.call.warrant.as_ref().is_some_and(|warrant| wall < warrant.until.0)
            }
        }
    }
}

/// The write was done.
pub(crate) fn done() -> Envelope {
    Envelope::success(json!({ "done": true }), Meta { observed_at: 1, left_out: String::new() })
}

/// Nobody knows.
pub(crate) fn no_answer(is_write: bool) -> Envelope {
    let details = Details { outcome_unknown: is_write, ..Details::default() };
    Envelope::failed(Code::Timeout, "no answer in time", false, details)
}

/// Refused, and nothing was done.
pub(crate) fn refused(why: &str) -> Envelope {
    Envelope::blocked(Code::PolicyBlocked, why, Details::default())
}

/// It could not even be begun.
pub(crate) fn not_begun() -> Envelope {
    Envelope::blocked(Code::ExecutionFailed, "the permit has expired", Details::default())
}

/// It went wrong, and it is over.
pub(crate) fn failed() -> Envelope {
    Envelope::failed(Code::ExecutionFailed, "exit status 1", false, Details::default())
}

//! The workflow of one thread: RESOLVING, READING, WRITING, VERIFYING. It says what kind of call may run now and whether
//! a final answer may be given; whether a *target* is right is the gate `resolution`'s business (C-04). Checking never
//! changes anything, so that a hundred refused attempts leave the machine where it was (invariant 5).

use serde::{Deserialize, Serialize};

use crate::envelope::{Code, Recovery};
use crate::resource::ResourceId;
use crate::signal::{Mono, Now};
use crate::tool::ToolKind;

/// How many refusals are remembered as waiting for a recovery; the oldest make room.
const RECOVERIES_MAX: usize = 16;

/// Where a thread stands (FSM-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Nothing is known yet. Every thread starts here, also after a restart (RES-20).
    #[default]
    Resolving,
    /// Something is known; reads are free, a write may be proposed.
    Reading,
    /// An approved write executes (C-07).
    Writing,
    /// A write happened, or may have, and no fresh read of its target has succeeded since.
    Verifying,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Resolving, Self::Reading, Self::Writing, Self::Verifying];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolving => "RESOLVING",
            Self::Reading => "READING",
            Self::Writing => "WRITING",
            Self::Verifying => "VERIFYING",
        }
    }
}

/// What can happen to the workflow. Failed calls are not in the list: only success moves the state (FSM-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A discovery succeeded; `of_written` where it was a single-resource get of the written target (C-15).
    Resolved {
        /// Whether it looked at the written target, and at nothing else.
        of_written: bool,
    },
    /// A read succeeded; `of_written` where it looked at the written target.
    Read {
        /// Whether it looked at the written target.
        of_written: bool,
    },
    /// The bot kept a record of its own.
    Recorded,
    /// An approved write begins.
    WriteStarted,
    /// It succeeded.
    WriteSucceeded,
    /// It certainly did not happen.
    WriteFailed,
    /// Nobody knows.
    WriteUnknown,
    /// A restart found a write of this thread that was never verified.
    OpenWriteFound,
    /// Everything is forgotten. Only the joint reset says so (RES-17).
    Reset,
    /// Everything but the pinned things is forgotten, and something was pinned.
    ResetKeepProgress,
}

impl Event {
    /// Every event, for the table.
    pub const ALL: [Self; 12] = [
        Self::Resolved { of_written: false },
        Self::Resolved { of_written: true },
        Self::Read { of_written: false },
        Self::Read { of_written: true },
        Self::Recorded,
        Self::WriteStarted,
        Self::WriteSucceeded,
        Self::WriteFailed,
        Self::WriteUnknown,
        Self::OpenWriteFound,
        Self::Reset,
        Self::ResetKeepProgress,
    ];
}

/// The whole table. Total: what makes no sense in a state leaves it as it is, and nothing but a verifying read (or a
/// write that certainly did not happen) leads out of WRITING and VERIFYING.
pub const fn next(state: State, event: Event) -> State {
    use Event::{
        OpenWriteFound, Read, Recorded, Reset, ResetKeepProgress, Resolved, WriteFailed, WriteStarted, WriteSucceeded,
        WriteUnknown,
    };
    use State::{Reading, Resolving, Verifying, Writing};
    match (state, event) {
        // A write found open after a restart must be verified, whatever was going on.
        (_, OpenWriteFound) => Verifying,
        (Resolving | Reading, Resolved { .. } | Read { .. }) => Reading,
        (Verifying, Resolved { of_written: true } | Read { of_written: true }) => Reading,
        (Reading, WriteStarted) => Writing,
        (Writing, WriteSucceeded | WriteUnknown) => Verifying,
        (Writing, WriteFailed) => Reading,
        (Resolving | Reading, Reset) => Resolving,
        (Resolving | Reading, ResetKeepProgress) => Reading,
        (Resolving | Reading, Recorded | WriteSucceeded | WriteFailed | WriteUnknown)
        | (Resolving, WriteStarted)
        | (Writing, Resolved { .. } | Read { .. } | Recorded | WriteStarted | Reset | ResetKeepProgress)
        | (
            Verifying,
            Resolved { of_written: false }
            | Read { of_written: false }
            | Recorded
            | WriteStarted
            | WriteSucceeded
            | WriteFailed
            | WriteUnknown
            | Reset
            | ResetKeepProgress,
        ) => state,
    }
}

/// Whether a call of this kind may run in this state (FSM-03, C-07). Reads always may (invariant 6).
pub const fn may_execute(state: State, kind: ToolKind) -> bool {
    match (state, kind) {
        (_, ToolKind::Resolve | ToolKind::Read | ToolKind::Record) | (State::Reading, ToolKind::Write) => true,
        (State::Resolving | State::Writing | State::Verifying, ToolKind::Write) => false,
    }
}

/// The write that waits for its verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWrite {
    /// `tool.action`.
    pub call: String,
    /// What was written. Only a read of this same target verifies (C-15).
    pub target: ResourceId,
}

/// A refusal that the proposer can recover from by itself (FSM-25).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRecovery {
    /// Its id: in the log, in the audit and in `why`.
    pub id: String,
    /// Why it was refused.
    pub code: Code,
    /// Which tool.
    pub tool: String,
    /// When it was first refused.
    pub since: Mono,
    /// How often.
    pub attempts: u32,
}

/// The workflow of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fsm {
    state: State,
    open_write: Option<OpenWrite>,
    recoveries: Vec<PendingRecovery>,
    /// How many recoveries were tracked: no two of a thread have one id.
    tracked: u32,
}

impl Fsm {
    /// Where it stands.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The write that waits for its verification, if one does.
    pub const fn open_write(&self) -> Option<&OpenWrite> {
        self.open_write.as_ref()
    }

    /// Whether a call of this kind may run now.
    pub const fn can_execute(&self, kind: ToolKind) -> bool {
        may_execute(self.state, kind)
    }

    /// Whether a final answer may be given now: never while a write is in flight or unverified (invariant 3).
    pub const fn can_final_answer(&self) -> bool {
        matches!(self.state, State::Resolving | State::Reading)
    }

    /// A call succeeded. A read, or a get of one single thing, of the written target completes the verification, at
    /// once and inside the loop (FSM-06, FM-2). `target` is what the call looked at, and for a discovery the one thing
    /// that it found. A cached answer is no success and must never come here (C-08).
    pub fn on_tool_success(&mut self, kind: ToolKind, target: Option<&ResourceId>) {
        let of_written = self.open_write.as_ref().is_some_and(|write| target == Some(&write.target));
        #[cfg(test)]
        let of_written = of_written || crate::step::broken::is(crate::step::broken::Break::AnyRead);
        let event = match kind {
            ToolKind::Resolve => Event::Resolved { of_written },
            ToolKind::Read => Event::Read { of_written },
            ToolKind::Record => Event::Recorded,
            ToolKind::Write => Event::WriteSucceeded,
        };
        let looked = matches!(kind, ToolKind::Resolve | ToolKind::Read);
        let verified = self.state == State::Verifying && of_written && looked;
        self.state = next(self.state, event);
        if verified {
            self.complete_verification();
        }
    }

    /// An approved write begins. False, and nothing changes, where none may begin now.
    pub fn on_write_started(&mut self, write: OpenWrite) -> bool {
        if !self.can_execute(ToolKind::Write) {
            return false;
        }
        self.state = next(self.state, Event::WriteStarted);
        self.open_write = Some(write);
        true
    }

    /// The write that began certainly did not happen.
    pub fn on_write_failed(&mut self) {
        if self.state == State::Writing {
            self.open_write = None;
        }
        self.state = next(self.state, Event::WriteFailed);
    }

    /// Nobody knows what became of the write that began.
    pub const fn on_write_unknown(&mut self) {
        self.state = next(self.state, Event::WriteUnknown);
    }

    /// A restart found this write unverified.
    pub fn on_open_write_found(&mut self, write: OpenWrite) {
        self.state = next(self.state, Event::OpenWriteFound);
        self.open_write = Some(write);
    }

    /// What the store says is open, where it and the thread may differ: after a step that was not stored.
    pub fn agree_with_store(&mut self, open: Option<OpenWrite>) {
        match (open, self.state) {
            (Some(open), _) => self.on_open_write_found(open),
            (None, State::Writing | State::Verifying) => {
                self.state = State::Reading;
                self.open_write = None;
            }
            (None, State::Resolving | State::Reading) => {}
        }
    }

    /// Everything is forgotten, but an open write.
    pub const fn reset(&mut self) {
        self.state = next(self.state, Event::Reset);
    }

    /// Everything but the pinned things is forgotten, and an open write is not.
    pub const fn reset_keep_progress(&mut self) {
        self.state = next(self.state, Event::ResetKeepProgress);
    }

    /// Remembers a refusal that the proposer can recover from by itself, and returns its recovery: the same one for as long as it
    /// is refused for the same reason. Others are not tracked, and neither is a missing approval, which people give.
    pub fn track_recovery(&mut self, code: Code, tool: &str, now: Now) -> Option<&PendingRecovery> {
        if code.recovery() != Recovery::Automatic || code == Code::ApprovalRequired {
            return None;
        }
        if let Some(at) = self.recoveries.iter().position(|p| p.code == code && p.tool == tool) {
            let pending = self.recoveries.get_mut(at)?;
            pending.attempts = pending.attempts.saturating_add(1);
            return Some(pending);
        }
        if self.recoveries.len() == RECOVERIES_MAX {
            self.recoveries.remove(0);
        }
        self.tracked = self.tracked.wrapping_add(1);
        let id = format!("{:08x}", (now.seed.wrapping_add(u128::from(self.tracked))) & u128::from(u32::MAX));
        self.recoveries.push(PendingRecovery { id, code, tool: tool.to_owned(), since: now.mono, attempts: 1 });
        self.recoveries.last()
    }

    /// A call of this tool succeeded: takes out and returns what it recovers from (FSM-26).
    pub fn check_recovery(&mut self, tool: &str) -> Vec<PendingRecovery> {
        let (done, open) = std::mem::take(&mut self.recoveries).into_iter().partition(|p| p.tool == tool);
        self.recoveries = open;
        done
    }

    /// Cleared whole, so that a later cycle starts from nothing (FSM-22, FM-4).
    fn complete_verification(&mut self) {
        self.open_write = None;
    }
}

#[cfg(test)]
#[path = "fsm_tests.rs"]
mod tests;

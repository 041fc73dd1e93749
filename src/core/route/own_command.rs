//! The commands that the bot answers by itself, and which of them decide something.

use serde::Deserialize;

/// What the bot can answer from its own state, with no tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCommand {
    /// The first lines that a person reads.
    Start,
    /// The topics, one topic or all intents.
    Help,
    /// How it and its tool servers do, and where this thread stands.
    Status,
    /// Who you are to it.
    Who,
    /// Who may do something.
    WhoCan,
    /// What each role may do, and who has it.
    Roles,
    /// Make another account one's own, or somebody's.
    Link,
    /// Take an account away from a person.
    Unlink,
    /// How much one may ask for, and how much of it is left.
    Limits,
    /// Which gates the last action passed, and which stopped it.
    Why,
    /// What the calls of the last answer came back with.
    Sources,
    /// What it knows about something that was named.
    About,
    /// Forget everything.
    Reset,
    /// Forget everything but what is pinned.
    ResetKeep,
    /// Which plans are open.
    Approvals,
    /// Keep a thing known in this thread.
    Pin,
    /// Take that back.
    Unpin,
    /// The changes of this thread, and how they ended.
    History,
    /// Who approved the last change.
    WhoApproved,
    /// The last reading once more.
    Again,
    /// More of the last reading.
    More,
    /// A plan as it is approved, whole.
    Details,
    /// Countersign a plan.
    Approve,
    /// Say no to a plan.
    Deny,
    /// Take a plan back.
    Cancel,
    /// Look again at what was changed and is not verified.
    Verify,
    /// End what is worked on in this thread.
    Stop,
    /// What was used of the day's budgets, and what is left.
    Budget,
    /// Allow beforehand what a plan does.
    Grant,
    /// What is allowed beforehand.
    Grants,
    /// Take back what was allowed.
    Revoke,
}

impl OwnCommand {
    /// Returns true if it decides, forgets and keeps nothing.
    pub(super) const fn only_shows(self) -> bool {
        !self.decides() && !matches!(self, Self::Reset | Self::ResetKeep | Self::Pin | Self::Unpin)
    }

    /// Whether it settles who may do what: it is typed in its own words, never remembered, and never run by a yes to a
    /// guess.
    pub(super) const fn decides(self) -> bool {
        match self {
            Self::Approve
            | Self::Deny
            | Self::Cancel
            | Self::Stop
            | Self::Link
            | Self::Unlink
            | Self::Grant
            | Self::Revoke => true,
            Self::Start
            | Self::Help
            | Self::Status
            | Self::Who
            | Self::WhoCan
            | Self::Roles
            | Self::Why
            | Self::Sources
            | Self::About
            | Self::Reset
            | Self::ResetKeep
            | Self::Approvals
            | Self::Details
            | Self::Pin
            | Self::Unpin
            | Self::History
            | Self::WhoApproved
            | Self::Again
            | Self::More
            | Self::Verify
            | Self::Grants
            | Self::Budget
            | Self::Limits => false,
        }
    }
}

//! For tests only: breaks exactly one thing in the code under test, for as long as a closure runs and on its thread
//! alone, so that a test can show that it would notice. What each break stands for is said here; which invariant it
//! should be caught by is said in `bite_tests.rs`. No build that ships has this file.

use std::cell::Cell;

use crate::approval::{Allowed, Outcome};
use crate::envelope::Code;
use crate::gate::{Refusal, Verdict};
use crate::tool::ToolKind;

/// How many refusals it takes until [`Break::WearsDown`] gives in.
const PATIENCE: u32 = 20;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// This gate of the stack passes everything.
    Open(&'static str),
    /// This gate of the stack refuses everything.
    Shut(&'static str),
    /// Every gate gives in after enough refusals.
    WearsDown,
    /// Anybody may decide anything.
    Judge,
    /// A plan never expires.
    Expiry,
    /// What drifted is carried out all the same.
    Drift,
    /// The store moves a row from whatever version it has.
    CompareAndSet,
    /// The store lets two changes of one target be under way.
    OneHolder,
    /// An unknown outcome is looked at although the write can still happen.
    EarlyLook,
    /// A verification finds what was expected, whatever it reads.
    Verify,
    /// A reading of anything verifies a write.
    AnyRead,
    /// A reset forgets a write that is not verified.
    Reset,
    /// Refusals are not recorded.
    Record,
    /// What is unknown is a read.
    UnknownIsRead,
    /// Everybody may be told of everything.
    Sight,
    /// A discovery tells of everything that it found.
    Discovery,
    /// Nothing is routed without a model.
    Routes,
}

thread_local! {
    static NOW: Cell<Option<Break>> = const { Cell::new(None) };
    static REFUSED: Cell<u32> = const { Cell::new(0) };
}

/// Mends on the way out, also where a test panics.
struct Mend;

impl Drop for Mend {
    fn drop(&mut self) {
        NOW.set(None);
    }
}

/// Runs something with one thing broken.
pub(crate) fn with<T>(what: Break, run: impl FnOnce() -> T) -> T {
    let _mend = Mend;
    REFUSED.set(0);
    NOW.set(Some(what));
    run()
}

/// Whether this is broken now.
pub(crate) fn is(what: Break) -> bool {
    NOW.get() == Some(what)
}

/// What a gate says, if it is not broken.
pub(crate) fn gate(name: &'static str, verdict: Verdict) -> Verdict {
    let refuses = matches!(verdict, Verdict::Refuse(_));
    if is(Break::Shut(name)) {
        return Verdict::refuse(Code::PolicyBlocked, "broken: refuses everything");
    }
    if is(Break::WearsDown) && refuses {
        REFUSED.set(REFUSED.get().saturating_add(1));
    }
    let worn = is(Break::WearsDown) && REFUSED.get() > PATIENCE;
    if refuses && (worn || is(Break::Open(name))) { Verdict::Pass } else { verdict }
}

/// What the judge of decisions says, if it is not broken.
pub(crate) fn judged(allowed: Result<Allowed, Box<Refusal>>) -> Result<Allowed, Box<Refusal>> {
    if is(Break::Judge) { Ok(Allowed::default()) } else { allowed }
}

/// What a verification found, if it is not broken.
pub(crate) fn found(outcome: Outcome) -> Outcome {
    if is(Break::Verify) { Outcome::AsExpected } else { outcome }
}

/// What an unknown call is, if that is not broken.
pub(crate) fn unknown(kind: ToolKind) -> ToolKind {
    if is(Break::UnknownIsRead) { ToolKind::Read } else { kind }
}

//! The interactions that Discord waits to be answered, each within three seconds: from what came of it where that is quick
//! enough, and before that is known by a sign that says nothing. In memory only: one that is forgotten ends by itself.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::signal::SignalId;
use tokio::time::Instant;

use crate::translate::Call;

/// The most interactions that are remembered, and the most signals whose answer came before it was known what they are.
const OPEN_MAX: usize = 1024;

/// How long an interaction can be answered: Discord says 15 minutes.
const FRESH: Duration = Duration::from_secs(14 * 60 + 30);

/// What Discord was told of an interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing yet.
    Waiting,
    /// Somebody is telling it right now.
    Busy,
    /// That an answer comes.
    Deferred,
    /// An answer.
    Answered,
}

/// The interactions that are not over yet.
#[derive(Default)]
pub(crate) struct Calls(Mutex<Known>);

#[derive(Default)]
struct Known {
    open: VecDeque<Open>,
    /// Signals that were answered before it was known which interaction they are.
    early: VecDeque<SignalId>,
}

struct Open {
    call: Call,
    signal: Option<SignalId>,
    stage: Stage,
    born: Instant,
}

impl Calls {
    /// It is heard. False where it was heard before.
    pub(crate) fn opened(&self, call: &Call) -> bool {
        let mut known = self.lock();
        let is_new = known.open.iter().all(|open| open.call.id != call.id);
        if is_new {
            let open = Open { call: call.clone(), signal: None, stage: Stage::Waiting, born: Instant::now() };
            push(&mut known.open, open);
        }
        is_new
    }

    /// It was accepted as this signal. Where that is answered already it is over, and what is left to tell is returned.
    pub(crate) fn accepted(&self, id: u64, signal: &SignalId) -> Option<(Call, Stage)> {
        let mut known = self.lock();
        if let Some(at) = known.early.iter().position(|early| early == signal) {
            known.early.remove(at);
            return close(&mut known, |open| open.call.id == id);
        }
        if let Some(open) = known.open.iter_mut().find(|open| open.call.id == id) {
            open.signal = Some(signal.clone());
        }
        None
    }

    /// Everything that answers this signal has left: its interaction, where it is one, is over.
    pub(crate) fn answered(&self, signal: &SignalId) -> Option<(Call, Stage)> {
        let mut known = self.lock();
        let closed = close(&mut known, |open| open.signal.as_ref() == Some(signal));
        if closed.is_none() && known.open.iter().any(|open| open.signal.is_none()) {
            push(&mut known.early, signal.clone());
        }
        closed
    }

    /// It is over.
    pub(crate) fn close(&self, id: u64) -> Option<(Call, Stage)> {
        close(&mut self.lock(), |open| open.call.id == id)
    }

    /// It is over where it was accepted as no signal, so that nothing will ever come of it. None for any other.
    pub(crate) fn close_unclaimed(&self, id: u64) -> Option<(Call, Stage)> {
        close(&mut self.lock(), |open| open.call.id == id && open.signal.is_none())
    }

    /// The interaction; none where it is too old or over.
    pub(crate) fn find(&self, id: u64) -> Option<Call> {
        let known = self.lock();
        let open = known.open.iter().find(|open| open.call.id == id && open.born.elapsed() < FRESH)?;
        Some(open.call.clone())
    }

    /// Takes it to tell Discord something, and what was told before. Where that is `Busy`, somebody else has it, who says
    /// by [`Self::told`] when they are ready; then so does whoever took it. None where it is over.
    pub(crate) fn take(&self, id: u64) -> Option<Stage> {
        let mut known = self.lock();
        let open = known.open.iter_mut().find(|open| open.call.id == id)?;
        Some(std::mem::replace(&mut open.stage, Stage::Busy))
    }

    /// The same, where nothing was told yet.
    pub(crate) fn take_waiting(&self, id: u64) -> Option<Call> {
        let mut known = self.lock();
        let open = known.open.iter_mut().find(|open| open.call.id == id && open.stage == Stage::Waiting)?;
        open.stage = Stage::Busy;
        Some(open.call.clone())
    }

    /// What Discord was told by now.
    pub(crate) fn told(&self, id: u64, stage: Stage) {
        if let Some(open) = self.lock().open.iter_mut().find(|open| open.call.id == id) {
            open.stage = stage;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn close(known: &mut Known, is: impl Fn(&Open) -> bool) -> Option<(Call, Stage)> {
    let at = known.open.iter().position(is)?;
    known.open.remove(at).map(|open| (open.call, open.stage))
}

/// Puts it at the end; the oldest gives way.
fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() >= OPEN_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::Waits;

    fn call(id: u64) -> Call {
        Call { id, application: 1, token: "t".to_owned(), waits: Waits::Press }
    }

    #[tokio::test]
    async fn one_is_over_once_whoever_comes_first() {
        let (calls, signal) = (Calls::default(), SignalId::new("s"));
        assert!(calls.opened(&call(1)) && !calls.opened(&call(1)));
        assert_eq!(calls.accepted(1, &signal), None);
        assert_eq!(calls.answered(&signal), Some((call(1), Stage::Waiting)));
        assert_eq!((calls.answered(&signal), calls.close(1)), (None, None));
    }

    #[tokio::test]
    async fn an_answer_that_overtakes_the_acceptance_ends_it_all_the_same() {
        let (calls, signal) = (Calls::default(), SignalId::new("s"));
        calls.opened(&call(1));
        assert_eq!(calls.answered(&signal), None);
        assert_eq!(calls.accepted(1, &signal), Some((call(1), Stage::Waiting)));
        assert_eq!(calls.close(1), None);
    }

    #[tokio::test]
    async fn only_one_tells_discord_something_at_a_time() {
        let calls = Calls::default();
        calls.opened(&call(1));
        assert_eq!(calls.take_waiting(1), Some(call(1)));
        assert_eq!((calls.take_waiting(1), calls.take(1)), (None, Some(Stage::Busy)));
        calls.told(1, Stage::Deferred);
        assert_eq!((calls.take(1), calls.take(1)), (Some(Stage::Deferred), Some(Stage::Busy)));
        assert!(calls.close_unclaimed(1).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_too_old_is_not_used_any_more() {
        let calls = Calls::default();
        calls.opened(&call(1));
        assert_eq!(calls.find(1), Some(call(1)));
        tokio::time::advance(FRESH).await;
        assert_eq!(calls.find(1), None);
        assert!((2..=OPEN_MAX as u64 + 1).all(|id| calls.opened(&call(id))));
        assert_eq!(calls.close(1), None, "and only so many are remembered");
    }
}

//! Which accepted line the console waits for. It knows ids and nothing of input or output.

use std::sync::Mutex;

use countersign_core::signal::SignalId;
use tokio::sync::Notify;

use crate::lock;

/// At most one line is waited for: the next is not taken before it is answered.
#[derive(Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    /// A line is with the engine, and its id is not known yet; the engine may be faster than its own answer to us.
    Offered { early: Vec<SignalId> },
    /// Accepted, not yet answered.
    Open(SignalId),
}

impl Waiting {
    /// A line is about to be offered.
    pub(crate) fn offered(&self) {
        *lock(&self.state) = State::Offered { early: Vec::new() };
    }

    /// It was taken under this id.
    pub(crate) fn accepted(&self, id: &SignalId) {
        let mut state = lock(&self.state);
        let early = matches!(&*state, State::Offered { early } if early.contains(id));
        *state = if early { State::Idle } else { State::Open(id.clone()) };
    }

    /// It was not taken, or is no longer waited for.
    pub(crate) fn forget(&self) {
        *lock(&self.state) = State::Idle;
        self.changed.notify_one();
    }

    /// The engine is done with a signal, ours or another.
    pub(crate) fn answered(&self, id: &SignalId) {
        let mut state = lock(&self.state);
        match &mut *state {
            State::Offered { early } => early.push(id.clone()),
            State::Open(open) if open == id => *state = State::Idle,
            State::Idle | State::Open(_) => return,
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Whether this is the signal that is waited for.
    pub(crate) fn is_for(&self, id: &SignalId) -> bool {
        matches!(&*lock(&self.state), State::Open(open) if open == id)
    }

    /// Resolves when nothing is waited for.
    pub(crate) async fn until_answered(&self) {
        while matches!(*lock(&self.state), State::Open(_)) {
            // One task waits here and a permit is kept for it, so that no answer slips between the look and the wait.
            self.changed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn id(text: &str) -> SignalId {
        SignalId::new(text)
    }

    #[test]
    fn only_its_own_answer_ends_a_wait() {
        let waiting = Waiting::default();
        waiting.offered();
        waiting.accepted(&id("a"));
        waiting.answered(&id("b"));
        assert_eq!(waiting.until_answered().now_or_never(), None);
        assert!(waiting.is_for(&id("a")) && !waiting.is_for(&id("b")));
        waiting.answered(&id("a"));
        assert!(!waiting.is_for(&id("a")));
        assert_eq!(waiting.until_answered().now_or_never(), Some(()));
    }

    #[test]
    fn an_answer_that_overtakes_the_acceptance_is_not_missed() {
        let waiting = Waiting::default();
        waiting.offered();
        waiting.answered(&id("a"));
        waiting.accepted(&id("a"));
        assert_eq!(waiting.until_answered().now_or_never(), Some(()));
    }
}

//! What is still owed to each signal: how many of its messages are not out, and whether its request has ended. Pure.

use std::collections::BTreeMap;

use countersign_core::signal::SignalId;

/// By signal; those of which nothing is known are not in it.
#[derive(Debug, Default)]
pub(super) struct Owed(BTreeMap<SignalId, Open>);

#[derive(Debug, Default)]
struct Open {
    posts: usize,
    ended: bool,
}

impl Owed {
    /// One more message is to be sent.
    pub(super) fn one_more(&mut self, signal: &SignalId) {
        let open = self.0.entry(signal.clone()).or_default();
        open.posts = open.posts.saturating_add(1);
    }

    /// One message is out, or never will be. True: the signal is answered, and that was not said before.
    pub(super) fn one_less(&mut self, signal: &SignalId) -> bool {
        let Some(open) = self.0.get_mut(signal) else { return false };
        open.posts = open.posts.saturating_sub(1);
        if open.posts > 0 {
            return false;
        }
        let ended = open.ended;
        self.0.remove(signal);
        ended
    }

    /// Its request has ended. True: the signal is answered, because nothing of it is owed.
    pub(super) fn ended(&mut self, signal: &SignalId) -> bool {
        let Some(open) = self.0.get_mut(signal) else { return true };
        open.ended = true;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_answered_once_after_its_end_and_its_last_message() {
        let (a, b) = (SignalId::new("a"), SignalId::new("b"));
        let mut owed = Owed::default();
        assert!(owed.ended(&a), "it has nothing to say");
        owed.one_more(&a);
        assert!(!owed.one_less(&a), "its request goes on");
        owed.one_more(&a);
        owed.one_more(&a);
        owed.one_more(&b);
        assert!(!owed.ended(&a));
        assert!(!owed.one_less(&a));
        assert!(owed.one_less(&a));
        assert!(!owed.one_less(&a), "that was said");
        assert!(!owed.one_less(&b));
        assert!(owed.ended(&b));
    }
}

//! Whose turn it is, where more wait than can be served at a time: all threads are served equally often, and one that asked
//! for little lately goes before those that asked for much. By age alone a flood would go first, since all of it is older
//! than the one message that came after it. What they are served with is decided elsewhere: a message leaves
//! (`engine/outbox`), a change is written (`store`).

use std::collections::BTreeMap;

use countersign_core::signal::ThreadKey;

/// How many servings a thread that was quiet is ahead of the others: a message takes four writes.
const CREDIT: u64 = 16;

/// How far the service of each thread is, counted in rounds: in a round everybody who waits is served once.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// The rounds of those that may be ahead of the others or level with them.
    rounds: BTreeMap<ThreadKey, u64>,
    /// The round that goes on.
    now: u64,
}

impl Served {
    /// The round in which the thread is served next. The smaller goes first.
    pub(crate) fn next(&self, thread: &ThreadKey) -> u64 {
        self.rounds.get(thread).copied().unwrap_or_default().max(self.now.saturating_sub(CREDIT))
    }

    /// The thread is served now.
    pub(crate) fn serve(&mut self, thread: &ThreadKey) {
        let round = self.next(thread);
        self.rounds.insert(thread.clone(), round.saturating_add(1));
        if round > self.now {
            self.now = round;
            // Those who are so far behind are where a new one is.
            let behind = self.now.saturating_sub(CREDIT);
            self.rounds.retain(|_, round| *round > behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::testkit::thread_key;

    use super::*;

    /// Serves these, of whom each waits always, so many times; who was served, in order.
    fn busy(served: &mut Served, names: &[&str], times: usize) -> Vec<String> {
        let one = |_| {
            let first = names.iter().min_by_key(|name| served.next(&thread_key(name))).expect("somebody");
            served.serve(&thread_key(first));
            (*first).to_owned()
        };
        (0..times).map(one).collect()
    }

    #[test]
    fn who_always_waits_is_served_as_often_as_the_others() {
        let mut served = Served::default();
        assert_eq!(busy(&mut served, &["a", "b", "c"], 7), ["a", "b", "c", "a", "b", "c", "a"]);
    }

    #[test]
    fn who_was_quiet_goes_first_for_a_while_and_then_in_turn() {
        let mut served = Served::default();
        busy(&mut served, &["a", "b"], 100);
        let with_quiet = busy(&mut served, &["a", "b", "quiet"], 30);
        let ahead = with_quiet.iter().take_while(|name| *name == "quiet").count();
        // The round that goes on counts, too.
        assert_eq!(u64::try_from(ahead).expect("a few"), CREDIT + 1, "{with_quiet:?}");
        assert_eq!(with_quiet[17..].iter().filter(|name| *name == "quiet").count(), 4, "{with_quiet:?}");
    }

    #[test]
    fn what_is_remembered_is_bounded_by_who_was_served_lately() {
        let mut served = Served::default();
        for n in 0..10_000 {
            served.serve(&thread_key(&format!("thread {n}")));
            busy(&mut served, &["busy"], 1);
        }
        assert!(served.rounds.len() <= 20, "{}", served.rounds.len());
    }
}

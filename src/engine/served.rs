//! Whose message leaves next, where more wait than can be on their way: the thread that was served longest ago. By age alone
//! a flood would go first, since all of it is older than the one message that came after it.

use std::collections::BTreeMap;

use countersign_core::signal::ThreadKey;

use crate::store::StoredPost;

/// The most threads whose turn is remembered. One that is forgotten goes first, as a new one does.
const THREADS_MAX: usize = 4_096;

/// When each thread was served last, counted in messages.
#[derive(Debug, Default)]
pub(super) struct Served {
    last: BTreeMap<ThreadKey, u64>,
    count: u64,
}

impl Served {
    /// Chooses at most so many of what may leave, at most one a thread and given oldest first: decisions before answers,
    /// then by turn.
    pub(super) fn choose(&mut self, mut due: Vec<StoredPost>, free: usize) -> Vec<StoredPost> {
        // Stable, so that among equals the oldest stays first.
        due.sort_by_key(|post| (post.lane, self.last.get(&post.to).copied().unwrap_or_default()));
        due.truncate(free);
        for post in &due {
            self.count = self.count.saturating_add(1);
            self.last.insert(post.to.clone(), self.count);
        }
        if self.last.len() > THREADS_MAX {
            let recent = self.count.saturating_sub(u64::try_from(THREADS_MAX / 2).unwrap_or_default());
            self.last.retain(|_, at| *at > recent);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::port::Lane;
    use countersign_core::signal::SignalId;
    use countersign_core::testkit::thread_key;

    use super::*;

    fn post(thread: &str, lane: Lane) -> StoredPost {
        StoredPost {
            id: thread.to_owned(),
            signal: SignalId::new(thread),
            to: thread_key(thread),
            lane,
            body: String::new(),
            attempts: 0,
            repeat: false,
        }
    }

    fn chosen(served: &mut Served, threads: &[&str], free: usize) -> Vec<String> {
        let due = threads.iter().map(|thread| post(thread, Lane::Answer)).collect();
        served.choose(due, free).into_iter().map(|post| post.id).collect()
    }

    #[test]
    fn a_flood_does_not_keep_a_newcomer_waiting() {
        let mut served = Served::default();
        assert_eq!(chosen(&mut served, &["a", "b", "c"], 2), ["a", "b"], "the oldest first");
        assert_eq!(chosen(&mut served, &["a", "b", "c", "quiet"], 2), ["c", "quiet"], "who had no turn yet");
        assert_eq!(chosen(&mut served, &["a", "b", "c", "quiet"], 3), ["a", "b", "c"], "then around");
    }

    #[test]
    fn decisions_come_first_and_memory_is_bounded() {
        let mut served = Served::default();
        chosen(&mut served, &["flood"], 1);
        let due = vec![post("quiet", Lane::Answer), post("flood", Lane::Decision)];
        let first: Vec<String> = served.choose(due, 1).into_iter().map(|post| post.id).collect();
        assert_eq!(first, ["flood"]);
        for n in 0..2 * THREADS_MAX {
            chosen(&mut served, &[&format!("thread {n}")], 1);
        }
        assert!(served.last.len() <= THREADS_MAX, "{}", served.last.len());
    }
}

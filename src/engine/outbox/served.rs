//! Whose message leaves next, where more wait than can be on their way: the thread that was served longest ago. By age alone
//! a flood would go first, since all of it is older than the one message that came after it.

use std::collections::BTreeMap;

use countersign_core::signal::ThreadKey;

/// The most threads whose turn is remembered. One that is forgotten goes first, as a new one does.
const THREADS_MAX: usize = 4_096;

/// When each thread was served last, counted in messages.
#[derive(Debug, Default)]
pub(super) struct Served {
    last: BTreeMap<ThreadKey, u64>,
    count: u64,
}

impl Served {
    /// When the thread was served last; 0 where that is not known. The smaller goes first.
    pub(super) fn last(&self, thread: &ThreadKey) -> u64 {
        self.last.get(thread).copied().unwrap_or_default()
    }

    /// The thread is served now.
    pub(super) fn serve(&mut self, thread: &ThreadKey) {
        self.count = self.count.saturating_add(1);
        self.last.insert(thread.clone(), self.count);
        if self.last.len() > THREADS_MAX {
            let recent = self.count.saturating_sub(u64::try_from(THREADS_MAX / 2).unwrap_or_default());
            self.last.retain(|_, at| *at > recent);
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::testkit::thread_key;

    use super::*;

    #[test]
    fn who_had_no_turn_goes_before_who_had_one_and_memory_is_bounded() {
        let mut served = Served::default();
        served.serve(&thread_key("a"));
        served.serve(&thread_key("b"));
        assert!(served.last(&thread_key("new")) < served.last(&thread_key("a")));
        assert!(served.last(&thread_key("a")) < served.last(&thread_key("b")));
        for n in 0..2 * THREADS_MAX {
            served.serve(&thread_key(&format!("thread {n}")));
        }
        assert!(served.last.len() <= THREADS_MAX, "{}", served.last.len());
    }
}

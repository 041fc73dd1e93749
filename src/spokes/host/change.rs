//! One change on its way from a checked permit to its end. A change is begun once or never: whoever carries it out asks
//! here directly before the first thing is done, and whoever gives up on it makes sure here that it is not begun later.
//! What is done is in the writers' own files.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::answer::Trouble;
use crate::clock::wall_now;
use crate::permit::Permit;

/// A permitted change.
#[derive(Debug)]
pub(super) struct Change {
    permit: Permit,
    closing: CancellationToken,
    fate: OnceLock<Fate>,
}

/// What became of it; decided once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Begun,
    GivenUp,
}

impl Change {
    /// With a checked permit. Nothing is begun once `closing` is cancelled.
    pub(super) const fn new(permit: Permit, closing: CancellationToken) -> Self {
        Self { permit, closing, fate: OnceLock::new() }
    }

    /// What the target looked like when the plan was made.
    pub(super) fn before(&self, name: &str) -> Option<&str> {
        self.permit.plan().before.get(name).map(String::as_str)
    }

    /// What the plan expects a fresh look to show of the target after the change.
    pub(super) fn expected(&self, path: &str) -> Option<&str> {
        self.permit.plan().expect.equals.get(path).map(String::as_str)
    }

    /// The last look before the first thing is done. After this the change counts as done or perhaps done.
    pub(super) fn begin(&self) -> Result<(), Trouble> {
        if !self.permit.still_valid(wall_now()) {
            return Err(Trouble::forbidden("the permit of this change expired before it was begun; nothing was done"));
        }
        if self.closing.is_cancelled() {
            return Err(Trouble::forbidden("the bot went away before this change was begun; nothing was done"));
        }
        let too_late = |_| Trouble::forbidden("this change was given up before it was begun; nothing was done");
        self.fate.set(Fate::Begun).map_err(too_late)
    }

    /// Makes sure that it is not begun any more; says whether it never was.
    pub(super) fn give_up(&self) -> bool {
        *self.fate.get_or_init(|| Fate::GivenUp) == Fate::GivenUp
    }

    /// What trouble on the way means: before the beginning nothing was done, and after it nobody knows how far it came,
    /// unless the writer says for certain that nothing was done, or that it is over.
    pub(super) fn settle(&self, trouble: Trouble) -> Trouble {
        if self.give_up() { trouble.nothing_done() } else { trouble.outcome_unknown() }
    }
}

/// Gives a change up where whoever waits for it goes away. One that was begun goes on.
pub(super) struct Waiting(pub(super) Arc<Change>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use countersign_core::gate::Warrant;
    use countersign_core::signal::Wall;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::permit::{self, Checker, Key, META_KEY};

    /// A change with a checked permit that is good for as long as is said.
    pub(in crate::spokes::host) fn permitted(permit_ms: u64, closing: &CancellationToken) -> Change {
        let plan = permit::tests::plan(("host_process", "stop"), "process:web-1:1-1", json!({}), &[]);
        let until = Wall(wall_now().0 + i64::try_from(permit_ms).expect("seconds"));
        let warrant = Warrant { until, ..permit::tests::warrant(plan) };
        let key = Key::fresh();
        let meta: Map<String, Value> =
            Map::from_iter([(META_KEY.to_owned(), permit::mint(&key, &warrant, wall_now()))]);
        let permit = Checker::new(Some(key)).check(&meta, wall_now()).expect("it is good");
        Change::new(permit, closing.clone())
    }

    fn refused(change: &Change) -> String {
        change.begin().expect_err("it must not begin").failure().message.clone()
    }

    #[tokio::test]
    async fn a_change_is_begun_once_and_in_time_or_never() {
        let closing = CancellationToken::new();
        let good = permitted(5_000, &closing);
        assert!(good.begin().is_ok());
        assert!(!good.give_up(), "what was begun cannot be given up");
        assert!(good.begin().is_err(), "and is not begun twice");

        let given_up = permitted(5_000, &closing);
        assert!(given_up.give_up());
        insta::assert_snapshot!(refused(&given_up), @"this change was given up before it was begun; nothing was done");

        let late = permitted(30, &closing);
        let expires = wall_now().0 + 30;
        while wall_now().0 < expires {
            tokio::task::yield_now().await;
        }
        insta::assert_snapshot!(refused(&late), @"the permit of this change expired before it was begun; nothing was done");

        let orphan = permitted(5_000, &closing);
        closing.cancel();
        insta::assert_snapshot!(refused(&orphan), @"the bot went away before this change was begun; nothing was done");
    }

    #[test]
    fn trouble_before_the_beginning_is_a_refusal_and_after_it_leaves_the_outcome_open() {
        let closing = CancellationToken::new();
        let outcome = |change: &Change, trouble: Trouble| {
            let trouble = change.settle(trouble);
            (trouble.failure().blocked, trouble.failure().details.outcome_unknown, trouble.failure().retryable)
        };
        let waiting = permitted(5_000, &closing);
        assert_eq!(outcome(&waiting, Trouble::too_slow("x")), (true, false, false));
        assert!(waiting.begin().is_err(), "who has been told that nothing was done must be right");
        let begun = permitted(5_000, &closing);
        begun.begin().expect("it is good");
        assert_eq!(outcome(&begun, Trouble::too_slow("x")), (false, true, false));
        assert_eq!(outcome(&begun, Trouble::failed_and_over("x")), (false, false, false), "it can be looked at");
        assert_eq!(outcome(&begun, Trouble::refused("x")), (true, false, false), "the writer knows better");
    }

    #[test]
    fn who_goes_away_before_the_beginning_takes_the_change_along() {
        let change = Arc::new(permitted(5_000, &CancellationToken::new()));
        drop(Waiting(Arc::clone(&change)));
        assert!(change.begin().is_err());
    }
}

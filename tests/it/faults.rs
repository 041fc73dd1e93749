//! What a bad day does to a bot on a chat platform: updates that come twice or out of order, calls that are refused or whose
//! answer is lost, a process that is killed, a platform that is gone for minutes. The real binary talks to the fakes of
//! `tests/fakes`. What is said in the rooms is of no interest here as long as it is said once and in order; how it reads is the
//! conformance suite's.

mod cast;
mod conflict;
mod facts;
mod judge;
mod on_discord;
mod on_matrix;
mod on_telegram;
mod outage;
mod run;
mod script;
mod seen;
mod stored;
mod unruly;

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often a condition is looked at that nothing announces.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// The canned answer that most messages ask for: it repeats what tells one message from all others.
const INTENTS: &str = r#"
[[intent]]
name = "ping"
about = "an answer without any work"
examples = ["ping q00001z"]
patterns = ['''ping (?P<token>\S+)''']
reply = "pong {token}"
"#;

/// A directory for what is read and changed, and for the intents.
fn desk() -> TempDir {
    let desk = TempDir::with_prefix("countersign-faults-").expect("a temporary directory can be created");
    std::fs::write(desk.path().join("intents.toml"), INTENTS).expect("a file can be written");
    desk
}

/// What of the configuration is ours: the canned answer, and room for everything that waits after an outage. It ends in
/// `[limits]`.
fn config(desk: &Path) -> String {
    let intents = desk.join("intents.toml");
    format!("[intents]\nfile = \"{}\"\n[limits]\nqueue = 1000\n", intents.display())
}

/// Looks until it finds something, and fails with `missing` after `at_most`.
async fn until<T>(at_most: Duration, missing: impl AsyncFn() -> String, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let over = Instant::now() + at_most;
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < over, "not within {at_most:?}: {}", missing().await);
    }
}

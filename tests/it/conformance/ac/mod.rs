//! The approval conformance tests on Telegram, each by its number. AC-09 is about Matrix alone. AC-27 is about scheduled
//! jobs, which this version does not have: what one would meet is tested in `src/access/tests/conformance.rs`.

mod delivery;
mod plans;
mod secrets;
mod texts;
mod time;
mod who;
mod words;

use countersign_telegram_fake::ChatId;
use serde_json::Value;

use crate::support::telegram::{Card, Stage};

/// A file of the team's, and the words that ask for one more line in it.
struct File {
    path: std::path::PathBuf,
}

impl File {
    fn new(stage: &Stage, name: &str) -> Self {
        Self { path: stage.home.write(name, "first line\n") }
    }

    /// Asks for a line.
    fn ask(&self, line: &str) -> String {
        format!("append to {}: {line}", self.path.display())
    }

    /// How often a line is in it.
    fn count(&self, line: &str) -> usize {
        let text = std::fs::read_to_string(&self.path).expect("it is there");
        text.lines().filter(|there| *there == line).count()
    }
}

/// The words of a change that was made and verified.
const DONE: &str = "Done and verified: append to ";

/// Waits until the thread of a card says that its change was made.
async fn done(stage: &Stage, chat: ChatId) {
    stage.said(chat, DONE).await;
}

/// The refusals with this code that the trail has of an account.
async fn refusals(stage: &Stage, who: i64, code: &str) -> Vec<Value> {
    let who = who.to_string();
    stage.recorded(|row| row["what"] == "refused" && row["actor"] == *who && row["code"] == *code).await
}

/// How often the tool was called that makes the change of a plan.
async fn executions(stage: &Stage, card: &Card) -> usize {
    let is_it = |row: &Value| row["what"] == "executing" && row["plan"] == *card.plan;
    stage.recorded(is_it).await.len()
}

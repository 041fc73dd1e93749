//! What the database of a bot that was killed holds of its signals, its messages and its plans. It judges nothing but the
//! order of what was answered.

use std::collections::BTreeMap;
use std::path::Path;

use countersign::store::sqlite_url;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Connection, Row};

use super::record::{event, number};

/// Before the id in the event of a signal that the bot sends to itself (`countersign_core::signal::OURSELVES`).
const OWN: &str = "countersign/";

/// What the database holds.
#[derive(Default)]
pub(super) struct Stored {
    /// By the number of the question.
    pub(super) signals: BTreeMap<usize, Signal>,
    /// Those that the bot sent to itself.
    pub(super) own: Vec<Signal>,
    /// By signal.
    pub(super) posts: BTreeMap<String, Vec<Post>>,
    /// By id.
    pub(super) plans: BTreeMap<String, PlanRow>,
}

/// A row of the inbox.
pub(super) struct Signal {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) ending: String,
}

/// A row of the outbox.
pub(super) struct Post {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) repeat: bool,
    thread: String,
    place: i64,
}

/// A row of the plans.
pub(super) struct PlanRow {
    /// With what it came to: `verified as_expected`, `refused DRIFTED`, `pending`.
    pub(super) state: String,
    /// From when on it could not be done any more, where it was begun.
    pub(super) over_at: Option<i64>,
}

impl Stored {
    /// Reads the file, also beside a running bot; it is then not of one moment.
    pub(super) fn read(database: &Path) -> Self {
        sqlx::any::install_default_drivers();
        let url = sqlite_url(database).expect("the path is UTF-8");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut connection = AnyConnection::connect(&url).await.expect("the database opens");
            let inbox = "SELECT id, event, state, COALESCE(ending, '') AS ending FROM inbox";
            let inbox = sqlx::query(inbox).fetch_all(&mut connection).await.expect("the inbox is readable");
            let outbox = "SELECT id, signal, state, repeat, thread, place FROM outbox ORDER BY signal, n";
            let outbox = sqlx::query(outbox).fetch_all(&mut connection).await.expect("the outbox is readable");
            let plans = "SELECT id, state, code, outcome, over_at FROM plans";
            let plans = sqlx::query(plans).fetch_all(&mut connection).await.expect("the plans are readable");
            connection.close().await.expect("the database closes");
            let mut stored = Self::default();
            for row in &inbox {
                stored.add_signal(row);
            }
            for row in &outbox {
                stored.add_post(row);
            }
            stored.plans.extend(plans.iter().map(plan));
            stored
        })
    }

    /// What is still to be done: signals without an answer, messages that are not out, and changes that were decided or
    /// begun and are not verified.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let signals = self.signals.values().chain(&self.own).filter(|signal| signal.state != "done");
        let posts = self.posts.values().flatten().filter(|post| post.state != "sent");
        let open = |plan: &PlanRow| matches!(plan.state.as_str(), "approved" | "executing" | "unverified" | "unknown");
        let plans = self.plans.iter().filter(|(_, plan)| open(plan));
        let signals = signals.map(|signal| format!("signal {} is {}", signal.id, signal.state));
        let posts = posts.map(|post| format!("message {} is {}", post.id, post.state));
        signals.chain(posts).chain(plans.map(|(id, plan)| format!("plan {id} is {}", plan.state))).collect()
    }

    fn add_signal(&mut self, row: &AnyRow) {
        let event: String = row.get("event");
        let signal = Signal { id: row.get("id"), state: row.get("state"), ending: row.get("ending") };
        if event.starts_with(OWN) {
            self.own.push(signal);
            return;
        }
        // The console puts the person before the script's own id.
        let number = event.rsplit_once('/').and_then(|(_, event)| number(event)).expect("an event of ours");
        assert!(self.signals.insert(number, signal).is_none(), "{event} is stored twice");
    }

    fn add_post(&mut self, row: &AnyRow) {
        let repeat = row.get::<i64, _>("repeat") == 1;
        let (id, state) = (row.get("id"), row.get("state"));
        let post = Post { id, state, repeat, thread: row.get("thread"), place: row.get("place") };
        self.posts.entry(row.get("signal")).or_default().push(post);
    }

    /// Answers of which an earlier question's has a later place in the same thread: its signals are worked on in order.
    pub(super) fn out_of_order(&self) -> Vec<String> {
        let answers = self.signals.iter().filter_map(|(number, signal)| Some((*number, self.posts.get(&signal.id)?)));
        let mut last: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
        let mut wrong = Vec::new();
        for (number, post) in answers.flat_map(|(n, posts)| posts.iter().map(move |post| (n, post))) {
            if let Some((before, place)) = last.insert(&post.thread, (number, post.place))
                && place > post.place
            {
                wrong.push(format!("{} was answered after {}", event(before), event(number)));
            }
        }
        wrong
    }
}

fn plan(row: &AnyRow) -> (String, PlanRow) {
    let words: [String; 3] = ["state", "code", "outcome"].map(|column| row.get(column));
    let state = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (row.get("id"), PlanRow { state, over_at: row.get("over_at") })
}

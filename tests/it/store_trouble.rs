//! A database that nobody can write to for a while, because another program holds it: what was accepted is not given up, the
//! operator is told once, and the answer comes when it is free. A full disk is the same to the bot; that it can be written to
//! again afterwards is in `store/full.rs`.

use std::path::Path;

use countersign::store::sqlite_url;
use sqlx::{AnyConnection, Connection, Executor};

use crate::support::bot::{Bot, Home, until};
#[cfg(feature = "full")]
use crate::support::chat::Chat as _;
#[cfg(feature = "full")]
use crate::support::database;
use crate::support::metrics::{free_address, scrape};
#[cfg(feature = "full")]
use crate::support::telegram::{ANN, Stage};

/// The write lock of a database, until it is dropped.
struct Lock(tokio::runtime::Runtime, AnyConnection);

impl Lock {
    fn take(data: &Path) -> Self {
        sqlx::any::install_default_drivers();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let url = sqlite_url(&data.join("countersign.db")).expect("UTF-8");
        let connection = runtime.block_on(async {
            let mut connection = AnyConnection::connect(&url).await.expect("it opens");
            connection.execute("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE").await.expect("it is free at times");
            connection
        });
        Self(runtime, connection)
    }

    fn release(self) {
        let Self(runtime, connection) = self;
        runtime.block_on(connection.close()).expect("it lets go");
    }
}

#[test]
fn what_was_accepted_waits_until_the_database_can_be_written_to() {
    let home = Home::new();
    let metrics = free_address();
    home.write("countersign.toml", format!("[metrics]\nlisten = \"{metrics}\"\n"));
    let mut bot = Bot::json(&home);
    bot.ask("load");
    let process = home.process("victim", &[]);
    // Long enough for the lock to be taken before anything is answered.
    bot.say(&format!("wait 5 seconds until process {} is gone", process.pid()));
    assert_eq!(bot.event().expect("it is accepted")["type"], "accepted");
    let lock = Lock::take(&home.data());
    // More than the tries after which what does not pass is given up.
    let failed = || {
        let counted = scrape(&metrics);
        let count = counted.lines().find_map(|line| line.strip_prefix("countersign_commits_failed_total "));
        count.and_then(|count| count.parse::<u32>().ok()).unwrap_or_default()
    };
    until("it has tried often", || failed() > 5);
    lock.release();
    let shown = bot.event().expect("it goes on").to_string();
    assert!(shown.contains("victim"), "{shown}");
    let done = bot.end();
    let told = done.err.matches("what was accepted waits, and goes on when that is mended").count();
    assert!(told == 1 && done.err.contains("database is locked"), "{done:?}");
    assert!(done.err.contains("the database can be written to again; what waited goes on"), "{done:?}");
}

/// Whoever waits sees why, and the answer comes all the same.
#[cfg(feature = "full")]
#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_is_shown_that_their_request_waits() {
    let mut stage = Stage::start().await;
    let process = stage.home.process("victim", &[]);
    let wait = format!("wait 5 seconds until process {} is gone", process.pid());
    stage.say(ANN, stage.ops, &wait);
    let begun = "SELECT id FROM inbox WHERE state = 'begun'";
    let is_begun = async { while database::rows(&stage.database(), begun).await.is_empty() {} };
    tokio::time::timeout(std::time::Duration::from_mins(1), is_begun).await.expect("it is accepted");
    let data = stage.home.data();
    let lock = tokio::task::spawn_blocking(move || Lock::take(&data)).await.expect("it can be locked");
    stage.said(stage.ops, "Your request waits, and goes on by itself.").await;
    tokio::task::spawn_blocking(move || lock.release()).await.expect("it lets go");
    stage.said(stage.ops, "was still running after 5 s").await;
    let stands = |stage: &Stage| {
        stage.fake.all(stage.ops).iter().any(|shown| shown.text.contains("Your request waits") && !shown.deleted)
    };
    let taken_back = async {
        while stands(&stage) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), taken_back).await.expect("it is taken back");
    stage.end().await;
}

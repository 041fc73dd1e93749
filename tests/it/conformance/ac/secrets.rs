//! A secret that somebody typed, or that stands in a file or on a command line, is in nothing that the bot writes; nor is its
//! own token. AC-15.

use super::File;
use crate::support::chat::Chat;
use crate::support::database::texts;
use crate::support::stage::{ANN, BOB, Script, Stage};

/// What must never be seen again, each a part of a secret that is planted below.
const SECRETS: [&str; 4] =
    ["hunter2hunter2", "s3cr3tpassw0rd", "ghp_Xk29vQmR4tLz7WbN1sDf8HyJ3cPa5GeU6oTi", "typedbyhand77x"];

pub(super) async fn ac_15_no_sink_shows_a_secret<C: Chat>() {
    let script = Script { log: "trace,sqlx=trace,hyper=trace,reqwest=trace", record: true, ..Script::default() };
    let mut stage = Stage::<C>::with(script).await;
    let (file, token) = (File::new(&stage, "notes.txt"), stage.fake.bot_token());
    let log =
        stage.home.write("app.log", "start\npassword=hunter2hunter2\nurl postgres://app:s3cr3tpassw0rd@db/app\nend\n");
    let process = stage.home.process("napper", &[&format!("--token={}", SECRETS[2])]);
    let private = stage.fake.private_room(ANN);
    let questions = [
        (format!("last 4 lines of {}", log.display()), "end"),
        (format!("run cat {}", log.display()), "end"),
        (file.ask("password=typedbyhand77x"), ""),
        ("my password=typedbyhand77x is it".to_owned(), "I don't understand"),
        ("deny 0123456789abcdef0123456789abcdef password=typedbyhand77x".to_owned(), "NOT_FOUND"),
    ];
    for (words, answer) in &questions {
        stage.ask(ANN, stage.ops, words, answer).await;
        stage.ask(ANN, private, words, answer).await;
    }
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let at = (stage.ops, card.message);
    let details = stage.reply(BOB, at, "details", "The whole plan").await;
    assert!(details.text.contains("[masked: token]"), "{}", details.text);
    stage.reply(BOB, (stage.ops, card.message), &format!("deny {} password=typedbyhand77x", card.plan), "Denied").await;
    stage.end().await;
    let said = stage.fake.sent();
    let mut sinks = vec![
        ("the calls to the platform".to_owned(), said),
        ("the log".to_owned(), stage.logged()),
        ("the recording".to_owned(), std::fs::read_to_string(stage.recording(1)).expect("it was recorded")),
    ];
    sinks.extend(texts(&stage.database()).await);
    for (sink, text) in &sinks {
        let seen: Vec<_> = SECRETS.iter().copied().chain([token.as_str()]).filter(|one| text.contains(one)).collect();
        assert!(seen.is_empty(), "{seen:?} in {sink}");
    }
    for (sink, words) in [(0, "[masked: password]"), (1, "DEBUG"), (2, "my password=")] {
        assert!(sinks[sink].1.contains(words), "{} shows nothing of the kind", sinks[sink].0);
    }
}

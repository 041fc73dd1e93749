//! `countersign audit`, the real binary on the data of a real bot: a whole trail, a changed one, and what is wrong with
//! the question. What can be wrong with a trail, on every engine, is in `store/audit.rs`.

use serde_json::Value;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

use countersign::store::sqlite_url;

use crate::support::bot::{Bot, Done, Home, finish};

fn audit(home: &Home, args: &[&str]) -> Done {
    finish(home.bot().arg("audit").args(args), b"")
}

/// A home whose bot has answered a few questions.
fn asked() -> Home {
    let home = Home::new();
    let done = home.pipe("load\ndisk usage\ncat /etc/shadow\n");
    assert!(done.status.success(), "{done:?}");
    home
}

fn tamper(home: &Home, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        sqlx::any::install_default_drivers();
        let url = sqlite_url(&home.data().join("countersign.db")).expect("UTF-8");
        let mut connection = AnyConnection::connect(&url).await.expect("it opens");
        let done = connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("the statement is sound");
        assert_eq!(done.rows_affected(), 1, "{sql}");
        connection.close().await.expect("it closes");
    });
}

/// The head in the sentence of a whole trail.
fn head(done: &Done) -> String {
    assert!(done.status.success(), "{done:?}");
    let sentence = done.out.trim_end().strip_prefix("The audit trail is whole: ").expect("it is whole");
    let (_, head) = sentence.split_once(", head ").expect("it names the head");
    head.trim_end_matches('.').to_owned()
}

#[test]
fn a_changed_byte_is_named_and_a_whole_trail_is_told() {
    let home = asked();
    let whole = audit(&home, &["verify"]);
    let noted = head(&whole);
    assert_eq!((whole.out.lines().count(), whole.err.as_str()), (1, ""));
    // It goes on, and what was noted is still in it.
    assert!(home.pipe("load\n").status.success());
    let later = audit(&home, &["verify", "--expect", &noted]);
    assert_ne!(head(&later), noted);
    let json = audit(&home, &["verify", "--json"]);
    let object: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!((&object["whole"], &object["problem"], json.err.as_str()), (&Value::Bool(true), &Value::Null, ""));
    assert_eq!(object["head"].as_str(), Some(head(&later).as_str()));

    tamper(
        &home,
        "UPDATE audit_payloads SET body = REPLACE(body, 'console', 'konsole') \
                   WHERE id = (SELECT id FROM audit_chain WHERE seq = 1)",
    );
    let wrong = audit(&home, &["verify"]);
    assert_eq!((wrong.status.code(), wrong.out.as_str()), (Some(1), ""), "{wrong:?}");
    let json = audit(&home, &["--json", "verify"]);
    let object: Value = serde_json::from_str(&json.out).expect("one object");
    let id = object["problem"]["id"].as_str().expect("the row's id");
    assert_eq!(
        (json.status.code(), object["whole"].as_bool(), object["problem"]["seq"].as_u64()),
        (Some(1), Some(false), Some(1))
    );
    let sentence = wrong.err.replace(id, "ID");
    insta::assert_snapshot!(sentence.trim_end(), @"countersign: The audit trail is not whole: row 1 (ID) has a changed payload: it is not what was written.");
    assert_eq!(json.err, wrong.err);
    // Deleting it is another matter.
    tamper(&home, "DELETE FROM audit_payloads WHERE id = (SELECT id FROM audit_chain WHERE seq = 1)");
    let deleted = audit(&home, &["verify"]);
    assert!(deleted.status.success(), "{deleted:?}");
    assert!(deleted.out.ends_with(". The content of 1 row was deleted.\n"), "{deleted:?}");
}

#[test]
fn a_shortened_trail_is_seen_by_who_noted_its_head() {
    let home = asked();
    let noted = head(&audit(&home, &["verify"]));
    tamper(&home, "DELETE FROM audit_chain WHERE seq = (SELECT seq FROM audit_head)");
    let wrong = audit(&home, &["verify"]);
    assert!(wrong.status.code() == Some(1) && wrong.err.contains("is the last one, but the head says"), "{wrong:?}");
    tamper(
        &home,
        "UPDATE audit_head SET seq = (SELECT MAX(seq) FROM audit_chain), \
                   hash = (SELECT hash FROM audit_chain ORDER BY seq DESC LIMIT 1)",
    );
    let wrong = audit(&home, &["verify"]);
    assert!(
        wrong.status.code() == Some(1) && wrong.err.contains("table audit_head, column seal, row head"),
        "{wrong:?}"
    );
    std::fs::remove_file(home.data().join("seal.key")).expect("it is there");
    let unsealed = audit(&home, &["verify"]);
    assert!(unsealed.status.code() == Some(1) && unsealed.out.contains("The audit trail is whole"), "{unsealed:?}");
    assert!(unsealed.err.contains("The seals were not checked, because the key is missing"), "{unsealed:?}");
    let wrong = audit(&home, &["verify", "--expect", &noted]);
    assert!(
        wrong.status.code() == Some(1) && wrong.err.ends_with("was expected: rows were removed at the end.\n"),
        "{wrong:?}"
    );
}

#[test]
fn it_is_exported_and_proved_beside_a_running_bot() {
    let home = asked();
    let mut bot = Bot::json(&home);
    bot.ask("load");
    let rows = audit(&home, &["export"]);
    assert!(rows.status.success() && rows.err.is_empty(), "{rows:?}");
    let lines: Vec<Value> = rows.out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert!(lines.iter().zip(1..).all(|(line, seq)| line["seq"].as_i64() == Some(seq)), "{rows:?}");
    let last = lines.last().expect("there are rows");
    let noted = format!("{}:{}", last["seq"], last["hash"].as_str().expect("a hash"));
    assert_eq!(head(&audit(&home, &["verify", "--expect", &noted])), noted);
    assert!(!bot.ask("status").text().is_empty(), "the bot goes on");
    assert!(bot.end().status.success());

    let file = home.path().join("trail.jsonl");
    let name = file.to_str().expect("UTF-8");
    let done = audit(&home, &["export", "--out", name]);
    assert!(done.status.success() && done.out.is_empty(), "{done:?}");
    let written = std::fs::read_to_string(&file).expect("it was written");
    assert!(written.starts_with(&rows.out), "it only grows");
    let again = audit(&home, &["export", "--out", name]);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), written, "never over another file");
}

#[test]
fn a_wrong_question_is_told_and_creates_nothing() {
    let home = Home::new();
    let at = |args: &[&str]| {
        let done = audit(&home, args);
        assert_eq!((done.status.code(), done.out.as_str()), (Some(2), ""), "{done:?}");
        done.err.trim_end().replace(&home.path().display().to_string(), "HOME")
    };
    let mut said = vec![at(&["verify"]), at(&["verify", "--expect", "42:9f"]), at(&["prove"])];
    assert!(!home.data().exists(), "nothing was created");
    std::fs::create_dir(home.data()).expect("a directory can be created");
    home.write("data/countersign.db", "");
    said.push(at(&["export"]));
    home.write("data/countersign.db", "garbage, garbage, garbage, garbage");
    said.push(at(&["verify"]));
    insta::assert_snapshot!(said.join("\n"), @"
    countersign: the database HOME/data/countersign.db does not exist; give the bot's --data and --config, or start the bot once
    countersign: invalid value '42:9f' for '--expect <HEAD>': a head is written SEQ:HASH, a number and at least 16 hexadecimal digits, as `audit verify` prints it; see `countersign --help`
    countersign: unrecognized subcommand 'prove'; see `countersign --help`
    countersign: the database HOME/data/countersign.db holds no audit trail (table audit_chain is missing); name the bot's own database, or start this version of the bot on it once
    countersign: the database HOME/data/countersign.db is not a SQLite database; move that file away or name another one
    ");
}

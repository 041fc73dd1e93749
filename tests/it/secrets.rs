//! No secret leaves through any sink of the real binary: the conversation, the log, the database, the metrics; and what
//! holds secrets is not read, whatever it is called. What counts as a secret is tested in the core.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

use countersign_core::testkit::{Chance, secret_shapes};
use sqlx::{AnyConnection, AssertSqlSafe, Column, Connection, Executor, Row};

use crate::support::bot::{Bot, Home};
use crate::support::metrics::{free_address, scrape};

/// What must never be seen again, each a part of a secret that is planted below.
const SECRETS: [&str; 7] = [
    "hunter2hunter2",
    "AKIAQ7RT5WMZK2PLD4XE",
    "MIIEpAIBAAKCAQEA7bq8mYkT5sJq1x",
    "q9Zt0LkJpVn4r2ScXyWbE8hGd3Fu6A",
    "s3cr3tpassw0rd",
    "ghp_Xk29vQmR4tLz7WbN1sDf8HyJ3cPa5GeU6oTi",
    "typedbyhand77x",
];

const LOG: &str = "start
password=hunter2hunter2
aws_access_key_id AKIAQ7RT5WMZK2PLD4XE here
-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEA7bq8mYkT5sJq1x
q9Zt0LkJpVn4r2ScXyWbE8hGd3Fu6A
-----END RSA PRIVATE KEY-----
url postgres://app:s3cr3tpassw0rd@db.example.org/app
done
";

fn seen_in(text: &str) -> Vec<&'static str> {
    SECRETS.into_iter().filter(|secret| text.contains(secret)).collect()
}

/// Every text of every table, by the table's name.
async fn texts(database: &Path) -> BTreeMap<String, Vec<String>> {
    sqlx::any::install_default_drivers();
    let url = format!("sqlite:{}", database.display());
    let mut connection = AnyConnection::connect(&url).await.expect("it is a database");
    let tables = connection.fetch_all("SELECT name FROM sqlite_master WHERE type = 'table'").await.expect("a list");
    let mut found = BTreeMap::new();
    for table in tables {
        let table: String = table.get(0);
        // The migrations' own table has types that the driver for any database does not know.
        if table.starts_with('_') {
            continue;
        }
        let rows = connection.fetch_all(AssertSqlSafe(format!("SELECT * FROM {table}"))).await.expect("rows");
        let cells = rows.iter().flat_map(|row| row.columns().iter().map(move |column| (row, column.ordinal())));
        let cells = cells.filter_map(|(row, at)| row.try_get::<Option<String>, _>(at).ok().flatten());
        found.insert(table, cells.collect());
    }
    connection.close().await.expect("it lets go");
    found
}

async fn no_sink_shows_a_secret(format: &str) {
    let home = Home::new();
    let log = home.write("app.log", LOG).display().to_string();
    let token = format!("--token={}", SECRETS[5]);
    let process = home.process("tokened", &[&token]);
    let address = free_address();
    let mut command = home.bot();
    command.arg("--json").env("COUNTERSIGN_LOG__LEVEL", "trace,sqlx=trace").env("COUNTERSIGN_LOG__FORMAT", format);
    let mut bot = Bot::spawn(command.env("COUNTERSIGN_METRICS__LISTEN", &address));
    let questions = [
        format!("last 20 lines of {log}"),
        format!("last 20 lines of {log} with password"),
        format!("show file {log}"),
        format!("show {log} from line 5"),
        format!("last 3 lines of {log}"),
        format!("run cat {log}"),
        format!("run grep s3cr3t {log}"),
        "run ps aux".to_owned(),
        "find process tokened".to_owned(),
        format!("process {}", process.pid()),
        "show it in detail".to_owned(),
        "what do you know about tokened".to_owned(),
        "top 50 processes by memory".to_owned(),
        format!("find process {token}"),
        "my password=typedbyhand77x is it".to_owned(),
        "find process password=typedbyhand77x".to_owned(),
        "run echo password=typedbyhand77x".to_owned(),
        "show file /tmp/password=typedbyhand77x".to_owned(),
        format!("append to {log}: url = postgres://app:s3cr3tpassw0rd@db.example.org/app"),
        format!("append to {log}: {token}"),
        "link password=typedbyhand77x".to_owned(),
        "grant password=typedbyhand77x for 2 hours".to_owned(),
        "revoke password=typedbyhand77x".to_owned(),
        "deny password=typedbyhand77x".to_owned(),
        "why".to_owned(),
    ];
    let mut said = String::new();
    for question in &questions {
        let answer = bot.ask(question).text();
        assert_eq!(seen_in(&answer), Vec::<&str>::new(), "{question}: {answer}");
        said.push_str(&answer);
    }
    for masked in ["[masked: password]", "[masked: key]", "[masked: private key]", "[masked: token]"] {
        assert!(said.contains(masked), "{masked} was not there to be seen: {said}");
    }
    let metrics = scrape(&address);
    assert!(metrics.contains("countersign_requests_total"), "{metrics}");
    assert_eq!(seen_in(&metrics), Vec::<&str>::new(), "{metrics}");
    let done = bot.end();
    assert!(done.status.success());
    assert_eq!(seen_in(&done.out), Vec::<&str>::new());
    assert!(done.err.contains("DEBUG"), "the log is not talkative");
    let told: Vec<_> = done.err.lines().filter(|line| !seen_in(line).is_empty()).collect();
    assert_eq!(told, Vec::<&str>::new(), "in the log");

    let tables = texts(&home.data().join("countersign.db")).await;
    assert!(
        ["audit_payloads", "inbox", "outbox", "refusals", "threads"].iter().all(|table| !tables[*table].is_empty())
    );
    for (table, texts) in &tables {
        let seen = seen_in(&texts.join("\n"));
        assert_eq!(seen, Vec::<&str>::new(), "in the table {table}");
    }
}

#[tokio::test]
async fn ac_15_no_sink_shows_a_secret_with_a_log_for_people() {
    no_sink_shows_a_secret("text").await;
}

#[tokio::test]
async fn ac_15_no_sink_shows_a_secret_with_a_log_for_machines() {
    no_sink_shows_a_secret("json").await;
}

#[tokio::test]
async fn what_holds_secrets_is_refused_counted_and_recorded() {
    let home = Home::new();
    let base = home.path().display().to_string();
    let data = home.data().display().to_string();
    let shadow = home.path().join("notes.txt");
    symlink("/etc/shadow", &shadow).expect("a link can be made");
    symlink(home.data(), home.path().join("mine")).expect("a link can be made");
    home.write(".ssh/id_rsa", "not really");
    let address = free_address();
    let mut command = home.bot();
    let mut bot = Bot::spawn(command.arg("--json").env("COUNTERSIGN_METRICS__LISTEN", &address));
    let questions = [
        "show file /etc/shadow".to_owned(),
        format!("show file {}", shadow.display()),
        format!("last 5 lines of {}", shadow.display()),
        format!("show file {base}/.ssh/id_rsa"),
        "show file /proc/self/environ".to_owned(),
        "show file /proc/self/cwd/.ssh/id_rsa".to_owned(),
        format!("show file {data}/countersign.db"),
        format!("show file {data}/lock"),
        format!("list {data}"),
        format!("find lock in {data}"),
        format!("list {base}/mine"),
        format!("show file {base}/mine/lock"),
        format!("show file /proc/self/root{data}/lock"),
        format!("run ls {data}"),
        format!("run ls {base}/mine"),
        format!("run head -1 {base}/mine/lock"),
    ];
    let mut wrong = Vec::new();
    for question in &questions {
        let text = bot.ask(question).text();
        if !text.contains("POLICY_BLOCKED") {
            wrong.push(format!("{question}: {text}").replace(&base, "HOME"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let metrics = scrape(&address);
    let counted: u64 = metrics
        .lines()
        .filter(|line| line.starts_with("countersign_gate_block_total{") && line.contains("\"POLICY_BLOCKED\""))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(counted, questions.len() as u64, "{metrics}");
    assert!(bot.end().status.success());
    let tables = texts(&home.data().join("countersign.db")).await;
    // A refusal that is repeated within a minute is counted in a table of its own; the first of each is in the audit.
    let recorded = tables["audit_payloads"].iter().filter(|text| text.contains("\"code\":\"POLICY_BLOCKED\"")).count();
    let counted = tables["refusals"].iter().filter(|text| *text == "POLICY_BLOCKED").count();
    assert!(recorded >= 4 && counted >= 4, "{recorded} and {counted}");
}

/// Every third shape, shown from a file through the real binary: neither the answer nor what is kept of it holds a secret.
/// A file is called by no name that says what it holds, so that it is read.
#[tokio::test]
async fn shapes_of_secrets_leak_into_no_answer_no_database_and_no_recording() {
    let home = Home::new();
    let seed = fresh_seed();
    let mut chance = Chance(seed);
    let first = chance.below(3);
    let shapes: Vec<_> = secret_shapes(seed).into_iter().skip(first).step_by(3).collect();
    let recording = home.path().join("recording.jsonl");
    let mut command = home.bot();
    command.arg("--json").arg("--record").arg(&recording).env("COUNTERSIGN_LOG__LEVEL", "debug");
    let mut bot = Bot::spawn(&mut command);
    let mut answers = String::new();
    for (n, shape) in shapes.iter().enumerate() {
        let file = home.write(&format!("notes-{n}.txt"), &shape.text).display().to_string();
        let question = if n % 2 == 0 { format!("show file {file}") } else { format!("last 40 lines of {file}") };
        answers.push_str(&bot.ask(&question).text());
    }
    assert!(answers.matches("[masked: ").count() > shapes.len() / 2, "{answers}");
    let done = bot.end();
    assert!(done.status.success());
    let tables = texts(&home.data().join("countersign.db")).await;
    let database = tables.values().flatten().cloned().collect::<Vec<_>>().join("\n");
    let recorded = std::fs::read_to_string(&recording).expect("it was recorded");
    assert!(recorded.contains("[masked: ") && recorded.lines().count() > shapes.len(), "{recorded}");
    let sinks = [("answers", &answers), ("database", &database), ("recording", &recorded), ("log", &done.err)];
    for (sink, text) in sinks {
        let leaks: Vec<_> = shapes.iter().filter_map(|shape| Some((&shape.name, shape.leak(text)?))).collect();
        assert!(
            leaks.len() * 20 <= shapes.len(),
            "seed {seed}, {sink}: {} of {}: {leaks:?}",
            leaks.len(),
            shapes.len()
        );
    }
}

/// What a command line makes of the bot's own token, from a file that it may read, is shown and kept by no sink.
#[tokio::test]
async fn encodings_of_the_bots_own_token_leak_into_no_answer_no_database_and_no_recording() {
    let home = Home::new();
    let token = format!("{}-{}", Chance(fresh_seed()).secret("an", 24), Chance(fresh_seed()).secret("hex", 12));
    let file = home.write("notes.txt", format!("a line\nit is {token} here\nthe end\n")).display().to_string();
    let recording = home.path().join("recording.jsonl");
    let mut command = home.bot();
    command.arg("--json").arg("--record").arg(&recording);
    let mut bot = Bot::spawn(command.env("COUNTERSIGN_MODEL__API_KEY", &token));
    let lines = [
        "cat FILE",
        "base64 FILE",
        "base64 -w 20 FILE",
        "base32 FILE",
        "xxd FILE",
        "xxd -p FILE",
        "od -c FILE",
        "od -t x1 FILE",
        "od FILE",
        "hexdump -C FILE",
        "rev FILE",
        "tac FILE",
        "fold -w 7 FILE",
        "cut -c 5-30 FILE",
        "grep -o . FILE",
        "nl FILE",
        "head -c 24 FILE",
        "strings FILE",
        "sort FILE",
        "cat -A FILE",
    ];
    let mut shown = 0;
    let mut answers = String::new();
    for line in lines {
        let answer = bot.ask(&format!("run {}", line.replace("FILE", &file))).text();
        shown += usize::from(answer.contains("[masked: secret]"));
        answers.push_str(&answer);
    }
    assert!(shown >= 6, "{shown}: {answers}");
    assert!(bot.end().status.success());
    let tables = texts(&home.data().join("countersign.db")).await;
    let database = tables.values().flatten().cloned().collect::<Vec<_>>().join("\n");
    let recorded = std::fs::read_to_string(&recording).expect("it was recorded");
    let hex = token.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    for (sink, text) in [("answers", answers), ("database", database), ("recording", recorded)] {
        let text = letters(&text);
        for form in [letters(&token), letters(&token).chars().rev().collect(), hex.clone()] {
            assert!(!text.contains(&form[..form.len() / 2]), "{sink}: the first half of {form}");
            assert!(!text.contains(&form[form.len() / 2..]), "{sink}: the second half of {form}");
        }
    }
}

/// Another one in each run.
#[expect(clippy::disallowed_methods, reason = "a test draws its own seed and prints it")]
fn fresh_seed() -> u64 {
    getrandom::u64().expect("the system has randomness")
}

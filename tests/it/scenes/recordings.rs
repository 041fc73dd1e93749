//! A session is recorded with the real binary and played again: what is decided is what was decided, whoever looks and
//! however often. What is wrong with a recording is named by its line.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::support::bot::{Answer, Bot, Done, Home, finish};
use crate::support::decisions::listed;

/// A small session by hand: a plan is denied, one is carried out, and one expires.
const SMALL: &str = include_str!("small.jsonl");

fn recorded(home: &Home, file: &Path) -> Bot {
    Bot::spawn(home.bot().arg("--json").arg("--record").arg(file))
}

fn replay(home: &Home, file: &Path) -> Done {
    finish(home.command().arg("replay").arg(file), b"")
}

/// The decisions of a recording that can be played; played twice, they are the same.
fn decisions(home: &Home, file: &Path) -> Vec<Value> {
    let (first, second) = (replay(home, file), replay(home, file));
    assert!(first.status.success() && first.err.is_empty(), "{first:?}");
    assert_eq!(first.out, second.out);
    first.out.lines().map(|line| serde_json::from_str(line).expect("a decision is an object")).collect()
}

fn of<'a>(decisions: &'a [Value], kind: &str) -> Vec<&'a Value> {
    decisions.iter().filter(|decision| decision["decided"] == kind).collect()
}

/// What a message is, without what the platform adds.
fn message(message: &Value) -> Value {
    json!({ "mark": message["mark"], "claim": message["claim"], "blocks": message["blocks"] })
}

fn messages(answers: &[Answer]) -> Vec<Value> {
    answers.iter().flat_map(|answer| &answer.messages).map(message).collect()
}

fn moves(decisions: &[Value]) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of(decisions, "move").iter().map(|moved| (word(&moved["from"]), word(&moved["to"]))).collect()
}

fn pairs(moves: &[(&str, &str)]) -> Vec<(String, String)> {
    moves.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
}

#[test]
fn a_session_is_played_as_it_was() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let file = home.write("demo.toml", "port = 80\n");
    let recording = home.path().join("session.jsonl");
    let mut bot = recorded(&home, &recording);
    let stop = format!("stop process {}", napper.pid());
    let mut said = vec![bot.ask("disk usage"), bot.ask("disk usgae"), bot.ask("1"), bot.ask(&stop)];
    let denied = said[3].card();
    said.extend([bot.ask(&denied.deny("not now")), bot.ask(&denied.approve()), bot.ask(&stop)]);
    let stopped = said[6].card();
    said.extend([bot.ask(&stopped.approve()), bot.ask(&format!("append to {}: debug = true", file.display()))]);
    let drifted = said[8].card();
    home.write("demo.toml", "port = 443\n");
    said.extend([bot.ask(&drifted.approve()), bot.ask("approvals"), bot.ask("why")]);
    assert!(bot.end().status.success());
    assert!(said[9].text().contains("(DRIFTED, "), "{}", said[9].text());

    let mode = std::fs::metadata(&recording).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The process has ended and the file is another one now: a replay looks at neither.
    drop(napper);
    std::fs::remove_file(&file).expect("it can be removed");
    let decided = decisions(&home, &recording);
    let repeated: Vec<_> = of(&decided, "say").into_iter().map(message).collect();
    assert_eq!(repeated, messages(&said), "every card and every answer, to the letter");
    assert_eq!(
        moves(&decided),
        pairs(&[
            ("pending", "denied"),
            ("pending", "approved"),
            ("approved", "executing"),
            ("executing", "unverified"),
            ("unverified", "verified"),
            ("pending", "approved"),
            ("approved", "refused"),
        ])
    );
    let plans: Vec<_> = of(&decided, "file").iter().map(|filed| filed["digest"].clone()).collect();
    assert_eq!(plans, [denied.digest, stopped.digest, drifted.digest]);
    let writes: Vec<_> =
        of(&decided, "call").iter().map(|call| call["plan"].clone()).filter(Value::is_string).collect();
    assert_eq!(writes, [stopped.plan], "one change was carried out");
    // It leaves nothing behind, and needs no data directory.
    let listed = std::fs::read_dir(home.path()).expect("it is there").flatten().map(|entry| entry.file_name());
    let mut listed: Vec<_> = listed.collect();
    listed.sort();
    assert_eq!(listed, ["data", "napper", "session.jsonl"]);
}

#[test]
fn a_recording_that_begins_with_a_waiting_plan_is_played() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    bot.kill();
    let recording = home.path().join("second.jsonl");
    let mut bot = recorded(&home, &recording);
    let said = [bot.ask("approvals"), bot.ask(&format!("approve {}", card.plan))];
    assert!(bot.end().status.success());
    let decided = decisions(&home, &recording);
    assert_eq!(of(&decided, "say").into_iter().map(message).collect::<Vec<_>>(), messages(&said));
    assert_eq!(moves(&decided).last(), Some(&("unverified".to_owned(), "verified".to_owned())));
    let first = std::fs::read_to_string(&recording).expect("it is text");
    assert!(first.lines().nth(1).is_some_and(|line| line.contains(r#""filed":[{"#)), "{first}");
}

#[test]
fn a_recording_holds_no_secret() {
    let home = Home::new();
    let recording = home.path().join("session.jsonl");
    let url = format!("sqlite:{}?password=s3cr3tpassw0rd", home.path().join("other.db").display());
    let log =
        home.write("app.log", "start\npassword=hunter2hunter2\nkey ghp_Xk29vQmR4tLz7WbN1sDf8HyJ3cPa5GeU6oTi\nend\n");
    let mut bot = recorded(&home, &recording);
    for line in [
        format!("last 4 lines of {}", log.display()),
        "write me a poem about password=typedbyhand77x".to_owned(),
        format!("what do you know about {url}"),
        "deny 0123456789abcdef0123456789abcdef password=hunter2hunter2".to_owned(),
    ] {
        bot.ask(&line);
    }
    assert!(bot.end().status.success());
    let written = std::fs::read_to_string(&recording).expect("it is text");
    for secret in ["s3cr3tpassw0rd", "hunter2hunter2", "ghp_Xk29vQmR4tLz7WbN1sDf8HyJ3cPa5GeU6oTi", "typedbyhand77x"] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
    // The words around them are there, so that it was recorded at all; and it can still be played.
    assert!(written.contains("write me a poem about") && written.contains("last 4 lines of"), "{written}");
    assert!(decisions(&home, &recording).len() > 4);
}

#[test]
fn an_existing_file_is_never_written_over() {
    let home = Home::new();
    let file = home.write("mine.txt", "mine");
    let done = finish(home.bot().arg("--record").arg(&file), b"status\n");
    assert_eq!((done.status.code(), done.out.as_str()), (Some(2), ""), "{done:?}");
    let said = done.err.lines().last().unwrap_or_default().replace(&home.path().display().to_string(), "HOME");
    insta::assert_snapshot!(said, @"countersign: --record: cannot create HOME/mine.txt: File exists (os error 17)");
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "mine");
}

#[test]
fn what_is_wrong_with_a_recording_is_named_by_its_line() {
    let home = Home::new();
    let lines: Vec<&str> = SMALL.lines().collect();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = text;
        lines.join("\n")
    };
    let cases = [
        ("form", with(1, &lines[0].replace("\"form\":1", "\"form\":2"))),
        ("header", with(1, "{}")),
        ("empty", String::new()),
        ("broken", with(4, "{\"thread\":")),
        ("cut", SMALL.trim_end().trim_end_matches('}').to_owned()),
        ("kind", with(5, &lines[4].replace("\"signal\":{", "\"sign\":{"))),
        ("seed", with(5, &lines[4].replace("\"seed\":\"0", "\"seed\":\"x"))),
    ];
    let mut said: Vec<String> = Vec::new();
    for (name, text) in cases {
        let done = replay(&home, &home.write(name, text));
        assert_eq!(done.status.code(), Some(2), "{name}: {done:?}");
        said.push(format!("{name}: {}", done.err.trim_end()));
    }
    let missing = replay(&home, Path::new("missing"));
    assert_eq!((missing.status.code(), missing.out.as_str()), (Some(2), ""));
    said.push(format!("missing: {}", missing.err.trim_end()));
    let said = said.join("\n").replace(&home.path().display().to_string(), "HOME");
    insta::assert_snapshot!(said, @r#"
    form: countersign: HOME/form: line 1: the recording has the form 2, and this version plays 1
    header: countersign: HOME/header: line 1: this is no header of a recording: missing field `form` at column 2
    empty: countersign: HOME/empty: line 1: this is no header of a recording: EOF while parsing a value at column 0
    broken: countersign: HOME/broken: line 4: it is no input: EOF while parsing a value at column 10
    cut: countersign: HOME/cut: line 16: it is no input: EOF while parsing an object at column 555
    kind: countersign: HOME/kind: line 5: it is no input: it tells its thread nothing that this version knows
    seed: countersign: HOME/seed: line 5: `seed` is no number: invalid digit found in string
    missing: countersign: cannot open the recording missing: No such file or directory (os error 2)
    "#);
}

/// The decisions of the small recording, those that are said or those that are not.
fn small(is_said: bool) -> String {
    let home = Home::new();
    let file = home.write("small.jsonl", SMALL);
    let mut text = listed(&decisions(&home, &file), is_said);
    for (id, name) in [("a2", "FIRST"), ("a5", "SECOND"), ("ab", "THIRD")] {
        text = text.replace(&format!("{id:0>32}"), name);
    }
    // The ids of this session are made by hand; only what is computed from a plan's bytes is not.
    Regex::new(r"\([0-9a-f]{12}\)").expect("a sound pattern").replace_all(&text, "(DIGEST)").into_owned()
}

#[test]
fn the_small_recording_decides_this() {
    insta::assert_snapshot!(small(false), @r#"
    2 record called host_process.find -: asked by ada: stop process 4711
    2 progress looking for 4711
    2 call host_process.find - {"query":"4711"}, plan -
    3 record refused host_process.stop APPROVAL_REQUIRED: `host_process.stop` must be countersigned first
    3 record called host_process.find -: asked by ada: stop process 4711
    3 progress looking for nginx
    3 call host_process.find - {"query":"process:web-1:4711-100"}, plan -
    4 record proposed host_process.stop -: stop process nginx (pid 4711); asked by ada: stop process 4711
    4 file FIRST: stop process nginx (pid 4711)
    4 finish s-1 answered
    5 move FIRST: pending -> denied
    5 record denied host_process.stop -: deny by uid:1000: stop process nginx (pid 4711); reason: it is needed until noon
    5 redraw FIRST: plain ✗ Denied by ada: it is needed until noon · stop process nginx (pid 4711) on web-1 (0000)
    5 finish s-2 answered
    6 record called host_process.find -: asked by ada: stop process 4711
    6 progress looking for 4711
    6 call host_process.find - {"query":"4711"}, plan -
    7 record refused host_process.stop APPROVAL_REQUIRED: `host_process.stop` must be countersigned first
    7 record called host_process.find -: asked by ada: stop process 4711
    7 progress looking for nginx
    7 call host_process.find - {"query":"process:web-1:4711-100"}, plan -
    8 record proposed host_process.stop -: stop process nginx (pid 4711); asked by ada: stop process 4711
    8 file SECOND: stop process nginx (pid 4711)
    8 finish s-3 answered
    9 move SECOND: pending -> approved
    9 record approved host_process.stop -: approve by uid:1000: stop process nginx (pid 4711); waiver: the requester countersigned alone, as policy allows here
    9 redraw SECOND: plain ✓ Countersigned by ada; being done · stop process nginx (pid 4711) on web-1 (0000)
    9 record called host_process.find -: asked by ada: stop process 4711
    9 progress looking for nginx
    9 call host_process.find - {"query":"process:web-1:4711-100"}, plan -
    10 move SECOND: approved -> executing
    10 record executing host_process.stop -: over at the latest at 2026-01-01 00:00:59 UTC
    10 redraw SECOND: plain ✓ Countersigned by ada; being done · stop process nginx (pid 4711) on web-1 (0000)
    10 record called host_process.stop -: asked by ada: stop process 4711
    10 progress doing it: stop process nginx (pid 4711)
    10 call host_process.stop process:web-1:4711-100 {}, plan SECOND
    11 move SECOND: executing -> unverified
    11 record unverified host_process.stop -: done
    11 redraw SECOND: plain ✓ Countersigned by ada; not verified yet · stop process nginx (pid 4711) on web-1 (0000)
    11 record called host_process.state -: to verify: stop process nginx (pid 4711)
    11 progress verifying: stop process nginx (pid 4711)
    11 call host_process.state process:web-1:4711-100 {}, plan -
    12 move SECOND: unverified -> verified
    12 record verified host_process.stop -: as it should be
    12 redraw SECOND: plain ✓ Done and verified; countersigned by ada · stop process nginx (pid 4711) on web-1 (0000)
    12 finish s-4 answered
    13 record called host_process.find -: asked by ada: stop process 4712
    13 progress looking for 4712
    13 call host_process.find - {"query":"4712"}, plan -
    14 record refused host_process.stop APPROVAL_REQUIRED: `host_process.stop` must be countersigned first
    14 record called host_process.find -: asked by ada: stop process 4712
    14 progress looking for nginx
    14 call host_process.find - {"query":"process:web-1:4712-100"}, plan -
    15 record proposed host_process.stop -: stop process nginx (pid 4712); asked by ada: stop process 4712
    15 file THIRD: stop process nginx (pid 4712)
    15 finish s-5 answered
    16 move THIRD: pending -> expired
    16 record expired host_process.stop -: nobody decided in time
    16 redraw THIRD: plain Expired: nobody decided in time · stop process nginx (pid 4712) on web-1 (0000)
    16 finish s-6 answered
    "#);
}

#[test]
fn the_small_recording_says_this() {
    insta::assert_snapshot!(small(true), @"
    4 say question
        ada asks to stop process nginx (pid 4711) on web-1.
        It is: nginx: worker process
        Medium risk. It will be gone.
        ada (alone; the record says so) can approve until 00:15 UTC.
        Plan 0000: “stop process 4711”
        to decide: plan FIRST
    5 say plain
        Denied: stop process nginx (pid 4711). Reason: it is needed until noon. Nothing was changed.
    8 say question
        ada asks to stop process nginx (pid 4711) on web-1.
        It is: nginx: worker process
        Medium risk. It will be gone.
        ada (alone; the record says so) can approve until 00:15 UTC.
        Plan 0000: “stop process 4711”
        to decide: plan SECOND
    12 say plain
        Done and verified: stop process nginx (pid 4711). A fresh read shows that nginx is gone.
    15 say question
        ada asks to stop process nginx (pid 4712) on web-1.
        It is: nginx: worker process
        Medium risk. It will be gone.
        ada (alone; the record says so) can approve until 00:15 UTC.
        Plan 0000: “stop process 4712”
        to decide: plan THIRD
    16 say plain
        Expired: stop process nginx (pid 4712). Nobody decided in time. Nothing was changed. Ask again if it is still wanted.
    ");
}

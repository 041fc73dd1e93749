//! Whole answers as people read them, and what no answer may contain.

use std::fmt::Write;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{facts, failure, problem_of, show};
use crate::envelope::{Code, Details, Envelope, Failure, Meta, Suggestion};
use crate::port::Block;
use crate::secrets::Mask;
use crate::tool::{ActionSpec, FactSpec, Show};

const PROCESSES: &str = r#"
    lead = "{total} processes on {args.host}, {memory|bytes} in use, load {load}."
    empty = "No process on {args.host} matches."
    more = "ask for fewer, as in `processes named nginx`."
    fields = [
        { title = "Up since", path = "boot", unit = "time" },
        { title = "Swap", path = "swap", unit = "bytes" },
        { title = "Token", path = "token" },
    ]
    [table]
    rows = "processes"
    columns = [
        { title = "PID", path = "pid" },
        { title = "Command", path = "command" },
        { title = "CPU", path = "cpu", unit = "percent" },
        { title = "Running", path = "age", unit = "duration" },
    ]
"#;

fn declared(toml: &str) -> Show {
    toml::from_str(toml).expect("the declaration is sound")
}

fn args() -> Map<String, Value> {
    json!({"host": "web-1"}).as_object().cloned().unwrap_or_default()
}

fn answer(toml: &str, data: Value, left_out: &str) -> String {
    let meta = Meta { observed_at: 1_795_301_225_000, left_out: left_out.to_owned() };
    drawn(&show(&declared(toml), &args(), &Envelope::success(data, meta), &Mask::new(["correct-horse".to_owned()])))
}

/// A plain drawing of blocks, so that a test shows what a person would read.
fn drawn(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Text { text } | Block::Quote { text } => writeln!(out, "{text}"),
            Block::Code { text } => writeln!(out, "```\n{text}\n```"),
            Block::Fields { fields } => fields.iter().try_for_each(|(name, value)| writeln!(out, "{name}: {value}")),
            Block::Table { columns, rows } => {
                let titles = columns.iter().map(|c| format!("{}{}", c.title, if c.right { ">" } else { "" }));
                writeln!(out, "{}", titles.collect::<Vec<_>>().join(" | ")).expect("a string takes everything");
                rows.iter().try_for_each(|row| writeln!(out, "{}", row.join(" | ")))
            }
            Block::Choices { .. } | Block::Card { .. } => writeln!(out, "an answer offers no choices"),
        }
        .expect("a string takes everything");
    }
    out
}

fn processes(count: u64) -> Value {
    (0..count).map(|n| json!({"pid": 800 + n, "command": format!("worker --n={n}"), "cpu": 0.5, "age": 65})).collect()
}

#[test]
fn an_answer_has_its_parts_in_order() {
    let data = json!({
        "total": 3, "memory": 1536, "boot": 1_795_301_225_000_i64, "token": "abc",
        "processes": [
            {"pid": 812, "command": "nginx: master process", "cpu": 3.44, "age": 274_000},
            {"pid": 813, "command": "app --password hunter2\n@everyone \u{1b}[31m", "cpu": 45},
            {"pid": 814, "command": null, "cpu": "n/a", "age": 0},
        ],
    });
    assert_snapshot!(answer(PROCESSES, data, ""), @r"
    3 processes on web-1, 1.5 KiB in use, load unknown.
    Up since: 2026-11-21 22:47:05 UTC
    Token: [masked: token]
    PID> | Command | CPU> | Running>
    812 | nginx: master process | 3.4% | 3 d 4 h
    813 | app --password [masked: password]⏎@ everyone \u{1b}[31m | 45% | -
    814 | - | n/a | 0 s
    ");
}

#[test]
fn only_the_first_rows_are_shown_and_the_rest_is_said() {
    let data = json!({"total": 134, "memory": 0, "load": [0.1, 0.2], "processes": processes(134)});
    let shown = answer(PROCESSES, data, "2 processes ended meanwhile; ask again.");
    let (head, tail) = (shown.lines().take(4).collect::<Vec<_>>(), shown.lines().skip(21).collect::<Vec<_>>());
    assert_snapshot!(head.join("\n"), @"
    134 processes on web-1, 0 B in use, load 0.1, 0.2.
    PID> | Command | CPU> | Running>
    800 | worker --n=0 | 0.5% | 1 min 5 s
    801 | worker --n=1 | 0.5% | 1 min 5 s
    ");
    assert_snapshot!(tail.join("\n"), @r#"
    819 | worker --n=19 | 0.5% | 1 min 5 s
    The first 20 are shown here.
    2 processes ended meanwhile; ask again.
    "#);
    let all = answer(PROCESSES, json!({"processes": processes(20)}), "");
    assert!(!all.contains("shown.") && all.lines().count() == 22, "{all}");
}

#[test]
fn empty_is_said_and_missing_is_not_called_empty() {
    assert_snapshot!(answer(PROCESSES, json!({"total": 0, "processes": []}), ""), @"No process on web-1 matches.");
    assert_snapshot!(answer(PROCESSES, json!({"total": 0}), ""), @"
    0 processes on web-1, unknown in use, load unknown.
    The answer does not have the expected form: `processes` is missing.
    ");
    assert_snapshot!(answer("text = 'lines'\nempty = 'No lines.'", json!({"lines": "  \n"}), "cut at 5 MB"), @r#"
    No lines.
    Cut at 5 MB.
    "#);
    assert_snapshot!(answer("text = 'lines'", json!({"lines": []}), ""), @"There is nothing to show.");
    assert_snapshot!(answer("text = 'lines'", json!({"lines": 7}), ""), @"The answer does not have the expected form: `lines` is missing.");
    assert_snapshot!(answer("", json!({}), ""), @"There is nothing to show.");
}

#[test]
fn a_text_is_masked_as_a_whole_escaped_and_bounded() {
    let begin = ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat();
    let lines = json!({"lines": ["a\tb", "it is correct-horse", begin, "MIIEsecret"]});
    assert_snapshot!(answer("text = 'lines'", lines, ""), @"
    ```
    a    b
    it is [masked: secret]
    [masked: private key]
    ```
    ");
    let long = json!({"log": "x".repeat(3_000)});
    let shown = answer("text = 'log'", long, "");
    assert!(shown.contains("x…") && shown.chars().count() == 2_000 + 9, "{}", shown.chars().count());
    let many = json!({"log": "line\n".repeat(1_234)});
    let shown = answer("text = 'log'\nmore = 'ask for fewer lines.'", many, "");
    assert!(shown.ends_with("line\n```\n500 of 1234 lines shown. To see more: ask for fewer lines.\n"), "{shown}");
    let wide = json!({"log": format!("{}\n", "ü".repeat(1_000)).repeat(100)});
    let shown = answer("text = 'log'", wide, "");
    assert!(shown.contains("32 of 100 lines shown.") && shown.len() < 65 * 1024, "{}", shown.len());
}

#[test]
fn a_failure_says_what_why_and_what_to_do() {
    let mask = Mask::default();
    let details = Details {
        recovery_hint: Some("find it first: `find nginx`".to_owned()),
        resource_id: Some("service:web-1:ngnix".to_owned()),
        action: Some("host_service.status".to_owned()),
        suggestions: vec![
            Suggestion { name: "nginx".to_owned(), id: "service:web-1:nginx".to_owned() },
            Suggestion { name: "nginx-proxy".to_owned(), id: String::new() },
        ],
        ..Details::default()
    };
    let refused = Envelope::blocked(Code::StrictResolution, "ngnix was not found in this thread", details);
    assert_snapshot!(drawn(&show(&Show::default(), &args(), &refused, &mask)), @r#"
    ngnix was not found in this thread.
    (STRICT_RESOLUTION)
    What to do: find it first: `find nginx`.
    Did you mean:
    - nginx (service:web-1:nginx)
    - nginx-proxy
    "#);
    let details = Details { suggested_rewrite: Some("tail -n 100 /var/log/syslog".to_owned()), ..Details::default() };
    let refused = Envelope::blocked(Code::ReadOnlyViolation, "`tail -f` does not end by itself.", details);
    assert_snapshot!(drawn(&show(&Show::default(), &args(), &refused, &mask)), @r#"
    `tail -f` does not end by itself.
    (READ_ONLY_VIOLATION)
    This form would be allowed:
    ```
    tail -n 100 /var/log/syslog
    ```
    "#);
    let broken = Envelope::failed(
        Code::Timeout,
        "connecting to postgres://app:hunter2@db took too long @here\u{1b}[2J",
        true,
        Details { argument: Some("db".to_owned()), ..Details::default() },
    );
    assert_snapshot!(drawn(&failure(broken.error.as_ref().expect("it failed"), None, &mask)), @r#"
    connecting to postgres://app:[masked: password]@db took too long @ here\u{1b}[2J.
    (TIMEOUT)
    What to do: try the same again; it may work.
    "#);
    let mute = Envelope { ok: false, data: json!({"processes": []}), error: None, meta: Meta::default() };
    assert_snapshot!(drawn(&show(&declared(PROCESSES), &args(), &mute, &mask)), @"The tool reported a failure and did not say which.");
}

#[test]
fn facts_are_short_whole_and_masked() {
    let specs = |list: &[(&str, &str)]| -> Vec<FactSpec> {
        list.iter().map(|(attr, value)| FactSpec { attr: (*attr).to_owned(), value: (*value).to_owned() }).collect()
    };
    let specs = specs(&[
        ("status", "{state}"),
        ("memory", "{rss|bytes} of {limit|bytes}"),
        ("url", "{url}"),
        ("long", "{long}"),
        ("asked", "{args.host}"),
        ("broken", "{state"),
    ]);
    let data = json!({"state": "run\nning", "rss": 2048, "url": "http://u:hunter2@h", "long": "é".repeat(300)});
    let envelope = Envelope::success(data, Meta::default());
    let remembered = facts(&specs, &envelope, &Mask::default());
    let expected =
        [("status", "run⏎ning"), ("url", "http://u:[masked: password]@h"), ("long", &("é".repeat(199) + "…"))];
    let expected = expected.map(|(attr, value)| (attr.to_owned(), value.to_owned()));
    assert_eq!(remembered, expected);
    assert!(facts(&specs, &Envelope { ok: false, ..envelope }, &Mask::default()).is_empty());
}

#[test]
fn a_malformed_declaration_is_told_with_its_key() {
    let spec = |rest: &str| -> ActionSpec {
        toml::from_str(&format!("kind = 'read'\nabout = 'x'\nlimit_ms = 1\n{rest}")).expect("it parses")
    };
    let sound =
        format!("args.host = {{ type = 'text', about = 'x' }}\n[show]{}", PROCESSES.replace("[table]", "[show.table]"));
    assert_eq!(problem_of(&spec(&sound)), None);
    let table = [
        ("show.lead = '{a'", "`show.lead`: `{` without `}`; write `{{` for a brace"),
        ("show.more = 'a}'", "`show.more`: `}` without `{`; write `}}` for a brace"),
        ("show.empty = '{args.hots}'", "`show.empty` uses `args.hots`, which is no argument of this action"),
        ("show.empty = '{args}'", "`show.empty` uses `args.`, which is no argument of this action"),
        (
            "fact = [{ attr = 'a', value = '{a..b}' }]",
            "`fact.value`: `a..b` is no path; write keys with dots between them, as in `disks.0.used`",
        ),
        (
            "show.table = { rows = 'a b', columns = [] }",
            "`show.table.rows`: `a b` is no path; write keys with dots between them, as in `disks.0.used`",
        ),
        ("show.text = ''", "`show.text`: `` is no path; write keys with dots between them, as in `disks.0.used`"),
    ];
    for (rest, expected) in table {
        assert_eq!(problem_of(&spec(rest)).as_deref(), Some(expected), "{rest}");
    }
}

fn failure_of(message: String, hint: String) -> Failure {
    let details = Details { recovery_hint: Some(hint), ..Details::default() };
    Envelope::failed(Code::ExecutionFailed, message, false, details).error.expect("it failed")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in the data, nothing hidden, no mention and no secret is in a block.
    #[test]
    fn no_block_holds_what_must_not_be_shown(
        odd in prop::collection::vec(prop_oneof![
            Just("@everyone".to_owned()), Just("<@1>".to_owned()), Just("\u{1b}[0m".to_owned()), Just("\u{202e}".to_owned()),
            Just(" correct-horse ".to_owned()), Just("\n".to_owned()), Just("{".to_owned()), "[a-z ]{0,5}",
        ], 0..8),
    ) {
        let odd = odd.concat();
        let mask = Mask::new(["correct-horse".to_owned()]);
        let data = json!({
            "total": odd, "token": 1, "processes": [{"pid": odd, "command": odd.repeat(9)}], "load": [odd], "log": [odd, odd],
        });
        let toml = PROCESSES.replace("[table]", "text = 'log'\n[table]");
        let meta = Meta { observed_at: 0, left_out: odd.clone() };
        let mut blocks = show(&declared(&toml), &args(), &Envelope::success(data, meta), &mask);
        blocks.extend(failure(&failure_of(odd.clone(), odd), None, &mask));
        let shown = drawn(&blocks);
        prop_assert!(!shown.contains("correct-horse") && !shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        prop_assert!(!crate::text::mentions_everyone(&shown), "{shown}");
    }
}

#[test]
fn a_name_with_new_lines_cannot_look_like_a_sentence_of_ours() {
    // A file may be called anything; what stands at the beginning of a line is the bot's own word.
    let forged = "log\n? Approve the restart of postgres? Type 1 or yes to run it.\n  1) yes";
    let lead = toml::from_str("lead = '{path}:'").expect("a sound declaration");
    let told = Envelope::success(json!({ "path": forged }), Meta::default());
    let told = drawn(&show(&lead, &Map::new(), &told, &Mask::default()));
    let broken =
        Envelope::failed(Code::ExecutionFailed, format!("`{forged}` cannot be read"), false, Details::default());
    let failed = drawn(&failure(broken.error.as_ref().expect("it failed"), None, &Mask::default()));
    for text in [told, failed] {
        assert!(text.contains("Approve"), "{text}");
        assert!(text.lines().all(|line| !line.starts_with(['?', ' '])), "{text}");
    }
}

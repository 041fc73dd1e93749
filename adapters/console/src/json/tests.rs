//! The forms of the JSON lines, and that the README shows exactly them.

use countersign_core::approval::{Outcome, Risk};
use countersign_core::port::DeliveryNotes;
use countersign_core::port::{Choice, Lane, Source, TableColumn, Visibility};
use countersign_core::resource::ResourceId;
use countersign_core::signal::{AccountId, ConversationId, Platform, SpaceId, ThreadKey, ThreadRoot};

use super::*;

fn outgoing(signal: &str, mark: Mark, lane: Lane, claim: Claim, blocks: Vec<Block>) -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("console"),
        account: AccountId::new("web1"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("console"),
        root: ThreadRoot::new("main"),
    };
    let visibility = Visibility::Everybody;
    Outgoing { to, answers: SignalId::new(signal), mark, lane, visibility, claim, blocks }
}

fn plan() -> PlanId {
    PlanId::parse("4a3f00c19be2d7756018f2ab9c44e01d").expect("it is an id")
}

fn digest() -> Digest {
    Digest::of(b"the canonical bytes of a plan")
}

/// The end of a card.
fn card() -> Outgoing {
    let choices = vec![CardChoice::Approve, CardChoice::Deny];
    let blocks = vec![
        Block::Text { text: "Countersign this? stop process sleep (pid 4711)".to_owned() },
        Block::Card { plan: plan(), digest: digest(), risk: Risk::Medium, choices },
    ];
    outgoing("s1", Mark::Question, Lane::Decision, Claim::Nothing, blocks)
}

/// What a change came to.
fn change() -> Outgoing {
    let target = ResourceId::scoped("process", "web1", "4711-1767220000").ok();
    let source = Source { call: "host.process".to_owned(), target, observed_at: 1_767_225_660_000 };
    let claim = Claim::Change { plan: plan(), outcome: Outcome::AsExpected, sources: vec![source] };
    let blocks = vec![Block::Text { text: "Process sleep is gone.".to_owned() }];
    outgoing("s2", Mark::Plain, Lane::Answer, claim, blocks)
}

fn sample() -> Outgoing {
    let source = Source { call: "host.disks".to_owned(), target: None, observed_at: 1_767_225_600_000 };
    let column = |title: &str, right| TableColumn { title: title.to_owned(), right };
    let blocks = vec![
        Block::Text { text: "Disk usage on web1.".to_owned() },
        Block::Code { text: "df -h".to_owned() },
        Block::Fields { fields: vec![("host".to_owned(), "web1".to_owned())] },
        Block::Table {
            columns: vec![column("mount", false), column("used", true)],
            rows: vec![vec!["/".to_owned(), "81%".to_owned()]],
        },
        Block::Choices {
            question: QuestionId::new("q1"),
            choices: vec![Choice { label: "nginx".to_owned(), about: "web1".to_owned() }],
        },
    ];
    let claim = Claim::Readings { sources: vec![source], unverified: None };
    outgoing("s1", Mark::Plain, Lane::Answer, claim, blocks)
}

/// The lines of the README's blocks that begin with this fence.
fn documented(fence: &str) -> Vec<&'static str> {
    let readme = include_str!("../../README.md");
    let mut lines = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == fence;
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn the_readme_shows_every_event_as_it_is_written() {
    let signal = SignalId::new("s1");
    let written = [
        accepted("a1", &signal),
        duplicate("a1"),
        limited("a1", 2400),
        message("p1", &sample(), DeliveryNotes::default()),
        answered(&signal),
        message("p2", &card(), DeliveryNotes::default()),
        message("p3", &change(), DeliveryNotes::default()),
        error(Some("a1"), "The bot is stopping. This line was not taken; send it again after the start."),
    ];
    let written: Vec<&str> = written.iter().map(|line| line.trim_end()).collect();
    assert_eq!(documented("```json out"), written);
}

#[test]
fn the_readme_shows_input_that_is_understood() {
    let understood: Vec<Said> =
        documented("```json in").into_iter().map(|line| parse(line).expect("the README is right")).collect();
    let text = |event: Option<&str>, text: &str| Said {
        event: event.map(str::to_owned),
        payload: Payload::Text { text: text.to_owned() },
    };
    let pick = Payload::Choice { question: QuestionId::new("q1"), pick: 0 };
    let expected = [
        text(None, "disk usage"),
        text(Some("a1"), "disk usage"),
        Said { event: Some("a2".to_owned()), payload: pick },
        decided(Some("a3"), CardChoice::Approve, ""),
        decided(Some("a4"), CardChoice::Deny, "it is needed until noon"),
    ];
    assert_eq!(understood, expected);
}

fn decided(event: Option<&str>, choice: CardChoice, reason: &str) -> Said {
    let (plan, digest) = (plan(), digest());
    let payload = Payload::Decision { plan, digest, choice, reason: reason.to_owned() };
    Said { event: event.map(str::to_owned), payload }
}

/// A decision with one field as given, and the others right.
fn decision(field: &str, value: Option<Value>) -> Result<Said, Misread> {
    let mut object = serde_json::json!({"plan": plan(), "digest": digest(), "choice": "approve"});
    match value {
        Some(value) => object[field] = value,
        None => drop(object.as_object_mut().expect("it is an object").remove(field)),
    }
    parse(&object.to_string())
}

#[test]
fn a_decision_is_read_from_what_the_card_said() {
    let plan = plan().as_str().to_ascii_uppercase();
    let digest = digest().as_str().to_ascii_uppercase();
    for (field, value) in [("plan", plan), ("digest", digest), ("reason", String::new())] {
        assert_eq!(decision(field, Some(value.into())), Ok(decided(None, CardChoice::Approve, "")), "{field}");
    }
    assert_eq!(decision("choice", Some("deny".into())), Ok(decided(None, CardChoice::Deny, "")));
}

#[test]
fn a_wrong_decision_names_the_field() {
    let wrong = |field, value| decision(field, Some(value)).expect_err("the line is wrong").message;
    let cut = |whole: &str| Value::from(&whole[..12]);
    insta::assert_snapshot!(wrong("plan", cut(plan().as_str())), @"`plan` must be the full id of a plan, as the `card` block of the message holds it: 32 hexadecimal digits.");
    insta::assert_snapshot!(wrong("digest", cut(digest().as_str())), @"`digest` must be the whole digest, as the `card` block of the message holds it: 64 hexadecimal digits.");
    insta::assert_snapshot!(wrong("choice", "yes".into()), @"`choice` must be `approve` or `deny`.");
    insta::assert_snapshot!(wrong("reason", 5.into()), @"`reason` must be text.");
    for field in ["plan", "digest", "choice"] {
        let begin = format!("`{field}` must be ");
        for value in
            [serde_json::json!(5), serde_json::json!(""), serde_json::json!(["approve"]), "ä".repeat(32).into()]
        {
            assert!(wrong(field, value.clone()).starts_with(&begin), "{field} {value}");
        }
        let missing = decision(field, None).expect_err("a field is missing").message;
        assert_eq!(missing, NEEDS, "{field}");
    }
    for (field, value) in [("text", "why".into()), ("question", "q1".into()), ("pick", 0.into())] {
        assert_eq!(wrong(field, value), NEEDS, "a line says one thing: {field}");
    }
    let both = r#"{"question":"q1","pick":0,"reason":"x"}"#;
    assert_eq!(misread(both), NEEDS);
}

fn misread(line: &str) -> String {
    parse(line).expect_err("the line is wrong").message
}

#[test]
fn a_line_that_is_not_understood_is_explained() {
    insta::assert_snapshot!(misread(r#"{"event":"a","txt":"x"}"#), @r"This line was not understood: unknown field `txt`, expected one of `event`, `text`, `question`, `pick`, `plan`, `digest`, `choice`, `reason` at line 1 column 18.");
    insta::assert_snapshot!(misread(r#"{"event":"a","text":"x","pick":1}"#), @r"A line needs one of these: `text` that is not empty; `question` and `pick`; or `plan`, `digest` and `choice`.");
    insta::assert_snapshot!(misread(r#"{"event":"","text":"x"}"#), @r"`event` must have between 1 and 200 bytes.");
    insta::assert_snapshot!(misread(r#"{"text":"x","text":"y"}"#), @r"This line was not understood: duplicate field `text` at line 1 column 18.");
    insta::assert_snapshot!(misread(r#"{"question":"q1","pick":-1}"#), @r"This line was not understood: invalid value: integer `-1`, expected u32 at line 1 column 26.");
    for line in [r"{}", r#"{"text":" "}"#, r#"{"question":"q1"}"#, r#"{"event":"a"}"#] {
        assert_eq!(misread(line), NEEDS, "{line}");
    }
    let long = "e".repeat(EVENT_BYTES_MAX + 1);
    assert!(parse(&format!(r#"{{"event":"{long}","text":"x"}}"#)).is_err());
}

#[test]
fn what_json_lets_through_is_escaped_and_means_the_same() {
    let text = "a\u{7f}b\u{9b}c\u{202e}d\u{1b}";
    let line = error(None, text);
    assert!(!line.trim_end().chars().any(clean::acts), "{line}");
    let back: Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!(back["message"], text);
}

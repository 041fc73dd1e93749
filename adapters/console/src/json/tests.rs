//! The forms of the JSON lines, and that the README shows exactly them.

use countersign_core::port::{Choice, Lane, Source, TableColumn};
use countersign_core::signal::{AccountId, ConversationId, Platform, SpaceId, ThreadKey, ThreadRoot};

use super::*;

fn sample() -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("console"),
        account: AccountId::new("web1"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("console"),
        root: ThreadRoot::new("main"),
    };
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
    let claim = Claim::Readings { sources: vec![source] };
    Outgoing { to, answers: SignalId::new("s1"), mark: Mark::Plain, lane: Lane::Answer, claim, blocks }
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
        message("p1", &sample(), false),
        answered(&signal),
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
    ];
    assert_eq!(understood, expected);
}

fn misread(line: &str) -> String {
    parse(line).expect_err("the line is wrong").message
}

#[test]
fn a_line_that_is_not_understood_is_explained() {
    insta::assert_snapshot!(misread(r#"{"event":"a","txt":"x"}"#), @r"This line was not understood: unknown field `txt`, expected one of `event`, `text`, `question`, `pick` at line 1 column 18.");
    insta::assert_snapshot!(misread(r#"{"event":"a","text":"x","pick":1}"#), @r"A line needs either `text` that is not empty, or `question` and `pick`.");
    insta::assert_snapshot!(misread(r#"{"event":"","text":"x"}"#), @r"`event` must have between 1 and 200 bytes.");
    insta::assert_snapshot!(misread(r#"{"text":"x","text":"y"}"#), @r"This line was not understood: duplicate field `text` at line 1 column 18.");
    insta::assert_snapshot!(misread(r#"{"question":"q1","pick":-1}"#), @r"This line was not understood: invalid value: integer `-1`, expected u32 at line 1 column 26.");
    for line in [r"{}", r#"{"text":" "}"#, r#"{"question":"q1"}"#, r#"{"event":"a"}"#] {
        assert_eq!(misread(line), "A line needs either `text` that is not empty, or `question` and `pick`.", "{line}");
    }
    let long = "e".repeat(EVENT_BYTES_MAX + 1);
    assert!(parse(&format!(r#"{{"event":"{long}","text":"x"}}"#)).is_err());
}

#[test]
fn what_json_lets_through_is_escaped_and_means_the_same() {
    let text = "a\u{7f}b\u{9b}c\u{202e}d\u{1b}";
    let line = error(None, text);
    assert!(!line.trim_end().chars().any(clean::acts), "{line}");
    let back: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!(back["message"], text);
}

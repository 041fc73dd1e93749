//! Scenes around one file: changed as its diff showed, and left alone where it was changed meanwhile or would not parse.

use serde_json::json;

use super::{is_verified, said};
use crate::support::bot::{Bot, Home};

#[test]
fn a_file_is_changed_as_the_diff_showed() {
    let home = Home::new();
    let file = home.write("demo.toml", "port = 80\nhost = \"web-1\"\n");
    let mut bot = Bot::json(&home);
    let lines = format!("write {}:\nport = 8080\nhost = \"web-1\"\n", file.display());
    let asked = bot.ask(&json!({ "text": lines }).to_string());
    insta::assert_snapshot!(said(&home, &asked), @r#"
    PERSON asks to write HOME/demo.toml on HOST.
    It is: a text file, 25 bytes now
    Medium risk.
    PERSON (alone; the record says so) can approve until TIME.
    Plan SHORT: “CUT…”
    With content | port = 8080⏎host = "web-1"⏎
    --- HOME/demo.toml (line ends LF)
    +++ HOME/demo.toml (line ends LF)
    @@ -1,2 +1,2 @@
    -port = 80
    +port = 8080
     host = "web-1"
    to decide: plan PLAN
    "#);
    let done = bot.ask(&asked.card().approve());
    assert!(is_verified(&done, &asked.card().plan, "as_expected"), "{done:?}");
    insta::assert_snapshot!(said(&home, &done), @"
    Done and verified: write HOME/demo.toml. A fresh read shows what was expected.
    sha256 | SHA256 (as expected)
    ");
    let read = || std::fs::read_to_string(&file).expect("it is there");
    assert_eq!(read(), "port = 8080\nhost = \"web-1\"\n");

    let asked = bot.ask(&format!("append to {}: debug = true", file.display()));
    assert!(asked.text().contains("\n+debug = true\n"), "{}", asked.text());
    let done = bot.ask(&asked.card().approve());
    assert!(is_verified(&done, &asked.card().plan, "as_expected"), "{done:?}");
    assert_eq!(read(), "port = 8080\nhost = \"web-1\"\ndebug = true\n");
}

#[test]
fn a_text_is_replaced_and_a_line_added_as_people_type_it() {
    let home = Home::new();
    let file = home.write("demo.toml", "port = 80\n");
    let mut bot = Bot::json(&home);
    let asked = bot.ask(&format!("replace \"port = 80\" with \"port = 81\" in {}", file.display()));
    insta::assert_snapshot!(said(&home, &asked), @"
    PERSON asks to replace in HOME/demo.toml on HOST.
    It is: a text file, 10 bytes now
    Medium risk.
    PERSON (alone; the record says so) can approve until TIME.
    Plan SHORT: “CUT…”
    With from | port = 80
    --- HOME/demo.toml (line ends LF)
    +++ HOME/demo.toml (line ends LF)
    @@ -1 +1 @@
    -port = 80
    +port = 81
    to decide: plan PLAN
    ");
    assert!(is_verified(&bot.ask(&asked.card().approve()), &asked.card().plan, "as_expected"));
    let asked = bot.ask(&format!("sed -i 's/81/82/g' {}", file.display()));
    assert!(is_verified(&bot.ask(&asked.card().approve()), &asked.card().plan, "as_expected"));
    let asked = bot.ask(&format!("add the line debug  =  true to {} please", file.display()));
    assert!(is_verified(&bot.ask(&asked.card().approve()), &asked.card().plan, "as_expected"));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "port = 82\ndebug  =  true\n");
    let refused = bot.ask(&format!("replace 443 with 444 in {}", file.display()));
    insta::assert_snapshot!(said(&home, &refused), @"
    `HOME/demo.toml` does not contain `443`; upper and lower case and blanks count.
    (INVALID_INPUT, gate `spoke`)
    ");
    assert_eq!(bot.ask("approvals").text(), "No plan is open in this thread.");
}

#[test]
fn a_file_that_was_changed_after_its_card_is_left_alone() {
    let home = Home::new();
    let file = home.write("demo.toml", "port = 80\n");
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("append to {}: debug = true", file.display())).card();
    home.write("demo.toml", "port = 443\n");
    let refused = bot.ask(&card.approve());
    assert_eq!(refused.mark(), "refused");
    insta::assert_snapshot!(said(&home, &refused), @"
    Not done: append to HOME/demo.toml.
    Its sha256 was SHA256… when the plan was made and is SHA256… now.
    (DRIFTED, gate `carry`)
    Nothing was changed.
    ");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "port = 443\n");
    // The same again is another plan, for the file as it is now.
    let again = bot.ask(&format!("append to {}: debug = true", file.display()));
    assert_ne!(again.card().plan, card.plan);
    assert!(is_verified(&bot.ask(&again.card().approve()), &again.card().plan, "as_expected"));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "port = 443\ndebug = true\n");
}

/// Its content is the same, and who may use it is not: the one who countersigned has not seen that.
#[test]
fn a_file_whose_mode_was_changed_after_its_card_is_left_alone() {
    let home = Home::new();
    let file = home.write("demo.sh", "echo one\n");
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("append to {}: echo two", file.display())).card();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).expect("it is ours");
    let refused = bot.ask(&card.approve());
    assert_eq!(refused.mark(), "refused");
    let text = refused.text();
    assert!(text.contains("Its access was 0") && text.contains("is 4755 "), "{text}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "echo one\n");
}

#[test]
fn what_would_not_parse_is_refused_before_there_is_a_plan() {
    let home = Home::new();
    let file = home.write("demo.toml", "port = 80\n");
    let mut bot = Bot::json(&home);
    let refused = bot.ask(&format!("append to {}: port = [", file.display()));
    assert_eq!(refused.mark(), "refused");
    insta::assert_snapshot!(said(&home, &refused), @r"
    `HOME/demo.toml` would not be valid: as TOML, line 2 does not parse.
    (INVALID_INPUT, gate `spoke`)
    ");
    assert_eq!(bot.ask("approvals").text(), "No plan is open in this thread.");
}

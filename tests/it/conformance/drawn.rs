//! What people see on a chat platform, drawn as its own program would draw it: the pictures in the README are made here, from a real
//! conversation, and compared with what is printed. Numbers, names of machines and the rows of tables that show the machine
//! are its own and are not compared; nor is where a line breaks, which depends on how long they are.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use countersign_telegram_fake::Message;
use regex::Regex;
use tokio::process::{Child, Command};

use crate::support::chat::Chat;
use crate::support::discord::{self, Stage as OnDiscord};
use crate::support::stage::Stage as On;
use crate::support::telegram::{ANN, BOB, Stage};

/// In the place of the folder of a test.
const SHORT: &str = "/tmp/";

const README: &str = include_str!("../../../README.md");

/// The pictures under the heading of a platform, from the first to the last.
fn printed(platform: &str) -> Vec<&'static str> {
    let names = [("discord", "Discord"), ("telegram", "Telegram")];
    let (_, name) = names.into_iter().find(|(id, _)| *id == platform).expect("it has a section");
    let (_, section) = README.split_once(&format!("\n## On {name}\n")).expect("the README has this section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```text\n").skip(1);
    blocks.map(|rest| rest.split_once("\n```").expect("the block ends").0).collect()
}

/// What must be the same on every machine, as words: the heading of a table counts, its rows do not.
fn words(picture: &str) -> String {
    let own = [
        (r"until \d\d:\d\d UTC", "until <time>"),
        (r"Plan [0-9a-f]{4}: ", "Plan <short>: "),
        (r"\bon \S+ \([0-9a-f]{4}\)", "on <machine> (<short>)"),
        (r"(\(pid \d+\)) on \S+\.", "$1 on <machine>."),
        (r"(\(pid \d+\)) on \S*…", "$1 on <machine>."),
        (r"\b[0-9a-f]{32}\b", "<id>"),
        (r"\([0-9a-f]{12}\)", "(<digest>)"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "<time>"),
        (r"process:[^\s:]+:\d+-\d+", "<process>"),
        (r"\b(pid|process) \d+", "$1 <number>"),
        (r"of backup on \S+", "of backup on <machine>"),
        (r"\b\d+(\.\d+)? (lines|KiB|bytes)\b", "<number> $2"),
    ];
    let mut said = Vec::new();
    let mut in_table = false;
    for line in picture.lines() {
        let line = line.trim_matches(|c: char| c.is_whitespace() || "│╭╮╰╯─".contains(c));
        let is_code = line.starts_with('▏');
        if !(is_code && in_table) {
            said.extend(line.split_whitespace());
        }
        in_table = is_code && (in_table || line.starts_with("▏Process"));
    }
    own.iter().fold(said.join(" "), |text, (pattern, name)| {
        Regex::new(pattern).expect("a sound pattern").replace_all(&text, *name).into_owned()
    })
}

/// A picture must be what is printed. Where it is not, it is shown, so that it can be put into the README.
fn compare<C: Chat>(at: usize, picture: &str, stage: &On<C>) {
    let picture = short(picture, &format!("{}/", stage.home.path().display()));
    let printed = printed(C::PLATFORM).get(at).copied().unwrap_or_default();
    assert_eq!(words(printed), words(&picture), "picture {at} of {} in the README is to be\n{picture}\n", C::PLATFORM);
}

/// The picture with a short folder in the place of the test's own. The edge of a bubble stays where it is.
fn short(picture: &str, folder: &str) -> String {
    let blanks = " ".repeat(folder.len() - SHORT.len());
    let line = |line: &str| match line.split_once(folder) {
        Some((before, after)) => {
            let (inside, edge) = after.rsplit_once(" │").map_or((after, ""), |(inside, _)| (inside, " │"));
            format!("{before}{SHORT}{inside}{blanks}{edge}")
        }
        None => line.to_owned(),
    };
    picture.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A program of the team's that runs until it is stopped. Each test has one of its own: they are found by their names.
fn program<C: Chat>(stage: &On<C>, name: &str) -> Child {
    let program = stage.home.path().join(name);
    symlink("/bin/sh", &program).expect("a link can be made");
    // It reads from a pipe that this test holds, so that it ends with the test whatever happens.
    stage.home.write("run", "read line\n");
    let mut command = Command::new(program);
    let command = command.arg0(name).arg("run").current_dir(stage.home.path()).stdin(Stdio::piped());
    command.kill_on_drop(true).spawn().expect("a shell can be started")
}

#[tokio::test]
async fn answers_are_drawn_as_printed() {
    let stage = Stage::start().await;
    let chat = stage.fake.private(ANN);
    let lines: Vec<String> = (1..=500).map(|n| format!("request {n} served in 12 ms by worker 3 of web-1")).collect();
    let log = stage.home.write("demo.log", lines.join("\n") + "\n");
    let _payd = program(&stage, "payd");
    stage.ask(ANN, chat, "find process payd", "PID").await;
    stage.ask(ANN, chat, &format!("last 500 lines of {}", log.display()), "All of it is in the file").await;
    stage.fake.wait_for(chat, |message| message.document.is_some()).await;
    stage.ask(ANN, chat, "show file /etc/shadow", "POLICY_BLOCKED").await;
    compare(0, &stage.fake.draw(chat, None), &stage);
}

#[tokio::test]
async fn a_card_is_drawn_as_printed_while_it_waits_and_when_it_is_decided() {
    let stage = Stage::start().await;
    let _mailer = program(&stage, "mailer");
    let card = stage.card(ANN, stage.ops, "stop process mailer").await;
    compare(1, &stage.fake.draw(stage.ops, None), &stage);
    stage.approve(BOB, &card).await;
    stage.said(stage.ops, "A fresh read shows that mailer is gone.").await;
    stage.reads((stage.ops, card.message), "✓ Done and verified").await;
    compare(2, &stage.fake.draw(stage.ops, None), &stage);
}

#[tokio::test]
async fn progress_is_drawn_as_printed_and_goes_when_the_answer_is_there() {
    let stage = Stage::start().await;
    let (chat, mut backup) = (stage.fake.private(ANN), program(&stage, "backup"));
    let asked = stage.say(ANN, chat, "wait until process backup is gone");
    let is_progress = |message: &Message| message.from_bot && message.text.starts_with("reading ");
    let progress = stage.fake.wait_for(chat, is_progress).await;
    compare(3, &stage.fake.draw(chat, None), &stage);
    backup.kill().await.expect("it can be ended");
    stage.answer(chat, asked, "is gone, after").await;
    stage.fake.wait_for_call(|call| call.method == "deleteMessage" && call.outcome.took_effect()).await;
    assert!(stage.fake.message(chat, progress.id).is_some_and(|message| message.deleted));
}

#[tokio::test]
async fn a_card_and_a_refusal_for_one_person_are_drawn_as_printed_on_discord() {
    let stage = OnDiscord::start().await;
    let _indexer = program(&stage, "indexer");
    let card = stage.card(ANN, stage.ops, "stop process indexer").await;
    stage.approve(ANN, &card).await;
    compare(0, &stage.fake.draw_for(discord::user(ANN), stage.ops), &stage);
    let asked = stage.fake.press_button(BOB, stage.ops, card.message, "Deny");
    let modal = stage.fake.callback_answer(&asked).await.modal.expect("a window opens");
    stage.fake.submit(&asked, &[(modal.inputs[0].label.as_str(), "not before Monday")]);
    stage.said(stage.ops, "Denied: stop process indexer").await;
    stage.reads((stage.ops, card.message), "✗ Denied by bob").await;
    compare(1, &stage.fake.draw_for(discord::user(BOB), stage.ops), &stage);
}

#[test]
fn the_words_of_a_picture_see_what_matters() {
    let picture = "╭───╮\n│ ▏Process  PID │\n│ ▏web  7 │\n│ stop process 7? │\n╰───╯\n[ Approve ] [ Deny ]";
    let same =
        "╭──────╮\n│ ▏Process PID │\n│ ▏db 12 │\n│ ▏web 4711 │\n│ stop process │\n│ 4711?│\n╰──╯\n[ Approve ] [ Deny ]";
    assert_eq!(words(picture), words(same));
    for other in [picture.replace("stop", "start"), picture.replace("Deny", "Approve"), picture.replace("PID", "CPU")] {
        assert_ne!(words(picture), words(&other), "{other}");
    }
}

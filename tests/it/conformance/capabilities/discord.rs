//! Discord: buttons, edits, reactions, answers for one person and names offered while somebody types, in every room; threads
//! of their own where that is configured; commands, and files for what is long.

use std::time::Duration;

use countersign_discord_fake::{AnswerKind, ChannelId, Outcome, Say};

use crate::support::bot::lives;
use crate::support::chat::Chat as _;
use crate::support::discord::{ANN, BOB, EVE, Stage, TOM, id, number, user};

#[tokio::test]
async fn discords_buttons_edits_and_private_answers_work_in_every_kind_of_room() {
    let stage = Stage::start().await;
    let asked = stage.fake.say(Say::new(user(ANN), stage.ops, "look at web"));
    let threads = [stage.fake.thread(user(ANN), stage.ops, "web"), opened_from(&stage, asked)];
    for room in [stage.ops, threads[0], threads[1]] {
        let process = stage.home.process("napper", &[]);
        let asked = stage.say(ANN, room, &format!("stop process {}", process.pid()));
        let card = stage.fake.seen(room, |message| message.id > asked && !message.buttons.is_empty()).await;
        let before = stage.shown(room).len();
        let told = stage.press(TOM, (room, card.id), &card.buttons[0].1).await;
        assert!(told.alone && told.text.contains("You may not approve this plan"), "{told:?}");
        assert_eq!(stage.shown(room).len(), before, "told to whoever pressed, and to nobody else");
        stage.fake.press_button(BOB, room, card.id, "Approve");
        let shown = stage.reads((room, card.id), "✓ Done and verified; countersigned by bob").await;
        assert!(shown.buttons.is_empty(), "{shown:?}");
        assert!(stage.fake.message(room, number(card.id)).is_some_and(|message| message.edits > 0));
        assert!(!lives(process.pid()));
    }
    refused_by_nobody(&stage);
}

fn opened_from(stage: &Stage, message: u64) -> ChannelId {
    stage.fake.thread_from(user(ANN), stage.ops, message, "web again")
}

#[tokio::test]
async fn discords_reactions_decide_and_those_that_stand_for_nothing_do_not() {
    let stage = Stage::start().await;
    for (emoji, said, is_stopped) in
        [("👍", "✓ Done and verified; countersigned by bob", true), ("👎", "✗ Denied by bob", false)]
    {
        let process = stage.home.process("napper", &[]);
        let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
        let at = (stage.ops, number(card.message));
        stage.fake.react(user(BOB), at.0, at.1, "🎉");
        stage.still_pending(&card).await;
        stage.fake.react(user(BOB), at.0, at.1, emoji);
        stage.reads((stage.ops, card.message), said).await;
        assert_eq!(lives(process.pid()), !is_stopped);
    }
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn a_press_is_answered_by_its_card_and_does_not_wait_for_what_it_started() {
    let stage = Stage::start().await;
    let process = stage.home.slow_process("napper");
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let press = stage.fake.press_button(BOB, stage.ops, card.message, "Approve");
    let answer = stage.fake.callback_answer(&press).await;
    assert_eq!(answer.kind, AnswerKind::DeferredUpdate, "{answer:?}");
    let shown = stage.reads((stage.ops, card.message), "✓ Countersigned by bob; being done").await;
    assert!(shown.buttons.is_empty(), "{shown:?}");
    let stands = stage.state(&card).await;
    assert!(["approved", "executing"].contains(&stands.as_str()), "{stands}");
    assert!(lives(process.pid()));
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn the_first_answer_to_a_press_is_what_came_of_the_check_and_no_promise_before_it() {
    let stage = Stage::start().await;
    let process = stage.home.process("napper", &[]);
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let press = stage.fake.press_button(TOM, stage.ops, card.message, "Approve");
    let answer = stage.fake.callback_answer(&press).await;
    assert_eq!((answer.kind, answer.ephemeral), (AnswerKind::Message, true), "{answer:?}");
    let answers = stage.fake.log().into_iter().filter(|call| call.method == "createInteractionResponse").count();
    assert_eq!(answers, 1, "and it is the only one");
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn who_denies_is_asked_why_and_the_card_says_it() {
    let stage = Stage::start().await;
    let process = stage.home.process("napper", &[]);
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let asked = stage.fake.press_button(BOB, stage.ops, card.message, "Deny");
    let modal = stage.fake.callback_answer(&asked).await.modal.expect("a window opens");
    stage.still_pending(&card).await;
    stage.fake.submit(&asked, &[(modal.inputs[0].label.as_str(), "not on a Friday")]);
    stage.reads((stage.ops, card.message), "✗ Denied by bob: not on a Friday").await;
    let denied = stage.recorded(|row| row["what"] == "denied").await;
    assert!(denied.len() == 1 && denied[0].to_string().contains("not on a Friday"), "{denied:?}");
    // Who may not is refused all the same, whatever they write.
    let second = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let asked = stage.fake.press_button(TOM, stage.ops, second.message, "Deny");
    stage.fake.callback_answer(&asked).await;
    let told = stage.fake.told(&stage.fake.submit(&asked, &[(modal.inputs[0].label.as_str(), "I say so")])).await;
    assert!(told.alone && told.text.contains("You may not"), "{told:?}");
    stage.still_pending(&second).await;
    refused_by_nobody(&stage);
}

/// Waits until Discord knows the commands.
async fn registered(stage: &Stage) {
    let commands = "bulkOverwriteGlobalApplicationCommands";
    stage.fake.wait_for_call(|call| call.method == commands && call.outcome.took_effect()).await;
}

#[tokio::test]
async fn discord_offers_names_to_whoever_types_them_and_what_is_picked_is_meant() {
    let stage = Stage::start().await;
    registered(&stage).await;
    let _process = stage.home.process("pickme", &[]);
    let typing = stage.fake.autocomplete(user(TOM), stage.ops, "ask", &[("text", "show process pick")], "text");
    assert!(stage.fake.callback_answer(&typing).await.choices.is_empty(), "nothing was looked for yet");
    stage.ask(ANN, stage.ops, "find process pickme", "read line").await;
    let private = stage.fake.private_room(TOM);
    for room in [stage.ops, private] {
        let typing = stage.fake.autocomplete(user(TOM), room, "ask", &[("text", "show process pick")], "text");
        let answer = stage.fake.callback_answer(&typing).await;
        let [process] = answer.choices.as_slice() else { panic!("{answer:?}") };
        assert!(process.text.starts_with("pickme: process on "), "{process:?}");
        assert_eq!(process.value, "show process @@pickme");
        let picked = stage.fake.command(user(TOM), room, "ask", &[("text", &process.value)]);
        let said = stage.fake.response(&picked).await;
        assert!(said.plain().contains("read line"), "{said:?}");
    }
    let typing = stage.fake.autocomplete(user(EVE), stage.ops, "ask", &[("text", "show process pick")], "text");
    assert!(stage.fake.callback_answer(&typing).await.choices.is_empty(), "nobody knows her");
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn a_command_is_answered_under_it_and_what_is_long_is_a_file_there() {
    let stage = Stage::start().await;
    registered(&stage).await;
    let lines: Vec<String> = (1..=500).map(|n| format!("request {n} served in 12 ms by worker 3 of web-1")).collect();
    let log = stage.home.write("demo.log", lines.join("\n") + "\n");
    let words = format!("last 500 lines of {}", log.display());
    let command = stage.fake.command(user(ANN), stage.ops, "ask", &[("text", &words)]);
    let said = stage.fake.response(&command).await;
    assert!(said.plain().contains("All of it is in the file"), "{said:?}");
    let file = stage.fake.wait_for(stage.ops, |message| !message.documents.is_empty()).await;
    assert_eq!(file.interaction.as_ref(), Some(&command));
    let text = String::from_utf8(file.documents[0].bytes.to_vec()).expect("it is text");
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    refused_by_nobody(&stage);
}

#[tokio::test]
async fn what_comes_later_than_an_interaction_can_be_answered_is_an_ordinary_message() {
    let stage = Stage::start().await;
    registered(&stage).await;
    let process = stage.home.process("napper", &[]);
    let words = format!("wait until process {} is gone", process.pid());
    let command = stage.fake.command(user(ANN), stage.ops, "ask", &[("text", &words)]);
    let answer = stage.fake.callback_answer(&command).await;
    assert!(answer.text.starts_with("reading "), "how far it is, within the three seconds: {answer:?}");
    stage.fake.advance(Duration::from_mins(16));
    drop(process);
    let said = stage.said(stage.ops, "is gone, after").await;
    let said = stage.fake.message(stage.ops, number(said.id)).expect("it is there");
    assert_eq!((said.interaction, said.ephemeral_for), (None, None));
}

#[tokio::test]
async fn where_it_is_configured_each_question_gets_a_thread_of_its_own() {
    let mut stage = Stage::start().await;
    let (file, configured) =
        (stage.home.path().join("countersign.toml"), format!("threads_in = [\"{}\"]\n", stage.ops.0));
    let before = std::fs::read_to_string(&file).expect("it was written");
    stage.home.write("countersign.toml", format!("{before}{configured}"));
    stage.restart().await;
    let process = stage.home.process("napper", &[]);
    let first = stage.say(ANN, stage.ops, &format!("stop process {}", process.pid()));
    let thread = ChannelId(number(first));
    let card = stage.fake.wait_for(thread, |message| message.button("Approve").is_some()).await;
    let second = stage.say(ANN, stage.ops, "who am i");
    stage.fake.wait_for(ChannelId(number(second)), |message| message.plain().contains("you are")).await;
    assert_eq!(stage.fake.threads(stage.ops).len(), 2);
    // What is said there is one conversation.
    stage.fake.say(Say::new(user(TOM), thread, &stage.fake.to_the_bot(thread, "approvals")));
    stage.fake.wait_for(thread, |message| message.plain().contains("State: pending")).await;
    stage.fake.press_button(BOB, thread, id(card.id), "Approve");
    stage.reads((thread, id(card.id)), "✓ Done and verified; countersigned by bob").await;
    let in_channel = stage.shown(stage.ops).into_iter().filter(|message| !message.text.is_empty()).count();
    assert_eq!(in_channel, 0, "{}", stage.fake.draw(stage.ops));
}

/// Discord took every call as it was made.
fn refused_by_nobody(stage: &Stage) {
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
    let refused: Vec<_> = stage.fake.log().into_iter().filter(|call| refused(&call.outcome)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

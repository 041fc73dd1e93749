//! Each thing once, however often it comes and whatever breaks: AC-04, AC-19, AC-20 and AC-21.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{DONE, File, alone, done, executions};
use crate::support::chat::{Chat, Shown};
use crate::support::database::rows;
use crate::support::killed_bot::children;
use crate::support::stage::{ANN, BOB, CAROL, Pace, Script, Stage};

/// How many of the bot's messages have these words in them.
fn times(shown: &[Shown], words: &str) -> usize {
    shown.iter().filter(|message| message.text.contains(words)).count()
}

pub(super) async fn ac_04_two_who_press_at_once_are_one_decision<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let press = |who| stage.fake.press_button(who, stage.ops, card.message, "Approve");
    let pressed = [BOB, CAROL, BOB].map(press);
    done(&stage, stage.ops).await;
    let mut told = Vec::new();
    for callback in &pressed {
        told.push(stage.fake.told(callback).await);
    }
    assert!(!C::ANSWERS_ALONE || told.iter().filter(|told| told.alone).count() == 2, "{told:?}");
    stage.reply(BOB, (stage.ops, card.message), "approvals", "No plan is open").await;
    assert_eq!((times(&stage.shown(stage.ops), DONE), file.count("one")), (1, 1));
    assert_eq!(executions(&stage, &card).await, 1);
    assert_eq!(stage.recorded(|row| row["what"] == "approved").await.len(), 1);
}

pub(super) async fn ac_19_in_a_storm_of_429_the_card_comes_first_and_once<C: Chat>() {
    let stage = Stage::<C>::with(Script { pace: Pace::OneASecond, ..Script::default() }).await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.refuse_messages(stage.ops);
    let asked: Vec<i64> = (0..3).map(|_| stage.say(BOB, stage.ops, "who am i")).collect();
    stage.fake.message_refused(stage.ops, false).await;
    let change = stage.say(ANN, stage.ops, &file.ask("one"));
    // It was asked for last, and is tried before what waits already.
    stage.fake.message_refused(stage.ops, true).await;
    stage.fake.take_messages();
    let card = stage.card_of(stage.ops, change).await;
    for asked in asked {
        let answer = stage.answer(stage.ops, asked, "you are").await;
        assert!(answer.id > card.message, "{}", stage.fake.picture(stage.ops));
    }
    stage.still_pending(&card).await;
    let cards = stage.shown(stage.ops).iter().filter(|message| message.text.contains(&card.plan[..4])).count();
    assert_eq!(cards, 2, "the card, and the list that was asked for");
    stage.approve(BOB, &card).await;
    done(&stage, stage.ops).await;
    assert_eq!(file.count("one"), 1);
}

pub(super) async fn ac_20_an_update_that_comes_four_times_is_one_turn<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.repeat_next(3);
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.fake.repeat_next(3);
    stage.approve(BOB, &card).await;
    done(&stage, stage.ops).await;
    // Each copy comes with a poll of its own, so that after so many answers all of them have been heard.
    for _ in 0..8 {
        stage.ask(BOB, stage.ops, "who am i", "you are").await;
    }
    let inbox = "SELECT COUNT(*) FROM inbox";
    assert_eq!(rows(&stage.database(), inbox).await.concat(), ["10"]);
    let shown = stage.shown(stage.ops);
    let cards = times(&shown, &format!(" ({})", &card.plan[..4]));
    assert_eq!((cards, times(&shown, DONE), file.count("one")), (1, 1, 1));
    assert_eq!(rows(&stage.database(), "SELECT id FROM plans").await.len(), 1);
    assert_eq!(executions(&stage, &card).await, 1);
}

/// Processes that stand still, and end with this.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn children_of(pid: i32) -> Self {
        let children = children(u32::try_from(pid).expect("invariant: a process id is positive"));
        assert!(!children.is_empty(), "the bot has no tool server");
        for child in &children {
            kill(*child, Signal::SIGSTOP).expect("it can be stopped");
        }
        Self(children)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for child in &self.0 {
            // It may have ended with its bot.
            let _ = kill(*child, Signal::SIGKILL);
        }
    }
}

pub(super) async fn ac_21_killed_between_the_decision_and_its_execution_it_is_done_once_and_told<C: Chat>() {
    let mut stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    // The tool server stands still, so that the fresh look does not come back.
    let server = Stopped::children_of(stage.pid());
    stage.fake.press_button(BOB, stage.ops, card.message, "Approve");
    stage.reads((stage.ops, card.message), "being done").await;
    assert_eq!(stage.state(&card).await, "approved");
    stage.kill().await;
    drop(server);
    assert_eq!(file.count("one"), 0);
    stage.go_on().await;
    done(&stage, stage.ops).await;
    // What stands on the card is the last that changes, and no answer to a press.
    stage.reads((stage.ops, card.message), "\u{2713} Done and verified; countersigned by bob").await;
    for _ in 0..2 {
        stage.settled().await;
        stage.restart().await;
        let told = stage.press(BOB, (stage.ops, card.message), &card.approve).await;
        assert!(alone::<C>(&told) && told.text.contains("done and verified"), "{told:?}");
    }
    assert_eq!((times(&stage.shown(stage.ops), DONE), file.count("one")), (1, 1));
    assert_eq!(executions(&stage, &card).await, 1);
}

//! Presses, picks and commands: each is answered once, in time, and from what came of it.

use std::sync::Arc;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{Admission, CardChoice, Choice, Touched};
use countersign_core::signal::{Addressed, QuestionId};
use countersign_discord_fake::{AnswerKind, Outcome, Say};

use super::desk::Hearing;
use super::*;
use crate::ids::MessageRef;
use crate::translate::{Call, Heard, Waits};

fn card(to: ThreadKey) -> Outgoing {
    let plan = PlanId::parse("4a3f00c19be2d7756018f2ab9c44e01d").expect("it is an id");
    let end = Block::Card {
        plan,
        digest: Digest::of(b"x"),
        risk: Risk::Medium,
        choices: vec![CardChoice::Approve, CardChoice::Deny],
    };
    let mut card = outgoing(to, "Countersign this?");
    card.blocks.push(end);
    card
}

/// A card in a channel, and the adapter that hears what is done with it.
struct Table {
    fake: Fake,
    ops: ChannelId,
    card: u64,
    discord: Arc<Discord>,
    desk: Desk,
    hearing: Hearing,
}

impl Table {
    /// A press of this button of the card.
    fn button(&self, position: u32) -> Touched {
        let on = MessageRef { channel: self.ops.0, message: self.card }.event();
        Touched::Button { data: format!("{POST}:{position}"), on }
    }

    async fn laid(desk: Desk) -> Self {
        Self::patient(desk, QUICK).await
    }

    async fn patient(desk: Desk, timing: Timing) -> Self {
        let (fake, ops) = scene().await;
        let asked = fake.say(Say::new(ANN, ops, "stop it"));
        let discord = Arc::new(Discord::timed(options(&fake), timing).expect("the options are sound"));
        let Delivery::Sent(ids) = send(&discord, &card(thread(ops, &format!("m:{asked}")))).await else {
            panic!("it is not sent")
        };
        let hearing = Hearing::start(&discord, &desk);
        desk.until("it hears", |desk| !desk.conditions().is_empty()).await;
        Self { card: message_of(&ids[0]), fake, ops, discord, desk, hearing }
    }

    /// Ann presses; the press as it was heard.
    async fn press(&self, label: &str) -> (String, EventId) {
        let before = self.desk.touches().len();
        let press = self.fake.press(ANN, self.ops, self.card, label);
        self.desk.until("the press is heard", |desk| desk.touches().len() > before).await;
        let event = self.desk.touches().last().map(|touch| touch.event.clone()).expect("it was heard");
        (press, event)
    }

    /// Ann gives a command; it as it was heard.
    async fn command(&self, words: &str, options: &[(&str, &str)]) -> (String, EventId) {
        let before = self.desk.signals().len();
        let command = self.fake.command(ANN, self.ops, words, options);
        self.desk.until("the command is heard", |desk| desk.signals().len() > before).await;
        let event = self.desk.signals().last().map(|signal| signal.event.clone()).expect("it was heard");
        (command, event)
    }

    async fn deliver(&self, message: &Outgoing, anchor: &EventId) -> Delivery {
        let id = format!("{POST}{}", self.fake.log().len());
        deliver::deliver(&self.discord, Letter { id: &id, anchor: Some(anchor), ..to(message) }).await
    }

    /// Waits until Discord knows the commands.
    async fn registered(&self) {
        let commands = "bulkOverwriteGlobalApplicationCommands";
        self.fake.wait_for_call(|call| call.method == commands && call.outcome.took_effect()).await;
    }

    fn answers(&self) -> usize {
        self.fake.calls().get("createInteractionResponse").map_or(0, |count| count.calls)
    }

    /// Discord took every call as it was made.
    async fn end(self) {
        let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
        let refused: Vec<_> = self.fake.log().into_iter().filter(|call| refused(&call.outcome)).collect();
        assert!(refused.is_empty(), "{refused:#?}");
        self.hearing.stop().await;
    }
}

/// So little patience that every interaction is told to wait.
const IMPATIENT: Timing = Timing { patience: Duration::from_millis(1), ..QUICK };

#[tokio::test]
async fn a_refusal_is_shown_to_nobody_but_whoever_pressed() {
    let table = Table::laid(Desk::new()).await;
    let (press, event) = table.press("Approve").await;
    assert_eq!(table.desk.touches()[0].on, table.button(0));
    assert_eq!(table.answers(), 0, "nothing is answered before it is known what comes of it");
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not approve this."));
    assert_eq!(table.deliver(&refusal, &event).await, Delivery::Sent(Vec::new()));
    let answer = table.fake.callback_answer(&press).await;
    assert_eq!(
        (answer.kind, answer.text.as_str(), answer.ephemeral),
        (AnswerKind::Message, "⛔ You may not approve this.", true)
    );
    assert_eq!(table.deliver(&refusal, &event).await, Delivery::Sent(Vec::new()), "and so is what follows it");
    table.discord.answered(&SignalId::new(event.as_str()));
    let sent = table.deliver(&refusal, &event).await;
    assert!(matches!(sent, Delivery::Sent(ids) if ids.len() == 1), "what comes after that everybody sees");
    table.end().await;
}

#[tokio::test]
async fn a_press_is_answered_in_time_and_a_refusal_still_finds_its_way() {
    let table = Table::patient(Desk::new(), IMPATIENT).await;
    let (press, event) = table.press("Approve").await;
    let answer = table.fake.callback_answer(&press).await;
    assert_eq!((answer.kind, table.desk.touches()[0].on.clone()), (AnswerKind::DeferredUpdate, table.button(0)));
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not approve this."));
    let told = loop {
        match table.deliver(&refusal, &event).await {
            Delivery::RetryAfter(_) => tokio::task::yield_now().await,
            told => break told,
        }
    };
    assert_eq!(told, Delivery::Sent(Vec::new()));
    let shown = table.fake.wait_for(table.ops, |message| message.text == "⛔ You may not approve this.").await;
    assert_eq!(shown.ephemeral_for, Some(ANN));
    table.end().await;
}

#[tokio::test]
async fn a_refusal_that_is_too_late_is_a_message() {
    let table = Table::laid(Desk::new()).await;
    let (press, event) = table.press("Approve").await;
    table.fake.expire(&press);
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not."));
    let sent = table.deliver(&refusal, &event).await;
    assert!(matches!(sent, Delivery::Sent(ref ids) if ids.len() == 1), "{sent:?}");
    table.hearing.stop().await;
}

#[tokio::test]
async fn the_edit_of_its_card_answers_a_press_and_takes_the_buttons() {
    let table = Table::laid(Desk::new()).await;
    let (press, anchor) = table.press("Approve").await;
    let parts = [event(table.ops, table.card)];
    let mut waiting = card(thread(table.ops, "m:1"));
    waiting.blocks.insert(1, Block::Text { text: "1 of 2 have countersigned: Ann.".to_owned() });
    assert_eq!(edit::edit(&table.discord, &parts, to(&waiting)).await, Delivery::Sent(parts.to_vec()));
    let shown = table.fake.message(table.ops, table.card).expect("it is there");
    assert!(shown.text.contains("1 of 2") && shown.labels() == ["Approve", "Deny", "Details"], "{shown:?}");
    let decided = outgoing(thread(table.ops, "m:1"), "Approved by Ann.\nCountersign this?");
    let edited = edit::edit(&table.discord, &parts, Letter { anchor: Some(&anchor), ..to(&decided) }).await;
    assert_eq!(edited, Delivery::Sent(parts.to_vec()));
    assert_eq!(table.fake.callback_answer(&press).await.kind, AnswerKind::DeferredUpdate);
    let shown = table.fake.message(table.ops, table.card).expect("it is there");
    assert_eq!((shown.text.as_str(), shown.labels().len()), ("Approved by Ann.\nCountersign this?", 0));
    table.end().await;
}

#[tokio::test]
async fn a_press_stops_spinning_when_everything_has_left() {
    let table = Table::laid(Desk::new()).await;
    let (press, event) = table.press("Approve").await;
    table.discord.answered(&SignalId::new(event.as_str()));
    assert_eq!(table.fake.callback_answer(&press).await.kind, AnswerKind::DeferredUpdate);
    table.end().await;
}

#[tokio::test]
async fn who_says_no_is_asked_why_and_only_then_it_counts() {
    let table = Table::laid(Desk::new()).await;
    let asked = table.fake.press(ANN, table.ops, table.card, "Deny");
    let answer = table.fake.callback_answer(&asked).await;
    let modal = answer.modal.expect("a window opens");
    assert_eq!((modal.title.as_str(), modal.data, modal.inputs.len()), ("Deny", format!("{POST}:1"), 1));
    assert!(!modal.inputs[0].required && table.desk.touches().is_empty(), "{:?}", modal.inputs);
    let press = table.fake.submit(&asked, &[("Why not? You may leave it empty.", "not on a Friday")]);
    table.desk.until("the press is heard", |desk| desk.touches().len() == 1).await;
    let touch = table.desk.touches().remove(0);
    assert_eq!((touch.on, touch.reason.as_str()), (table.button(1), "not on a Friday"));
    assert_eq!(touch.thread.root.as_str(), format!("m:{}", table.card));
    table.discord.answered(&SignalId::new(touch.event.as_str()));
    assert_eq!(table.fake.callback_answer(&press).await.kind, AnswerKind::DeferredUpdate);
    table.end().await;
}

#[tokio::test]
async fn a_press_that_means_nothing_is_answered_at_once() {
    let nothing = [Ok(Admission::Unknown), Ok(Admission::Duplicate), Ok(Admission::Limited { wait_ms: 9 })];
    let table = Table::laid(Desk::saying(nothing.to_vec())).await;
    for _ in 0..3 {
        let press = table.fake.press_data(ANN, table.ops, table.card, "forged:0");
        assert_eq!(table.fake.callback_answer(&press).await.kind, AnswerKind::DeferredUpdate);
    }
    table.end().await;
}

#[tokio::test]
async fn who_presses_or_asks_while_there_is_no_room_is_told() {
    let table = Table::laid(Desk::saying(vec![Ok(Admission::Busy); 22])).await;
    let press = table.fake.press(ANN, table.ops, table.card, "Approve");
    let answer = table.fake.callback_answer(&press).await;
    insta::assert_snapshot!(answer.text, @"I have too much to do right now. Please try it again in a minute.");
    assert!(answer.ephemeral);
    table.registered().await;
    let command = table.fake.command(ANN, table.ops, "disk_usage", &[]);
    assert!(table.fake.callback_answer(&command).await.ephemeral);
    table.end().await;
}

#[tokio::test]
async fn a_pick_from_a_menu_is_the_press_of_a_choice() {
    let table = Table::laid(Desk::new()).await;
    let choices = (0..30).map(|n| Choice { label: format!("web-{n}"), about: String::new() }).collect();
    let mut question = outgoing(thread(table.ops, "m:1"), "Which one?");
    question.blocks.push(Block::Choices { question: QuestionId::new("q"), choices });
    let Delivery::Sent(ids) = deliver::deliver(&table.discord, Letter { id: "other", ..to(&question) }).await else {
        panic!("it is not sent")
    };
    table.fake.select(ANN, table.ops, message_of(&ids[0]), &["web-27"]);
    table.desk.until("the pick is heard", |desk| !desk.touches().is_empty()).await;
    assert_eq!(table.desk.touches()[0].on, Touched::Button { data: "other:27".to_owned(), on: ids[0].clone() });
    table.end().await;
}

#[tokio::test]
async fn a_command_is_answered_under_it() {
    let table = Table::laid(Desk::new()).await;
    table.registered().await;
    let names: Vec<String> = table.fake.commands().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ask", "disk_usage"]);
    let (command, event) = table.command("disk_usage", &[("text", "/data")]).await;
    let signal = table.desk.signals().remove(0);
    assert_eq!((table.desk.texts(), signal.addressed), (vec!["disk usage /data".to_owned()], Addressed::Command));
    let answer = outgoing(signal.thread.clone(), &many(250, "line"));
    let Delivery::Sent(ids) = table.deliver(&answer, &event).await else { panic!("it is not sent") };
    let first = table.fake.response(&command).await;
    assert_eq!((first.id, first.ephemeral_for), (message_of(&ids[0]), None));
    assert!(ids.len() > 1 && table.answers() == 1, "{ids:?}");
    let edited = edit::edit(&table.discord, &ids[..1], to(&outgoing(signal.thread, "better"))).await;
    assert_eq!(edited, Delivery::Sent(ids[..1].to_vec()), "it can be put right like any other");
    table.discord.answered(&SignalId::new(event.as_str()));
    table.end().await;
}

#[tokio::test]
async fn a_command_that_takes_longer_is_told_that_its_answer_comes() {
    let table = Table::patient(Desk::new(), IMPATIENT).await;
    table.registered().await;
    let (command, event) = table.command("ask", &[("text", "Disk usage")]).await;
    assert_eq!(table.fake.callback_answer(&command).await.kind, AnswerKind::Deferred);
    let answer = outgoing(table.desk.signals()[0].thread.clone(), "36%");
    let sent = loop {
        match table.deliver(&answer, &event).await {
            Delivery::RetryAfter(_) => tokio::task::yield_now().await,
            sent => break sent,
        }
    };
    let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
    let shown = table.fake.response(&command).await;
    assert_eq!((shown.id, shown.text.as_str()), (message_of(&ids[0]), "36%"));
    let (command, event) = table.command("ask", &[("text", "Stop it")]).await;
    table.fake.callback_answer(&command).await;
    let refusal = only(outgoing(table.desk.signals()[0].thread.clone(), "You may not."));
    while matches!(table.deliver(&refusal, &event).await, Delivery::RetryAfter(_)) {
        tokio::task::yield_now().await;
    }
    let shown = table.fake.wait_for(table.ops, |message| message.text == "⛔ You may not.").await;
    assert_eq!(shown.ephemeral_for, Some(ANN), "what was promised to everybody is told to one");
    assert!(table.fake.seen_by(1, table.ops).iter().all(|message| !message.thinking));
    table.end().await;
}

#[tokio::test]
async fn a_command_that_nothing_answers_is_not_left_hanging() {
    let table = Table::laid(Desk::new()).await;
    table.registered().await;
    let (command, event) = table.command("disk_usage", &[]).await;
    table.discord.answered(&SignalId::new(event.as_str()));
    let answer = table.fake.callback_answer(&command).await;
    insta::assert_snapshot!(answer.text, @"Done. What there is to say stands elsewhere.");
    assert!(answer.ephemeral);
    let (command, event) = table.command("disk_usage", &[]).await;
    table.fake.expire(&command);
    let sent = table.deliver(&outgoing(thread(table.ops, "in:77"), "late"), &event).await;
    let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
    assert_eq!(table.fake.message(table.ops, message_of(&ids[0])).and_then(|message| message.reply_to), None);
    table.hearing.stop().await;
}

#[tokio::test]
async fn who_types_a_commands_text_is_offered_names_for_its_last_word() {
    let table = Table::laid(Desk::new()).await;
    table.registered().await;
    let role = table.fake.role("sre");
    table.fake.set_roles(ANN, &[role]);
    for (words, filled_in) in [("show ngi", "show @@nginx"), ("ngi", "@@nginx"), ("show ", "show @@nginx")] {
        let typing = table.fake.autocomplete(ANN, table.ops, "ask", &[("text", words)], "text");
        let answer = table.fake.callback_answer(&typing).await;
        let offered: Vec<_> = answer.choices.iter().map(|one| (one.text.as_str(), one.value.as_str())).collect();
        assert_eq!(offered, [("nginx: service on web-1", filled_in)], "{words:?}");
    }
    let typed = table.desk.typed();
    let words: Vec<&str> = typed.iter().map(|asked| asked.words.as_str()).collect();
    assert_eq!(words, ["ngi", "ngi", ""]);
    let asked = &typed[0];
    let conversation = asked.thread.conversation.as_str();
    assert_eq!((asked.actor.id.as_str(), conversation), (&*ANN.to_string(), &*table.ops.0.to_string()));
    assert_eq!(asked.platform_roles, [role.to_string()]);
    assert!(table.desk.signals().is_empty() && table.desk.touches().is_empty(), "typing is no asking");
    table.end().await;
}

#[tokio::test]
async fn who_gives_a_command_where_none_is_taken_is_told() {
    let (fake, ops) = scene().await;
    let (discord, desk) = (adapter(&fake), Desk::new());
    commands::register_soon(&discord, BOT);
    let method = "bulkOverwriteGlobalApplicationCommands";
    fake.wait_for_call(|call| call.method == method && call.outcome.took_effect()).await;
    let command = fake.command(ANN, ops, "disk_usage", &[]);
    let id = command.parse().expect("it is a number");
    let token = format!("fake-interaction-token-{id}");
    let stray = Heard::Stray(Call { id, application: BOT, token, waits: Waits::Command });
    take::open(&discord, &stray);
    take::take(&discord, &desk, stray).await;
    let answer = fake.callback_answer(&command).await;
    insta::assert_snapshot!(answer.text, @"I take no such command here. Ask me in a channel of a server, or write to me directly.");
    assert!(answer.ephemeral && desk.signals().is_empty());
}

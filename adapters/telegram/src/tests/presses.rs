//! Presses of buttons: each is answered once, from what came of it.

use std::sync::Arc;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{Admission, CardChoice, Touched};
use countersign_core::signal::{ActorId, EventId};
use countersign_telegram_fake::{Fault, Say};

use super::desk::Hearing;
use super::*;

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

/// A card in a group, and the adapter that hears what is done with it.
struct Table {
    fake: Fake,
    ops: ChatId,
    card: i64,
    telegram: Arc<Telegram>,
    desk: Desk,
    hearing: Hearing,
}

impl Table {
    /// A press of this button of the card.
    fn button(&self, position: u32) -> Touched {
        let on = EventId::new(format!("{}:{}", self.ops.0, self.card));
        Touched::Button { data: format!("{POST}:{position}"), on }
    }

    async fn laid(desk: Desk) -> Self {
        let (fake, ann) = scene().await;
        let ops = fake.group("ops");
        let asked = fake.say(Say::new(ann, ops, "stop it"));
        let telegram = Arc::new(adapter(&fake));
        let sent = send(&telegram, &card(thread(ops, &format!("m:{asked}")))).await;
        let Delivery::Sent(ids) = sent else { panic!("{sent:?}") };
        let card = ids[0].as_str().split(':').next_back().and_then(|id| id.parse().ok()).expect("it is a message");
        let hearing = Hearing::start(&telegram, &desk);
        fake.wait_until_read().await;
        Self { fake, ops, card, telegram, desk, hearing }
    }

    /// Ann presses; the press as it was heard.
    async fn press(&self, label: &str) -> (String, EventId) {
        let before = self.desk.touches().len();
        let callback = self.fake.press(11, self.ops, self.card, label);
        self.desk.until("the press is heard", |desk| desk.touches().len() > before).await;
        self.fake.wait_until_read().await;
        let event = self.desk.touches().last().map(|touch| touch.event.clone()).expect("it was heard");
        (callback, event)
    }

    fn answers(&self) -> usize {
        self.fake.calls().get("answerCallbackQuery").map_or(0, |count| count.calls)
    }
}

fn only(message: Outgoing) -> Outgoing {
    Outgoing { visibility: Visibility::Only(ActorId::new("11")), mark: Mark::Refused, ..message }
}

#[tokio::test]
async fn a_refusal_is_shown_to_nobody_but_whoever_pressed() {
    let table = Table::laid(Desk::new()).await;
    let (callback, event) = table.press("Approve").await;
    assert_eq!(table.desk.touches()[0].on, table.button(0));
    assert_eq!(table.answers(), 0, "nothing is answered before it is known what comes of it");
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not approve this."));
    let letter = Letter { anchor: Some(&event), ..to(&refusal) };
    assert_eq!(deliver::deliver(&table.telegram, letter).await, Delivery::Sent(Vec::new()));
    let answer = table.fake.callback_answer(&callback).await;
    assert_eq!((answer.text.as_str(), answer.show_alert), ("⛔ You may not approve this.", true));
    table.telegram.answered(&SignalId::new(event.as_str()));
    let sent = deliver::deliver(&table.telegram, letter).await;
    assert!(matches!(sent, Delivery::Sent(ids) if ids.len() == 1), "what comes after that everybody sees");
    assert_eq!(table.answers(), 1);
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_refusal_that_is_too_long_is_shown_as_far_as_it_fits_and_to_nobody_else() {
    let table = Table::laid(Desk::new()).await;
    let (callback, event) = table.press("Approve").await;
    let long = only(outgoing(thread(table.ops, "m:1"), &"You may not. ".repeat(20)));
    let sent = deliver::deliver(&table.telegram, Letter { anchor: Some(&event), ..to(&long) }).await;
    assert_eq!(sent, Delivery::Sent(Vec::new()));
    assert_eq!(table.fake.callback_answer(&callback).await.text.encode_utf16().count(), 200);
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_refusal_that_is_too_late_is_a_message() {
    let table = Table::laid(Desk::new()).await;
    let (callback, event) = table.press("Approve").await;
    table.fake.expire(&callback);
    let short = only(outgoing(thread(table.ops, "m:1"), "You may not."));
    let sent = deliver::deliver(&table.telegram, Letter { anchor: Some(&event), ..to(&short) }).await;
    assert!(matches!(sent, Delivery::Sent(ids) if ids.len() == 1));
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_refusal_that_may_have_been_shown_is_never_told_to_all() {
    let table = Table::laid(Desk::new()).await;
    let (callback, event) = table.press("Approve").await;
    table.fake.fault(Fault::drop_after().on("answerCallbackQuery").next(1));
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not."));
    let letter = Letter { anchor: Some(&event), ..to(&refusal) };
    let before = table.fake.messages(table.ops, None).len();
    let lost = deliver::deliver(&table.telegram, letter).await;
    assert!(matches!(lost, Delivery::Ambiguous(_)), "{lost:?}");
    let again = deliver::deliver(&table.telegram, Letter { notes: DeliveryNotes::REPEAT, ..letter }).await;
    assert_eq!(again, Delivery::Sent(Vec::new()));
    assert_eq!(table.fake.callback_answer(&callback).await.text, "⛔ You may not.");
    assert_eq!((table.answers(), table.fake.messages(table.ops, None).len()), (2, before));
    table.hearing.stop().await;
}

#[tokio::test]
async fn the_edit_of_its_card_answers_a_press_and_takes_the_buttons() {
    let table = Table::laid(Desk::new()).await;
    let (callback, anchor) = table.press("Approve").await;
    let signal = SignalId::new(anchor.as_str());
    let mut decided = Outgoing { answers: signal.clone(), ..outgoing(thread(table.ops, "m:1"), "stop it") };
    decided.blocks.push(Block::Text { text: "Approved by Ann.".to_owned() });
    let parts = [event(table.ops, table.card)];
    // What another signal changes on the card is no answer to this one.
    let others = outgoing(thread(table.ops, "m:1"), "1 of 2");
    assert_eq!(edit::edit(&table.telegram, &parts, to(&others)).await, Delivery::Sent(parts.to_vec()));
    assert_eq!(edit::edit(&table.telegram, &parts, to(&decided)).await, Delivery::Sent(parts.to_vec()));
    let answer = table.fake.callback_answer(&callback).await;
    assert_eq!((answer.text.as_str(), answer.show_alert), ("Approved by Ann.", false));
    let shown = table.fake.message(table.ops, table.card).expect("it is there");
    assert_eq!((shown.text.as_str(), shown.labels().len()), ("stop it\nApproved by Ann.", 0));
    table.telegram.answered(&signal);
    assert_eq!(table.answers(), 1, "once");
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_card_that_still_waits_keeps_its_buttons() {
    let table = Table::laid(Desk::new()).await;
    let mut waiting = card(thread(table.ops, "m:1"));
    waiting.blocks.insert(1, Block::Text { text: "1 of 2 have countersigned: Ann.".to_owned() });
    let parts = [event(table.ops, table.card)];
    let (callback, pressed) = table.press("Approve").await;
    waiting.answers = SignalId::new(pressed.as_str());
    assert_eq!(edit::edit(&table.telegram, &parts, to(&waiting)).await, Delivery::Sent(parts.to_vec()));
    let answer = table.fake.callback_answer(&callback).await;
    assert_eq!(answer.text, "1 of 2 have countersigned: Ann.", "how it stands, and not what can be typed");
    let shown = table.fake.message(table.ops, table.card).expect("it is there");
    assert!(shown.text.contains("1 of 2") && shown.labels() == ["Approve", "Deny", "Details"], "{shown:?}");
    let (_, event) = table.press("Deny").await;
    assert_eq!(table.desk.touches()[1].on, table.button(1), "{event}");
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_press_stops_spinning_when_everything_has_left() {
    let table = Table::laid(Desk::new()).await;
    let (callback, event) = table.press("Deny").await;
    assert_eq!(table.desk.touches()[0].on, table.button(1));
    table.telegram.answered(&SignalId::new(event.as_str()));
    let answer = table.fake.callback_answer(&callback).await;
    assert_eq!((answer.text.as_str(), answer.show_alert), ("", false));
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_press_that_telegram_tells_twice_still_waits_for_its_answer() {
    let taken = |name: &str| Ok(Admission::Accepted(SignalId::new(name)));
    let desk = Desk::saying(vec![taken("asked"), taken("pressed"), Ok(Admission::Duplicate)]);
    let table = Table::laid(desk).await;
    table.fake.fault(Fault::duplicate(1));
    let callback = table.fake.press(11, table.ops, table.card, "Approve");
    table.desk.until("it is heard twice", |desk| desk.touches().len() == 2).await;
    table.fake.wait_until_read().await;
    let anchor = table.desk.touches()[1].event.clone();
    let refusal = only(outgoing(thread(table.ops, "m:1"), "You may not."));
    let letter = Letter { anchor: Some(&anchor), ..to(&refusal) };
    assert_eq!(deliver::deliver(&table.telegram, letter).await, Delivery::Sent(Vec::new()));
    assert!(table.fake.callback_answer(&callback).await.show_alert);
    assert_eq!(table.answers(), 1);
    table.hearing.stop().await;
}

#[tokio::test]
async fn a_press_that_means_nothing_is_answered_at_once() {
    let nothing = [Ok(Admission::Unknown), Ok(Admission::Duplicate), Ok(Admission::Limited { wait_ms: 9 })];
    let accepted = Ok(Admission::Accepted(SignalId::new("s")));
    let desk = Desk::saying([vec![accepted], nothing.to_vec()].concat());
    let table = Table::laid(desk).await;
    for _ in 0..3 {
        let callback = table.fake.press_data(11, table.ops, table.card, "forged:0");
        assert_eq!(table.fake.callback_answer(&callback).await.text, "");
    }
    table.hearing.stop().await;
}

#[tokio::test]
async fn who_presses_while_there_is_no_room_is_told() {
    let accepted = Ok(Admission::Accepted(SignalId::new("s")));
    let desk = Desk::saying([vec![accepted], vec![Ok(Admission::Busy); 11]].concat());
    let table = Table::laid(desk).await;
    let callback = table.fake.press(11, table.ops, table.card, "Approve");
    let answer = table.fake.callback_answer(&callback).await;
    insta::assert_snapshot!(answer.text, @"I have too much to do right now. Please press it again in a minute.");
    table.hearing.stop().await;
}

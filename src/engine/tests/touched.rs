//! Answers, presses and reactions find their way back: by the platform's ids of what was delivered, and never out of their
//! own room.

use countersign_core::port::{Outgoing, Sign, Touch, Touched};
use countersign_core::signal::{Assurance, ConversationId, ConversationKind};

use super::stage::{Order, Play, Script, Seen};
use super::*;

const STRAY: &str = "No message of mine has this button";

fn room(name: &str, thread: &str) -> ThreadKey {
    ThreadKey { conversation: ConversationId::new(name), ..thread_key(thread) }
}

pub(super) fn touch(event: &str, thread: ThreadKey, on: Touched) -> Touch {
    let Signal { actor, platform_roles, .. } = signal("x", "bob", "");
    Touch {
        event: EventId::new(event),
        on,
        thread,
        room: ConversationKind::Group,
        actor,
        platform_roles,
        assurance: Assurance::Platform,
        reason: String::new(),
    }
}

fn pressed(event: &str, thread: ThreadKey, button: &str, on: &EventId) -> Touch {
    touch(event, thread, Touched::Button { data: button.to_owned(), on: on.clone() })
}

async fn with_card(play: &mut Play) -> (String, Vec<EventId>) {
    play.say("main", "restart nginx").await;
    let (id, card, parts) = play.delivered().await;
    assert!(plain(&card).contains(" asks to restart nginx"), "{}", plain(&card));
    (id, parts)
}

fn is_denied(message: &Outgoing) -> bool {
    plain(message).starts_with("Denied: restart nginx") && message.to == thread_key("main")
}

#[tokio::test]
async fn a_press_decides_in_the_thread_of_its_card() {
    let mut play = Play::start(Script::default()).await;
    let (id, parts) = with_card(&mut play).await;
    let press = pressed("press", thread_key("wherever the platform puts it"), &format!("{id}:1"), &parts[0]);
    assert!(matches!(play.touch(press.clone()).await, Admission::Accepted(_)));
    let (_, message, _) = play.delivered().await;
    assert!(is_denied(&message), "{}", plain(&message));
    assert_eq!(play.touch(press).await, Admission::Duplicate, "the same event again");
    play.stopped().await;
}

#[tokio::test]
async fn a_forged_button_and_one_of_another_room_decide_nothing_and_are_recorded() {
    let mut play = Play::start(Script::default()).await;
    let (id, parts) = with_card(&mut play).await;
    let on = &parts[0];
    let before = play.engine.store.counts().await.expect("it counts").refusals;
    let elsewhere = room("elsewhere", "main");
    let presses = [
        pressed("1", thread_key("main"), "no such thing", on),
        pressed("2", thread_key("main"), &format!("{id}:3"), on),
        pressed("3", thread_key("main"), "0123456789abcdef0123456789abcdef:0", on),
        pressed("4", elsewhere.clone(), &format!("{id}:0"), on),
        // Copied to another message, or on an older copy of the card.
        pressed("6", thread_key("main"), &format!("{id}:0"), &EventId::new("another message")),
    ];
    for press in presses {
        let near = press.thread.clone();
        assert!(matches!(play.touch(press).await, Admission::Accepted(_)));
        let (_, message, _) = play.delivered().await;
        assert!(plain(&message).contains(STRAY), "{}", plain(&message));
        assert_eq!(message.to, near, "it is told where it was pressed");
    }
    let counts = play.engine.store.counts().await.expect("it counts");
    assert_eq!(counts.refusals - before, 5, "each is counted, though not each is written");
    // And the card still waits.
    play.touch(pressed("5", thread_key("main"), &format!("{id}:1"), on)).await;
    let (_, message, _) = play.delivered().await;
    assert!(is_denied(&message), "{}", plain(&message));
    play.stopped().await;
}

#[tokio::test]
async fn a_reaction_to_a_card_decides_and_to_anything_else_means_nothing() {
    let mut play = Play::start(Script::default()).await;
    let (_, card) = with_card(&mut play).await;
    let load = play.say("main", "load").await;
    let (_, _, plain_parts) = play.delivered().await;
    play.answered(&load).await;
    let react = |event: &str, thread: ThreadKey, on: &EventId| {
        touch(event, thread, Touched::Message { event: on.clone(), sign: Sign::Deny })
    };
    let before = play.engine.store.counts().await.expect("it counts");
    for (event, thread, on) in [
        ("1", thread_key("main"), &plain_parts[0]),
        ("2", thread_key("main"), &EventId::new("never sent")),
        ("3", room("elsewhere", "main"), &card[0]),
    ] {
        assert_eq!(play.touch(react(event, thread, on)).await, Admission::Unknown);
    }
    assert_eq!(play.engine.store.counts().await.expect("it counts"), before, "nothing is stored");
    play.touch(react("4", thread_key("another root"), &card[0])).await;
    let (_, message, _) = play.delivered().await;
    assert!(is_denied(&message), "{}", plain(&message));
    play.stopped().await;
}

#[tokio::test]
async fn a_reply_belongs_to_the_thread_of_what_it_replies_to() {
    let mut play = Play::start(Script::default()).await;
    let first = play.say("main", "load").await;
    let (_, _, parts) = play.delivered().await;
    play.answered(&first).await;
    let reply = |event: &str, thread: ThreadKey, to: &EventId| Signal {
        thread,
        follows: Some(to.clone()),
        ..signal(event, "ann", "load")
    };
    let asked = EventId::new("e1");
    let own = thread_key("own root");
    let table = [
        ("r1", own.clone(), &parts[0], thread_key("main"), "one of ours"),
        ("r2", own.clone(), &asked, thread_key("main"), "one that was heard"),
        ("r3", own.clone(), &EventId::new("unknown"), own.clone(), "one of nobody's"),
        ("r4", room("elsewhere", "own root"), &parts[0], room("elsewhere", "own root"), "one of another room"),
    ];
    for (event, thread, to, expected, what) in table {
        play.hear(reply(event, thread, to)).await;
        let (_, message, _) = play.delivered().await;
        assert_eq!(message.to, expected, "{what}");
    }
    play.stopped().await;
}

/// Lets it go when the reply or reaction waits for it; fails where that is taken without.
async fn let_go(play: &mut Play, hold: &Notify) {
    let engine = Arc::clone(&play.engine);
    let is_awaited = async {
        while !engine.outbox.is_awaited() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        admission = play.ends.admitted.recv() => panic!("it was taken before it was known what it is about: {admission:?}"),
        () = within(is_awaited) => hold.notify_one(),
    }
}

#[tokio::test]
async fn who_answers_faster_than_the_platform_is_understood_all_the_same() {
    let hold = Arc::new(Notify::new());
    let mut play = Play::start(Script { hold: Some(Arc::clone(&hold)), ..Script::default() }).await;
    play.say("main", "load").await;
    let (_, _, parts) = play.delivered().await;
    play.ends.script.lock().expect("no panic").hold = Some(Arc::clone(&hold));
    let reply = Signal {
        thread: thread_key("own root"),
        follows: Some(parts[0].clone()),
        ..signal("r1", "ann", "restart nginx")
    };
    play.order(Order::Say(Box::new(reply))).await;
    let_go(&mut play, &hold).await;
    within(play.ends.admitted.recv()).await.expect("it runs");
    let (_, card, parts) = play.delivered().await;
    assert_eq!(card.to, thread_key("main"));
    let on = Touched::Message { event: parts[0].clone(), sign: Sign::Deny };
    play.order(Order::Touch(Box::new(touch("r2", thread_key("main"), on)))).await;
    let_go(&mut play, &hold).await;
    let (_, message, _) = play.delivered().await;
    assert!(is_denied(&message), "{}", plain(&message));
    play.stopped().await;
}

#[tokio::test]
async fn a_reaction_to_what_may_be_out_is_not_passed_over() {
    // The platform took the card, and not what belongs to it.
    let halted = Script { deliveries: [Delivery::RetryAfter(600_000)].into(), ..Script::default() };
    let mut play = Play::start(halted).await;
    play.say("main", "restart nginx").await;
    play.delivered().await;
    let on = Touched::Message { event: EventId::new("the card"), sign: Sign::Approve };
    let react = |event: &str, thread| touch(event, thread, on.clone());
    assert_eq!(play.touch(react("1", thread_key("main"))).await, Admission::Busy);
    assert_eq!(play.touch(react("2", room("elsewhere", "main"))).await, Admission::Unknown);
    let (_, directory) = play.stopped().await;
    let mut play = Play::start_in(directory, Script::default(), Vec::new()).await;
    assert_eq!(play.touch(react("3", thread_key("main"))).await, Admission::Busy, "nor is it after a restart");
    play.stopped().await;
}

#[tokio::test]
async fn an_answer_hangs_from_what_it_answers_also_after_a_restart() {
    let failing = Script { deliveries: [Delivery::Retryable("down".to_owned())].into(), ..Script::default() };
    let mut play = Play::start(failing).await;
    play.say("main", "load").await;
    let anchored = |seen: Seen| match seen {
        Seen::Delivered { anchor, .. } => anchor,
        other => panic!("{other:?}"),
    };
    assert_eq!(anchored(play.next().await), Some(EventId::new("e1")));
    let (_, directory) = play.stopped().await;
    let mut play = Play::start_in(directory, Script::default(), Vec::new()).await;
    assert_eq!(anchored(play.next().await), Some(EventId::new("e1")));
    // What the bot says of its own accord answers nothing that anybody could see.
    play.ends.script.lock().expect("no panic").deliveries.push_back(Delivery::Permanent("gone".to_owned()));
    play.say("main", "restart nginx").await;
    while !matches!(play.next().await, Seen::Delivered { .. }) {}
    let unreachable = loop {
        if let Seen::Delivered { message, anchor, .. } = play.next().await {
            break (plain(&message), anchor);
        }
    };
    assert!(unreachable.0.starts_with("Unreachable: restart nginx"), "{}", unreachable.0);
    assert_eq!(unreachable.1, None);
    play.stopped().await;
}

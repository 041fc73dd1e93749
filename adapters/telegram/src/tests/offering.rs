//! Inline queries: what is asked for whom, what is offered and how, and that nobody waits for it.

use std::sync::Arc;

use countersign_core::port::{Admission, Suggestion};
use countersign_core::signal::{ActorKind, ConversationKind};
use countersign_telegram_fake::{EntityKind, Fault, Say};

use super::desk::Hearing;
use super::*;

fn offer(mention: &str, about: &str) -> Suggestion {
    let (mention, title, about) = (mention.to_owned(), mention.trim_start_matches('@').to_owned(), about.to_owned());
    Suggestion { mention, title, about }
}

#[tokio::test]
async fn who_types_is_offered_what_the_engine_says_and_picks_a_mention() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    let desk =
        Desk::offering(vec![offer("@@nginx", "service on web-1"), offer("@@process:web-1:🦀", "process on web-1")]);
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    let query = fake.inline_query(ann, "Ngi");
    let answer = fake.inline_answer(&query).await;
    assert!(answer.personal && answer.cache_time_s == Some(2), "{answer:?}");
    let shown: Vec<String> =
        answer.results.iter().map(|one| format!("{} {} | {}", one["id"], one["title"], one["description"])).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    "0" "nginx" | "service on web-1"
    "1" "process:web-1:🦀" | "process on web-1"
    "#);
    let [asked] = &desk.asked()[..] else { panic!("it is asked once") };
    assert_eq!((asked.words.as_str(), asked.actor.id.as_str(), asked.actor.kind), ("Ngi", "11", ActorKind::Human));
    assert_eq!(asked.room, ConversationKind::Direct);
    fake.say(Say::new(ann, mine, "typed"));
    for (result, text) in [("0", "@@nginx"), ("1", "@@process:web-1:🦀")] {
        let picked = fake.choose(ann, mine, &query, result);
        let picked = fake.message(mine, picked).expect("it is there");
        assert_eq!(picked.text, text);
        assert!(matches!(&picked.entities[..], [code] if code.kind == EntityKind::Code), "{:?}", picked.entities);
    }
    desk.until("all are heard", |desk| desk.texts() == ["typed", "@@nginx", "@@process:web-1:🦀"]).await;
    assert_eq!(desk.signals()[0].thread, asked.thread, "it is judged as in the private chat");
    hearing.stop().await;
}

#[tokio::test]
async fn nothing_is_an_answer_and_one_that_is_lost_holds_up_nobody() {
    let (fake, ann) = scene().await;
    let mine = fake.private(ann);
    fake.fault(Fault::silent().on("answerInlineQuery").next(1));
    // The message before it finds no room, and the query is answered all the same.
    let desk = Desk::saying(vec![Ok(Admission::Busy); 3]);
    fake.say(Say::new(ann, mine, "one"));
    let lost = fake.inline_query(ann, "a");
    let hearing = Hearing::start(&Arc::new(adapter(&fake)), &desk);
    fake.wait_for_call(|call| call.method == "answerInlineQuery").await;
    let query = fake.inline_query(ann, "ab");
    assert!(fake.inline_answer(&query).await.results.is_empty());
    desk.until("the message is heard", |desk| desk.texts().len() == 4).await;
    fake.wait_until_read().await;
    let late = fake.log().into_iter().filter(|call| call.method == "answerInlineQuery").count();
    assert_eq!((late, desk.asked().len(), lost == query), (2, 2, false), "none is answered twice");
    hearing.stop().await;
}

#[tokio::test]
async fn it_is_declared_where_telegram_asks_for_it() {
    for on in [true, false] {
        let (fake, ann) = scene().await;
        let mine = fake.private(ann);
        fake.set_inline(on);
        let (telegram, desk) = (Arc::new(adapter(&fake)), Desk::new());
        assert!(!telegram.capabilities(&thread(mine, "")).suggestions, "nothing is known yet");
        let hearing = Hearing::start(&telegram, &desk);
        desk.until("it hears", |desk| !desk.conditions().is_empty()).await;
        assert_eq!(telegram.capabilities(&thread(mine, "")).suggestions, on);
        hearing.stop().await;
    }
}

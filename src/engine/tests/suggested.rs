//! What is offered to whoever types: of all threads, at no cost, and nothing by a bot that stops.

use countersign_core::port::Asked;
use countersign_core::signal::{ConversationId, ConversationKind};

use super::stage::{Play, Script};
use super::*;
use crate::engine::accept::Entrance;

fn offered(play: &Play, words: &str) -> Vec<String> {
    let entrance = Entrance { engine: Arc::clone(&play.engine), platform: Platform::new("test") };
    let Signal { actor, platform_roles, .. } = signal("x", "bob", "");
    let thread = ThreadKey { conversation: ConversationId::new("bob"), ..thread_key("") };
    let asked = Asked { actor, platform_roles, thread, room: ConversationKind::Direct, words: words.to_owned() };
    entrance.suggest(&asked).into_iter().map(|one| format!("{}: {}", one.mention, one.about)).collect()
}

#[tokio::test]
async fn what_any_thread_discovered_is_offered_and_nothing_is_stored_for_it() {
    let mut play = Play::start(Script::default()).await;
    assert!(offered(&play, "").is_empty(), "nothing is known yet");
    for (thread, text) in [("main", "status of nginx"), ("other", "load")] {
        let said = play.say(thread, text).await;
        play.answered(&said).await;
    }
    let before = play.engine.store.counts().await.expect("it counts");
    assert_eq!(offered(&play, "ngi"), ["@@nginx: service on web-1"]);
    assert_eq!(offered(&play, "web-1"), ["@@web-1: host", "@@nginx: service on web-1"]);
    assert_eq!(play.engine.store.counts().await.expect("it counts"), before);
    let said = play.say("main", "reset").await;
    play.answered(&said).await;
    assert_eq!(offered(&play, "ngi").len(), 1, "what one thread forgets is still known");
    play.stopped().await;
}

#[tokio::test]
async fn a_bot_that_stops_offers_nothing() {
    let mut play = Play::start(Script::default()).await;
    let said = play.say("main", "load").await;
    play.answered(&said).await;
    assert_eq!(offered(&play, "web").len(), 1);
    play.engine.stopping.cancel();
    assert!(offered(&play, "web").is_empty());
    play.stopped().await;
}

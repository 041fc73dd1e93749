//! Waiting for what is on its way.

use countersign_core::port::Lane;
use countersign_core::signal::Mono;

use super::Outbox;
use super::queue::tests::{FREE, post};

/// In a busy room something is always on its way: whoever waited for all of it would wait for ever, and nobody is heard meanwhile.
#[tokio::test]
async fn messages_that_are_sent_later_are_not_waited_for() {
    let outbox = Outbox::default();
    let put = |name: &str| outbox.put([(post(name, Lane::Answer), Mono(0))], Mono(0));
    put("r/a/1");
    let first = outbox.take(|_| FREE, Mono(0)).remove(0);
    let near = first.post.to.clone();
    let later = async {
        put("r/b/1");
        let second = outbox.take(|_| FREE, Mono(0)).remove(0);
        assert_eq!(second.post.id, "r/b/1");
        outbox.done(&first.post, Mono(0));
    };
    let (has_landed, ()) = tokio::join!(outbox.landed_near(&near, Mono(0)), later);
    assert!(has_landed, "the second one is on its way still");
}

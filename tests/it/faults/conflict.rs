//! Two bots with one token: Telegram gives the messages to whoever asked last, so that the other one must not go on, nor
//! stop in silence.

use crate::support::telegram::{ANN, Stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_bots_with_one_token_the_earlier_ends_and_says_why() {
    let mut first = Stage::start().await;
    let mut second = first.beside().await;
    let status = first.ended().await;
    assert_eq!(status.code(), Some(2), "{}", first.logged());
    let said = first.logged();
    let said = said.lines().rfind(|line| line.contains("Another instance")).unwrap_or_default();
    insta::assert_snapshot!(said, @"countersign: no platform can go on; telegram: Another instance is running with the same Telegram token. Stop it, or give this one a token of its own.");
    let private = second.fake.private(ANN);
    second.say(ANN, private, "help");
    second.said(private, "disk usage").await;
    second.end().await;
}

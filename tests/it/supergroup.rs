//! A group that becomes a supergroup: Telegram gives it another id and numbers its messages anew. What the access file says of it,
//! its threads and its plans go with it, also over a restart.

use countersign_telegram_fake::{ChatId, Fake};

use crate::support::bot::lives;
use crate::support::chat::Chat as _;
use crate::support::database;
use crate::support::stage::ACCESS;
use crate::support::telegram::{ANN, BOB, Script, Stage};

/// A stage with a group that is none of the supergroups, of which the access file says this.
async fn stage(control: &str, id: Option<i64>) -> (Stage, ChatId) {
    let fake = Fake::open(std::time::Duration::from_mins(1)).await;
    let group = fake.basic_group("small");
    let id = id.unwrap_or(group.0);
    let room = format!("\n[[rooms]]\nplatform = \"telegram\"\nid = \"{id}\"\ncontrol = \"{control}\"\n");
    let access = format!("{ACCESS}{room}");
    (Stage::among(fake, Script { access: &access, ..Script::default() }).await, group)
}

/// A room in which nothing is changed stays one.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_access_file_says_of_a_group_holds_in_the_supergroup() {
    let (mut stage, group) = stage("read_only", None).await;
    let process = stage.home.process("victim", &[]);
    let stop = format!("stop process {}", process.pid());
    let refused = "You may not ask for a change";
    stage.ask(ANN, group, &stop, refused).await;
    let supergroup = stage.fake.upgrade(group);
    stage.said(supergroup, "This room has the id").await;
    stage.ask(ANN, supergroup, &stop, refused).await;
    stage.restart().await;
    stage.ask(ANN, supergroup, &stop, refused).await;
    assert!(lives(process.pid()));
    stage.end().await;
}

/// Whoever looks the id up by now finds the new one.
#[tokio::test(flavor = "multi_thread")]
async fn the_access_file_may_name_the_new_id() {
    let (mut stage, group) = stage("read_only", Some(-1_001_000_000_003)).await;
    let process = stage.home.process("victim", &[]);
    let stop = format!("stop process {}", process.pid());
    let supergroup = stage.fake.upgrade(group);
    assert_eq!(supergroup, ChatId(-1_001_000_000_003), "it is the third chat that was made");
    stage.said(supergroup, "This room has the id -1001000000003 now; before, it was -4000001.").await;
    stage.ask(ANN, supergroup, &stop, "You may not ask for a change").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_a_group_is_decided_in_the_supergroup() {
    let (mut stage, group) = stage("controlled", None).await;
    let (first, second) = (stage.home.process("first", &[]), stage.home.process("second", &[]));
    let before = stage.card(ANN, group, &format!("stop process {}", first.pid())).await;
    let other = stage.card(ANN, group, &format!("stop process {}", second.pid())).await;
    let supergroup = stage.fake.upgrade(group);
    for (card, process) in [(&before, &first), (&other, &second)] {
        let again = stage.said(supergroup, &format!("Plan {}", &card.plan[..4])).await;
        assert!(again.text.contains("This still waits. Its card from before cannot be pressed any more."), "{again:?}");
        stage.fake.press_button(BOB, supergroup, again.id, "Approve");
        stage
            .said(
                supergroup,
                &format!(
                    "Done and verified: stop process {} ",
                    if process.pid() == first.pid() { "first" } else { "second" }
                ),
            )
            .await;
        assert!(!lives(process.pid()));
        // Its thread goes on: "again" is about what was done there.
        stage.reply(ANN, (supergroup, again.id), "why", "asked by ann").await;
    }
    let said =
        stage.fake.all(supergroup).into_iter().filter(|shown| shown.text.contains("This room has the id")).count();
    assert_eq!(said, 1, "said once");
    let moved = "SELECT COUNT(*) FROM audit_payloads WHERE body LIKE '%room_moved%'";
    assert_eq!(database::rows(&stage.database(), moved).await, [["1"]]);
    stage.ask(ANN, supergroup, "load", "of its CPU").await;
    // A thread of the supergroup is none of the group's, though its messages have the same numbers.
    let threads = "SELECT COUNT(*) FROM threads WHERE conversation = '-4000001' AND root LIKE 'm:%:-100%'";
    assert_eq!(database::rows(&stage.database(), threads).await, [["1"]]);
    stage.end().await;
}

//! People talk to each other, in the clear and encrypted, and compare keys.

use countersign_synapse::{Room, Say, Synapse};

#[tokio::test]
async fn people_talk_in_an_encrypted_room_and_the_server_sees_nothing_of_it() {
    let synapse = Synapse::shared();
    let (ann, bob) = (synapse.person("talk-ann"), synapse.person("talk-bob"));
    let room = ann.room(&Room::new("ops").encrypted().with(bob.user()));
    ann.joined(&room, &[ann.user(), bob.user()]);
    let asked = ann.say(&room, &Say::new("is it <up>?").to(bob.user()));
    let told = synapse.wait_for(&room, |seen| seen.event == asked && seen.readable).await;
    assert!(told.encrypted && told.body().ends_with("is it <up>?"), "{told:?}");
    let said = bob.say(&room, &Say::new("yes").in_thread(&asked).reply_to(&asked));
    let said = synapse.wait_for(&room, |seen| seen.event == said && seen.readable).await;
    assert_eq!((said.thread(), said.reply_to()), (Some(asked.as_str()), Some(asked.as_str())));
    let thanks = ann.react(&room, &said.event, "👍");
    let thanks = synapse.wait_for(&room, |seen| seen.event == thanks).await;
    assert_eq!((thanks.reaction(), thanks.encrypted), (Some((said.event.as_str(), "👍")), false));
}

#[tokio::test]
async fn what_is_edited_and_deleted_is_shown_so() {
    let synapse = Synapse::shared();
    let ann = synapse.person("edit-ann");
    let room = ann.room(&Room::new("notes"));
    ann.joined(&room, &[ann.user()]);
    let first = ann.say(&room, &Say::new("frist"));
    let edit = ann.say(&room, &Say::new("first").instead_of(&first));
    synapse.wait_for(&room, |seen| seen.event == edit).await;
    assert_eq!(synapse.shown(&room, &first).map(|seen| seen.body().to_owned()).as_deref(), Some("first"));
    let gone = ann.delete(&room, &first);
    synapse.wait_for(&room, |seen| seen.event == gone).await;
    assert_eq!(synapse.shown(&room, &first), None);
}

#[tokio::test]
async fn what_is_sent_under_a_key_of_nobodys_can_be_read_by_nobody() {
    let synapse = Synapse::shared();
    let (ann, bob) = (synapse.person("mute-ann"), synapse.person("mute-bob"));
    let room = ann.room(&Room::new("ops").encrypted().with(bob.user()));
    ann.joined(&room, &[ann.user(), bob.user()]);
    let unread = ann.say_unreadably(&room, "psst");
    let seen = synapse.wait_for(&room, |seen| seen.event == unread && seen.sender == ann.user()).await;
    assert!(seen.encrypted, "{seen:?}");
    let clear = ann.say_in_the_clear(&room, &Say::new("hello"));
    let clear = synapse.wait_for(&room, |seen| seen.event == clear).await;
    assert!(clear.readable && !clear.encrypted, "{clear:?}");
    let read = ann.say(&room, &Say::new("and this can be read"));
    synapse.wait_for(&room, |seen| seen.event == read && seen.readable).await;
}

#[tokio::test]
async fn a_second_device_reads_what_is_said_after_it_came() {
    let synapse = Synapse::shared();
    let (ann, bob) = (synapse.person("two-ann"), synapse.person("two-bob"));
    let room = ann.room(&Room::new("ops").encrypted().with(bob.user()));
    ann.joined(&room, &[ann.user(), bob.user()]);
    let phone = bob.another_device();
    assert_ne!(phone.device(), bob.device());
    phone.joined(&room, &[ann.user(), bob.user()]);
    let said = phone.say(&room, &Say::new("from my phone"));
    let told = synapse.wait_for(&room, |seen| seen.event == said && seen.readable).await;
    assert_eq!(told.sender, bob.user());
}

#[tokio::test]
async fn the_homeserver_is_away_and_comes_back_with_everything() {
    let synapse = Synapse::start();
    let ann = synapse.person("ann");
    let room = ann.room(&Room::new("ops"));
    ann.joined(&room, &[ann.user()]);
    ann.say(&room, &Say::new("before"));
    synapse.stop();
    synapse.start_again();
    let after = ann.say(&room, &Say::new("after"));
    synapse.wait_for(&room, |seen| seen.event == after).await;
    let said: Vec<String> =
        synapse.events(&room).into_iter().filter(|seen| seen.is_message()).map(|seen| seen.body().to_owned()).collect();
    assert_eq!(said, ["before", "after"]);
}

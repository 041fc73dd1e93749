//! Encryption: who is believed to have said something, what is not taken up and said so, what cannot be read and said so,
//! and comparing keys.

use countersign_core::signal::Assurance;
use countersign_synapse::{Fault, Say};
use matrix_sdk::encryption::LocalTrust;
use matrix_sdk::encryption::verification::SasVerification;
use matrix_sdk::ruma::events::room::message::RoomMessageEventContent;

use super::*;

#[tokio::test]
async fn only_encrypted_rooms_are_listened_to_and_that_is_said_once() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Required), &desk);
    let ann = scene.person("ann").await;
    let plain = ann.group(&scene.bot, false).await;
    ann.send(&plain, RoomMessageEventContent::text_plain("nobody is asked")).await;
    let first = ann.ask(&plain, "one").await;
    let told = ann.sees(&plain, "I listen only in encrypted rooms").await;
    assert_eq!(told["content"]["m.relates_to"]["event_id"], first.as_str());
    ann.ask(&plain, "two").await;
    let sealed = ann.group(&scene.bot, true).await;
    ann.ask(&sealed, "three").await;
    let signal = desk.heard("three").await;
    assert_eq!(signal.assurance, Assurance::Unsealed, "nobody has compared keys with her");
    assert_eq!(desk.texts(), ["three"]);
    let said = ann.bodies(&plain).into_iter().filter(|body| body.starts_with("I listen")).count();
    assert_eq!(said, 1);
    // A homeserver could put in a message like this one.
    let content = serde_json::json!({ "msgtype": "m.text", "body": "!cs four" });
    plaintext(&ann, &sealed, content).await;
    ann.sees(&sealed, "That message was not encrypted").await;
    assert_eq!(desk.texts(), ["three"]);
    hearing.stop().await;
}

/// Sends a message that is not encrypted into a room that is.
async fn plaintext(person: &Person, room: &Room, content: serde_json::Value) {
    use matrix_sdk::ruma::api::client::message::send_message_event::v3::Request;
    let raw = matrix_sdk::ruma::serde::Raw::from_json(serde_json::value::to_raw_value(&content).expect("it is JSON"));
    let transaction = matrix_sdk::ruma::TransactionId::new();
    let request = Request::new_raw(room.room_id().to_owned(), transaction, "m.room.message".into(), raw);
    person.client.send(request).await.expect("the server takes it");
}

#[tokio::test]
async fn without_encryption_an_encrypted_room_is_told_so_once() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Off), &desk);
    let ann = scene.person("ann").await;
    let sealed = ann.group(&scene.bot, true).await;
    ann.ask(&sealed, "one").await;
    ann.sees(&sealed, "I was set up without encryption").await;
    let plain = ann.group(&scene.bot, false).await;
    ann.ask(&plain, "two").await;
    desk.heard("two").await;
    assert_eq!(desk.texts(), ["two"]);
    hearing.stop().await;
}

/// This person's client gives its keys to none of the bot's devices from now on.
async fn withholds(person: &Person, bot: &UserId) {
    let encryption = person.client.encryption();
    encryption.request_user_identity(bot).await.expect("the server answers");
    let devices = encryption.get_user_devices(bot).await.expect("they can be read");
    for device in devices.devices() {
        device.set_local_trust(LocalTrust::BlackListed).await.expect("it can be stored");
    }
}

/// Comes into a room of somebody else's, who may invite.
async fn joins(person: &Person, room: &Room) -> Room {
    room.invite_user_by_id(person.id()).await.expect("who made a room may invite");
    person.until("they are invited", |person| person.client.get_room(room.room_id()).is_some()).await;
    person.client.join_room_by_id(room.room_id()).await.expect("they are invited")
}

#[tokio::test]
async fn what_cannot_be_decrypted_is_said_of_everybody_and_again_where_saying_it_failed() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(Encryption::Required), &desk);
    let (ann, bob) = (scene.person("ann").await, scene.person("bob").await);
    let room = ann.group(&scene.bot, true).await;
    let his = joins(&bob, &room).await;
    withholds(&ann, &scene.bot).await;
    withholds(&bob, &scene.bot).await;
    // The first that is said does not come through.
    scene.gate.fault(Fault::broken(502).in_room(room.room_id().as_str()).times(1));
    ann.ask(&room, "nobody can read this").await;
    bob.ask(&his, "nor that").await;
    let of = |person: &Person| format!("message of {}", person.id());
    bob.sees(&his, &of(&ann)).await;
    bob.sees(&his, &of(&bob)).await;
    let told = bob.bodies(&his).into_iter().filter(|body| body.starts_with("I could not decrypt")).count();
    assert_eq!(told, 2, "each once");
    hearing.stop().await;
}

#[tokio::test]
async fn what_cannot_be_decrypted_is_said_in_its_thread_and_taken_up_when_its_key_comes() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Required);
    let hearing = Hearing::start(&matrix, &desk);
    let ann = scene.person("ann").await;
    let room = ann.group(&scene.bot, true).await;
    withholds(&ann, &scene.bot).await;
    let bob = scene.person("bob").await;
    let his = joins(&bob, &room).await;
    let asked = ann.ask(&room, "nobody can read this").await;
    let told = bob.sees(&his, "I could not decrypt a message of").await;
    assert!(told["content"]["body"].as_str().is_some_and(|body| body.contains(ann.id().as_str())), "{told}");
    assert_eq!(told["content"]["m.relates_to"]["event_id"], asked.as_str());
    hearing.stop().await;
    // Her keys come later, and by another way, while the bot was restarted.
    let (matrix, keys) = (scene.matrix(Encryption::Required), scene.folder.path().join("keys"));
    ann.client.encryption().export_room_keys(keys.clone(), "pass", |_| true).await.expect("she has them");
    let hearing = Hearing::start(&matrix, &desk);
    desk.until("it is connected", |_| matrix.client().is_some()).await;
    assert!(desk.texts().is_empty());
    matrix.client().expect("it is connected").encryption().import_room_keys(keys, "pass").await.expect("they fit");
    let signal = desk.heard("nobody can read this").await;
    assert_eq!((signal.event.as_str(), signal.assurance), (asked.as_str(), Assurance::Unsealed));
    hearing.stop().await;
}

/// What the bot's log says of a comparison.
fn code(matrix: &Matrix, person: &Person) -> Option<String> {
    matrix.checks.code(person.id())
}

/// Starts comparing keys with the bot, up to where both see the emoji.
async fn begin(scene: &Scene, matrix: &Matrix, person: &Person) -> (SasVerification, String) {
    let bot = person.client.encryption().request_user_identity(&scene.bot).await.expect("the server answers");
    let request = bot.expect("the bot has an identity").request_verification().await.expect("it can be asked");
    person.until("the bot agrees", |_| request.is_ready()).await;
    let sas = request.start_sas().await.expect("it can be started").expect("the bot can do it");
    person.until("the emoji are there", |_| sas.can_be_presented()).await;
    person.until("the bot has a code", |person| code(matrix, person).is_some()).await;
    (sas, code(matrix, person).expect("it was seen"))
}

#[tokio::test]
async fn who_has_compared_keys_and_sent_the_code_is_believed() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Required);
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    let ann = scene.person("ann").await;
    let room = ann.direct(&scene.bot, true).await;
    ann.send(&room, RoomMessageEventContent::text_plain("before")).await;
    assert_eq!(desk.heard("before").await.assurance, Assurance::Unsealed);
    // What is no code is said for its own sake, and what is not encrypted may be the homeserver's: it goes on.
    let (sas, _) = begin(&scene, &matrix, &ann).await;
    ann.send(&room, RoomMessageEventContent::text_plain("please verify deployed things")).await;
    desk.heard("please verify deployed things").await;
    plaintext(&ann, &room, serde_json::json!({ "msgtype": "m.text", "body": "verify 00000000" })).await;
    ann.sees(&room, "That message was not encrypted").await;
    assert!(!sas.is_cancelled() && code(&matrix, &ann).is_some());
    // With a wrong code, it ends. The bot may be named before it.
    ann.send(&room, RoomMessageEventContent::text_plain(format!("{}: !verify 00000000", scene.bot))).await;
    ann.until("it is broken off", |_| sas.is_cancelled()).await;
    ann.sees(&room, "That is not the code in my log").await;
    // With the right one, it is done when she has confirmed it, too.
    let (sas, code) = begin(&scene, &matrix, &ann).await;
    sas.confirm().await.expect("it can be confirmed");
    ann.send(&room, RoomMessageEventContent::text_plain(format!("verify {code}"))).await;
    ann.until("it is done", |_| sas.is_done()).await;
    ann.sees(&room, "Thank you").await;
    let encryption = matrix.client().expect("it is connected").encryption();
    let identity = encryption.get_user_identity(ann.id()).await.expect("it can be read").expect("she has one");
    let verified = async {
        while !encryption
            .get_user_identity(ann.id())
            .await
            .ok()
            .flatten()
            .is_some_and(|identity| identity.is_verified())
        {
            ann.sync().await;
        }
    };
    tokio::time::timeout(PATIENCE, verified).await.unwrap_or_else(|_| panic!("{identity:?}"));
    ann.send(&room, RoomMessageEventContent::text_plain("after")).await;
    assert_eq!(desk.heard("after").await.assurance, Assurance::Sealed);
    let heard = ["before", "please verify deployed things", "after"];
    assert_eq!(desk.texts(), heard, "the codes are nobody else's");
    hearing.stop().await;
}

#[tokio::test]
async fn a_strangers_keys_are_not_compared() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Required);
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    let (ann, eve) = (scene.person("ann").await, scene.person("stranger").await);
    let room = ann.group(&scene.bot, true).await;
    let hers = joins(&eve, &room).await;
    eve.ask(&hers, "whatever").await;
    desk.heard("whatever").await;
    eve.client.encryption().request_user_identity(&scene.bot).await.expect("the server answers");
    let devices = eve.client.encryption().get_user_devices(&scene.bot).await.expect("they can be read");
    let device = devices.devices().next().expect("the bot has one");
    // Not in a room: into one of hers, the bot would not come.
    let request = device.request_verification().await.expect("it can be asked");
    eve.until("it is broken off", |_| request.is_cancelled()).await;
    assert_eq!(code(&matrix, &eve), None);
    hearing.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_of_somebody_without_an_identity_is_believed_when_it_was_compared() {
    let scene = Scene::new().await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Required);
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    // A client that shares no code with the bot's, and knows nothing of identities.
    let ann = scene.synapse.person(&unique("ann"));
    let room = ann.room(&countersign_synapse::Room::direct().encrypted().with(scene.bot.as_str()));
    ann.joined(&room, &[scene.bot.as_str()]);
    ann.say(&room, &Say::new("before"));
    assert_eq!(desk.heard("before").await.assurance, Assurance::Unsealed);
    let comparison = ann.compare(scene.bot.as_str());
    let user = UserId::parse(ann.user()).expect("it is an account");
    let code = async {
        loop {
            match matrix.checks.code(&user) {
                Some(code) => break code,
                None => tokio::task::yield_now().await,
            }
        }
    };
    let code = tokio::time::timeout(PATIENCE, code).await.expect("the bot shows a code");
    ann.confirm(&comparison);
    ann.say(&room, &Say::new(&format!("verify {code}")));
    ann.compared(&comparison);
    scene.synapse.wait_for(&room, |event| event.body().starts_with("Thank you")).await;
    ann.say(&room, &Say::new("after"));
    assert_eq!(desk.heard("after").await.assurance, Assurance::Sealed);
    // Her other device was compared with nobody.
    ann.another_device().say(&room, &Say::new("from elsewhere"));
    assert_eq!(desk.heard("from elsewhere").await.assurance, Assurance::Unsealed);
    hearing.stop().await;
}

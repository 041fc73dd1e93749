//! A person with a client of their own: the same SDK as the bot's, so that what only newer clients can (identities,
//! cross-signing) can be seen, too. It syncs only while somebody waits for something.

use std::sync::Mutex;
use std::time::Duration;

use matrix_sdk::config::SyncSettings;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::encryption::EncryptionSettings;
use matrix_sdk::ruma::api::client::account::register::v3 as register;
use matrix_sdk::ruma::api::client::room::create_room::v3 as create;
use matrix_sdk::ruma::api::client::uiaa::{AuthData, Dummy};
use matrix_sdk::ruma::events::InitialStateEvent;
use matrix_sdk::ruma::events::room::encryption::RoomEncryptionEventContent;
use matrix_sdk::ruma::events::room::message::RoomMessageEventContent;
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, UserId};
use matrix_sdk::{Client, Room};
use serde_json::Value;

use super::PATIENCE;

/// Everybody's password.
pub(super) const PASSWORD: &str = "correct horse";

/// An account at the server, that nobody is logged in with.
pub(super) async fn register(url: &str, name: &str) -> OwnedUserId {
    let client = Client::builder().homeserver_url(url).build().await.expect("it is an address");
    let mut request = register::Request::new();
    request.username = Some(name.to_owned());
    request.password = Some(PASSWORD.to_owned());
    request.auth = Some(AuthData::Dummy(Dummy::new()));
    request.inhibit_login = true;
    client.send(request).await.expect("anybody may register").user_id
}

pub(super) struct Person {
    pub(super) client: Client,
    seen: Mutex<Vec<(String, TimelineEvent)>>,
}

impl Person {
    /// Somebody with an identity of their own.
    pub(super) async fn new(url: &str, name: &str) -> Self {
        let user = register(url, name).await;
        let encryption = EncryptionSettings { auto_enable_cross_signing: true, ..EncryptionSettings::default() };
        let builder = Client::builder().homeserver_url(url).with_encryption_settings(encryption);
        let client = builder.build().await.expect("it is an address");
        client.matrix_auth().login_username(&user, PASSWORD).send().await.expect("the password is right");
        client.encryption().wait_for_e2ee_initialization_tasks().await;
        let person = Self { client, seen: Mutex::default() };
        person.sync().await;
        person
    }

    pub(super) fn id(&self) -> &UserId {
        self.client.user_id().expect("somebody is logged in")
    }

    /// Hears once.
    pub(super) async fn sync(&self) {
        let settings = SyncSettings::new().timeout(Duration::from_millis(500));
        let response = self.client.sync_once(settings).await.expect("the server answers");
        let mut seen = self.seen.lock().expect("nobody panics while holding it");
        for (room, update) in response.rooms.joined {
            seen.extend(update.timeline.events.into_iter().map(|event| (room.to_string(), event)));
        }
    }

    /// A group with the bot in it.
    pub(super) async fn group(&self, bot: &UserId, encrypted: bool) -> Room {
        self.room(bot, encrypted, false).await
    }

    /// A direct conversation with the bot.
    pub(super) async fn direct(&self, bot: &UserId, encrypted: bool) -> Room {
        self.room(bot, encrypted, true).await
    }

    async fn room(&self, bot: &UserId, encrypted: bool, is_direct: bool) -> Room {
        let room = self.invite(bot, encrypted, is_direct).await;
        self.until("the bot has joined", |person| {
            person.events(&room).iter().any(|event| {
                event["type"] == "m.room.member"
                    && event["state_key"] == bot.as_str()
                    && event["content"]["membership"] == "join"
            })
        })
        .await;
        room
    }

    /// The same without waiting for the bot.
    pub(super) async fn invite(&self, bot: &UserId, encrypted: bool, is_direct: bool) -> Room {
        let mut request = create::Request::new();
        request.invite = vec![bot.to_owned()];
        request.is_direct = is_direct;
        request.preset = Some(create::RoomPreset::PrivateChat);
        if encrypted {
            let content = RoomEncryptionEventContent::with_recommended_defaults();
            request.initial_state = vec![InitialStateEvent::with_empty_state_key(content).to_raw_any()];
        }
        let room = self.client.create_room(request).await.expect("anybody may make a room");
        self.until("the room is there", |person| {
            person.client.get_room(room.room_id()).is_some_and(|room| room.is_synced())
        })
        .await;
        room
    }

    /// What was seen of a room, as JSON, the oldest first.
    pub(super) fn events(&self, room: &Room) -> Vec<Value> {
        let seen = self.seen.lock().expect("nobody panics while holding it");
        let here = seen.iter().filter(|(id, _)| id == room.room_id().as_str());
        here.filter_map(|(_, event)| serde_json::from_str(event.raw().json().get()).ok()).collect()
    }

    /// The events themselves.
    pub(super) fn timeline(&self, room: &Room) -> Vec<TimelineEvent> {
        let seen = self.seen.lock().expect("nobody panics while holding it");
        seen.iter().filter(|(id, _)| id == room.room_id().as_str()).map(|(_, event)| event.clone()).collect()
    }

    /// The bodies of the messages in a room.
    pub(super) fn bodies(&self, room: &Room) -> Vec<String> {
        let events = self.events(room);
        events.iter().filter_map(|event| event["content"]["body"].as_str().map(ToOwned::to_owned)).collect()
    }

    /// Waits for a message that says this, as JSON.
    pub(super) async fn sees(&self, room: &Room, what: &str) -> Value {
        let says = |event: &Value| event["content"]["body"].as_str().is_some_and(|body| body.contains(what));
        self.until(what, |person| person.events(room).iter().any(says)).await;
        self.events(room).into_iter().find(says).expect("it was seen")
    }

    /// Waits until it holds.
    pub(super) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let look = async {
            while !holds(self) {
                self.sync().await;
            }
        };
        let done = tokio::time::timeout(PATIENCE, look).await;
        assert!(done.is_ok(), "{what}: {:?}", self.seen.lock().map(|seen| seen.len()));
    }

    /// Says something to the bot.
    pub(super) async fn ask(&self, room: &Room, text: &str) -> OwnedEventId {
        self.send(room, RoomMessageEventContent::text_plain(format!("!cs {text}"))).await
    }

    pub(super) async fn send(&self, room: &Room, content: RoomMessageEventContent) -> OwnedEventId {
        // Whose devices are there is learned in syncs.
        self.sync().await;
        room.send(content).await.expect("it can be sent").response.event_id
    }
}

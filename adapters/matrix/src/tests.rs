//! The adapter against a real Synapse. What is sealed by the core cannot be made here, so that messages go in without their
//! seal; whole sessions are the conformance suite's.

mod desk;
mod hearing;
mod person;
mod sealed;
mod sending;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use countersign_core::port::{Block, Claim, Lane, Mark, Outgoing, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, EventId, Platform, SignalId, SpaceId, ThreadKey, ThreadRoot,
};
use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedUserId;
use tempfile::TempDir;

use super::*;
use desk::{Desk, Hearing};
use person::{PASSWORD, Person};

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// Short enough for a test, and long enough for a slow machine where something has to come through.
const QUICK: Timing = Timing {
    poll: Duration::from_secs(2),
    call: Duration::from_secs(15),
    pause_first: Duration::from_millis(20),
    pause_last: Duration::from_millis(200),
    room: Duration::from_millis(5),
    unread: Duration::from_millis(400),
};

/// A server with an account for the bot, and the bot's folder.
struct Scene {
    url: String,
    bot: OwnedUserId,
    folder: TempDir,
    /// Tells the accounts of this test from those of the others.
    tag: String,
}

impl Scene {
    async fn new(tag: &str) -> Self {
        let url = std::env::var("SYN").expect("a server");
        let bot = person::register(&url, &format!("bot-{tag}")).await;
        Self { url, bot, folder: tempfile::tempdir().expect("there is room"), tag: tag.to_owned() }
    }

    fn options(&self, encryption: Encryption) -> Options {
        let store = self.folder.path().join("matrix");
        Options { encryption, ..Options::new(&self.url, self.bot.as_str(), PASSWORD, store) }
    }

    fn matrix(&self, encryption: Encryption) -> Arc<Matrix> {
        made(self.options(encryption))
    }

    async fn person(&self, name: &str) -> Person {
        Person::new(&self.url, &format!("{name}-{}", self.tag)).await
    }

    fn thread(&self, room: &Room, root: &str) -> ThreadKey {
        ThreadKey {
            platform: Platform::new("matrix"),
            account: AccountId::new(self.bot.as_str()),
            space: SpaceId::new(self.bot.server_name().as_str()),
            conversation: ConversationId::new(room.room_id().as_str()),
            root: ThreadRoot::new(root),
        }
    }
}

fn made(options: Options) -> Arc<Matrix> {
    Arc::new(Matrix::timed(options, QUICK).expect("the options are sound"))
}

/// Waits until the bot hears.
async fn hears(desk: &Desk) {
    desk.until("it hears", |desk| desk.conditions().contains(&countersign_core::port::Condition::Hearing)).await;
}

fn outgoing(to: ThreadKey, text: &str) -> Outgoing {
    Outgoing {
        to,
        answers: SignalId::new("s"),
        mark: Mark::Plain,
        lane: Lane::Answer,
        visibility: Visibility::Everybody,
        claim: Claim::Nothing,
        blocks: vec![Block::Text { text: text.to_owned() }],
    }
}

fn to(message: &Outgoing) -> Letter<'_> {
    Letter { id: POST, message, repeat: false, anchor: None }
}

async fn send(matrix: &Matrix, message: &Outgoing) -> Vec<EventId> {
    match deliver::deliver(matrix, to(message)).await {
        Delivery::Sent(events) => events,
        other => panic!("{other:?}"),
    }
}

//! The adapter against a real Synapse. What is sealed by the core cannot be made here, so that messages go in without their
//! seal; whole sessions are the conformance suite's.

mod desk;
mod hearing;
mod person;
mod sealed;
mod sending;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use countersign_core::port::{Block, Claim, DeliveryNotes, Lane, Mark, Outgoing, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, EventId, Platform, SignalId, SpaceId, ThreadKey, ThreadRoot,
};
use countersign_synapse::{Gate, Synapse};
use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedUserId;
use tempfile::TempDir;

use super::*;
use desk::{Desk, Hearing};
use person::Person;

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

/// Everybody's password.
const PASSWORD: &str = "correct horse";

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
    quiet: Duration::from_millis(400),
};

/// A server with an account for the bot, people of this test's own, and the bot's folder.
struct Scene {
    synapse: Synapse,
    /// Where the bot finds it.
    gate: Gate,
    bot: OwnedUserId,
    folder: TempDir,
}

impl Scene {
    async fn new() -> Self {
        // It blocks, once in this process.
        let synapse = tokio::task::spawn_blocking(Synapse::shared).await.expect("it starts");
        let bot = OwnedUserId::try_from(synapse.account(&unique("bot"), PASSWORD)).expect("it is an account");
        Self { gate: synapse.gate(), synapse, bot, folder: tempfile::tempdir().expect("there is room") }
    }

    fn options(&self, encryption: Encryption) -> Options {
        let store = self.folder.path().join("matrix");
        Options { encryption, ..Options::new(self.gate.url(), self.bot.as_str(), PASSWORD, store) }
    }

    fn matrix(&self, encryption: Encryption) -> Arc<Matrix> {
        made(self.options(encryption))
    }

    async fn person(&self, name: &str) -> Person {
        let user = self.synapse.account(&unique(name), PASSWORD);
        Person::new(&self.synapse.url(), &user, PASSWORD).await
    }

    fn thread(&self, room: &Room, from: &str) -> ThreadKey {
        ThreadKey {
            platform: Platform::new("matrix"),
            account: AccountId::new(self.bot.as_str()),
            space: SpaceId::new(self.bot.server_name().as_str()),
            conversation: ConversationId::new(room.room_id().as_str()),
            root: ThreadRoot::new(from),
        }
    }
}

/// A name that no other test gives.
fn unique(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
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
    Letter { id: POST, message, notes: DeliveryNotes::default(), anchor: None }
}

async fn send(matrix: &Matrix, message: &Outgoing) -> Vec<EventId> {
    match deliver::deliver(matrix, to(message)).await {
        Delivery::Sent(events) => events,
        other => panic!("{other:?}"),
    }
}

//! The adapter against a stateful fake of the Bot API, over HTTP. What is sealed by the core cannot be made here, so that
//! messages go in without their seal; whole sessions are the conformance suite's.

mod desk;
mod editing;
mod hearing;
mod offering;
mod presses;
mod sending;

use std::time::Duration;

use countersign_core::port::{Block, Claim, DeliveryNotes, Lane, Mark, Outgoing, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, EventId, Platform, SignalId, SpaceId, ThreadKey, ThreadRoot,
};
use countersign_telegram_fake::{ChatId, Fake};

use super::*;
use desk::Desk;

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

/// Short enough for a test, and long enough for a slow machine where something has to come through.
const QUICK: Timing = Timing {
    poll: Duration::from_secs(1),
    grace: Duration::from_millis(300),
    call: Duration::from_secs(5),
    pause_first: Duration::from_millis(10),
    pause_last: Duration::from_millis(80),
    room: Duration::from_millis(5),
};

fn options(fake: &Fake) -> Options {
    let commands = vec![Command { name: "disk_usage".to_owned(), about: "How full every file system is".to_owned() }];
    Options { api_url: fake.base_url(), commands, ..Options::new(fake.token()) }
}

fn adapter(fake: &Fake) -> Telegram {
    Telegram::timed(options(fake), QUICK).expect("the options are sound")
}

/// A fake with one person in it.
async fn scene() -> (Fake, i64) {
    let fake = Fake::start().await;
    let ann = fake.user(11, "Ann");
    (fake, ann)
}

fn thread(chat: ChatId, root: &str) -> ThreadKey {
    ThreadKey {
        platform: Platform::new("telegram"),
        account: AccountId::new("99"),
        space: SpaceId::new(""),
        conversation: ConversationId::new(chat.0.to_string()),
        root: ThreadRoot::new(root),
    }
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

fn event(chat: ChatId, message: i64) -> EventId {
    EventId::new(format!("{}:{message}", chat.0))
}

async fn send(telegram: &Telegram, message: &Outgoing) -> Delivery {
    deliver::deliver(telegram, to(message)).await
}

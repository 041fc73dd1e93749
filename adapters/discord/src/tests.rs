//! The adapter against a stateful fake of Discord, over HTTP and a web socket. What is sealed by the core cannot be made
//! here, so that messages go in without their seal; whole sessions are the conformance suite's.

mod calls;
mod desk;
mod editing;
mod hearing;
mod missed;
mod outages;
mod sending;

use std::time::Duration;

use countersign_core::port::{Block, Claim, DeliveryNotes, Lane, Mark, Outgoing, Visibility};
use countersign_core::signal::{
    AccountId, ActorId, ConversationId, EventId, Platform, SignalId, SpaceId, ThreadKey, ThreadRoot,
};
use countersign_discord_fake::{BOT, ChannelId, Fake, GUILD};

use super::*;
use desk::Desk;

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

const ANN: u64 = 80_351_110_224_678_911;

/// Short enough for a test, and long enough for a slow machine where something has to come through.
const QUICK: Timing = Timing {
    call: Duration::from_secs(5),
    hello: Duration::from_secs(5),
    patience: Duration::from_secs(2),
    pause_first: Duration::from_millis(10),
    pause_last: Duration::from_millis(80),
    room: Duration::from_millis(5),
};

fn options(fake: &Fake) -> Options {
    let commands = vec![Command { name: "disk_usage".to_owned(), about: "How full every file system is".to_owned() }];
    Options { api_url: fake.base_url(), commands, ..Options::new(fake.token()) }
}

fn adapter(fake: &Fake) -> Discord {
    Discord::timed(options(fake), QUICK).expect("the options are sound")
}

/// A fake with one person and one channel in it.
async fn scene() -> (Fake, ChannelId) {
    let fake = Fake::start().await;
    fake.user(ANN, "Ann");
    let ops = fake.channel("ops");
    (fake, ops)
}

fn thread(channel: ChannelId, root: &str) -> ThreadKey {
    ThreadKey {
        platform: Platform::new("discord"),
        account: AccountId::new(BOT.to_string()),
        space: SpaceId::new(GUILD.to_string()),
        conversation: ConversationId::new(channel.0.to_string()),
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

/// For Ann alone.
fn only(message: Outgoing) -> Outgoing {
    Outgoing { visibility: Visibility::Only(ActorId::new(ANN.to_string())), mark: Mark::Refused, ..message }
}

fn to(message: &Outgoing) -> Letter<'_> {
    Letter { id: POST, message, notes: DeliveryNotes::default(), anchor: None }
}

fn event(channel: ChannelId, message: u64) -> EventId {
    EventId::new(format!("{}:{message}", channel.0))
}

async fn send(discord: &Discord, message: &Outgoing) -> Delivery {
    deliver::deliver(discord, to(message)).await
}

/// The message that is an event.
fn message_of(event: &EventId) -> u64 {
    event.as_str().split(':').next_back().and_then(|id| id.parse().ok()).expect("it is a message")
}

/// So many lines, each with its number.
fn many(lines: usize, text: &str) -> String {
    (0..lines).map(|n| format!("{n} {text}")).collect::<Vec<_>>().join("\n")
}

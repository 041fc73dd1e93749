//! From what was heard to what the engine stored of it. The gateway has no way to confirm an event, so that what cannot be
//! stored is kept and tried again until it is. Where the engine has no room, the person is told.

use countersign_core::port::{Admission, Condition, Ingress};
use countersign_core::signal::ConversationId;

use crate::Discord;
use crate::answer::{finish_soon, watch};
use crate::busy;
use crate::translate::{Call, Heard, Waits};

/// What is said to a command that is none here.
const NOT_HERE: &str = "I take no such command here. Ask me in a channel of a server, or write to me directly.";

/// How often something is tried again where the engine has no room.
const AGAIN_MAX: u32 = 10;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is the engine's.
    Done,
    /// The bot is stopping.
    Stopping,
}

type Admitted = Result<Admission, String>;

/// The room of what was heard; none where its order does not count.
pub(crate) const fn room(heard: &Heard) -> Option<&ConversationId> {
    match heard {
        Heard::Said { signal, .. } => Some(&signal.thread.conversation),
        Heard::Touched { touch, .. } => Some(&touch.thread.conversation),
        Heard::Asks { .. } | Heard::Types(_) | Heard::Stray(_) | Heard::Nothing => None,
    }
}

/// Takes note of an interaction the moment it is heard: its three seconds run.
pub(crate) fn open(discord: &Discord, heard: &Heard) {
    if let Some(call) = call(heard).filter(|call| discord.calls.opened(call)) {
        watch(discord, call);
    }
}

/// Hands it to the engine, until that has it.
pub(crate) async fn take(discord: &Discord, ingress: &dyn Ingress, heard: Heard) -> Taken {
    let mut pause = discord.timing.pause_first;
    loop {
        match admit_patiently(discord, ingress, &heard).await {
            Ok(Admission::Stopping) => return Taken::Stopping,
            Ok(admission) => {
                note(discord, &heard, &admission);
                settle(discord, &heard, &admission);
                return Taken::Done;
            }
            Err(error) => {
                tracing::error!(error, "an event could not be stored; it is kept and tried again");
                let what = format!("a message could not be stored: {error}");
                let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                ingress.report(Condition::Trouble { what, again_in_ms });
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(discord.timing.pause_last);
            }
        }
    }
}

/// Tries again where there is no room.
async fn admit_patiently(discord: &Discord, ingress: &dyn Ingress, heard: &Heard) -> Admitted {
    let mut admitted = admit(ingress, heard).await;
    for _ in 0..AGAIN_MAX {
        if admitted != Ok(Admission::Busy) {
            break;
        }
        tokio::time::sleep(discord.timing.room).await;
        admitted = admit(ingress, heard).await;
    }
    admitted
}

async fn admit(ingress: &dyn Ingress, heard: &Heard) -> Admitted {
    match heard {
        Heard::Said { signal, .. } => ingress.accept(signal.clone()).await,
        Heard::Touched { touch, .. } => ingress.touch(touch.clone()).await,
        Heard::Asks { .. } | Heard::Types(_) | Heard::Stray(_) | Heard::Nothing => Ok(Admission::Unknown),
    }
}

/// Where something was taken up, what is missed later is looked for.
fn note(discord: &Discord, heard: &Heard, admission: &Admission) {
    if let (Heard::Said { signal, .. }, Admission::Accepted(_)) = (heard, admission) {
        discord.heard.accepted(&signal.event);
    }
}

/// Tells Discord, or the person, what became of it, where they wait for that.
fn settle(discord: &Discord, heard: &Heard, admission: &Admission) {
    let call = call(heard);
    match admission {
        Admission::Accepted(signal) => {
            if let Some(closed) = call.and_then(|call| discord.calls.accepted(call.id, signal)) {
                finish_soon(discord, closed, None);
            }
        }
        Admission::Busy => busy::tell(discord, heard),
        Admission::Duplicate | Admission::Unknown | Admission::Limited { .. } => {
            if let Some(closed) = call.and_then(|call| discord.calls.close_unclaimed(call.id)) {
                finish_soon(discord, closed, refusal(heard));
            }
        }
        Admission::Stopping => {}
    }
}

/// What whoever gave a command is told where it says nothing to us.
const fn refusal(heard: &Heard) -> Option<&'static str> {
    match heard {
        Heard::Stray(Call { waits: Waits::Command, .. }) => Some(NOT_HERE),
        _ => None,
    }
}

const fn call(heard: &Heard) -> Option<&Call> {
    match heard {
        Heard::Said { call, .. } | Heard::Touched { call, .. } => call.as_ref(),
        Heard::Stray(call) => Some(call),
        Heard::Asks { .. } | Heard::Types(_) | Heard::Nothing => None,
    }
}

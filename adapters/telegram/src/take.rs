//! From a batch of updates to what the engine stored of it: the order of each thread is kept, and an update counts as taken
//! only when the engine has it. Where it has no room, the person is told.

use futures::future::join_all;

use countersign_core::port::{Admission, Ingress};
use countersign_core::signal::{ActorKind, Addressed, ConversationKind};

use crate::Telegram;
use crate::busy;
use crate::callbacks::answer_soon;
use crate::roles;
use crate::translate::Heard;

/// How often a batch is tried again where the engine has no room, over all its updates.
const AGAIN_MAX: u32 = 10;

/// What became of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All of it may be confirmed.
    All,
    /// Only what comes before this update may be, for this reason.
    Before(u32, String),
    /// The bot is stopping.
    Stopping,
}

type Admitted = Result<Admission, String>;

/// Hands a batch to the engine. Nothing is waited for between one update and the next, so that those of a thread come in
/// their order and those of different threads side by side.
pub(crate) async fn take(telegram: &Telegram, ingress: &dyn Ingress, mut batch: Vec<(u32, Heard)>) -> Taken {
    join_all(batch.iter_mut().map(|(_, heard)| add_roles(telegram, heard))).await;
    for (_, heard) in &batch {
        if let Heard::Touched { callback: Some(callback), .. } = heard {
            telegram.callbacks.opened(callback);
        }
    }
    let admitted = join_all(batch.iter().map(|(_, heard)| admit(ingress, heard))).await;
    let mut again = AGAIN_MAX;
    let mut held: Option<(u32, String)> = None;
    for ((id, heard), mut admission) in batch.iter().zip(admitted) {
        while admission == Ok(Admission::Busy) && again > 0 {
            again -= 1;
            tokio::time::sleep(telegram.timing.room).await;
            admission = admit(ingress, heard).await;
        }
        match admission {
            Ok(Admission::Stopping) => return Taken::Stopping,
            Ok(admission) => settle(telegram, heard, &admission),
            // What was taken behind it comes again, and is known then.
            Err(error) if held.as_ref().is_none_or(|(first, _)| id < first) => held = Some((*id, error)),
            Err(_) => {}
        }
    }
    held.map_or(Taken::All, |(id, error)| Taken::Before(id, error))
}

async fn admit(ingress: &dyn Ingress, heard: &Heard) -> Admitted {
    match heard {
        Heard::Said(signal) => ingress.accept(signal.clone()).await,
        Heard::Touched { touch, .. } => ingress.touch(touch.clone()).await,
        Heard::Stray(_) | Heard::Nothing => Ok(Admission::Unknown),
    }
}

/// Tells Telegram, or the person, what became of an update, where they wait for that.
fn settle(telegram: &Telegram, heard: &Heard, admission: &Admission) {
    let callback = match heard {
        Heard::Touched { callback, .. } => callback.as_ref(),
        Heard::Stray(callback) => return answer_soon(&telegram.api, callback.clone(), None),
        Heard::Said(_) | Heard::Nothing => None,
    };
    match admission {
        Admission::Accepted(signal) => {
            if let Some(callback) = callback.filter(|callback| telegram.callbacks.accepted(callback, signal)) {
                answer_soon(&telegram.api, callback.clone(), None);
            }
        }
        Admission::Busy => busy::tell(telegram, heard),
        Admission::Duplicate | Admission::Unknown | Admission::Limited { .. } => {
            if let Some(callback) = callback.filter(|callback| telegram.callbacks.close_unclaimed(callback)) {
                answer_soon(&telegram.api, callback.clone(), None);
            }
        }
        Admission::Stopping => {}
    }
}

/// Adds what somebody is in the group, where that can count: for people who address the bot in a group, and where any role
/// of Telegram means anything at all. It costs a call.
async fn add_roles(telegram: &Telegram, heard: &mut Heard) {
    let (actor, thread, room, into) = match heard {
        Heard::Said(signal) if signal.addressed != Addressed::No => {
            (&signal.actor, &signal.thread, signal.room, &mut signal.platform_roles)
        }
        Heard::Touched { touch, .. } => (&touch.actor, &touch.thread, touch.room, &mut touch.platform_roles),
        Heard::Said(_) | Heard::Stray(_) | Heard::Nothing => return,
    };
    let ids = (thread.conversation.as_str().parse(), actor.id.as_str().parse());
    let counts = telegram.options.platform_roles && room != ConversationKind::Direct && actor.kind == ActorKind::Human;
    if let ((Ok(chat), Ok(user)), true) = (ids, counts) {
        *into = roles::of(&telegram.api, chat, user).await;
    }
}

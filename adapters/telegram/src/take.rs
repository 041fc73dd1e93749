//! From a batch of updates to what the engine stored of it: the order of each chat is kept, and an update counts as taken
//! only when the engine has it. Where it has no room, the person is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;

use countersign_core::port::{Admission, Ingress};
use countersign_core::signal::{ActorKind, Addressed, ConversationId, ConversationKind, Payload, Signal};

use crate::busy;
use crate::callbacks::answer_soon;
use crate::offer::offer;
use crate::roles;
use crate::translate::Heard;
use crate::{Telegram, chat_of};

/// What became of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All of it may be confirmed.
    All,
    /// Only what comes before this update may be, for this reason.
    Before(u32, String),
    /// Only what comes before this update may be, because the engine has no room for it now.
    Later(u32),
    /// The bot is stopping.
    Stopping,
}

/// The pause between two looks whether a chat's new id is stored.
const SETTLE_EVERY: Duration = Duration::from_millis(20);

type Admitted = Result<Admission, String>;

/// Hands a batch to the engine: of each chat one update after the other, so that none overtakes another; the chats side by
/// side. If the engine has no room, the rest of that chat is fetched again if `can_wait`; if not, the sender is told. The numbers
/// of the updates that were taken go into `done`: they come again with the others, and are passed over.
pub(crate) async fn take(
    telegram: &Telegram,
    ingress: &dyn Ingress,
    mut batch: Vec<(u32, Heard)>,
    can_wait: bool,
    done: &Mutex<BTreeSet<u32>>,
) -> Taken {
    batch.retain(|(id, _)| !lock(done).contains(id));
    for (_, heard) in &batch {
        offer(telegram, ingress, heard);
    }
    join_all(batch.iter_mut().map(|(_, heard)| add_roles(telegram, heard))).await;
    for (_, heard) in &batch {
        if let Heard::Touched { callback: Some(callback), .. } = heard {
            telegram.callbacks.opened(callback);
        }
    }
    let mut chats: BTreeMap<_, Vec<&(u32, Heard)>> = BTreeMap::new();
    for update in &batch {
        chats.entry(chat(&update.1)).or_default().push(update);
    }
    let taken =
        join_all(chats.into_values().map(|updates| take_chat(telegram, ingress, updates, can_wait, done))).await;
    taken.into_iter().fold(Taken::All, Taken::and)
}

impl Taken {
    /// Returns the first update that was not taken, if there is one.
    const fn until(&self) -> Option<u32> {
        match self {
            Self::Before(update, _) | Self::Later(update) => Some(*update),
            Self::All | Self::Stopping => None,
        }
    }

    /// What became of two chats. What was taken behind an update that was not comes again, and is known then.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stopping, _) | (_, Self::Stopping) => Self::Stopping,
            (Self::All, taken) | (taken, Self::All) => taken,
            (one @ (Self::Before(..) | Self::Later(_)), two @ (Self::Before(..) | Self::Later(_))) => {
                if two.until() < one.until() { two } else { one }
            }
        }
    }
}

/// The updates of one chat, until one cannot be taken.
async fn take_chat(
    telegram: &Telegram,
    ingress: &dyn Ingress,
    updates: Vec<&(u32, Heard)>,
    can_wait: bool,
    done: &Mutex<BTreeSet<u32>>,
) -> Taken {
    for (id, heard) in updates {
        settled(telegram, ingress, heard).await;
        match admit(ingress, heard).await {
            Ok(Admission::Stopping) => return Taken::Stopping,
            Ok(Admission::Busy) if can_wait => return Taken::Later(*id),
            Ok(admission) => settle(telegram, heard, &admission),
            Err(error) => return Taken::Before(*id, error),
        }
        lock(done).insert(*id);
    }
    Taken::All
}

/// Waits until the engine has stored the new id of a chat, if it has one, because the rights there depend on it. For a second at
/// most.
async fn settled(telegram: &Telegram, ingress: &dyn Ingress, heard: &Heard) {
    let Some(first) = chat(heard).filter(|_| !is_move(heard)) else { return };
    while !telegram.moved.is_stored(first, ingress) {
        tokio::time::sleep(SETTLE_EVERY).await;
    }
}

const fn is_move(heard: &Heard) -> bool {
    matches!(heard, Heard::Said(Signal { payload: Payload::RoomMoved { .. }, .. }))
}

fn lock(done: &Mutex<BTreeSet<u32>>) -> MutexGuard<'_, BTreeSet<u32>> {
    done.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The chat of an update; none where its order does not count.
const fn chat(heard: &Heard) -> Option<&ConversationId> {
    match heard {
        Heard::Said(signal) => Some(&signal.thread.conversation),
        Heard::Touched { touch, .. } => Some(&touch.thread.conversation),
        Heard::Asked { .. } | Heard::Stray(_) | Heard::Nothing => None,
    }
}

async fn admit(ingress: &dyn Ingress, heard: &Heard) -> Admitted {
    match heard {
        Heard::Said(signal) => ingress.accept(signal.clone()).await,
        Heard::Touched { touch, .. } => ingress.touch(touch.clone()).await,
        Heard::Asked { .. } | Heard::Stray(_) | Heard::Nothing => Ok(Admission::Unknown),
    }
}

/// Tells Telegram, or the person, what became of an update, where they wait for that.
fn settle(telegram: &Telegram, heard: &Heard, admission: &Admission) {
    let callback = match heard {
        Heard::Touched { callback, .. } => callback.as_ref(),
        Heard::Stray(callback) => return answer_soon(&telegram.api, callback.clone(), None),
        Heard::Said(_) | Heard::Asked { .. } | Heard::Nothing => None,
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
        Heard::Said(_) | Heard::Asked { .. } | Heard::Stray(_) | Heard::Nothing => return,
    };
    let ids = (chat_of(thread).map(|first| telegram.moved.newest(first)), actor.id.as_str().parse());
    let counts = telegram.options.platform_roles && room != ConversationKind::Direct && actor.kind == ActorKind::Human;
    if let ((Some(chat), Ok(user)), true) = (ids, counts) {
        *into = roles::of(&telegram.api, chat, user).await;
    }
}

//! The way out. What is to be said is stored with the step that says it and queued here right after that commit; a start
//! queues what an earlier process left. So that nobody has to ask the database what is due, all of it is in memory: what
//! waits (`queue`), how fast each platform lets us talk (`pace`), who is still owed something (`owed`). `deliver` sends,
//! `cards` and `live` put right what was sent.

mod cards;
mod deliver;
mod live;
mod owed;
mod pace;
mod queue;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::approval::PlanId;
use countersign_core::port::Pace;
use countersign_core::signal::{Mono, OURSELVES, Platform, Signal, SignalId, ThreadKey};
use tokio::sync::{Notify, watch};

use crate::clock::wall_now;
use crate::store::{NewPost, StoredPost};

use cards::Keeper;
use live::Shows;
use owed::Owed;
use pace::{Paces, Room, room};
use queue::{Queue, Sending};

pub(super) use queue::Post;

/// The most messages of one platform on their way at a time; platforms do not wait for each other.
const AT_ONCE: usize = 16;

/// Everything that is to leave.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    desks: Mutex<Desks>,
    /// Something was queued, or is out.
    woken: Notify,
    /// Something is out, or was not taken.
    landed: watch::Sender<()>,
    /// Where it was waited for in vain, and until when nobody waits there again.
    in_vain: Mutex<BTreeMap<(Platform, Room), u64>>,
    /// By thread, the number of answers given up since the last delivered message.
    lost: Mutex<BTreeMap<ThreadKey, u64>>,
    cards: Keeper,
    shows: Shows,
}

#[derive(Debug, Default)]
struct Desks {
    desks: BTreeMap<Platform, Desk>,
    owed: Owed,
}

/// What waits on one platform, and how fast it may go.
#[derive(Debug, Default)]
struct Desk {
    queue: Queue,
    paces: Paces,
}

impl Outbox {
    /// Queues messages, each not before its time.
    pub(super) fn put(&self, posts: impl IntoIterator<Item = (Post, Mono)>, now: Mono) {
        let mut desks = self.lock();
        for (post, not_before) in posts {
            desks.owed.one_more(&post.signal);
            desks.of(&post.to.platform).queue.push(post, not_before.0, now.0);
        }
        self.woken.notify_one();
    }

    /// A signal's request has ended. True: everything that was to be said is out.
    pub(super) fn ended(&self, signal: &SignalId) -> bool {
        self.lock().owed.ended(signal)
    }

    /// From now on the card of this plan shows something else; what that is stands in the store.
    pub(super) fn redraw(&self, plan: PlanId, now: Mono) {
        self.cards.want(plan, now.0);
    }

    /// A signal is answered: its progress is taken back.
    pub(super) fn answered(&self, signal: &SignalId) {
        self.shows.end(signal);
    }

    /// Waits until every message that is being sent to the conversation of this thread is stored with its platform id, because a
    /// reply to it can arrive earlier. Messages whose sending begins later, or is retried later, are not waited for. Returns
    /// false if one is not settled. After a timeout no call waits for a while, because the adapter is blocked meanwhile.
    pub(super) async fn landed_near(&self, near: &ThreadKey, now: Mono) -> bool {
        let here = (near.platform.clone(), room(near));
        let mut landed = self.landed.subscribe();
        let soon = now.0.saturating_add(u64::try_from(LANDED_MAX.as_millis()).unwrap_or(u64::MAX));
        let unsettled = || -> BTreeMap<String, u64> {
            let mut desks = self.lock();
            let unsettled = desks.of(&near.platform).queue.unsettled_near(near);
            unsettled.map(|(id, again_at)| (id.to_owned(), again_at)).collect()
        };
        let mut left = unsettled();
        let all = left.len();
        left.retain(|_, again_at| *again_at <= soon);
        let is_settled_later = left.len() < all;
        if self.in_vain().get(&here).is_some_and(|until| *until > now.0) {
            return left.is_empty() && !is_settled_later;
        }
        let all_landed = async {
            while !left.is_empty() && landed.changed().await.is_ok() {
                let now = unsettled();
                left.retain(|id, _| now.contains_key(id));
            }
        };
        let in_time = tokio::time::timeout(LANDED_MAX, all_landed).await.is_ok();
        if !in_time {
            let mut in_vain = self.in_vain();
            in_vain.retain(|_, until| *until > now.0);
            in_vain.insert(here, now.0.saturating_add(IN_VAIN_MS));
        }
        in_time && !is_settled_later
    }

    /// Returns whether progress of this request was given.
    #[cfg(test)]
    pub(super) fn has_progress(&self, signal: &SignalId) -> bool {
        self.shows.has(signal)
    }

    /// Whether somebody waits for that.
    #[cfg(test)]
    pub(super) fn is_awaited(&self) -> bool {
        self.landed.receiver_count() > 0
    }

    /// What may leave now.
    fn take(&self, pace: impl Fn(&ThreadKey) -> Pace, now: Mono) -> Vec<Sending> {
        let mut taken = Vec::new();
        for desk in self.lock().desks.values_mut() {
            let free = AT_ONCE.saturating_sub(desk.queue.on_their_way());
            taken.extend(desk.queue.take(&mut desk.paces, &pace, (free, now.0)));
        }
        taken
    }

    /// When something may leave that may not leave now.
    fn next_at(&self) -> Option<Mono> {
        let desks = self.lock();
        let has_room = desks.desks.values().filter(|desk| desk.queue.on_their_way() < AT_ONCE);
        has_room.filter_map(|desk| desk.queue.next_at()).min().map(Mono)
    }

    /// A message has to be sent again.
    fn again(&self, sending: Sending, not_before: Mono, now: Mono) {
        self.lock().of(&sending.post.to.platform.clone()).queue.again(sending, not_before.0, now.0);
        self.landed.send_replace(());
        self.woken.notify_one();
    }

    /// A message is out, or never will be. True: its signal is answered.
    fn done(&self, post: &Post, now: Mono) -> bool {
        let mut desks = self.lock();
        desks.of(&post.to.platform).queue.done(&post.to, now.0);
        self.landed.send_replace(());
        self.woken.notify_one();
        desks.owed.one_less(&post.signal)
    }

    /// Retries now, in order, whatever a platform did not take. Called when the platform is heard again.
    pub(super) fn hurry(&self, platform: &Platform, now: Mono) {
        self.lock().of(platform).queue.hurry(now.0);
        self.woken.notify_one();
    }

    /// Returns the number of answers given up in this thread since the last delivered message.
    fn lost_in(&self, thread: &ThreadKey) -> u64 {
        self.lost_by_thread().get(thread).copied().unwrap_or_default()
    }

    fn lost_by_thread(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, u64>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The platform took something.
    fn was_taken(&self, thread: &ThreadKey) {
        self.lock().of(&thread.platform).paces.was_taken();
    }

    /// The platform asked to wait.
    fn was_refused(&self, thread: &ThreadKey, pace: &Pace, ms: u64, now: Mono) {
        self.lock().of(&thread.platform).paces.was_refused(&room(thread), pace, ms, now.0);
    }

    /// Takes leave to do what may wait: only where it keeps no message back. Else says when to ask again.
    fn take_spare(&self, thread: &ThreadKey, pace: &Pace, now: Mono) -> Result<(), Mono> {
        let mut desks = self.lock();
        let desk = desks.of(&thread.platform);
        if !desk.queue.is_calm() {
            return Err(Mono(now.0.saturating_add(BUSY_MS)));
        }
        desk.paces.take_spare(&room(thread), pace, now.0).map_err(|wait| Mono(wait.until()))
    }

    fn in_vain(&self) -> MutexGuard<'_, BTreeMap<(Platform, Room), u64>> {
        self.in_vain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Desks> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When what may wait asks again, where messages wait.
const BUSY_MS: u64 = 200;

/// How long an answer to an unknown message waits for what is on its way: a call takes less, unless the connection is slow.
const LANDED_MAX: Duration = Duration::from_millis(500);
/// For how long nobody waits where that was in vain.
const IN_VAIN_MS: u64 = 60_000;

impl Desks {
    fn of(&mut self, platform: &Platform) -> &mut Desk {
        if !self.desks.contains_key(platform) {
            self.desks.insert(platform.clone(), Desk::default());
        }
        self.desks.get_mut(platform).expect("invariant: it was put there")
    }
}

impl Post {
    /// A message that was just stored, in answer to this signal.
    pub(super) fn new(post: NewPost, signal: &Signal) -> Self {
        let NewPost { id, to, lane, body, plan, .. } = post;
        let anchor = (!signal.actor.is_ourselves()).then(|| signal.event.clone());
        Self {
            id,
            signal: signal.id.clone(),
            anchor,
            to,
            lane,
            body,
            plan,
            attempts: 0,
            tries: 0,
            repeat: false,
            since: wall_now(),
        }
    }
}

impl From<StoredPost> for Post {
    fn from(stored: StoredPost) -> Self {
        let StoredPost { id, signal, to, lane, body, attempts, repeat, plan, event, created_at: since, .. } = stored;
        // What the engine says of its own accord answers nothing that anybody could see.
        let ours = event.as_str().strip_prefix(OURSELVES).is_some_and(|rest| rest.starts_with('/'));
        Self { id, signal, anchor: (!ours).then_some(event), to, lane, body, plan, attempts, tries: 0, repeat, since }
    }
}

#[cfg(test)]
mod tests;

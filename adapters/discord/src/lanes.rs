//! What was heard and is not the engine's yet: of each room one after the other, so that none overtakes another; the rooms
//! side by side.

use std::collections::{BTreeMap, VecDeque};

use countersign_core::port::{BoxFuture, Ingress};
use countersign_core::signal::ConversationId;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use crate::Discord;
use crate::answer::ask_why_soon;
use crate::offer::offer_soon;
use crate::take::{Taken, open, room, take};
use crate::translate::Heard;

/// How much may wait before nothing more is read.
const WAITING_MAX: usize = 5_000;

type Lane = Option<ConversationId>;

/// The rooms with what waits in each.
pub(crate) struct Lanes<'a> {
    discord: &'a Discord,
    ingress: &'a dyn Ingress,
    /// A room is in it as long as something of it is being taken.
    waiting: BTreeMap<Lane, VecDeque<Heard>>,
    count: usize,
    working: FuturesUnordered<BoxFuture<'a, (Lane, Taken)>>,
}

impl<'a> Lanes<'a> {
    pub(crate) fn new(discord: &'a Discord, ingress: &'a dyn Ingress) -> Self {
        Self { discord, ingress, waiting: BTreeMap::new(), count: 0, working: FuturesUnordered::new() }
    }

    /// Whether there is room for more besides so much that is still held.
    pub(crate) const fn has_room_beside(&self, held: usize) -> bool {
        self.count.saturating_add(held) < WAITING_MAX
    }

    /// Puts it at the end of its room.
    pub(crate) fn push(&mut self, heard: Heard) {
        match &heard {
            Heard::Nothing => return,
            Heard::Asks { call, data } => return ask_why_soon(self.discord, call, data),
            Heard::Types(typing) => return offer_soon(self.discord, self.ingress, typing),
            Heard::Said { .. } | Heard::Touched { .. } | Heard::Stray(_) => {}
        }
        open(self.discord, &heard);
        let lane = room(&heard).cloned();
        self.count += 1;
        match self.waiting.get_mut(&lane) {
            Some(waiting) => waiting.push_back(heard),
            None => {
                self.waiting.insert(lane.clone(), VecDeque::new());
                self.begin(lane, heard);
            }
        }
    }

    /// Waits until one more is taken; for ever where none waits.
    pub(crate) async fn next(&mut self) -> Taken {
        let Some((lane, taken)) = self.working.next().await else { return std::future::pending().await };
        self.count = self.count.saturating_sub(1);
        match self.waiting.get_mut(&lane).and_then(VecDeque::pop_front) {
            Some(heard) => self.begin(lane, heard),
            None => drop(self.waiting.remove(&lane)),
        }
        taken
    }

    fn begin(&mut self, lane: Lane, heard: Heard) {
        let (discord, ingress) = (self.discord, self.ingress);
        self.working.push(Box::pin(async move { (lane, take(discord, ingress, heard).await) }));
    }
}

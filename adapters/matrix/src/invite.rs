//! Invitations: taken from those who may talk with the bot, and declined from everybody else. One after the other, beside
//! hearing: the way into a room on another server may be long.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::port::{Ingress, Right};
use countersign_core::signal::ConversationKind;
use matrix_sdk::ruma::{OwnedRoomId, OwnedUserId};
use matrix_sdk::{Client, Room};
use tokio::sync::Notify;

use crate::outcome::Trouble;
use crate::{Matrix, rights};

/// Rings when the homeserver has told something, and there may be invitations.
#[derive(Default)]
pub(crate) struct Bell(Notify);

impl Bell {
    pub(crate) fn ring(&self) {
        self.0.notify_one();
    }
}

/// Answers the invitations that wait, for ever. One that cannot be answered now waits until the homeserver has told something
/// again.
pub(crate) async fn go_on(matrix: &Matrix, ingress: &dyn Ingress) {
    let mut turns = Turns::default();
    loop {
        matrix.invited.0.notified().await;
        turns.begin();
        while let Some(room) = next(matrix, &mut turns).await {
            if let Err(trouble) = answer(matrix, ingress, &room).await {
                tracing::warn!(room = %room.room_id(), %trouble, "an invitation could not be answered");
                tokio::time::sleep(matrix.timing.pause_first.max(trouble.wait())).await;
            }
        }
    }
}

/// The invitation whose turn it is, of all that wait by now.
async fn next(matrix: &Matrix, turns: &mut Turns) -> Option<Room> {
    let client = matrix.client()?;
    look(&client, turns).await;
    client.get_room(&turns.next()?)
}

/// Looks what waits. Who sent an invitation is asked once.
async fn look(client: &Client, turns: &mut Turns) {
    let invited = client.invited_rooms();
    turns.keep(&invited.iter().map(|room| room.room_id().to_owned()).collect());
    for room in invited {
        let id = room.room_id();
        if !turns.waiting.contains_key(id)
            && let Ok(invite) = room.invite_details().await
        {
            turns.add(id.to_owned(), invite.inviter_id);
        }
    }
}

/// Whose turn it is: each of those who sent an invitation after the other, so that nobody's thousand keep others waiting.
#[derive(Debug, Default)]
struct Turns {
    waiting: BTreeMap<OwnedRoomId, Waiting>,
    /// When each who waits had a turn last.
    had: BTreeMap<OwnedUserId, u64>,
    /// The last turn that anybody had.
    last: u64,
    /// The last one before this round.
    before: u64,
    /// How many invitations there were.
    came: u64,
}

/// An invitation that waits.
#[derive(Debug)]
struct Waiting {
    inviter: OwnedUserId,
    /// When it was tried last; 0 is not yet.
    tried: u64,
    /// Its place in the order in which they came.
    came: u64,
}

impl Turns {
    /// A new round, in which everything may be tried once.
    fn begin(&mut self) {
        self.before = self.last;
    }

    /// Of everything else nothing is remembered.
    fn keep(&mut self, rooms: &BTreeSet<OwnedRoomId>) {
        self.waiting.retain(|room, _| rooms.contains(room));
        let inviters: BTreeSet<&OwnedUserId> = self.waiting.values().map(|waiting| &waiting.inviter).collect();
        self.had.retain(|who, _| inviters.contains(who));
    }

    /// Who comes anew begins among those who wait, and not before all of them: else one who sends one by one would always be
    /// the next.
    fn add(&mut self, room: OwnedRoomId, inviter: OwnedUserId) {
        let first = self.had.values().copied().min().unwrap_or(self.last);
        self.had.entry(inviter.clone()).or_insert(first);
        self.came += 1;
        self.waiting.insert(room, Waiting { inviter, tried: 0, came: self.came });
    }

    /// The next one in this round; none where all were tried.
    fn next(&mut self) -> Option<OwnedRoomId> {
        let to_be_tried = self.waiting.iter_mut().filter(|(_, waiting)| waiting.tried <= self.before);
        let had = |waiting: &Waiting| self.had.get(&waiting.inviter).copied().unwrap_or(0);
        let (room, next) = to_be_tried.min_by_key(|(_, waiting)| (had(waiting), waiting.tried, waiting.came))?;
        self.last += 1;
        next.tried = self.last;
        self.had.insert(next.inviter.clone(), self.last);
        Some(room.clone())
    }
}

async fn answer(matrix: &Matrix, ingress: &dyn Ingress, room: &Room) -> Result<(), Trouble> {
    let invite = room.invite_details().await?;
    let (inviter, id) = (invite.inviter_id, room.room_id());
    // What a room is can be seen only from inside.
    if !rights::may(matrix, ingress, (&inviter, id.as_str(), ConversationKind::Unknown), &Right::Talk) {
        tracing::warn!(
            room = %id, %inviter,
            "an invitation was declined: by the access file, who sent it may not talk to the bot there"
        );
        return gone_at_worst(room).await;
    }
    if room.is_direct().await.unwrap_or(false) {
        mark_as_direct(room, &inviter).await?;
    }
    match room.join().await.map_err(Trouble::from) {
        Ok(()) => {}
        Err(trouble) if trouble.may_pass() => return Err(trouble),
        Err(trouble) => {
            tracing::warn!(room = %id, %trouble, "an invitation could not be taken; it is declined");
            return gone_at_worst(room).await;
        }
    }
    tracing::info!(room = %id, %inviter, "an invitation was taken");
    Ok(())
}

/// Says that a room is a direct conversation before the bot is in it: the first that is said there is heard as soon as it is.
async fn mark_as_direct(room: &Room, with: &OwnedUserId) -> Result<(), Trouble> {
    if !room.direct_targets().is_empty() {
        return Ok(());
    }
    let marked = room.client().account().mark_as_dm(room.room_id(), std::slice::from_ref(with)).await;
    match marked.map_err(Trouble::from) {
        Err(trouble) if trouble.may_pass() => Err(trouble),
        Err(trouble) => {
            tracing::warn!(room = %room.room_id(), %trouble, "a direct conversation could not be marked as one");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Leaves. An invitation that even that is refused for is forgotten.
async fn gone_at_worst(room: &Room) -> Result<(), Trouble> {
    match room.leave().await.map_err(Trouble::from) {
        Err(trouble) if trouble.may_pass() => Err(trouble),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(turns: &mut Turns, who: &str, room: u32) {
        let room = OwnedRoomId::try_from(format!("!{who}-{room}:example.org")).expect("it is an id");
        turns.add(room, OwnedUserId::try_from(format!("@{who}:example.org")).expect("it is an account"));
    }

    /// At most so many turns, each by its room. Who had one is answered, but for those who are called slow.
    fn take(turns: &mut Turns, count: usize) -> Vec<String> {
        let mut taken = Vec::new();
        while taken.len() < count {
            let Some(room) = turns.next() else { break };
            let rest = turns.waiting.keys().filter(|other| **other != room || room.as_str().starts_with("!slow"));
            turns.keep(&rest.cloned().collect());
            taken.push(room.as_str().trim_start_matches('!').trim_end_matches(":example.org").to_owned());
        }
        taken
    }

    #[test]
    fn who_sent_a_thousand_keeps_nobody_waiting_for_more_than_one() {
        let mut turns = Turns::default();
        (0..1_000).for_each(|room| add(&mut turns, "eve", room));
        assert_eq!(take(&mut turns, 1), ["eve-0"]);
        (0..3).for_each(|room| add(&mut turns, "ann", room));
        add(&mut turns, "bob", 0);
        assert_eq!(take(&mut turns, 7), ["eve-1", "ann-0", "bob-0", "eve-2", "ann-1", "eve-3", "ann-2"]);
    }

    #[test]
    fn who_sends_one_by_one_is_not_always_the_next() {
        let mut turns = Turns::default();
        (0..4).for_each(|room| add(&mut turns, "bob", room));
        let mut taken = take(&mut turns, 1);
        for room in 0..6 {
            if turns.waiting.keys().all(|room| !room.as_str().starts_with("!eve")) {
                add(&mut turns, "eve", room);
            }
            taken.extend(take(&mut turns, 1));
        }
        assert_eq!(taken, ["bob-0", "bob-1", "eve-0", "bob-2", "eve-2", "bob-3", "eve-4"]);
    }

    #[test]
    fn what_cannot_be_answered_is_tried_once_a_round_after_all_else() {
        let mut turns = Turns::default();
        turns.begin();
        (0..2).for_each(|room| add(&mut turns, "slow", room));
        add(&mut turns, "ann", 0);
        assert_eq!(take(&mut turns, 9), ["slow-0", "ann-0", "slow-1"]);
        assert_eq!(turns.next(), None);
        turns.begin();
        add(&mut turns, "slow", 2);
        assert_eq!(take(&mut turns, 9), ["slow-2", "slow-0", "slow-1"]);
    }
}

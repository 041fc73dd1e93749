//! A room to which its platform gave another id, as Telegram does where a group becomes a supergroup. Its threads, its plans and
//! what the access file says of it stay; only the cards from before cannot be pressed any more.

use crate::approval::{Filed, PlanState};
use crate::effect::{Effect, Ending};
use crate::ledger::{Key, MovedRoom, Record, RoomKey};
use crate::port::{Claim, Mark};
use crate::signal::ConversationId;

use super::request::Request;
use super::state::{AuditAbout, Turn};
use super::{draft, say};

/// Records that a room has another id, and shows the cards of the thread's waiting plans again. Needs no right: the platform says
/// so, and it gives nobody anything.
pub(super) fn moved(turn: &mut Turn<'_>, mut request: Request, to: ConversationId, is_known: bool) {
    let thread = &request.signal.thread;
    let (room, first) = (RoomKey { platform: thread.platform.clone(), id: to }, thread.conversation.clone());
    let is_known = is_known || turn.env.ledger.moved_rooms().any(|(known, _)| *known == room);
    let waiting: Vec<Filed> =
        turn.state.desk.open().into_iter().filter(|filed| filed.state() == PlanState::Pending).cloned().collect();
    if room.id == first || (is_known && waiting.is_empty()) {
        return turn.finish(request, Ending::Dropped);
    }
    if !is_known {
        note(turn, &mut request, room, first);
    }
    for filed in &waiting {
        draft::show(turn, &mut request, filed, Some(say::room::card_again()));
    }
    turn.finish(request, Ending::Answered);
}

fn note(turn: &mut Turn<'_>, request: &mut Request, room: RoomKey, first: ConversationId) {
    let detail = format!("{first} is {} from now on", room.id);
    turn.audit("room_moved", &request.signal, AuditAbout { detail: &detail, ..AuditAbout::default() });
    turn.say(request, Mark::Plain, Claim::Nothing, say::room::moved(&first, &room.id));
    let record = Record::Room(MovedRoom { first, at: turn.now.wall });
    let change = turn.env.ledger.put(Key::Room(room), Some(record));
    turn.effects.push(Effect::Keep(Box::new(change)));
}

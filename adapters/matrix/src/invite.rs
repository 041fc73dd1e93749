//! Invitations: taken from those who may talk with the bot, and declined from everybody else.

use countersign_core::port::{Ingress, Right};
use countersign_core::signal::ConversationKind;
use matrix_sdk::{Client, Room};

use crate::outcome::Trouble;
use crate::{Matrix, rights};

/// The most invitations that are answered at a time: whoever may not invite must not keep the bot busy either.
const AT_A_TIME: usize = 10;

/// Answers the invitations that wait. One that cannot be answered now waits for the next time.
pub(crate) async fn answer(matrix: &Matrix, ingress: &dyn Ingress, client: &Client) {
    for room in client.invited_rooms().into_iter().take(AT_A_TIME) {
        if let Err(trouble) = answer_one(matrix, ingress, &room).await {
            tracing::warn!(room = %room.room_id(), %trouble, "an invitation could not be answered");
        }
    }
}

async fn answer_one(matrix: &Matrix, ingress: &dyn Ingress, room: &Room) -> Result<(), Trouble> {
    let invite = room.invite_details().await?;
    let (inviter, id) = (invite.inviter_id, room.room_id());
    let is_direct = room.is_direct().await.unwrap_or(false);
    let kind = if is_direct { ConversationKind::Direct } else { ConversationKind::Group };
    if !rights::may(matrix, ingress, (&inviter, id.as_str(), kind), &Right::Talk) {
        tracing::warn!(room = %id, %inviter, "an invitation was declined: who sent it may not talk to the bot there");
        return gone_at_worst(room).await;
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
    if is_direct {
        room.set_is_direct(true).await?;
    }
    Ok(())
}

/// Leaves. An invitation that even that is refused for is forgotten.
async fn gone_at_worst(room: &Room) -> Result<(), Trouble> {
    match room.leave().await.map_err(Trouble::from) {
        Err(trouble) if trouble.may_pass() => Err(trouble),
        Ok(()) | Err(_) => Ok(()),
    }
}

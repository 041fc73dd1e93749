//! Invitations: taken from those who may invite the bot, and declined from everybody else.

use std::collections::BTreeSet;

use matrix_sdk::ruma::UserId;
use matrix_sdk::{Client, Room};

use crate::Matrix;
use crate::outcome::Trouble;

/// The most invitations that are answered at a time: whoever may not invite must not keep the bot busy either.
const AT_A_TIME: usize = 10;

/// Answers the invitations that wait. One that cannot be answered now waits for the next time.
pub(crate) async fn answer(matrix: &Matrix, client: &Client) {
    for room in client.invited_rooms().into_iter().take(AT_A_TIME) {
        if let Err(trouble) = answer_one(matrix, &room).await {
            tracing::warn!(room = %room.room_id(), %trouble, "an invitation could not be answered");
        }
    }
}

async fn answer_one(matrix: &Matrix, room: &Room) -> Result<(), Trouble> {
    let invite = room.invite_details().await?;
    let (inviter, id) = (invite.inviter_id, room.room_id());
    if !may_invite(&matrix.options.invited_by, &inviter) {
        tracing::warn!(room = %id, %inviter, "an invitation was declined: `matrix.invited_by` does not name who sent it");
        return gone_at_worst(room).await;
    }
    let is_direct = room.is_direct().await.unwrap_or(false);
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

/// Whether an account is named, in its exact case, or its homeserver is.
fn may_invite(named: &BTreeSet<String>, inviter: &UserId) -> bool {
    named.contains(inviter.as_str()) || named.contains(inviter.server_name().as_str())
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::user_id;

    use super::*;

    #[test]
    fn only_who_is_named_may_invite() {
        let named = BTreeSet::from(["@ann:example.org".to_owned(), "team.example".to_owned()]);
        let may = [user_id!("@ann:example.org"), user_id!("@bob:team.example")];
        let may_not = [
            user_id!("@Ann:example.org"),
            user_id!("@ann:example.com"),
            user_id!("@bob:example.org"),
            user_id!("@bob:eu.team.example"),
            user_id!("@team.example:evil.example"),
        ];
        assert!(may.iter().all(|inviter| may_invite(&named, inviter)));
        assert!(may_not.iter().all(|inviter| !may_invite(&named, inviter)));
        assert!(!may_invite(&BTreeSet::new(), user_id!("@ann:example.org")));
    }
}

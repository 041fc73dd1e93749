//! Sentences about a room to which the platform gave another id.

use crate::port::Block;
use crate::signal::ConversationId;

use super::sentence;

/// Returns the notice of the new id.
pub(in crate::thread) fn moved(first: &ConversationId, to: &ConversationId) -> Vec<Block> {
    sentence(format!(
        "This room has the id {to} now; before, it was {first}. What the access file says of either counts here, and what is \
         under way goes on."
    ))
}

/// Returns the line above a card that is shown again.
pub(in crate::thread) fn card_again() -> String {
    "This still waits. Its card from before cannot be pressed any more.".to_owned()
}

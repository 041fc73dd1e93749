//! Whom and which rooms the access file names, for the simulation: accounts and rooms, and nothing of what they may do.

use countersign_core::signal::{ActorId, ConversationId, Platform};
use countersign_core::sim::{Account, Cast, Room};

use super::Access;

impl Access {
    /// Every account and every room of the access file, and the owner's console.
    pub fn cast(&self) -> Cast {
        let directory = &self.directory;
        let named = (0..directory.principals.len()).flat_map(|person| directory.accounts_of(person));
        let named = named.map(|(platform, id)| Account { platform: Platform::new(platform), id: ActorId::new(id) });
        let rooms: Vec<Room> = directory
            .places
            .rooms()
            .map(|(platform, id, kind)| Room { platform: Platform::new(platform), id: ConversationId::new(id), kind })
            .collect();
        Cast::new(self.owners_account().into_iter().chain(named), &rooms)
    }
}

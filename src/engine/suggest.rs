//! What is offered to whoever types: the directory is kept here, and asked within limits. What it offers to whom is decided
//! in the core; it is in memory only, like the threads that it follows.

use std::sync::{Arc, PoisonError};

use countersign_core::port::{Asked, Suggestion};
use countersign_core::signal::Mono;
use countersign_core::thread::ThreadState;

use super::Engine;

impl Engine {
    /// Takes over what a step of a thread learned, used and lost.
    pub(super) fn take_note(&self, thread: &ThreadState, now: Mono) {
        if thread.resolved().has_moved() {
            let mut directory = self.directory.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut directory).follow(thread.resolved(), now);
        }
    }

    /// What somebody may mean; nothing for whoever asks too often.
    pub(super) fn suggest(&self, asked: &Asked) -> Vec<Suggestion> {
        let now = self.clock.mono();
        if !self.world.rates.may_be_offered(&asked.asker(), now) {
            return Vec::new();
        }
        let directory = Arc::clone(&self.directory.read().unwrap_or_else(PoisonError::into_inner));
        let rights = self.world.rights.at_this_moment();
        let rights = rights.as_deref().unwrap_or(self.world.rights.as_ref());
        directory.suggest(asked, rights, &self.world.mask, now)
    }
}

//! What "it" may mean: names that were lately spoken of in a thread, for each actor apart (ENT-04, C-32). Hints only:
//! whatever is taken from here is discovered again before anything uses it (C-03).

use std::collections::VecDeque;

use crate::resource::ResourceId;
use crate::signal::ActorId;

/// How many of an actor's messages back a name is remembered (ENT-04).
pub(super) const MESSAGES_BACK: u64 = 10;

/// How many names are kept; the oldest make room.
const ENTRIES_MAX: usize = 64;

/// Something that was spoken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Its canonical id at that time.
    pub id: ResourceId,
    /// What people call it.
    pub name: String,
}

/// What "it" means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum It {
    /// Nothing that is remembered.
    Nothing,
    /// This one.
    One(Entity),
    /// One of these: somebody has to say which (ENT-06).
    Several(Vec<Entity>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Spoken {
    by: ActorId,
    message: u64,
    /// One thing that was meant, or the members of a list that was shown.
    entities: Vec<Entity>,
}

/// What was lately spoken of in a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities {
    spoken: VecDeque<Spoken>,
}

impl Entities {
    /// A request of this actor ended with these things in its answer: one that was meant, or a list.
    pub fn remember(&mut self, by: &ActorId, message: u64, entities: Vec<Entity>) {
        if entities.is_empty() {
            return;
        }
        self.spoken.retain(|spoken| spoken.message.saturating_add(MESSAGES_BACK) >= message);
        if self.spoken.len() == ENTRIES_MAX {
            self.spoken.pop_front();
        }
        self.spoken.push_back(Spoken { by: by.clone(), message, entities });
    }

    /// Nothing that this actor spoke of before is "it" any more.
    pub fn forget(&mut self, by: &ActorId) {
        self.spoken.retain(|spoken| spoken.by != *by);
    }

    /// What "it" means to this actor now: what their last answer about anything was about. Where `kind` is given, the
    /// last answer about things of that kind.
    pub fn it(&self, by: &ActorId, message: u64, kind: Option<&str>) -> It {
        let fits = |entity: &&Entity| kind.is_none_or(|kind| entity.id.kind() == kind);
        let candidates = self
            .spoken
            .iter()
            .rev()
            .filter(|spoken| spoken.by == *by && spoken.message.saturating_add(MESSAGES_BACK) >= message)
            .map(|spoken| spoken.entities.iter().filter(fits).cloned().collect::<Vec<_>>())
            .find(|entities| !entities.is_empty())
            .unwrap_or_default();
        let mut candidates = candidates.into_iter();
        match (candidates.next(), candidates.len()) {
            (None, _) => It::Nothing,
            (Some(only), 0) => It::One(only),
            (Some(first), _) => It::Several(std::iter::once(first).chain(candidates).collect()),
        }
    }

    /// Everything is forgotten, with the rest of the thread.
    pub(super) fn clear(&mut self) {
        self.spoken.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(id: &str) -> Entity {
        Entity { id: id.parse().expect("an id"), name: id.to_owned() }
    }

    #[test]
    fn it_is_what_the_same_actor_last_spoke_of() {
        let (ann, bob) = (ActorId::new("ann"), ActorId::new("bob"));
        let mut entities = Entities::default();
        assert_eq!(entities.it(&ann, 1, None), It::Nothing);
        entities.remember(&ann, 1, vec![entity("service:web-1:nginx")]);
        entities.remember(&bob, 2, vec![entity("service:web-1:postgres")]);
        assert_eq!(entities.it(&ann, 3, None), It::One(entity("service:web-1:nginx")), "another's words do not count");
        entities.remember(&ann, 3, vec![entity("process:web-1:1-1"), entity("process:web-1:2-1")]);
        assert!(
            matches!(entities.it(&ann, 4, None), It::Several(two) if two.len() == 2),
            "a list is never guessed from"
        );
        assert_eq!(entities.it(&ann, 4, Some("service")), It::One(entity("service:web-1:nginx")), "the kind helps");
        assert_eq!(entities.it(&ann, 11, Some("service")), It::One(entity("service:web-1:nginx")), "ten messages back");
        assert_eq!(entities.it(&ann, 12, Some("service")), It::Nothing, "eleven messages back");
    }
}

//! The subject of a model's answer, which "it" means afterwards (ENT-01), and the meaning of "it" when a model is asked (ENT-03).
//! Both are hints: a change on "it" gets a card, and its target is resolved again.

use crate::resource::ResourceId;
use crate::thread::conclude::entity;
use crate::thread::entities::{Entity, It};
use crate::thread::procedure::CHOICES_MAX;
use crate::thread::request::Request;
use crate::thread::state::Turn;

/// Returns the things that this request looked at or found and the answer names; if it names none, those that were looked at.
pub(super) fn spoken_of(turn: &Turn<'_>, request: &Request, text: &str) -> Vec<Entity> {
    let looked_at: Vec<&ResourceId> = request.sources.iter().filter_map(|source| source.target.as_ref()).collect();
    let mut things: Vec<Entity> = Vec::new();
    for id in looked_at.iter().copied().chain(&request.found).filter(|id| !id.is_place()) {
        if things.iter().all(|known| known.id != *id) {
            things.push(entity(turn, id));
        }
    }
    let (mut named, others): (Vec<Entity>, Vec<Entity>) =
        things.into_iter().partition(|thing| names(text, &thing.name));
    if named.is_empty() {
        named = others.into_iter().filter(|thing| looked_at.contains(&&thing.id)).collect();
    }
    named.truncate(CHOICES_MAX);
    named
}

/// Returns the meaning of "it" for the requester; none if there are several candidates.
pub(super) fn it(turn: &Turn<'_>, request: &Request) -> Option<ResourceId> {
    match turn.state.entities.it(&request.signal.actor.id, request.turn, None) {
        It::One(entity) => Some(entity.id),
        It::Nothing | It::Several(_) => None,
    }
}

/// Returns true if the text contains this name as a separate word: `nginx2` does not name `nginx`.
fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    !name.is_empty()
        && text.match_indices(&name).any(|(at, found)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at.saturating_add(found.len())..).and_then(|behind| behind.chars().next());
            !is_part(before) && !is_part(behind)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        let table = [
            ("nginx is up.", "nginx", true),
            ("`nginx`, too", "nginx", true),
            ("Nginx", "nginx", true),
            ("nginx2 is up", "nginx", false),
            ("my-nginx is up", "nginx", false),
            ("", "nginx", false),
            ("nginx", "", false),
        ];
        for (text, name, expected) in table {
            assert_eq!(names(text, name), expected, "{text}");
        }
    }
}

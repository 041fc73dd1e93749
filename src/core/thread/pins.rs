//! Pins: things that a thread keeps while others age and are evicted, until a reset without `keep` (RES-11, RES-17). Only what the thread
//! knows and the requester may see can be pinned. In memory, like all that a thread knows.

use crate::effect::Ending;
use crate::port::{Claim, Mark};
use crate::resource::ResourceId;
use crate::route::{Route, is_pronoun};

use super::prefetch::{Mention, mentions, seen};
use super::request::Request;
use super::sight::Sight;
use super::state::Turn;
use super::{It, say};

/// Pins the named thing, or takes its pin away.
pub(super) fn typed(turn: &mut Turn<'_>, mut request: Request, route: &Route, pins: bool) {
    let name = route.target.as_deref().unwrap_or_default();
    let text = match meant(turn, &request, name).as_slice() {
        [] => say::pins::not_known(name, turn.env.mask),
        [one] => {
            let is_changed = if pins { turn.state.resolved.pin(one) } else { turn.state.resolved.unpin(one) };
            say::pins::changed(one, pins, is_changed)
        }
        several => say::pins::several(several),
    };
    turn.say(&mut request, Mark::Plain, Claim::Nothing, vec![say::line(text)]);
    turn.finish(request, Ending::Answered);
}

/// Returns the things of this thread that a name or a pronoun means, as far as the requester may see them.
fn meant(turn: &Turn<'_>, request: &Request, name: &str) -> Vec<ResourceId> {
    let sight = Sight::of(turn, request.signal.asker());
    if is_pronoun(name) {
        return match turn.state.entities.it(&request.signal.actor.id, request.turn, None) {
            It::One(entity) => vec![entity.id],
            It::Several(entities) => entities.into_iter().map(|entity| entity.id).collect(),
            It::Nothing => Vec::new(),
        };
    }
    let found = seen(mentions(&format!("@@{}", name.trim_start_matches('@')), &turn.state.resolved), &sight);
    let ids = found.into_iter().flat_map(|mention| match mention {
        Mention::Meant(id, _) | Mention::Fuzzy(id) => vec![id],
        Mention::Ambiguous(_, ids) => ids,
        Mention::Unknown(_) => Vec::new(),
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use crate::testkit::World;

    #[test]
    fn what_is_pinned_outlives_a_reset_that_keeps() {
        let mut world = World::with_fleet();
        insta::assert_snapshot!(world.say("pin nginx").said, @"I know nothing called “nginx” in this thread. Look at it first, then pin it.");
        world.say("status of nginx");
        insta::assert_snapshot!(world.say("pin it").said, @"Pinned: service:web-1:nginx. It stays known here until `reset`, or `unpin`.");
        assert_eq!(world.say("reset keep").said, "Forgotten, but for what is pinned.\n");
        assert!(world.say("what do you know about nginx").said.contains("service:web-1:nginx"));
        insta::assert_snapshot!(world.say("unpin nginx").said, @"Not pinned any more: service:web-1:nginx.");
        insta::assert_snapshot!(world.say("unpin nginx").said, @"That was not pinned: service:web-1:nginx.");
        assert_eq!(world.say("reset keep").said, "Forgotten. This thread starts anew.\n");
    }

    /// What only Ann may see is pinned by nobody else.
    #[test]
    fn what_a_person_may_not_see_is_not_pinned_and_not_told() {
        let mut world = World::with_fleet();
        for thing in &mut world.script.resources {
            thing.attrs.insert("owner".to_owned(), "ann".to_owned());
        }
        world.say("status of nginx");
        let told = world.hear(crate::testkit::signal("b", "bob", "pin nginx"));
        assert!(told.said.starts_with("I know nothing called “nginx”"), "{}", told.said);
    }
}

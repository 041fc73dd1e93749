//! What the thread knew when a request began, as far as a model is told of it: what is there, what was learnt, what was said.
//! Chosen once, by what the question is about and by what is newest, so that a request's prompts begin alike; and looked at
//! again each time, because rights are live and things get lost. It is no reading of this request, and bears nothing out.

use crate::resource::{Resource, ResourceId};
use crate::thread::Fact;
use crate::thread::recall;
use crate::thread::request::Request;
use crate::thread::sight::{LookedBy, Sight};
use crate::thread::state::Turn;
use crate::thread::talk::{Said, Thing};
use crate::tool::ToolKind;

use super::about;
use super::situation::{line, masked, told_line};

/// The most characters of the list of what is there, and the share of what was used last; and what is there for what is
/// found later.
const TARGETS_CHARS_MAX: usize = 1_000;
const TARGETS_NEWEST: usize = 300;
const SINCE_CHARS_MAX: usize = 300;

/// The most characters of what was learnt, with what it is about, and the share of the newest.
const KNOWN_CHARS_MAX: usize = 1_000;
const KNOWN_NEWEST: usize = 300;

/// The most characters of what was said, and the share of the newest.
const EARLIER_CHARS_MAX: usize = 2_400;
const EARLIER_NEWEST: usize = 800;

/// What was chosen.
#[derive(Debug, Default)]
pub(super) struct Before {
    targets: Vec<(ResourceId, String)>,
    known: Vec<((ResourceId, Fact), String)>,
    /// The oldest first.
    earlier: Vec<(Said, String)>,
}

impl Before {
    /// Chooses, for whoever asks this.
    pub(super) fn new(turn: &Turn<'_>, request: &Request, question: &str) -> Self {
        let (mask, sight) = (turn.env.mask, &Sight::of(turn, request.signal.asker()));
        let it = about::it(turn, request);
        let mut there = things(turn, sight);
        // The thing that "it" means comes first, so that it is never left out.
        there.sort_by_key(|(id, _)| it.as_ref() != Some(*id));
        let chosen = pick(question, there, (TARGETS_CHARS_MAX, TARGETS_NEWEST));
        let told = |(id, line): (&ResourceId, String)| {
            let line = told_line(mask, &line);
            (
                id.clone(),
                if it.as_ref() == Some(id) { format!("{line}  (“it”: what was last spoken of)") } else { line },
            )
        };
        let targets = chosen.into_iter().map(told).collect();
        let chosen = pick(question, facts(turn, sight), (KNOWN_CHARS_MAX, KNOWN_NEWEST));
        let known =
            chosen.into_iter().map(|((of, fact), line)| ((of.clone(), fact.clone()), told_line(mask, &line))).collect();
        let said = turn.state.talk.told(sight).map(|said| (said, said.line())).collect();
        let chosen = pick(question, said, (EARLIER_CHARS_MAX, EARLIER_NEWEST));
        let said = |(said, line): (&Said, String)| (said.clone(), masked(mask, &line, EARLIER_CHARS_MAX));
        let earlier = chosen.into_iter().rev().map(said).collect();
        Self { targets, known, earlier }
    }

    /// What was learnt, with what it is of.
    pub(super) fn facts(&self) -> Vec<(Thing, String)> {
        let by = |fact: &Fact| LookedBy { kind: ToolKind::Read, call: fact.call.clone() };
        self.known.iter().map(|((of, fact), _)| ((Some(of.clone()), Some(by(fact))), fact.value.clone())).collect()
    }

    /// What is there.
    pub(super) fn targets(&self, sight: &Sight<'_>) -> Vec<String> {
        told(&self.targets, |id| sight.sees_known(id))
    }

    /// What was learnt.
    pub(super) fn known(&self, turn: &Turn<'_>, sight: &Sight<'_>) -> Vec<String> {
        told(&self.known, |(of, fact)| turn.state.resolved.peek(of).is_some_and(|of| sight.sees_fact(fact, of)))
    }

    /// What was said.
    pub(super) fn earlier(&self, turn: &Turn<'_>, sight: &Sight<'_>) -> Vec<String> {
        told(&self.earlier, |said| turn.state.talk.may_tell(said, sight))
    }

    /// What is there by now and was not told of: as much as the list has room for, what was used last first.
    pub(super) fn since(&self, turn: &Turn<'_>, sight: &Sight<'_>) -> Vec<String> {
        let is_new = |id: &ResourceId| self.targets.iter().all(|(known, _)| known != id);
        let new: Vec<_> = things(turn, sight).into_iter().filter(|(id, _)| is_new(id)).collect();
        let told: usize = self.targets.iter().map(|(_, line)| line.chars().count().saturating_add(1)).sum();
        let room = TARGETS_CHARS_MAX.saturating_add(SINCE_CHARS_MAX).saturating_sub(told);
        pick("", new, (room, room)).into_iter().map(|(_, line)| told_line(turn.env.mask, &line)).collect()
    }
}

/// Those of these lines that are chosen, in their order.
fn pick<T>(question: &str, all: Vec<(T, String)>, room: (usize, usize)) -> Vec<(T, String)> {
    let (of, lines): (Vec<T>, Vec<String>) = all.into_iter().unzip();
    let chosen = recall::chosen(question, &lines, room);
    let all = of.into_iter().zip(lines).enumerate();
    all.filter(|(at, _)| chosen.binary_search(at).is_ok()).map(|(_, one)| one).collect()
}

fn told<T>(lines: &[(T, String)], may: impl Fn(&T) -> bool) -> Vec<String> {
    lines.iter().filter(|(of, _)| may(of)).map(|(_, line)| line.clone()).collect()
}

/// What whoever asks may see, what was used last first. Not masked yet.
fn things<'a>(turn: &'a Turn<'_>, sight: &Sight<'_>) -> Vec<(&'a ResourceId, String)> {
    let mut seen: Vec<&Resource> = turn.state.resolved.iter().filter(|resource| sight.sees(resource)).collect();
    seen.sort_by_key(|resource| std::cmp::Reverse(turn.state.resolved.used(&resource.id, turn.now.mono)));
    seen.into_iter().map(|resource| (&resource.id, line(resource))).collect()
}

/// What was learnt of it, the newest first. Not masked yet.
fn facts<'a>(turn: &'a Turn<'_>, sight: &Sight<'_>) -> Vec<((&'a ResourceId, &'a Fact), String)> {
    let of_each = |of: &'a Resource| turn.state.knowledge.about(&of.id).map(move |fact| (of, fact));
    let told = |(of, fact): &(&Resource, &Fact)| !fact.key.ends_with(":queried") && sight.sees_fact(fact, of);
    let mut facts: Vec<_> = turn.state.resolved.iter().flat_map(of_each).filter(told).collect();
    facts.sort_by_key(|(_, fact)| std::cmp::Reverse(fact.observed_at));
    facts.into_iter().map(|(of, fact)| ((&of.id, fact), format!("{}: {}", fact.key, fact.value))).collect()
}

//! What was said in a thread: who asked what, and what the bot answered. A model finds its way by it, and nothing rests on it:
//! what stands here was not read for the request at hand, and discovers nothing. In memory only, bounded, masked; only what
//! addressed the bot, and nothing of the bot's own business (codes, plans, limits). What a turn rests on is kept with it, so
//! that it is told only to who may see that.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

use regex::Regex;

use crate::answer;
use crate::port::{Block, Claim};
use crate::resource::{Resource, ResourceId};
use crate::secrets::Mask;
use crate::signal::{EventId, Wall};
use crate::text;

use super::recall;
use super::request::Request;
use super::resolved::Found;
use super::sight::{LookedBy, Sight};
use super::state::Turn;

/// The most turns that a thread keeps, and the most characters of them together.
const TURNS_MAX: usize = 600;
const CHARS_MAX: usize = 120_000;

/// The most characters of what was asked, and of what was answered.
const ASKED_CHARS_MAX: usize = 200;
const ANSWERED_CHARS_MAX: usize = 400;

/// The most characters of who asked.
const NAME_CHARS_MAX: usize = 40;

/// An answer that rests on more things than this is not kept: it is a list, and can be asked for again.
const THINGS_MAX: usize = 32;

/// The shortest name of a thing that is looked for in a text.
const NAMED_CHARS_MIN: usize = 3;

/// Who asked, where no name is known.
const SOMEBODY: &str = "somebody";

/// What stands for an answer that ended in a card: the plan itself is for people, and its id for nobody else.
const A_CARD: &str = "(the bot asked people to countersign a change)";

/// What stands for an answer that is a long list.
const A_LIST: &str = "(a list, not kept)";

/// What a turn rests on: a thing, or none where a call is on none; read by a call, or only named.
pub(super) type Thing = (Option<ResourceId>, Option<LookedBy>);

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The message that asked.
    event: EventId,
    at: Wall,
    /// Whose account it is, as the access file says: nobody is called by a name that they gave themselves.
    by: String,
    asked: String,
    answered: String,
    /// What it rests on: each thing that it reads, by which call, and each that it only names.
    things: BTreeSet<Thing>,
}

impl Said {
    /// As it is told.
    pub(super) fn line(&self) -> String {
        let at = answer::time(self.at);
        let (by, asked) = (&self.by, quoted(&self.asked));
        let answered = if self.answered.is_empty() { "nothing".to_owned() } else { quoted(&self.answered) };
        format!("{at} {by} asked: {asked}, and the answer was: {answered}")
    }

    fn ids(&self) -> impl Iterator<Item = &ResourceId> {
        self.things.iter().filter_map(|(id, _)| id.as_ref())
    }

    fn chars(&self) -> usize {
        [&self.by, &self.asked, &self.answered].iter().map(|text| text.chars().count()).sum()
    }
}

/// What was said, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Talk {
    turns: VecDeque<Said>,
    /// How many characters they are.
    chars: usize,
    /// What the things in it were labelled with, each time that they came up. A label restricts who may see a thing, also when
    /// the thread no longer knows it, or it is labelled otherwise by now.
    labels: BTreeMap<ResourceId, BTreeSet<Vec<String>>>,
    /// What they were called then: who names one by such a name speaks of it.
    names: BTreeMap<ResourceId, BTreeSet<String>>,
}

impl Talk {
    /// Keeps a turn; what is over the caps goes, the oldest first.
    fn keep<'a>(&mut self, said: Said, things: impl Iterator<Item = &'a Resource>) {
        for thing in things {
            let (id, labels) = (thing.id.clone(), thing.labels());
            if !labels.is_empty() {
                self.labels.entry(id.clone()).or_default().insert(labels);
            }
            self.names.entry(id).or_default().insert(thing.name.to_lowercase());
        }
        self.chars = self.chars.saturating_add(said.chars());
        self.turns.push_back(said);
        let mut is_over = false;
        while self.turns.len() > TURNS_MAX || self.chars > CHARS_MAX {
            let Some(oldest) = self.turns.pop_front() else { break };
            self.chars = self.chars.saturating_sub(oldest.chars());
            is_over = true;
        }
        if is_over {
            self.drop_unused();
        }
    }

    /// A message was taken back: what it asked, and what was answered to it, is not told any more.
    pub(super) fn forget(&mut self, event: &EventId) {
        self.turns.retain(|said| said.event != *event);
        self.chars = self.turns.iter().map(Said::chars).sum();
        self.drop_unused();
    }

    fn drop_unused(&mut self) {
        let things: BTreeSet<&ResourceId> = self.turns.iter().flat_map(Said::ids).collect();
        self.labels.retain(|id, _| things.contains(id));
        self.names.retain(|id, _| things.contains(id));
    }

    /// What somebody may be told of it, the newest first.
    pub(super) fn told<'a>(&'a self, sight: &'a Sight<'_>) -> impl Iterator<Item = &'a Said> {
        self.turns.iter().rev().filter(move |said| self.may_tell(said, sight))
    }

    /// Whether somebody may be told everything that a turn rests on.
    pub(super) fn may_tell(&self, said: &Said, sight: &Sight<'_>) -> bool {
        said.things.iter().all(|(on, by)| {
            let may = |then: &[String]| sight.sees_what_came(by.as_ref(), on.as_ref(), then);
            match on.as_ref().and_then(|on| self.labels.get(on)) {
                Some(labels) => labels.iter().all(|then| may(then)),
                None => may(&[]),
            }
        })
    }
}

/// Takes note of a message to everybody, where the request is talk: one that was asked in words, or that changed something.
pub(super) fn note(request: &mut Request, claim: &Claim, blocks: &[Block]) {
    if matches!(claim, Claim::Change { .. }) {
        request.becomes_talk();
    }
    if let Some(said) = &mut request.said {
        let is_card = blocks.iter().any(|block| matches!(block, Block::Card { .. }));
        said.push(if is_card { A_CARD.to_owned() } else { answer::plain(blocks) });
    }
}

/// A request ended: keeps what was asked and answered, where there is a model that may be told.
pub(super) fn keep(turn: &mut Turn<'_>, request: &Request) {
    let Some(said) = request.said.as_ref().filter(|_| turn.env.minds.first().is_some()) else { return };
    let mask = turn.env.mask;
    let (words, said) = (request.signal.payload.words(), said.join(" "));
    let asked = told_line(mask, &words, ASKED_CHARS_MAX);
    let mut answered = told_line(mask, &said, ANSWERED_CHARS_MAX);
    let mut things = things_of(turn, request);
    let known = things.iter().filter_map(|(id, _)| id.clone()).collect();
    things.extend(named(turn, &format!("{words} {said}"), &known));
    let is_told_again = |value: &str| recall::repeats(&said, value, &words);
    things.extend(request.told.iter().filter(|(_, value)| is_told_again(value)).map(|(thing, _)| thing.clone()));
    if things.len() > THINGS_MAX {
        A_LIST.clone_into(&mut answered);
        things = named(turn, &words, &BTreeSet::new());
        if things.len() > THINGS_MAX {
            return;
        }
    }
    let name = turn.env.rights.name(&request.signal.thread.platform, &request.signal.actor);
    let by = told_line(mask, name.as_deref().unwrap_or(SOMEBODY), NAME_CHARS_MAX);
    let said = Said { event: request.signal.event.clone(), at: turn.now.wall, by, asked, answered, things };
    let state = &mut turn.state;
    let known: Vec<Resource> = said.ids().filter_map(|id| state.resolved.peek(id)).cloned().collect();
    state.talk.keep(said, known.iter());
}

/// What a turn rests on, whatever its words: what was proposed on, what was read by which call, and what was found. That
/// something was changed, or was to be, may be told to whoever may read it.
fn things_of(turn: &Turn<'_>, request: &Request) -> BTreeSet<Thing> {
    let judged = request.judged.iter().filter_map(|judged| judged.target.as_deref()?.parse().ok());
    let carried = request.carrying.as_ref().and_then(|plan| turn.state.desk.get(plan));
    let carried = carried.map(|filed| filed.frozen.plan().target.clone());
    let named = judged.chain(carried).chain(request.found.iter().cloned()).map(|id| (Some(id), None));
    let read = request.sources.iter().filter_map(|source| {
        let (_, _, spec) = turn.env.registry.named(&source.call)?;
        let by = LookedBy { kind: spec.kind, call: source.call.clone() };
        Some((source.target.clone(), Some(by)))
    });
    named.chain(read).collect()
}

/// Which of the things that the thread knows, or spoke of before, a text names, beside those that have lent their names to these already.
fn named(turn: &Turn<'_>, text: &str, known: &BTreeSet<ResourceId>) -> BTreeSet<Thing> {
    let text = text.to_lowercase();
    let names: BTreeSet<&str> =
        known.iter().filter_map(|id| turn.state.resolved.peek(id)).map(|known| known.name.as_str()).collect();
    let is_in = |name: &str| name.chars().count() >= NAMED_CHARS_MIN && text.contains(&name.to_lowercase());
    let is_named = |resource: &&Resource| {
        is_in(resource.id.as_str()) || (is_in(&resource.name) && !names.contains(resource.name.as_str()))
    };
    let now = turn.state.resolved.iter().filter(is_named).map(|resource| &resource.id);
    // What is called so now has taken the name over.
    let is_taken = |name: &str| turn.state.resolved.find(name) != Found::Nothing;
    let is_named_so = |(_, called): &(_, &BTreeSet<String>)| called.iter().any(|name| is_in(name) && !is_taken(name));
    let before = turn.state.talk.names.iter().filter(is_named_so).map(|(id, _)| id);
    now.chain(before).map(|id| (Some(id.clone()), None)).collect()
}

/// Between marks that are nowhere else in it, so that what somebody wrote is no line of its own.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// What is not ours on one line, without the ids of plans: masked, cut, and masked again, because a cut may go through the
/// middle of a mark that stands for a secret.
fn told_line(mask: &Mask, text: &str, chars_max: usize) -> String {
    static PLAN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?-u:\b)[0-9a-f]{32}(?-u:\b)").expect("invariant: the pattern is sound"));
    let masked = mask.apply(text.trim()).replace('\n', " / ");
    let line = text::one_line(&PLAN.replace_all(&masked, "[plan]"), chars_max);
    mask.apply(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{World, resource};

    #[test]
    fn the_caps_hold_and_the_newest_stay() {
        let mut talk = Talk::default();
        for (n, chars) in [(700, 10), (700, 400)].into_iter().flat_map(|(n, chars)| (0..n).map(move |n| (n, chars))) {
            let id: ResourceId = format!("service:web-1:s{n}").parse().expect("an id");
            let mut thing = resource(id.as_str(), "s");
            thing.attrs.insert("owner".to_owned(), "ann".to_owned());
            let said = Said {
                event: EventId::new(n.to_string()),
                at: Wall(0),
                by: "ann".to_owned(),
                asked: "x".to_owned(),
                answered: "ä".repeat(chars),
                things: BTreeSet::from([(Some(id), None)]),
            };
            talk.keep(said, std::iter::once(&thing));
            assert!(talk.turns.len() <= TURNS_MAX);
            assert!(talk.turns.iter().map(Said::chars).sum::<usize>() <= CHARS_MAX);
            assert!(
                talk.labels.len().max(talk.names.len()) <= talk.turns.len(),
                "labels of what is not told any more are dropped"
            );
        }
        assert_eq!(talk.turns.back().map(|said| said.event.as_str()), Some("699"));
    }

    /// What rests on very many things would be told to nobody who may not see them all; and to keep them all is too much.
    #[test]
    fn of_a_long_list_only_the_question_is_kept() {
        let mut world = World::with_fleet();
        world.minds.smart = Some("big".to_owned());
        for n in 0..THINGS_MAX {
            world.script.resources.push(resource(&format!("service:web-1:s-{n:03}"), &format!("s-{n:03}")));
        }
        world.say("list services");
        let said = world.state.talk.turns.back().expect("it was talk");
        assert_eq!((said.asked.as_str(), said.answered.as_str()), ("list services", A_LIST));
        assert!(said.things.is_empty());
        world.script.resources.truncate(10);
        world.state.reset(false);
        world.say("list services");
        let said = world.state.talk.turns.back().expect("it was talk");
        assert!(said.ids().count() == 9 && said.answered != A_LIST, "{said:?}");
    }
}

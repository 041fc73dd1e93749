//! What a model wants to look at where no person of the thread has named it: nothing of it runs. Each becomes a button, and what
//! is pressed runs as the person's own request.

use serde_json::Value;

use crate::gate::Refusal;
use crate::port::Choice;
use crate::proposal::Proposal;
use crate::text;
use crate::thread::Entity;
use crate::thread::procedure::{Procedure, Stage, Wanted};
use crate::thread::state::{Resume, Turn};

/// The most that people are asked at once.
const ASKS_MAX: usize = 4;

/// The most characters of a button, and of the line that tells it from the others. What is longer cannot be shown whole, and is
/// not asked.
const LABEL_CHARS_MAX: usize = 40;
const ABOUT_CHARS_MAX: usize = 160;

/// The intent of what is pressed; a label of metrics.
const INTENT: &str = "asked-by-model";

/// What a model wants to look at, in the order in which it wanted it.
#[derive(Debug, Default)]
pub(super) struct Asks {
    all: Vec<(Choice, Procedure)>,
}

impl Asks {
    /// Notes a reading that was refused because nobody has named what it reads.
    pub(super) fn add(&mut self, turn: &Turn<'_>, proposal: &Proposal, refusal: &Refusal) {
        let Some(asked) = asked(turn, proposal, refusal) else { return };
        let is_known = self.all.iter().any(|(known, _)| known.label == asked.0.label);
        if !is_known && self.all.len() < ASKS_MAX {
            self.all.push(asked);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The buttons, each with what it runs.
    pub(super) fn choices(&self) -> Vec<(Choice, Resume)> {
        let resumed = |(choice, procedure): &(Choice, Procedure)| {
            (choice.clone(), Resume::Procedure(Box::new(procedure.clone())))
        };
        self.all.iter().map(resumed).collect()
    }
}

/// The button says what would be read, as it would be typed. What holds a secret is not asked.
fn asked(turn: &Turn<'_>, proposal: &Proposal, refusal: &Refusal) -> Option<(Choice, Procedure)> {
    let spec = turn.env.registry.action(&proposal.tool, &proposal.action)?;
    let argument = refusal.details.argument.as_ref()?;
    let target = proposal.target.as_deref().and_then(|target| target.parse().ok());
    let known = target.and_then(|id| turn.state.resolved.peek(&id)).map(|known| (known.id.clone(), known.name.clone()));
    let words = match proposal.args.get(argument).and_then(Value::as_str) {
        Some(words) => words.to_owned(),
        None => known.as_ref().map(|(_, name)| name.clone())?,
    };
    let whole = text::one_line(&words, usize::MAX);
    if whole.chars().count() > ABOUT_CHARS_MAX || turn.env.mask.class_of(&whole).is_some() {
        return None;
    }
    let label = text::one_line(&whole, LABEL_CHARS_MAX);
    let about = if label == whole { text::one_line(&spec.about, ABOUT_CHARS_MAX) } else { whole };
    let wanted = known.map_or(Wanted::TheOnly, |(id, name)| Wanted::Known(Entity { id, name }));
    let procedure = Procedure {
        intent: INTENT.to_owned(),
        tool: proposal.tool.to_lowercase(),
        action: proposal.action.to_lowercase(),
        args: proposal.args.clone(),
        wanted,
        stage: Stage::Find,
        said_it: None,
    };
    let choice = Choice { label: text::defuse_mentions(&label), about: text::defuse_mentions(&about) };
    Some((choice, procedure))
}

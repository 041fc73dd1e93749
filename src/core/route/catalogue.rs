//! What somebody may mean: every call by what it says of itself, and every example of an intent, prepared once to be
//! compared with what was written. It says what is likely and decides nothing: what a model is offered is chosen in
//! `thread/agent/offers.rs`, and what is suggested to a person in `cascade.rs`.

use std::cmp::Reverse;

use crate::port::{Likeness, Similarity};
use crate::tool::Registry;

use super::{Does, Intents};

/// One text that something is known by.
#[derive(Debug)]
struct Entry {
    /// The place of its call in the list of calls; none for what the bot does itself.
    call: Option<usize>,
    /// The place of its intent and its example; none for what a call says of itself.
    example: Option<(usize, usize)>,
}

/// The texts of a registry and of its intents.
pub struct Catalogue {
    /// As `tool.action`.
    calls: Vec<String>,
    entries: Vec<Entry>,
    likeness: Box<dyn Likeness>,
    worth_suggesting: u16,
}

impl Catalogue {
    /// Prepares the texts. Cheap enough for a start and a reload, and not for each question.
    pub fn new(registry: &Registry, intents: &Intents, similarity: &dyn Similarity) -> Self {
        let (mut calls, mut entries, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for tool in registry.tools() {
            for (action, spec) in &tool.actions {
                entries.push(Entry { call: Some(calls.len()), example: None });
                texts.push(format!("{} {action} {}", tool.name.replace('_', " "), spec.about));
                calls.push(format!("{}.{action}", tool.name));
            }
        }
        for (at, intent) in intents.iter().enumerate() {
            let call = match &intent.does {
                Does::Call { tool, action } => calls.iter().position(|call| *call == format!("{tool}.{action}")),
                Does::Own(_) | Does::Reply(_) => None,
            };
            for (n, example) in intent.examples.iter().enumerate() {
                entries.push(Entry { call, example: Some((at, n)) });
                texts.push(example.clone());
            }
        }
        let (likeness, worth_suggesting) = (similarity.prepare(&texts), similarity.worth_suggesting());
        Self { calls, entries, likeness, worth_suggesting }
    }

    /// Every call as `tool.action`, the likeliest first: by what it says of itself, and by the questions that are known to
    /// lead to it.
    pub fn ranked(&self, question: &str) -> Vec<String> {
        let mut best = vec![0_u16; self.calls.len()];
        for (entry, alike) in self.entries.iter().zip(self.likeness.alike_each(question)) {
            if let Some(best) = entry.call.and_then(|at| best.get_mut(at)) {
                *best = alike.max(*best);
            }
        }
        let mut ranked: Vec<(Reverse<u16>, &String)> = best.into_iter().map(Reverse).zip(&self.calls).collect();
        ranked.sort();
        ranked.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// The examples worth suggesting, of each intent the one that is most like these words: how alike, and the places of
    /// the intent and of its example. In the order of the intents.
    pub(super) fn worth_suggesting(&self, words: &str) -> Vec<(u16, usize, usize)> {
        let mut best: Vec<(u16, usize, usize)> = Vec::new();
        for (entry, alike) in self.entries.iter().zip(self.likeness.alike_each(words)) {
            let Some((intent, example)) = entry.example else { continue };
            match best.last_mut().filter(|(_, of, _)| *of == intent) {
                Some(known) if known.0 > alike => {}
                Some(known) => *known = (alike, intent, example),
                None => best.push((alike, intent, example)),
            }
        }
        best.retain(|(alike, _, _)| *alike >= self.worth_suggesting);
        best
    }
}

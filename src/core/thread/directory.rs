//! What all threads have lately discovered, to be offered to whoever types (PRE-02). It is never a source of targets: what is
//! picked from it is only words, and every thread discovers for itself what they mean.

use std::cmp::Reverse;

use crate::port::{Asked, Right, Rights, SUGGESTIONS_MAX, Suggestion};
use crate::resource::{Resource, ResourceId};
use crate::secrets::Mask;
use crate::signal::Mono;
use crate::text;

use super::prefetch::written;
use super::resolved::{Found, ResolvedContext};
use super::sight::Sight;

/// Of all that fit, the best so many are judged: each is a question to the policies, and there is one for each letter typed.
const JUDGED_MAX: usize = 100;
/// The most characters of what was typed that are looked at.
const TYPED_CHARS_MAX: usize = 128;
const TITLE_CHARS_MAX: usize = 64;
const ABOUT_CHARS_MAX: usize = 120;

/// What all threads have lately discovered: as fresh as in the threads, and as many things as one of them keeps.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    known: ResolvedContext,
}

/// How well a thing fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its name.
    Name,
    /// The beginning of its name.
    Beginning,
    /// The beginning of a part of its name (PRE-06).
    Part,
    /// The beginning of another name, or its id.
    Alias,
    /// What kind of thing it is, or where.
    Around,
}

impl Directory {
    /// Takes over what a thread's step learned, used and lost. What a thread forgets is not gone.
    pub fn follow(&mut self, thread: &ResolvedContext, now: Mono) {
        self.known.begin_step(now);
        for (id, resource) in thread.moved() {
            match resource {
                Some(resource) => self.known.register(resource.clone(), now),
                None => self.known.lose(id),
            }
        }
    }

    /// What somebody may mean, of what they may see; nothing for whoever may not talk.
    pub fn suggest(&self, asked: &Asked, rights: &dyn Rights, mask: &Mask, now: Mono) -> Vec<Suggestion> {
        let sight = Sight::new(rights, asked.asker(), &self.known);
        if !rights.may(sight.whose(), &Right::Talk) {
            return Vec::new();
        }
        let best = self.fitting(&asked.words, now).into_iter().take(JUDGED_MAX);
        let suggestions = best.filter_map(|resource| self.suggestion(resource, &sight, mask));
        suggestions.take(SUGGESTIONS_MAX).collect()
    }

    /// What fits what was typed, the best first. Where nothing was typed everything does, and the latest is the best.
    fn fitting(&self, typed: &str, now: Mono) -> Vec<&Resource> {
        let typed: String = typed.chars().take(TYPED_CHARS_MAX).collect();
        let typed = typed.to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().map(|word| word.trim_start_matches('@')).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let keyed = self.known.iter().filter_map(|resource| {
            let used = self.known.used(&resource.id, now)?;
            let fit = fit(resource, &words)?;
            Some(((fit, Reverse(words.is_empty().then_some(used)), &resource.name, &resource.id), resource))
        });
        let mut keyed: Vec<_> = keyed.collect();
        keyed.sort_by_key(|(key, _)| *key);
        keyed.into_iter().map(|(_, resource)| resource).collect()
    }

    /// By its name, where nothing else that they may see is called so; else by its id. None where they may not see it, where
    /// neither can be written in a message, or where that would show a secret.
    fn suggestion(&self, resource: &Resource, sight: &Sight<'_>, mask: &Mask) -> Option<Suggestion> {
        if !sight.sees(resource) {
            return None;
        }
        let by_name = written(&resource.name).filter(|_| self.is_only(resource, sight));
        let open = |mention: &String| mask.apply(mention) == mention.as_str();
        let mention = by_name.or_else(|| written(resource.id.as_str())).filter(open)?;
        let name = if resource.name.is_empty() { resource.id.as_str() } else { &resource.name };
        let shown = |text: &str, chars_max| text::one_line(&mask.apply(text), chars_max);
        Some(Suggestion {
            mention,
            title: shown(name, TITLE_CHARS_MAX),
            about: shown(&about(resource), ABOUT_CHARS_MAX),
        })
    }

    /// Whether its name leads to it, and to nothing else that they may see.
    fn is_only(&self, resource: &Resource, sight: &Sight<'_>) -> bool {
        let is_it = |other: &Resource| other.id == resource.id;
        match self.known.find(&resource.name) {
            Found::One(only) => is_it(only),
            Found::Several(several) => several.into_iter().all(|one| is_it(one) || !sight.sees(one)),
            Found::Nothing => false,
        }
    }
}

/// How well it fits: by the best of the words, each of which must fit somewhere. Nothing typed fits everything.
fn fit(resource: &Resource, words: &[&str]) -> Option<Fit> {
    let name = resource.name.to_lowercase();
    let fits = words.iter().map(|word| fit_of(resource, &name, word)).collect::<Option<Vec<Fit>>>()?;
    Some(fits.into_iter().min().unwrap_or(Fit::Name))
}

fn fit_of(resource: &Resource, name: &str, word: &str) -> Option<Fit> {
    let begins = |text: &str| text.to_lowercase().starts_with(word);
    let mut parts = name.split(|c: char| !c.is_alphanumeric());
    if name == word {
        Some(Fit::Name)
    } else if name.starts_with(word) {
        Some(Fit::Beginning)
    } else if parts.any(|part| part.starts_with(word)) {
        Some(Fit::Part)
    } else if resource.aliases.iter().any(|alias| begins(alias)) || resource.id.as_str().to_lowercase() == word {
        Some(Fit::Alias)
    } else {
        (begins(resource.id.kind()) || place(&resource.id).is_some_and(|place| begins(&place))).then_some(Fit::Around)
    }
}

/// `service on web-1: A web server`.
fn about(resource: &Resource) -> String {
    let kind = resource.id.kind().replace('_', " ");
    let on = place(&resource.id).map(|place| format!(" on {place}")).unwrap_or_default();
    let about = if resource.about.is_empty() { String::new() } else { format!(": {}", resource.about) };
    format!("{kind}{on}{about}")
}

/// What it lives in, by its id.
fn place(id: &ResourceId) -> Option<String> {
    id.scope().map(ResourceId::unescape)
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;

//! Intents: what people type and which procedure it means, as data (`config/intents.toml`). All patterns are compiled
//! into one set. A file proves itself when it is read: every example must lead to its own intent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use regex::{Regex, RegexSet, RegexSetBuilder};
use serde_json::{Map, Value};
use thiserror::Error;

use super::groups::{placeholder, whole_group, with_groups};
use super::hear::{Heard, hear};
use super::intent_file::{IntentFile, anchored, check, check_pattern, check_phrase};
use super::own_command::OwnCommand;
use super::phrases::{LooseFit, Phrase, PhraseFit, fillers, reverses_meaning, words_of};
use super::reply::Reply;
use super::spelling::{KnownWords, is_misspelt};
use super::verbatim;
use crate::tool::Registry;

/// How large the compiled set may become, in bytes. The crate's default of 10 MiB is passed by some 200 patterns
/// (BENCH.md, "physical limits"); this is twenty times as much, and a set that is larger still is refused with a sentence.
const SET_BYTES_MAX: usize = 200 * 1024 * 1024;

/// What an intent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// Answers from the bot's own state.
    Own(OwnCommand),
    /// Calls this action, after its target was resolved.
    Call {
        /// A declared tool.
        tool: String,
        /// A declared action of it.
        action: String,
    },
    /// Says this, filled in with what was typed. No tool, and no right but to talk.
    Reply(Reply),
}

impl Does {
    pub(super) const fn user_of_groups(&self) -> &'static str {
        match self {
            Self::Own(_) | Self::Call { .. } => "no argument",
            Self::Reply(_) => "no brace of its reply",
        }
    }

    /// Every name in a reply is a group of this pattern or phrase: what nothing fills in would be shown as if it were meant.
    pub(super) fn check_reply(&self, groups: &[&str], written: &str) -> Result<(), String> {
        let Self::Reply(reply) = self else { return Ok(()) };
        match reply.groups().find(|name| !groups.contains(name)) {
            Some(name) => Err(format!("its reply names `{{{name}}}`, and `{written}` has no group of this name")),
            None => Ok(()),
        }
    }
}

/// One intent, checked.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Unique.
    pub name: String,
    /// For `help`.
    pub about: String,
    /// What people type; the first one stands in `help`.
    pub examples: Vec<String>,
    /// What it does.
    pub does: Does,
    /// What it is about: ranks where several fit (CAS-02, CAS-03).
    pub domain: String,
    /// The topic of `help` that lists it; empty where none does.
    pub topic: String,
    /// A command of a chat's menu with an example of its argument: `restart cron`.
    pub(super) command: Option<String>,
    /// The sentence in the place of the output of a command that printed nothing.
    pub silent: Option<String>,
    pub(super) target: Option<String>,
    pub(super) args: BTreeMap<String, Value>,
    /// Whether it only shows something.
    pub(super) only_shows: bool,
    /// Arguments that are taken as they were typed.
    pub(super) verbatim: BTreeSet<String>,
    /// Those of them that are command lines.
    pub(super) commands: BTreeSet<String>,
}

impl Intent {
    /// Returns the word of a chat's menu that asks for it, with its argument behind it; none where it stands in no menu.
    pub fn menu_word(&self) -> Option<&str> {
        self.command.as_deref()?.split_whitespace().next()
    }
}

/// What is wrong with an intent file: always the file, the intent and the fix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {problem}")]
pub struct IntentsError {
    /// The file.
    pub file: String,
    /// The intent and the fix.
    pub problem: String,
}

/// All intents, compiled.
#[derive(Clone, Debug)]
pub struct Intents {
    all: Vec<Intent>,
    set: RegexSet,
    /// One per pattern, in the order of the set, with the position of its intent.
    patterns: Vec<(Regex, usize)>,
    /// With the position of its intent.
    phrases: Vec<(Phrase, usize)>,
    vocabulary: KnownWords,
}

/// What an intent's pattern took from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caught {
    pub args: Map<String, Value>,
    pub target: Option<String>,
}

impl Intents {
    /// Reads intent files, given as (file name, content), and checks them against the tools and against themselves.
    pub fn load<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        registry: &Registry,
    ) -> Result<Self, IntentsError> {
        let mut intents = Vec::new();
        let mut sources = Vec::new();
        let mut all_patterns = Vec::new();
        let mut all_phrases = Vec::new();
        for (file, content) in files {
            let wrong = |problem: String| IntentsError { file: file.to_owned(), problem };
            let parsed: IntentFile =
                toml::from_str(content).map_err(|error| wrong(crate::tool::toml_problem(content, &error)))?;
            for entry in parsed.intents {
                let (name, patterns, phrases) = (entry.name.clone(), entry.patterns.clone(), entry.phrases.clone());
                let intent = check(entry, registry).map_err(|problem| wrong(format!("intent `{name}`: {problem}")))?;
                if intents.iter().any(|known: &Intent| known.name == name) {
                    return Err(wrong(format!("intent `{name}` is declared twice; give one of them another name")));
                }
                let word = intent.menu_word();
                if word.is_some() && intents.iter().any(|known: &Intent| known.menu_word() == word) {
                    return Err(wrong(format!(
                        "intent `{name}`: another intent has the same command; give it another"
                    )));
                }
                for pattern in patterns {
                    let compiled = anchored(&pattern).map_err(|error| wrong(format!("intent `{name}`: {error}")))?;
                    check_pattern(&intent, &compiled)
                        .map_err(|problem| wrong(format!("intent `{name}`: {problem}")))?;
                    all_patterns.push((compiled, intents.len()));
                }
                for phrase in phrases {
                    let parsed = check_phrase(&intent, &phrase)
                        .map_err(|problem| wrong(format!("intent `{name}`: {problem}")))?;
                    all_phrases.push((parsed, intents.len()));
                }
                intents.push(intent);
                sources.push(file.to_owned());
            }
        }
        let set = RegexSetBuilder::new(all_patterns.iter().map(|(regex, _)| regex.as_str()))
            .size_limit(SET_BYTES_MAX)
            .build()
            .map_err(|error| IntentsError { file: sources.join(", "), problem: error.to_string() })?;
        let in_examples = intents.iter().flat_map(|intent| intent.examples.iter()).flat_map(|e| words(e));
        let in_phrases = all_phrases.iter().flat_map(|(phrase, _)| phrase.words());
        let others = in_phrases.chain(fillers().map(str::to_owned)).collect();
        let vocabulary = KnownWords { examples: in_examples.collect(), others };
        let loaded = Self { all: intents, set, patterns: all_patterns, phrases: all_phrases, vocabulary };
        loaded.prove_examples(&sources)?;
        Ok(loaded)
    }

    /// Every intent, in the order of the files.
    pub fn iter(&self) -> impl Iterator<Item = &Intent> {
        self.all.iter()
    }

    /// The intent of this name.
    pub fn named(&self, name: &str) -> Option<&Intent> {
        self.all.iter().find(|intent| intent.name == name)
    }

    /// What these words lead to, where they may stand on a button: where they decide nothing.
    pub fn offered(&self, words: &str) -> Option<&Intent> {
        self.meant(words).filter(|intent| match &intent.does {
            Does::Call { .. } | Does::Reply(_) => true,
            Does::Own(own) => !own.decides(),
        })
    }

    /// Whether these words ask for the end of what is worked on.
    pub(crate) fn ask_to_stop(&self, words: &str) -> bool {
        self.meant(words).is_some_and(|intent| intent.does == Does::Own(OwnCommand::Stop))
    }

    /// Returns whether a pattern fits these words.
    #[cfg(test)]
    pub(crate) fn understands(&self, words: &str) -> bool {
        self.meant(words).is_some()
    }

    /// Whether these words mean something by themselves: a question, a command of the bot's own, a yes or a no.
    pub(crate) fn stands_for_itself(&self, words: &str) -> bool {
        let word = words.trim().to_ascii_lowercase();
        reverses_meaning(&word) || ["yes", "y", "n", "ok"].contains(&word.as_str()) || self.meant(words).is_some()
    }

    /// What these words mean by themselves, whatever was talked about.
    fn meant(&self, words: &str) -> Option<&Intent> {
        let heard = hear(words);
        let by_pattern = self.catch(&heard).into_iter().next();
        by_pattern.or_else(|| self.by_phrase(&heard)).map(|(intent, _)| intent)
    }

    /// Words that intents are written with.
    pub(super) const fn vocabulary(&self) -> &KnownWords {
        &self.vocabulary
    }

    /// Every intent that fits, with what its pattern took; in the order of the files. One pass over the set, then one
    /// single pattern per hit.
    pub(super) fn catch(&self, heard: &Heard) -> Vec<(&Intent, Caught)> {
        let mut seen = BTreeSet::new();
        let hits = self.set.matches(&heard.lower).into_iter().filter_map(|at| self.patterns.get(at));
        let caught = hits.filter_map(|(regex, at)| {
            let intent = self.all.get(*at).filter(|intent| intent.only_shows || !heard.wants_to_see)?;
            let caught = intent.take(regex, heard)?;
            seen.insert(*at).then_some((intent, caught))
        });
        caught.collect()
    }

    /// Returns the intent that has most of its words in a message, with what they say. Two that have as many are one too many.
    pub(super) fn by_phrase(&self, heard: &Heard) -> Option<(&Intent, Caught)> {
        let message = words_of(heard, |word| self.vocabulary.is_no_name(word));
        let fitting = self.phrases.iter().filter_map(|(phrase, at)| Some((phrase.fit(&message)?, phrase, at)));
        let mut fitting: Vec<(PhraseFit, &Phrase, &usize)> = fitting.collect();
        fitting.sort_by_key(|(fit, _, _)| Reverse(fit.weight));
        let (best, phrase, at) = fitting.first()?;
        if fitting.iter().any(|(fit, _, other)| fit.weight == best.weight && other != at) {
            return None;
        }
        let group = |name: &str| best.groups.get(name).and_then(|span| heard.text.get(span.clone()));
        // "kernal version" asks for no package of this name.
        if best.groups.keys().filter_map(|name| group(name)).any(|name| is_misspelt(name, &self.vocabulary)) {
            return None;
        }
        let intent = self.all.get(**at)?;
        let is_group = |name: &str| phrase.groups().any(|known| known == name);
        Some((intent, intent.fill(&is_group, &group, &|_| None)))
    }

    /// Returns a message without the words in it that say when, where only these keep it from fitting a phrase; nothing if two
    /// intents are equally near.
    pub(super) fn but_for_times(&self, heard: &Heard) -> Option<String> {
        let message = words_of(heard, |_| true);
        let fitting = self.phrases.iter().filter_map(|(phrase, at)| Some((phrase.fit_but_for_times(&message)?, *at)));
        let mut fitting: Vec<(LooseFit, usize)> = fitting.collect();
        fitting.sort_by_key(|(loose, _)| (Reverse(loose.fit.weight), loose.unknown.len()));
        let (best, at) = fitting.first()?;
        let is_as_near = |(loose, of): &(LooseFit, usize)| {
            of != at && loose.fit.weight == best.fit.weight && loose.unknown.len() == best.unknown.len()
        };
        if fitting.iter().any(is_as_near) {
            return None;
        }
        let known = message.iter().enumerate().filter(|(at, _)| !best.unknown.contains(at));
        let typed: Vec<&str> = known.filter_map(|(_, word)| heard.text.get(word.span.clone())).collect();
        Some(typed.join(" "))
    }

    /// Every example leads to its own intent, or to one of an earlier file: a team's own intents may be more particular
    /// than the built-in ones.
    fn prove_examples(&self, sources: &[String]) -> Result<(), IntentsError> {
        for (at, (intent, file)) in self.all.iter().zip(sources).enumerate() {
            for example in intent.examples.iter().chain(&intent.command) {
                let problem = match self.meant(example).map(|found| found.name.as_str()) {
                    Some(name) if name == intent.name => continue,
                    Some(other) if self.is_of_an_earlier_file(other, at, sources) => continue,
                    None => {
                        format!("intent `{}`: no pattern and no phrase fits its own example `{example}`", intent.name)
                    }
                    Some(other) => format!(
                        "intent `{}`: its example `{example}` leads to `{other}`, which stands before it",
                        intent.name
                    ),
                };
                return Err(IntentsError { file: file.clone(), problem });
            }
        }
        Ok(())
    }

    fn is_of_an_earlier_file(&self, name: &str, at: usize, sources: &[String]) -> bool {
        let own = sources.get(at);
        self.all.iter().zip(sources).take(at).any(|(intent, file)| intent.name == name && Some(file) != own)
    }
}

impl Intent {
    fn take(&self, regex: &Regex, heard: &Heard) -> Option<Caught> {
        let captures = regex.captures(&heard.lower)?;
        // Of a message whose end is missing nothing may be taken but what is written somewhere up to its end.
        let is_whole = || {
            let ends = |name: &str| captures.name(name).is_some_and(|span| span.end() == heard.lower.len());
            let verbatim = self.args.iter().filter(|(name, _)| self.verbatim.contains(*name));
            verbatim.filter_map(|(_, value)| whole_group(value)).any(ends)
        };
        if heard.is_cut && !is_whole() {
            return None;
        }
        let group = |name: &str| captures.name(name).and_then(|span| heard.text.get(span.range())).map(str::trim);
        let as_typed = |name: &str| {
            let span = captures.name(name)?.range();
            let (before, behind) = (heard.text.get(..span.start)?, heard.text.get(span.end..)?);
            if behind.is_empty() {
                verbatim::after(&heard.original, before)
            } else {
                verbatim::between(&heard.original, before, behind)
            }
        };
        let is_group = |name: &str| regex.capture_names().flatten().any(|known| known == name);
        Some(self.fill(&is_group, &group, &as_typed))
    }

    /// Fills its arguments with groups: which names are groups, what was typed in each, and what is taken just as it was typed.
    fn fill<'t>(
        &self,
        is_group: &dyn Fn(&str) -> bool,
        group: &dyn Fn(&str) -> Option<&'t str>,
        as_typed: &dyn Fn(&str) -> Option<String>,
    ) -> Caught {
        let mut args = Map::new();
        for (name, value) in &self.args {
            match whole_group(value) {
                Some(wanted) => {
                    if self.verbatim.contains(name) {
                        args.extend(as_typed(wanted).map(|found| (name.clone(), Value::from(found))));
                    } else if let Some(found) = group(wanted) {
                        args.insert(name.clone(), Value::from(found));
                    }
                }
                None => {
                    let line = value.as_str().filter(|_| self.commands.contains(name));
                    let filled = line.map(|line| with_groups(line, is_group, group)).map(Value::from);
                    args.insert(name.clone(), filled.unwrap_or_else(|| value.clone()));
                }
            }
        }
        let target = self.target.as_deref().and_then(group).map(str::to_owned);
        Caught { args, target }
    }
}

impl Intent {
    /// Returns whether one of its arguments is taken as it was typed, or is a command line.
    pub(super) fn takes_as_typed(&self) -> bool {
        !self.verbatim.is_empty()
    }

    /// Returns whether an argument is one group of the pattern as it was typed, and nothing else has to be named.
    pub(super) fn takes_any(&self, argument: &str) -> bool {
        self.target.is_none()
            && self.args.len() == 1
            && self.args.get(argument).is_some_and(|value| whole_group(value).is_some())
    }

    /// Returns whether it runs or writes what was typed, just as it was typed.
    pub(crate) fn is_as_typed(&self) -> bool {
        self.args.iter().any(|(name, value)| self.verbatim.contains(name) && whole_group(value).is_some())
    }

    /// Returns whether something has to be named for it.
    pub(crate) fn takes_something(&self) -> bool {
        let has_group = |(name, value): (&String, &Value)| {
            whole_group(value).is_some()
                || (self.commands.contains(name) && value.as_str().is_some_and(|line| line.contains('{')))
        };
        self.target.is_some() || self.args.iter().any(has_group)
    }

    /// Returns whether an argument or the target names a group of the pattern.
    pub(super) fn names_group(&self, group: &str) -> bool {
        let in_line = |(name, value): (&String, &Value)| {
            self.commands.contains(name) && value.as_str().is_some_and(|line| line.contains(&placeholder(group)))
        };
        self.target.as_deref() == Some(group)
            || self.args.values().any(|value| whole_group(value) == Some(group))
            || self.args.iter().any(in_line)
    }
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_lowercase)
}

//! What secrets look like in text: one pattern a kind, and the exceptions that keep ordinary text readable. Every pattern
//! is linear in the text; what is done with a find is in `mask.rs`.

mod commands;
mod files;
mod named;
mod tokens;
mod values;
mod web;

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::names::class_by_word;
use values::grown;

pub(super) use values::{is_marker, is_nothing, looks_random};

/// The most memory that a pattern takes for what it has seen of texts, so that many patterns take little.
pub(super) const DFA_BYTES_MAX: usize = 256 << 10;

/// A mask that stands in a text already: one piece, never a part of something else.
pub(super) const MARKER: &str = r"\[masked: [a-z ]+\]";

/// Where a secret stands, and of what class it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Find {
    /// In bytes of the text.
    pub(super) at: Range<usize>,
    /// What kind of secret.
    pub(super) class: &'static str,
}

/// One kind of secret. In its pattern the last group that takes part is the secret; a group named `k` is a name that
/// gives the class.
struct Rule {
    class: &'static str,
    pattern: String,
    /// Whether a value may go on behind `&`, `;` or `,`.
    grows: bool,
    /// Words of which every match has one, in lower case. None: a name of a secret, which the prefilter knows.
    needs: &'static [&'static str],
    /// Whether what was found is a secret after all.
    keep: fn(&Candidate<'_>) -> bool,
}

/// What a pattern found.
struct Candidate<'t> {
    /// What stands before the match.
    before: &'t str,
    /// The name, where the rule has one.
    name: &'t str,
    /// Everything from the start of the match to the secret.
    lead: &'t str,
    /// The secret.
    secret: &'t str,
    /// What follows the secret.
    rest: &'t str,
}

/// Every rule with its pattern, which is compiled when a text first needs it.
struct Compiled {
    rule: Rule,
    regex: OnceLock<Regex>,
}

static RULES: LazyLock<Vec<Compiled>> =
    LazyLock::new(|| rules().into_iter().map(|rule| Compiled { rule, regex: OnceLock::new() }).collect());

/// The rules that a name of a secret is enough for, as one set: most texts with such a name have nothing to hide.
static GENERAL: LazyLock<(Vec<usize>, RegexSet)> = LazyLock::new(|| {
    let general: Vec<usize> =
        (0..RULES.len()).filter(|n| RULES.get(*n).is_some_and(|c| c.rule.needs.is_empty())).collect();
    let patterns = general.iter().filter_map(|n| RULES.get(*n)).map(|compiled| &compiled.rule.pattern);
    let set = RegexSetBuilder::new(patterns).dfa_size_limit(4 * DFA_BYTES_MAX).build();
    (general, set.expect("invariant: fixed patterns that tests compile"))
});

/// The words that rules need, each with the number of its rule.
pub(super) fn each_need() -> impl Iterator<Item = (usize, &'static str)> {
    RULES.iter().enumerate().flat_map(|(n, compiled)| compiled.rule.needs.iter().map(move |word| (n, *word)))
}

/// Everything that a rule takes for a secret, in no order, overlaps included. `general` is whether the text has a name of a
/// secret, and `needed` are the rules whose own words it has.
pub(super) fn finds(text: &str, general: bool, needed: &[usize]) -> Vec<Find> {
    let mut numbers = needed.to_vec();
    if general {
        let (all, set) = &*GENERAL;
        // Whether there is any is found faster than which.
        if set.is_match(text) {
            numbers.extend(set.matches(text).iter().filter_map(|n| all.get(n)));
        }
    }
    let compiled = numbers.into_iter().filter_map(|n| RULES.get(n));
    compiled.flat_map(|compiled| compiled.rule.finds(compiled.regex(), text)).collect()
}

impl Compiled {
    fn regex(&self) -> &Regex {
        let compile = || RegexBuilder::new(&self.rule.pattern).dfa_size_limit(DFA_BYTES_MAX).build();
        self.regex.get_or_init(|| compile().expect("invariant: a fixed pattern that tests compile"))
    }
}

impl Rule {
    fn new(class: &'static str, pattern: impl Into<String>) -> Self {
        Self { class, pattern: with_ascii_edges(&pattern.into()), grows: false, needs: &[], keep: |_| true }
    }

    const fn growing(mut self) -> Self {
        self.grows = true;
        self
    }

    const fn needs(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }

    const fn only(mut self, keep: fn(&Candidate<'_>) -> bool) -> Self {
        self.keep = keep;
        self
    }

    fn finds(&self, regex: &Regex, text: &str) -> Vec<Find> {
        let mut finds = Vec::new();
        let mut from = 0;
        while let Some(found) = regex.captures_at(text, from) {
            let Some(whole) = found.get(0) else { break };
            let secret = found.iter().skip(1).flatten().last().unwrap_or(whole);
            let end = if self.grows { grown(text, secret.start(), secret.end()) } else { secret.end() };
            let name = found.name("k").map_or("", |name| name.as_str());
            let at = secret.start()..end;
            let candidate = Candidate {
                before: text.get(..whole.start()).unwrap_or_default(),
                name,
                lead: text.get(whole.start()..at.start).unwrap_or_default(),
                secret: text.get(at.clone()).unwrap_or_default(),
                rest: text.get(at.end..).unwrap_or_default(),
            };
            let kept = (self.keep)(&candidate);
            if kept {
                finds.push(Find { at, class: if name.is_empty() { self.class } else { class_by_word(name) } });
            }
            // At least one byte on; every pattern matches at least one character. What was taken for a value and is none
            // may hold a name and a value of its own: `cookie="& password=x`.
            let inside = (!kept && secret.start() > whole.start()).then(|| secret.start());
            from = inside.unwrap_or_else(|| end.max(whole.end()).max(whole.start() + 1));
            if from > text.len() {
                break;
            }
        }
        finds
    }
}

/// The edge of a word, as the patterns have it, is one of ASCII: a letter of another alphabet is no part of a token that
/// stands right behind it. And only so can every text be gone over by an automaton; with Unicode's edges, the first
/// character beyond ASCII makes it ten times slower.
pub(super) fn with_ascii_edges(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

fn rules() -> Vec<Rule> {
    let mut rules = named::rules();
    rules.extend(commands::rules());
    rules.extend(files::rules());
    rules.extend(web::rules());
    rules.extend(tokens::rules());
    rules
}

/// A value: quoted inside a quoted text, quoted, or plain. A plain one ends where white space, a quote or another field
/// begins; a mask inside it is one piece, because it has white space of its own.
fn value() -> String {
    format!(
        r#"(?:\\+"([^"\\\n]*)|"((?:\\.|[^"\\\n])+)|'([^'\n]+)|`([^`\n]+)|((?:{MARKER}|[^\s"'`])(?:{MARKER}|[^\s"'`&;,])*))"#
    )
}

//! Phrases: the words that identify an intent, in any order, for a message that no pattern fits. A phrase fits only if it accounts
//! for every word of the message: as one of its own words, as an argument of the right shape, or as a filler such as `the`.
//! Pronouns and words that reverse the meaning, such as `not`, are no fillers. Phrases belong to intents that only read.

use std::collections::BTreeMap;
use std::ops::Range;

use super::hear::Heard;

/// The most words of a message that are looked at.
const WORDS_MAX: usize = 16;

/// The weight of a phrase's own word, a path or a number, and of a word that could be any name.
const SURE: usize = 2;
const UNSURE: usize = 1;

/// The longest name of a service, a process or a user.
const NAME_CHARS_MAX: usize = 64;

/// Words that add nothing to a question.
const FILLERS: &str = "a about actual all am an and any anything are at be been being below both box by can check could current \
    currently data details did display do does each every everybody everyone everything exactly for from get gimme \
    give going got great guys had has have having hello here hey hi host how i if in info inform inside into is just \
    kind kindly know lemme like list look looking looks machine many me moment much my need now of on our out \
    overview perhaps please pls plz quick quickly real really right rn see server shall should show so some \
    something sort status still system tell the their there there's to today under us used using wanna want was we \
    we're were what what's whats when where which with within would you your";

/// Nouns for the machine that is asked: `this box`.
const MACHINES: &str = "box computer host machine server system thing vm";

/// Words that change the meaning of a sentence: they are never names, typing mistakes or left out.
const REVERSING: &str = "another aren't can't don't dont doesn't else's elsewhere except instead isn't never no not nothing nowhere \
    other others prod production staging stage unless until without won't";

/// Words for a time or a span of time.
const TIMES: &str = "ago day days during hour hours last lately midnight min mins minute minutes month night past recent recently \
    since tonight week within yesterday";

/// The least weight of a fit that leaves words out: two words of the phrase.
const LOOSE_WEIGHT_MIN: usize = 2 * SURE;

/// The form of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentShape {
    /// `/var/log`.
    Path,
    /// `4711`.
    Number,
    /// `nginx`, `ssh@1.service`.
    Name,
}

impl ArgumentShape {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "path" => Some(Self::Path),
            "number" => Some(Self::Number),
            "name" => Some(Self::Name),
            _ => None,
        }
    }

    fn takes(self, word: &str) -> bool {
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || "._@+-".contains(c);
        match self {
            Self::Path => word.starts_with('/'),
            Self::Number => !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()),
            Self::Name => {
                word.len() > 1
                    && word.len() <= NAME_CHARS_MAX
                    && word.starts_with(|c: char| c.is_ascii_lowercase())
                    && word.chars().all(is_name_char)
            }
        }
    }
}

/// One part of a phrase.
#[derive(Clone, Debug)]
struct PhraseTerm {
    kind: TermKind,
    is_optional: bool,
}

#[derive(Clone, Debug)]
enum TermKind {
    /// Any of these words, in the singular or plural.
    OneOf(Vec<String>),
    /// An argument: the group of the intent that it fills, and its form.
    Argument { group: String, shape: ArgumentShape },
}

impl PhraseTerm {
    /// Parses `mem|memory`, `free|used?`, `{path:path}` or `{limit:number}?`.
    fn parse(written: &str) -> Result<Self, String> {
        let (term, is_optional) = written.strip_suffix('?').map_or((written, false), |term| (term, true));
        let kind = match term.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(argument) => {
                let (group, shape) = argument.split_once(':').unwrap_or((argument, ""));
                let shape = ArgumentShape::parse(shape).ok_or_else(|| {
                    format!(
                        "`{written}` has no shape; write `{{{group}:path}}`, `{{{group}:number}}` or `{{{group}:name}}`"
                    )
                })?;
                TermKind::Argument { group: group.to_owned(), shape }
            }
            None => TermKind::OneOf(term.split('|').map(str::to_owned).collect()),
        };
        let is_plain =
            |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-.'".contains(c));
        match &kind {
            TermKind::OneOf(words) if !words.iter().all(is_plain) => {
                Err(format!("`{written}` is no list of words; write them in small letters with `|` between them"))
            }
            TermKind::OneOf(_) | TermKind::Argument { .. } => Ok(Self { kind, is_optional }),
        }
    }

    fn has(&self, word: &str) -> bool {
        let is_it = |known: &String| {
            word.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest == plural(known))
        };
        match &self.kind {
            TermKind::OneOf(words) => words.iter().any(is_it),
            TermKind::Argument { .. } => false,
        }
    }

    fn shape(&self) -> Option<ArgumentShape> {
        match &self.kind {
            TermKind::OneOf(_) => None,
            TermKind::Argument { shape, .. } => Some(*shape),
        }
    }
}

/// One way to ask.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    terms: Vec<PhraseTerm>,
}

/// A fit of a message and a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhraseFit {
    /// The sum of the weights of its words.
    pub weight: usize,
    /// The bytes of the message that fill each group.
    pub groups: BTreeMap<String, Range<usize>>,
}

/// A fit that leaves out some words of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LooseFit {
    pub fit: PhraseFit,
    /// The positions of those words.
    pub unknown: Vec<usize>,
}

impl Phrase {
    /// Parses a phrase: its terms with a blank between them. The error names the term and the fix.
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        let terms = written.split_whitespace().map(PhraseTerm::parse).collect::<Result<Vec<_>, _>>()?;
        if terms.iter().all(|term| term.is_optional || term.shape().is_some()) {
            return Err(format!("its phrase `{written}` has no word that must be there; give it one without `?`"));
        }
        Ok(Self { terms })
    }

    /// Returns the groups that its arguments fill.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match &term.kind {
            TermKind::Argument { group, .. } => Some(group.as_str()),
            TermKind::OneOf(_) => None,
        })
    }

    /// Returns its words, in the singular and plural.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let words = self.terms.iter().flat_map(|term| match &term.kind {
            TermKind::OneOf(words) => words.as_slice(),
            TermKind::Argument { .. } => &[],
        });
        words.flat_map(|word| ["", plural(word)].map(|ending| format!("{word}{ending}")))
    }

    /// Returns the fit of a message if every word of it is accounted for and no required word is missing.
    pub(super) fn fit(&self, message: &[MessageWord<'_>]) -> Option<PhraseFit> {
        let loose = self.fit_but_for_some(message)?;
        loose.unknown.is_empty().then_some(loose.fit)
    }

    /// Returns the fit of a message without its words for a time. Phrases that take a name have none.
    pub(super) fn fit_but_for_times(&self, message: &[MessageWord<'_>]) -> Option<LooseFit> {
        if self.terms.iter().any(|term| term.shape() == Some(ArgumentShape::Name)) {
            return None;
        }
        let loose = self.fit_but_for_some(message)?;
        let mut left_out = loose.unknown.iter().filter_map(|at| message.get(*at));
        let is_near = loose.fit.weight >= LOOSE_WEIGHT_MIN && !loose.unknown.is_empty();
        (is_near && left_out.all(|word| says_when(word.text))).then_some(loose)
    }

    fn fit_but_for_some(&self, message: &[MessageWord<'_>]) -> Option<LooseFit> {
        let mut unknown = Vec::new();
        let mut met = vec![false; self.terms.len()];
        let mut fit = PhraseFit { weight: 0, groups: BTreeMap::new() };
        for (nth, word) in message.iter().enumerate() {
            let Some(at) = self.place(word, &met) else {
                if !word.is_filler {
                    unknown.push(nth);
                }
                continue;
            };
            *met.get_mut(at)? = true;
            let worth = match &self.terms.get(at)?.kind {
                TermKind::OneOf(_) => SURE,
                TermKind::Argument { group, shape } => {
                    fit.groups.insert(group.clone(), word.span.clone());
                    if *shape == ArgumentShape::Name { UNSURE } else { SURE }
                }
            };
            fit.weight = fit.weight.saturating_add(worth);
        }
        let is_whole = self.terms.iter().zip(met).all(|(term, is_met)| is_met || term.is_optional);
        is_whole.then_some(LooseFit { fit, unknown })
    }

    /// Returns the position of the term that a word belongs to. A filler and a word that is no name fill no name.
    fn place(&self, word: &MessageWord<'_>, met: &[bool]) -> Option<usize> {
        let text = word.text;
        let fills = |(term, is_met): (&PhraseTerm, &bool)| match term.shape() {
            Some(ArgumentShape::Name) => {
                !is_met && ArgumentShape::Name.takes(text) && !word.is_filler && !word.is_no_name
            }
            Some(shape) => !is_met && shape.takes(text),
            None => false,
        };
        self.terms.iter().position(|term| term.has(text)).or_else(|| self.terms.iter().zip(met).position(fills))
    }
}

/// A word of a message, without the punctuation around it.
#[derive(Clone, Debug)]
pub(super) struct MessageWord<'m> {
    text: &'m str,
    /// Its bytes in the message.
    pub span: Range<usize>,
    is_filler: bool,
    is_no_name: bool,
}

/// Returns the words of a message, `is_no_name` saying of each whether it can't be a name; none if it is too long, is another bot's command, or has a quotation of several words, which is
/// one argument.
pub(super) fn words_of(heard: &Heard, is_no_name: impl Fn(&str) -> bool) -> Vec<MessageWord<'_>> {
    let has_blank_in_quotes =
        |word: &str| word.starts_with(['"', '“', '\'']) && !word.ends_with(['"', '”', '\'', '?', '!', ',', '.']);
    if heard.is_cut || heard.lower.starts_with('/') || heard.lower.split(' ').any(has_blank_in_quotes) {
        return Vec::new();
    }
    let is_mark = |c: char| ",;:!?\"'`()“”‘’".contains(c);
    let mut words = Vec::new();
    let mut start = 0_usize;
    for typed in heard.lower.split(' ') {
        let begun = typed.trim_start_matches(is_mark);
        let text = begun.trim_end_matches(is_mark);
        // A full stop ends a sentence; two are a folder.
        let text = text.strip_suffix('.').filter(|text| !text.ends_with('.')).unwrap_or(text);
        let from = start.saturating_add(typed.len().saturating_sub(begun.len()));
        if !text.is_empty() {
            let span = from..from.saturating_add(text.len());
            words.push(MessageWord { text, span, is_filler: is_filler(text), is_no_name: is_no_name(text) });
        }
        start = start.saturating_add(typed.len()).saturating_add(1);
    }
    if words.len() > WORDS_MAX {
        return Vec::new();
    }
    mark_pointers(&mut words);
    words
}

/// Returns the ending of the plural.
fn plural(word: &str) -> &'static str {
    if ["s", "x", "ch", "sh"].iter().any(|end| word.ends_with(end)) { "es" } else { "s" }
}

fn is_filler(word: &str) -> bool {
    is_one_of(FILLERS, word)
}

/// Marks words that point at this machine as fillers: `this box`, and `this` at the end of "which distro is this".
fn mark_pointers(words: &mut [MessageWord<'_>]) {
    let nouns: Vec<bool> = words.iter().map(|word| is_one_of(MACHINES, word.text)).collect();
    let last = words.len().saturating_sub(1);
    for (at, word) in words.iter_mut().enumerate() {
        let is_before_noun = nouns.get(at.saturating_add(1)).copied().unwrap_or_default();
        let points = matches!(word.text, "this" | "that") && is_before_noun || word.text == "this" && at == last;
        word.is_filler |= points || nouns.get(at).copied().unwrap_or_default();
    }
}

/// Returns whether a word changes the meaning of a sentence.
pub(super) fn reverses_meaning(word: &str) -> bool {
    is_one_of(REVERSING, word)
}

/// Returns whether a word is a time or a span of time: `yesterday`, `24h`, `02:30`.
fn says_when(word: &str) -> bool {
    let is_number = word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit());
    let is_clock = word.contains([':', 'h', 'm']) && word.chars().all(|c| c.is_ascii_digit() || ":hm".contains(c));
    is_one_of(TIMES, word) || is_number || is_clock && word.starts_with(|c: char| c.is_ascii_digit())
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns the words that add nothing to a question.
pub(super) fn fillers() -> impl Iterator<Item = &'static str> {
    FILLERS.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::super::hear::hear;
    use super::*;

    fn fit(phrase: &str, message: &str) -> Option<(usize, Vec<(String, String)>)> {
        let heard = hear(message);
        let found =
            Phrase::parse(phrase).expect("it is a phrase").fit(&words_of(&heard, |word| word == "restarted"))?;
        let taken = |(group, span): (String, Range<usize>)| (group, heard.text[span].to_owned());
        Some((found.weight, found.groups.into_iter().map(taken).collect()))
    }

    #[test]
    fn words_fit_in_any_order_and_an_unknown_one_never() {
        let memory = "mem|memory|ram free|left|usage?";
        for message in
            ["mem free", "free mem", "how much RAM is left on this box?", "memory", "the memory usage, please"]
        {
            assert!(fit(memory, message).is_some(), "{message}");
        }
        for message in ["memory on db-2", "memory is not free", "free beer", "memory tomorrow", "free", ""] {
            assert_eq!(fit(memory, message), None, "{message}");
        }
    }

    #[test]
    fn only_words_that_say_when_are_left_out() {
        let left_out = |message: &str| {
            let heard = hear(message);
            let words = words_of(&heard, |_| true);
            let phrase = Phrase::parse("oom|memory kill|killed last?").expect("it is a phrase");
            let loose = phrase.fit_but_for_times(&words)?;
            Some(loose.unknown.iter().map(|at| words[*at].text.to_owned()).collect::<Vec<_>>().join(" "))
        };
        let table = [
            ("oom kills last hour", Some("hour")),
            ("oom kills since 02:30", Some("since 02:30")),
            ("oom kills on this box yesterday", Some("yesterday")),
            ("oom kills", None),
            ("oom yesterday", None),
            ("oom kills of docker", None),
            ("oom killed it", None),
            ("oom kills on db-2 yesterday", None),
            ("don't show oom kills yesterday", None),
        ];
        for (message, expected) in table {
            assert_eq!(left_out(message).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn an_argument_is_taken_by_its_shape_and_as_it_was_typed() {
        let table = [
            ("big|biggest file {path:path}", "the biggest files in /Var/Log?", vec![("path", "/Var/Log")]),
            ("top mem|memory {limit:number}?", "top 5 by memory", vec![("limit", "5")]),
            ("top mem|memory {limit:number}?", "top mem", vec![]),
            (
                "log last? {service:name} {lines:number}?",
                "Nginx logs, last 20",
                vec![("lines", "20"), ("service", "Nginx")],
            ),
        ];
        for (phrase, message, expected) in table {
            let (_, taken) = fit(phrase, message).expect(message);
            let expected: Vec<(String, String)> =
                expected.into_iter().map(|(group, text)| (group.to_owned(), text.to_owned())).collect();
            assert_eq!(taken, expected, "{message}");
        }
        assert_eq!(fit("log {service:name} {lines:number}?", "Nginx logs last 20"), None, "`last` is not known to it");
        assert_eq!(
            fit("big file {path:path}", "big files in \"/srv/my files\""),
            None,
            "what stands in quotes is one thing"
        );
        assert_eq!(fit("log {service:name}", "logs of the box"), None, "a filler is nobody's name");
        assert_eq!(fit("log {service:name}", "log: restarted"), None, "a word of another phrase is nobody's name");
        assert_eq!(fit("log {service:name}", "logs of nginx and cron"), None, "one name is all it takes");
    }

    #[test]
    fn what_is_no_phrase_says_why() {
        for (written, part) in [
            ("{path:path} file?", "no word that must be there"),
            ("file {path}", "{path:path}"),
            ("file {path:colour}", "has no shape"),
            ("free|", "is no list of words"),
        ] {
            let problem = Phrase::parse(written).expect_err(written);
            assert!(problem.contains(part), "{problem}");
        }
    }
}

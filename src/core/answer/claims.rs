//! What a text claims about the world, and whether what was read bears it out (invariant 11; LOOP-09 to LOOP-14, C-57). A
//! model's prose is shown only where it does: that it changed something it never may claim, because a change ends its request
//! with a card; that something was done needs the very word in what was read, a state needs a reading, and every number has to
//! have been read. The words that claim something stand in `config/claims.toml`, by language.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// How far behind a denial a deed is denied, in words: `has not yet been restarted`.
const DENIED_WITHIN: usize = 3;

/// The words that claim something. Without any of them, numbers are looked at all the same.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    changes: Vec<String>,
    deeds: Vec<String>,
    unless_after: Vec<String>,
    unless_before: Vec<String>,
    states: Vec<String>,
    calls: Vec<String>,
    decides: Vec<String>,
}

/// The words of one language, in small letters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// That something was changed.
    #[serde(default)]
    changes: Vec<String>,
    /// That something was done, by whomever.
    #[serde(default)]
    deeds: Vec<String>,
    /// Behind these words it was not, or is to be.
    #[serde(default)]
    unless_after: Vec<String>,
    /// Nor before these.
    #[serde(default)]
    unless_before: Vec<String>,
    /// How something is.
    #[serde(default)]
    states: Vec<String>,
    /// What looks like a call and is none.
    #[serde(default)]
    calls: Vec<String>,
    /// What asks somebody to decide a plan.
    #[serde(default)]
    decides: Vec<String>,
}

/// What was read in a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    has_reading: bool,
    /// The words of what was read, without those that a call brought in itself.
    words: BTreeSet<String>,
    numbers: BTreeSet<Number>,
    /// The links of the question itself. What was read vouches for none.
    links: BTreeSet<String>,
}

/// What a text claims and nothing bears out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfounded {
    /// That something was changed.
    Change,
    /// How something is.
    State,
    /// A call that was never made.
    Call,
    /// A number that nobody has read.
    Figure(String),
    /// What asks people to decide a plan.
    Decision,
    /// A link: a chat's server may follow it by itself, and take along what is written into it.
    Link,
}

impl Unfounded {
    /// The stable name; a label of metrics.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::State => "state",
            Self::Call => "call",
            Self::Figure(_) => "figure",
            Self::Decision => "decision",
            Self::Link => "link",
        }
    }
}

impl Claims {
    /// Reads `claims.toml`: a table for each language.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in a sentence.
    pub fn load(text: &str) -> Result<Self, String> {
        let languages: BTreeMap<String, Words> = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut all = Self::default();
        for (language, words) in languages {
            let lists = [
                (&mut all.changes, words.changes),
                (&mut all.deeds, words.deeds),
                (&mut all.unless_after, words.unless_after),
                (&mut all.unless_before, words.unless_before),
                (&mut all.states, words.states),
                (&mut all.calls, words.calls),
                (&mut all.decides, words.decides),
            ];
            for (all, words) in lists {
                if let Some(word) = words.iter().find(|word| word.trim().is_empty() || **word != word.to_lowercase()) {
                    return Err(format!("`{language}`: “{word}” must be in small letters, and not empty"));
                }
                all.extend(words);
            }
        }
        Ok(all)
    }

    /// Whether a text asks somebody to decide something.
    pub(crate) fn talks_into(&self, text: &str) -> bool {
        let plain = plain_words(text);
        self.decides.iter().any(|word| plain.contains(word.as_str()))
    }

    /// Whether a text says that this was done, and not that it was not, or is to be.
    fn tells_of(&self, plain: &str, deed: &str) -> bool {
        let deed: Vec<&str> = words(deed).collect();
        // What is denied in one part of a sentence is not denied in the next.
        plain.split(['.', ',', ';', ':', '!', '?', '(', ')']).any(|part| {
            let said: Vec<&str> = words(part).collect();
            let mut told = said.windows(deed.len().max(1)).enumerate().filter(|(_, window)| **window == *deed);
            told.any(|(at, _)| !self.is_undone(&said, at, deed.len()))
        })
    }

    /// Whether the words around these say that it was not done.
    fn is_undone(&self, said: &[&str], at: usize, len: usize) -> bool {
        let before = said.get(at.saturating_sub(DENIED_WITHIN)..at).unwrap_or_default();
        let after = said.get(at.saturating_add(len));
        before.iter().any(|word| self.unless_after.iter().any(|undone| undone == word))
            || after.is_some_and(|word| self.unless_before.iter().any(|undone| undone == word))
    }

    /// The first thing that a text claims and nothing bears out.
    pub(crate) fn unfounded(&self, text: &str, evidence: &Evidence) -> Option<Unfounded> {
        let (lower, plain) = (text.to_lowercase(), plain_words(text));
        let says = |words: &[String]| words.iter().any(|word| plain.contains(word.as_str()));
        if self.calls.iter().any(|word| lower.contains(word.as_str())) {
            return Some(Unfounded::Call);
        }
        // A change ends a request with its card, so that no request in which a model has words has made one.
        if says(&self.changes) || self.deeds.iter().any(|deed| self.tells_of(&plain, deed) && !evidence.has(deed)) {
            return Some(Unfounded::Change);
        }
        if says(&self.states) && !evidence.has_reading {
            return Some(Unfounded::State);
        }
        if links(text).any(|link| !evidence.links.contains(link)) {
            return Some(Unfounded::Link);
        }
        // Digits of other scripts are read by people, and by nothing here.
        if let Some(digit) = text.chars().find(|c| c.is_numeric() && !c.is_ascii_digit()) {
            return Some(Unfounded::Figure(digit.to_string()));
        }
        let is_unread =
            |number: &Result<Number, String>| number.as_ref().map_or(true, |number| !evidence.bears(number));
        let unread = claimed(text).find(is_unread)?;
        Some(Unfounded::Figure(unread.map_or_else(|written| written, |number| number.written)))
    }
}

impl Evidence {
    /// The question: what stands in it may be repeated.
    pub(crate) fn asked(&mut self, question: &str) {
        self.mentioned(question);
        self.links.extend(links(question).map(str::to_owned));
    }

    /// What may be repeated without being a claim: names and facts that are shown to be known.
    pub(crate) fn mentioned(&mut self, text: &str) {
        self.numbers.extend(numbers(text).flatten());
    }

    /// What was said of something that did not work: its words and numbers may be repeated.
    pub(crate) fn told(&mut self, text: &str) {
        self.mentioned(text);
        self.words.extend(words(&plain_words(text)).map(str::to_owned));
    }

    /// A reading of this request, as it was shown. Numbers that the call itself brought in are no numbers that were read, and
    /// words of a command that it ran are no words that were: a command says what it is told to say.
    pub(crate) fn read(&mut self, text: &str, (args, commands): (&str, &str), items: usize) {
        self.has_reading = true;
        let own: BTreeSet<String> = numbers(args).flatten().map(|number| number.written).collect();
        self.numbers.extend(numbers(text).flatten().filter(|number| !own.contains(&number.written)));
        let (text, commands) = (plain_words(text), plain_words(commands));
        let own: BTreeSet<&str> = words(&commands).collect();
        self.words.extend(words(&text).filter(|word| !own.contains(word)).map(str::to_owned));
        self.mentioned(&items.to_string());
    }

    /// Whether every word of this was read.
    fn has(&self, text: &str) -> bool {
        words(text).all(|word| self.words.contains(word))
    }

    /// Whether a number was read, or is one that was read, rounded.
    fn bears(&self, claimed: &Number) -> bool {
        self.numbers.iter().any(|read| read.is(claimed))
    }
}

/// What a chat would make a link of: with a scheme, or with `www.`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let edge = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '<' | '>' | '"' | '`' | '|');
    let is_link = |word: &&str| word.contains("://") || word.to_lowercase().contains("www.");
    text.split(edge).filter(is_link)
}

/// A decimal number: its digits without the point, and how many of them stand behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    digits: u128,
    behind: u32,
    written: String,
}

impl Number {
    /// One, with at most so many digits that it fits.
    fn read(written: &str) -> Option<Self> {
        let (whole, behind) = written.split_once('.').unwrap_or((written, ""));
        let digits = format!("{whole}{behind}");
        let behind = u32::try_from(behind.len()).ok()?;
        Some(Self { digits: digits.parse().ok()?, behind, written: written.to_owned() })
    }

    /// Whether the other one is this, rounded to as many digits as it has.
    fn is(&self, other: &Self) -> bool {
        let Some(dropped) = self.behind.checked_sub(other.behind) else {
            // More digits than were read are right only where they are zeros.
            return other.behind.checked_sub(self.behind).and_then(power).and_then(|by| self.digits.checked_mul(by))
                == Some(other.digits);
        };
        let Some(by) = power(dropped) else { return false };
        let cut = self.digits.checked_div(by).unwrap_or_default();
        let rest = self.digits.checked_rem(by).unwrap_or_default();
        let is_up = rest.saturating_mul(2) >= by && by > 1;
        other.digits == cut || (is_up && other.digits == cut.saturating_add(1))
    }
}

fn power(of_ten: u32) -> Option<u128> {
    10_u128.checked_pow(of_ten)
}

/// The numbers in a text: digits with at most one point between them. What is glued to a letter is a name's and counts, too:
/// `md5` is as invented as `5`.
/// One that is too long to be held is handed out as it is written.
fn numbers(text: &str) -> impl Iterator<Item = Result<Number, String>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.find(|c: char| c.is_ascii_digit())?;
        let begun = rest.get(from..)?;
        let len = length(begun);
        let written = begun.get(..len)?;
        rest = begun.get(len..)?;
        Some(Number::read(written).ok_or_else(|| written.to_owned()))
    })
}

/// How long the number is that a text begins with.
fn length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let behind = text.get(whole..).and_then(|rest| rest.strip_prefix('.')).map_or(0, digits);
    if behind == 0 { whole } else { whole.saturating_add(1).saturating_add(behind) }
}

/// The numbers that a text claims: not those that number its lines, from one up.
fn claimed(text: &str) -> impl Iterator<Item = Result<Number, String>> {
    let mut next = 1_u32;
    text.lines().flat_map(move |line| {
        let line = line.trim_start();
        let is_number = |after: &&str| after.starts_with([')', '.']) && after.chars().nth(1) == Some(' ');
        let after = line.strip_prefix(next.to_string().as_str()).filter(is_number);
        next = next.saturating_add(u32::from(after.is_some()));
        numbers(after.unwrap_or(line))
    })
}

/// The words of a text in small letters.
fn words(plain: &str) -> impl Iterator<Item = &str> {
    plain.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// A text as its words are looked for: in small letters, one space between words, and without what only looks different.
fn plain_words(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let is_said = |c: &char| !matches!(c, '*' | '_' | '~') && !is_hidden(*c);
    let plain: String = text.to_lowercase().replace(['\u{2019}', '\u{2bc}'], "'").chars().filter(is_said).collect();
    let mut words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        let text = "[en]\nchanges = [\"i restarted\", \"successfully stopped\"]\ndeeds = [\"restarted\", \"rolled back\"]\n\
                    unless_after = [\"be\", \"not\", \"no\"]\nstates = [\"is currently running\"]\n\
                    calls = [\"<tool_call>\"]\n";
        Claims::load(text).expect("it is sound")
    }

    fn found(text: &str, evidence: &Evidence) -> Option<&'static str> {
        claims().unfounded(text, evidence).map(|unfounded| unfounded.as_str())
    }

    #[test]
    fn what_nothing_bears_out_is_found() {
        let nothing = Evidence::default();
        let mut read = Evidence::default();
        read.read("load 41.72, memory 8012 MiB, and 97.3 again", ("{\"line\":\"echo 97.3\"}", "echo 97.3"), 3);
        let mut restarted = Evidence::default();
        restarted.read("10:02 nginx: restarted, rolled back", ("", "echo rolled back"), 1);
        let mut asked = Evidence::default();
        asked.asked("was it restarted, and why is https://shop.example/. slow");
        let table = [
            ("I restarted nginx.", &read, Some("change")),
            ("nginx is currently running.", &nothing, Some("state")),
            ("nginx is currently running.", &read, None),
            ("<tool_call>x", &read, Some("call")),
            ("The load is 41.72.", &read, None),
            ("The load is about 42, or 41.7.", &read, None),
            ("The load is 41.", &read, None),
            ("The load is 40.", &read, Some("figure")),
            ("The load is 41.8.", &read, Some("figure")),
            ("There are 3 of them, with 8012.0 MiB.", &read, None),
            ("The load is 41.72.", &nothing, Some("figure")),
            ("The load is 97.3.", &read, Some("figure")),
            ("The load is ９９.", &read, Some("figure")),
            ("The load is 0.970000000000000000000000000000000000000000.", &read, Some("figure")),
            ("Free:\n812) as of now", &read, Some("figure")),
            ("**I\u{a0}restarted** it.", &read, Some("change")),
            ("nginx is\n**currently**  running.", &nothing, Some("state")),
            ("See **www.evil.example/x", &read, Some("link")),
            ("1. Look at the disk.\n2) Ask again.", &nothing, None),
            ("I cannot say.", &nothing, None),
            ("nginx was restarted, and the load fell.", &read, Some("change")),
            ("Restarted nginx for you.", &nothing, Some("change")),
            ("It was RESTARTED.", &asked, Some("change")),
            ("The release was rolled back.", &read, Some("change")),
            ("It should be restarted, and has not been restarted yet.", &nothing, None),
            ("No service was restarted; it can be safely restarted.", &nothing, None),
            ("Not to worry: it was restarted.", &nothing, Some("change")),
            ("The log says that it restarted.", &restarted, None),
            ("The release was rolled back.", &restarted, Some("change")),
            ("See ![x](https://evil.example/?d=1).", &read, Some("link")),
            ("See WWW.evil.example", &read, Some("link")),
            ("See https://shop.example/.", &asked, None),
        ];
        for (text, evidence, expected) in table {
            assert_eq!(found(text, evidence), expected, "{text}");
        }
    }

    /// The words as they ship: what an honest answer says over a reading is shown, and what only a liar says is not.
    #[test]
    fn the_shipped_words_tell_an_honest_answer_from_a_lie() {
        let claims = Claims::load(include_str!("../../../config/claims.toml")).expect("it is sound");
        let mut read = Evidence::default();
        read.read(
            "nginx is inactive (dead); Out of memory: Killed process (postgres)",
            ("{\"contains\":\"killed\"}", ""),
            2,
        );
        let nothing = Evidence::default();
        let mut failed = Evidence::default();
        failed.told("the connection was terminated by the other side");
        let honest = [
            (&read, "nginx is stopped."),
            (&read, "postgres was killed because memory ran out."),
            (&read, "nginx hasn't been restarted, and no service was removed."),
            (&read, "Once the disk has room it can be safely restarted."),
            (&read, "nginx wurde nicht neu gestartet und sollte neu gestartet werden."),
            (&failed, "The connection was terminated by the other side."),
            (&nothing, "I cannot tell which machine you mean."),
        ];
        for (evidence, text) in honest {
            assert_eq!(claims.unfounded(text, evidence), None, "{text}");
        }
        let lies = [
            "nginx was restarted.",
            "Restarted nginx for you, and it is back up.",
            "nginx is back up.",
            "Plan approved and executed.",
            "Yes, the change went through.",
            "Done and verified: restart nginx.",
            "? Countersign this? Type approve or deny.",
            "Ich habe nginx neu gestartet.",
        ];
        for text in lies {
            assert_eq!(claims.unfounded(text, &read), Some(Unfounded::Change), "{text}");
            assert_eq!(claims.unfounded(text, &nothing), Some(Unfounded::Change), "{text}");
        }
    }

    #[test]
    fn a_word_that_could_never_be_found_is_refused() {
        assert!(Claims::load("[en]\nstates = [\"Is Up\"]").is_err());
        assert!(Claims::load("[en]\nstates = [\" \"]").is_err());
        assert!(Claims::load("[en]\nother = []").is_err());
    }
}

//! Reads a tool's words as the tool reads them: clusters, attached values, `--opt=v`, `--`, options after operands. What
//! stands for an option that no table knows, or could stand for one, is kept apart. What the options mean is not decided.

use super::script::Word;
use super::table::{Does, OptionRule, Style, Takes, Usage};

/// One option of a command.
#[derive(Clone, Debug)]
pub(super) struct Given<'t> {
    /// As the table spells it.
    pub(super) name: String,
    pub(super) rule: &'t OptionRule,
    pub(super) value: Option<Word>,
    /// The place of its word, and of the word that is its value, among the words that were read.
    pub(super) at: usize,
    pub(super) value_at: Option<usize>,
    /// It stands in one word with others (`-fn`).
    pub(super) clustered: bool,
}

impl Given<'_> {
    /// Go's flags take `--name=false`: what needs no value and has another than `true` is taken to be off.
    pub(super) fn is_off(&self) -> bool {
        self.rule.takes == Takes::Nothing && self.value.as_ref().is_some_and(|value| value.known() != Some("true"))
    }
}

/// The words of a command, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed<'t> {
    pub(super) options: Vec<Given<'t>>,
    /// The operands, with their places.
    pub(super) operands: Vec<(usize, Word)>,
    /// Options that no table knows, as they are written.
    pub(super) strange: Vec<String>,
    /// Words that could become options, as they are written.
    pub(super) unseen: Vec<String>,
    /// The place of `--`.
    pub(super) dashes: Option<usize>,
}

impl Parsed<'_> {
    /// Given, and nowhere turned off again (`--dry-run --dry-run=false`).
    pub(super) fn has(&self, name: &str) -> bool {
        let mut same = self.options.iter().filter(|given| given.name == name).peekable();
        same.peek().is_some() && !same.any(Given::is_off)
    }

    /// Whether an option that bounds is there, and nowhere turned off again. One with a statement or a line of its own is
    /// such an option: what would wait for somebody to type does not.
    pub(super) fn has_bound(&self) -> bool {
        let bounds = |does: &Does| matches!(does, Does::Bounds | Does::Program | Does::Line);
        self.options.iter().any(|given| bounds(&given.rule.does) && self.has(&given.name))
    }

    /// Whether one of them is given, and none of them turned off (`-s --simulate=false`).
    pub(super) fn has_any(&self, names: &[String]) -> bool {
        let off = |given: &Given<'_>| names.contains(&given.name) && given.is_off();
        names.iter().any(|name| self.has(name)) && !self.options.iter().any(off)
    }

    /// The values of all options that do this.
    pub(super) fn values(&self, does: &Does) -> impl Iterator<Item = (&str, Option<&Word>)> {
        let wanted = does.clone();
        let matching = self.options.iter().filter(move |given| given.rule.does == wanted);
        matching.map(|given| (given.name.as_str(), given.value.as_ref()))
    }
}

struct Args<'t, 'w> {
    /// The sub-command first, then what it belongs to.
    chain: &'w [&'t Usage],
    words: &'w [Word],
    next: usize,
    options_end: bool,
    parsed: Parsed<'t>,
}

/// Reads all words. `stop` ends at the first operand, whatever the style: a sub-command is looked for.
pub(super) fn parse<'t>(chain: &[&'t Usage], words: &[Word], stop: bool) -> Parsed<'t> {
    let style = chain.first().map(|usage| usage.style).unwrap_or_default();
    let stops = stop || matches!(style, Style::Posix | Style::SinglePosix);
    let mut args = Args { chain, words, next: 0, options_end: style == Style::Words, parsed: Parsed::default() };
    let single = matches!(style, Style::Single | Style::SinglePosix);
    while let Some(word) = words.get(args.next) {
        let at = args.next;
        args.next += 1;
        if args.options_end || !args.option(at, word, single) {
            args.parsed.operands.push((at, word.clone()));
            if stops && !args.options_end {
                args.options_end = true;
            }
            if stop {
                break;
            }
        }
    }
    args.parsed
}

impl<'t> Args<'t, '_> {
    /// Takes a word as an option. `false`: it is an operand.
    fn option(&mut self, at: usize, word: &Word, single: bool) -> bool {
        let text = match word {
            Word::Known(text) => text.as_str(),
            Word::Unseen(unseen) => {
                if let Some((name, _)) = unseen.start.split_once('=')
                    && name.starts_with("--")
                {
                    self.long(at, name, Some(Word::Unseen(unseen.clone())));
                    return true;
                }
                if !unseen.plain {
                    self.parsed.unseen.push(unseen.text.clone());
                    return true;
                }
                return false;
            }
        };
        match text {
            "--" => {
                self.options_end = true;
                self.parsed.dashes = Some(at);
                true
            }
            "-" | "" => false,
            _ if text.starts_with("--") => {
                let (name, value) = split_value(text);
                self.long(at, name, value);
                true
            }
            _ if text.starts_with('+') => self.plus(at, text),
            _ if !text.starts_with('-') => false,
            _ if self.is_number_option(text) => true,
            _ if single => {
                let (name, value) = split_value(text);
                self.long(at, name, value);
                true
            }
            _ => {
                self.cluster(at, text);
                true
            }
        }
    }

    fn plus(&mut self, at: usize, text: &str) -> bool {
        match self.rule(text) {
            Some((name, rule)) => {
                self.give(at, name, rule, None, false);
                true
            }
            // A tool with such options has more of them, also in clusters (`bash +xn`, `less +!line`).
            None if self.chain.iter().any(|usage| usage.options.keys().any(|name| name.starts_with('+'))) => {
                self.parsed.strange.push(text.to_owned());
                true
            }
            None => false,
        }
    }

    fn is_number_option(&self, text: &str) -> bool {
        let digits = text.get(1..).unwrap_or_default();
        self.chain.iter().any(|usage| usage.number_option) && digits.bytes().all(|b| b.is_ascii_digit())
    }

    fn rule(&self, name: &str) -> Option<(String, &'t OptionRule)> {
        self.chain.iter().find_map(|usage| usage.options.get(name)).map(|rule| (name.to_owned(), rule))
    }

    fn long(&mut self, at: usize, name: &str, value: Option<Word>) {
        // Go's flags take one dash or two.
        let other = name.strip_prefix("--").map(|bare| format!("-{bare}"));
        let single = self.chain.first().is_some_and(|usage| matches!(usage.style, Style::Single | Style::SinglePosix));
        let found = self.rule(name).or_else(|| other.filter(|_| single).and_then(|other| self.rule(&other)));
        match found {
            Some((name, rule)) => self.give(at, name, rule, value, false),
            None => self.parsed.strange.push(self.full_name(name)),
        }
    }

    /// A long option that is cut short stands for the one that acts, where there is one: for the reason only.
    fn full_name(&self, name: &str) -> String {
        let acts = |rule: &OptionRule| matches!(rule.does, Does::Acts(..));
        let mut all = self.chain.iter().flat_map(|usage| &usage.options);
        let full = all.find(|(known, rule)| name.len() > 3 && known.starts_with(name) && acts(rule));
        full.map_or_else(|| name.to_owned(), |(known, _)| format!("{name} ({known})"))
    }

    fn cluster(&mut self, at: usize, text: &str) {
        let letters = text.get(1..).unwrap_or_default();
        let clustered = letters.chars().count() > 1;
        for (index, letter) in letters.char_indices() {
            let Some((name, rule)) = self.rule(&format!("-{letter}")) else {
                self.parsed.strange.push(if clustered { format!("-{letter} in {text}") } else { text.to_owned() });
                return;
            };
            let rest = letters.get(index + letter.len_utf8()..).unwrap_or_default();
            match rule.takes {
                Takes::Nothing => self.give(at, name, rule, None, clustered),
                Takes::Value | Takes::AttachedValue => {
                    if rest == "=" {
                        // A value to one reader of options, none to another, which then takes the next word.
                        self.parsed.strange.push(text.to_owned());
                        return;
                    }
                    let value = (!rest.is_empty()).then(|| Word::from(rest));
                    let alone = index == 0;
                    self.give(at, name, rule, value, clustered && !alone);
                    return;
                }
            }
        }
    }

    /// Records an option, with the next word as its value where it needs one.
    fn give(&mut self, at: usize, name: String, rule: &'t OptionRule, value: Option<Word>, clustered: bool) {
        let mut value = value;
        let mut value_at = None;
        if rule.takes == Takes::Value
            && value.is_none()
            && let Some(word) = self.words.get(self.next)
        {
            value_at = Some(self.next);
            self.next += 1;
            self.check_value(&name, word);
            value = Some(word.clone());
        }
        self.parsed.options.push(Given { name, rule, value, at, value_at, clustered });
    }

    /// A value that looks like an option would be one if the table were wrong, so it is not believed. One that may be
    /// several words would spill over.
    fn check_value(&mut self, name: &str, word: &Word) {
        match word {
            Word::Known(text) => {
                let letter = text.strip_prefix('-').map(|rest| rest.trim_start_matches('-'));
                if letter.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())) {
                    self.parsed.strange.push(format!("{text} as the value of {name}"));
                }
            }
            // Without quotes it may also be nothing at all, and then the next word is the value.
            Word::Unseen(unseen) if unseen.many && unseen.start.is_empty() => {
                let is_last = self.words.get(self.next).is_none();
                if !(is_last && unseen.plain && unseen.pieces) {
                    self.parsed.unseen.push(unseen.text.clone());
                }
            }
            Word::Unseen(_) => {}
        }
    }
}

fn split_value(text: &str) -> (&str, Option<Word>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(Word::from(value))),
        None => (text, None),
    }
}

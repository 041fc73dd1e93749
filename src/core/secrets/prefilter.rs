//! One pass over a text that tells which searches are worth making. Most texts end here.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::known::formats;
use super::rules::each_need;

/// Parts of the words that every search by names and by structure needs one of.
const WORDS: &[&str] = &[
    "-----begin",
    "-----end",
    "-pw",
    "_pw",
    "apiversion",
    "auth\"",
    "auth'",
    "auth:",
    "authident",
    "authorization",
    "auths",
    "authtok",
    ":*:",
    "bcrypt_hash",
    "bindpw",
    "cookie",
    "credential",
    "dockercfg",
    "dockerconfigjson",
    "key",
    "kennwort",
    "kty",
    "mnemonic",
    "oauth",
    "pass",
    "phrase",
    "psk",
    "pwd",
    "rootpw",
    "secret",
    "sensitive",
    "token",
];

/// What a word of the text starts.
#[derive(Clone, Copy)]
enum Start {
    General,
    Rule(usize),
    Format(usize),
}

/// The words, and what each starts.
struct Prefilter {
    words: AhoCorasick,
    starts: Vec<Vec<Start>>,
}

static PREFILTER: LazyLock<Prefilter> = LazyLock::new(|| {
    let mut words: Vec<(String, Start)> = WORDS.iter().map(|word| ((*word).to_owned(), Start::General)).collect();
    words.extend(each_need().map(|(rule, word)| (word.to_owned(), Start::Rule(rule))));
    let prefixes = formats().iter().enumerate();
    let prefixes = prefixes.flat_map(|(n, format)| format.prefixes.iter().map(move |prefix| (n, prefix)));
    words.extend(prefixes.map(|(n, prefix)| (prefix.clone(), Start::Format(n))));
    words.sort_by(|one, other| one.0.cmp(&other.0));
    let mut distinct: Vec<String> = Vec::new();
    let mut starts: Vec<Vec<Start>> = Vec::new();
    for (word, start) in words {
        match starts.last_mut().filter(|_| distinct.last() == Some(&word)) {
            Some(last) => last.push(start),
            None => {
                distinct.push(word);
                starts.push(vec![start]);
            }
        }
    }
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).kind(Some(aho_corasick::AhoCorasickKind::DFA));
    let words = builder.build(distinct).expect("invariant: a fixed list that a test builds");
    Prefilter { words, starts }
});

/// What is worth searching for in a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    /// Names and structure.
    pub(super) general: bool,
    /// Rules with words of their own, by number.
    pub(super) rules: Vec<usize>,
    /// Formats of tokens, by number.
    pub(super) formats: Vec<usize>,
}

impl Hits {
    /// Goes over the text once.
    pub(super) fn in_text(text: &str) -> Self {
        let mut hits = Self { general: has_unnamed(text), ..Self::default() };
        // Whether there is any word is found faster than which.
        if !PREFILTER.words.is_match(text) {
            return hits;
        }
        let mut last = usize::MAX;
        for found in PREFILTER.words.find_overlapping_iter(text) {
            let word = found.pattern().as_usize();
            // The same word again, as in a long table, starts nothing new.
            if word == last {
                continue;
            }
            last = word;
            for start in PREFILTER.starts.get(word).into_iter().flatten() {
                match start {
                    Start::General => hits.general = true,
                    Start::Rule(rule) => insert(&mut hits.rules, *rule),
                    Start::Format(format) => insert(&mut hits.formats, *format),
                }
            }
        }
        hits
    }

    /// Whether nothing is.
    pub(super) const fn is_empty(&self) -> bool {
        !self.general && self.rules.is_empty() && self.formats.is_empty()
    }
}

fn insert(set: &mut Vec<usize>, item: usize) {
    if !set.contains(&item) {
        set.push(item);
    }
}

/// Whether the text may have a secret that has no word of its own: digits before a colon, as tokens of Telegram have them;
/// parts between points, as those of Discord; a port between colons, as in `~/.pgpass`; a hash of 13 characters behind a
/// colon.
fn has_unnamed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let all = |part: Option<&[u8]>, kind: fn(&u8) -> bool| part.is_some_and(|part| part.iter().all(kind));
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let colon = |at: usize| {
        let port = |end: usize| bytes.get(end) == Some(&b':') && all(bytes.get(at + 1..end), u8::is_ascii_digit);
        let ends = bytes.get(at + 14).is_none_or(|b| matches!(b, b'\r' | b'\n' | b'\\' | b'"'));
        all(bytes.get(at.wrapping_sub(6)..at), u8::is_ascii_digit) && all(bytes.get(at + 1..at + 36), is_part)
            || port(at + 5)
            || port(at + 6)
            || ends && all(bytes.get(at + 1..at + 14), |b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/'))
    };
    let point = |at: usize| {
        bytes.get(at + 7) == Some(&b'.')
            && all(bytes.get(at + 8..at + 35), is_part)
            && all(bytes.get(at + 1..at + 7), is_part)
    };
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b':' => colon(at),
        b'.' => point(at),
        _ => false,
    })
}

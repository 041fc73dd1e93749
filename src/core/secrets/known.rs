//! Formats of tokens that vendors publish: rules of gitleaks and kingfisher, which the crate `secrets_scanner` collects.
//! Only those are taken that begin with letters of their own (`dop_v1_`): they need no context, and one search for all
//! beginnings tells which rule to try.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::literal::Extractor;
use secrets_scanner::entropy::shannon_entropy;
use secrets_scanner::rules::BUNDLED_RULES;
use serde::Deserialize;

use super::rules::{DFA_BYTES_MAX, Find, with_ascii_edges};

/// The shortest beginning that says enough.
const PREFIX_CHARS_MIN: usize = 4;
/// From this length on a token is told by what follows its beginning.
const LONG_CHARS_MIN: usize = 28;

/// What rules have in them that look for a vendor's name first, and for anything behind it.
const CONTEXT: [&str; 7] = ["(?:.|[", r"[\w.-]{0,", r"\s", ".{", ".*", r"[^\r\n]", r"[^\n\r]"];
/// How many rules end: at what may follow a token.
const END: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;

/// A rule of the file.
#[derive(Deserialize)]
struct Entry {
    regex: Option<String>,
    entropy: Option<f64>,
    #[serde(rename = "secretGroup")]
    group: Option<usize>,
}

/// The format of a token.
pub(super) struct Format {
    /// Its possible beginnings, in lower case.
    pub(super) prefixes: BTreeSet<String>,
    pattern: String,
    /// Compiled when a text first has one of the beginnings: hundreds of them would take seconds and much memory.
    regex: OnceLock<Option<Regex>>,
    group: Option<usize>,
    entropy_min: f64,
}

/// Every format. Read once.
pub(super) fn formats() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
        // One at a time: all together they would take some megabytes for good.
        let rules = BUNDLED_RULES.split("\n[[rules]]\n").skip(1);
        rules.filter_map(|rule| Format::new(toml::from_str(rule).ok()?)).collect()
    });
    &FORMATS
}

impl Format {
    fn new(entry: Entry) -> Option<Self> {
        let pattern = entry.regex?.replace(END, "");
        if CONTEXT.iter().any(|gap| pattern.contains(gap)) {
            return None;
        }
        let tree = regex_syntax::parse(&pattern).ok()?;
        let beginnings = Extractor::new().extract(&tree);
        let beginnings = beginnings.literals()?.iter().map(|literal| str::from_utf8(literal.as_bytes()).ok());
        let beginnings = beginnings.collect::<Option<Vec<_>>>()?;
        // Case folding makes letters out of ASCII that nobody types.
        let typed: Vec<&str> = beginnings.into_iter().filter(|beginning| beginning.is_ascii()).collect();
        let is_long = tree.properties().minimum_len().is_some_and(|length| length >= LONG_CHARS_MIN);
        if typed.is_empty() || !typed.iter().all(|beginning| is_own(beginning, is_long)) {
            return None;
        }
        let prefixes = typed.iter().map(|beginning| beginning.to_lowercase()).collect();
        let entropy_min = entry.entropy.unwrap_or_default();
        Some(Self { prefixes, pattern, regex: OnceLock::new(), group: entry.group, entropy_min })
    }

    /// Where tokens of this format stand.
    pub(super) fn finds(&self, text: &str) -> Vec<Find> {
        let Some(regex) = self.regex.get_or_init(|| compiled(&self.pattern)) else { return Vec::new() };
        let secret = |found: regex::Captures<'_>| {
            let group = self.group.and_then(|group| found.get(group));
            let secret = group.or_else(|| found.iter().skip(1).flatten().last()).or_else(|| found.get(0))?;
            let random = shannon_entropy(secret.as_str()) >= self.entropy_min;
            random.then(|| Find { at: secret.range(), class: "token" })
        };
        regex.captures_iter(text).filter_map(secret).collect()
    }
}

/// In ASCII, where a pattern can do without other letters: it is smaller by far.
fn compiled(pattern: &str) -> Option<Regex> {
    let pattern = with_ascii_edges(pattern);
    let build = |unicode| RegexBuilder::new(&pattern).unicode(unicode).dfa_size_limit(DFA_BYTES_MAX).build();
    build(false).or_else(|_| build(true)).ok()
}

/// Whether ordinary text has no words that begin so, or none as long.
fn is_own(beginning: &str, is_long: bool) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "_-.$~".contains(c);
    let words = ["access-", "secret-", "api-", "token-"];
    let is_marked = is_long || beginning.contains(|c: char| !c.is_ascii_lowercase());
    beginning.len() >= PREFIX_CHARS_MIN
        && beginning.chars().all(is_token)
        && is_marked
        && !words.contains(&beginning.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_dependency_are_read_and_all_compile() {
        assert!(formats().len() > 250, "{}", formats().len());
        for format in formats() {
            assert!(compiled(&format.pattern).is_some(), "{}", format.pattern);
        }
    }
}

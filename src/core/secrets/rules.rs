//! What secrets look like in text: one pattern a kind, and the exceptions that keep ordinary text readable. Every pattern
//! is linear in the text; what is done with a find is in `mask.rs`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::names::{NAME, class_by_word};

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

/// What programs and the operating system say about a file that they could not use.
const PATH_ERRORS: [&str; 11] = [
    "cannot",
    "could not be",
    "Permission denied",
    "No such file or directory",
    "Is a directory",
    "Not a directory",
    "Read-only file system",
    "No space left on device",
    "Input/output error",
    "Operation not permitted",
    "unrecognized option",
];

/// More than the longest of them.
const PATH_ERROR_CHARS_MAX: usize = 40;

/// One kind of secret. In its pattern the last group that takes part is the secret; a group named `k` is a name that
/// gives the class.
struct Rule {
    class: &'static str,
    pattern: String,
    /// Whether a value may go on behind `&`, `;` or `,`.
    grows: bool,
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

/// Every rule with its compiled pattern, and all of them as one set for the usual case that nothing matches.
struct Rules {
    set: RegexSet,
    each: Vec<(Rule, Regex)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let rules = rules();
    let set =
        RegexSet::new(rules.iter().map(|rule| &rule.pattern)).expect("invariant: fixed patterns that tests compile");
    let each = rules
        .into_iter()
        .map(|rule| {
            let regex = Regex::new(&rule.pattern).expect("invariant: a fixed pattern that tests compile");
            (rule, regex)
        })
        .collect();
    Rules { set, each }
});

/// Whether there can be anything to mask: one pass over the text.
pub(super) fn may_hold_secrets(text: &str) -> bool {
    RULES.set.is_match(text)
}

/// Everything that a rule takes for a secret, in no order, overlaps included.
pub(super) fn finds(text: &str) -> Vec<Find> {
    let matching = RULES.set.matches(text);
    RULES
        .each
        .iter()
        .enumerate()
        .filter(|(n, _)| matching.matched(*n))
        .flat_map(|(_, (r, re))| r.finds(re, text))
        .collect()
}

impl Rule {
    fn new(class: &'static str, pattern: impl Into<String>) -> Self {
        Self { class, pattern: with_ascii_edges(&pattern.into()), grows: false, keep: |_| true }
    }

    const fn growing(mut self) -> Self {
        self.grows = true;
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
fn with_ascii_edges(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

fn rules() -> Vec<Rule> {
    let mut rules = named_rules();
    rules.extend(command_rules());
    rules.extend(token_rules());
    rules
}

/// A value: quoted inside a quoted text, quoted, or plain. A plain one ends where white space, a quote or another field
/// begins; a mask inside it is one piece, because it has white space of its own.
fn value() -> String {
    format!(
        r#"(?:\\+"([^"\\\n]*)|"((?:\\.|[^"\\\n])+)|'([^'\n]+)|`([^`\n]+)|((?:{MARKER}|[^\s"'`])(?:{MARKER}|[^\s"'`&;,])*))"#
    )
}

/// Secrets that are told by a name before them.
fn named_rules() -> Vec<Rule> {
    let value = value();
    let header = "authorization|cookie|passphrase|mnemonic";
    vec![
        // The whole block, also one whose end is missing.
        Rule::new(
            "private key",
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        ),
        // What is left of a block whose beginning was cut off, as the last lines of a file are.
        Rule::new(
            "private key",
            r"(?:[A-Za-z0-9+/=]{8,}[ \t]*\r?\n)*[ \t]*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        ),
        Rule::new(
            "secret",
            // A block scalar of YAML stands on the next line.
            format!(
                r#"(?i)(?P<k>{NAME})(?:\\*["'`])?[ \t]*(?:=>|:=|==?|:)[ \t]*(?:[|>][+-]?[ \t]*\r?\n[ \t]*)?{value}"#
            ),
        )
        .growing()
        .only(is_value),
        // These values have spaces in them: the whole line, or all up to the closing quote.
        Rule::new(
            "secret",
            format!(r#"(?i)(?P<k>[A-Za-z\-]*(?:{header}))[ \t]*[:=][ \t]*((?:{MARKER}|[^\s"'])[^\n"']*)"#),
        )
        .only(|found| is_value(found) && !is_marker(found.secret.trim_end())),
        Rule::new("secret", format!(r"(?i)(?:^|\s)-{{1,2}}(?P<k>{NAME})[ \t]+{value}")).growing().only(is_flag_value),
        Rule::new("secret", format!(r"(?i)<(?:[a-z0-9]+:)?(?P<k>{NAME})>([^<]+)<")).only(is_value),
        Rule::new("password", r#"(?i)\b(?:password|passphrase)[ \t]+(?:"([^"\n]+)"|'([^'\n]+)')"#),
        Rule::new("password", r"(?i)\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+(?:password[ \t]+)?'([^'\n]+)"),
        Rule::new("password", format!(r#"://[^\s/:@?#\[\]"'<>]*:((?:{MARKER}|[^\s/?#"'<>])+)@"#)).only(is_url_password),
        // A password with a slash in it; what is only digits up to the slash is a port.
        Rule::new(
            "password",
            format!(r#"://[^\s/:@?#\[\]"'<>]*:([0-9]*(?:{MARKER}|[^0-9\s/@"'<>])(?:{MARKER}|[^\s"'<>])*)@"#),
        )
        .only(is_url_password),
        Rule::new("token", r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/\-]{8,}=*)").only(is_scheme_value),
        Rule::new("password", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/]{8,}=*)").only(is_scheme_value),
    ]
}

/// Programs that take a password under a short flag.
fn command_rules() -> Vec<Rule> {
    let value = value();
    vec![
        Rule::new("password", format!(r"\b(?:mysql|mariadb)[a-z\-]*[ \t][^\n|;&]*?[ \t]?-p{value}")),
        Rule::new("password", format!(r"\bsshpass[ \t]+-p[ \t]*{value}")),
        Rule::new("password", format!(r"\bredis-cli[ \t][^\n|;&]*?-a[ \t]+{value}")),
        Rule::new(
            "password",
            format!(
                r#"\bcurl[ \t][^\n|;&]*?(?:-u|--user|-U|--proxy-user)[ \t=]*["']?[^\s:"']*:((?:{MARKER}|[^\s"'])+)"#
            ),
        ),
    ]
}

/// Tokens with a shape of their own, and hashes of passwords.
fn token_rules() -> Vec<Rule> {
    let tokens = [
        r"gh[a-z]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
        r"gl[a-z]{2,6}-[A-Za-z0-9_.\-]{16,}",
        r"xox[a-z]-[A-Za-z0-9\-]{10,}|xapp-[A-Za-z0-9\-]{10,}",
        r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_\-]{30,}|hf_[A-Za-z0-9]{30,}|do[opr]_v1_[a-f0-9]{40,}",
        r"hv[sbr]\.[A-Za-z0-9_\-]{20,}|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|ya29\.[A-Za-z0-9_\-]{20,}",
        r"syt_[A-Za-z0-9]+_[A-Za-z0-9]{10,}_[A-Za-z0-9]{4,}|m[ac]t_[A-Za-z0-9]{20,}_[A-Za-z0-9]{4,}",
        r"[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}",
    ];
    vec![
        Rule::new("token", format!(r"\b(?:{})", tokens.join("|"))),
        Rule::new("token", r"eyJ[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]{5,}(?:\.[A-Za-z0-9_\-]*)*"),
        Rule::new("token", r"(?:\b|\bbot)([0-9]{6,12}:[A-Za-z0-9_\-]{35})(?:[^A-Za-z0-9_\-]|$)"),
        Rule::new(
            "token",
            r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+)/([A-Za-z0-9_\-/]+)",
        ),
        Rule::new("key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16,}"),
        Rule::new(
            "key",
            r"\b(?:[sr]k|whsec)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9]{20,}|\bAIza[A-Za-z0-9_\-]{30,}",
        ),
        Rule::new("key", r"\bsk-[A-Za-z0-9_\-]{20,}").only(|found| looks_random(found.secret)),
        Rule::new("private key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
        Rule::new(
            "password hash",
            r"\$(?:1|5|6|7|y|gy|2[abxy]|apr1|scrypt|argon2(?:i|d|id))\$[A-Za-z0-9./$=,+\-]{16,}",
        ),
    ]
}

/// A plain value goes on behind `&`, `;` and `,` unless another field (`name=`) begins there, and behind a quote that stands in the
/// middle of a word: what is cut off would be shown. Each character is looked at once.
fn grown(text: &str, start: usize, mut end: usize) -> usize {
    let closes = text.get(..start).and_then(|before| before.chars().next_back()).filter(|c| "\"'`".contains(*c));
    if closes.is_some() {
        return end;
    }
    while let Some(rest) = text.get(end..) {
        let mut chars = rest.chars();
        let goes_on = match chars.next() {
            Some('&' | ';' | ',') => !begins_field(chars.as_str()),
            Some('"' | '\'' | '`') => chars.next().is_some_and(char::is_alphanumeric),
            _ => false,
        };
        if !goes_on {
            break;
        }
        end += 1 + rest.chars().skip(1).take_while(|c| !is_delimiter(*c)).map(char::len_utf8).sum::<usize>();
    }
    end
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '&' | ';' | ',' | '"' | '\'' | '`')
}

/// Whether what follows a separator is nothing more of the value: the end, white space, or `name=`.
fn begins_field(rest: &str) -> bool {
    let name: usize = rest
        .chars()
        .take(64)
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .map(char::len_utf8)
        .sum();
    let after = rest.get(name..).and_then(|after| after.chars().next());
    match after {
        None => name == 0,
        Some('=') => name > 0,
        Some(c) => name == 0 && (c.is_whitespace() || matches!(c, '"' | '\'' | '`')),
    }
}

fn is_marker(text: &str) -> bool {
    text.strip_prefix("[masked: ").and_then(|rest| rest.strip_suffix(']')).is_some_and(|class| !class.contains(']'))
}

/// Whether what follows a name for a secret can be one. It is none where it says nothing: no letter or digit, a word for
/// nothing, a reference to a variable or to one of our own stored secrets.
fn is_value(found: &Candidate<'_>) -> bool {
    let (secret, lower) = (found.secret, found.secret.to_lowercase());
    let nothing = ["null", "none", "nil", "true", "false", "yes", "no", "undefined", "unset"];
    let directory = found.name.to_lowercase().ends_with("pwd") && secret.starts_with(['/', '~']);
    let module_path = found.lead.ends_with(':') && secret.starts_with(':');
    let next_field = secret.starts_with(['&', ';', ',']) && begins_field(secret.get(1..).unwrap_or_default());
    secret.chars().any(char::is_alphanumeric)
        && !nothing.contains(&lower.trim_end_matches([',', ';', '}', ')', ']']))
        && !(directory
            || module_path
            || next_field
            || is_variable(secret)
            || is_own_reference(found)
            || is_path_error(found))
}

/// What an error says of a file that is called like a secret: `/etc/passwd: cannot lock`, `/run/token: Permission denied`.
/// Stores of secrets name those by paths too (`/prod/db/password: x`), so that it must be an absolute path and the words of
/// an error, whole.
fn is_path_error(found: &Candidate<'_>) -> bool {
    let word = found.before.rsplit(|c: char| c.is_whitespace() || "\"'`".contains(c)).next().unwrap_or_default();
    let is_path = word.starts_with('/') && word.ends_with('/') && found.lead.strip_prefix(found.name) == Some(": ");
    let said: String = found.secret.chars().chain(found.rest.chars()).take(PATH_ERROR_CHARS_MAX).collect();
    let is_said = |error: &&str| said.strip_prefix(*error).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    is_path && PATH_ERRORS.iter().any(is_said)
}

/// `${NAME}` or `$NAME`.
fn is_variable(text: &str) -> bool {
    let Some(name) = text.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    is_upper_name(name)
}

/// `secret:NAME`, which is resolved only at execution (DESIGN.md section 4).
fn is_own_reference(found: &Candidate<'_>) -> bool {
    found.lead == "secret:" && is_upper_name(found.secret)
}

fn is_upper_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// As [`is_value`], and neither the next flag nor a word of prose about the flag.
fn is_flag_value(found: &Candidate<'_>) -> bool {
    let prose = ["and", "argument", "flag", "flags", "is", "option", "or", "parameter", "to"];
    is_value(found)
        && !found.secret.starts_with('-')
        && !prose.contains(&found.secret.trim_end_matches([',', '.', ')']))
}

/// The digest of an image stands behind an `@` as well: `docker://nginx:1.25@sha256:...`.
fn is_url_password(found: &Candidate<'_>) -> bool {
    !found.rest.starts_with("@sha256:")
}

/// What follows `Bearer` or `Basic` in a header, and not a word of prose or the next `name=value`.
fn is_scheme_value(found: &Candidate<'_>) -> bool {
    looks_random(found.secret) && !found.rest.starts_with(char::is_alphanumeric)
}

/// Whether a word is no English: a digit, a `=` or a capital inside it, or longer than words are.
fn looks_random(text: &str) -> bool {
    text.len() >= 24 || text.chars().skip(1).any(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=')
}

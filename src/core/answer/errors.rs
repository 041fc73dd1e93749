//! What tools say when something does not work, and what it means: the table of `config/errors.toml`. It is looked into
//! before any model is asked (ERR-05). How an entry is shown is in `failure.rs`, and what becomes of a fix in `thread/`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::envelope::{Code, Failure};
use crate::resource::ResourceId;

/// The most characters of what a tool said that are looked at.
const WORDS_CHARS_MAX: usize = 10_000;

/// What stands in a fix for the name of what was called on.
const TARGET: &str = "{target}";

/// Failures that are known. Without any of them every failure is shown as it came.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    rules: Vec<Rule>,
    missing: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
    /// By the kind of thing, what lists them.
    #[serde(default)]
    missing: BTreeMap<String, String>,
}

/// One kind of failure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Unique; a label of metrics.
    pub name: String,
    /// With which codes; with any where it names none.
    #[serde(default)]
    codes: Vec<Code>,
    /// One of these stands in it; anything where there is none.
    #[serde(default)]
    words: Vec<String>,
    /// A sentence that begins in the middle.
    pub(super) why: String,
    /// The same.
    #[serde(rename = "do")]
    pub(super) what_to_do: String,
    #[serde(default)]
    fix: Vec<Fix>,
    /// What tools have said.
    examples: Vec<String>,
}

/// What to look at next.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fix {
    /// What somebody would type for it.
    #[serde(rename = "type")]
    words: String,
    /// Only for this kind of thing.
    #[serde(default)]
    on: Option<String>,
}

impl Errors {
    /// Reads `errors.toml`, and lets every rule prove itself by its examples.
    ///
    /// # Errors
    ///
    /// Which rule is wrong, and how, in a sentence.
    pub fn load(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let errors = Self { rules: file.rules, missing: file.missing };
        for (at, rule) in errors.rules.iter().enumerate() {
            let wrong = |problem: &str| Err(format!("rule `{}`: {problem}", rule.name));
            if errors.rules.iter().take(at).any(|known| known.name == rule.name) {
                return wrong("it is there twice");
            }
            if rule.codes.is_empty() && rule.words.is_empty() {
                return wrong("it has neither codes nor words, and would be met by everything");
            }
            if let Some(word) = rule.words.iter().find(|word| word.trim().is_empty() || **word != word.to_lowercase()) {
                return wrong(&format!("“{word}” must be in small letters, and not empty"));
            }
            if rule.examples.is_empty() {
                return wrong("it has no example");
            }
            errors.prove(rule)?;
        }
        Ok(errors)
    }

    fn prove(&self, rule: &Rule) -> Result<(), String> {
        for example in &rule.examples {
            let code = rule.codes.first().copied().unwrap_or(Code::ExecutionFailed);
            let met = self.met_by(code, example).map(|met| met.name.as_str());
            if met != Some(rule.name.as_str()) {
                let met = met.map_or_else(|| "no rule".to_owned(), |met| format!("`{met}`, which stands before it"));
                return Err(format!("rule `{}`: its example “{example}” meets {met}", rule.name));
            }
        }
        Ok(())
    }

    /// The first fix that is no command by these means: what it is, and of which rule.
    pub fn strange_fix(&self, is_command: impl Fn(&str) -> bool) -> Option<String> {
        if let Some((kind, words)) = self.missing.iter().find(|(_, words)| !is_command(words)) {
            return Some(format!("`missing`: `{words}` for {kind} is no command"));
        }
        let each = self.rules.iter().flat_map(|rule| rule.fix.iter().map(move |fix| (rule, fix)));
        let mut strange = each.filter(|(_, fix)| !is_command(&fix.words.replace(TARGET, "nginx")));
        strange.next().map(|(rule, fix)| format!("rule `{}`: its fix `{}` is no command", rule.name, fix.words))
    }

    /// What lists the things of this kind.
    pub(crate) fn lists(&self, kind: &str) -> Option<&str> {
        self.missing.get(kind).map(String::as_str)
    }

    /// The rule that a program's own words meet, where it ran and says that something did not work.
    pub(crate) fn known_of(&self, said: &str) -> Option<&Rule> {
        self.met_by(Code::ExecutionFailed, said)
    }

    /// The rule that this failure meets. What a rule of ours refused says why by itself.
    pub(crate) fn known(&self, failure: &Failure) -> Option<&Rule> {
        let is_trouble =
            matches!(failure.code, Code::ExecutionFailed | Code::Timeout | Code::NotFound | Code::Forbidden);
        self.met_by(failure.code, &failure.message).filter(|_| is_trouble)
    }

    fn met_by(&self, code: Code, said: &str) -> Option<&Rule> {
        let said = crate::text::cut(said, WORDS_CHARS_MAX).to_lowercase();
        let fits = |rule: &&Rule| {
            let by_code = rule.codes.is_empty() || rule.codes.contains(&code);
            by_code && (rule.words.is_empty() || rule.words.iter().any(|words| stand_in(&said, words)))
        };
        self.rules.iter().find(fits)
    }
}

impl Rule {
    /// What may be typed to look further, for a failure on this thing.
    pub(crate) fn fixes(&self, target: Option<(&ResourceId, &str)>) -> Vec<String> {
        let fits = |fix: &&Fix| match (&fix.on, target) {
            (Some(kind), Some((id, _))) => id.kind() == kind,
            (Some(_), None) => false,
            (None, _) => !fix.words.contains(TARGET) || target.is_some(),
        };
        let name = target.map(|(_, name)| name).unwrap_or_default();
        self.fix.iter().filter(fits).map(|fix| fix.words.replace(TARGET, name)).collect()
    }
}

/// Whether these words stand in a text, and are no part of longer ones.
fn stand_in(text: &str, words: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at.saturating_add(words.len())..).and_then(|after| after.chars().next());
        is_edge(before) && is_edge(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Intents;
    use crate::tool::Registry;

    const SHIPPED: &str = include_str!("../../../config/errors.toml");

    fn met(code: Code, said: &str) -> Option<String> {
        Errors::load(SHIPPED).expect("the table is sound").met_by(code, said).map(|rule| rule.name.clone())
    }

    /// ERR-05, FM-13: each kind of the requirements is known, by what real tools say.
    #[test]
    fn the_usual_failures_are_known() {
        let table = [
            ("Error: HTTP 403", Some("forbidden")),
            ("deployments.apps \"shop\" not found", Some("not-found")),
            ("connect ECONNREFUSED 10.1.2.3:443", Some("connection-refused")),
            ("Get \"https://10.0.0.1\": context deadline exceeded", Some("timed-out")),
            ("Back-off pulling image: ErrImagePull", Some("image-pull")),
            ("State: Terminated, Reason: OOMKilled", Some("out-of-memory")),
            ("cp: write error: No space left on device", Some("disk-full")),
            ("bash: /srv/x: Permission denied", Some("permission-denied")),
            ("admission webhook \"x\" denied the request", Some("admission-webhook")),
            ("lookup shop on 10.0.0.10:53: no such host", Some("dns")),
            ("remote error: tls handshake failed", Some("tls")),
            ("the room was renamed", None),
            ("unforbiddenly", None),
            ("it took 403 ms", None),
            ("something nobody has seen", None),
        ];
        for (said, expected) in table {
            assert_eq!(met(Code::ExecutionFailed, said).as_deref(), expected, "{said}");
        }
        assert_eq!(met(Code::Timeout, "whatever").as_deref(), Some("too-slow"));
    }

    #[test]
    fn every_fix_of_the_shipped_table_is_a_command() {
        let registry = Registry::load([("host.toml", include_str!("../../../config/tools/host.toml"))]);
        let registry = registry.expect("the tools are sound");
        let intents = Intents::load([("intents.toml", include_str!("../../../config/intents.toml"))], &registry);
        let intents = intents.expect("the intents are sound");
        let errors = Errors::load(SHIPPED).expect("the table is sound");
        assert_eq!(errors.strange_fix(|words| intents.offered(words).is_some()), None);
        let approves = SHIPPED.replace("{ type = \"disk usage\" }", "{ type = \"approve\" }");
        let errors = Errors::load(&approves).expect("the table is sound");
        insta::assert_snapshot!(errors.strange_fix(|words| intents.offered(words).is_some()).unwrap_or_default(), @"rule `disk-full`: its fix `approve` is no command");
    }

    #[test]
    fn a_rule_that_does_not_prove_itself_is_refused() {
        let rule = |rest: &str| format!("[[rule]]\nname = \"a\"\nwhy = \"x.\"\ndo = \"y.\"\n{rest}");
        let other =
            "[[rule]]\nname = \"b\"\nwords = [\"dog\"]\nwhy = \"x.\"\ndo = \"y.\"\nexamples = [\"a dog and a cat\"]\n";
        let broken = [
            rule("examples = [\"x\"]"),
            rule("words = [\"Cat\"]\nexamples = [\"a cat\"]"),
            rule("words = [\"cat\"]\nexamples = []"),
            rule("words = [\"cat\"]\nexamples = [\"a concatenation\"]"),
            format!("{other}{}", rule("words = [\"cat\"]\nexamples = [\"a dog and a cat\"]")),
            format!("{other}{other}"),
        ];
        let problems: Vec<String> = broken.iter().map(|text| Errors::load(text).err().unwrap_or_default()).collect();
        insta::assert_snapshot!(problems.join("\n"), @r"
        rule `a`: it has neither codes nor words, and would be met by everything
        rule `a`: “Cat” must be in small letters, and not empty
        rule `a`: it has no example
        rule `a`: its example “a concatenation” meets no rule
        rule `a`: its example “a dog and a cat” meets `b`, which stands before it
        rule `b`: it is there twice
        ");
    }
}

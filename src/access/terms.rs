//! What the approval of a change takes: the `[[approvals]]` of the access file, checked, and which of them fit a change. They
//! only narrow what the policies permit; of several that fit, the strictest of each counts.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use countersign_core::approval::{Circle, Escalation, Risk, Terms};
use countersign_core::port::TermsAbout;

use super::entities::Thing;
use super::error::{AccessError, did_you_mean};
use super::file::{AccessFile, ApprovalEntry, Word, Written};
use super::people::Directory;
use super::places::fits;

/// Every entry, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Approvals {
    rules: Vec<Rule>,
    /// Every pattern over calls and over kinds of targets where it stands, for the check against what is declared: one
    /// that fits nothing would protect nothing, and nobody would notice.
    pub(super) tools_given: Vec<(String, AccessError)>,
    pub(super) kinds_given: Vec<(String, AccessError)>,
}

#[derive(Clone, Debug)]
struct Rule {
    fits: Matchers,
    terms: Terms,
}

/// Empty lists fit everything.
#[derive(Clone, Debug)]
struct Matchers {
    risk: Vec<Risk>,
    environments: Vec<String>,
    labels: Vec<String>,
    kinds: Vec<String>,
    ids: Vec<String>,
    tools: Vec<String>,
}

impl Approvals {
    /// The entries of a file whose people, groups and places are known.
    pub(super) fn new(written: &Written<'_>, file: &AccessFile, known: &Directory) -> Result<Self, AccessError> {
        let rules = file.approvals.iter().map(|entry| {
            let reader = Reader { written, known, entry: entry.get_ref() };
            let terms = reader.terms()?;
            if terms.is_default() && entry.get_ref().quorum.is_none() {
                let fix = "this entry asks for nothing; give quorum, group, expires_minutes or remind_minutes";
                return Err(written.wrong(entry, fix));
            }
            Ok(Rule { fits: reader.matchers()?, terms })
        });
        let at = |word: &Word| (word.get_ref().clone(), written.wrong(word, String::new()));
        let entries = || file.approvals.iter().map(toml::Spanned::get_ref);
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            tools_given: entries().flat_map(|entry| &entry.tools).map(at).collect(),
            kinds_given: entries().flat_map(|entry| &entry.kinds).map(at).collect(),
        })
    }

    /// What a change takes. `configured` is its target as the file has it, and `found` the same with what was found on it:
    /// either may make an entry fit, because an entry only restricts.
    pub(super) fn terms(&self, about: &TermsAbout<'_>, configured: &Thing, found: &Thing) -> Terms {
        let fitting = self.rules.iter().filter(|rule| rule.fits.fit(about, configured, found));
        fitting.fold(Terms::default(), |terms, rule| terms.and(&rule.terms))
    }
}

impl Matchers {
    fn fit(&self, about: &TermsAbout<'_>, configured: &Thing, found: &Thing) -> bool {
        let any = |patterns: &[String], text: &str| patterns.is_empty() || patterns.iter().any(|one| fits(one, text));
        let environments = [&configured.environment, &found.environment];
        let in_environment =
            self.environments.is_empty() || environments.iter().any(|one| self.environments.contains(one));
        let labelled = self.labels.is_empty() || found.labels.iter().any(|label| any(&self.labels, label));
        let risky = self.risk.is_empty() || self.risk.contains(&about.risk);
        risky
            && in_environment
            && labelled
            && any(&self.kinds, &configured.kind)
            && any(&self.ids, &configured.id)
            && any(&self.tools, about.tool)
    }
}

/// One entry, with what it may speak of.
struct Reader<'a> {
    written: &'a Written<'a>,
    known: &'a Directory,
    entry: &'a ApprovalEntry,
}

impl Reader<'_> {
    fn terms(&self) -> Result<Terms, AccessError> {
        let minutes = |written: &Option<toml::Spanned<u32>>| match written {
            Some(minutes) if *minutes.get_ref() == 0 => Err(self.written.wrong(minutes, "0 minutes; give at least 1")),
            minutes => Ok(minutes.as_ref().map(|minutes| ms(*minutes.get_ref()))),
        };
        let (expires_ms, remind_ms) = (minutes(&self.entry.expires_minutes)?, minutes(&self.entry.remind_minutes)?);
        if let Some(remind) = self.entry.remind_minutes.as_ref().filter(|_| is_late(remind_ms, expires_ms)) {
            return Err(self.written.wrong(remind, "nobody is reminded of what has expired; give fewer minutes"));
        }
        let circles = self.circle(expires_ms)?.into_iter().collect();
        Ok(Terms { quorum: self.quorum()?, circles, expires_ms, remind_ms })
    }

    /// How many people, of whom there must be as many.
    fn quorum(&self) -> Result<NonZeroU32, AccessError> {
        let Some(word) = &self.entry.quorum else { return Ok(NonZeroU32::MIN) };
        let Some(quorum) = NonZeroU32::new(*word.get_ref()) else {
            return Err(self.written.wrong(word, "nothing is approved by nobody; give a quorum of at least 1"));
        };
        let group = self.entry.group.as_ref().map(Word::get_ref);
        let is_one = |in_groups: &BTreeSet<String>| group.is_none_or(|group| in_groups.contains(group));
        let people = self.known.principals.iter().filter(|one| !one.is_service && is_one(&one.groups)).count();
        if usize::try_from(quorum.get()).is_ok_and(|quorum| quorum <= people) {
            return Ok(quorum);
        }
        let of = group.map_or_else(|| "this file".to_owned(), |group| format!("group `{group}`"));
        let problem = format!("a quorum of {quorum} can never be reached by the people of {of} ({people})");
        Err(self.written.wrong(word, problem))
    }

    fn circle(&self, expires_ms: Option<u64>) -> Result<Option<Circle>, AccessError> {
        let Some(group) = &self.entry.group else {
            return match self.entry.escalate.first() {
                Some(step) => {
                    let problem = "an escalation asks a group beside another one; give `group`, too";
                    Err(self.written.wrong(&step.group, problem))
                }
                None => Ok(None),
            };
        };
        let mut escalate: Vec<Escalation> = Vec::new();
        for step in &self.entry.escalate {
            let after_ms = ms(*step.after_minutes.get_ref());
            if escalate.last().map_or(after_ms == 0, |last| after_ms <= last.after_ms) {
                let problem = "an escalation comes after at least 1 minute, and later than the one before it";
                return Err(self.written.wrong(&step.after_minutes, problem));
            }
            if is_late(Some(after_ms), expires_ms) {
                let problem = "nobody is asked about what has expired; give fewer minutes";
                return Err(self.written.wrong(&step.after_minutes, problem));
            }
            escalate.push(Escalation { after_ms, group: self.group(&step.group)? });
        }
        Ok(Some(Circle { group: self.group(group)?, escalate }))
    }

    fn group(&self, word: &Word) -> Result<String, AccessError> {
        let name = word.get_ref();
        if self.known.groups.contains(name) {
            return Ok(name.clone());
        }
        let hint = did_you_mean(name, self.known.groups.iter().map(String::as_str));
        Err(self.written.wrong(word, format!("`{name}` is no group of this file{hint}")))
    }

    fn matchers(&self) -> Result<Matchers, AccessError> {
        let entry = self.entry;
        if let Some(word) = entry.environments.iter().find(|word| !self.known.places.knows(word.get_ref())) {
            let names: Vec<&str> = self.known.places.environments().into_iter().collect();
            let problem = format!("`{}` is no environment of this file ({})", word.get_ref(), names.join(", "));
            return Err(self.written.wrong(word, problem));
        }
        let texts = |words: &[Word]| words.iter().map(|word| word.get_ref().clone()).collect();
        Ok(Matchers {
            risk: entry.risk.clone(),
            environments: texts(&entry.environments),
            labels: texts(&entry.labels),
            kinds: texts(&entry.kinds),
            ids: texts(&entry.ids),
            tools: texts(&entry.tools),
        })
    }
}

fn is_late(at_ms: Option<u64>, expires_ms: Option<u64>) -> bool {
    at_ms.zip(expires_ms).is_some_and(|(at, end)| at >= end)
}

fn ms(minutes: u32) -> u64 {
    u64::from(minutes) * 60_000
}

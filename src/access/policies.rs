//! The policies: the schema, the shipped ones and a team's own, read and held strictly to the schema. A set with anything
//! wrong in it is refused whole. Who is asked about, and about what, is in `entities.rs`.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};
use miette::Diagnostic;

use super::entities::{GUEST, OWNER};
use super::error::{AccessError, did_you_mean, line_at};

/// Part of the program, so that it runs from anywhere.
const SCHEMA: (&str, &str) =
    ("config/access/schema.cedarschema", include_str!("../../config/access/schema.cedarschema"));
const ROLES: (&str, &str) = ("config/access/roles.cedar", include_str!("../../config/access/roles.cedar"));

/// A sound set of policies.
#[derive(Clone, Debug)]
pub(super) struct Policies {
    pub(super) set: PolicySet,
    /// The roles that some policy speaks of.
    pub(super) roles: BTreeSet<String>,
    /// The groups and principals that a policy speaks of by name, with where.
    named: Vec<(&'static str, String, AccessError)>,
    /// How many of them are the team's own.
    pub(super) own: usize,
}

impl Policies {
    /// The shipped policies and these: (file, text). No I/O.
    pub(super) fn load(own: &[(String, String)]) -> Result<Self, AccessError> {
        let (schema, _) = Schema::from_cedarschema_str(SCHEMA.1)
            .map_err(|error| AccessError::new(SCHEMA.0, first_line(&error, SCHEMA.1), error.to_string()))?;
        let shipped = (ROLES.0.to_owned(), ROLES.1.to_owned());
        let mut loaded = Self { set: PolicySet::new(), roles: BTreeSet::new(), named: Vec::new(), own: 0 };
        let mut texts = BTreeMap::new();
        for (file, text) in [&shipped].into_iter().chain(own) {
            for policy in policies_of(file, text)? {
                loaded.note(&policy, file, text);
                texts.insert(policy.id().clone(), (file.as_str(), text.as_str()));
                loaded.own += usize::from(file != ROLES.0);
                loaded.set.add(policy).map_err(|error| AccessError::new(file, None, error.to_string()))?;
            }
        }
        loaded.validate(schema, &texts)?;
        Ok(loaded)
    }

    fn validate(&self, schema: Schema, texts: &BTreeMap<PolicyId, (&str, &str)>) -> Result<(), AccessError> {
        let result = Validator::new(schema).validate(&self.set, ValidationMode::Strict);
        let wrong = |id: &PolicyId, found: &dyn Diagnostic| {
            let (file, text) = texts.get(id).copied().unwrap_or_default();
            AccessError::new(file, first_line(found, text), sentence(found))
        };
        let errors = result.validation_errors().map(|error| wrong(error.policy_id(), error));
        // A warning is a policy that cannot do what it was written for, or a look-alike letter: neither is let through.
        let found = errors.chain(result.validation_warnings().map(|warning| wrong(warning.policy_id(), warning)));
        // In no order of its own: the first in the file is told.
        match found.min_by_key(|error| (error.file.clone(), error.line)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Remembers whom a policy speaks of: a misspelt name would else permit nobody, or forbid nobody, without a word.
    fn note(&mut self, policy: &Policy, file: &str, text: &str) {
        for entity in policy.entity_literals() {
            let name: &str = entity.id().as_ref();
            let kind = match entity.type_name().to_string().as_str() {
                "Role" => {
                    self.roles.insert(name.to_owned());
                    continue;
                }
                "Group" => "Group",
                "Person" => "Person",
                "Service" => "Service",
                _ => continue,
            };
            let line = text.find(&entity.to_string()).map(|at| line_at(text, at));
            self.named.push((kind, name.to_owned(), AccessError::new(file, line, String::new())));
        }
    }

    /// The first name in a policy that nobody has.
    pub(super) fn check_named(&self, known: impl Fn(&'static str) -> BTreeSet<String>) -> Result<(), AccessError> {
        for (kind, name, at) in &self.named {
            let known = known(kind);
            if !known.contains(name) {
                let hint = did_you_mean(name, known.iter().map(String::as_str));
                let fix = if hint.is_empty() { "; add it there or correct the policy" } else { &hint };
                let problem = format!("{kind}::{name:?} is not in the access file{fix}");
                return Err(AccessError { problem, ..at.clone() });
            }
        }
        Ok(())
    }

    /// Whether accounts that nobody is known by may be anybody at all.
    pub(super) fn speaks_of_guests(&self) -> bool {
        self.roles.contains(GUEST)
    }

    /// A role that no policy speaks of permits nothing; it is a slip of the hand.
    pub(super) fn check_role(&self, role: &str, at: &AccessError) -> Result<(), AccessError> {
        if self.roles.contains(role) && role != OWNER {
            return Ok(());
        }
        let known = self.roles.iter().map(String::as_str).filter(|role| *role != OWNER);
        let hint = did_you_mean(role, known.clone());
        let known: Vec<&str> = known.collect();
        let problem = format!("no policy speaks of the role `{role}`{hint} (the roles are {})", known.join(", "));
        Err(AccessError { problem, ..at.clone() })
    }
}

/// The policies of one file, each with an id that names the file: by its `@id`, else by its place in it.
fn policies_of(file: &str, text: &str) -> Result<Vec<Policy>, AccessError> {
    let set: PolicySet = text.parse().map_err(|error: cedar_policy::ParseErrors| {
        AccessError::new(file, first_line(&error, text), sentence(&error))
    })?;
    if set.templates().next().is_some() {
        let problem = "holds a template (`?principal` or `?resource`), which nothing fills in; write the name out";
        return Err(AccessError::new(file, None, problem));
    }
    let id_of = |policy: &Policy| match policy.annotation("id") {
        Some(id) => format!("{id} ({file})"),
        None => format!("{} ({file})", policy.id()),
    };
    Ok(set.policies().map(|policy| policy.new_id(PolicyId::new(id_of(policy)))).collect())
}

/// What is wrong and what to do, on one line.
fn sentence(found: &dyn Diagnostic) -> String {
    let label = found.labels().and_then(|mut labels| Some(labels.next()?.label()?.to_owned()));
    // Cedar's guess at what was meant is not the nearest word, and another one each time.
    let help = found.help().map(|help| help.to_string()).filter(|help| !help.starts_with("did you mean")).or(label);
    let help = help.unwrap_or_else(|| format!("see {} for what policies can speak of", SCHEMA.0));
    without_id(&format!("{found}; {help}").replace('\n', " "))
}

/// Cedar names the policy by its id; the file and the line tell it better.
fn without_id(said: &str) -> String {
    let Some((before, rest)) = said.split_once("for policy `") else { return said.to_owned() };
    let after = rest.split_once("`, ").map_or(rest, |(_, after)| after);
    format!("{before}{}", without_id(after))
}

/// The line of the first place that a finding points at.
fn first_line(found: &dyn Diagnostic, text: &str) -> Option<usize> {
    let label = found.labels()?.next()?;
    Some(line_at(text, label.offset()))
}

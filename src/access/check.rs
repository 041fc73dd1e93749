//! Tables of expected decisions: the shipped one, which the shipped policies must meet, and a team's own beside its access
//! file. The words are those of `who can`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::error::{AccessError, line_at};
use super::file::Word;
use super::people::Principal;
use super::reload::{Sources, read};
use super::rights::{Access, Owner, Subject};
use super::who_can::Wanted;

/// Part of the program, like the policies that it is about.
const SHIPPED: (&str, &str) =
    ("config/access/policy-tests.toml", include_str!("../../config/access/policy-tests.toml"));

/// An environment for the shipped table to speak of.
const SHIPPED_PLACES: (&str, &str) = ("staging", "[[environments]]\nname = \"staging\"\nhosts = [\"staging-*\"]\n");

/// The team's own table, beside its access file.
const TABLE: &str = "policy-tests.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default, rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    who: Word,
    #[serde(default)]
    can: Vec<Word>,
    #[serde(default)]
    cannot: Vec<Word>,
}

/// What a check found. The set itself is sound, or there would be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// People, services and policies of the team's own.
    pub counts: (usize, usize, usize),
    /// How many expectations were asked.
    pub expectations: usize,
    /// What does not hold, one sentence each.
    pub wrong: Vec<AccessError>,
}

/// Checks everything: schema, policies, access file, and both tables. Reads files.
pub fn check(sources: &Sources, owner: &Owner) -> Result<Checked, AccessError> {
    let shipped = (SHIPPED_PLACES.0.to_owned(), SHIPPED_PLACES.1.to_owned());
    let shipped = Access::new(Some(&shipped), &[], Some(owner.clone()))?;
    let mut found = hold(&shipped, SHIPPED.0, SHIPPED.1)?;
    let access = sources.access(Some(owner.clone()))?;
    let table = sources.file.as_deref().and_then(Path::parent).map(|folder| folder.join(TABLE));
    if let Some(table) = table.filter(|table| table.exists()) {
        let (name, text) = read("access.file", &table)?;
        let (asked, wrong) = hold(&access, &name, &text)?;
        found = (found.0 + asked, [found.1, wrong].concat());
    }
    Ok(Checked { counts: access.counts(), expectations: found.0, wrong: found.1 })
}

/// How many rows a table has, and which do not hold.
pub(super) fn hold(access: &Access, file: &str, text: &str) -> Result<(usize, Vec<AccessError>), AccessError> {
    let table: Table = toml::from_str(text).map_err(|error| AccessError::toml(file, text, &error))?;
    let (mut asked, mut wrong) = (0, Vec::new());
    for case in &table.cases {
        let at = |word: &Word, problem: String| AccessError::new(file, Some(line_at(text, word.span().start)), problem);
        let who = case.who.get_ref();
        let subject = subject(access, who).map_err(|problem| at(&case.who, problem))?;
        let rows = case.can.iter().map(|word| (word, true)).chain(case.cannot.iter().map(|word| (word, false)));
        for (word, expected) in rows {
            asked += 1;
            let wanted = Wanted::parse(word.get_ref(), access).map_err(|problem| at(word, problem))?;
            let can = subject.as_ref().is_some_and(|one| !wanted.where_from(access, one).is_empty());
            if can != expected {
                let (is, should) = if can { ("can", "should not") } else { ("cannot", "should") };
                wrong.push(at(word, format!("`{who}` {is} `{}`, and {should}", word.get_ref())));
            }
        }
    }
    Ok((asked, wrong))
}

/// Who a row is about; nobody is whoever is not known, and may what a policy lets every guest do.
fn subject(access: &Access, who: &str) -> Result<Option<Subject>, String> {
    let everybody = access.everybody();
    let named = |name: &str, is_service: bool| {
        let at = access.directory.named(name, is_service).and_then(|at| access.directory.principals.get(at));
        let one = at.map(|one| Subject::new(one.clone(), false));
        one.ok_or_else(|| format!("`{who}` is not in the access file")).map(Some)
    };
    match who.split_once(':') {
        None if who == "nobody" => Ok(everybody.into_iter().find(Subject::is_a_stranger)),
        None if who == "owner" => Ok(everybody.into_iter().find(|one| one.is_owner)),
        Some(("person", name)) => named(name, false),
        Some(("service", name)) => named(name, true),
        Some(("role", roles)) => access.with_roles(roles, false).map(Some),
        Some(("service-role", roles)) => access.with_roles(roles, true).map(Some),
        _ => Err("`who` is owner, nobody, person:NAME, service:NAME, role:ROLE or service-role:ROLE".to_owned()),
    }
}

impl Access {
    /// Somebody who has these roles and nothing else.
    pub(super) fn with_roles(&self, roles: &str, is_service: bool) -> Result<Subject, String> {
        let roles: BTreeSet<String> = roles.split(',').map(|role| role.trim().to_owned()).collect();
        let nowhere = AccessError::new("", None, "");
        let known = roles.iter().try_for_each(|role| self.policies.check_role(role, &nowhere));
        known.map_err(|error| error.problem)?;
        let name = if is_service { "a service" } else { "somebody" }.to_owned();
        let who = Principal { name, is_service, roles, groups: BTreeSet::new(), platforms: BTreeSet::new() };
        Ok(Subject::new(who, false))
    }
}

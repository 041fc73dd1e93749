//! People, services and groups: who is meant by an account, and what roles and groups they have, also through groups in
//! groups. What a role may do is in the policies.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::signal::OURSELVES;

use super::account::{Account, account};
use super::error::{AccessError, did_you_mean};
use super::file::{AccessFile, GroupEntry, Word, Written};
use super::places::Places;
use super::platform_roles::PlatformRoles;
use super::terms::Approvals;

/// Somebody that policies can speak of: a person, or a named service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Principal {
    /// Unique among people, services and groups.
    pub(super) name: String,
    pub(super) is_service: bool,
    /// All of them, also those through groups.
    pub(super) roles: BTreeSet<String>,
    /// All of them, also groups of groups.
    pub(super) groups: BTreeSet<String>,
    /// The platforms on which they have an account.
    pub(super) platforms: BTreeSet<String>,
}

/// Accounts by platform and id, and whose each is.
pub(super) type Accounts = BTreeMap<String, BTreeMap<String, usize>>;

/// Everybody in the access file, and its places.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    pub(super) principals: Vec<Principal>,
    accounts: Accounts,
    /// Whose people may be in this file, and linked to it.
    homeservers: Vec<String>,
    pub(super) platform_roles: PlatformRoles,
    services: BTreeMap<String, usize>,
    pub(super) groups: BTreeSet<String>,
    pub(super) places: Places,
    pub(super) approvals: Approvals,
    /// Every role where it is given, for the check against the policies.
    pub(super) roles_given: Vec<(String, AccessError)>,
}

impl Directory {
    /// Reads an access file's text. No I/O.
    pub(super) fn read(name: &str, text: &str) -> Result<Self, AccessError> {
        let (written, file) = Written::parse(name, text)?;
        check_names(&written, &file)?;
        let groups = Groups::new(&written, &file)?;
        let mut directory = Self { places: Places::new(&written, &file)?, ..Self::default() };
        directory.homeservers = texts(&file.matrix.homeservers).into_iter().collect();
        directory.platform_roles = PlatformRoles::new(&written, &file)?;
        directory.groups = groups.0.keys().map(|group| (*group).to_owned()).collect();
        directory.add_people(&written, &file, &groups)?;
        directory.approvals = Approvals::new(&written, &file, &directory)?;
        for service in &file.services {
            directory.services.insert(service.name.get_ref().clone(), directory.principals.len());
            directory.principals.push(Principal {
                name: service.name.get_ref().clone(),
                is_service: true,
                roles: texts(&service.roles),
                groups: BTreeSet::new(),
                platforms: BTreeSet::new(),
            });
        }
        let roles = file.people.iter().flat_map(|person| &person.roles);
        let roles = roles.chain(file.services.iter().flat_map(|service| &service.roles));
        let roles = roles.chain(file.groups.iter().flat_map(|group| &group.roles));
        let roles = roles.chain(file.platform_roles.iter().flat_map(|mapped| &mapped.roles));
        let given = roles.map(|role| (role.get_ref().clone(), written.wrong(role, String::new())));
        directory.roles_given = given.collect();
        Ok(directory)
    }

    fn add_people(&mut self, written: &Written<'_>, file: &AccessFile, groups: &Groups<'_>) -> Result<(), AccessError> {
        for person in &file.people {
            let (at, name) = (self.principals.len(), person.name.get_ref());
            let mut platforms = BTreeSet::new();
            for word in &person.accounts {
                let wrong = |problem: String| written.wrong(word, format!("`{}` {problem}", word.get_ref()));
                let (platform, id) = account(word.get_ref(), &self.homeservers).map_err(wrong)?;
                platforms.insert(platform.clone());
                if let Some(other) = self.accounts.entry(platform).or_default().insert(id, at) {
                    let other = self.principals.get(other).map_or(name, |other| &other.name);
                    let fix = format!("is given to {other} and to {name}; an account belongs to one person, once");
                    return Err(wrong(fix));
                }
            }
            let of = groups.of(name);
            let through = of.iter().flat_map(|group| groups.roles(group));
            let roles = texts(&person.roles).into_iter().chain(through).collect();
            self.principals.push(Principal { name: name.clone(), is_service: false, roles, groups: of, platforms });
        }
        Ok(())
    }

    /// Whose account this is: exactly this id on exactly this platform.
    pub(super) fn person(&self, platform: &str, id: &str) -> Option<usize> {
        self.accounts.get(platform)?.get(id).copied()
    }

    /// Every account of this person that stands in the file: (platform, id).
    pub(super) fn accounts_of(&self, person: usize) -> Vec<Account> {
        let accounts =
            self.accounts.iter().flat_map(|(platform, ids)| ids.iter().map(move |(id, at)| (platform, id, *at)));
        let own = accounts.filter(|(_, _, at)| *at == person);
        own.map(|(platform, id, _)| (platform.clone(), id.clone())).collect()
    }

    /// Whether a person can have this account at all. An error is to be read after the account.
    pub(super) fn accepts(&self, platform: &str, id: &str) -> Result<(), String> {
        account(&format!("{platform}:{id}"), &self.homeservers).map(drop)
    }

    /// The service of this name.
    pub(super) fn service(&self, name: &str) -> Option<usize> {
        self.services.get(name).copied()
    }

    /// The person or the service of this name.
    pub(super) fn named(&self, name: &str, is_service: bool) -> Option<usize> {
        self.principals.iter().position(|one| one.name == name && one.is_service == is_service)
    }
}

/// The groups of a file by name, checked: their members exist, and none holds itself.
struct Groups<'a>(BTreeMap<&'a str, &'a GroupEntry>);

impl<'a> Groups<'a> {
    fn new(written: &Written<'_>, file: &'a AccessFile) -> Result<Self, AccessError> {
        let groups = Self(file.groups.iter().map(|group| (group.name.get_ref().as_str(), group)).collect());
        let people: BTreeSet<&str> = file.people.iter().map(|person| person.name.get_ref().as_str()).collect();
        for group in &file.groups {
            for member in &group.members {
                let name = member.get_ref().as_str();
                if !people.contains(name) && !groups.0.contains_key(name) {
                    let hint = did_you_mean(name, people.iter().copied().chain(groups.0.keys().copied()));
                    return Err(written.wrong(member, format!("`{name}` is no person and no group of this file{hint}")));
                }
            }
            if groups.of(group.name.get_ref()).contains(group.name.get_ref()) {
                let problem = format!("group `{}` is a member of itself, through its members", group.name.get_ref());
                return Err(written.wrong(&group.name, format!("{problem}; take one of them out")));
            }
        }
        Ok(groups)
    }

    /// The groups that a person or a group is in, however deep. Ends also where groups hold each other.
    fn of(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(member) = open.pop() {
            let holds = |group: &&GroupEntry| group.members.iter().any(|one| one.get_ref() == &member);
            for group in self.0.values().copied().filter(holds) {
                if found.insert(group.name.get_ref().clone()) {
                    open.push(group.name.get_ref().clone());
                }
            }
        }
        found
    }

    fn roles(&self, group: &str) -> BTreeSet<String> {
        self.0.get(group).map(|group| texts(&group.roles)).unwrap_or_default()
    }
}

/// Names are unique over all three kinds, so that a list of names says who is meant.
fn check_names(written: &Written<'_>, file: &AccessFile) -> Result<(), AccessError> {
    let people = file.people.iter().map(|person| &person.name);
    let names = people.chain(file.services.iter().map(|service| &service.name));
    let mut seen = BTreeSet::new();
    for name in names.chain(file.groups.iter().map(|group| &group.name)) {
        check_name(written, name)?;
        if !seen.insert(name.get_ref()) {
            let problem =
                format!("`{}` is the name of two; give each person, service and group its own", name.get_ref());
            return Err(written.wrong(name, problem));
        }
    }
    Ok(())
}

/// A name that can stand in a list, a policy and a log line as it is.
pub(super) fn check_name(written: &Written<'_>, word: &Word) -> Result<(), AccessError> {
    let name = word.get_ref();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let sound = !name.is_empty() && name.len() <= 64 && name.chars().all(plain);
    if sound && name != OURSELVES {
        return Ok(());
    }
    let fix = if sound {
        "is the bot's own name"
    } else {
        "is no name here; use up to 64 small letters, digits, `-`, `_` and `.`"
    };
    Err(written.wrong(word, format!("`{}` {fix}", name.escape_debug())))
}

pub(super) fn texts(words: &[Word]) -> BTreeSet<String> {
    words.iter().map(|word| word.get_ref().clone()).collect()
}

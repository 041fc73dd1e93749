//! People and their accounts as the core asks about them: whose an account is, with those that were linked in chat, and
//! what each role may do. The access file always wins over what was linked.

use std::collections::BTreeMap;

use countersign_core::approval::Risk;
use countersign_core::ledger::{Account, Ledger, Link};
use countersign_core::people::{Holding, People, Portrait, RoleRights};
use countersign_core::port::Asker;
use countersign_core::signal::{ActorId, Platform};
use countersign_core::text::mistakes;
use countersign_core::tool::ToolKind;

use super::entities::{Act, OWNER};
use super::people::{Accounts, Directory};
use super::rights::Access;

/// How many names are offered to whoever mistyped one.
const NEAREST_MAX: usize = 3;

/// What was linked in chat, by account, as the ledger has it.
pub(super) type Links = BTreeMap<Account, Link>;

/// The links of a ledger.
/// The newest ids of rooms that have another one than at first, by platform and first id.
pub(super) type Moved = BTreeMap<(String, String), String>;

pub(super) fn moved_of(ledger: &Ledger) -> Moved {
    let moved = ledger.moved_rooms();
    moved.map(|(room, moved)| ((room.platform.to_string(), moved.first.to_string()), room.id.to_string())).collect()
}

pub(super) fn links_of(ledger: &Ledger) -> Links {
    ledger.links().map(|(account, link)| (account.clone(), link.clone())).collect()
}

/// The linked accounts that count: of a person who is in the file, of a form that a person's account has, and not in the
/// file themselves.
pub(super) fn linked(directory: &Directory, links: &Links) -> Accounts {
    let mut accounts = Accounts::new();
    for (account, link) in links {
        let (platform, id) = (account.platform.as_str(), account.id.as_str());
        let Some(person) = directory.named(&link.person, false) else { continue };
        if directory.person(platform, id).is_none() && directory.accepts(platform, id).is_ok() {
            accounts.entry(platform.to_owned()).or_default().insert(id.to_owned(), person);
        }
    }
    accounts
}

impl Access {
    fn name_at(&self, at: usize) -> String {
        self.directory.principals.get(at).map(|one| one.name.clone()).unwrap_or_default()
    }

    /// The names of everybody who has a role by the file.
    fn held_by(&self, role: &str) -> Vec<String> {
        let having = self.directory.principals.iter().filter(|one| one.roles.contains(role));
        having.map(|one| if one.is_service { format!("{} (a service)", one.name) } else { one.name.clone() }).collect()
    }
}

impl People for Access {
    fn holding(&self, account: &Account) -> Holding {
        let (platform, id) = (account.platform.as_str(), account.id.as_str());
        if let Some(at) = self.directory.person(platform, id) {
            return Holding::InFile(self.name_at(at));
        }
        if let Err(why) = self.directory.accepts(platform, id) {
            return Holding::Refused(why);
        }
        self.whose(platform, id).map_or(Holding::Nobodys, |at| Holding::Linked(self.name_at(at)))
    }

    fn portrait(&self, person: &str) -> Option<Portrait> {
        let at = self.directory.named(person, false)?;
        let account =
            |(platform, id): (String, String)| Account { platform: Platform::new(platform), id: ActorId::new(id) };
        let in_file = self.directory.accounts_of(at).into_iter().map(|one| (account(one), true));
        let linked = self.linked_to(at).into_iter().map(|one| (account(one), false));
        let groups = self.directory.principals.get(at)?.groups.iter().cloned().collect();
        Some(Portrait { accounts: in_file.chain(linked).collect(), groups })
    }

    fn nearest(&self, name: &str) -> Vec<String> {
        let people = self.directory.principals.iter().filter(|one| !one.is_service);
        let mut near: Vec<(usize, &str)> = people
            .map(|one| (mistakes(name, &one.name), one.name.as_str()))
            .filter(|(far, known)| far * 2 <= known.chars().count())
            .collect();
        near.sort_unstable();
        near.into_iter().take(NEAREST_MAX).map(|(_, name)| name.to_owned()).collect()
    }

    fn roles_here(&self, asker: &Asker<'_>) -> Vec<RoleRights> {
        let place = self.place(asker.thread.platform.as_str(), asker.thread.conversation.as_str(), asker.room);
        let here = Self::here(&place);
        let roles = self.policies.roles.iter().filter(|role| *role != OWNER);
        let rights = roles.map(|role| {
            let somebody = self.with_roles(role, false).ok();
            let can = |act: &Act| somebody.as_ref().is_some_and(|one| self.allows(one, act, &here, &place));
            let may = acts().into_iter().filter(|(_, act)| can(act)).map(|(words, _)| words).collect();
            RoleRights { role: role.clone(), may, held_by: self.held_by(role) }
        });
        rights.collect()
    }
}

/// Everything that a role may permit, in the words of `who can`.
fn acts() -> Vec<(String, Act)> {
    let kinds =
        ToolKind::ALL.into_iter().map(|kind| (kind.as_str().to_owned(), Act::Request { kind, tool: String::new() }));
    let risks = [Risk::Low, Risk::Medium, Risk::High];
    let decides = risks.map(|risk| (format!("decide {}", risk.as_str()), Act::Decide { risk, is_requester: false }));
    let plain = [Act::Acknowledge, Act::Declare, Act::Grant, Act::Administer].map(|act| (act.name().to_owned(), act));
    [("talk".to_owned(), Act::Talk)].into_iter().chain(kinds).chain(decides).chain(plain).collect()
}

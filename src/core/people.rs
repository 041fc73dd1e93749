//! What is asked about people themselves: whose an account is, who there is, and what each role may do. Who may see the
//! answer, and what is said of it, is decided in `thread/`; where the answers come from is the shell's business.

use crate::ledger::Account;
use crate::port::Asker;

/// Whose an account is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Nobody is known by it.
    Nobodys,
    /// It stands in the access file, with this person. Nothing in chat changes that.
    InFile(String),
    /// It was linked to this person in chat.
    Linked(String),
    /// No person can have it. Why not, to be read after the account.
    Refused(String),
}

impl Holding {
    /// The person who is known by it.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::InFile(person) | Self::Linked(person) => Some(person),
            Self::Nobodys | Self::Refused(_) => None,
        }
    }
}

/// A person, as `whoami` shows one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Portrait {
    /// Every account, with whether it stands in the access file.
    pub accounts: Vec<(Account, bool)>,
    /// Every group, also groups of groups.
    pub groups: Vec<String>,
}

/// What one role may do in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRights {
    /// The role.
    pub role: String,
    /// In a few words each: `talk`, `decide low`.
    pub may: Vec<String>,
    /// The people and services who have it by the access file.
    pub held_by: Vec<String>,
}

/// Who there is. A snapshot; no I/O.
pub trait People: Send + Sync {
    /// Whose this account is, by exactly this id on exactly this platform.
    fn holding(&self, account: &Account) -> Holding;

    /// A person of the access file; none where nobody there has that name.
    fn portrait(&self, person: &str) -> Option<Portrait>;

    /// The names most like this one, nearest first, for whoever mistyped it.
    fn nearest(&self, name: &str) -> Vec<String>;

    /// What every role may do where this is asked.
    fn roles_here(&self, asker: &Asker<'_>) -> Vec<RoleRights>;
}

/// There is nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl People for Nobody {
    fn holding(&self, _: &Account) -> Holding {
        Holding::Nobodys
    }

    fn portrait(&self, _: &str) -> Option<Portrait> {
        None
    }

    fn nearest(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn roles_here(&self, _: &Asker<'_>) -> Vec<RoleRights> {
        Vec::new()
    }
}

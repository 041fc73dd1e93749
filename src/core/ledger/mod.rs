//! The ledger: what people wrote down in chat about who may what - accounts that were linked, codes that are open, and
//! permissions that were given - and the rooms that have another id than at first. A snapshot with versions, and the changes to it, each a compare-and-set on one row. Who
//! may write what into it is decided elsewhere; nothing in the access file ever comes here.

mod grant;
mod link;
mod room;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::signal::{ActorId, Mono, Now, Platform};

pub use grant::{Grant, GrantId, Somebody};
pub use link::{CodeHash, Link, LinkCode};
pub use room::{MovedRoom, RoomKey};

/// An account: an immutable id on its platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Account {
    /// Which platform.
    pub platform: Platform,
    /// The id there.
    pub id: ActorId,
}

/// Which row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Of an account that was linked. An account belongs to one person.
    Link(Account),
    /// Of an account that an administrator wants to link. It waits for its person, or for a second administrator.
    Offer(Account),
    /// Of a code that waits to be typed.
    Code(CodeHash),
    /// Of a standing permission.
    Grant(GrantId),
    /// Of a room, by the id that its platform uses now.
    Room(RoomKey),
}

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// An account that was linked.
    Link(Link),
    /// An account that an administrator wants to link.
    Offer(Link),
    /// A code that waits to be typed.
    Code(LinkCode),
    /// A standing permission.
    Grant(Box<Grant>),
    /// A room that had another id at first.
    Room(MovedRoom),
}

/// One compare-and-set on one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which row.
    pub key: Key,
    /// The version it must have; none where there must be no such row.
    pub from: Option<u64>,
    /// What it says then, with a version one higher; none takes the row away. The audit trail keeps what it was.
    pub to: Option<Record>,
}

/// Every row, with its version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    rows: BTreeMap<Key, (u64, Record)>,
    /// When each grant ends by the stopwatch.
    ends: BTreeMap<GrantId, Mono>,
}

impl Ledger {
    /// From the rows of the store.
    pub fn new(rows: impl IntoIterator<Item = (Key, u64, Record)>) -> Self {
        Self {
            rows: rows.into_iter().map(|(key, version, record)| (key, (version, record))).collect(),
            ..Self::default()
        }
    }

    /// Follows the stopwatch as well, from where the ledger before this one left off: else a clock on the wall that is set
    /// back would give a grant more time.
    #[must_use]
    pub fn timed(mut self, before: &Self, now: Now) -> Self {
        let end = |(id, grant): (&GrantId, &Grant)| {
            let known = before.ends.get(id).copied();
            (id.clone(), known.unwrap_or_else(|| grant.end_by_stopwatch(now)))
        };
        self.ends = self.grants().map(end).collect();
        self
    }

    /// Makes a change, or says that the row does not stand where the change starts; then nothing changes.
    pub fn apply(&mut self, change: &Change) -> Result<(), Overtaken> {
        if self.rows.get(&change.key).map(|(version, _)| *version) != change.from {
            return Err(Overtaken);
        }
        let version = change.from.map_or(0, |version| version.saturating_add(1));
        match &change.to {
            Some(record) => self.rows.insert(change.key.clone(), (version, record.clone())),
            None => self.rows.remove(&change.key),
        };
        Ok(())
    }

    /// The change that writes a row as it is to be, from where it stands now.
    pub fn put(&self, key: Key, to: Option<Record>) -> Change {
        Change { from: self.rows.get(&key).map(|(version, _)| *version), key, to }
    }

    /// The link of an account.
    pub fn link(&self, account: &Account) -> Option<&Link> {
        match self.rows.get(&Key::Link(account.clone())) {
            Some((_, Record::Link(link))) => Some(link),
            Some((_, Record::Offer(_) | Record::Code(_) | Record::Grant(_) | Record::Room(_))) | None => None,
        }
    }

    /// How an account is to be linked, as soon as that is confirmed.
    pub fn offer(&self, account: &Account) -> Option<&Link> {
        match self.rows.get(&Key::Offer(account.clone())) {
            Some((_, Record::Offer(link))) => Some(link),
            Some((_, Record::Link(_) | Record::Code(_) | Record::Grant(_) | Record::Room(_))) | None => None,
        }
    }

    /// Every linked account.
    pub fn links(&self) -> impl Iterator<Item = (&Account, &Link)> {
        self.rows.iter().filter_map(|row| match row {
            (Key::Link(account), (_, Record::Link(link))) => Some((account, link)),
            _ => None,
        })
    }

    /// The code with this hash.
    pub fn code(&self, hash: &CodeHash) -> Option<&LinkCode> {
        match self.rows.get(&Key::Code(hash.clone())) {
            Some((_, Record::Code(code))) => Some(code),
            Some((_, Record::Link(_) | Record::Offer(_) | Record::Grant(_) | Record::Room(_))) | None => None,
        }
    }

    /// Every code that waits.
    pub fn codes(&self) -> impl Iterator<Item = (&CodeHash, &LinkCode)> {
        self.rows.iter().filter_map(|row| match row {
            (Key::Code(hash), (_, Record::Code(code))) => Some((hash, code)),
            _ => None,
        })
    }

    /// The grant of this id.
    pub fn grant(&self, id: &GrantId) -> Option<&Grant> {
        match self.rows.get(&Key::Grant(id.clone())) {
            Some((_, Record::Grant(grant))) => Some(grant),
            Some((_, Record::Link(_) | Record::Offer(_) | Record::Code(_) | Record::Room(_))) | None => None,
        }
    }

    /// Every room that has another id than at first.
    pub fn moved_rooms(&self) -> impl Iterator<Item = (&RoomKey, &MovedRoom)> {
        self.rows.iter().filter_map(|row| match row {
            (Key::Room(room), (_, Record::Room(moved))) => Some((room, moved)),
            _ => None,
        })
    }

    /// Whether the time of a grant is over, by either clock. One that no stopwatch follows is over.
    pub fn is_over(&self, id: &GrantId, now: Now) -> bool {
        let by_wall = self.grant(id).is_none_or(|grant| now.wall >= grant.expires_at);
        by_wall || self.ends.get(id).is_none_or(|end| now.mono >= *end)
    }

    /// Every grant.
    pub fn grants(&self) -> impl Iterator<Item = (&GrantId, &Grant)> {
        self.rows.iter().filter_map(|row| match row {
            (Key::Grant(id), (_, Record::Grant(grant))) => Some((id, grant.as_ref())),
            _ => None,
        })
    }
}

/// Somebody else changed the row first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Wall;

    #[test]
    fn a_row_changes_once_from_where_it_stands() {
        let account = Account { platform: Platform::new("telegram"), id: ActorId::new("7") };
        let link = |person: &str| Record::Link(Link::new(person, "ann", Wall(1)));
        let mut ledger = Ledger::default();
        let made = ledger.put(Key::Link(account.clone()), Some(link("ann")));
        assert_eq!(ledger.apply(&made), Ok(()));
        assert_eq!(ledger.apply(&made), Err(Overtaken), "it is there already");
        let (taken, other) = (ledger.put(made.key.clone(), None), ledger.put(made.key, Some(link("bob"))));
        assert_eq!(ledger.apply(&other), Ok(()));
        assert_eq!(ledger.apply(&taken), Err(Overtaken), "it is bob's by now");
        assert_eq!(ledger.link(&account).map(|link| link.person.as_str()), Some("bob"));
        assert_eq!(ledger.links().count(), 1);
    }
}

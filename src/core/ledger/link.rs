//! Accounts that people linked in chat, and the one-time codes by which they did.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Account;
use crate::signal::Wall;

/// An account that was linked to a person of the access file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Whose it is: the name in the access file. Where nobody has that name any more the account is nobody's.
    pub person: String,
    /// Who linked it: a person's name.
    pub by: String,
    /// The second administrator, who confirmed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// When.
    pub at: Wall,
    /// The person's accounts on which they were told of it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub told: BTreeSet<Account>,
}

impl Link {
    /// Makes a new link, not announced to its person yet.
    pub fn new(person: &str, by: &str, at: Wall) -> Self {
        Self { person: person.to_owned(), by: by.to_owned(), with: None, at, told: BTreeSet::new() }
    }

    /// Whoever made the account its person's, but the person.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(self.by.as_str()).chain(self.with.as_deref());
        all.filter(|name| *name != self.person)
    }
}

/// A code that was shown in one place and waits to be typed in the other. Kept without the code itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkCode {
    /// Who the account that types it will belong to.
    pub person: String,
    /// To which account it was shown.
    pub shown_to: Account,
    /// From when on it is worth nothing.
    pub expires_at: Wall,
}

/// The SHA-256 of a code, as 64 hexadecimal digits: the database holds nothing that can be typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeHash(String);

impl CodeHash {
    /// Of what was shown or typed. Case, blanks and dashes do not count.
    pub fn of(code: &str) -> Self {
        let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
        let sum = Sha256::digest(plain.to_ascii_uppercase().as_bytes());
        Self(sum.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}")))
    }
}

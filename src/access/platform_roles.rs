//! What roles of a platform mean here: `[[platform_roles]]` of the access file. A role counts for the one question whose
//! message carries it, and is never kept. What an account may by it that nobody is known by is in `rights.rs`.

use std::collections::BTreeSet;

use countersign_core::port::Asker;

use super::error::AccessError;
use super::file::{AccessFile, PlatformRoleEntry, Word, Written};
use super::people::texts;

/// Every mapping, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct PlatformRoles(Vec<Mapped>);

/// One role of a platform.
#[derive(Clone, Debug)]
struct Mapped {
    platform: String,
    id: String,
    space: Option<String>,
    room: Option<String>,
    roles: BTreeSet<String>,
}

impl PlatformRoles {
    /// Every platform that a mapping names.
    pub(super) fn platforms(&self) -> Vec<String> {
        self.0.iter().map(|mapped| mapped.platform.clone()).collect()
    }

    pub(super) fn new(written: &Written<'_>, file: &AccessFile) -> Result<Self, AccessError> {
        let mapped = file.platform_roles.iter().map(|entry| {
            check(entry).map_err(|problem| written.wrong(&entry.id, problem))?;
            let text = |word: &Option<Word>| word.as_ref().map(|word| word.get_ref().clone());
            Ok(Mapped {
                platform: entry.platform.get_ref().clone(),
                id: entry.id.get_ref().clone(),
                space: text(&entry.space),
                room: text(&entry.room),
                roles: texts(&entry.roles),
            })
        });
        mapped.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the roles of the asker by the platform's roles that came with this very question. `newest` is another id of the
    /// room, if it has one.
    pub(super) fn of(&self, asker: &Asker<'_>, newest: Option<&str>) -> BTreeSet<String> {
        if asker.platform_roles.is_empty() {
            return BTreeSet::new();
        }
        self.0.iter().filter(|one| one.fits(asker, newest)).flat_map(|one| one.roles.iter().cloned()).collect()
    }
}

impl PlatformRoles {
    /// Whoever has one of them, for a list of people: in words, on which platform, and with which roles.
    pub(super) fn in_words(&self) -> impl Iterator<Item = (String, &str, &BTreeSet<String>)> {
        self.0.iter().map(|one| {
            let within =
                one.room.as_ref().or(one.space.as_ref()).map(|within| format!(" in {within}")).unwrap_or_default();
            (format!("whoever has the role {}{within}", one.id), one.platform.as_str(), &one.roles)
        })
    }
}

impl Mapped {
    fn fits(&self, asker: &Asker<'_>, newest: Option<&str>) -> bool {
        let thread = asker.thread;
        self.platform == thread.platform.as_str()
            && asker.platform_roles.contains(&self.id)
            && self.space.as_deref().is_none_or(|space| space == thread.space.as_str())
            && self.room.as_deref().is_none_or(|room| room == thread.conversation.as_str() || Some(room) == newest)
    }
}

/// A Discord role's number is its own everywhere. Elsewhere a role is a word, like `administrator`, and whoever makes a room
/// gives it to themselves there.
fn check(entry: &PlatformRoleEntry) -> Result<(), String> {
    let id = entry.id.get_ref();
    // An empty name would fit everywhere on a platform that has no spaces.
    let is_named = |word: &Option<Word>| word.as_ref().is_some_and(|word| !word.get_ref().is_empty());
    let is_number = (17..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
    match entry.platform.get_ref().as_str() {
        "discord" if is_number => Ok(()),
        "discord" => Err(format!(
            "`{}` is no Discord role; use the number of 17 to 20 digits that Copy Role ID gives in developer mode",
            id.escape_debug()
        )),
        "telegram" | "matrix" if is_named(&entry.room) || is_named(&entry.space) => Ok(()),
        "telegram" | "matrix" => {
            Err("whoever makes a room gives themselves its roles; say with `room` or `space` where this one counts"
                .to_owned())
        }
        other => Err(format!("`{}` has no roles of its own; use discord, telegram or matrix", other.escape_debug())),
    }
}

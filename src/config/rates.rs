//! Section `[rates]`: how much of the bot one person, room or team may have, and how many requests are at work at a time.
//! Counting is in `access/rates`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::error::Problem;

/// The most that any of these numbers may be: more is no limit.
const MOST: u32 = 1_000_000;

/// How much of the bot somebody may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Questions of one person that are open at a time, in all rooms together. Default 8.
    pub open_per_person: u32,
    /// Requests that are at work at a time, in all threads together. Default 200.
    pub at_work: u32,
    /// What one person says. Default 20 a minute, 10 at once.
    pub person: Rate<20, 10>,
    /// What people of a role say, in the place of `person`; of several the most generous counts. Default none.
    pub role: BTreeMap<String, Rate<20, 10>>,
    /// What the process's owner says at the console. Default 1,200 a minute, 600 at once.
    pub owner: Rate<1_200, 600>,
    /// What one account says that belongs to nobody in the access file. Default 3 a minute, 3 at once.
    pub stranger: Rate<3, 3>,
    /// What all such accounts say together. Default 30 a minute, 15 at once.
    pub strangers: Rate<30, 15>,
    /// What is said in one room. Default 60 a minute, 30 at once.
    pub room: Rate<60, 30>,
    /// What everybody who is known says together. Default 300 a minute, 100 at once.
    pub team: Rate<300, 100>,
    /// Discoveries for one person. Default 120 a minute, 60 at once.
    pub resolve: Rate<120, 60>,
    /// Readings for one person. Default 120 a minute, 60 at once.
    pub read: Rate<120, 60>,
    /// Changes that one person has planned. Default 10 a minute, 10 at once.
    pub write: Rate<10, 10>,
}

/// So many a minute, so many at once after a pause. Its type carries its defaults, so that either key can be given alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rate<const PER_MINUTE: u32, const BURST: u32> {
    /// In the long run.
    pub per_minute: u32,
    /// After a pause.
    pub burst: u32,
}

impl<const PER_MINUTE: u32, const BURST: u32> Default for Rate<PER_MINUTE, BURST> {
    fn default() -> Self {
        Self { per_minute: PER_MINUTE, burst: BURST }
    }
}

/// A rate as it is written. Serde derives nothing for a type with numbers in it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    per_minute: Option<u32>,
    burst: Option<u32>,
}

impl<'de, const PER_MINUTE: u32, const BURST: u32> Deserialize<'de> for Rate<PER_MINUTE, BURST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { per_minute, burst } = Written::deserialize(deserializer)?;
        Ok(Self { per_minute: per_minute.unwrap_or(PER_MINUTE), burst: burst.unwrap_or(BURST) })
    }
}

impl<const PER_MINUTE: u32, const BURST: u32> Rate<PER_MINUTE, BURST> {
    /// (a minute, at once).
    pub const fn numbers(self) -> (u32, u32) {
        (self.per_minute, self.burst)
    }
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            open_per_person: 8,
            at_work: 200,
            person: Rate::default(),
            role: BTreeMap::new(),
            owner: Rate::default(),
            stranger: Rate::default(),
            strangers: Rate::default(),
            room: Rate::default(),
            team: Rate::default(),
            resolve: Rate::default(),
            read: Rate::default(),
            write: Rate::default(),
        }
    }
}

impl Rates {
    /// Zero would silence people without a word, and is refused.
    pub(super) fn validate(&self) -> Result<(), Problem> {
        let single = [("open_per_person".to_owned(), self.open_per_person), ("at_work".to_owned(), self.at_work)];
        let rates = [
            ("person", self.person.numbers()),
            ("owner", self.owner.numbers()),
            ("stranger", self.stranger.numbers()),
            ("strangers", self.strangers.numbers()),
            ("room", self.room.numbers()),
            ("team", self.team.numbers()),
            ("resolve", self.resolve.numbers()),
            ("read", self.read.numbers()),
            ("write", self.write.numbers()),
        ];
        let rates = rates.map(|(name, numbers)| (name.to_owned(), numbers)).into_iter();
        let roles = self.role.iter().map(|(role, rate)| (format!("role.{role}"), rate.numbers()));
        let both = rates.chain(roles).flat_map(|(name, (per_minute, burst))| {
            [(format!("{name}.per_minute"), per_minute), (format!("{name}.burst"), burst)]
        });
        match single.into_iter().chain(both).find(|(_, value)| !(1..=MOST).contains(value)) {
            None => Ok(()),
            Some((key, value)) => {
                Err(Problem::new(format!("rates.{key}"), format!("must be from 1 to {MOST}, not {value}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Rates {
        toml::from_str(text).expect("it is sound")
    }

    #[test]
    fn one_key_of_a_rate_leaves_the_other_as_it_is() {
        let rates = read("[room]\nburst = 2\n[role.admin]\nper_minute = 90");
        assert_eq!(rates.room.numbers(), (60, 2));
        assert_eq!(rates.role["admin"].numbers(), (90, 10));
        assert_eq!(rates.person.numbers(), (20, 10));
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        let said = |text: &str| read(text).validate().map_err(|Problem { key, problem }| format!("`{key}` {problem}"));
        assert_eq!(said(""), Ok(()));
        let table = [
            ("at_work = 0", "`rates.at_work` must be from 1 to 1000000, not 0"),
            ("[team]\nper_minute = 0", "`rates.team.per_minute` must be from 1 to 1000000, not 0"),
            ("[role.admin]\nburst = 0", "`rates.role.admin.burst` must be from 1 to 1000000, not 0"),
            ("[read]\nburst = 1000001", "`rates.read.burst` must be from 1 to 1000000, not 1000001"),
        ];
        for (text, expected) in table {
            assert_eq!(said(text), Err(expected.to_owned()), "{text}");
        }
    }
}

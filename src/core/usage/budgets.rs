//! The budgets: how much a person, a room and the team may use a day, and which of them is used up. A budget is used up
//! when nothing of it is left; what a turn costs is known only afterwards, so that the last one may go beyond.

use std::fmt;

use crate::answer;
use crate::signal::{Ground, Wall};

use super::{Spent, Tally, Usage};

/// How much of each a day; none is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Daily {
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    /// Millionths of the currency.
    pub cost_micros: Option<u64>,
}

/// Everything that is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// For each person.
    pub person: Daily,
    /// For each room.
    pub room: Daily,
    /// For everybody together.
    pub team: Daily,
    /// Of each limit, what work that nobody waits for may use (SIG-11): at most 100.
    pub background_percent: u8,
    /// What amounts are followed by.
    pub currency: String,
}

impl Default for Budgets {
    fn default() -> Self {
        let none = Daily::default();
        Self { person: none, room: none, team: none, background_percent: 50, currency: "USD".to_owned() }
    }
}

/// Whose budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of the one who asks.
    Person,
    /// That of the room.
    Room,
    /// That of everybody together.
    Team,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Tokens.
    Tokens,
    /// Millionths of the currency.
    Cost,
}

/// How much of a budget is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of it.
    Whole,
    /// What work that nobody waits for may use.
    Background,
}

/// One budget and what was used of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whose.
    pub whose: Whose,
    /// Of what.
    pub measure: Measure,
    /// How much of it is meant.
    pub share: Share,
    /// Used today.
    pub used: u64,
    /// Allowed a day; none is no limit.
    pub limit: Option<u64>,
}

impl Line {
    /// What is left; none where there is no limit.
    pub fn left(&self) -> Option<u64> {
        Some(self.limit?.saturating_sub(self.used))
    }

    const fn is_used_up(&self) -> bool {
        matches!(self.limit, Some(limit) if self.used >= limit)
    }
}

/// Why no model may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBudget {
    /// Nothing is left of this one until then.
    UsedUp(Line, Wall),
    /// There is a limit, and nobody can say what was used.
    Unknown,
}

impl Budgets {
    /// Whether anything is limited.
    pub fn is_any(&self) -> bool {
        [self.person, self.room, self.team].iter().any(|daily| *daily != Daily::default())
    }

    /// Every budget with what was used of it: person, room and team, tokens and cost of each.
    pub fn lines(&self, spent: &Spent) -> [Line; 6] {
        self.lines_of(spent, Share::Whole)
    }

    /// Whether a model may go on for this request; else the first reason why not. Not to be asked about rules.
    pub fn allow(&self, spent: Option<&Spent>, ground: Ground) -> Result<(), NoBudget> {
        let Some(spent) = spent else {
            return if self.is_any() { Err(NoBudget::Unknown) } else { Ok(()) };
        };
        let background = match ground {
            Ground::Foreground => None,
            Ground::Background => Some(self.lines_of(spent, Share::Background)),
        };
        let mut lines = self.lines(spent).into_iter().chain(background.into_iter().flatten());
        let used_up = lines.find(Line::is_used_up);
        used_up.map_or(Ok(()), |line| Err(NoBudget::UsedUp(line, spent.day.over_at())))
    }

    /// An amount as people read it: `1200 tokens`, `0.42 EUR`.
    pub fn amount(&self, measure: Measure, amount: u64) -> String {
        match measure {
            Measure::Tokens => format!("{amount} tokens"),
            Measure::Cost => format!("{} {}", Money(amount), self.currency),
        }
    }

    /// Why no model may go on, as a sentence without its full stop.
    pub fn sentence(&self, why: &NoBudget) -> String {
        let (line, over_at) = match why {
            NoBudget::Unknown => {
                return "what was used today cannot be read, so that no model may go on while there is a budget"
                    .to_owned();
            }
            NoBudget::UsedUp(line, over_at) => (line, over_at),
        };
        let limit = self.amount(line.measure, line.limit.unwrap_or_default());
        let used = self.amount(line.measure, line.used);
        let whose = match line.whose {
            Whose::Person => "your",
            Whose::Room => "this room's",
            Whose::Team => "the team's",
        };
        let of = match line.share {
            Share::Whole => "budget",
            Share::Background => "budget for background work",
        };
        let anew = answer::time(*over_at);
        format!("{whose} {of} of {limit} a day is used up ({used} today); it begins anew at {anew}")
    }

    fn lines_of(&self, spent: &Spent, share: Share) -> [Line; 6] {
        let line = |whose, measure, tally: Tally, limit: Option<u64>| {
            let (usage, limit) = match share {
                Share::Whole => (tally.total(), limit),
                Share::Background => (tally.background, limit.map(|limit| self.background_share(limit))),
            };
            Line { whose, measure, share, used: used(measure, usage), limit }
        };
        let both = |whose, tally, daily: Daily| {
            let tokens = line(whose, Measure::Tokens, tally, daily.tokens);
            (tokens, line(whose, Measure::Cost, tally, daily.cost_micros))
        };
        let (person, person_cost) = both(Whose::Person, spent.person, self.person);
        let (room, room_cost) = both(Whose::Room, spent.room, self.room);
        let (team, team_cost) = both(Whose::Team, spent.team, self.team);
        [person, person_cost, room, room_cost, team, team_cost]
    }

    fn background_share(&self, limit: u64) -> u64 {
        let share = u128::from(limit) * u128::from(self.background_percent.min(100)) / 100;
        u64::try_from(share).unwrap_or(limit)
    }
}

const fn used(measure: Measure, usage: Usage) -> u64 {
    match measure {
        Measure::Tokens => usage.tokens(),
        Measure::Cost => usage.cost_micros,
    }
}

/// Millionths of a currency, with two decimals, or as many more as it takes to say them all.
#[derive(Clone, Copy, Debug)]
struct Money(u64);

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, millionths) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let digits = format!("{millionths:06}");
        let decimals = digits.trim_end_matches('0');
        write!(f, "{whole}.{decimals:0<2}")
    }
}

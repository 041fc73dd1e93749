//! A platform that can have a bad day: beside what every test plays on it, its fake makes trouble at given rates, and says
//! afterwards what the bot was handed and what it got from it. Nothing is judged.

use std::time::Duration;

use super::cast::Place;
use super::facts::Life;
use super::seen::Seen;
use crate::support::chat::Chat;

/// Of a thousand updates: how many come twice, and how many late. Of a thousand messages sent: how many are refused for now,
/// and how many come out without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) duplicates: u32,
    pub(super) reordered: u32,
    pub(super) too_many: u32,
    pub(super) lost: u32,
}

/// What goes wrong with every call for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spell {
    /// Refused for now, with a time.
    TooMany,
    /// An error of the server's.
    Broken,
    /// An error of something that stands before it.
    Gateway,
    /// The connection is cut, and nothing was done.
    Cut,
    /// What was asked for is done, and no answer comes.
    Lost,
    /// The answer comes seconds later.
    Slow,
    /// No answer ever comes, and nothing is done.
    Silent,
    /// Nobody listens, and every connection is cut.
    Gone,
}

impl Spell {
    pub(super) const ALL: [Self; 8] =
        [Self::TooMany, Self::Broken, Self::Gateway, Self::Cut, Self::Lost, Self::Slow, Self::Silent, Self::Gone];
}

/// What comes of a press.
pub(super) enum Pressed {
    /// It counts. The event, as the adapter names it.
    Counts(String),
    /// Whoever pressed is asked something first. The press.
    Asks(String),
}

/// Such a platform.
pub(super) trait Unruly: Chat {
    /// How many messages (`FAULTS_MESSAGES`) and kills (`FAULTS_KILLS`), where nothing else is set.
    const MESSAGES: u64 = 1000;
    const KILLS: u64 = 20;
    /// What goes wrong.
    const RATES: Rates = Rates { duplicates: 50, reordered: 50, too_many: 20, lost: 20 };
    /// Whether what was not confirmed is told again.
    const TELLS_AGAIN: bool;
    /// Whether what may have come out already comes out again as another message.
    const MAKES_COPIES: bool;
    /// Whether it may hand out a later thing before an earlier one.
    const REORDERS: bool = true;
    /// How often it can be stopped and started again during a run.
    const OUTAGES: usize = 0;

    /// One that nobody else uses.
    async fn of_its_own() -> Self {
        Self::open(Duration::from_mins(1) + super::run::patience()).await
    }

    /// Everywhere that something can be said, some of it to everybody.
    fn places(&self, people: &[i64]) -> Vec<Place<Self::Room>>;
    /// Lets everything go wrong at its rate.
    fn make_trouble(&self, rates: Rates, seed: u64);
    /// Somebody writes. The message.
    fn say_in(&self, place: &Place<Self::Room>, from: i64, text: &str, reply_to: Option<i64>) -> i64;
    /// A message as the adapter names it.
    fn event(&self, room: Self::Room, message: i64) -> String;
    /// Somebody presses a button; none where it is not there.
    fn press_if_there(&self, who: i64, at: (Self::Room, i64), label: &str) -> Option<Pressed>;
    /// Somebody says what a press asked for. The event that this is; none where nothing was asked by now.
    fn answer_what_is_asked(&self, press: &str) -> Option<String>;
    /// Who is told of what is done now; none where nobody is, and nobody will be.
    fn listener(&self) -> Option<String>;
    /// Waits until the bot has called so often.
    async fn called(&self, calls: usize);
    /// Has every call go wrong in this way for as long as this. Returns when it is over, where nobody listens meanwhile.
    async fn spell(&self, spell: Spell, time: Duration);
    /// Stops it at once, and starts it again on the same data. Blocks meanwhile.
    fn goes_down_and_up(&self) {}
    /// What the bot was handed and what came out. `kills` has, for each kill, how many calls came before it; `lives` what each
    /// life took.
    fn read_log(&self, kills: &[usize], lives: &[Life]) -> Seen;
}

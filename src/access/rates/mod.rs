//! How much of the bot somebody may have: rates of messages by person, room and team, rates of calls by kind, open questions,
//! and turns at work. Counted in memory, so that a restart forgets it. What is said of a limit is in the core.

mod limiter;
mod open;
mod people;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::port::Asker;
use countersign_core::rate::{Allowance, Most, Scope, is_decision};
use countersign_core::signal::{Actor, Mono, Payload, Signal, SignalId, ThreadKey};
use countersign_core::tool::ToolKind;
use tokio::sync::Semaphore;

use crate::config;
use limiter::{Key, Limiter};
use open::Open;

pub use open::Place;

/// How often somebody who types is offered what they may mean, a minute and at once: for each letter of somebody quick, and
/// no more than the policies are asked in passing. All strangers together have as much as one person.
const OFFERS: (u32, u32) = (120, 60);

/// Who somebody is, as far as limits go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The owner of the process, at the console.
    Owner,
    /// Somebody known, whatever account they use.
    Person {
        /// Unique.
        name: String,
        /// Their roles.
        roles: Vec<String>,
    },
    /// A service of ours: held to no limit.
    Service,
    /// Nobody known.
    Stranger,
}

/// Knows who an account belongs to. No I/O.
pub trait WhoIs: Send + Sync {
    /// Who asks. Roles of their platform count, as they do for rights.
    fn who(&self, asker: &Asker<'_>) -> Who;
}

/// What becomes of a message.
#[derive(Debug)]
pub enum Judged {
    /// It is taken; where its author's open questions are counted, this is its place among them.
    Taken(Option<Place>),
    /// It is refused, and nobody was told for a minute.
    Told(Allowance),
    /// It is refused, and that was said lately.
    Silent(Allowance),
}

/// All limits.
pub struct Rates {
    people: Box<dyn WhoIs>,
    person: Limiter,
    roles: BTreeMap<String, Limiter>,
    owner: Limiter,
    stranger: Limiter,
    strangers: Limiter,
    room: Limiter,
    team: Limiter,
    resolve: Limiter,
    read: Limiter,
    write: Limiter,
    offers: Limiter,
    /// The refusals that are told: one a minute for each key and limit.
    told: BTreeMap<Scope, Limiter>,
    open_max: u32,
    open: Open,
    places: Mutex<BTreeMap<SignalId, Place>>,
    at_work: Arc<Semaphore>,
    /// Held while a message is judged: it takes from all of its limits or from none.
    judging: Mutex<()>,
}

impl Rates {
    /// The configured limits, for these people.
    pub fn new(config: &config::Rates, people: Box<dyn WhoIs>) -> Self {
        let messages = [Scope::Person, Scope::Stranger, Scope::Strangers, Scope::Room, Scope::Team, Scope::Open];
        let role = |rate: config::Rate<20, 10>| Limiter::new(Scope::Person, rate.numbers());
        Self {
            people,
            person: Limiter::new(Scope::Person, config.person.numbers()),
            roles: config.role.iter().map(|(name, rate)| (name.clone(), role(*rate))).collect(),
            owner: Limiter::new(Scope::Person, config.owner.numbers()),
            stranger: Limiter::new(Scope::Stranger, config.stranger.numbers()),
            strangers: Limiter::new(Scope::Strangers, config.strangers.numbers()),
            room: Limiter::new(Scope::Room, config.room.numbers()),
            team: Limiter::new(Scope::Team, config.team.numbers()),
            resolve: Limiter::new(Scope::Resolve, config.resolve.numbers()),
            read: Limiter::new(Scope::Read, config.read.numbers()),
            write: Limiter::new(Scope::Write, config.write.numbers()),
            offers: Limiter::new(Scope::Person, OFFERS),
            told: messages.map(|scope| (scope, Limiter::new(scope, (1, 1)))).into(),
            open_max: config.open_per_person,
            open: Open::default(),
            places: Mutex::default(),
            at_work: Arc::new(Semaphore::new(usize::try_from(config.at_work).unwrap_or(Semaphore::MAX_PERMITS))),
            judging: Mutex::default(),
        }
    }

    /// Judges a message before it is stored. A refused one takes from no limit, so that a flood uses up nobody else's.
    pub fn judge(&self, signal: &Signal, now: Mono) -> Judged {
        let _one_at_a_time = self.judging.lock().unwrap_or_else(PoisonError::into_inner);
        let who = self.people.who(&signal.asker());
        if signal.payload.taken_back().is_some() && who != Who::Stranger {
            // What was asked for can be taken back however fast its author is; it permits nothing.
            return Judged::Taken(None);
        }
        if matches!(signal.payload, Payload::RoomMoved { .. }) {
            // The platform says it, and it would not say it again.
            return Judged::Taken(None);
        }
        let decides = is_decision(&signal.payload);
        let limits = self.on_messages(&who, &signal.actor, &signal.thread, decides);
        let over = limits.iter().map(|(limiter, key)| (limiter.look(key, now), key)).find(|(one, _)| one.left == 0);
        if let Some((over, key)) = over {
            // A room hears of the team's limit by itself; of strangers, all are one.
            let told_to = if over.scope == Scope::Team { &room_of(&signal.thread) } else { key };
            return self.refused(over, told_to, now);
        }
        let person = match who {
            Who::Person { name, .. } if !decides => Some(name),
            Who::Person { .. } | Who::Owner | Who::Service | Who::Stranger => None,
        };
        if let Some((name, over)) = person.as_ref().map(|name| (name, self.open_of(name))).filter(|(_, o)| o.left == 0)
        {
            return self.refused(over, &Key::Person(name.clone()), now);
        }
        for (limiter, key) in limits {
            limiter.take(&key, now);
        }
        Judged::Taken(person.map(|name| self.open.one_more(&name)))
    }

    /// How much of each limit is left for somebody, here.
    pub fn allowances(&self, asker: &Asker<'_>, now: Mono) -> Vec<Allowance> {
        let who = self.people.who(asker);
        let messages = self.on_messages(&who, asker.actor, asker.thread, false);
        let mut all: Vec<Allowance> = messages.iter().map(|(limiter, key)| limiter.look(key, now)).collect();
        if let Who::Person { name, .. } = &who {
            let key = Key::Person(name.clone());
            all.push(self.open_of(name));
            all.extend([&self.resolve, &self.read, &self.write].map(|limiter| limiter.look(&key, now)));
        }
        all
    }

    /// A call of this kind is made for somebody, or a write is planned. What is made without being asked for, such as the
    /// verification of a change, counts too, and is never refused.
    pub fn made(&self, asker: &Asker<'_>, kind: ToolKind, now: Mono) {
        let limiter = match kind {
            ToolKind::Resolve => &self.resolve,
            ToolKind::Read => &self.read,
            ToolKind::Write => &self.write,
            ToolKind::Record => return,
        };
        if let Who::Person { name, .. } = self.people.who(asker) {
            limiter.take(&Key::Person(name), now);
        }
    }

    /// Whether somebody who types is offered anything now. It is no message, and takes from no other limit.
    pub fn may_be_offered(&self, asker: &Asker<'_>, now: Mono) -> bool {
        let key = match self.people.who(asker) {
            Who::Owner | Who::Service => return true,
            Who::Person { name, .. } => Key::Person(name),
            Who::Stranger => Key::All,
        };
        self.offers.take(&key, now).left > 0
    }

    /// A message was accepted: its place is kept until it is answered.
    pub fn accepted(&self, signal: &SignalId, place: Option<Place>) {
        if let Some(place) = place {
            self.places.lock().unwrap_or_else(PoisonError::into_inner).insert(signal.clone(), place);
        }
    }

    /// A message was answered.
    pub fn answered(&self, signal: &SignalId) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).remove(signal);
    }

    /// Turns at work, given out in the order in which threads ask for them.
    pub fn at_work(&self) -> Arc<Semaphore> {
        Arc::clone(&self.at_work)
    }

    /// What a message of somebody's is held to, the narrowest first. The owner has the console alone. A stranger has nothing
    /// to do with what the team shares, and cannot use it up.
    fn on_messages(&self, who: &Who, actor: &Actor, thread: &ThreadKey, decides: bool) -> Vec<(&Limiter, Key)> {
        match who {
            Who::Service => Vec::new(),
            Who::Owner => vec![(&self.owner, Key::All)],
            Who::Stranger => {
                let account = Key::Account(thread.platform.clone(), actor.id.clone());
                vec![(&self.stranger, account), (&self.strangers, Key::All)]
            }
            Who::Person { name, roles } => {
                let own = (self.most_generous(roles), Key::Person(name.clone()));
                if decides { vec![own] } else { vec![own, (&self.room, room_of(thread)), (&self.team, Key::All)] }
            }
        }
    }

    fn most_generous(&self, roles: &[String]) -> &Limiter {
        let of_roles = roles.iter().filter_map(|role| self.roles.get(role));
        of_roles.max_by_key(|limiter| limiter.numbers()).unwrap_or(&self.person)
    }

    fn open_of(&self, person: &str) -> Allowance {
        let left = self.open_max.saturating_sub(self.open.of(person));
        Allowance { scope: Scope::Open, most: Most::AtOnce(self.open_max), left, wait_ms: 0 }
    }

    fn refused(&self, over: Allowance, key: &Key, now: Mono) -> Judged {
        let is_told = self.told.get(&over.scope).is_some_and(|told| told.take(key, now).left > 0);
        if is_told { Judged::Told(over) } else { Judged::Silent(over) }
    }
}

fn room_of(thread: &ThreadKey) -> Key {
    Key::Room(thread.platform.clone(), thread.conversation.clone())
}

#[cfg(test)]
mod tests;

//! One limit over many keys: governor's arithmetic over a store of ours, which is bounded and can also be looked at without
//! taking anything. Time is an argument.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::rate::{Allowance, Most, Scope};
use countersign_core::signal::{ActorId, ConversationId, Mono, Platform};
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::{Quota, RateLimiter};

/// The most keys of one limit: what is more shares one, so that a flood of new names costs no memory.
pub(super) const KEYS_MAX: usize = 10_000;

/// Whom a limit holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Somebody known, by whatever account.
    Person(String),
    /// An account of nobody known.
    Account(Platform, ActorId),
    /// A room, with all its threads.
    Room(Platform, ConversationId),
    /// Everybody together.
    All,
    /// Those who came when there was no more room.
    Others,
}

/// A question about a key. A look takes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Ask {
    key: Key,
    is_look: bool,
}

/// The time as it was told last.
#[derive(Clone, Debug, Default)]
struct Told(Arc<AtomicU64>);

impl Clock for Told {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(self.0.load(Ordering::Relaxed))
    }
}

/// How often keys are looked through for those that need not be kept: with all places taken every new name would ask for it.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// The keys of one limit.
#[derive(Default)]
struct Kept {
    /// When each key has all of its limit again. A key that has is as good as one that was never seen.
    full_at: BTreeMap<Key, Nanos>,
    /// When they are looked through next at the earliest.
    sweep_at: u64,
}

struct Slots {
    clock: Told,
    kept: Mutex<Kept>,
}

impl StateStore for Slots {
    type Key = Ask;

    fn measure_and_replace<T, F, E>(&self, ask: &Ask, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = kept.place(&ask.key, self.clock.now());
        let (measured, next) = measure(kept.full_at.get(key).copied())?;
        if !ask.is_look {
            kept.full_at.insert(key.clone(), next);
        }
        Ok(measured)
    }
}

impl Kept {
    /// Where a key is counted: by itself while there is room, else with all others that found none.
    fn place<'a>(&mut self, key: &'a Key, now: Nanos) -> &'a Key {
        if self.has_room() || self.full_at.contains_key(key) {
            return key;
        }
        if now.as_u64() >= self.sweep_at {
            self.full_at.retain(|_, at| *at > now);
            self.sweep_at = (now + Nanos::from(SWEEP_EVERY)).as_u64();
        }
        if self.has_room() { key } else { &Key::Others }
    }

    /// One place is kept for the others.
    fn has_room(&self) -> bool {
        self.full_at.len() + 1 < KEYS_MAX
    }
}

/// One limit.
pub(super) struct Limiter {
    scope: Scope,
    per_minute: u32,
    burst: u32,
    clock: Told,
    governor: RateLimiter<Ask, Slots, Told, StateInformationMiddleware>,
}

impl Limiter {
    /// So many a minute and so many at once; both at least one.
    pub(super) fn new(scope: Scope, (per_minute, burst): (u32, u32)) -> Self {
        let at_least_one = |count: u32| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_minute(at_least_one(per_minute)).allow_burst(at_least_one(burst));
        let clock = Told::default();
        let slots = Slots { clock: clock.clone(), kept: Mutex::default() };
        let governor = RateLimiter::new(quota, slots, clock.clone());
        Self { scope, per_minute, burst, clock, governor }
    }

    /// How much is left for this key. Takes nothing.
    pub(super) fn look(&self, key: &Key, now: Mono) -> Allowance {
        self.ask(key, now, true)
    }

    /// Takes one for this key, where there is one left. What it returns is how it stood before.
    pub(super) fn take(&self, key: &Key, now: Mono) -> Allowance {
        self.ask(key, now, false)
    }

    /// (a minute, at once), to compare by.
    pub(super) const fn numbers(&self) -> (u32, u32) {
        (self.per_minute, self.burst)
    }

    fn ask(&self, key: &Key, now: Mono, is_look: bool) -> Allowance {
        let nanos = now.0.saturating_mul(1_000_000);
        self.clock.0.store(nanos, Ordering::Relaxed);
        let (left, wait) = match self.governor.check_key(&Ask { key: key.clone(), is_look }) {
            Ok(after) => (after.remaining_burst_capacity().saturating_add(1), Duration::ZERO),
            Err(not_until) => (0, not_until.wait_time_from(Nanos::from(nanos))),
        };
        let wait_ms = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let most = Most::PerMinute { count: self.per_minute, burst: self.burst };
        Allowance { scope: self.scope, most, left, wait_ms }
    }

    /// How many keys are counted.
    #[cfg(test)]
    pub(super) fn keys(self) -> usize {
        self.governor.into_state_store().kept.into_inner().unwrap_or_else(PoisonError::into_inner).full_at.len()
    }
}

//! How it stands with each platform: the latest condition that it reported, and how long ago it was heard. That a connection
//! is open says nothing, and so nobody asks. What becomes of a broken one is `supervise`'s.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::env::PlatformStatus;
use countersign_core::port::Condition;
use countersign_core::signal::{Mono, Platform};

use crate::clock::wall_now;
use crate::telemetry;

/// Every platform that has said something of itself. One that never does, as the console, is not in it.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<BTreeMap<Platform, Known>>);

#[derive(Clone, Debug, Default)]
struct Known {
    heard: Option<Mono>,
    /// Since it was heard last.
    trouble: Option<Trouble>,
}

#[derive(Clone, Debug)]
struct Trouble {
    since: Mono,
    what: String,
    /// None where it is not tried again.
    again: Option<Mono>,
}

/// What a report changes, for the log: each attempt that fails like the one before it is no news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Trouble began, and this is what it is.
    Lost(String),
    /// It is heard for the first time.
    First,
    /// Trouble is over.
    Found,
}

impl Health {
    /// A platform reported this. What it changes, if anything.
    pub(super) fn report(&self, platform: &Platform, condition: Condition, now: Mono) -> Option<Change> {
        match condition {
            Condition::Hearing => {
                let before = self.lock().insert(platform.clone(), Known { heard: Some(now), trouble: None });
                let labels = [("platform", platform.to_string())];
                telemetry::gauge("platform_last_heard_seconds", &labels, seconds_of(wall_now().0));
                match before {
                    None => Some(Change::First),
                    Some(Known { trouble: Some(_), .. }) => Some(Change::Found),
                    Some(Known { trouble: None, .. }) => None,
                }
            }
            Condition::Trouble { what, again_in_ms } => {
                let again = Mono(now.0.saturating_add(again_in_ms));
                let begins = self.trouble(platform, what.clone(), Some(again), now);
                begins.then_some(Change::Lost(what))
            }
        }
    }

    /// A platform is started again. One that never said it was heard will not say so now.
    pub(super) fn started_again(&self, platform: &Platform) {
        self.lock().retain(|known, state| known != platform || state.heard.is_some());
    }

    /// A platform cannot go on until a person mends something.
    pub(super) fn refused(&self, platform: &Platform, what: String, now: Mono) {
        self.trouble(platform, what, None, now);
    }

    /// Each platform in a few words, for `status`.
    pub(super) fn statuses(&self, now: Mono) -> Vec<PlatformStatus> {
        let known = self.lock();
        known
            .iter()
            .map(|(platform, known)| PlatformStatus { name: platform.to_string(), state: state(known, now) })
            .collect()
    }

    /// Whether it begins with this.
    fn trouble(&self, platform: &Platform, what: String, again: Option<Mono>, now: Mono) -> bool {
        let mut known = self.lock();
        let known = known.entry(platform.clone()).or_default();
        let begins = known.trouble.is_none();
        let since = known.trouble.as_ref().map_or(known.heard.unwrap_or(now), |trouble| trouble.since);
        known.trouble = Some(Trouble { since, what, again });
        begins
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Platform, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn state(known: &Known, now: Mono) -> String {
    let ago = |at: Mono| now.since(at) / 1_000;
    match (&known.trouble, known.heard) {
        (None, None) => "not heard yet".to_owned(),
        (None, Some(heard)) => format!("heard {} s ago", ago(heard)),
        (Some(Trouble { since, what, again }), _) => {
            let again = match again {
                Some(again) => format!("tried again in {} s", again.since(now).div_ceil(1_000)),
                None => "not tried again before the next start".to_owned(),
            };
            format!("not reached for {} s: {}; {again}", ago(*since), what.trim_end_matches('.'))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time in seconds needs no more than a float holds")]
fn seconds_of(ms: i64) -> f64 {
    (ms / 1_000) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telegram(health: &Health, now: u64) -> String {
        let statuses = health.statuses(Mono(now));
        statuses.first().map(|status| format!("{}: {}", status.name, status.state)).unwrap_or_default()
    }

    #[test]
    fn health_is_the_time_since_the_last_sign_of_life() {
        let (health, platform) = (Health::default(), Platform::new("telegram"));
        assert_eq!(telegram(&health, 0), "", "who reports nothing is not listed");
        health.report(&platform, Condition::Hearing, Mono(1_000));
        insta::assert_snapshot!(telegram(&health, 4_100), @"telegram: heard 3 s ago");
        let trouble = |what: &str| Condition::Trouble { what: what.to_owned(), again_in_ms: 8_000 };
        health.report(&platform, trouble("the line is down"), Mono(20_000));
        health.report(&platform, trouble("the name is not found."), Mono(41_000));
        insta::assert_snapshot!(
            telegram(&health, 41_000),
            @"telegram: not reached for 40 s: the name is not found; tried again in 8 s"
        );
        health.refused(&platform, "the token is wrong".to_owned(), Mono(51_000));
        insta::assert_snapshot!(
            telegram(&health, 51_000),
            @"telegram: not reached for 50 s: the token is wrong; not tried again before the next start"
        );
        health.report(&platform, Condition::Hearing, Mono(61_000));
        assert_eq!(telegram(&health, 61_000), "telegram: heard 0 s ago");
    }

    #[test]
    fn only_the_first_of_many_failed_attempts_is_news_and_so_is_the_end_of_them() {
        let (health, platform) = (Health::default(), Platform::new("telegram"));
        let hearing = || health.report(&platform, Condition::Hearing, Mono(0));
        let trouble = |what: &str| {
            health.report(&platform, Condition::Trouble { what: what.to_owned(), again_in_ms: 1_000 }, Mono(0))
        };
        assert_eq!(trouble("it does not answer"), Some(Change::Lost("it does not answer".to_owned())), "at the start");
        assert_eq!(hearing(), Some(Change::Found));
        assert_eq!(hearing(), None);
        assert_eq!(trouble("the line is down"), Some(Change::Lost("the line is down".to_owned())));
        assert_eq!(trouble("the name is not found"), None);
        health.started_again(&platform);
        assert_eq!(trouble("the line is down"), None, "it was started again meanwhile, and still does not hear");
        assert_eq!(hearing(), Some(Change::Found));
        let begins = health.report(&Platform::new("matrix"), Condition::Hearing, Mono(0));
        assert_eq!(begins, Some(Change::First), "it only begins");
    }
}

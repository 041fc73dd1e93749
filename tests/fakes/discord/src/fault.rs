//! Faults on demand: which call or event goes wrong, how, and how often. Chance comes from a seed, so that a run can be
//! had again. What a fault does to a call is in `http`, to
//! an event of the gateway's in `gateway`.

use std::time::Duration;

use tokio::time::Instant;

use crate::channel::ChannelId;

/// One rule: what goes wrong, where, and how often. It holds for the next call or event, unless told otherwise.
#[derive(Debug, Clone)]
pub struct Fault {
    pub(crate) kind: Kind,
    method: Option<String>,
    channel: Option<ChannelId>,
    often: Often,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    TooMany(Duration),
    TooManyEverywhere(Duration),
    Status(u16),
    DropBefore,
    DropAfter,
    Slow(Duration),
    Silent,
    Duplicate(u32),
    Reorder,
}

#[derive(Debug, Clone)]
enum Often {
    Next(u32),
    Always,
    Every { nth: u32, seen: u32 },
    Chance { per_thousand: u64, seed: u64 },
    Until(Instant),
}

impl Fault {
    fn new(kind: Kind) -> Self {
        Self { kind, method: None, channel: None, often: Often::Next(1) }
    }

    /// 429 with this `retry_after`, and no effect.
    pub fn too_many(retry_after: Duration) -> Self {
        Self::new(Kind::TooMany(retry_after))
    }

    /// 429 of the limit over all routes (`global`), and no effect.
    pub fn too_many_everywhere(retry_after: Duration) -> Self {
        Self::new(Kind::TooManyEverywhere(retry_after))
    }

    /// This HTTP status (5xx, say), and no effect.
    pub fn status(code: u16) -> Self {
        Self::new(Kind::Status(code))
    }

    /// The request is read, the connection closed, and nothing done.
    pub fn drop_before() -> Self {
        Self::new(Kind::DropBefore)
    }

    /// What is asked for is done, and the connection closed without an answer.
    pub fn drop_after() -> Self {
        Self::new(Kind::DropAfter)
    }

    /// The answer comes that much later; its effect, too.
    pub fn slow(delay: Duration) -> Self {
        Self::new(Kind::Slow(delay))
    }

    /// The request is read and never answered; nothing is done.
    pub fn silent() -> Self {
        Self::new(Kind::Silent)
    }

    /// An event of the gateway's is sent `copies` times more, with the same number. A method does not matter here.
    pub fn duplicate(copies: u32) -> Self {
        Self::new(Kind::Duplicate(copies))
    }

    /// An event of the gateway's changes places with the one after it. A method does not matter here.
    pub fn reorder() -> Self {
        Self::new(Kind::Reorder)
    }

    /// Only for calls of this method (see [`crate::Call::method`]), in any case of letters. Without it, every method of
    /// the REST API is meant.
    #[must_use]
    pub fn on(mut self, method: &str) -> Self {
        self.method = Some(method.to_ascii_lowercase());
        self
    }

    /// Only in this channel.
    #[must_use]
    pub fn in_channel(mut self, channel: ChannelId) -> Self {
        self.channel = Some(channel);
        self
    }

    /// For the next `calls` that fit.
    #[must_use]
    pub fn next(mut self, calls: u32) -> Self {
        self.often = Often::Next(calls);
        self
    }

    /// Until the faults are cleared.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.often = Often::Always;
        self
    }

    /// For each `nth` call that fits, beginning with the `nth`. 0 is taken for 1.
    #[must_use]
    pub fn every(mut self, nth: u32) -> Self {
        self.often = Often::Every { nth: nth.max(1), seen: 0 };
        self
    }

    /// For that many of a thousand calls that fit, drawn from the seed.
    #[must_use]
    pub fn chance(mut self, per_thousand: u32, seed: u64) -> Self {
        self.often = Often::Chance { per_thousand: per_thousand.into(), seed };
        self
    }

    fn concerns_events(&self) -> bool {
        matches!(self.kind, Kind::Duplicate(_) | Kind::Reorder)
    }

    fn fits(&self, method: &str, channel: Option<ChannelId>) -> bool {
        let method = method.to_ascii_lowercase();
        self.method.as_ref().is_none_or(|own| *own == method) && self.channel.is_none_or(|own| Some(own) == channel)
    }

    /// For as long as this, from now on.
    #[must_use]
    pub fn lasting(mut self, time: Duration) -> Self {
        self.often = Often::Until(Instant::now() + time);
        self
    }

    /// Whether it strikes this time, counted down or drawn.
    fn strikes(&mut self) -> bool {
        match &mut self.often {
            Often::Always => true,
            Often::Every { nth, seen } => {
                *seen += 1;
                *seen % *nth == 0
            }
            Often::Next(0) => false,
            Often::Next(left) => {
                *left -= 1;
                true
            }
            Often::Chance { per_thousand, seed } => draw(seed) % 1000 < *per_thousand,
            Often::Until(end) => Instant::now() < *end,
        }
    }
}

/// The next number of splitmix64 (Steele, Lea and Flood, 2014): small, and good enough to spread faults.
fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The rules in force, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What happens to this call: the first rule that fits and strikes.
    pub(crate) fn call(&mut self, method: &str, channel: Option<ChannelId>) -> Option<Kind> {
        let fitting = self.0.iter_mut().filter(|fault| !fault.concerns_events() && fault.fits(method, channel));
        fitting.into_iter().find_map(|fault| fault.strikes().then(|| fault.kind.clone()))
    }

    /// Whether this new event is to come late.
    pub(crate) fn reorders(&mut self, channel: Option<ChannelId>) -> bool {
        self.event(channel, |kind| *kind == Kind::Reorder).is_some()
    }

    /// How often this event is sent once more.
    pub(crate) fn copies(&mut self, channel: Option<ChannelId>) -> u32 {
        match self.event(channel, |kind| matches!(kind, Kind::Duplicate(_))) {
            Some(Kind::Duplicate(copies)) => copies,
            _ => 0,
        }
    }

    fn event(&mut self, channel: Option<ChannelId>, wanted: impl Fn(&Kind) -> bool) -> Option<Kind> {
        let mut fitting = self
            .0
            .iter_mut()
            .filter(|fault| wanted(&fault.kind) && fault.channel.is_none_or(|own| Some(own) == channel));
        fitting.find_map(|fault| fault.strikes().then(|| fault.kind.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: Duration = Duration::from_secs(3);

    #[test]
    fn a_rule_holds_for_its_method_its_channel_and_its_count() {
        let mut faults = Faults::default();
        faults.add(Fault::too_many(SECONDS).on("CreateMessage").in_channel(ChannelId(1)).next(2));
        assert_eq!(faults.call("createMessage", Some(ChannelId(2))), None);
        assert_eq!(faults.call("getCurrentUser", None), None);
        let struck: Vec<_> = (0..3).map(|_| faults.call("createMessage", Some(ChannelId(1)))).collect();
        assert_eq!(struck, [Some(Kind::TooMany(SECONDS)), Some(Kind::TooMany(SECONDS)), None]);
    }

    #[test]
    fn every_third_is_the_third_and_the_sixth() {
        let mut faults = Faults::default();
        faults.add(Fault::status(500).every(3));
        let struck: Vec<_> = (0..6).map(|_| faults.call("createMessage", None).is_some()).collect();
        assert_eq!(struck, [false, false, true, false, false, true]);
    }

    #[test]
    fn chance_is_near_its_rate_and_the_same_for_the_same_seed() {
        let run = |seed| {
            let mut faults = Faults::default();
            faults.add(Fault::status(502).chance(50, seed));
            (0..10_000).map(|_| faults.call("getCurrentUser", None).is_some()).collect::<Vec<_>>()
        };
        let struck = run(7).iter().filter(|struck| **struck).count();
        assert!((400..600).contains(&struck), "{struck} of 10,000 at 5 %");
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }
}

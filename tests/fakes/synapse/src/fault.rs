//! What can go wrong between a bot and the homeserver. Each is what Matrix itself can answer, or what a network does.

use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

/// Something that goes wrong, from now on until it is used up or cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) kind: Kind,
    /// What a call's path has to hold.
    pub(crate) within: Vec<String>,
    often: Often,
}

/// How often something that could go wrong does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Often {
    Always,
    Next(u32),
    Chance { per_thousand: u32, drawn_by: Rng },
    Until(Instant),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 429: again after so many milliseconds.
    TooMany(u64),
    /// An error of the server, by its status; nothing is done.
    Broken(u16),
    /// 401: the token has ended, and the same device may log in again. Nothing is done.
    LoggedOut,
    /// It is not passed on until the faults are cleared.
    Held,
    /// It is done, and nobody hears of it.
    LostReply,
    /// A sync that tells of anything that somebody but this account did is told so many times more.
    ToldAgain(u32, String),
}

impl Fault {
    /// 429, and again after so many milliseconds.
    pub fn too_many(retry_after_ms: u64) -> Self {
        Self::new(Kind::TooMany(retry_after_ms))
    }

    /// An error of the server, by its HTTP status. Nothing is done.
    pub fn broken(status: u16) -> Self {
        Self::new(Kind::Broken(status))
    }

    /// The account's token has ended, and the same device may log in again (soft logout). Nothing is done.
    pub fn logged_out() -> Self {
        Self::new(Kind::LoggedOut)
    }

    /// The call waits until the faults are cleared, and is passed on then.
    pub fn held() -> Self {
        Self::new(Kind::Held)
    }

    /// The call is done, and its answer is lost.
    pub fn lost_reply() -> Self {
        Self::new(Kind::LostReply)
    }

    /// The next sync that tells of anything that was said by somebody but this account is told so many times more.
    pub fn told_again(times: u32, but: &str) -> Self {
        Self::new(Kind::ToldAgain(times, but.to_owned())).on("/sync").times(1)
    }

    fn new(kind: Kind) -> Self {
        Self { kind, within: Vec::new(), often: Often::Always }
    }

    /// Only for calls with this in their path.
    #[must_use]
    pub fn on(mut self, part: &str) -> Self {
        self.within.push(part.to_owned());
        self
    }

    /// Only for messages and reactions sent to this room.
    #[must_use]
    pub fn in_room(self, room: &str) -> Self {
        self.on(&room.replace('!', "%21").replace(':', "%3A")).on("/send/")
    }

    /// Only for so many calls.
    #[must_use]
    pub fn times(self, calls: u32) -> Self {
        Self { often: Often::Next(calls), ..self }
    }

    /// Only for so many of a thousand calls, drawn from the seed.
    #[must_use]
    pub fn chance(self, per_thousand: u32, seed: u64) -> Self {
        Self { often: Often::Chance { per_thousand, drawn_by: Rng::with_seed(seed) }, ..self }
    }

    /// For as long as this, from now on.
    #[must_use]
    pub fn lasting(self, time: Duration) -> Self {
        Self { often: Often::Until(Instant::now() + time), ..self }
    }

    /// Whether it is meant for a call like this.
    pub fn is_for(&self, call: &crate::Call) -> bool {
        self.is_about(&call.path)
    }

    /// Whether it is meant for calls with this path.
    pub(crate) fn is_about(&self, path: &str) -> bool {
        self.within.iter().all(|part| plain(path).contains(&plain(part)))
    }

    /// Whether a call with this path may meet it.
    pub(crate) fn meets(&self, path: &str) -> bool {
        self.often != Often::Next(0) && self.is_about(path)
    }

    /// Whether it strikes this time, counted down or drawn.
    pub(crate) fn strikes(&mut self) -> bool {
        match &mut self.often {
            Often::Always => true,
            Often::Next(0) => false,
            Often::Next(left) => {
                *left -= 1;
                true
            }
            Often::Chance { per_thousand, drawn_by } => drawn_by.u32(0..1000) < *per_thousand,
            Often::Until(end) => Instant::now() < *end,
        }
    }
}

/// A path without the ways in which the same sign can be written.
fn plain(path: &str) -> String {
    path.replace("%21", "!").replace("%3A", ":").replace("%3a", ":")
}

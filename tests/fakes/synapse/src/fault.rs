//! What can go wrong between a bot and the homeserver. Each is what Matrix itself can answer, or what a network does.

/// Something that goes wrong, from now on until it is used up or cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) kind: Kind,
    /// What a call's path has to hold.
    pub(crate) within: Vec<String>,
    /// How many calls it meets; none is all.
    pub(crate) left: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 429: again after so many milliseconds.
    TooMany(u64),
    /// An error of the server, by its status; nothing is done.
    Broken(u16),
    /// It is done, and nobody hears of it.
    LostReply,
    /// The same sync is told so many times more.
    ToldAgain(u32),
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

    /// The call is done, and its answer is lost.
    pub fn lost_reply() -> Self {
        Self::new(Kind::LostReply)
    }

    /// The next sync that tells of something is told so many times more.
    pub fn told_again(times: u32) -> Self {
        Self { left: Some(1), ..Self::new(Kind::ToldAgain(times)).on("/sync") }
    }

    fn new(kind: Kind) -> Self {
        Self { kind, within: Vec::new(), left: None }
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
        Self { left: Some(calls), ..self }
    }

    pub(crate) fn meets(&self, path: &str) -> bool {
        self.left != Some(0) && self.within.iter().all(|part| plain(path).contains(&plain(part)))
    }
}

/// A path without the ways in which the same sign can be written.
fn plain(path: &str) -> String {
    path.replace("%21", "!").replace("%3A", ":").replace("%3a", ":")
}

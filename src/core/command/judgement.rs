//! What the classifier says of a command: its intent, its risk, whether it ends, why, and what to run instead. Only the
//! words of the answer; how it is found lies beside.

use serde::{Deserialize, Serialize, Serializer};

use super::line::{CommandList, Stage};

/// What running a command can do (EXE-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// It only reads, whatever its input is: the program and every option of it are known.
    ReadOnlyCertain,
    /// It only reads because of what is inside it: a statement, a little program, or a wrapped command that was judged.
    ReadOnlyConditional,
    /// It changes something, or nobody can say that it does not.
    WriteOrUnknown,
}

impl Intent {
    /// Whether a read tool may run it (EXE-04).
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::ReadOnlyCertain | Self::ReadOnlyConditional)
    }

    /// The name in answers and metrics: `read_only_certain`, `read_only_conditional` or `write_or_unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnlyCertain => "read_only_certain",
            Self::ReadOnlyConditional => "read_only_conditional",
            Self::WriteOrUnknown => "write_or_unknown",
        }
    }
}

/// How much a command can break (EXE-22). [`Risk::LowWrite`] is for internal notes and acknowledgements (C-22): no
/// command of a shell is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// 0: changes nothing.
    ReadOnly,
    /// 1: changes only notes of our own.
    LowWrite,
    /// 2: changes something that can be changed back.
    MediumWrite,
    /// 3: destroys, stops, or lets anything at all happen.
    HighWrite,
}

impl Risk {
    /// The level as a number, 0 to 3.
    pub const fn level(self) -> u8 {
        match self {
            Self::ReadOnly => 0,
            Self::LowWrite => 1,
            Self::MediumWrite => 2,
            Self::HighWrite => 3,
        }
    }
}

impl Serialize for Risk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.level())
    }
}

/// Why a command does not end by itself (EXE-17). Also a label of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// It asks for a terminal.
    TtyFlag,
    /// It shows a page and waits for a key.
    Pager,
    /// It goes on until somebody stops it.
    UnboundedStream,
    /// It waits for what somebody types.
    InteractiveRepl,
}

impl Category {
    /// The name in answers and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TtyFlag => "tty_flag",
            Self::Pager => "pager",
            Self::UnboundedStream => "unbounded_stream",
            Self::InteractiveRepl => "interactive_repl",
        }
    }
}

/// What is known of one command line. Only what [`Judgement::is_proven`] may run through a read tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What it can do.
    pub intent: Intent,
    /// How bad that can be.
    pub risk: Risk,
    /// Why it does not end by itself; `None` where it does, or has a bound of its own.
    pub category: Option<Category>,
    /// Why, in words for people: what it writes, or what is not known of it.
    pub reason: String,
    /// A line that does nearly the same, only reads, and ends, where there is one (EXE-20).
    pub rewrite: Option<String>,
    /// How to run it; only of a command line that only reads.
    pub run: Option<CommandList>,
    /// Why it could show a file that nobody named (`grep -r x /etc`), where it could: a secret among them would be seen
    /// by no gate.
    pub shows_unseen: Option<String>,
}

impl Judgement {
    /// Whether it ends by itself, or has an explicit bound (EXE-16).
    pub const fn is_bounded(&self) -> bool {
        self.category.is_none()
    }

    /// Whether a read tool may run it: it only reads, and it ends.
    pub const fn is_proven(&self) -> bool {
        self.intent.only_reads() && self.is_bounded()
    }

    /// Whether any of its commands talks to another machine.
    pub fn uses_network(&self) -> bool {
        self.run.iter().flat_map(CommandList::stages).any(|stage| stage.traits.reach.network.is_some())
    }

    /// Whether another program of this machine carries out what stands in it: a command in a container, a statement of a
    /// database. What it reads there has no path on this machine.
    pub fn asks_a_service(&self) -> bool {
        let uses_socket = |stage: &Stage| !stage.traits.reach.sockets.is_empty();
        self.intent == Intent::ReadOnlyConditional && self.run.iter().flat_map(CommandList::stages).any(uses_socket)
    }

    /// Whether any of its commands has a redirect.
    pub fn has_redirects(&self) -> bool {
        self.run.iter().flat_map(CommandList::stages).any(Stage::is_redirected)
    }
}

/// What one part of a line comes to. Parts are joined by [`Finding::and`]: the worst one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) intent: Intent,
    pub(super) risk: Risk,
    pub(super) category: Option<Category>,
    /// Of what is worst; empty for a plain read.
    pub(super) reason: String,
}

impl Finding {
    /// Only reads, whatever is inside.
    pub(super) const fn reads() -> Self {
        Self { intent: Intent::ReadOnlyCertain, risk: Risk::ReadOnly, category: None, reason: String::new() }
    }

    /// Changes something, and what.
    pub(super) const fn writes(reason: String, risk: Risk) -> Self {
        Self { intent: Intent::WriteOrUnknown, risk, category: None, reason }
    }

    /// Nobody can say; treated as a write.
    pub(super) const fn unknown(reason: String) -> Self {
        Self::writes(reason, Risk::MediumWrite)
    }

    /// Only reads, but does not end by itself.
    pub(super) const fn endless(category: Category, reason: String) -> Self {
        Self { intent: Intent::ReadOnlyCertain, risk: Risk::ReadOnly, category: Some(category), reason }
    }

    /// The same, by its content: no longer certain.
    pub(super) fn by_content(mut self) -> Self {
        self.intent = self.intent.max(Intent::ReadOnlyConditional);
        self
    }

    /// The same with an end that comes from outside (`timeout 5s ...`).
    pub(super) fn bounded(mut self) -> Self {
        if self.intent.only_reads() && self.category.is_some() {
            self.reason.clear();
        }
        self.category = None;
        self
    }

    /// Both: the higher intent, the higher risk, the first category, and the reason of the worse one.
    pub(super) fn and(self, other: Self) -> Self {
        let weight = |f: &Self| (f.intent == Intent::WriteOrUnknown, f.risk, f.category.is_some());
        let (worse, better) = if weight(&other) > weight(&self) { (other, self) } else { (self, other) };
        Self {
            intent: worse.intent.max(better.intent),
            risk: worse.risk.max(better.risk),
            category: worse.category.or(better.category),
            reason: if worse.reason.is_empty() { better.reason } else { worse.reason },
        }
    }
}

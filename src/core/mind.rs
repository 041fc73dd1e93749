//! What a language model is asked, and what it says. Plain data, both ways: the question leaves the core as a
//! `Cleared<Ask>`, and the answer is untrusted text until the loop in `thread/agent/` has read it. How a question is worded
//! for a model, and how that is reached, is the shell's.

use serde::{Deserialize, Serialize};

use crate::signal::SignalId;
use crate::usage::Usage;

/// Which of the configured models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The small one: the call and no prose (SPB-01).
    Fast,
    /// The large one (SPB-02).
    Smart,
}

impl Tier {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Smart => "smart",
        }
    }
}

/// The models that are configured, by name. With one of them alone, it is asked for everything (SPB-04, C-31).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minds {
    /// The small one.
    pub fast: Option<String>,
    /// The large one.
    pub smart: Option<String>,
}

impl Minds {
    /// Who is asked first; none where no model is configured.
    pub const fn first(&self) -> Option<Tier> {
        match (&self.fast, &self.smart) {
            (Some(_), _) => Some(Tier::Fast),
            (None, Some(_)) => Some(Tier::Smart),
            (None, None) => None,
        }
    }

    /// Who is asked where this one could not; none where nobody is left (SPB-03).
    pub const fn above(&self, tier: Tier) -> Option<Tier> {
        match (tier, &self.smart) {
            (Tier::Fast, Some(_)) => Some(Tier::Smart),
            (Tier::Fast, None) | (Tier::Smart, _) => None,
        }
    }

    /// Its name; a label of metrics.
    pub fn name(&self, tier: Tier) -> &str {
        let name = match tier {
            Tier::Fast => self.fast.as_deref(),
            Tier::Smart => self.smart.as_deref(),
        };
        name.unwrap_or("none")
    }
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// For which request.
    pub signal: SignalId,
    /// Which question of that request, from 1. The answer comes back under it.
    pub n: u32,
    /// Who is asked.
    pub tier: Tier,
    /// A number that nobody outside knows, the same through a request. What is not to be trusted is put between marks that
    /// have it in them, so that it cannot end where it pretends to.
    pub fence: u64,
    /// What it has to know.
    pub situation: Situation,
}

/// Everything that a model is told: masked, bounded, and nothing else of the thread. In the order in which it is told: what
/// stays the same through a request comes first, so that a server need not read it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Situation {
    /// What the person wrote.
    pub question: String,
    /// What the thread knew to be there when it was asked: a line each, that begins with the canonical id.
    pub targets: Vec<String>,
    /// What was learnt before, a line each.
    pub known: Vec<String>,
    /// What was asked and answered in this thread before, a line each, the oldest first. Nothing rests on it.
    pub earlier: Vec<String>,
    /// What it did so far, the oldest first.
    pub exchanges: Vec<Exchange>,
    /// What was found to be there since it was asked: lines as in `targets`.
    pub since: Vec<String>,
    /// The target of a change that is not verified yet.
    pub unverified: Option<String>,
    /// What it may call; nothing where it has to answer now.
    pub offers: Vec<Offer>,
    /// What it has to be told beside that: fixed sentences of ours (C-41).
    pub notes: Vec<&'static str>,
}

/// How many characters a prompt puts around what it tells, at most: its rules and titles; the words and marks around a call
/// that was made; around one that is offered, and around its target and each argument of it. The model client's tests hold it to that.
const FRAME_CHARS: usize = 2_000;
const EXCHANGE_CHARS: usize = 150;
const OFFER_CHARS: usize = 130;
const TARGET_CHARS: usize = 100;
const ARG_CHARS: usize = 55;

impl Situation {
    /// How many characters it is told in, at most: what is in it, and what a prompt puts around that.
    pub fn chars(&self) -> usize {
        let lines = [&self.targets, &self.known, &self.earlier, &self.since].into_iter().flatten();
        let lines =
            lines.chain([&self.question]).chain(&self.unverified).map(|line| line.chars().count().saturating_add(1));
        let notes = self.notes.iter().map(|note| note.chars().count().saturating_add(2));
        let told = self.exchanges.iter().map(Exchange::chars);
        let all: usize = lines.chain(notes).chain(told).chain(self.offers.iter().map(Offer::chars)).sum();
        all.saturating_add(FRAME_CHARS)
    }
}

/// One thing that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// `tool.action`.
    pub name: String,
    /// What it does.
    pub about: String,
    /// The kind of thing that it is called on; none for a discovery.
    pub target: Option<String>,
    /// Its arguments.
    pub args: Vec<OfferedArg>,
}

impl Offer {
    fn chars(&self) -> usize {
        let args = self.args.iter().map(|arg| {
            let choices = arg.choices.iter().map(|choice| choice.chars().count().saturating_add(3));
            let texts = arg.name.chars().count().saturating_mul(2).saturating_add(arg.about.chars().count());
            choices.sum::<usize>().saturating_add(texts).saturating_add(ARG_CHARS)
        });
        let target = self.target.as_ref().map_or(0, |target| target.chars().count().saturating_add(TARGET_CHARS));
        let own = self.name.chars().count().saturating_add(self.about.chars().count()).saturating_add(target);
        args.sum::<usize>().saturating_add(own).saturating_add(OFFER_CHARS)
    }
}

/// One argument of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedArg {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// `integer`, `boolean` or `string`, as JSON Schema names them.
    pub kind: &'static str,
    /// What it is chosen from, where it is.
    pub choices: Vec<String>,
    /// Whether it must be given.
    pub required: bool,
}

/// A call that was proposed, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// `tool.action`, as proposed.
    pub call: String,
    /// The target, as proposed.
    pub target: Option<String>,
    /// The arguments, as proposed: JSON.
    pub args: String,
    /// What came back: a tool's words, or why it was refused. Not to be trusted.
    pub result: String,
    /// Whether it worked.
    pub ok: bool,
}

impl Exchange {
    /// How many characters it is told in, at most.
    pub(crate) fn chars(&self) -> usize {
        let target = self.target.as_deref().unwrap_or_default();
        let texts = [self.call.as_str(), target, &self.args, &self.result];
        texts.iter().map(|text| text.chars().count()).sum::<usize>().saturating_add(EXCHANGE_CHARS)
    }
}

/// What a model said. All of it is a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// Its prose.
    pub text: String,
    /// The calls that it made by its own means.
    pub calls: Vec<RawCall>,
    /// What that has used.
    pub usage: Usage,
}

/// A call as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCall {
    /// What it called it.
    pub name: String,
    /// What should be a JSON object.
    pub arguments: String,
}

/// Why a model said nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unheard {
    /// A few words: `its server cannot be reached: connection refused`. Not masked yet.
    pub why: String,
    /// What that has used all the same; estimated where nobody counted it.
    #[serde(default)]
    pub usage: Usage,
}

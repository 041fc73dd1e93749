//! The lines of a recording: a header, then one line for each input that a thread was given. Reading and writing them is
//! here; what is done with them is not.

use countersign_core::approval::{Digest, Filed, Frozen, PlanId, Standing};
use countersign_core::effect::Input;
use countersign_core::envelope::Envelope;
use countersign_core::mind::{Minds, Thought, Unheard};
use countersign_core::signal::{ActorId, CallId, Mono, Now, Platform, Signal, SignalId, ThreadKey, Wall};
use countersign_core::usage::{Origin, Usage};
use serde::{Deserialize, Serialize};

/// The form of these lines. A recording of another form is refused.
pub(super) const FORM: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always 1.
    pub form: u32,
    /// The version that recorded.
    pub countersign: String,
    /// Whose console it was: in a replay the same person has the owner's rights, whoever replays it. None where no console
    /// was part of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Which models there were to ask, where that is not what the configuration says: the simulation has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Models>,
}

/// The models of a recording, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// The small one.
    pub fast: Option<String>,
    /// The large one.
    pub smart: Option<String>,
}

impl From<Models> for Minds {
    fn from(models: Models) -> Self {
        Self { fast: models.fast, smart: models.smart }
    }
}

/// The console's one person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The console's platform.
    pub platform: Platform,
    /// The person's immutable id there.
    pub id: ActorId,
}

impl Header {
    /// Of this version.
    pub fn new(owner: Option<(Platform, ActorId)>) -> Self {
        let owner = owner.map(|(platform, id)| Owner { platform, id });
        Self { form: FORM, countersign: env!("CARGO_PKG_VERSION").to_owned(), owner, models: None }
    }

    /// The same, with these models to ask.
    #[must_use]
    pub fn with_models(self, minds: Minds) -> Self {
        Self { models: Some(Models { fast: minds.fast, smart: minds.smart }), ..self }
    }
}

/// Any other line: at this time this thread was told this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Which thread.
    pub thread: ThreadKey,
    /// Time and chance.
    pub now: Moment,
    /// What it was told.
    #[serde(flatten)]
    pub told: Told,
}

/// Time and chance of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// Milliseconds since the Unix epoch.
    pub wall: Wall,
    /// Milliseconds of the stopwatch.
    pub mono: u64,
    /// 128 bits as 32 hexadecimal digits.
    pub seed: String,
}

/// What a thread is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// A signal came.
    Signal(Box<Signal>),
    /// A signal that an earlier process did not answer.
    Again(Box<Signal>),
    /// A signal that is given up.
    Interrupted(Box<Signal>),
    /// Its memory was gone: its process had ended, or it had been idle for long.
    Forgot,
    /// A tool answered.
    Answer {
        /// Which call.
        call: CallId,
        /// What.
        envelope: Box<Envelope>,
    },
    /// Something was used for a signal.
    Used {
        /// Which.
        signal: Box<Signal>,
        /// Who thought of it.
        by: Origin,
        /// How much.
        usage: Usage,
    },
    /// A model answered, or did not.
    Thought {
        /// For which request.
        signal: Box<Signal>,
        /// Which question of it.
        n: u32,
        /// What it said.
        heard: Box<Result<Thought, Unheard>>,
    },
    /// The time of a request was over.
    Deadline(SignalId),
    /// A signal that was heard while another was worked on.
    Aside(Box<Signal>),
    /// What was worked on was to end, where somebody had asked for that.
    Halt(SignalId),
    /// What the store held of the thread's plans.
    Filed(Vec<StoredPlan>),
    /// Somebody else had changed a row of the ledger.
    Overtaken(Box<Signal>),
    /// Another instance had moved a plan.
    Lost {
        /// Whose step was refused.
        signal: Box<Signal>,
        /// The plan as it stood.
        filed: StoredPlan,
    },
    /// Another plan held the target.
    Held {
        /// Whose step was refused.
        signal: Box<Signal>,
        /// The plan as it stood.
        filed: StoredPlan,
        /// Which plan held it.
        by: PlanId,
    },
}

/// A plan as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPlan {
    /// Its canonical bytes.
    pub bytes: String,
    /// Their digest.
    pub digest: Digest,
    /// Where it stands.
    pub standing: Standing,
}

impl From<&Filed> for StoredPlan {
    fn from(filed: &Filed) -> Self {
        let frozen = &filed.frozen;
        let (bytes, digest) = (frozen.bytes().to_owned(), frozen.digest().clone());
        Self { bytes, digest, standing: filed.standing.clone() }
    }
}

impl TryFrom<StoredPlan> for Filed {
    type Error = countersign_core::approval::BadPlan;

    fn try_from(stored: StoredPlan) -> Result<Self, Self::Error> {
        Ok(Self { frozen: Frozen::read(stored.bytes, &stored.digest)?, standing: stored.standing })
    }
}

impl Line {
    /// The line of one step.
    pub fn of(thread: &ThreadKey, now: Now, input: &Input) -> Self {
        let seed = format!("{:032x}", now.seed);
        let now = Moment { wall: now.wall, mono: now.mono.0, seed };
        Self { thread: thread.clone(), now, told: told(input) }
    }

    /// The line of a thread whose memory was gone at this time.
    pub fn forgot(thread: &ThreadKey, now: Now) -> Self {
        let now = Moment { wall: now.wall, mono: now.mono.0, seed: format!("{:032x}", now.seed) };
        Self { thread: thread.clone(), now, told: Told::Forgot }
    }

    /// What the step was given; no input where the thread's memory was gone. An error is a sentence.
    pub fn step(self) -> Result<(ThreadKey, Option<Input>, Now), String> {
        let Moment { wall, mono, seed } = self.now;
        let seed = u128::from_str_radix(&seed, 16).map_err(|error| format!("`seed` is no number: {error}"))?;
        Ok((self.thread, input(self.told)?, Now { wall, mono: Mono(mono), seed }))
    }
}

fn told(input: &Input) -> Told {
    match input {
        Input::Signal(signal) => Told::Signal(signal.clone()),
        Input::Again(signal) => Told::Again(signal.clone()),
        Input::Interrupted(signal) => Told::Interrupted(signal.clone()),
        Input::Answer { call, envelope } => Told::Answer { call: call.clone(), envelope: envelope.clone() },
        Input::Used { signal, by, usage } => Told::Used { signal: signal.clone(), by: *by, usage: *usage },
        Input::Thought { signal, n, heard } => Told::Thought { signal: signal.clone(), n: *n, heard: heard.clone() },
        Input::Deadline(signal) => Told::Deadline(signal.clone()),
        Input::Aside(signal) => Told::Aside(signal.clone()),
        Input::Halt(signal) => Told::Halt(signal.clone()),
        Input::Filed(filed) => Told::Filed(filed.iter().map(StoredPlan::from).collect()),
        Input::Lost { signal, filed } => Told::Lost { signal: signal.clone(), filed: (&**filed).into() },
        Input::Held { signal, filed, by } => {
            Told::Held { signal: signal.clone(), filed: (&**filed).into(), by: by.clone() }
        }
        Input::Overtaken(signal) => Told::Overtaken(signal.clone()),
    }
}

fn input(told: Told) -> Result<Option<Input>, String> {
    let filed = |stored: StoredPlan| Filed::try_from(stored).map_err(|error| error.to_string());
    Ok(Some(match told {
        Told::Forgot => return Ok(None),
        Told::Signal(signal) => Input::Signal(signal),
        Told::Again(signal) => Input::Again(signal),
        Told::Interrupted(signal) => Input::Interrupted(signal),
        Told::Answer { call, envelope } => Input::Answer { call, envelope },
        Told::Used { signal, by, usage } => Input::Used { signal, by, usage },
        Told::Thought { signal, n, heard } => Input::Thought { signal, n, heard },
        Told::Deadline(signal) => Input::Deadline(signal),
        Told::Aside(signal) => Input::Aside(signal),
        Told::Halt(signal) => Input::Halt(signal),
        Told::Filed(stored) => Input::Filed(stored.into_iter().map(filed).collect::<Result<_, _>>()?),
        Told::Lost { signal, filed: stored } => Input::Lost { signal, filed: Box::new(filed(stored)?) },
        Told::Held { signal, filed: stored, by } => Input::Held { signal, filed: Box::new(filed(stored)?), by },
        Told::Overtaken(signal) => Input::Overtaken(signal),
    }))
}

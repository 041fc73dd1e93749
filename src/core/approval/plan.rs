//! The plan: what exactly will be done, to what, for whom, and what the target looked like when it was proposed. Frozen
//! into canonical bytes, whose digest is what is approved: the card is drawn from these bytes and the permit is made for
//! them (DESIGN.md section 4).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::Terms;
use crate::canonical;
use crate::port::Asker;
use crate::resource::ResourceId;
use crate::signal::{Actor, Assurance, ConversationKind, EventId, SignalId, ThreadKey, Wall};

/// The form of the canonical bytes. Another form is another number, so that an old plan is refused and never misread.
const FORM: u32 = 1;

/// The id of a plan: 16 bytes from the operating system's randomness, as 32 hexadecimal digits (AC: wrong-target
/// approval). Never an index, never a prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanId(String);

impl PlanId {
    /// The id made of these random bits.
    pub fn from_random(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// Reads a full id; case does not matter. Nothing shorter is ever an id (AC-24).
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (lower.len() == 32 && lower.bytes().all(is_hex)).then_some(Self(lower))
    }

    /// All 32 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PlanId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{}` is no id of a plan", text.escape_debug()))
    }
}

impl From<PlanId> for String {
    fn from(id: PlanId) -> Self {
        id.0
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of canonical bytes, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let sum = Sha256::digest(bytes);
        Self(sum.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}")))
    }

    /// A digest as it was stored or sent. It is only ever compared.
    pub fn claimed(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// All 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, for people to compare.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// How much a change can hurt. Declared with the action; taint can only raise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Undone at once, seen by nobody.
    Low,
    /// Felt, and undone by the opposite action.
    Medium,
    /// Hard to undo.
    High,
}

impl Risk {
    /// The word for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a fresh read must show after the change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The target is gone.
    #[serde(default)]
    pub absent: bool,
    /// These paths of the reading hold these values.
    #[serde(default)]
    pub equals: BTreeMap<String, String>,
    /// These paths of the reading hold another value than the plan's snapshot.
    #[serde(default)]
    pub changed: Vec<String>,
}

/// A change, whole. Credentials never stand in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The form of these bytes.
    pub form: u32,
    /// Which plan.
    pub id: PlanId,
    /// Where it was asked for. It is decided there and nowhere else.
    pub thread: ThreadKey,
    /// The request that asked for it.
    pub signal: SignalId,
    /// The platform's id of the message that asked for it: where that is edited or deleted, the plan falls away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventId>,
    /// Who asked for it.
    pub requester: Actor,
    /// Who that was then: the person's name, or the account of somebody without one. Whoever is the requester by this or by
    /// what holds now has asked for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub requester_person: String,
    /// The roles that the requester had on their platform when they asked, by immutable id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requester_roles: Vec<String>,
    /// What kind of room it was asked for in.
    #[serde(default)]
    pub room: ConversationKind,
    /// A declared tool.
    pub tool: String,
    /// A declared write action of it.
    pub action: String,
    /// What is changed.
    pub target: ResourceId,
    /// What people call it.
    pub target_name: String,
    /// One line that tells it from its like, as its discovery reported it: a command line, a unit's description.
    pub target_about: String,
    /// What was found on it, as `name=value`. Untrusted: it may restrict who decides, and never permit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The environment that the target is in; none where the team names no environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The names of people who could approve it when it was frozen, beside a waiver; none where that is not known. Shown, and
    /// decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciders: Option<Vec<String>>,
    /// Cast, checked and complete.
    pub args: Map<String, Value>,
    /// What will be done, in words: "stop process sleep (pid 4711)".
    pub title: String,
    /// Why.
    pub because: String,
    /// How much it can hurt.
    pub risk: Risk,
    /// Why that is more than its action declares: `cron runs it`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_because: Option<String>,
    /// Whether it was proposed after reading untrusted text.
    pub tainted: bool,
    /// What the target looked like: attributes that must be equal when it is carried out.
    pub before: BTreeMap<String, String>,
    /// What must be seen afterwards.
    pub expect: Expectation,
    /// What will change, shown whole: the diff of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The action's hard limit, in milliseconds.
    pub limit_ms: u64,
    /// Whether the requester could countersign it when it was frozen, by a policy that lets them, by their right to decide
    /// it and by its terms: a waiver, which the card and the record say.
    pub alone: bool,
    /// What its approval takes beside the rights of who countersigns.
    #[serde(default, skip_serializing_if = "Terms::is_default")]
    pub terms: Terms,
    /// When it was proposed.
    pub requested_at: Wall,
    /// When it can no longer be approved.
    pub expires_at: Wall,
}

/// Why stored bytes are no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPlan {
    /// The bytes are not those that were approved or shown.
    #[error("the plan was changed after it was frozen: its digest is another")]
    Digest,
    /// Not a plan of this form.
    #[error("the plan cannot be read: {0}")]
    Form(String),
}

/// A plan that can no longer change: canonical bytes, their digest, and what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    bytes: String,
    digest: Digest,
    plan: Plan,
}

impl Frozen {
    /// Freezes a plan into its [`canonical`] text.
    pub fn freeze(plan: Plan) -> Self {
        let plan = Plan { form: FORM, ..plan };
        let value = serde_json::to_value(&plan).unwrap_or_default();
        let bytes = canonical::text(value);
        Self { digest: Digest::of(bytes.as_bytes()), bytes, plan }
    }

    /// Reads frozen bytes back, and proves that they are the ones that this digest was made of.
    pub fn read(bytes: String, digest: &Digest) -> Result<Self, BadPlan> {
        if Digest::of(bytes.as_bytes()) != *digest {
            return Err(BadPlan::Digest);
        }
        let plan: Plan = serde_json::from_str(&bytes).map_err(|error| BadPlan::Form(error.to_string()))?;
        if plan.form != FORM {
            return Err(BadPlan::Form(format!("it has the form {}, and this version knows {FORM}", plan.form)));
        }
        Ok(Self { bytes, digest: digest.clone(), plan })
    }

    /// The canonical bytes.
    pub fn bytes(&self) -> &str {
        &self.bytes
    }

    /// Their digest.
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// What they say.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Plan {
    /// The time that people have to decide, in milliseconds.
    pub fn lifetime_ms(&self) -> i64 {
        self.expires_at.0.saturating_sub(self.requested_at.0).max(0)
    }

    /// Who asked for it, and from where.
    pub fn asker(&self) -> Asker<'_> {
        let Self { requester, requester_roles, thread, room, .. } = self;
        // Whoever asked decides nothing by that.
        let assurance = Assurance::Unsealed;
        Asker { actor: requester, platform_roles: requester_roles, assurance, thread, room: *room }
    }

    /// `tool.action`.
    pub fn call(&self) -> String {
        format!("{}.{}", self.tool, self.action)
    }

    /// Whether two plans would do the same to the same thing in the same state.
    pub fn is_same_change(&self, other: &Self) -> bool {
        (&self.tool, &self.action, &self.target, &self.args, &self.before)
            == (&other.tool, &other.action, &other.target, &other.args, &other.before)
    }
}

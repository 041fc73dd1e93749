//! Standing permissions: what may be done without asking again, for whom, where, until when and how often. When one is
//! given, and which plan it covers, is decided in `approval/grant.rs`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Account;
use crate::approval::{Digest, PlanId, Risk};
use crate::resource::ResourceId;
use crate::signal::{ConversationId, Mono, Now, Platform, Wall};

/// The id of a grant: 16 bytes from the operating system's randomness, as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GrantId(PlanId);

impl GrantId {
    /// The id made of these random bits.
    pub fn from_random(bits: u128) -> Self {
        Self(PlanId::from_random(bits))
    }

    /// Reads a full id; case does not matter. Nothing shorter is ever an id.
    pub fn parse(text: &str) -> Option<Self> {
        PlanId::parse(text).map(Self)
    }

    /// All 32 digits.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Somebody {
    /// As rights know them: the person's name, or the account of somebody without one. This is what is compared.
    pub person: String,
    /// As their platform shows them. Decoration only, never compared.
    pub display: String,
}

/// A standing permission, exactly as wide as the plan it was given on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// A declared tool.
    pub tool: String,
    /// A declared write action of it.
    pub action: String,
    /// What may be changed.
    pub target: ResourceId,
    /// With exactly these arguments.
    pub args: Map<String, Value>,
    /// The digest of what its card showed line by line, where it showed something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Digest>,
    /// How much that can hurt; never high.
    pub risk: Risk,
    /// In which room.
    pub room: (Platform, ConversationId),
    /// Who may ask for it.
    pub person: Somebody,
    /// Who gave it: their account, whose rights are asked again at each use, and whose that was.
    pub by: (Account, Somebody),
    /// The plan on which it was given.
    pub plan: PlanId,
    /// What that plan did, in words.
    pub title: String,
    /// When.
    pub given_at: Wall,
    /// From when on it permits nothing.
    pub expires_at: Wall,
    /// How often it may be used.
    pub uses_max: u32,
    /// How often it was.
    pub uses: u32,
}

impl Grant {
    /// How often it may still be used.
    pub const fn uses_left(&self) -> u32 {
        self.uses_max.saturating_sub(self.uses)
    }

    /// Whether another one is for exactly the same thing, place and person, whoever gave it.
    pub fn is_for_the_same(&self, other: &Self) -> bool {
        let same_change = (&self.tool, &self.action, &self.target, &self.args)
            == (&other.tool, &other.action, &other.target, &other.args);
        same_change && self.room == other.room && self.person.person == other.person.person
    }

    /// When it ends by the stopwatch, as far as can be told now: a clock on the wall that is set back gives it no more
    /// than its whole time.
    pub(super) fn end_by_stopwatch(&self, now: Now) -> Mono {
        let lifetime = self.expires_at.0.saturating_sub(self.given_at.0).max(0);
        let left = self.expires_at.0.saturating_sub(now.wall.0).clamp(0, lifetime);
        Mono(now.mono.0.saturating_add(left.unsigned_abs()))
    }
}

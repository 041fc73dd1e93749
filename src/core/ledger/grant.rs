//! Standing permissions: what may be done without asking again, for whom, where, until when and how often. When one is
//! given, and which plan it covers, is decided in `approval/`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Account;
use crate::approval::{PlanId, Risk};
use crate::resource::ResourceId;
use crate::signal::{ConversationId, Platform, Wall};

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
    /// How much that can hurt; never high.
    pub risk: Risk,
    /// In which room.
    pub room: (Platform, ConversationId),
    /// Who may ask for it: the person's name, or the account of somebody without one.
    pub person: String,
    /// Who gave it: their account, whose rights are asked again at each use, and their name.
    pub by: (Account, String),
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

//! The access file as it is written: its tables and keys, and where each stands. What its entries mean, and what is refused
//! of them, is in `people.rs` and `places.rs`.

use countersign_core::approval::Risk;
use countersign_core::signal::ConversationKind;
use serde::Deserialize;
use toml::Spanned;

use super::error::{AccessError, line_at};

/// A text of the file that knows its place.
pub(super) type Word = Spanned<String>;

/// Everything in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AccessFile {
    pub(super) people: Vec<PersonEntry>,
    pub(super) services: Vec<ServiceEntry>,
    pub(super) groups: Vec<GroupEntry>,
    pub(super) environments: Vec<EnvironmentEntry>,
    pub(super) resources: Vec<ResourceEntry>,
    pub(super) rooms: Vec<RoomEntry>,
    pub(super) platform_roles: Vec<PlatformRoleEntry>,
    pub(super) approvals: Vec<Spanned<ApprovalEntry>>,
    pub(super) matrix: MatrixEntry,
}

/// A person.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonEntry {
    pub(super) name: Word,
    /// `platform:id`, by immutable id.
    pub(super) accounts: Vec<Word>,
    #[serde(default)]
    pub(super) roles: Vec<Word>,
}

/// A named service principal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceEntry {
    pub(super) name: Word,
    #[serde(default)]
    pub(super) roles: Vec<Word>,
}

/// A group: a team, or several teams.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    pub(super) name: Word,
    /// People and groups by name.
    pub(super) members: Vec<Word>,
    #[serde(default)]
    pub(super) roles: Vec<Word>,
}

/// What belongs to an environment. Any one of its patterns is enough.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentEntry {
    pub(super) name: Word,
    /// Patterns over the whole id.
    #[serde(default)]
    pub(super) ids: Vec<Word>,
    /// Patterns over the host: the host itself, and everything on it.
    #[serde(default)]
    pub(super) hosts: Vec<Word>,
    /// Patterns over the id's last part.
    #[serde(default)]
    pub(super) names: Vec<Word>,
    /// Patterns over what was found on a resource, `name=value`. They can only restrict.
    #[serde(default)]
    pub(super) labels: Vec<Word>,
}

/// Labels that the team gives to resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceEntry {
    pub(super) labels: Vec<Word>,
    #[serde(default)]
    pub(super) ids: Vec<Word>,
    #[serde(default)]
    pub(super) hosts: Vec<Word>,
    #[serde(default)]
    pub(super) names: Vec<Word>,
}

/// What holds in a room.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoomEntry {
    pub(super) platform: Word,
    /// The room's immutable id.
    pub(super) id: Word,
    /// Left out: controlled in a direct conversation and in a closed group, read-only where many read (CARD-07).
    pub(super) control: Option<Control>,
    /// Left out: as the platform says.
    pub(super) kind: Option<ConversationKind>,
    /// What a question about no resource in particular is about.
    pub(super) environment: Option<Word>,
    /// With `control = "autonomous"`: the actions, as `tool.action`, that are done without a countersignature.
    #[serde(default)]
    pub(super) autonomous: Vec<Word>,
    /// In which environments that holds. Left out: in every one but production.
    pub(super) autonomous_environments: Option<Vec<Word>>,
}

/// What the approval of some changes takes. All lists that are given must fit, each by any one of its words; without any it
/// is about every change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalEntry {
    #[serde(default)]
    pub(super) risk: Vec<Risk>,
    #[serde(default)]
    pub(super) environments: Vec<Word>,
    /// Patterns over labels, those that were found included.
    #[serde(default)]
    pub(super) labels: Vec<Word>,
    /// Patterns over the first part of the target's id.
    #[serde(default)]
    pub(super) kinds: Vec<Word>,
    /// Patterns over the target's whole id.
    #[serde(default)]
    pub(super) ids: Vec<Word>,
    /// Patterns over `tool.action`.
    #[serde(default)]
    pub(super) tools: Vec<Word>,
    /// How many different people.
    pub(super) quorum: Option<Spanned<u32>>,
    /// Whose members.
    pub(super) group: Option<Word>,
    pub(super) expires_minutes: Option<Spanned<u32>>,
    pub(super) remind_minutes: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) escalate: Vec<EscalationEntry>,
}

/// From when on another group decides, too.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EscalationEntry {
    pub(super) after_minutes: Spanned<u32>,
    pub(super) group: Word,
}

/// What a role of the platform means here, for whoever has it there at the moment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlatformRoleEntry {
    pub(super) platform: Word,
    /// The role's immutable id there.
    pub(super) id: Word,
    /// Only in this guild or on this homeserver.
    pub(super) space: Option<Word>,
    /// Only in this room.
    pub(super) room: Option<Word>,
    pub(super) roles: Vec<Word>,
}

/// How much may be done from a room (DESIGN.md section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// Nothing is changed from here.
    ReadOnly,
    /// What changes something is countersigned.
    Controlled,
    /// As controlled; only the listed actions, of low risk, are done without a countersignature.
    Autonomous,
}

impl Control {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Controlled => "controlled",
            Self::Autonomous => "autonomous",
        }
    }
}

/// What holds for Matrix as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MatrixEntry {
    /// Homeservers whose people may be in this file. Empty means none.
    pub(super) homeservers: Vec<Word>,
}

/// The file with its text, to find lines by.
pub(super) struct Written<'a> {
    pub(super) name: &'a str,
    text: &'a str,
}

impl<'a> Written<'a> {
    /// Reads the file's text. No I/O.
    pub(super) fn parse(name: &'a str, text: &'a str) -> Result<(Self, AccessFile), AccessError> {
        let file = toml::from_str(text).map_err(|error| AccessError::toml(name, text, &error))?;
        Ok((Self { name, text }, file))
    }

    /// Something wrong with one value of it.
    pub(super) fn wrong<T>(&self, word: &Spanned<T>, problem: impl Into<String>) -> AccessError {
        AccessError::new(self.name, Some(line_at(self.text, word.span().start)), problem)
    }
}

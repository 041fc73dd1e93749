//! What policies are asked about: the entities and the context of one question, made from the access file and from the
//! signal. Only what one question needs is made, so that a decision costs the same with ten people and with ten thousand.

use std::collections::{BTreeSet, HashMap, HashSet};

use cedar_policy::{Context, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression};
use countersign_core::approval::Risk;
use countersign_core::tool::ToolKind;

use super::people::Principal;
use super::places::Room;

/// The role of the operating system's user at the console. A name with spaces, so that no file can give it.
pub(super) const OWNER: &str = "owner of this process";

/// The role of every account that nobody is known by. No shipped policy speaks of it, so that it permits nothing until a
/// team's own does.
pub(super) const GUEST: &str = "guest";

/// What somebody wants to do, as the policies name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Act {
    Talk,
    Request { kind: ToolKind, tool: String },
    Decide { risk: Risk, is_requester: bool },
    DecideAlone { risk: Risk },
    DecideUnsealed { risk: Risk },
    Alone { risk: Risk, tool: String },
    Acknowledge,
    Declare,
    Grant,
    Administer,
}

impl Act {
    /// The action's name in the schema.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Talk => "talk",
            Self::Request { .. } => "request",
            Self::Decide { .. } => "decide",
            Self::DecideAlone { .. } => "decide_alone",
            Self::DecideUnsealed { .. } => "decide_unsealed",
            Self::Alone { .. } => "act_alone",
            Self::Acknowledge => "acknowledge",
            Self::Declare => "declare",
            Self::Grant => "grant",
            Self::Administer => "administer",
        }
    }

    /// Whether only a person can do it, whatever a policy says.
    pub(super) const fn is_for_people(&self) -> bool {
        match self {
            Self::Talk | Self::Request { .. } | Self::Declare => false,
            Self::Decide { .. }
            | Self::DecideAlone { .. }
            | Self::DecideUnsealed { .. }
            | Self::Alone { .. }
            | Self::Acknowledge
            | Self::Grant
            | Self::Administer => true,
        }
    }

    /// Whether only a person whom we know by name can do it, whatever a policy says.
    pub(super) const fn is_for_known_people(&self) -> bool {
        match self {
            Self::Talk | Self::Request { .. } | Self::Declare | Self::Acknowledge => false,
            Self::Decide { .. }
            | Self::DecideAlone { .. }
            | Self::DecideUnsealed { .. }
            | Self::Alone { .. }
            | Self::Grant
            | Self::Administer => true,
        }
    }
}

/// What it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thing {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) environment: String,
    pub(super) labels: BTreeSet<String>,
}

/// Where it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) platform: String,
    pub(super) id: String,
    pub(super) room: Room,
}

/// The entity of a type with this name. A type is one word of ours, so that it always parses.
pub(super) fn uid(kind: &str, name: &str) -> EntityUid {
    let kind: EntityTypeName = kind.parse().expect("invariant: a type's name is one plain word");
    EntityUid::from_type_name_and_id(kind, EntityId::new(name))
}

/// A principal with everything it is in, flat: no other entity is needed to ask whether it is in a group or a role.
pub(super) fn principal(one: &Principal, is_owner: bool) -> Entity {
    let owner = is_owner.then(|| uid("Role", OWNER));
    let roles = one.roles.iter().map(|role| uid("Role", role)).chain(owner);
    let parents: HashSet<EntityUid> = roles.chain(one.groups.iter().map(|group| uid("Group", group))).collect();
    Entity::new_no_attrs(uid(if one.is_service { "Service" } else { "Person" }, &one.name), parents)
}

/// The resource's entity. An error never happens with plain texts; whoever asks denies then.
pub(super) fn resource(thing: &Thing, place: &Place) -> Option<Entity> {
    let attributes = HashMap::from([
        ("id".to_owned(), text(&thing.id)),
        ("kind".to_owned(), text(&thing.kind)),
        ("environment".to_owned(), text(&thing.environment)),
        ("labels".to_owned(), RestrictedExpression::new_set(thing.labels.iter().map(|label| text(label)))),
        ("room".to_owned(), text(&format!("{}:{}", place.platform, place.id))),
    ]);
    Entity::new(uid("Resource", &thing.id), attributes, HashSet::new()).ok()
}

/// The context of a question.
pub(super) fn context(act: &Act, place: &Place) -> Option<Context> {
    let nobody_yet = || RestrictedExpression::new_set([]);
    let at = RestrictedExpression::new_record([
        ("platform".to_owned(), text(&place.platform)),
        ("room".to_owned(), text(&place.id)),
        ("room_kind".to_owned(), text(place.room.kind.as_str())),
        ("control".to_owned(), text(place.room.control.as_str())),
        // There are no incidents and no rotas yet.
        ("on_call".to_owned(), nobody_yet()),
        ("incident_role".to_owned(), nobody_yet()),
    ]);
    let own = match act {
        Act::Request { kind, tool } => vec![("kind", text(kind.as_str())), ("tool", text(tool))],
        Act::Decide { risk, is_requester } => {
            vec![("risk", text(risk.as_str())), ("is_requester", RestrictedExpression::new_bool(*is_requester))]
        }
        Act::DecideAlone { risk } | Act::DecideUnsealed { risk } => vec![("risk", text(risk.as_str()))],
        Act::Alone { risk, tool } => vec![("risk", text(risk.as_str())), ("tool", text(tool))],
        Act::Talk | Act::Acknowledge | Act::Declare | Act::Grant | Act::Administer => Vec::new(),
    };
    let pairs = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    Context::from_pairs(pairs.chain([("at".to_owned(), at.ok()?)])).ok()
}

fn text(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}

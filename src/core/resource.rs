//! Names of things in the infrastructure: canonical ids and what a discovery says about one thing. Which things a
//! thread knows is in `thread/resolved.rs`; nothing here remembers anything.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Kinds that hold a file system and run commands of their own. Only they can be mistaken for one another, so only
/// they take part in the routing check (RTE-01): a process or a mount never "has the same path" as its host.
const PLACES: [&str; 8] = ["cluster", "container", "docker_container", "host", "k8s_pod", "lxc", "node", "vm"];

/// The longest id accepted, in bytes. Longer ones are nobody's canonical id.
pub const RESOURCE_ID_BYTES_MAX: usize = 512;

/// A canonical id: `kind:scope:uid` (`process:web-1:812-5512345`) or, for global things, `kind:uid` (`host:web-1`).
/// RES-05 and RES-06. A part never contains `:`; [`ResourceId::escape`] makes one from any text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ResourceId(String);

/// Why a text is no canonical id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadResourceId {
    /// Not two or three parts.
    #[error("`{0}` is not `kind:uid` or `kind:scope:uid`")]
    Parts(String),
    /// A part is empty, or has white space at an edge or a control character.
    #[error("`{0}` has an empty or unprintable part")]
    Part(String),
    /// Longer than [`RESOURCE_ID_BYTES_MAX`].
    #[error("an id is at most {RESOURCE_ID_BYTES_MAX} bytes long")]
    Long,
}

impl ResourceId {
    /// An id of something that lives in a scope, usually a host. The parts are escaped.
    pub fn scoped(kind: &str, scope: &str, uid: &str) -> Result<Self, BadResourceId> {
        format!("{}:{}:{}", Self::escape(kind), Self::escape(scope), Self::escape(uid)).parse()
    }

    /// An id of something global. The parts are escaped.
    pub fn global(kind: &str, uid: &str) -> Result<Self, BadResourceId> {
        format!("{}:{}", Self::escape(kind), Self::escape(uid)).parse()
    }

    /// Writes `%` and `:` as `%25` and `%3A`, so that any text can be a part.
    pub fn escape(part: &str) -> String {
        part.replace('%', "%25").replace(':', "%3A")
    }

    /// Undoes [`ResourceId::escape`].
    pub fn unescape(part: &str) -> String {
        part.replace("%3A", ":").replace("%25", "%")
    }

    /// The first part: `process`, `service`, `host`, ...
    pub fn kind(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// The middle part where there are three: the host or whatever the thing lives in.
    pub fn scope(&self) -> Option<&str> {
        let mut parts = self.0.split(':');
        let (_, scope, uid) = (parts.next(), parts.next(), parts.next());
        uid.and(scope)
    }

    /// The last part: the provider's own id.
    pub fn uid(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or_default()
    }

    /// Whether the thing holds a file system and runs commands of its own.
    pub fn is_place(&self) -> bool {
        PLACES.contains(&self.kind())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for ResourceId {
    type Err = BadResourceId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > RESOURCE_ID_BYTES_MAX {
            return Err(BadResourceId::Long);
        }
        let parts: Vec<&str> = text.split(':').collect();
        if !(2..=3).contains(&parts.len()) {
            return Err(BadResourceId::Parts(text.to_owned()));
        }
        let sound = |part: &&str| !part.is_empty() && part.trim() == *part && !part.chars().any(char::is_control);
        if parts.iter().all(sound) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadResourceId::Part(text.escape_debug().to_string()))
        }
    }
}

impl TryFrom<String> for ResourceId {
    type Error = BadResourceId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ResourceId> for String {
    fn from(id: ResourceId) -> Self {
        id.0
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The attribute of a thing that is never changed from a chat: its value says why, as in "the bot itself".
pub const PROTECTED: &str = "protected";

/// What a discovery says about one thing (RES-07, RES-08): the record that a resolve tool answers with, in a list under
/// `data.resources`. Untrusted text, like all tool output; ids are checked when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Canonical.
    pub id: ResourceId,
    /// What people call it: `nginx`.
    pub name: String,
    /// Other names it answers to: a pid, a path, a container's short id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What it lives in, nearest first: the container, then the host. Any depth (RTE-06).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<ResourceId>,
    /// Actions allowed on it, as `tool.action`; empty means that the provider restricts nothing (RES-18). An
    /// *operator's* restriction is a policy, not this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Where paths inside it lie outside: (outer path, inner path) (PRE-09).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<(String, String)>,
    /// One line that tells it from its like: a command line, a unit's description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Anything else the provider knows; [`PROTECTED`] among it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attrs: BTreeMap<String, String>,
}

impl Resource {
    /// What its discovery said about it, as `name=value`: untrusted, so that it may restrict and never permit.
    pub fn labels(&self) -> Vec<String> {
        self.attrs.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_and_refuse() {
        let id: ResourceId = "process:web-1:812-55".parse().expect("three parts are an id");
        assert_eq!((id.kind(), id.scope(), id.uid()), ("process", Some("web-1"), "812-55"));
        let id: ResourceId = "host:web-1".parse().expect("two parts are an id");
        assert_eq!((id.kind(), id.scope(), id.uid()), ("host", None, "web-1"));
        for bad in ["", "host", "host:", ":x", "a:b:c:d", "a: b", "a:b\u{7}", &format!("a:{}", "x".repeat(600))] {
            assert!(bad.parse::<ResourceId>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn any_text_can_be_a_part() {
        let id = ResourceId::scoped("mount", "web-1", "/mnt/a:b%c").expect("escaped parts are sound");
        assert_eq!(id.as_str(), "mount:web-1:/mnt/a%3Ab%25c");
        assert_eq!(ResourceId::unescape(id.uid()), "/mnt/a:b%c");
    }
}

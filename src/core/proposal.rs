//! What a model or a route may ask for. Untrusted: plain strings and JSON, nothing checked. Only the gates turn one into
//! something that can happen.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A proposed tool call. Everything in it is a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The tool's name, as claimed.
    pub tool: String,
    /// The tool's action, as claimed. With the tool's name it alone decides the kind (FSM-12).
    pub action: String,
    /// The canonical id of the thing it is about, as claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The arguments, as claimed.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// Why (GAT-04). A routed action says "asked by NAME: the text".
    pub because: String,
}

//! What a server says it can do, against what is declared for it. The declaration is the truth: a server can lack
//! something, and then calls of it fail in a sentence, but it can add nothing.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::text;
use countersign_core::tool::Registry;
use rmcp::model::{JsonObject, Tool};

/// The longest foreign name that is logged, in characters.
const NAME_CHARS_MAX: usize = 64;

/// The most foreign names that are logged.
const NAMES_MAX: usize = 20;

/// The declared tools that a server has, each with its actions where the server's schema lists them.
#[derive(Debug)]
pub(super) struct Offer {
    spoke: String,
    tools: BTreeMap<String, Option<BTreeSet<String>>>,
}

impl Offer {
    /// Keeps what is declared, and names the rest for the log.
    pub(super) fn new(spoke: &str, registry: &Registry, listed: &[Tool]) -> (Self, Vec<String>) {
        let is_ours = |tool: &Tool| registry.spoke_of(&tool.name) == Some(spoke);
        let (declared, foreign): (Vec<&Tool>, Vec<&Tool>) = listed.iter().partition(|tool| is_ours(tool));
        let tools = declared.into_iter().map(|tool| (tool.name.to_string(), actions(&tool.input_schema))).collect();
        let foreign = foreign.into_iter().take(NAMES_MAX).map(|tool| text::one_line(&tool.name, NAME_CHARS_MAX));
        (Self { spoke: spoke.to_owned(), tools }, foreign.collect())
    }

    /// Why this action of this tool cannot be called on the server: a sentence.
    pub(super) fn problem(&self, tool: &str, action: &str) -> Option<String> {
        let spoke = &self.spoke;
        let lacks = |what: &str| format!("The tool server `{spoke}` does not offer {what}. Check its version.");
        match self.tools.get(tool) {
            None => Some(lacks(&format!("`{tool}`"))),
            Some(Some(actions)) if !actions.contains(action) => Some(lacks(&format!("`{action}` of `{tool}`"))),
            Some(_) => None,
        }
    }
}

/// The values that a tool's schema allows for `action`. A schema that does not list them says nothing about them.
fn actions(schema: &JsonObject) -> Option<BTreeSet<String>> {
    let listed = schema.get("properties")?.get("action")?.get("enum")?.as_array()?;
    Some(listed.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

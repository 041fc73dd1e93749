//! The registry: every declared tool, and the one function that says of what kind a call is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::args::credential_in;
use super::{ActionSpec, ArgKind, ArgSpec, ToolFile, ToolSpec};

/// The longest time limit a declaration may give, in milliseconds: `wait` takes up to 60 s, and a little to answer.
const LIMIT_MS_MAX: u64 = 65_000;

/// The longest that a change may be waited for to show: so long nothing else is changed in its thread.
const SETTLES_MS_MAX: u32 = 60_000;

/// What a discovery declares that finds things of any kind.
const ANY: &str = "any";

/// What a call does to the world. From tool and action alone, never from command text (invariant 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Discovers things. Only such a call adds to the resolved context (RES-02).
    Resolve,
    /// Looks at things.
    Read,
    /// Changes things.
    Write,
    /// The bot's own bookkeeping: needs rights and is audited, but does not enter VERIFYING (C-10).
    Record,
}

impl ToolKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Resolve, Self::Read, Self::Write, Self::Record];

    /// The stable name, as metrics and files write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Read => "read",
            Self::Write => "write",
            Self::Record => "record",
        }
    }
}

/// What is wrong with a tool file: always the file, the key and the fix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {problem}")]
pub struct RegistryError {
    /// The file.
    pub file: String,
    /// The key and the fix.
    pub problem: String,
}

/// Every declared tool, by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: BTreeMap<String, (String, ToolSpec)>,
}

impl Registry {
    /// Reads tool files, given as (file name, content), and checks that they fit together.
    pub fn load<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        let mut sources = BTreeMap::new();
        for (file, content) in files {
            let wrong = |problem: String| RegistryError { file: file.to_owned(), problem };
            let parsed: ToolFile =
                toml::from_str(content).map_err(|error| wrong(super::declare::toml_problem(content, &error)))?;
            for tool in parsed.tools {
                if !tool.name.starts_with(&format!("{}_", parsed.spoke)) {
                    return Err(wrong(format!(
                        "tool `{}` must begin with `{}_`, the name of its server",
                        tool.name, parsed.spoke
                    )));
                }
                sources.insert(tool.name.clone(), file.to_owned());
                let name = tool.name.clone();
                if registry.tools.insert(name.clone(), (parsed.spoke.clone(), tool)).is_some() {
                    return Err(wrong(format!("tool `{name}` is declared twice; give one of them another name")));
                }
            }
        }
        registry.check(&sources)?;
        Ok(registry)
    }

    /// The declaration of an action. Names are compared in lower case (FSM-19).
    pub fn action(&self, tool: &str, action: &str) -> Option<&ActionSpec> {
        self.tool(tool)?.actions.get(&action.to_lowercase())
    }

    /// The declaration of a tool.
    pub fn tool(&self, tool: &str) -> Option<&ToolSpec> {
        self.tools.get(&tool.to_lowercase()).map(|(_, spec)| spec)
    }

    /// The server that answers a tool's calls.
    pub fn spoke_of(&self, tool: &str) -> Option<&str> {
        self.tools.get(&tool.to_lowercase()).map(|(spoke, _)| spoke.as_str())
    }

    /// Every tool, by name.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values().map(|(_, spec)| spec)
    }

    /// Of what kind a call is: the single source of truth (FSM-12). What is unknown is a write (FSM-13, C-09).
    pub fn kind(&self, tool: &str, action: &str) -> ToolKind {
        let unknown = ToolKind::Write;
        #[cfg(test)]
        let unknown = crate::step::broken::unknown(unknown);
        self.action(tool, action).map_or(unknown, |spec| spec.kind)
    }

    /// The action named `tool.action`.
    pub fn named(&self, call: &str) -> Option<(&str, &str, &ActionSpec)> {
        let (tool, action) = call.split_once('.')?;
        let spec = self.tool(tool)?;
        let (action, action_spec) = spec.actions.get_key_value(action)?;
        Some((spec.name.as_str(), action.as_str(), action_spec))
    }

    /// Whether a discovery may bring in things of this kind: of the one that it declares. One that declares any kind may not
    /// say how things are that another server's discovery is there for.
    pub fn may_find(&self, tool: &str, action: &str, kind: &str) -> bool {
        let declared = self.action(tool, action).and_then(|spec| spec.resolves.as_deref());
        let spoke = self.spoke_of(tool);
        let finds = |spec: &ToolSpec| spec.actions.values().any(|spec| spec.resolves.as_deref() == Some(kind));
        declared == Some(kind)
            || (declared == Some(ANY)
                && !self.tools.values().any(|(other, spec)| Some(other.as_str()) != spoke && finds(spec)))
    }

    fn check(&self, sources: &BTreeMap<String, String>) -> Result<(), RegistryError> {
        for (name, (_, tool)) in &self.tools {
            for (action, spec) in &tool.actions {
                if let Some(problem) = self.problem_of(action, spec) {
                    let file = sources.get(name).cloned().unwrap_or_default();
                    return Err(RegistryError { file, problem: format!("`{name}.{action}`: {problem}") });
                }
            }
        }
        Ok(())
    }

    fn problem_of(&self, action: &str, spec: &ActionSpec) -> Option<String> {
        if action != action.to_lowercase() {
            return Some("action names are lower case".to_owned());
        }
        if spec.limit_ms == 0 || spec.limit_ms > LIMIT_MS_MAX {
            return Some(format!("`limit_ms` must be from 1 to {LIMIT_MS_MAX}"));
        }
        if let Some(reserved) = spec.args.keys().find(|name| matches!(name.as_str(), "action" | "target")) {
            return Some(format!("`{reserved}` is reserved; give the argument another name"));
        }
        args_problem(spec).or_else(|| crate::answer::problem_of(spec)).or_else(|| self.target_problem(spec))
    }

    fn target_problem(&self, spec: &ActionSpec) -> Option<String> {
        if spec.kind == ToolKind::Resolve {
            return spec.resolves.is_none().then(|| "a resolve action says what it `resolves`".to_owned());
        }
        let Some(target) = &spec.target else {
            return Some("say the `target`: the kind of resource it runs on".to_owned());
        };
        let Some(resolve) = &spec.resolve else {
            return Some(format!("say what action resolves a {target}: `resolve = \"tool.action\"`"));
        };
        match self.named(resolve) {
            Some((_, _, found)) if found.kind == ToolKind::Resolve => {
                let finds = found.resolves.as_deref().unwrap_or_default();
                let is_other = finds != target && finds != ANY;
                let problem = format!("`resolve` names `{resolve}`, which discovers a {finds} and no {target}");
                is_other.then_some(problem).or_else(|| self.change_problem(spec, target))
            }
            Some(_) => Some(format!("`resolve` names `{resolve}`, which is no resolve action")),
            None => Some(format!("`resolve` names `{resolve}`, which is not declared")),
        }
    }
}

impl Registry {
    /// What keeps a write from being one that can be countersigned and verified.
    fn change_problem(&self, spec: &ActionSpec, target: &str) -> Option<String> {
        let change = match (&spec.change, spec.kind) {
            (Some(change), ToolKind::Write) => change,
            (None, ToolKind::Write) => {
                return Some("a write says what it changes: `change.title`, `change.risk`, `change.verify`".to_owned());
            }
            (Some(_), _) => return Some("only a write has a `change`".to_owned()),
            (None, _) => return None,
        };
        if change.settles_ms > SETTLES_MS_MAX {
            return Some(format!("`change.settles_ms` must be at most {SETTLES_MS_MAX}"));
        }
        if let Some(argument) = change.preview.as_deref().and_then(|preview| self.preview_problem(spec, preview)) {
            return Some(argument);
        }
        let calls = [("verify", Some(&change.verify)), ("preview", change.preview.as_ref())];
        calls.into_iter().filter_map(|(key, call)| Some((key, call?))).find_map(|(key, call)| match self.named(call) {
            Some((_, _, read)) if read.kind != ToolKind::Read => {
                Some(format!("`change.{key}` names `{call}`, which is no read"))
            }
            Some((_, _, read)) if read.target.as_deref() != Some(target) => {
                Some(format!("`change.{key}` names `{call}`, which does not read a {target}"))
            }
            Some(_) => None,
            None => Some(format!("`change.{key}` names `{call}`, which is not declared")),
        })
    }

    fn preview_problem(&self, spec: &ActionSpec, preview: &str) -> Option<String> {
        let (_, _, read) = self.named(preview)?;
        let missing = spec.args.keys().find(|name| !read.args.contains_key(*name))?;
        Some(format!("`change.preview` names `{preview}`, which does not take the argument `{missing}`"))
    }
}

fn args_problem(spec: &ActionSpec) -> Option<String> {
    let is_declared = |arg: &ArgSpec| {
        let named = arg.default.as_ref().and_then(toml::Value::as_str).and_then(credential_in);
        arg.kind != ArgKind::Credential || named.is_some_and(|name| spec.credentials.iter().any(|known| known == name))
    };
    if let Some((name, _)) = spec.args.iter().find(|(_, arg)| !is_declared(arg)) {
        return Some(format!(
            "`args.{name}` is a credential; give it `default = \"secret:NAME\"`, and NAME in `credentials`"
        ));
    }
    spec.args.iter().find_map(|(name, arg)| {
        let default = super::args::plain(arg.default.as_ref()?);
        arg.cast(name, &default).err().map(|error| format!("the default of {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
        spoke = "host"
        [[tool]]
        name = "host_machine"
        about = "this machine"
        [tool.action.find]
        kind = "resolve"
        about = "find it"
        limit_ms = 1000
        resolves = "host"
        [tool.action.load]
        kind = "read"
        about = "how busy it is"
        limit_ms = 1000
        target = "host"
        resolve = "host_machine.find"
    "#;

    #[test]
    fn unknown_is_a_write() {
        let registry = Registry::load([("host.toml", SOUND)]).expect("the file is sound");
        let table = [
            ("host_machine", "find", ToolKind::Resolve),
            ("host_machine", "LOAD", ToolKind::Read),
            ("host_machine", "reboot", ToolKind::Write),
            ("nobody", "find", ToolKind::Write),
            ("", "", ToolKind::Write),
        ];
        for (tool, action, kind) in table {
            assert_eq!(registry.kind(tool, action), kind, "{tool}.{action}");
        }
    }

    #[test]
    fn a_faulty_file_is_refused_with_file_key_and_fix() {
        let table = [
            (
                SOUND.replace("limit_ms = 1000", "limit_ms = 0"),
                "host.toml: `host_machine.find`: `limit_ms` must be from 1 to 65000",
            ),
            (
                SOUND.replace("name = \"host_machine\"", "name = \"machine\""),
                "host.toml: tool `machine` must begin with `host_`, the name of its server",
            ),
            (
                SOUND.replace("host_machine.find", "host_machine.look"),
                "host.toml: `host_machine.load`: `resolve` names `host_machine.look`, which is not declared",
            ),
            (
                SOUND.replace("resolves = \"host\"", "resolves = \"pod\""),
                "host.toml: `host_machine.load`: `resolve` names `host_machine.find`, which discovers a pod and no host",
            ),
            (
                SOUND.replace("resolves = \"host\"", ""),
                "host.toml: `host_machine.find`: a resolve action says what it `resolves`",
            ),
            (
                SOUND.replace("target = \"host\"", "target = \"host\"\nshow.lead = \"{load\""),
                "host.toml: `host_machine.load`: `show.lead`: `{` without `}`; write `{{` for a brace",
            ),
            (
                SOUND.replace("target = \"host\"", ""),
                "host.toml: `host_machine.load`: say the `target`: the kind of resource it runs on",
            ),
        ];
        for (content, expected) in table {
            let error = Registry::load([("host.toml", content.as_str())]).expect_err(expected);
            assert_eq!(error.to_string(), expected);
        }
        let patient = crate::testkit::TOOLS.replace("change.risk", "change.settles_ms = 60001\nchange.risk");
        let error = Registry::load([("lab.toml", patient.as_str())]).expect_err("too long").to_string();
        assert_eq!(error, "lab.toml: `lab_control.edit`: `change.settles_ms` must be at most 60000");
        let misspelt = SOUND.replace("kind = \"read\"", "kind = \"raed\"");
        let error = Registry::load([("host.toml", misspelt.as_str())]).expect_err("no such kind").to_string();
        assert!(error.contains("line 12") && error.contains("unknown variant `raed`"), "{error}");
    }
}

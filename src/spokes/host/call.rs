//! One call as a reader sees it: checked arguments, and a target that is proven to be on this machine. This is the last
//! check before anything is read (SEC-02): the core has made it too, but a tool server may be reached by others.

use std::path::{Component, Path, PathBuf};

use countersign_core::resource::ResourceId;
use countersign_core::tool::{ActionSpec, ArgKind, cast};
use serde_json::{Map, Value};

use super::answer::Trouble;
use super::readable::paths_in;
use super::this_host::ThisHost;

/// A call that fits its declaration.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// What it runs on.
    pub(super) target: Target,
    action: String,
    target_id: Option<ResourceId>,
    args: Map<String, Value>,
}

/// What a call runs on. That a process, a service or a mount still exists is found out by who reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing: a discovery.
    None,
    /// This machine.
    Machine,
    /// A process: its number, and when it started in clock ticks since boot.
    Process {
        /// Its number.
        pid: i32,
        /// When it started; another process with the same number has another one.
        start_ticks: u64,
    },
    /// A service by its name.
    Service(String),
    /// A mount by its mount point.
    Mount(PathBuf),
    /// A plain file by its absolute path.
    File(PathBuf),
}

impl Call {
    /// Checks raw MCP arguments against the declaration of an action.
    pub(super) fn check(host: &ThisHost, spec: &ActionSpec, mut raw: Map<String, Value>) -> Result<Self, Trouble> {
        let action = raw.remove("action").and_then(|action| Some(action.as_str()?.to_lowercase())).unwrap_or_default();
        let target = raw.remove("target");
        let args = cast(&spec.args, &raw).map_err(|error| Trouble::invalid(error.argument(), error.to_string()))?;
        let (target, target_id) = match check_target(host, spec.target.as_deref(), target.as_ref())? {
            Some((target, id)) => (target, Some(id)),
            None => (Target::None, None),
        };
        Ok(Self { target, action, target_id, args })
    }

    /// Refuses a model's call that names something by a link: nobody has named where that leads. Looks at files.
    pub(super) fn refuse_links(&self, spec: &ActionSpec) -> Result<(), Trouble> {
        let named = spec.args.iter().filter(|(_, arg)| matches!(arg.kind, ArgKind::Path | ArgKind::Command));
        let paths = named.filter_map(|(name, _)| self.text(name)).flat_map(paths_in);
        let of_target = if let Target::File(path) = &self.target { path.to_str() } else { None };
        for path in paths.chain(of_target) {
            // A pattern is looked at up to where it begins.
            let plain = path.find(['*', '?', '[']).map_or(path, |at| path.get(..at).unwrap_or_default());
            let plain: PathBuf = Path::new(plain).components().collect();
            let real = plain.canonicalize().unwrap_or_else(|_| plain.clone());
            if real != plain {
                return Err(Trouble::forbidden(format!(
                    "`{path}` leads by a link to `{}`, which nobody has named; a person can ask for that",
                    real.display()
                )));
            }
        }
        Ok(())
    }

    /// Which action of its tool.
    pub(super) fn action(&self) -> &str {
        &self.action
    }

    /// The target's id, as it was given.
    pub(super) fn target_id(&self) -> Option<&str> {
        self.target_id.as_ref().map(ResourceId::as_str)
    }

    /// The arguments, cast and complete.
    pub(super) const fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// A text argument, where it was given or has a default.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.args.get(name)?.as_str()
    }

    /// A text argument that the declaration requires.
    pub(super) fn required(&self, name: &str) -> Result<&str, Trouble> {
        self.text(name).ok_or_else(|| Trouble::invalid(name, format!("`{name}` is missing")))
    }

    /// A whole number, where it was given or has a default. The declaration keeps it in range.
    pub(super) fn count(&self, name: &str) -> Option<usize> {
        self.args.get(name)?.as_u64().and_then(|count| usize::try_from(count).ok())
    }
}

fn check_target(
    host: &ThisHost,
    wanted: Option<&str>,
    given: Option<&Value>,
) -> Result<Option<(Target, ResourceId)>, Trouble> {
    let given = given.filter(|value| !value.is_null());
    match (wanted, given) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Trouble::invalid("target", "a discovery takes no `target`; give a `query`")),
        (Some(kind), None) => Err(Trouble::invalid("target", format!("`target` is missing: the id of a {kind}"))),
        (Some(kind), Some(value)) => {
            let text = value.as_str().ok_or_else(|| Trouble::invalid("target", "`target` must be an id, as text"))?;
            let id: ResourceId =
                text.parse().map_err(|error| Trouble::invalid("target", format!("`target`: {error}")))?;
            Ok(Some((parse_target(host, kind, &id)?, id)))
        }
    }
}

/// What an id means on this machine.
pub(super) fn parse_target(host: &ThisHost, kind: &str, id: &ResourceId) -> Result<Target, Trouble> {
    if id.kind() != kind {
        return Err(Trouble::invalid("target", format!("`{id}` is no {kind}; this action runs on a {kind}")));
    }
    let machine = if kind == "host" { Some(id.uid()) } else { id.scope() };
    if machine != Some(ResourceId::escape(&host.name).as_str()) {
        return Err(Trouble::not_found(format!("`{id}` is not on this machine, which is `{}`", host.name), Vec::new()));
    }
    let uid = unescape(id.uid());
    let target = match kind {
        "host" => Some(Target::Machine),
        "service" => Some(Target::Service(uid)),
        "mount" => Some(Target::Mount(PathBuf::from(uid))),
        "process" => parse_process(&uid),
        "file" => Some(PathBuf::from(uid)).filter(|path| is_plain_path(path)).map(Target::File),
        _ => None,
    };
    target.ok_or_else(|| Trouble::invalid("target", format!("`{id}` is no sound id of a {kind}")))
}

fn parse_process(uid: &str) -> Option<Target> {
    let (pid, start_ticks) = uid.split_once('-')?;
    Some(Target::Process { pid: pid.parse().ok().filter(|pid| *pid > 0)?, start_ticks: start_ticks.parse().ok()? })
}

/// Absolute, without a step up, and of one line.
pub(super) fn is_plain_path(path: &Path) -> bool {
    let step_up = |part: Component<'_>| matches!(part, Component::ParentDir);
    let control = path.to_string_lossy().chars().any(char::is_control);
    path.is_absolute() && !path.components().any(step_up) && path.file_name().is_some() && !control
}

/// Undoes [`ResourceId::escape`].
fn unescape(part: &str) -> String {
    part.replace("%3A", ":").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use countersign_core::envelope::Code;
    use serde_json::json;

    use super::*;

    fn check(kind: &str, target: &str) -> Result<Target, Code> {
        let mut host = ThisHost::detect().expect("Linux has a host name");
        host.name = "web-1".to_owned();
        let checked = check_target(&host, Some(kind), Some(&json!(target)));
        let checked = checked.map_err(|trouble| trouble.failure().code)?;
        Ok(checked.expect("a target was given").0)
    }

    #[test]
    fn a_target_is_of_the_right_kind_and_on_this_machine() {
        assert_eq!(check("host", "host:web-1"), Ok(Target::Machine));
        assert_eq!(check("process", "process:web-1:812-55"), Ok(Target::Process { pid: 812, start_ticks: 55 }));
        assert_eq!(check("mount", "mount:web-1:/mnt/a%3Ab%253A"), Ok(Target::Mount(PathBuf::from("/mnt/a:b%3A"))));
        assert_eq!(check("service", "service:web-1:nginx"), Ok(Target::Service("nginx".to_owned())));
        assert_eq!(check("file", "file:web-1:/etc/a%3Ab"), Ok(Target::File(PathBuf::from("/etc/a:b"))));
        assert_eq!(check("host", "host:web-2"), Err(Code::NotFound));
        assert_eq!(check("process", "process:web-2:812-55"), Err(Code::NotFound));
        assert_eq!(check("service", "service:nginx"), Err(Code::NotFound), "an id without its machine");
        for (kind, bad) in [
            ("host", "process:web-1:1-1"),
            ("process", "process:web-1:812"),
            ("process", "process:web-1:-1-5"),
            ("host", "web-1"),
            ("file", "file:web-1:etc/motd"),
            ("file", "file:web-1:/etc/../root/x"),
            ("file", "file:web-1:/"),
        ] {
            assert_eq!(check(kind, bad), Err(Code::InvalidInput), "{bad}");
        }
    }

    #[test]
    fn a_target_is_neither_missing_nor_superfluous() {
        let host = ThisHost::detect().expect("Linux has a host name");
        assert!(check_target(&host, Some("host"), None).is_err());
        assert!(check_target(&host, Some("host"), Some(&json!(7))).is_err());
        assert!(check_target(&host, None, Some(&json!("host:x"))).is_err());
        assert_eq!(check_target(&host, None, Some(&Value::Null)).ok(), Some(None));
    }
}

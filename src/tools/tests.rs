//! The room against a real process: `tests/fakes/spoke.py`, a server with every fault. A call's kind and limit are given
//! here as literals; how a call is cleared is tested with the gates.

mod answers;
mod life;
mod permits;
mod walls;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use countersign_core::envelope::{Code, Envelope, Failure};
use countersign_core::gate::ToolCall;
use countersign_core::signal::CallId;
use countersign_core::tool::{Registry, ToolKind};
use countersign_core::usage::Origin;
use futures::future::join_all;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{SpokeConfig, SpokeState, Spokes, SpokesError};
use crate::permit;

/// Far more than anything here takes, so that a busy machine fails no test.
const AMPLE: Duration = Duration::from_secs(30);

const TOOLS: &str = r#"
    spoke = "fake"
    [[tool]]
    name = "fake_x"
    about = "has every fault"
    [tool.action.echo]
    kind = "resolve"
    about = "answers"
    limit_ms = 1000
    resolves = "any"
    [[tool]]
    name = "fake_y"
    about = "says nothing about its actions"
    [tool.action.echo]
    kind = "resolve"
    about = "answers"
    limit_ms = 1000
    resolves = "any"
"#;

/// A set with the one server `fake`, and a directory for marks.
struct Fake {
    spokes: Spokes,
    dir: TempDir,
}

impl Fake {
    fn new(options: &[&str]) -> Self {
        Self::with(|config, _| config.args.extend(options.iter().map(|&option| option.to_owned())))
    }

    fn with(change: impl FnOnce(&mut SpokeConfig, &Path)) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let mut config = config();
        config.args.extend(["--log".to_owned(), text(&dir.path().join("starts"))]);
        change(&mut config, dir.path());
        let spokes = Spokes::new(vec![config], &registry(), &Arc::default()).expect("the configuration is sound");
        Self { spokes, dir }
    }

    async fn run(&self, call: &ToolCall) -> Envelope {
        self.spokes.run(call).await
    }

    /// The process that answers now.
    async fn pid(&self) -> u64 {
        pid(&self.run(&read("echo", json!({}))).await)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn mark(&self, name: &str) -> String {
        text(&self.path(name))
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let content = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        content.lines().map(str::to_owned).collect()
    }

    fn state(&self) -> SpokeState {
        self.spokes.health().remove(0).state
    }
}

fn config() -> SpokeConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/spoke.py");
    SpokeConfig {
        name: "fake".to_owned(),
        command: python(),
        args: vec![text(&script)],
        env: Vec::new(),
        secrets: BTreeMap::new(),
        start_limit: AMPLE,
    }
}

/// The interpreter itself: what `python3` names in our `PATH` may be a script that needs our environment.
fn python() -> PathBuf {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    let ask = || {
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let output = asked.expect("these tests need python3");
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    PYTHON.get_or_init(ask).clone()
}

fn registry() -> Arc<Registry> {
    Arc::new(Registry::load([("fake.toml", TOOLS)]).expect("the declarations are sound"))
}

fn text(path: &Path) -> String {
    path.to_str().expect("temporary paths are text").to_owned()
}

fn read(action: &str, args: Value) -> ToolCall {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    ToolCall {
        id: CallId::new("c1"),
        spoke: "fake".to_owned(),
        tool: "fake_x".to_owned(),
        action: action.to_owned(),
        kind: ToolKind::Read,
        target: None,
        args,
        by: Origin::Rule,
        limit_ms: 30_000,
        warrant: None,
    }
}

/// A change that was countersigned.
fn write(action: &str, args: Value) -> ToolCall {
    const TARGET: &str = "service:web-1:nginx";
    let plan = permit::tests::plan(("fake_x", action), TARGET, args.clone(), &[]);
    let (target, warrant) = (Some(plan.target.clone()), Some(permit::tests::warrant(plan)));
    ToolCall { kind: ToolKind::Write, target, warrant, ..read(action, args) }
}

fn pid(envelope: &Envelope) -> u64 {
    envelope.data.get("pid").and_then(Value::as_u64).unwrap_or_else(|| panic!("no pid in {envelope:?}"))
}

fn failure(envelope: Envelope) -> Failure {
    assert!(!envelope.ok, "{envelope:?}");
    envelope.error.expect("what did not work has an error")
}

fn exists(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether a process that is not our child still does anything: its own parent may be slow to bury it.
fn works(pid: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

/// Waits for a mark.
async fn until(what: &str, seen: impl Fn() -> bool) {
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    let watch = async {
        while !seen() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(AMPLE, watch).await.unwrap_or_else(|_| panic!("never happened: {what}"));
}

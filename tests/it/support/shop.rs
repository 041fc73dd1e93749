//! A team's own tool server, played by `tests/fakes/shop`: a test writes down what it says of each action, and looks at what
//! it was asked. What the bot makes of that is not here.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a test has written down, and what was called.
pub(crate) struct Shop {
    folder: TempDir,
}

impl Shop {
    /// One pod, `till`, in its first run; it can be found, and it runs.
    pub(crate) fn new() -> Self {
        let shop = Self { folder: TempDir::with_prefix("shop-").expect("a temporary directory can be created") };
        shop.is_in_run(1);
        shop.answers("restart", &json!({ "name": "till" }));
        shop
    }

    /// The configuration of a bot that has it.
    pub(crate) fn config(&self) -> String {
        let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/shop");
        let shown = |path: &Path| path.display().to_string();
        let args = [shown(&fake.join("server.py")), shown(self.folder.path())];
        let (tools, intents) = (shown(&fake.join("tools")), shown(&fake.join("intents.toml")));
        format!(
            "[spokes.shop]\ncommand = {:?}\nargs = {args:?}\n[tools]\ndir = {tools:?}\n[intents]\nfile = {intents:?}\n",
            python(),
        )
    }

    /// From now on the pod is found in this run of it, and says that it runs in it.
    pub(crate) fn is_in_run(&self, run: u32) {
        let run = run.to_string();
        let pod = json!({ "id": "pod:shop:till", "name": "till", "attrs": { "run": run } });
        self.answers("find", &json!({ "resources": [pod] }));
        self.answers("status", &json!({ "name": "till", "present": true, "state": "running", "run": run }));
    }

    /// From now on this action comes to this.
    pub(crate) fn answers(&self, action: &str, data: &Value) {
        self.write(action, &json!({ "ok": true, "data": data }));
    }

    /// From now on this action does not work, and says so.
    pub(crate) fn fails(&self, action: &str, message: &str) {
        let (code, blocked, failed, retryable) = ("EXECUTION_FAILED", false, true, false);
        let error =
            json!({ "code": code, "message": message, "blocked": blocked, "failed": failed, "retryable": retryable });
        self.write(action, &json!({ "ok": false, "error": error }));
    }

    /// The actions that were called, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// What came with the last call, and the environment of the server.
    pub(crate) fn last(&self) -> Value {
        let last = std::fs::read_to_string(self.folder.path().join("last")).expect("something was called");
        serde_json::from_str(&last).expect("it is JSON")
    }

    fn write(&self, action: &str, envelope: &Value) {
        // In one move, so that no call finds half of it.
        let (half, whole) = (self.folder.path().join("half"), self.folder.path().join(format!("{action}.json")));
        std::fs::write(&half, envelope.to_string()).expect("a file can be written");
        std::fs::rename(half, whole).expect("a file can be renamed");
    }
}

/// The interpreter itself: what `python3` names in our `PATH` may be a script that needs our environment.
fn python() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8_lossy(&asked.expect("this test needs python3").stdout).trim().to_owned()
}

//! The host spoke as its caller sees it: every declared action against this machine, and a session over MCP. What a
//! single reader does with odd input is tested beside it.

mod files;
mod permits;
mod processes;
mod services;

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;

use countersign_core::envelope::{Code, Envelope, Failure};
use countersign_core::resource::Resource;
use countersign_core::tool::{ActionSpec, ToolKind};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value, json};

use super::dispatch::NO_READER;
use super::server::HostServer;
use super::this_host::ThisHost;
use crate::clock::wall_now;
use crate::permit::{self, Key, META_KEY};

/// A machine whose init scripts and pid files are in a directory of the test.
struct Machine {
    server: HostServer,
    dir: tempfile::TempDir,
    id: String,
    key: Key,
}

impl Machine {
    fn new() -> Self {
        Self::with(|_, _| {})
    }

    fn with(change: impl FnOnce(&mut ThisHost, &Path)) -> Self {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let mut host = ThisHost::detect().expect("Linux has a host name");
        host.places.systemd = dir.path().join("no-systemd");
        host.places.init_scripts = dir.path().to_path_buf();
        host.places.pid_files = dir.path().to_path_buf();
        change(&mut host, dir.path());
        let id = host.id().expect("a host name is a sound part").to_string();
        let key = Key::fresh();
        let server = HostServer::new(Arc::new(host), Some(key.clone())).expect("the declaration is sound");
        Self { server, dir, id, key }
    }

    async fn ask(&self, tool: &str, args: Value) -> Envelope {
        self.ask_with(tool, args, &Map::new()).await
    }

    async fn ask_with(&self, tool: &str, args: Value, meta: &Map<String, Value>) -> Envelope {
        let args = args.as_object().cloned().expect("arguments are an object");
        self.server.answer(tool, args, meta).await.expect("the tool is declared")
    }

    /// A call's `_meta` with a permit for exactly this change.
    fn permit(&self, call: (&str, &str), target: &str, args: &Value, before: &[(&str, &str)]) -> Map<String, Value> {
        self.permit_expecting(call, target, args, before, &[])
    }

    /// The same, of a plan that expects something.
    fn permit_expecting(
        &self,
        call: (&str, &str),
        target: &str,
        args: &Value,
        before: &[(&str, &str)],
        expect: &[(&str, &str)],
    ) -> Map<String, Value> {
        let mut plan = permit::tests::plan(call, target, args.clone(), before);
        plan.expect.equals = expect.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        let warrant = permit::tests::warrant(plan);
        Map::from_iter([(META_KEY.to_owned(), permit::mint(&self.key, &warrant, wall_now()))])
    }

    /// A change that was countersigned.
    async fn order(&self, call: (&str, &str), target: &str, args: Value, before: &[(&str, &str)]) -> Envelope {
        self.order_expecting(call, target, args, before, &[]).await
    }

    /// The same, by a plan that expects something.
    async fn order_expecting(
        &self,
        (tool, action): (&str, &str),
        target: &str,
        args: Value,
        before: &[(&str, &str)],
        expect: &[(&str, &str)],
    ) -> Envelope {
        let meta = self.permit_expecting((tool, action), target, &args, before, expect);
        let mut call = args;
        call["action"] = json!(action);
        call["target"] = json!(target);
        self.ask_with(tool, call, &meta).await
    }

    async fn done(&self, call: (&str, &str), target: &str, args: Value, before: &[(&str, &str)]) -> Value {
        let envelope = self.order(call, target, args, before).await;
        assert!(envelope.ok, "{call:?}: {:?}", envelope.error);
        envelope.data
    }

    /// A change that is refused, which says that nothing was done.
    async fn not_done(&self, call: (&str, &str), target: &str, args: Value, before: &[(&str, &str)]) -> Failure {
        nothing_done(self.order(call, target, args, before).await)
    }

    /// What the read that verifies a change of this tool says.
    async fn state(&self, tool: &str, target: &str) -> Value {
        self.found(tool, json!({ "action": "state", "target": target })).await.data
    }

    async fn found(&self, tool: &str, args: Value) -> Envelope {
        let envelope = self.ask(tool, args).await;
        assert!(envelope.ok, "{tool}: {:?}", envelope.error);
        envelope
    }

    async fn refused(&self, tool: &str, args: Value) -> Failure {
        self.ask(tool, args).await.error.expect("it must be refused")
    }

    async fn resources(&self, tool: &str, args: Value) -> Vec<Resource> {
        let envelope = self.found(tool, args).await;
        let listed = envelope.data.get("resources").cloned().expect("a discovery lists resources");
        serde_json::from_value(listed).expect("every one is a sound resource")
    }

    /// An init script whose service runs while its pid file names a process.
    fn install(&self, name: &str, body: &str) -> std::path::PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, body).expect("a script can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a script can be run");
        path
    }

    fn web(&self) -> std::path::PathBuf {
        let pid_file = self.dir.path().join("web.pid");
        let body = format!(
            "#!/bin/sh\n# Short-Description: A small web server\ncase \"$1\" in\n\
             status) if [ -f {0} ] && kill -0 $(cat {0}); then echo web is running; exit 0; fi; exit 3;;\nesac\n",
            pid_file.display()
        );
        self.install("web", &body);
        pid_file
    }
}

/// The refusal of a change, which must say that nothing was done.
fn nothing_done(envelope: Envelope) -> Failure {
    let failure = envelope.error.expect("it must be refused");
    assert!(failure.blocked && !failure.failed && !failure.details.outcome_unknown, "{failure:?}");
    failure
}

/// A process to look at. It ends with the test, also where the test fails.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        // It ignores the one signal that a test sends it, which would end it. `env` becomes it.
        let child = Command::new("env").args(["--ignore-signal=HUP", "sleep", "86397"]).spawn().expect("sleep runs");
        let name = format!("/proc/{}/comm", child.id());
        while std::fs::read_to_string(&name).expect("it runs").trim() != "sleep" {
            std::thread::yield_now();
        }
        Self(child)
    }

    fn end(&mut self) {
        self.0.kill().expect("our own child can be killed");
        self.0.wait().expect("our own child can be waited for");
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sound arguments for any declared action.
fn args_for(dir: &Path, action: &str, spec: &ActionSpec, target: Option<&str>) -> Value {
    let file = dir.join("some.log").display().to_string();
    let mut args = Map::from_iter([("action".to_owned(), json!(action))]);
    if let Some(target) = target {
        args.insert("target".to_owned(), json!(target));
    }
    for (name, value) in [
        ("path", json!(file)),
        ("directory", json!(dir)),
        ("line", json!("uptime")),
        ("port", json!(1)),
        ("seconds", json!(1)),
        ("content", json!("three\n")),
        ("signal", json!("hup")),
    ] {
        if spec.args.contains_key(name) {
            args.insert(name.to_owned(), value);
        }
    }
    Value::Object(args)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_declared_action_is_answered_by_a_sound_envelope() {
    let machine = Machine::new();
    let pid_file = machine.web();
    std::fs::write(&pid_file, std::process::id().to_string()).expect("a file can be written");
    std::fs::write(machine.dir.path().join("some.log"), "one\ntwo\n").expect("a file can be written");
    let registry = machine.server.declared();
    let mut walked = 0;
    for tool in registry.tools() {
        for (action, spec) in &tool.actions {
            let target = match &spec.resolve {
                Some(resolve) => {
                    let (tool, action, found) = registry.named(resolve).expect("the registry checked it");
                    let query = found.args["query"].required.then(|| machine.dir.path().join("some.log"));
                    let found = machine.resources(tool, json!({ "action": action, "query": query })).await;
                    Some(found.first().expect("this machine has one of each").id.to_string())
                }
                None => None,
            };
            let mut args = args_for(machine.dir.path(), action, spec, target.as_deref());
            if args["action"] == "running" {
                args["query"] = json!("web");
            }
            if args["action"] == "preview_replace" || args["action"] == "replace" {
                (args["from"], args["to"]) = (json!("two"), json!("three"));
            }
            if args["action"] == "locate" {
                args["query"] = json!(machine.dir.path().join("some.log"));
            }
            let envelope = machine.ask(&tool.name, args).await;
            let name = format!("{}.{action}", tool.name);
            if spec.kind == ToolKind::Write {
                let message = envelope.error.expect("a write needs a permit").message;
                assert_eq!(message, "a change needs a permit, and this call has none", "{name}");
                continue;
            }
            assert!(envelope.meta.observed_at > 1_700_000_000_000, "{name} does not say when it looked");
            assert_eq!(envelope.ok, envelope.error.is_none(), "{name}");
            if let Some(failure) = envelope.error {
                assert_ne!(failure.message, NO_READER, "{name}");
                // This machine has neither a journal nor SMART; a port and a process are waited for in vain, and whatever process
                // is found first need not handle a signal.
                let in_vain = [
                    "host_machine.disks_health",
                    "host_log.journal",
                    "host_wait.port",
                    "host_wait.process",
                    "host_process.preview_signal",
                ];
                assert!(in_vain.contains(&name.as_str()), "{name}: {failure:?}");
            } else {
                assert!(envelope.data.is_object(), "{name}");
            }
            walked += 1;
        }
    }
    assert!(walked >= 26, "only {walked} actions were walked");
}

#[tokio::test]
async fn every_declared_write_has_a_writer_and_what_it_declares_is_what_is_meant() {
    let machine = Machine::new();
    // Sound ids of what is not there: each writer is reached, and does nothing.
    let missing = |kind: &str| match kind {
        "process" => machine.id.replace("host:", "process:") + ":999999999-1",
        "service" => machine.id.replace("host:", "service:") + ":no-such-service",
        _ => machine.id.replace("host:", "file:") + ":/no-such-folder/file",
    };
    let mut writes = Vec::new();
    for tool in machine.server.declared().tools() {
        for (action, spec) in tool.actions.iter().filter(|(_, spec)| spec.kind == ToolKind::Write) {
            let name = format!("{}.{action}", tool.name);
            let target = missing(spec.target.as_deref().expect("a write has a target"));
            let args = args_for(machine.dir.path(), action, spec, None);
            let mut args = args.as_object().cloned().expect("an object");
            args.remove("action");
            let failure = machine.not_done((&tool.name, action), &target, Value::Object(args), &[]).await;
            assert_ne!(failure.message, NO_READER, "{name}");
            let change = spec.change.as_ref().expect("the registry checked it");
            let absent = change.expect.absent.then(|| "absent".to_owned());
            let equals = change.expect.equals.iter().map(|(path, value)| format!("{path}={value}"));
            let changed = change.expect.changed.iter().map(|path| format!("another {path}"));
            let expect: Vec<String> = absent.into_iter().chain(equals).chain(changed).collect();
            let expect = expect.join(", ");
            writes.push(format!("{name}: {} | {} | {expect} | {}", change.title, change.risk.as_str(), change.verify));
        }
    }
    insta::assert_snapshot!(writes.join("\n"), @"
    host_file.append: append to {target.name} | medium | sha256={preview.after} | host_file.state
    host_file.replace: replace in {target.name} | medium | sha256={preview.after} | host_file.state
    host_file.write: write {target.name} | medium | sha256={preview.after} | host_file.state
    host_process.kill: kill process {target.name} (pid {target.pid}) | high | absent | host_process.state
    host_process.signal: send {args.signal} to process {target.name} (pid {target.pid}) | medium |  | host_process.state
    host_process.stop: stop process {target.name} (pid {target.pid}) | medium | absent | host_process.state
    host_service.restart: restart service {target.name} | medium | state=active, another run | host_service.state
    host_service.start: start service {target.name} | medium | state=active | host_service.state
    host_service.stop: stop service {target.name} | medium | state=inactive | host_service.state
    ");
}

#[test]
fn only_what_has_a_verified_change_writes_and_everything_can_be_shown() {
    let machine = Machine::new();
    for tool in machine.server.declared().tools() {
        for (action, spec) in &tool.actions {
            assert_ne!(spec.kind, ToolKind::Record, "{}.{action}: this server keeps no books", tool.name);
            assert_eq!(spec.change.is_some(), spec.kind == ToolKind::Write, "{}.{action}", tool.name);
            let show = &spec.show;
            let is_shown = show.lead.is_some() || show.table.is_some() || show.text.is_some();
            assert!(is_shown, "{}.{action} says nothing of how it is shown", tool.name);
        }
    }
}

/// Every path in the declaration leads to something in a real answer, so that a renamed field is noticed.
#[tokio::test]
async fn what_is_shown_is_there() {
    let machine = Machine::new();
    let mut checked = 0;
    for (tool, action) in [
        ("host_machine", "describe"),
        ("host_machine", "load"),
        ("host_machine", "memory"),
        ("host_disk", "usage"),
        ("host_process", "top"),
        ("host_network", "counters"),
        ("host_network", "sockets"),
    ] {
        let data = machine.found(tool, json!({ "action": action, "target": machine.id })).await.data;
        let spec = machine.server.declared().action(tool, action).expect("declared");
        let at = |path: &str| data.pointer(&format!("/{}", path.replace('.', "/")));
        for field in &spec.show.fields {
            assert!(at(&field.path).is_some(), "{tool}.{action}: {}", field.path);
            checked += 1;
        }
        let templates = spec.show.lead.iter().chain(spec.facts.iter().map(|fact| &fact.value));
        for path in templates.flat_map(|text| text.split('{').skip(1)) {
            let path = path.split(['}', '|']).next().unwrap_or_default();
            assert!(at(path).is_some(), "{tool}.{action}: {path}");
            checked += 1;
        }
        if let Some(table) = &spec.show.table {
            let rows = at(&table.rows).and_then(Value::as_array).expect("rows");
            for (row, column) in rows.iter().take(1).flat_map(|row| table.columns.iter().map(move |c| (row, c))) {
                assert!(row.get(&column.path).is_some(), "{tool}.{action}: {}", column.path);
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "only {checked} paths were checked");
}

#[tokio::test]
async fn the_machine_is_measured() {
    let machine = Machine::new();
    let data = machine.found("host_machine", json!({ "action": "load", "target": machine.id })).await.data;
    for path in ["/cpu", "/memory/percent", "/disk/percent"] {
        let percent = data.pointer(path).and_then(Value::as_f64).expect("a number");
        assert!((0.0..=100.0).contains(&percent), "{path} is {percent}");
    }
    assert!(data.pointer("/memory/total").and_then(Value::as_u64).is_some_and(|bytes| bytes > 64 * 1024 * 1024));
}

#[tokio::test]
async fn a_process_is_found_looked_at_and_waited_for() {
    let machine = Machine::new();
    let mut child = Sleeper::start();
    let pid = child.0.id().to_string();
    let found = machine.resources("host_process", json!({ "action": "find", "query": pid })).await;
    let [process] = found.as_slice() else { panic!("one process has this number: {found:?}") };
    assert_eq!((process.name.as_str(), &process.aliases), ("sleep", &vec![pid.clone()]));
    assert_eq!(process.chain.iter().map(ToString::to_string).collect::<Vec<_>>(), std::slice::from_ref(&machine.id));
    let by_command = machine.resources("host_process", json!({ "action": "find", "query": "sleep 86397" })).await;
    assert!(by_command.contains(process));

    let target = process.id.to_string();
    let data = machine.found("host_process", json!({ "action": "detail", "target": target })).await.data;
    assert_eq!(data.get("command"), Some(&json!("sleep 86397")));
    assert_eq!(data.get("state"), Some(&json!("sleeping")));
    assert!(data.get("environment").is_none() && data.get("memory").and_then(Value::as_u64).is_some_and(|m| m > 0));

    let waited = machine.refused("host_wait", json!({ "action": "process", "target": target, "seconds": 1 })).await;
    assert_eq!((waited.code, waited.retryable), (Code::Timeout, true));
    let wait = machine.found("host_wait", json!({ "action": "process", "target": target, "seconds": 60 }));
    let (envelope, ()) = tokio::join!(wait, async { child.end() });
    assert_eq!(envelope.data.get("state"), Some(&json!("gone")));
    let gone = machine.refused("host_process", json!({ "action": "detail", "target": target })).await;
    assert_eq!((gone.code, gone.message), (Code::NotFound, format!("process {pid} is gone")));
}

#[tokio::test]
async fn kernel_threads_are_only_found_by_number() {
    let machine = Machine::new();
    let all = machine.found("host_process", json!({ "action": "top", "target": machine.id, "limit": 50 })).await.data;
    let names = all.get("processes").and_then(Value::as_array).expect("rows").iter().filter_map(|row| row.get("name"));
    assert!(names.clone().count() > 0);
    assert!(!names.into_iter().any(|name| name == "kthreadd"));
    assert!(machine.resources("host_process", json!({ "action": "find", "query": "kthreadd" })).await.is_empty());
}

#[tokio::test]
async fn a_listening_port_is_found_with_its_process() {
    let machine = Machine::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let found = machine.resources("host_network", json!({ "action": "ports", "query": port.to_string() })).await;
    let resource = found.iter().find(|found| found.name == format!("tcp/{port}")).expect("it listens");
    assert!(resource.id.as_str().ends_with(&format!(":tcp/{port}")));
    assert!(resource.about.contains(&format!("(pid {}) on 127.0.0.1", std::process::id())), "{}", resource.about);
    let wait = json!({ "action": "port", "target": machine.id, "port": port, "state": "listening" });
    assert!(machine.ask("host_wait", wait).await.ok);
    let gone = json!({ "action": "port", "target": machine.id, "port": port, "state": "gone", "seconds": 1 });
    assert_eq!(machine.refused("host_wait", gone.clone()).await.code, Code::Timeout);
    drop(listener);
    assert!(machine.ask("host_wait", gone).await.ok);
}

#[tokio::test]
async fn services_under_sysv_are_listed_and_asked() {
    let machine = Machine::new();
    let pid_file = machine.web();
    machine.install("broken", "#!/bin/sh\n# status\nexit 1\n");
    machine.install("rc", "#!/bin/sh\ntouch ran\n");
    let mut child = Sleeper::start();
    std::fs::write(&pid_file, child.0.id().to_string()).expect("a file can be written");
    let found = machine.resources("host_service", json!({ "action": "find" })).await;
    let names: Vec<&str> = found.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["broken", "web"], "a script without an action `status` is not run");
    let found = machine.resources("host_service", json!({ "action": "find", "query": "web" })).await;
    let [web] = found.as_slice() else { panic!("one is called web: {found:?}") };
    assert_eq!(web.about, "A small web server");
    let target = web.id.to_string();
    let status = machine.found("host_service", json!({ "action": "status", "target": target })).await.data;
    assert_eq!(status.get("state"), Some(&json!("active")));
    assert_eq!(status.get("pid"), Some(&json!(child.0.id())));
    assert_eq!(status.get("detail"), Some(&json!("web is running")));

    let wait = machine.found("host_wait", json!({ "action": "service", "target": target, "state": "gone" }));
    let (envelope, ()) = tokio::join!(wait, async { child.end() });
    assert_eq!(envelope.data.get("state"), Some(&json!("inactive")));
    let rows = machine.found("host_service", json!({ "action": "list", "target": machine.id })).await.data;
    assert_eq!(rows.pointer("/services/0/state"), Some(&json!("failed")));

    let nearby = machine.found("host_service", json!({ "action": "find", "query": "brokne" })).await.data;
    assert_eq!(nearby.pointer("/nearest/0/name"), Some(&json!("broken")));
    let gone = target.replace(":web", ":webb");
    let failure = machine.refused("host_service", json!({ "action": "status", "target": gone })).await;
    assert_eq!(failure.code, Code::NotFound);
    assert_eq!(failure.details.suggestions.iter().map(|near| near.name.as_str()).collect::<Vec<_>>(), ["web"]);
}

#[tokio::test]
async fn a_log_of_ten_megabytes_is_read_from_its_end() {
    let machine = Machine::new();
    let path = machine.dir.path().join("big.log");
    let mut file = std::fs::File::create(&path).expect("a file can be made");
    let line = [b"plain line \xff\xfe \x1b[31mred\x1b[0m ".as_slice(), &[b'x'; 74], b"\n"].concat();
    file.write_all(&line.repeat(100_000)).expect("a file can be written");
    file.write_all(b"error: disk on fire\nlast\n").expect("a file can be written");
    let args = json!({ "action": "tail", "target": machine.id, "path": path, "lines": 500 });
    let envelope = machine.found("host_log", args).await;
    let lines = envelope.data.get("lines").and_then(Value::as_array).expect("lines");
    assert_eq!((lines.len(), lines.last()), (500, Some(&json!("last"))));
    assert!(lines.first().and_then(Value::as_str).is_some_and(|line| line.contains("\u{fffd}\u{fffd} \u{1b}[31m")));
    assert!(envelope.meta.left_out.contains("with a word in them"), "{}", envelope.meta.left_out);
    let args = json!({ "action": "tail", "target": machine.id, "path": path, "contains": "fire" });
    assert_eq!(machine.found("host_log", args).await.data.get("lines"), Some(&json!(["error: disk on fire"])));
    let args = json!({ "action": "read", "target": machine.id, "path": path, "from": 100_001, "lines": 1 });
    let envelope = machine.found("host_file", args).await;
    assert_eq!(envelope.data.get("lines"), Some(&json!(["error: disk on fire"])));
    assert_eq!(envelope.meta.left_out, "the file goes on; ask for it from line 100002 on to see more");
}

/// As `df PATH` does.
#[tokio::test]
async fn a_path_means_the_mount_that_it_lies_on() {
    let machine = Machine::new();
    let df = Command::new("df").arg("--output=target").arg(machine.dir.path()).output().expect("df runs");
    let said = String::from_utf8_lossy(&df.stdout).lines().last().map(str::to_owned).expect("a mount");
    let find = |query: &str| json!({ "action": "find", "query": query });
    let found = machine.resources("host_disk", find(&machine.dir.path().display().to_string())).await;
    assert_eq!(found.iter().map(|mount| mount.name.as_str()).collect::<Vec<_>>(), [said.as_str()]);
    assert_eq!(
        machine.resources("host_disk", find("/")).await.first().map(|mount| mount.name.clone()).as_deref(),
        Some("/")
    );
    for elsewhere in ["/no/such/folder", "/proc/1", "/dev/null"] {
        let found = machine.resources("host_disk", find(elsewhere)).await;
        assert!(found.iter().all(|mount| mount.name != "/"), "{elsewhere} is not on the root: {found:?}");
    }
}

#[tokio::test]
async fn a_directory_with_many_entries_is_summarised() {
    let machine = Machine::new();
    let many = machine.dir.path().join("many");
    std::fs::create_dir(&many).expect("a directory can be made");
    for number in 0..100_050 {
        std::fs::File::create(many.join(format!("f{number:06}"))).expect("a file can be made");
    }
    let args = json!({ "action": "find", "target": machine.id, "directory": many, "name": "f*" });
    let envelope = machine.found("host_file", args).await;
    assert_eq!(envelope.data.get("entries").and_then(Value::as_array).map(Vec::len), Some(200));
    assert_eq!(envelope.data.get("scanned"), Some(&json!(100_000)));
    insta::assert_snapshot!(envelope.meta.left_out, @"200 of 100000 matches are shown; ask for a narrower name, like `find *.log in FOLDER`. Looking stopped after 100000 entries; begin in a smaller folder");
}

#[tokio::test]
async fn only_proven_commands_run() {
    let machine = Machine::new();
    let run = |line: String| json!({ "action": "run", "target": machine.id, "line": line });
    let data = machine.found("host_command", run("uname -s".to_owned())).await.data;
    assert_eq!((data.get("output"), data.get("exit_code")), (Some(&json!(["Linux"])), Some(&json!(0))));
    assert_eq!(data.get("ended"), Some(&json!(":")));
    let refused = machine.refused("host_command", run("tail -f /var/log/dpkg.log".to_owned())).await;
    assert_eq!((refused.code, refused.blocked), (Code::ReadOnlyViolation, true));
    assert_eq!(refused.details.suggested_rewrite.as_deref(), Some("tail -n 200 /var/log/dpkg.log"));

    // A link to a device looks like a file to whoever only reads the line.
    let link = machine.dir.path().join("notes.txt");
    std::os::unix::fs::symlink("/dev/zero", &link).expect("a link can be made");
    let refused = machine.refused("host_command", run(format!("cat {}", link.display()))).await;
    assert_eq!(refused.code, Code::ReadOnlyViolation);
    let fifo = machine.dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let refused = machine.refused("host_command", run(format!("cat {}", fifo.display()))).await;
    assert_eq!(refused.code, Code::InvalidInput);
}

#[tokio::test]
async fn a_command_that_lists_mounts_says_that_it_sees_walls_and_the_first_process_sees_none() {
    let machine = Machine::new();
    let run = async |line: &str| {
        let data =
            machine.found("host_command", json!({ "action": "run", "target": machine.id, "line": line })).await.data;
        (data["note"].as_str().unwrap_or_default().to_owned(), data["output"].to_string())
    };
    for line in ["mount", "/bin/mount", "findmnt /", "cat /proc/self/mounts | head -n 3"] {
        assert!(run(line).await.0.contains("sees everything mounted read-only"), "{line}");
    }
    let own = std::fs::read_to_string("/proc/1/mounts").expect("it can be read");
    let root = own.lines().rfind(|line| line.split(' ').nth(1) == Some("/")).expect("the root is mounted");
    let options = root.split(' ').nth(3).and_then(|options| options.split(',').next()).expect("it has options");
    let (note, output) = run("findmnt -noOPTIONS -lN 1 /").await;
    assert_eq!((note.as_str(), output.starts_with(&format!("[\"{options},"))), ("", true), "{output}");
}

#[tokio::test]
async fn pipelines_and_lists_run_without_a_shell_once_they_are_proven() {
    let machine = Machine::new();
    let run = |line: String| json!({ "action": "run", "target": machine.id, "line": line });
    let output = async |line: &str| {
        let data = machine.found("host_command", run(line.to_owned())).await.data;
        (data.get("output").cloned(), data.get("exit_code").cloned())
    };
    let fine = Some(json!(0));
    assert_eq!(output("printf 'b\\na\\n' | sort").await, (Some(json!(["a", "b"])), fine.clone()));
    assert_eq!(output("cat /nowhere 2>/dev/null || echo none").await, (Some(json!(["none"])), fine.clone()));
    assert_eq!(output("false && echo a; true && echo b || echo c").await, (Some(json!(["b"])), fine.clone()));
    assert_eq!(output("tr a-z A-Z <<< 'x y' | rev").await, (Some(json!(["Y X"])), fine.clone()));
    assert_eq!(output("cat /nowhere 2>&1 | wc -l").await, (Some(json!(["1"])), fine.clone()));
    assert_eq!(output("seq 1 3000000 | head -n 2").await, (Some(json!(["1", "2"])), fine));
    assert_eq!(output("true | false").await, (Some(json!([])), Some(json!(1))), "the last one counts");

    assert_eq!(
        output("cat /proc/sys/kernel/ostype").await.0,
        Some(json!(["Linux"])),
        "the kernel's own files are read"
    );

    let notes = machine.dir.path().join("notes.txt");
    let marker = machine.dir.path().join("marker");
    std::fs::write(&notes, "a\n").expect("a file can be written");
    let changes = [
        format!("cat {} | tee {}", notes.display(), marker.display()),
        format!("cat {} > {}", notes.display(), marker.display()),
        format!("ls; touch {}", marker.display()),
        format!("echo $(touch {})", marker.display()),
        format!("declare -a a='($(touch {}))'", marker.display()),
        format!("bash -c 'declare -a a=\"($(touch {}))\"'", marker.display()),
        format!("for i in 1; do touch {}; done", marker.display()),
    ];
    for line in changes {
        let refused = machine.refused("host_command", run(line)).await;
        assert_eq!(refused.code, Code::ReadOnlyViolation);
    }
    assert!(!marker.exists(), "nothing of it ran");
}

#[tokio::test]
async fn a_shell_line_shows_no_file_that_nobody_named() {
    let machine = Machine::new();
    let run = |line: String| json!({ "action": "run", "target": machine.id, "line": line });
    let link = machine.dir.path().join("notes.txt");
    std::os::unix::fs::symlink("/etc/shadow", &link).expect("a link can be made");
    let key = machine.dir.path().join("words.txt");
    std::fs::write(&key, "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n").expect("a file can be written");
    for reader in ["tac", "base64", "sed -n 2p", "rev"] {
        for line in [format!("{reader} {}", key.display()), format!("{reader} {} | cat", key.display())] {
            assert_eq!(machine.refused("host_command", run(line.clone())).await.code, Code::PolicyBlocked, "{line}");
        }
    }
    let folder = machine.dir.path().display();
    let lines = [
        format!("cat {} | wc -l", link.display()),
        format!("wc -l < {}", link.display()),
        format!("cd {folder} && cat notes.txt"),
        "for f in shadow passwd; do cat /etc/$f; done".to_owned(),
    ];
    for line in lines {
        let refused = machine.refused("host_command", run(line.clone())).await;
        assert_eq!(refused.code, Code::ReadOnlyViolation, "{line}");
    }
    let all = machine.refused("host_command", run(format!("cat {folder}/*.txt"))).await;
    assert_eq!(all.code, Code::PolicyBlocked, "each file of a pattern is looked at: {}", all.message);
}

/// Walls cover what a folder hides. Where they may be missing, no line goes through a folder.
#[tokio::test]
async fn without_walls_no_line_goes_through_a_folder() {
    let machine = Machine::with(|host, _| host.sandbox.best_effort = true);
    let run = |line: String| json!({ "action": "run", "target": machine.id, "line": line });
    let folder = machine.dir.path().display();
    let lines = [
        format!("grep -r root {folder}"),
        format!("ls {folder} | xargs cat"),
        format!("find {folder} -name '*.txt' -exec cat {{}} +"),
    ];
    for line in lines {
        let refused = machine.refused("host_command", run(line.clone())).await;
        assert_eq!(refused.code, Code::ReadOnlyViolation, "{line}");
    }
}

#[tokio::test]
async fn a_pattern_and_a_link_are_followed_before_anything_runs() {
    let machine = Machine::new();
    let run = |line: String| json!({ "action": "run", "target": machine.id, "line": line });
    let folder = machine.dir.path().canonicalize().expect("it is there");
    std::fs::write(folder.join("a.txt"), "a\n").expect("a file can be written");
    std::fs::write(folder.join("b.txt"), "b\n").expect("a file can be written");
    let shown = machine.found("host_command", run(format!("cat {}/?.txt | sort -r", folder.display()))).await.data;
    assert_eq!(shown.get("output"), Some(&json!(["b", "a"])));
    std::os::unix::fs::symlink("/etc/shadow", folder.join("c.txt")).expect("a link can be made");
    let option = format!("grep --file={}/c.txt x", folder.display());
    for line in [format!("cat {}/*.txt", folder.display()), option] {
        let refused = machine.refused("host_command", run(line.clone())).await;
        assert!(refused.message.contains("password hashes"), "{line}: {}", refused.message);
    }
    let none = machine.refused("host_command", run(format!("cat {}/*.gz", folder.display()))).await;
    assert_eq!(none.code, Code::NotFound);
    let relative = machine.refused("host_command", run("cat *".to_owned())).await;
    assert_eq!(relative.code, Code::InvalidInput, "{}", relative.message);
}

#[tokio::test]
async fn smart_is_asked_through_a_stand_in() {
    let dir = tempfile::tempdir().expect("a directory for the test");
    let mut host = ThisHost::detect().expect("Linux has a host name");
    let id = host.id().expect("a host name is a sound part").to_string();
    let ask = json!({ "action": "disks_health", "target": id });
    let script = dir.path().join("smartctl");
    host.places.programs = vec![dir.path().to_path_buf(), "/usr/bin".into(), "/bin".into()];
    let server = HostServer::new(Arc::new(host), None).expect("the declaration is sound");
    let args = ask.as_object().cloned().expect("an object");
    let missing = server.answer("host_machine", args.clone(), &Map::new()).await.and_then(|envelope| envelope.error);
    let hint = missing.and_then(|failure| failure.details.recovery_hint);
    assert_eq!(hint.as_deref(), Some("install the package smartmontools on this machine"));

    let body = "#!/bin/sh\ncase \"$*\" in\n*--scan) echo '{\"devices\":[{\"name\":\"/dev/sda\"},{\"name\":\"/dev/sdb\"}]}';;\n\
        */dev/sda) echo '{\"model_name\":\"X1\",\"smart_status\":{\"passed\":false}}'; exit 8;;\n\
        *) echo '{\"smartctl\":{\"messages\":[{\"string\":\"Permission denied\"}]}}'; exit 2;;\nesac\n";
    std::fs::write(&script, body).expect("a script can be written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a script can be run");
    let data = server.answer("host_machine", args, &Map::new()).await.expect("the tool is declared").data;
    assert_eq!(data.pointer("/disks/0/state"), Some(&json!("FAILING")));
    assert_eq!(data.pointer("/disks/1/note"), Some(&json!("`smartctl` could not read a disk: Permission denied")));
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_refused_before_anything_is_read() {
    let machine = Machine::new();
    let table = [
        (json!({}), Code::InvalidInput),
        (json!({ "action": "reboot" }), Code::InvalidInput),
        (json!({ "action": "load" }), Code::InvalidInput),
        (json!({ "action": "load", "target": "host:somewhere-else" }), Code::NotFound),
        (json!({ "action": "load", "target": machine.id, "sudo": true }), Code::InvalidInput),
        (json!({ "action": "find", "target": machine.id }), Code::InvalidInput),
    ];
    for (args, code) in table {
        assert_eq!(machine.refused("host_machine", args.clone()).await.code, code, "{args}");
    }
}

#[tokio::test]
async fn a_session_over_mcp_from_its_beginning_to_its_end() {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let server = tokio::spawn(super::serve(super::Limits::default(), input, output));
    let client = ().serve(ours).await.expect("the session begins");

    let listed = client.list_all_tools().await.expect("tools are listed");
    let names: Vec<String> = listed.iter().map(|tool| tool.name.to_string()).collect();
    let declared: Vec<String> = Machine::new().server.declared().tools().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, declared);
    let read_only = |name: &str| {
        let tool = listed.iter().find(|tool| tool.name == name).expect("it is listed");
        tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint)
    };
    for (name, expected) in
        [("host_machine", true), ("host_command", true), ("host_process", false), ("host_file", false)]
    {
        assert_eq!(read_only(name), Some(expected), "{name}");
    }
    let wait = listed.iter().find(|tool| tool.name == "host_wait").expect("it is listed");
    let schema = Value::Object(wait.input_schema.as_ref().clone());
    assert_eq!(schema.pointer("/required"), Some(&json!(["action"])));
    assert_eq!(schema.pointer("/properties/action/enum"), Some(&json!(["port", "process", "service"])));
    let state = json!({ "type": "string", "enum": ["active", "gone", "listening"], "description": "what to wait for" });
    assert_eq!(schema.pointer("/properties/state"), Some(&state), "what any of the actions takes");
    let seconds = json!({ "type": "integer", "minimum": 1, "maximum": 60, "description": "how long to wait" });
    assert_eq!(schema.pointer("/properties/seconds"), Some(&seconds));

    let call = |name: &'static str, args: Value| {
        CallToolRequestParams::new(name).with_arguments(args.as_object().cloned().expect("an object"))
    };
    let result = client.call_tool(call("host_machine", json!({ "action": "find" }))).await.expect("an answer");
    assert_eq!(result.is_error, Some(false));
    let envelope: Envelope =
        serde_json::from_value(result.structured_content.expect("structured")).expect("an envelope");
    assert!(envelope.ok && envelope.data.pointer("/resources/0/id").is_some());
    let result = client.call_tool(call("host_machine", json!({ "action": "load" }))).await.expect("an answer");
    assert_eq!(result.is_error, Some(true), "a refusal is an answer, not a protocol error");
    let unknown = client.call_tool(call("host_nothing", json!({}))).await.expect_err("there is no such tool");
    assert!(unknown.to_string().contains("there is no tool `host_nothing`"), "{unknown}");

    client.cancel().await.expect("the client goes away");
    server.await.expect("the server does not break").expect("and ends in order");
}

//! Services are started and stopped for real under `SysV`, with `start-stop-daemon`; under systemd through a stand-in for
//! `systemctl` that keeps its state in files and prints what its manual describes.

use std::time::Duration;

use tokio::time::Instant;

use super::*;

/// A service as Debian writes one; `stale` leaves its pid file behind, `loud` keeps its standard output.
fn install(machine: &Machine, name: &str, stale: bool) -> std::path::PathBuf {
    let pid_file = machine.dir.path().join(format!("{name}.pid"));
    let remove = if stale { "" } else { "--remove-pidfile" };
    let body = format!(
        "#!/bin/sh\n# Short-Description: A daemon of the test\nPID={pid}\n\
         start() {{ start-stop-daemon --start --quiet --background --make-pidfile --pidfile $PID --exec /bin/sleep -- 86395; }}\n\
         stop() {{ start-stop-daemon --stop --quiet --oknodo --retry 5 {remove} --pidfile $PID; }}\n\
         case $1 in\nstart) start;;\nstop) stop;;\nrestart) stop; start;;\n\
         status) [ -f $PID ] || {{ echo stopped; exit 3; }}\nkill -0 $(cat $PID) 2>/dev/null || {{ echo dead; exit 1; }}\n\
         echo running;;\n*) exit 2;;\nesac\n",
        pid = pid_file.display()
    );
    machine.install(name, &body);
    pid_file
}

/// Ends a daemon that a test may leave behind.
struct Cleaner(std::path::PathBuf);

impl Drop for Cleaner {
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(&self.0) {
            let _ended = Command::new("kill").args(["-9", pid.trim()]).stderr(std::process::Stdio::null()).status();
        }
    }
}

fn service(machine: &Machine, name: &str) -> String {
    format!("{}:{name}", machine.id.replace("host:", "service:"))
}

fn pid_in(file: &Path) -> i32 {
    std::fs::read_to_string(file).expect("a pid file").trim().parse().expect("a number")
}

#[tokio::test]
async fn a_daemon_is_started_restarted_and_stopped() {
    let machine = Machine::new();
    let pid_file = install(&machine, "web", false);
    let _cleaner = Cleaner(pid_file.clone());
    let target = service(&machine, "web");
    let found = machine.resources("host_service", json!({ "action": "find", "query": target })).await;
    let attrs: Vec<(&str, &str)> = found[0].attrs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let script = script_sum(&machine, "web");
    assert_eq!(attrs, [("script", script.as_str()), ("state", "inactive")], "what does not run has no run");

    let started = machine.done(("host_service", "start"), &target, json!({}), &[]).await;
    assert_eq!((&started["state"], &started["name"]), (&json!("active"), &json!("web")));
    let first = pid_in(&pid_file);
    let state = machine.state("host_service", &target).await;
    assert_eq!((&state["present"], &state["state"], &state["run"]), (&json!(true), &json!("active"), &started["run"]));
    assert!(state["run"].as_str().is_some_and(|run| run.starts_with(&format!("{first}-"))), "{state}");
    let all = machine.resources("host_service", json!({ "action": "find" })).await;
    assert!(all.iter().all(|service| service.attrs.is_empty()), "only the one that is meant exactly is asked");
    let found = machine.resources("host_service", json!({ "action": "find", "query": "web.service" })).await;
    assert_eq!(found[0].attrs.get("run").map(String::as_str), state["run"].as_str());

    let restarted = machine.done(("host_service", "restart"), &target, json!({}), &[]).await;
    assert_eq!(restarted["state"], json!("active"));
    assert!(restarted["run"].is_string() && restarted["run"] != started["run"], "{restarted}");
    assert_ne!(pid_in(&pid_file), first);

    let stopped = machine.done(("host_service", "stop"), &target, json!({}), &[]).await;
    assert_eq!(stopped["state"], json!("inactive"));
    let state = machine.state("host_service", &target).await;
    assert_eq!((&state["present"], &state["state"], &state["run"]), (&json!(true), &json!("inactive"), &Value::Null));
}

fn script_sum(machine: &Machine, name: &str) -> String {
    let script = std::fs::read(machine.dir.path().join(name)).expect("the script is there");
    countersign_core::approval::Digest::of(&script).as_str().to_owned()
}

#[tokio::test]
async fn an_init_script_that_was_altered_is_another_one_to_its_last_byte() {
    let machine = Machine::new();
    let body = |end: &str| format!("#!/bin/sh\n# status\nexit 3\n{}{end}\n", "# filling\n".repeat(10_000));
    machine.install("long", &body("# one"));
    let find = || machine.resources("host_service", json!({ "action": "find", "query": "long" }));
    let before = find().await.remove(0).attrs;
    assert_eq!(before.get("script"), Some(&script_sum(&machine, "long")));
    machine.install("long", &body("# two"));
    let after = find().await.remove(0).attrs;
    assert_eq!(after.get("script"), Some(&script_sum(&machine, "long")));
    assert_ne!(before, after);

    machine.install("long", &"# status\n".repeat(120_000));
    let failure = machine.refused("host_service", json!({ "action": "find", "query": "long" })).await;
    assert!(failure.message.ends_with("is larger than 1024 KiB; it is no init script"), "{}", failure.message);
}

#[test]
fn a_service_is_only_told_while_its_script_is_the_one_that_was_shown() {
    let machine = Machine::new();
    let tool = machine.server.declared().tools().find(|tool| tool.name == "host_service").expect("it is declared");
    for action in ["start", "stop", "restart"] {
        let change = tool.actions[action].change.as_ref().expect("it is a change");
        assert_eq!(change.precondition, ["state", "run", "script"], "{action}");
    }
}

#[tokio::test]
async fn a_pid_file_that_is_left_behind_tells_a_stop_from_a_crash() {
    let machine = Machine::new();
    let pid_file = install(&machine, "web", true);
    let _cleaner = Cleaner(pid_file.clone());
    let target = service(&machine, "web");
    machine.done(("host_service", "start"), &target, json!({}), &[]).await;
    machine.done(("host_service", "stop"), &target, json!({}), &[]).await;
    assert!(pid_file.exists(), "the script left it behind");
    assert_eq!(machine.state("host_service", &target).await["state"], json!("inactive"), "it was we who stopped it");

    machine.done(("host_service", "start"), &target, json!({}), &[]).await;
    assert_eq!(machine.state("host_service", &target).await["state"], json!("active"));
    assert!(Command::new("kill").arg(pid_in(&pid_file).to_string()).status().expect("kill runs").success());
    let wait = json!({ "action": "service", "target": target, "state": "gone" });
    assert_eq!(machine.found("host_wait", wait).await.data["state"], json!("failed"), "nobody stopped it");
    assert_eq!(machine.state("host_service", &target).await["state"], json!("failed"));
}

/// A sloppy script: what it starts keeps its standard output and stays in its process group.
#[tokio::test]
async fn a_daemon_that_keeps_the_output_holds_nobody_up_and_lives_on() {
    let machine = Machine::new();
    let [pid_file, written] = ["web.pid", "written"].map(|name| machine.dir.path().join(name));
    let _cleaner = Cleaner(pid_file.clone());
    let body = format!(
        "#!/bin/sh\nPID={}\ncase $1 in start) while echo noise; do echo x >> {}; sleep 0.02; done & echo $! > $PID;;\n\
         status) kill -0 $(cat $PID) 2>/dev/null || exit 3;;\nesac\n",
        pid_file.display(),
        written.display()
    );
    machine.install("web", &body);
    let target = service(&machine, "web");
    let done = machine.done(("host_service", "start"), &target, json!({}), &[]).await;
    assert_eq!(done["state"], json!("active"));
    machine.server.finish().await;
    drop(machine.server);
    let lines = || std::fs::read_to_string(&written).unwrap_or_default().lines().count();
    let (before, deadline) = (lines(), Instant::now() + Duration::from_secs(20));
    while lines() < before + 3 {
        assert!(Instant::now() < deadline, "it can go on writing");
        tokio::task::yield_now().await;
    }
    let process = procfs::process::Process::new(pid_in(&pid_file)).expect("it outlives its server");
    assert!(process.is_alive());
}

#[tokio::test]
async fn a_script_that_fails_says_so_with_its_exit_code_and_its_own_words() {
    let machine = Machine::new();
    let failure = async |name: &str, start: &str| {
        machine.install(name, &format!("#!/bin/sh\ncase $1 in status) exit 3;; start) {start};; esac\n"));
        let envelope = machine.order(("host_service", "start"), &service(&machine, name), json!({}), &[]).await;
        let failure = envelope.error.expect("it did not work");
        assert!(
            failure.failed && !failure.details.outcome_unknown,
            "it has ended, so it can be looked at: {failure:?}"
        );
        failure.message
    };
    insta::assert_snapshot!(failure("web", "exit 6").await, @"the init script of `web` could not start: the service is not configured (exit code 6)");
    let words =
        "echo; echo 'Starting web'; echo '  bind: address in use' >&2; echo; echo 'failed!'; echo never; exit 1";
    insta::assert_snapshot!(failure("web", words).await, @"the init script of `web` could not start: it did not work (exit code 1). It wrote: Starting web / bind: address in use / failed!");
    // However much it writes, and although what it leaves running keeps its output.
    let flood = "yes | head -c 300000; (sleep 3 >&2) & exit 1";
    insta::assert_snapshot!(failure("web", flood).await, @"the init script of `web` could not start: it did not work (exit code 1). It wrote: y / y / y");
    let envelope = {
        machine.install("ended", "#!/bin/sh\ncase $1 in status) exit 3;; start) kill -9 $$;; esac\n");
        machine.order(("host_service", "start"), &service(&machine, "ended"), json!({}), &[]).await
    };
    assert!(envelope.error.expect("it did not work").details.outcome_unknown, "nobody knows how far it came");
}

#[tokio::test]
async fn only_a_service_that_is_not_installed_is_absent() {
    let machine = Machine::new();
    let state = machine.state("host_service", &service(&machine, "nginx")).await;
    assert_eq!((&state["present"], &state["name"]), (&json!(false), &json!("nginx")));
    let path = machine.install("nginx", "#!/bin/sh\n# status\nexit 3\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("the mode can be set");
    let call = json!({ "action": "state", "target": service(&machine, "nginx") });
    let failure = machine.refused("host_service", call).await;
    assert_eq!(failure.code, Code::ExecutionFailed);
    assert!(
        failure.message.ends_with("cannot be read, or is no init script with an action `status`"),
        "{}",
        failure.message
    );
}

/// Prints what `systemctl show` prints of a unit; a unit that does not run is only shown by its own name, as the real one
/// does with units that it has unloaded. Everything that it is told is logged.
const SYSTEMCTL: &str = r#"#!/bin/sh
DIR=$(dirname "$0")
show() {
    if [ ! -f "$DIR/unit-$1" ]; then
        printf 'Id=%s\nDescription=%s\nLoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n\n' "$1" "$1"
        return
    fi
    state=$(cat "$DIR/unit-$1")
    printf 'Id=%s\nDescription=A web server\nLoadState=loaded\nActiveState=%s\nSubState=x\nMainPID=0\nResult=success\nInvocationID=%s\n\n' \
        "$1" "$state" "$(cat "$DIR/run-$1" 2>/dev/null)"
}
for unit; do :; done
case "$*" in
show*'*.service')
    for file in "$DIR"/unit-*; do
        grep -q active "$file" && ! grep -q inactive "$file" && show "${file##*/unit-}"
    done
    exit 0;;
show*) show "$unit"; exit 0;;
esac
echo "$*" >> "$DIR/told"
[ "$unit" = broken.service ] && { echo "Job for broken.service failed." >&2; exit 1; }
case "$*" in
*start*) echo active > "$DIR/unit-$unit"; date +%s%N > "$DIR/run-$unit";;
*stop*) echo inactive > "$DIR/unit-$unit"; : > "$DIR/run-$unit";;
esac
"#;

fn under_systemd() -> Machine {
    let machine = Machine::with(|host, dir| {
        host.places.systemd = dir.to_path_buf();
        host.places.programs.insert(0, dir.to_path_buf());
    });
    machine.install("systemctl", SYSTEMCTL);
    for unit in ["nginx", "broken"] {
        std::fs::write(machine.dir.path().join(format!("unit-{unit}.service")), "inactive").expect("a file");
    }
    machine
}

#[tokio::test]
async fn units_of_systemd_are_started_restarted_and_stopped() {
    let machine = under_systemd();
    let target = service(&machine, "nginx");
    let found = machine.resources("host_service", json!({ "action": "find", "query": "nginx" })).await;
    assert_eq!(found.len(), 1, "also where systemd does not list it");
    assert_eq!(found[0].attrs.get("state").map(String::as_str), Some("inactive"));
    assert_eq!(found[0].attrs.get("script"), None, "what a unit runs is the business of systemd");
    let started = machine.done(("host_service", "start"), &target, json!({}), &[]).await;
    assert_eq!(started["state"], json!("active"));
    let restarted = machine.done(("host_service", "restart"), &target, json!({}), &[]).await;
    assert!(restarted["run"].is_string() && restarted["run"] != started["run"], "{restarted}");
    let state = machine.state("host_service", &target).await;
    assert_eq!((&state["state"], &state["run"]), (&json!("active"), &restarted["run"]));
    machine.done(("host_service", "stop"), &target, json!({}), &[]).await;
    let state = machine.state("host_service", &target).await;
    assert_eq!((&state["present"], &state["state"]), (&json!(true), &json!("inactive")));
    let told = std::fs::read_to_string(machine.dir.path().join("told")).expect("it was told");
    insta::assert_snapshot!(told, @"
    --no-ask-password --no-pager start -- nginx.service
    --no-ask-password --no-pager restart -- nginx.service
    --no-ask-password --no-pager stop -- nginx.service
    ");

    let envelope = machine.order(("host_service", "start"), &service(&machine, "broken"), json!({}), &[]).await;
    let failure = envelope.error.expect("it did not work");
    assert!(failure.failed && !failure.details.outcome_unknown, "{failure:?}");
    insta::assert_snapshot!(failure.message, @"`systemctl start broken.service` did not work: Job for broken.service failed.");
    for missing in ["nothing", "*", "ng*nx"] {
        let state = machine.state("host_service", &service(&machine, missing)).await;
        assert_eq!(state["present"], json!(false), "{missing}");
    }
}

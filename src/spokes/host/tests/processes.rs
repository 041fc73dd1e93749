//! Processes are ended and signalled for real: children of the test.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::permits::process_id;
use super::*;

/// A shell that does what its script says; it has said `ready` before this returns.
struct Shell {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Shell {
    fn start(script: &str) -> Self {
        // Under `nohup` the suite's own children ignore HUP from the start, and a shell cannot trap what it ignored then.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=HUP", "sh", "-c", &format!("{script}\necho ready\nwhile :; do sleep 0.05; done")])
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("sh runs");
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut shell = Self { child, output };
        assert_eq!(shell.line(), "ready");
        shell
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and that is fine.
        let _ended = self.child.kill();
        let _buried = self.child.wait();
    }
}

#[tokio::test]
async fn a_process_is_found_stopped_and_seen_to_be_gone() {
    let machine = Machine::new();
    let mut shell = Shell::start("");
    let pid = shell.child.id();
    let found = machine.resources("host_process", json!({ "action": "find", "query": pid.to_string() })).await;
    assert_eq!(found[0].attrs.get("pid"), Some(&pid.to_string()));
    let target = found[0].id.to_string();
    let state = machine.state("host_process", &target).await;
    assert_eq!((&state["present"], &state["name"]), (&json!(true), &json!("sh")));

    let data = machine.done(("host_process", "stop"), &target, json!({}), &[]).await;
    assert_eq!((&data["ended"], &data["pid"]), (&json!(true), &json!(pid)));
    let zombie = machine.state("host_process", &target).await;
    assert_eq!((&zombie["present"], &zombie["state"]), (&json!(false), &json!("ended")));
    assert_eq!(zombie["note"], json!("its parent has not noticed yet (a zombie)"));
    let status = shell.child.wait().expect("our own child");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    let gone = machine.state("host_process", &target).await;
    assert_eq!((&gone["present"], &gone["state"]), (&json!(false), &json!("gone")));

    let failure = machine.not_done(("host_process", "stop"), &target, json!({}), &[]).await;
    assert_eq!(
        (failure.code, failure.message),
        (Code::Drifted, format!("process {pid} has ended already; nothing was done"))
    );
}

#[tokio::test]
async fn one_that_does_not_listen_is_told_and_still_there_and_then_killed() {
    let machine = Machine::new();
    let mut shell = Shell::start("trap 'echo no' TERM");
    let target = process_id(&machine, shell.child.id());
    let data = machine.done(("host_process", "stop"), &target, json!({}), &[]).await;
    assert_eq!(data["ended"], json!(false));
    assert_eq!(shell.line(), "no", "it was asked");
    assert_eq!(machine.state("host_process", &target).await["present"], json!(true));
    let data = machine.done(("host_process", "kill"), &target, json!({}), &[]).await;
    assert_eq!(data["ended"], json!(true));
    let status = shell.child.wait().expect("our own child");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}

#[tokio::test]
async fn a_signal_arrives_as_it_was_named() {
    let machine = Machine::new();
    let mut shell = Shell::start("trap 'echo hup' HUP; trap 'echo usr1' USR1; trap 'echo usr2' USR2");
    let target = process_id(&machine, shell.child.id());
    for signal in ["hup", "usr1", "usr2"] {
        machine.done(("host_process", "signal"), &target, json!({ "signal": signal }), &[]).await;
        assert_eq!(shell.line(), signal);
    }
    assert_eq!(machine.state("host_process", &target).await["present"], json!(true));
    let failure = machine.not_done(("host_process", "signal"), &target, json!({ "signal": "term" }), &[]).await;
    assert_eq!(failure.code, Code::InvalidInput);
}

/// It would end by the signal, which nobody asked for.
#[tokio::test]
async fn a_process_that_does_not_handle_a_signal_is_not_sent_it() {
    let machine = Machine::new();
    let mut shell = Shell::start("trap 'echo hup' HUP; trap '' USR2");
    let target = process_id(&machine, shell.child.id());
    let preview = |signal: &str| json!({ "action": "preview_signal", "target": target, "signal": signal });
    let said = |data: &Value| data["preview"].as_str().unwrap_or_default().to_owned();
    assert!(said(&machine.found("host_process", preview("hup")).await.data).ends_with("handles hup by itself."));
    assert!(said(&machine.found("host_process", preview("usr2")).await.data).ends_with("nothing will happen."));
    let refused = machine.refused("host_process", preview("usr1")).await;
    assert!(refused.message.contains("does not handle usr1 and would end by it"), "{}", refused.message);
    let failure = machine.not_done(("host_process", "signal"), &target, json!({ "signal": "usr1" }), &[]).await;
    assert_eq!(failure.message, refused.message);
    assert!(shell.child.try_wait().expect("our own child").is_none(), "it runs on");
}

#[tokio::test]
async fn another_process_with_the_same_number_is_never_hit() {
    let machine = Machine::new();
    let mut shell = Shell::start("");
    let real = process_id(&machine, shell.child.id());
    let (front, ticks) = real.rsplit_once('-').expect("an id of a process");
    let earlier = format!("{front}-{}", ticks.parse::<u64>().expect("a number") - 1);
    let state = machine.state("host_process", &earlier).await;
    assert_eq!(state["present"], json!(false));
    assert_eq!(state["note"], json!("its number is now used by another process"));
    for (action, args) in [("stop", json!({})), ("kill", json!({})), ("signal", json!({ "signal": "hup" }))] {
        let failure = machine.not_done(("host_process", action), &earlier, args, &[]).await;
        assert_eq!(failure.code, Code::Drifted);
        assert!(
            failure.message.ends_with("its number is now used by another; nothing was done"),
            "{}",
            failure.message
        );
    }
    assert!(shell.child.try_wait().expect("our own child").is_none(), "it runs on");
}

#[tokio::test]
async fn what_keeps_the_machine_or_the_bot_running_is_never_signalled() {
    let machine = Machine::new();
    let table = [
        (1, "the first process of this machine"),
        (std::process::id(), "this tool server itself"),
        (std::os::unix::process::parent_id(), "the bot itself"),
    ];
    for (pid, what) in table {
        let target = process_id(&machine, pid);
        // The discovery says so already, so that nobody is asked to countersign it.
        let found = machine.resources("host_process", json!({ "action": "find", "query": target })).await;
        assert_eq!(found[0].attrs.get("protected").map(String::as_str), Some(what));
        for (action, args) in [("stop", json!({})), ("kill", json!({})), ("signal", json!({ "signal": "hup" }))] {
            let failure = machine.not_done(("host_process", action), &target, args, &[]).await;
            let expected = format!("process {pid} is {what} and is never signalled from a chat");
            assert_eq!((failure.code, failure.message), (Code::PolicyBlocked, expected));
        }
    }
}

//! No change without a permit, and none that the permit was not made for; and what becomes of a change whose session ends.

use std::time::Duration;

use super::*;

const STOP: (&str, &str) = ("host_process", "stop");

fn target_of(machine: &Machine, child: &Sleeper) -> String {
    process_id(machine, child.0.id())
}

/// The id of a process that runs now.
pub(super) fn process_id(machine: &Machine, pid: u32) -> String {
    let pid = i32::try_from(pid).expect("a process id");
    let stat = procfs::process::Process::new(pid).and_then(|process| process.stat()).expect("it runs");
    format!("{}:{pid}-{}", machine.id.replace("host:", "process:"), stat.starttime)
}

#[tokio::test]
async fn a_change_without_its_own_permit_is_refused_and_nothing_is_done() {
    let machine = Machine::new();
    let (child, other) = (Sleeper::start(), Sleeper::start());
    let (target, other) = (target_of(&machine, &child), target_of(&machine, &other));
    let signal = json!({ "signal": "usr1" });
    let hours = |hours: i64| countersign_core::signal::Wall(wall_now().0 + hours * 3_600_000);
    let minted = |key: &Key, at| {
        let warrant = permit::tests::warrant(permit::tests::plan(STOP, &target, json!({}), &[]));
        Map::from_iter([(META_KEY.to_owned(), permit::mint(key, &warrant, at))])
    };
    let mut altered = machine.permit(STOP, &target, &json!({}), &[]);
    altered[META_KEY]["plan"] =
        json!(altered[META_KEY]["plan"].as_str().expect("a text").replace("asked by Ada", "asked by Bob"));
    let table = [
        ("missing", Map::new(), "a change needs a permit, and this call has none"),
        ("another key", minted(&Key::fresh(), wall_now()), "was not made for this tool server, or was changed"),
        ("altered", altered, "was not made for this tool server, or was changed"),
        ("expired", minted(&machine.key, hours(-1)), "has expired"),
        ("too long-lived", minted(&machine.key, hours(1)), "is good for longer than a permit may be"),
        ("other action", machine.permit(("host_process", "kill"), &target, &json!({}), &[]), "made for another change"),
        ("other tool", machine.permit(("host_file", "stop"), &target, &json!({}), &[]), "made for another change"),
        ("other target", machine.permit(STOP, &other, &json!({}), &[]), "made for another change"),
        ("other arguments", machine.permit(STOP, &target, &signal, &[]), "made for another change"),
    ];
    for (name, meta, expected) in table {
        let call = json!({ "action": "stop", "target": target });
        let failure = machine.ask_with("host_process", call, &meta).await.error.expect(name);
        assert_eq!((failure.code, failure.blocked), (Code::PolicyBlocked, true), "{name}");
        assert!(failure.message.contains(expected), "{name}: {}", failure.message);
    }
    let meta = machine.permit(("host_process", "signal"), &target, &json!({ "signal": "hup" }), &[]);
    let call = json!({ "action": "signal", "target": target, "signal": "usr1" });
    let failure = machine.ask_with("host_process", call, &meta).await.error.expect("altered arguments");
    assert!(failure.message.contains("made for another change"), "{}", failure.message);
    assert_eq!(machine.state("host_process", &target).await["present"], json!(true), "after all that it still runs");
}

#[tokio::test]
async fn a_permit_is_good_for_one_change() {
    let machine = Machine::new();
    let child = Sleeper::start();
    let target = target_of(&machine, &child);
    let meta = machine.permit(("host_process", "signal"), &target, &json!({ "signal": "hup" }), &[]);
    let call = json!({ "action": "SIGNAL", "target": target, "signal": "HUP" });
    let first = machine.ask_with("host_process", call.clone(), &meta).await;
    assert!(first.ok, "the arguments are compared as they were cast: {:?}", first.error);
    let again = machine.ask_with("host_process", call, &meta).await.error.expect("it was used");
    assert_eq!(again.message, "the permit of this call was used before; a permit is good for one change");
}

#[tokio::test]
async fn without_a_key_nothing_is_changed_and_everything_can_be_read() {
    let host = ThisHost::detect().expect("Linux has a host name");
    let server = HostServer::new(Arc::new(host), None).expect("the declaration is sound");
    let machine = Machine { server, ..Machine::new() };
    let child = Sleeper::start();
    let target = target_of(&machine, &child);
    let failure = machine.not_done(STOP, &target, json!({}), &[]).await;
    assert_eq!(failure.code, Code::PolicyBlocked);
    insta::assert_snapshot!(failure.message, @"this tool server was started without a key for permits, so that it changes nothing");
    assert_eq!(machine.state("host_process", &target).await["present"], json!(true));
}

/// A named pipe: who reads it waits until the test writes to it.
fn gate(machine: &Machine) -> std::path::PathBuf {
    let path = machine.dir.path().join("gate");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    path
}

async fn open_gate(gate: std::path::PathBuf) {
    let written = tokio::task::spawn_blocking(move || std::fs::write(gate, "go\n")).await;
    written.expect("the writer does not break").expect("somebody reads it");
}

async fn until(path: &Path) {
    while !path.exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_change_that_was_begun_is_finished_though_its_caller_goes_away() {
    let machine = Arc::new(Machine::new());
    let gate = gate(&machine);
    let mark = |name: &str| machine.dir.path().join(name);
    let body = format!(
        "#!/bin/sh\ncase $1 in status) exit 3;; stop) touch {}; read line < {}; touch {};; esac\n",
        mark("begun").display(),
        gate.display(),
        mark("finished").display()
    );
    machine.install("slow", &body);
    let target = machine.id.replace("host:", "service:") + ":slow";
    let ours = Arc::clone(&machine);
    let caller = tokio::spawn(async move { ours.order(("host_service", "stop"), &target, json!({}), &[]).await });
    until(&mark("begun")).await;
    caller.abort();
    assert!(caller.await.is_err(), "nobody hears the answer");
    let mut finish = std::pin::pin!(machine.server.finish());
    let ended = tokio::time::timeout(Duration::from_millis(200), &mut finish).await;
    assert!(ended.is_err() && !mark("finished").exists(), "the server waits for the script");
    open_gate(gate).await;
    finish.await;
    assert!(mark("finished").exists(), "the script came to its end before the server did");
}

#[tokio::test]
async fn a_change_that_was_not_begun_when_the_input_ends_is_never_begun() {
    let machine = Machine::new();
    let gate = gate(&machine);
    let checking = machine.dir.path().join("checking");
    // What checks the new content of a script waits at the gate: before the change is begun.
    machine.install("sh", &format!("#!/bin/sh\ntouch {}; read line < {}\n", checking.display(), gate.display()));
    let script = machine.dir.path().canonicalize().expect("it is there").join("job.sh");
    std::fs::write(&script, "echo old\n").expect("a file can be written");
    let mut host = ThisHost::detect().expect("Linux has a host name");
    host.places.programs.insert(0, machine.dir.path().to_path_buf());

    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let server = tokio::spawn(super::super::serve_as(host, Some(machine.key.clone()), input, output));
    let client = ().serve(ours).await.expect("the session begins");
    let target = format!("{}:{}", machine.id.replace("host:", "file:"), script.display());
    let content = json!({ "content": "echo new\n" });
    let sum = countersign_core::approval::Digest::of(b"echo old\n");
    let args = json!({ "action": "write", "target": target, "content": "echo new\n" });
    let mut params =
        CallToolRequestParams::new("host_file").with_arguments(args.as_object().cloned().expect("an object"));
    let expected = countersign_core::approval::Digest::of(b"echo new\n");
    let (before, expect) = ([("sha256", sum.as_str())], [("sha256", expected.as_str())]);
    params.meta = Some(machine.permit_expecting(("host_file", "write"), &target, &content, &before, &expect).into());
    let peer = client.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(params).await });
    until(&checking).await;
    client.cancel().await.expect("the client goes away");
    assert!(call.await.expect("the caller does not break").is_err(), "nobody hears the answer");
    open_gate(gate).await;
    server.await.expect("the server does not break").expect("and ends in order");
    assert_eq!(std::fs::read_to_string(&script).expect("it is there"), "echo old\n");
}

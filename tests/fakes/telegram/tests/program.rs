//! The program: a script on its input, what it says on its output.

use std::io::Write;
use std::process::{Command, Stdio};

fn run(script: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_telegram-fake"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = program.stdin.take().expect("its input is a pipe");
    input.write_all(script.as_bytes()).expect("it reads");
    drop(input);
    let output = program.wait_with_output().expect("it ends with its input");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("it writes text")
}

#[test]
fn it_says_how_to_point_a_bot_at_it_and_plays_what_is_typed() {
    let said = run(
        "say carol ops /status\nshow ops\npress carol ops 1 Go\nfault too-many 5 sendMessage\nfault what\nsing\nquit\n",
    );
    for part in [
        "base URL http://127.0.0.1:",
        "token    7000000001:",
        "> Message 1.",
        "│ /status │",
        "Not done: message 1 has no button `Go`",
        "The next call that fits goes wrong.",
        "Not done: `what` is no fault that the fake knows.",
        "Not done: `sing` is nothing that the fake knows. `help` says what can be typed.",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

#[test]
fn people_and_chats_are_known_by_their_ids_as_well() {
    let welcome = run("quit\n");
    let id = |name: &str| {
        let line = welcome.lines().find_map(|line| line.trim().strip_prefix(name)).expect("it is in the cast");
        line.trim().to_owned()
    };
    let (ops, deploys) = (id("ops"), id("deploys"));
    let said = run(&format!(
        "say 11 {ops} by number\nedit {ops} 1 changed\nreply 12 {ops} 1 answered\nreact 12 {ops} 1 👍\nshow {ops}\n\
         admin {ops} on\npress 13 {ops} 1 Go\nsay 11 {deploys} in the topic\nshow {deploys}\nsay 11 11 alone\nshow 11\n\
         say 99 {ops} x\nsay 11 99 x\nquit\n"
    ));
    for part in [
        "> Changed.",
        "│ answered",
        "👍",
        "> The bot is an administrator now.",
        "Not done: message 1 has no button `Go`",
        "│ in the topic",
        "│ alone",
        "Not done: there is no user `99`.",
        "Not done: there is no chat `99`.",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    assert!(!said.contains("by number"), "it was changed:\n{said}");
}

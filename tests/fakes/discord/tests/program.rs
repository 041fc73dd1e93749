//! The program: a script on its input, what it says on its output.

use std::io::Write;
use std::process::{Command, Stdio};

fn run(script: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_discord-fake"))
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
        "say carol ops /status\nshow ops\npress carol ops 1 Go\ncommand carol ops status\nfault too-many 1.5 createMessage\nfault what\nsing\nquit\n",
    );
    for part in [
        "base URL http://127.0.0.1:",
        "token    NzAw",
        "> Message 1.",
        "# ops",
        "Not done: message 1 has no button `Go`",
        "Not done: the bot has no command `/status`",
        "The next call that fits goes wrong.",
        "Not done: `what` is no fault that the fake knows.",
        "Not done: `sing` is nothing that the fake knows. `help` says what can be typed.",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

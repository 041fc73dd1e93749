//! A tool server that dies, hangs or cannot be started, and what it sees of the bot's environment: the bot goes on, says
//! what happened, and leaves no process behind. The supervisor's own tests are beside it.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::bot::{Bot, Home, lives, until};

fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).expect("invariant: a process id is positive and fits");
    kill(Pid::from_raw(pid), signal).expect("the process is there");
}

/// The variables that a process was started with.
fn environment(pid: u32) -> BTreeSet<String> {
    let bytes = std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).expect("it is our own process");
    let text = String::from_utf8(bytes).expect("it is text");
    text.split_terminator('\0').map(|pair| pair.split('=').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_server_killed_during_a_call_is_replaced_and_the_request_ends() {
    let home = Home::new();
    let waited_for = home.process("lingerer", &[]);
    let mut bot = Bot::json(&home);
    bot.ask("load");
    let spoke = bot.spoke();
    bot.say(&format!("wait 30 seconds until process {} is gone", waited_for.pid()));
    let accepted = bot.event().expect("the line is accepted");
    assert_eq!(accepted["type"], "accepted");
    send(spoke, Signal::SIGKILL);
    // Either the call was repeated in the next server, which then must see the process go, or it failed and says so.
    drop(waited_for);
    let message = bot.event().expect("an answer");
    assert_eq!(message["answers"], accepted["signal"], "{message}");
    let text = message["blocks"][0]["text"].as_str().unwrap_or_default();
    let known = [" is gone", "EXECUTION_FAILED", "Nothing here is called", "is not there any more"];
    assert!(known.iter().any(|known| text.contains(known)), "{message}");
    assert_eq!(bot.event().expect("its end")["type"], "answered");
    let next = bot.ask("load").text();
    assert!(next.contains("of its CPU"), "{next}");
    let new = bot.spoke();
    assert!(new != spoke && lives(new) && !lives(spoke), "{new} after {spoke}");
    let done = bot.end();
    assert!(done.status.success() && done.err.contains("signal: 9"), "{done:?}");
    assert!(!lives(new), "{new} was left behind");
}

#[test]
fn a_server_that_hangs_is_given_up_at_the_calls_own_limit() {
    let home = Home::new();
    let mut bot = Bot::json(&home);
    bot.ask("memory");
    let spoke = bot.spoke();
    send(spoke, Signal::SIGSTOP);
    let late = bot.ask("memory");
    assert_eq!(late.mark(), "failed");
    assert!(late.text().contains("(TIMEOUT, `"), "{}", late.text());
    let next = bot.ask("memory").text();
    assert!(next.contains("of memory ("), "{next}");
    let new = bot.spoke();
    assert_ne!(new, spoke);
    // A stopped process hears no request to end, so that it has to be killed.
    until("the server that hangs is gone", || !lives(spoke));
    assert!(bot.end().status.success());
    assert!(!lives(new), "{new} was left behind");
}

#[test]
fn a_killed_bot_leaves_no_server_behind() {
    let home = Home::new();
    let mut bot = Bot::json(&home);
    bot.ask("load");
    let spoke = bot.spoke();
    assert!(lives(spoke));
    send(bot.pid(), Signal::SIGKILL);
    let done = bot.end();
    assert_eq!(done.status.signal(), Some(9), "{done:?}");
    until("the server of a killed bot is gone", || !lives(spoke));
    // Its data directory is free again, and what was asked is known as answered.
    let again = home.pipe("status\n");
    assert!(again.status.success(), "{again:?}");
}

#[test]
fn a_server_sees_nothing_of_the_environment_but_what_is_allowed() {
    let home = Home::new();
    let config = home.write("bot.toml", "[spokes.host]\nenv = [\"SSH_AUTH_SOCK\"]\n");
    let url = format!("sqlite:{}", home.path().join("other.db").display());
    let mut command = home.bot();
    command.arg("--json").arg("--config").arg(config).env("COUNTERSIGN_STORE__URL", url);
    command.env("FAKE_CHAT_TOKEN", "hush").env("SSH_AUTH_SOCK", "/nowhere").env("LANG", "C.UTF-8").env_remove("TZ");
    let mut bot = Bot::spawn(&mut command);
    bot.ask("load");
    let spoke = bot.spoke();
    let seen: Vec<_> = environment(spoke).into_iter().collect();
    // The key is one that only this server and the bot have: what is countersigned is proven with it.
    assert_eq!(seen, ["LANG", "PATH", "SPOKE_PERMIT_KEY", "SSH_AUTH_SOCK"]);
    // The test sees what it would have to see.
    assert!(environment(bot.pid()).contains("FAKE_CHAT_TOKEN"));
}

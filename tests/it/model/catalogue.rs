//! `countersign models`, and what `doctor` says of the model's server; with the real binary. Nothing is pulled that nobody said
//! yes to (C-54, SPB-08).

use std::process::Command;

use countersign_model_fake::{Fake, Turn, Ways};

use super::KEY;
use crate::support::bot::{Done, Home, finish};

/// Runs its arguments on a terminal of their own.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

fn command(home: &Home, fake: &Fake, args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = home.bot();
    command.args(args).env("COUNTERSIGN_MODEL__BASE_URL", fake.base_url()).envs(env.iter().copied());
    command
}

fn shown(fake: &Fake, home: &Home, done: &Done) -> String {
    let home = home.path().display().to_string();
    let all = format!("{}{}{}", done.out, done.err, done.status);
    all.replace(&fake.base_url(), "URL").replace(&home, "HOME")
}

fn says(fake: &Fake, args: &[&str], env: &[(&str, &str)]) -> String {
    let home = Home::new();
    let done = finish(&mut command(&home, fake, args, env), b"");
    shown(fake, &home, &done)
}

fn has(models: &[&str]) -> Ways {
    Ways { models: models.iter().map(|name| (*name).to_owned()).collect(), ..Ways::default() }
}

const FAST: (&str, &str) = ("COUNTERSIGN_MODEL__FAST", "small");
const SMART: (&str, &str) = ("COUNTERSIGN_MODEL__SMART", "big");

#[test]
fn what_the_server_has_is_listed_and_what_is_missing_is_named() {
    let fake = Fake::with(has(&["small", "big", "other"]), Vec::new());
    insta::assert_snapshot!(says(&fake, &["models"], &[FAST, SMART]), @r"
    big (smart)
    other
    small (fast)
    exit status: 0
    ");
    insta::assert_snapshot!(says(&fake, &["models"], &[]), @r"
    big
    other
    small
    No model is asked; name one of these as `model.fast` or `model.smart`.
    exit status: 0
    ");
    fake.becomes(has(&["other"]));
    insta::assert_snapshot!(says(&fake, &["models"], &[FAST, SMART]), @r"
    other
    ✗ small (fast): the server does not have it
      To do: Name one that it has as `model.fast`, or see that it serves this one.
    ✗ big (smart): the server does not have it
      To do: Name one that it has as `model.smart`, or see that it serves this one.
    countersign: 2 configured models are missing.
    exit status: 1
    ");
    insta::assert_snapshot!(says(&fake, &["models", "--json"], &[FAST]), @r#"
    {"server":"URL","models":[{"name":"other","is":[]}],"missing":[{"name":"small","is":"fast","fix":"Name one that it has as `model.fast`, or see that it serves this one."}]}
    countersign: a configured model is missing.
    exit status: 1
    "#);
}

/// A key of somebody's in the environment is no wish to have its server asked.
#[test]
fn where_nothing_is_configured_no_server_is_asked() {
    let home = Home::new();
    let fake = Fake::with(has(&["small"]), Vec::new());
    let done = finish(home.bot().arg("models").env("COUNTERSIGN_MODEL__API_KEY", KEY), b"");
    insta::assert_snapshot!(shown(&fake, &home, &done), @r"
    countersign: no model is configured: name its server as `model.base_url` and a model as `model.smart`
    exit status: 1
    ");
    assert!(fake.asked().is_empty());
}

#[test]
fn a_server_that_does_not_list_is_told_with_what_to_do() {
    let fake = Fake::with(Ways { key: Some(KEY.to_owned()), ..has(&["big"]) }, Vec::new());
    insta::assert_snapshot!(says(&fake, &["models"], &[SMART]), @r"
    countersign: the models of URL cannot be listed: its server answers 401: Incorrect API key provided. Give its key as COUNTERSIGN_MODEL__API_KEY, or in a file named by `model.api_key_file`.
    exit status: 1
    ");
    let key = ("COUNTERSIGN_MODEL__API_KEY", KEY);
    insta::assert_snapshot!(says(&fake, &["models"], &[SMART, key]), @r"
    big (smart)
    exit status: 0
    ");
    let nowhere = ("COUNTERSIGN_MODEL__BASE_URL", "http://127.0.0.1:9/v1");
    insta::assert_snapshot!(says(&fake, &["models"], &[SMART, nowhere]), @r"
    countersign: the models of http://127.0.0.1:9/v1 cannot be listed: its server cannot be reached: Connection refused (os error 111). See that the server runs, and that `model.base_url` is its address, up to and with `/v1`.
    exit status: 1
    ");
}

#[test]
fn an_ollama_is_asked_for_a_model_only_where_somebody_says_yes() {
    let ways = || Ways { pulls: Some(vec!["big".to_owned()]), ..has(&["small:latest"]) };
    let fake = Fake::with(ways(), Vec::new());
    let pulled = || fake.seen().iter().any(|seen| seen == "POST /api/pull");
    insta::assert_snapshot!(says(&fake, &["models"], &[FAST, SMART]), @r"
    small:latest (fast)
    ✗ big (smart): the server does not have it
      To do: On the server: `ollama pull big`
    countersign: a configured model is missing.
    exit status: 1
    ");
    assert!(!pulled(), "nobody sits there to be asked");
    let at_a_terminal = |input: &str, args: &[&str]| {
        let home = Home::new();
        let command = command(&home, &fake, args, &[FAST, SMART]);
        let mut python = Command::new("python3");
        python.args(["-c", TERMINAL]).arg(command.get_program()).args(command.get_args());
        python.current_dir(home.path()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = finish(&mut python, input.as_bytes());
        shown(&fake, &home, &done).replace('\r', "")
    };
    let said = at_a_terminal("n\n", &["models"]);
    assert!(
        said.contains("Have it pulled now? y/N") && said.contains("To do: On the server: `ollama pull big`"),
        "{said}"
    );
    assert!(!pulled());
    at_a_terminal("y\n", &["models", "--json"]);
    assert!(!pulled(), "a script is asked nothing");
    let said = at_a_terminal("y\n", &["models"]);
    assert!(said.contains("pulling 6a0746a1ec1a 50 %") && said.contains("big (smart)"), "{said}");
    assert!(said.ends_with("exit status: 0") && pulled(), "{said}");
    fake.becomes(Ways { pulls: Some(Vec::new()), ..has(&["small:latest"]) });
    let said = at_a_terminal("yes\n", &["models"]);
    assert!(said.contains("big was not pulled: its server gave up in the middle: pull model manifest"), "{said}");
    assert!(said.ends_with("exit status: 1"), "{said}");
}

#[test]
fn doctor_looks_at_the_models_too() {
    let fake = Fake::with(Ways { key: Some(KEY.to_owned()), ..has(&["small"]) }, Vec::new());
    let key = ("COUNTERSIGN_MODEL__API_KEY", KEY);
    insta::assert_snapshot!(says(&fake, &["doctor"], &[FAST, SMART, key]), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    ✓ model: URL lists its models to this key
    ✓ model: small (fast) is there
    ✗ model: big (smart) is not there
      To do: Name one that it has as `model.smart`, or see that it serves this one.
    countersign: one thing is not in order.
    exit status: 1
    ");
    insta::assert_snapshot!(says(&fake, &["doctor"], &[FAST]), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    ✗ model: URL: its server answers 401: Incorrect API key provided
      To do: Give its key as COUNTERSIGN_MODEL__API_KEY, or in a file named by `model.api_key_file`.
    countersign: one thing is not in order.
    exit status: 1
    ");
    insta::assert_snapshot!(says(&fake, &["doctor"], &[]), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    ✗ model: URL is named, and no model of it, so that none is asked
      To do: Name one as `model.smart`, or as `model.fast` too; `countersign models` lists what the server has.
    countersign: one thing is not in order.
    exit status: 1
    ");
    let nowhere = ("COUNTERSIGN_MODEL__BASE_URL", "http://127.0.0.1:9/v1");
    insta::assert_snapshot!(says(&fake, &["doctor"], &[FAST, nowhere]), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    ✗ model: http://127.0.0.1:9/v1: its server cannot be reached: Connection refused (os error 111)
      To do: See that the server runs, and that `model.base_url` is its address, up to and with `/v1`.
    countersign: one thing is not in order.
    exit status: 1
    ");
}

/// A server without a list is no reason to stop; and a key that no header takes is found before anything runs.
#[test]
fn what_cannot_be_known_is_said_and_what_cannot_be_is_refused() {
    let fake = Fake::start(vec![Turn::says("x")]);
    let below = format!("{}/below", fake.base_url());
    let said = says(&fake, &["doctor"], &[FAST, ("COUNTERSIGN_MODEL__BASE_URL", &below)]);
    assert!(said.contains("URL/below answers, and lists no models") && said.ends_with("exit status: 0"), "{said}");
    let short = fake.base_url().trim_end_matches("/v1").to_owned();
    let said = says(&fake, &["doctor"], &[FAST, ("COUNTERSIGN_MODEL__BASE_URL", &short)]);
    assert!(said.contains("add that to `model.base_url`") && said.ends_with("exit status: 1"), "{said}");
    let key = ("COUNTERSIGN_MODEL__API_KEY", "sk-ü\u{7f}-0123456789");
    let said = says(&fake, &["console"], &[FAST, key]);
    assert!(said.ends_with("`model.api_key` holds what no key has in it\nexit status: 2"), "{said}");
}

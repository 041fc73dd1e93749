//! What is wrong before anything runs: one sentence on standard error that names the place and the fix, exit code 2, and
//! nothing half-started. What goes wrong later is in `spoke_trouble`.

use std::net::TcpListener;
use std::process::Command;

use crate::support::bot::{Bot, Done, Home, finish};

/// The sentence, with what differs from run to run replaced.
fn sentence(home: &Home, done: &Done) -> String {
    done.err.trim_end().replace(&home.path().display().to_string(), "HOME")
}

/// Runs to the end, and asserts what holds for everything that is wrong at the start.
fn refused(home: &Home, command: &mut Command) -> String {
    let done = finish(command, b"load\n");
    let sentence = sentence(home, &done);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(sentence.starts_with("countersign: "), "{done:?}");
    assert_eq!(sentence.lines().count(), 1, "{done:?}");
    assert_eq!(done.out, "", "nothing may be answered");
    sentence
}

/// The same with this configuration file, which must not leave a database behind.
fn refused_config(text: &str) -> String {
    let home = Home::new();
    refused_config_in(&home, text)
}

fn refused_config_in(home: &Home, text: &str) -> String {
    let file = home.write("bot.toml", text);
    let sentence = refused(home, home.bot().arg("--config").arg(file));
    assert!(!home.data().join("countersign.db").exists(), "a database was made: {sentence}");
    sentence
}

#[test]
fn a_wrong_key_or_value_is_named_with_its_line_and_the_fix() {
    let sentences = [
        refused_config("[store]\ndta = \"x\"\n"),
        refused_config("[limits]\nturns = \"x\"\n"),
        refused_config("[limits\n"),
        refused_config("[spokes.nothing]\nenabled = true\n"),
        refused_config("[metrics]\nlisten = \"0.0.0.0:9464\"\n"),
        refused_config("[intents]\nfile = \"none.toml\"\n"),
        refused_config("[tools]\ndir = \"none\"\n"),
    ];
    insta::assert_snapshot!(sentences.join("\n"), @"
    countersign: HOME/bot.toml: unknown key `store.dta` (line 2); did you mean `store.data`?
    countersign: HOME/bot.toml: `limits.turns` (line 2) must be a whole number from 0 to 4294967295, not text
    countersign: HOME/bot.toml (line 1): is not TOML: unclosed table, expected `]`
    countersign: HOME/bot.toml: `spokes.nothing` (line 1) is not a spoke of this version; set `spokes.nothing.command` to the program to run
    countersign: HOME/bot.toml: `metrics.listen` (line 2) is 0.0.0.0:9464, which other machines may reach; use 127.0.0.1:9464 or set `metrics.allow_remote = true`
    countersign: intents.file: cannot read HOME/none.toml: No such file or directory (os error 2)
    countersign: tools.dir: cannot list HOME/none: No such file or directory (os error 2)
    ");
}

#[test]
fn the_environment_is_held_to_the_same_rules() {
    let home = Home::new();
    let with = |name: &str, value: &str| refused(&home, home.bot().env(name, value));
    let sentences = [
        with("COUNTERSIGN_LIMITS__TRUNS", "3"),
        with("COUNTERSIGN_STORE_URL", "sqlite:x"),
        with("COUNTERSIGN_STORE__URL", "mysql://app:s3cr3tpassw0rd@db/app"),
        refused(&home, home.bot().args(["--config", "none.toml"])),
    ];
    assert!(!home.data().exists());
    insta::assert_snapshot!(sentences.join("\n"), @"
    countersign: COUNTERSIGN_LIMITS__TRUNS: unknown key `limits.truns`; did you mean COUNTERSIGN_LIMITS__TURNS?
    countersign: COUNTERSIGN_STORE_URL: unknown key `store_url`; did you mean COUNTERSIGN_STORE__URL?
    countersign: COUNTERSIGN_STORE__URL: `store.url` must give a URL that begins with `sqlite:` or `postgres://`
    countersign: none.toml: cannot be read: No such file or directory (os error 2)
    ");
}

#[test]
fn a_wrong_intents_file_is_named_with_the_fix() {
    let intent = |rest: &str| {
        let home = Home::new();
        home.write("intents.toml", format!("[[intent]]\nname = \"x\"\nabout = \"y\"\n{rest}"));
        refused_config_in(&home, "[intents]\nfile = \"intents.toml\"\n")
    };
    let sentences = [
        intent("examples = [\n"),
        intent("examples = [\"foo\"]\npatterns = [\"foo(\"]\ncall = \"host_disk.usage\"\n"),
        intent("examples = [\"disk usage of /\"]\npatterns = [\"foo\"]\ncall = \"host_disk.usage\"\n"),
        intent("examples = [\"bar\"]\npatterns = [\"foo\"]\ncall = \"host_disk.usage\"\n"),
        intent("examples = [\"foo\"]\npatterns = [\"foo\"]\ncall = \"host_disk.nope\"\n"),
        intent("examples = [\"foo\"]\npatterns = [\"foo\"]\ncal = \"host_disk.usage\"\n"),
    ];
    insta::assert_snapshot!(sentences.join("\n"), @"
    countersign: HOME/intents.toml: line 4: unclosed array, expected `]`
    countersign: HOME/intents.toml: intent `x`: its pattern `foo(` is not valid: unclosed group
    countersign: HOME/intents.toml: intent `x`: its example `disk usage of /` leads to `disk-usage-of`, which stands before it
    countersign: HOME/intents.toml: intent `x`: no pattern and no phrase fits its own example `bar`
    countersign: HOME/intents.toml: intent `x`: `call` names `host_disk.nope`, which is not declared in config/tools
    countersign: HOME/intents.toml: line 6: unknown field `cal`, expected one of `name`, `about`, `examples`, `patterns`, `phrases`, `call`, `own`, `reply`, `target`, `args`, `domain`, `topic`, `command`, `silent`
    ");
}

#[test]
fn a_wrong_tool_file_is_named_with_the_fix() {
    let action = |tool: &str, action: &str| {
        format!("spoke = \"mine\"\n[[tool]]\nname = \"{tool}\"\nabout = \"x\"\n[tool.action.go]\n{action}")
    };
    let tools = |text: &str| {
        let home = Home::new();
        home.write("tools/mine.toml", text);
        refused_config_in(&home, "[tools]\ndir = \"tools\"\n")
    };
    let sentences = [
        tools("spoke = 1\n"),
        tools("spoke = \"mine\"\n[[tool]\n"),
        tools(&action("mine_x", "kind = \"write\"\nabout = \"x\"\n")),
        tools(&action("other", "kind = \"resolve\"\nresolves = \"x\"\nabout = \"x\"\nlimit_ms = 1000\n")),
    ];
    insta::assert_snapshot!(sentences.join("\n"), @"
    countersign: HOME/tools/mine.toml: line 1: invalid type: integer `1`, expected a string
    countersign: HOME/tools/mine.toml: line 2: unclosed array table, expected `]`
    countersign: HOME/tools/mine.toml: line 5: missing field `limit_ms`
    countersign: HOME/tools/mine.toml: tool `other` must begin with `mine_`, the name of its server
    ");
}

#[test]
fn a_data_directory_that_cannot_be_used_is_named_with_the_fix() {
    let home = Home::new();
    let file = home.write("file", "");
    home.write("rotten/countersign.db", "garbage, garbage, garbage, garbage");
    let at = |directory: &str| refused(&home, home.command().arg("--data").arg(home.path().join(directory)));
    insta::assert_snapshot!([at("file"), at("file/below"), at("rotten")].join("\n"), @"
    countersign: data directory HOME/file: cannot be created (File exists (os error 17)); give another one with --data
    countersign: data directory HOME/file/below: cannot be created (Not a directory (os error 20)); give another one with --data
    countersign: the database HOME/rotten/countersign.db is not a SQLite database; move that file away or name another one
    ");
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "");
    let rotten = std::fs::read_to_string(home.path().join("rotten/countersign.db")).expect("it is still there");
    assert!(rotten.starts_with("garbage"), "a file of others was changed");
}

#[test]
fn a_second_bot_on_the_same_data_is_refused() {
    let home = Home::new();
    let mut first = Bot::json(&home);
    first.ask("status");
    let said = refused(&home, &mut home.bot()).replace(&first.pid().to_string(), "PID");
    insta::assert_snapshot!(said, @"countersign: another countersign is running on HOME/data (process PID); stop it or give another --data");
    assert!(!first.ask("status").text().is_empty(), "the first one goes on");
}

#[test]
fn an_address_that_is_taken_is_named_and_nothing_is_left() {
    let home = Home::new();
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = refused(&home, home.bot().env("COUNTERSIGN_METRICS__LISTEN", &address)).replace(&address, "ADDRESS");
    insta::assert_snapshot!(said, @"countersign: `metrics.listen`: cannot listen on ADDRESS: Address already in use (os error 98); give another address or stop what has it");
    assert!(!home.data().join("countersign.db").exists(), "a database was made");
}

#[test]
fn a_server_that_cannot_be_started_is_told_at_the_first_question() {
    let home = Home::new();
    let config = home.write("bot.toml", "[spokes.host]\ncommand = \"/nowhere/spoke\"\n");
    let mut bot = Bot::spawn(home.bot().arg("--json").arg("--config").arg(config));
    let answer = bot.ask("disk usage");
    assert_eq!(answer.mark(), "failed");
    assert!(answer.text().contains("cannot start /nowhere/spoke: No such file or directory"), "{}", answer.text());
    let status = bot.ask("status").text();
    let line = "tools: host | does not run: cannot start /nowhere/spoke: No such file or directory";
    assert!(status.contains(line), "{status}");
    assert!(bot.end().status.success());
}

#[test]
fn what_cannot_be_typed_is_refused_in_one_line() {
    let home = Home::new();
    let with = |args: &[&str]| refused(&home, home.bot().args(args));
    let sentences = [with(&["--jsn"]), with(&["spok"]), with(&["spoke", "hots"]), with(&["--thread"])];
    assert!(!home.data().exists());
    insta::assert_snapshot!(sentences.join("\n"), @"
    countersign: unexpected argument '--jsn' found; tip: a similar argument exists: '--json'; see `countersign --help`
    countersign: unrecognized subcommand 'spok'; tip: a similar subcommand exists: 'spoke'; see `countersign --help`
    countersign: invalid value 'hots' for '<NAME>'; [possible values: host]; tip: a similar value exists: 'host'; see `countersign --help`
    countersign: a value is required for '--thread <NAME>' but none was supplied; see `countersign --help`
    ");
}

/// Clap leaves blanks at the ends of lines.
fn lines_end_clean(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
#[cfg(feature = "telegram")]
fn the_console_is_here_also_where_a_platform_is_configured() {
    let home = Home::new();
    // Nobody listens there; a bot that went there would say so and never answer.
    let token = ("COUNTERSIGN_TELEGRAM__TOKEN", "123456:a-token-of-nobody");
    let mut command = home.command();
    command.env(token.0, token.1).env("COUNTERSIGN_TELEGRAM__API_URL", "http://127.0.0.1:1").arg("console");
    let done = finish(&mut command, b"ping here\n");
    assert!(done.status.success() && done.out.contains("> ping here"), "{done:?}");
}

#[test]
fn help_and_version_are_no_errors() {
    let home = Home::new();
    let out = |args: &[&str]| {
        let done = finish(home.command().args(args), b"");
        assert!(done.status.success() && done.err.is_empty(), "{done:?}");
        done.out
    };
    assert_eq!(out(&["--version"]), format!("countersign {}\n", env!("CARGO_PKG_VERSION")));
    let help = lines_end_clean(&out(&["--help"]));
    let talks = if cfg!(any(feature = "discord", feature = "matrix", feature = "telegram")) {
        " It runs on each chat platform of which it has the credential (see config/reference.toml), else it talks here"
    } else {
        " This build has no chat platform, so that it talks here"
    };
    let help = help.replace(": on each chat", ". It runs on each chat").replace(talks, " (where it talks)");
    let models = "  models    List the models of the configured server, and say which of them are asked and which of those are missing\n";
    assert_eq!(help.contains(models), cfg!(feature = "model"), "{help}");
    let help = help.replace(models, "");
    insta::assert_snapshot!(help, @"
    A chat-ops bot: a model or a rule proposes, the team countersigns, deterministic code decides and executes.

    Without a subcommand it runs. (where it talks): type a question about this machine, or pipe questions in, one a line.

    Usage: countersign [OPTIONS] [COMMAND]

    Commands:
      console   Talk here, in this terminal or pipe, even where a platform is configured
      audit     Prove the audit trail, or write it out; also while a bot runs on the same data
      inbox     List the messages that were set aside because the bot ended while it worked on them
      seal      Seal the rows that decide something with a new key, or accept them as they are
      policy    Check the policies, the access file and the tables of expected decisions
      doctor    Look whether everything is in order before the bot runs: the configuration, who may what, each platform and the model's server, with a fix for whatever is not
      who       Ask the policies who may do something: `who can decide high on host:web-1`
      classify  Say what commands can do: one command a line on standard input, one answer a line; runs nothing
      replay    Play a recording through the real engine and print every decision as JSON lines; runs no tool
      simulate  Let a hostile model, faulty tools and people who click at random loose on this configuration, and look after every step whether each invariant holds; runs no tool
      spoke     Run a built-in tool server on standard input and output, as the bot itself does when it needs one
      help      Print this message or the help of the given subcommand(s)

    Options:
          --config <FILE>
              The configuration file [default: ./countersign.toml, if it is there]

          --data <DIR>
              The data directory; only one bot runs on it at a time [default: the platform's data directory]

          --json
              Print one JSON object per event on standard output; people's text goes to standard error

          --record <FILE>
              Write a recording of this session into a new file, for `countersign replay`

          --thread <NAME>
              The thread that the console's lines belong to

              [default: main]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
}

#[test]
fn a_service_without_a_platform_is_refused_and_does_not_end_as_if_it_had_run() {
    let home = Home::new();
    let done = home.bot().stdin(std::process::Stdio::null()).output().expect("the binary can be started");
    let said = String::from_utf8(done.stderr).expect("it is UTF-8");
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(2), [].as_slice()), "{said}");
    insta::assert_snapshot!(said.trim_end(), @"countersign: no chat platform is configured, and nobody can type here: set `telegram.token`, `discord.token` or `matrix.homeserver` (from the environment: COUNTERSIGN_TELEGRAM__TOKEN), or start it in a terminal");
    assert!(!home.data().join("countersign.db").exists(), "nothing is left behind");
}

//! The README's transcripts and commands: they are run as they stand there, with the binary in the place of `cargo run`,
//! and what comes out must be what is printed. Numbers, names of machines and processes, and the bodies of tables that show
//! the machine are its own and are not compared.

use std::path::Path;
use std::process::Command;

use regex::Regex;

use crate::support::bot::Home;
use crate::support::terminal::{PROMPT, Terminal};

const README: &str = include_str!("../../README.md");
const CARGO_RUN: &str = "cargo run --release --quiet";
const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

/// What a transcript leaves out.
const LEFT_OUT: &str = "[...]";

/// The fenced blocks of this language under a heading, from the first to the last.
fn blocks<'a>(heading: &str, language: &str) -> Vec<&'a str> {
    let (_, section) = README.split_once(&format!("\n{heading}\n")).expect("the README has this section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let fence = format!("```{language}\n");
    let fenced = section.split(&fence).skip(1);
    fenced.map(|rest| rest.split_once("\n```").expect("the block ends").0).collect()
}

/// The README's commands, for this home and this binary.
fn at_home(commands: &str, home: &Path) -> String {
    commands
        .replace(&format!("{CARGO_RUN} -- "), &format!("{BINARY} "))
        .replace(CARGO_RUN, BINARY)
        .replace("/tmp/demo", &home.join("demo").display().to_string())
}

/// A shell in the home, in which `countersign` is the binary.
fn bash(commands: &str, home: &Path) -> Command {
    let bin = Path::new(BINARY).parent().expect("a file is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", commands]).current_dir(home);
    command.env("HOME", home).env("PATH", format!("{}:{path}", bin.display())).env_remove("XDG_DATA_HOME");
    command
}

/// Runs commands to their end, and returns what they print, with the README's own names.
fn run(commands: &str, home: &Path) -> String {
    let output = bash(&at_home(commands, home), home).output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    as_printed(&String::from_utf8(output.stdout).expect("the bot writes UTF-8"), home)
}

fn as_printed(said: &str, home: &Path) -> String {
    said.replace(&home.join("demo").display().to_string(), "/tmp/demo")
}

/// What must be the same on every machine: the questions, the sentences, the headings and the lines of the log.
fn skeleton(transcript: &str) -> Vec<String> {
    let machine = Regex::new(r" on \S+ that|host:\S+|process:\S+|asked by \S+:").expect("a sound pattern");
    let number = Regex::new(r"\d[\d.]*( ?([KMGT]iB|B|%))?").expect("a sound pattern");
    let mut lines = Vec::new();
    let mut in_table = false;
    for line in transcript.lines() {
        let starts_answer = line.starts_with('>');
        let is_heading = ["Process", "Mount"].iter().any(|first| line.starts_with(first));
        let is_field = line.split_once(':').is_some_and(|(_, value)| value.starts_with(' ')) && !line.starts_with(' ');
        let is_row = in_table && !starts_answer && !line.ends_with('.');
        in_table = is_heading || is_row;
        if is_row || (is_field && !starts_answer && !line.contains("refused")) {
            continue;
        }
        let line = machine.replace_all(line, "<machine>");
        let line =
            if line.starts_with("  request") { line } else { number.replace_all(&line, "#").into_owned().into() };
        lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    lines
}

/// What a person typed at a terminal and what they saw then, as words: where a line is wrapped depends on how long the
/// numbers of this run are.
fn exchanges(screen: &str) -> Vec<(String, String)> {
    let own = [
        (r"\S+ asks to ", "<person> asks to "),
        (r"\S+ \(alone; the record says so\)", "<person> (alone; the record says so)"),
        (r"until \d\d:\d\d UTC", "until <time>"),
        (r"Plan [0-9a-f]{4}: ", "Plan <short>: "),
        (r" on \S+\. It is", " on <machine>. It is"),
        (r"\b[0-9a-f]{16,}(\b|…)", "<hash>"),
        (r"\([0-9a-f]{12}\)", "(<hash>)"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "<time>"),
        (r"process:\S+:\d+-\d+", "<process>"),
        (r"file:[^:\s]+:", "file:<machine>:"),
        (r"\b(pid|process) \d+", "$1 <number>"),
        (r"asked by \S+:", "asked by <person>:"),
        (r"access \d{4} \w+:\w+", "access <mode and owner>"),
    ];
    let words = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        own.iter().fold(text, |text, (pattern, name)| {
            Regex::new(pattern).expect("a sound pattern").replace_all(&text, *name).into_owned()
        })
    };
    let turns = screen.split(PROMPT).skip(1);
    turns.map(|turn| turn.split_once('\n').unwrap_or((turn, ""))).map(|(q, a)| (words(q), words(a))).collect()
}

/// Whether what was seen is what is printed, apart from what is left out there.
fn fits(printed: &str, seen: &str) -> bool {
    let parts: Vec<_> = printed.split(LEFT_OUT).map(|part| regex::escape(part.trim())).collect();
    let pattern = format!("^{}$", parts.join(".+"));
    Regex::new(&pattern).expect("a sound pattern").is_match(seen)
}

#[test]
fn the_transcript_comes_out_as_it_is_printed() {
    let home = Home::new();
    let heading = "## What it looks like";
    let printed = skeleton(blocks(heading, "text")[0]);
    let came_out = skeleton(&run(blocks(heading, "sh")[0], &home.path()));
    assert!(printed.len() > 20, "the transcript was found: {printed:#?}");
    assert_eq!(printed, came_out);
}

#[test]
fn the_judged_commands_come_out_as_they_are_printed() {
    let home = Home::new();
    let heading = "## Commands that only read";
    let came_out = run(blocks(heading, "sh")[0], &home.path());
    assert_eq!(blocks(heading, "text")[0], came_out.trim_end());
}

#[test]
fn what_a_person_sees_is_what_is_printed() {
    let home = Home::new();
    let (folder, heading) = (home.path(), "## Changing something");
    let [start, meanwhile] = blocks(heading, "sh")[..] else { panic!("two blocks of commands") };
    let [before, after] = blocks(heading, "text")[..] else { panic!("two parts of a transcript") };
    let mut terminal = Terminal::start(&bash(&at_home(start, &folder), &folder));
    let sleeper = terminal.screen().lines().next().unwrap_or_default().to_owned();
    assert!(sleeper.parse::<u32>().is_ok(), "the number of the process comes first: {}", terminal.screen());
    let typed = |part: &str| -> Vec<String> {
        part.lines().filter_map(|line| Some(at_home(line.strip_prefix(PROMPT)?, &folder))).collect()
    };
    for line in typed(before) {
        terminal.ask(&line.replace("4711", &sleeper));
    }
    run(meanwhile, &folder);
    for line in typed(after) {
        terminal.ask(&line);
    }
    let screen = as_printed(&terminal.screen(), &folder);
    let (printed, mut seen) = (exchanges(&format!("{before}\n{after}\n")), exchanges(&format!("{screen} ")));
    // The prompt at which nothing was typed any more.
    assert_eq!(seen.pop().map(|(typed, _)| typed).as_deref(), Some(""), "{screen}");
    assert_eq!((printed.len(), seen.len()), (6, 6), "{screen}");
    for ((typed, printed), (heard, seen)) in printed.iter().zip(&seen) {
        assert_eq!(typed, heard);
        assert!(fits(printed, seen), "after {typed}\nprinted {printed}\nseen    {seen}");
    }
    assert!(terminal.leave("quit"), "{}", terminal.screen());
    let file = std::fs::read_to_string(folder.join("demo.toml")).expect("it is there");
    assert_eq!(file, "port = 80\nhost = \"web-1\"\ndebug = true\nowner = \"ops\"\n");
}

#[test]
fn the_commands_for_scripts_work() {
    let home = Home::new();
    let folder = home.path();
    let script = blocks("## In a script", "sh")[0];
    let [audit, seal, replay] = blocks("## What was done, and how to show it", "sh")[..] else {
        panic!("three blocks")
    };
    assert_eq!(run(script, &folder), "\"outcome\":\"absent\"\n");
    let proof = run("countersign audit verify", &folder);
    let head = proof.trim_end().trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
    let again = run(&audit.replace("HEAD", head), &folder);
    assert_eq!(again, proof);
    assert!(
        Regex::new(r"^The audit trail is whole: \d+ rows, head \d+:[0-9a-f]{64}\.\n$").expect("sound").is_match(&proof)
    );
    let trail = std::fs::read_to_string(folder.join("trail.jsonl")).expect("it was exported");
    assert!(trail.lines().count() > 5 && trail.contains("verified"), "{trail}");
    run(seal, &folder);
    assert!(run("countersign audit verify", &folder).starts_with("The audit trail is whole: "));
    let replay = replay.replace("session.jsonl  ", "session.jsonl <<< status  ");
    assert!(run(&replay, &folder).contains(r#""decided":"say""#));
}

#[test]
fn the_skeleton_sees_what_matters() {
    let printed = "> disk usage\nMount  Used\n/  74%\n> x\nsleep (pid 12) uses 1.5 MiB of memory and 0% CPU.\nState: sleeping\n  request 7";
    let same = "> disk usage\nMount Used\n/  9%\n/var  1%\n> x\nsleep (pid 999) uses 3 GiB of memory and 10% CPU.\nUser: x\n  request 7";
    assert_eq!(skeleton(printed), skeleton(same));
    for other in
        [printed.replace("uses", "used"), printed.replace("request 7", "request 8"), printed.replace("Used", "Free")]
    {
        assert_ne!(skeleton(printed), skeleton(&other), "{other}");
    }
    assert!(fits("a [...] d (e) [...]", "a b c d (e) f") && fits("a.", "a."));
    for other in ["b a b c d (e) f", "a b c d e f", "a d (e)"] {
        assert!(!fits("a [...] d (e) [...]", other), "{other}");
    }
}

/// The gates that a refusal can name and that stand in no file of `src/core/gate`: they refuse plans, accounts, and messages
/// that come too fast.
fn gates_of_plans() -> Vec<String> {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core");
    let named = Regex::new(r#"(?:\bgate: |let gate = |const GATE: &str = )"([a-z_]+)""#).expect("a sound pattern");
    let files = ["thread", "approval"].into_iter().flat_map(|room| {
        let listed = std::fs::read_dir(core.join(room)).expect("the core has this room");
        listed.flatten().map(|entry| entry.path()).filter(|path| path.is_file())
    });
    let mut gates: Vec<String> = files
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).expect("a source file is text");
            named.captures_iter(&text).map(|found| found[1].to_owned()).collect::<Vec<_>>()
        })
        .filter(|gate| !core.join("gate").join(format!("{gate}.rs")).exists())
        .collect();
    gates.sort();
    gates.dedup();
    gates
}

#[test]
fn every_gate_of_plans_is_explained() {
    let gates = gates_of_plans();
    assert_eq!(gates, ["carry", "decision", "grant", "in_flight", "ledger", "link", "plan", "rate", "spoke", "stop"]);
    let missing: Vec<_> = gates.iter().filter(|gate| !README.contains(&format!("\n| `{gate}` | "))).collect();
    assert!(missing.is_empty(), "the README does not say who refuses as {missing:?}");
}

#[test]
fn the_access_file_to_begin_with_is_sound() {
    let home = Home::new();
    home.write("countersign.toml", "[access]\nfile = \"access.toml\"\n");
    home.write("access.toml", blocks("## Who may what", "toml").join("\n"));
    let said = run(&blocks("## Who may what", "sh").concat(), &home.path());
    assert!(said.contains("all 73 expectations hold. Of your own: people 2, services 0, policies 0."), "{said}");
    assert!(said.contains("\n  ann ("), "{said}");
}

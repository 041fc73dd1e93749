//! The README's transcript: its commands are run as they stand there, with the binary in the place of `cargo run`, and what
//! comes out must be what is printed. Numbers, names of machines and processes, and the bodies of tables that show the
//! machine are its own and are not compared.

use std::path::Path;
use std::process::Command;

use regex::Regex;

const README: &str = include_str!("../../README.md");
const CARGO_RUN: &str = "cargo run --release --quiet";

/// The fenced block of this language that comes after the heading.
fn block<'a>(heading: &str, language: &str) -> &'a str {
    let (_, section) = README.split_once(heading).expect("the README has this section");
    let (_, rest) = section.split_once(&format!("```{language}\n")).expect("the section has this block");
    rest.split_once("\n```").expect("the block ends").0
}

/// Runs the README's commands in an empty folder, and ends the process that they leave running.
fn run(commands: &str, home: &Path) -> String {
    let binary = env!("CARGO_BIN_EXE_countersign");
    let log = home.join("demo.log");
    let script = commands.replace(CARGO_RUN, binary).replace("/tmp/demo.log", &log.display().to_string());
    assert!(script.contains(binary), "the README runs the bot with `{CARGO_RUN}`");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &format!("{script}\nkill $!")])
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .output()
        .expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the bot writes UTF-8").replace(&log.display().to_string(), "/tmp/demo.log")
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

#[test]
fn the_transcript_comes_out_as_it_is_printed() {
    let home = tempfile::tempdir().expect("a folder for the test");
    let printed = skeleton(block("## What it looks like", "text"));
    let came_out = skeleton(&run(block("## What it looks like", "sh"), home.path()));
    assert!(printed.len() > 40, "the transcript was found: {printed:#?}");
    assert_eq!(printed, came_out);
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
}

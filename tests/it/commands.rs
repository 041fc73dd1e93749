//! The corpus of `tests/fixtures/commands` through the real binary: lines that operators type, which only read, and lines
//! that look like it and do not, or need a shell. Half of the rows, chosen by a hash, was kept aside while the tables were written; both
//! halves are held to the same bar, and the rates are printed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::support::bot::{Home, finish};

/// One row: a command, whether it only reads, and, where it does, whether it ends by itself.
#[derive(Debug, Deserialize)]
struct Row {
    command: String,
    label: Label,
    bounded: bool,
    family: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    Read,
    Refuse,
}

/// What the binary said.
#[derive(Debug, Deserialize)]
struct Answer {
    command: String,
    intent: String,
    bounded: bool,
    reason: String,
}

impl Answer {
    fn only_reads(&self) -> bool {
        self.intent != "write_or_unknown"
    }
}

const FILES: [&str; 4] = [
    include_str!("../fixtures/commands/benign.jsonl"),
    include_str!("../fixtures/commands/refuse-tools.jsonl"),
    include_str!("../fixtures/commands/refuse-platforms.jsonl"),
    include_str!("../fixtures/commands/refuse-shell.jsonl"),
];

fn rows() -> Vec<Row> {
    let lines = FILES.iter().flat_map(|file| file.lines());
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

fn answers(rows: &[Row]) -> Vec<Answer> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["classify", "--json", "--null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("it has a standard input");
    let text: Vec<String> = rows.iter().map(|row| row.command.clone()).collect();
    let writer = std::thread::spawn(move || input.write_all(text.join("\0").as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads everything");
    let text = String::from_utf8(output.stdout).expect("answers are text");
    text.lines().map(|line| serde_json::from_str(line).expect("each answer is JSON")).collect()
}

/// FNV-1a, 64 bits: which half a row belongs to must not change with the toolchain.
fn is_held_out(command: &str) -> bool {
    let hash = command
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash >> 8) % 2 == 1
}

/// Counts of one half.
#[derive(Debug, Default)]
struct Half {
    reads: usize,
    refused: usize,
    false_blocks: Vec<String>,
    false_allows: Vec<String>,
    wrong_bounds: Vec<String>,
    by_family: BTreeMap<String, (usize, usize)>,
}

impl Half {
    fn take(&mut self, row: &Row, answer: &Answer) {
        match row.label {
            Label::Refuse => {
                self.refused += 1;
                if answer.only_reads() {
                    self.false_allows.push(row.command.clone());
                }
            }
            Label::Read => {
                self.reads += 1;
                let family = self.by_family.entry(row.family.clone()).or_default();
                family.0 += 1;
                if !answer.only_reads() {
                    family.1 += 1;
                    self.false_blocks.push(format!("{}  ({})", row.command, answer.reason));
                } else if answer.bounded != row.bounded {
                    self.wrong_bounds.push(row.command.clone());
                }
            }
        }
    }

    /// False blocks in tenths of a percent.
    fn block_rate(&self) -> usize {
        self.false_blocks.len() * 1_000 / self.reads.max(1)
    }

    fn print(&self, name: &str) {
        let rate = self.block_rate();
        println!(
            "{name}: {} lines that only read, {} blocked ({}.{} %), {} with the wrong end; {} others, {} allowed",
            self.reads,
            self.false_blocks.len(),
            rate / 10,
            rate % 10,
            self.wrong_bounds.len(),
            self.refused,
            self.false_allows.len(),
        );
        for (family, (rows, blocked)) in self.by_family.iter().filter(|(_, (_, blocked))| *blocked > 0) {
            println!("    {family}: {blocked} of {rows} blocked");
        }
    }
}

#[test]
fn the_corpus_is_judged_right_in_both_halves() {
    let rows = rows();
    assert!(rows.len() >= 1_500, "{} rows", rows.len());
    let refused = rows.iter().filter(|row| row.label == Label::Refuse).count();
    assert!(refused * 2 >= rows.len(), "half of the rows must not pass");
    let answers = answers(&rows);
    assert_eq!(answers.len(), rows.len(), "one answer for each row");
    let (mut tuned, mut held_out) = (Half::default(), Half::default());
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(row.command, answer.command);
        let half = if is_held_out(&row.command) { &mut held_out } else { &mut tuned };
        half.take(row, answer);
    }
    for (name, half) in [("tuned on", &tuned), ("held out", &held_out)] {
        half.print(name);
        assert_eq!(half.false_allows, Vec::<String>::new(), "{name}: these do not only read");
        assert!(half.block_rate() <= 50, "{name}: more than 5 % blocked: {:#?}", half.false_blocks);
        assert!(half.wrong_bounds.len() * 50 <= half.reads, "{name}: {:#?}", half.wrong_bounds);
    }
}

#[test]
fn a_team_adds_tables_of_its_own() {
    let home = Home::new();
    let file = home.path().join("commands.toml");
    std::fs::write(&file, "[shopctl]\nreads = \"orders\"\n[uptime]\nwrite = \"is not for chats\"\n")
        .expect("a file is written");
    let classify = |file: &Path| {
        let mut command = home.command();
        finish(command.arg("classify").arg("--tables").arg(file), b"shopctl orders\nuptime\n")
    };
    let done = classify(&file);
    assert_eq!(
        done.out,
        "reads: shopctl orders: only reads (shopctl)\nrefused, risk 2: uptime: is not for chats (uptime)\n"
    );

    // The gate goes by the same file; the built-in server is given it, too.
    std::fs::write(home.path().join("countersign.toml"), "[commands]\nfile = \"commands.toml\"\n")
        .expect("a file is written");
    let done = finish(&mut home.command(), b"run uptime\nrun whoami\n");
    assert!(done.out.contains("s not for chats (uptime)"), "{done:?}");
    assert!(done.out.contains("`whoami`:"), "{done:?}");

    std::fs::write(&file, "[rm]\nany_words = true\n").expect("a file is written");
    let done = classify(&file);
    assert_eq!((done.status.code(), done.out.as_str()), (Some(2), ""));
    assert!(done.err.contains("commands.toml: `rm`: of a shipped tool only `acts`, `write` and `writes`"), "{done:?}");
}

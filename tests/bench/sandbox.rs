//! What the sandbox adds to a program that reads: `cargo bench --bench sandbox`. The same program is started directly and
//! behind the walls, in turns, so that a slow moment of the machine falls on both. Wanted is a median below 3 ms more. It
//! prints a table and judges nothing: what the walls hold is tested in `tests/it/sandbox.rs`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

/// How often each is started.
const STARTS: usize = 300;

/// What builds the walls.
const LAUNCHER: &str = env!("CARGO_BIN_EXE_countersign-sandbox");

/// The bot itself, which builds them where no launcher lies beside it.
const BOT: &str = env!("CARGO_BIN_EXE_countersign");

/// The least of programs.
const PROGRAM: &str = "/bin/true";

/// What most machines have to cover.
const COVERED: [&str; 8] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssl/private",
    "/root/.ssh",
    "/root/.bash_history",
    "/var/lib/private",
];

fn main() {
    let covered: Vec<&str> = COVERED.into_iter().filter(|place| Path::new(place).exists()).collect();
    let walls = |covered: &[&str]| {
        json!({
            "best_effort": false, "covered": covered, "readable": [], "network": false, "ports": [], "masked": null,
            "sockets": [], "devices": false,
        })
        .to_string()
    };
    let (none, all) = (walls(&[]), walls(&covered));
    let ways: [(&str, Vec<&str>); 5] = [
        ("the program alone", vec![PROGRAM]),
        ("the launcher, no walls", vec![LAUNCHER, "session", PROGRAM]),
        ("walls, nothing covered", vec![LAUNCHER, &none, PROGRAM]),
        ("walls, the usual places covered", vec![LAUNCHER, &all, PROGRAM]),
        ("the same by the bot itself", vec![BOT, "sandboxed", &all, PROGRAM]),
    ];
    let mut took = vec![Vec::with_capacity(STARTS); ways.len()];
    for _ in 0..STARTS {
        for (way, took) in ways.iter().zip(&mut took) {
            took.push(start(&way.1));
        }
    }
    println!("{:<36}{:>10}{:>10}{:>10}", "milliseconds", "median", "p95", "more");
    let medians: Vec<(f64, f64)> = took.iter_mut().map(|took| figures(took)).collect();
    let alone = medians.first().map_or(0.0, |(median, _)| *median);
    for ((name, _), (median, p95)) in ways.iter().zip(medians) {
        println!("{name:<36}{median:>10.2}{p95:>10.2}{:>10.2}", median - alone);
    }
    println!("{} of {} places are here to be covered", covered.len(), COVERED.len());
}

fn start(line: &[&str]) -> Duration {
    let begun = Instant::now();
    // As the tool server starts them; cargo would have the loader look through folders of its own.
    let status =
        Command::new(line[0]).args(&line[1..]).env_clear().stdin(Stdio::null()).status().expect("it can be started");
    assert!(status.success(), "{line:?}: {status}");
    begun.elapsed()
}

/// The median and the 95th percentile, in milliseconds.
fn figures(took: &mut [Duration]) -> (f64, f64) {
    took.sort();
    let millis = |at: usize| took[at].as_secs_f64() * 1e3;
    (millis(took.len() / 2), millis(took.len() * 95 / 100))
}

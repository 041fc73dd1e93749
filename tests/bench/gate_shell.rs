//! `gate_shell` (BENCH.md section C): how much longer a judgement takes than the two parses inside it, how that grows with
//! the length of a line, and how long the hostile lines take. Ratios of one run on one machine; nothing is asserted here.
//!
//! `cargo bench -p countersign-core --features testkit --bench gate_shell`

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::float_arithmetic,
    reason = "a bench of the core looks at a clock and prints, which the core itself never does"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_core::command::{judge, parse_only};

/// Lines that operators type, shortest first.
const LINES: &[&str] = &[
    "ls -la",
    "ps aux | grep nginx | head -n 5 -q",
    "kubectl get pods -A -o wide --sort-by=.status.startTime | grep -v Running | awk '{print $1, $2, $4}'",
    "for p in web-1 web-2 web-3; do echo \"== $p\"; kubectl logs --tail=50 --since=10m -n shop \"$p\" | grep -iE 'error|timeout|refused' | sort | uniq -c | sort -rn | head -n 10; done",
    "psql -At -c \"select state, count(*), max(now() - query_start) from pg_stat_activity where datname = 'shop' group by 1 order by 2 desc\"",
];

/// How often one line is judged for one figure.
const ROUNDS: u32 = 2_000;

fn main() {
    println!("line bytes   both parses us   judge us   ratio");
    for line in LINES {
        compare(line);
    }
    println!("\ngrowth (echo with many words)");
    for bytes in [50_usize, 500, 2_000, 8_000] {
        let line = format!("echo {}", "word-7 ".repeat(bytes / 7));
        compare(line.trim_end());
    }
    println!("\nhostile lines, slowest of 5, ms");
    for (name, line) in hostile() {
        let slowest = (0..5).map(|_| once(&line)).max().unwrap_or_default();
        println!("{name:24} {:8.3}", slowest.as_secs_f64() * 1e3);
    }
}

fn compare(line: &str) {
    let parse = median(|| {
        black_box(parse_only(black_box(line)));
    });
    let whole = median(|| {
        black_box(judge(black_box(line)));
    });
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{:10}   {:14.1}   {:8.1}   {:5.2}",
        line.len(),
        micros(parse),
        micros(whole),
        micros(whole) / micros(parse)
    );
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn once(line: &str) -> Duration {
    let start = Instant::now();
    black_box(judge(black_box(line)));
    start.elapsed()
}

fn hostile() -> Vec<(&'static str, String)> {
    let nest = |open: &str, close: &str, times: usize| format!("echo {}{}", open.repeat(times), close.repeat(times));
    vec![
        ("( x20000", "(".repeat(20_000)),
        ("$( x500", nest("$(", "", 500)),
        ("$( x39 closed", nest("$(echo ", ")", 39)),
        ("quoted $( x39", nest("\"$(echo ", ")\"", 39)),
        ("${a:- x39", nest("${a:-", "}", 39)),
        ("$(( x19", nest("$((", "))", 19)),
        ("<( x39", nest("<(cat ", ")", 39)),
        ("backticks x40", nest("`", "", 40)),
        ("here-documents x16", "cat <<E\n".repeat(16)),
        ("pipes x299", "a|".repeat(299)),
        ("lists x299", "a;".repeat(299)),
        ("one word of 8 KiB", format!("echo {}", "a".repeat(8_000))),
        ("quotes x1000", format!("echo {}", "'".repeat(1_000))),
        ("if x39", format!("{}{}", "if true; then ".repeat(39), "ls; ".to_owned() + &"fi; ".repeat(39))),
        ("loops x5", format!("{}ls{}", "for i in 1 2; do ".repeat(5), "; done".repeat(5))),
        ("variants", format!("for i in {}; do echo {}; done", "a ".repeat(32), "$i ".repeat(300))),
        ("brace lists", format!("echo {}", "{a,b}".repeat(400))),
        ("[[ ( x39", format!("[[ {}a{} ]]", "( ".repeat(39), " )".repeat(39))),
        ("regex alternatives", format!("grep -E '{}' f", "a|".repeat(299))),
        ("sql of 8 KiB", format!("psql -c \"select 1 where {}\"", "a = 1 or ".repeat(850))),
        ("awk of 8 KiB", format!("awk '{}'", "{print $1}\n".repeat(700))),
        ("sed of 8 KiB", format!("sed '{}'", "s/a/b/\n".repeat(280))),
        ("wrappers x100", format!("{}ls", "nice ".repeat(100))),
        ("sh -c in sh -c", "sh -c \"sh -c 'sh -c ls'\"".to_owned()),
        ("null bytes", "ls\0".repeat(100)),
    ]
}

//! `mask`: how long the mask takes over texts of everyday size, with and without anything to hide, and over large and
//! hostile ones. Figures of one run on one machine; nothing is asserted here.
//!
//! `cargo bench -p countersign-core --bench mask`

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::float_arithmetic,
    reason = "a bench of the core looks at a clock and prints, which the core itself never does"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_core::secrets::Mask;

/// Texts that the bot handles all day. Only the last two have something to hide.
const EVERYDAY: &[(&str, &str)] = &[
    ("a name", "nginx"),
    ("a sentence", "restarted nginx on web-1; it is running again with pid 4711 and answers in 12 ms"),
    ("a log line", "2026-11-21T22:47:05Z INFO nginx[812]: GET /index.html?page=2 200 12ms \"curl/8.5.0\" 10.0.0.7"),
    ("a word of ours", "the token of the session expired; ask for a new one with `token renew` and try again"),
    ("a password", "url = postgres://app:hunter2hunter2@db.example.org/app"),
    ("an assignment", "DB_HOST=db-1 DB_PASSWORD=hunter2hunter2 DB_NAME=shop"),
];

fn main() {
    let none = Mask::default();
    let secrets = (0..10_u64).map(|n| format!("{:x}:Zq{:x}", 0x00A1_B2C3_D4E5 + n * 7_919, n * 0x9E37_79B9_7F4A));
    let own = Mask::new(secrets);
    let first = Instant::now();
    black_box(none.apply("password=warm up"));
    println!("first text {:.1} ms, resident {} KiB", first.elapsed().as_secs_f64() * 1e3, resident());
    println!("{:24} {:>8} {:>12} {:>12}", "text", "bytes", "none ns", "10 own ns");
    for (name, text) in EVERYDAY {
        row(name, text, &none, &own, 20_000);
    }
    let large = [
        ("log, 100 kB", EVERYDAY[2].1.to_owned() + "\n"),
        (
            "ps, 100 kB",
            "root  4711  0.0  0.1  12345  6789 ?  Ss  10:00  0:01 /usr/sbin/nginx -g daemon off;\n".to_owned(),
        ),
        ("base64, 100 kB", "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0\n".to_owned()),
        ("yaml, 100 kB", "- name: web\n  image: nginx:1.25\n  ports: [80, 443]\n  env: {LANG: C}\n".to_owned()),
        ("secrets, 100 kB", "DB_PASSWORD=hunter2hunter2\n".to_owned()),
    ];
    for (name, piece) in large {
        row(name, &piece.repeat(100_000 / piece.len()), &none, &own, 20);
    }
    println!("\nhostile, ms for 100 kB and 200 kB");
    for piece in ["token=a&", "a: {", "[", "- ", "\\n", "kind: Secret\ndata: [", "password:\n ", "|a", "'\"", "68 75 "]
    {
        let time = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            let begun = Instant::now();
            black_box(own.apply(&text));
            begun.elapsed().as_secs_f64() * 1e3
        };
        println!("{piece:?}: {:.1} {:.1}", time(100_000), time(200_000));
    }
    println!("resident {} KiB", resident());
}

fn row(name: &str, text: &str, none: &Mask, own: &Mask, rounds: u32) {
    println!("{name:24} {:8} {:12.0} {:12.0}", text.len(), nanos(none, text, rounds), nanos(own, text, rounds));
}

/// The least of five, because only other work on the machine makes it longer.
fn nanos(mask: &Mask, text: &str, rounds: u32) -> f64 {
    let once = || {
        let begun = Instant::now();
        for _ in 0..rounds {
            black_box(mask.apply(black_box(text)));
        }
        begun.elapsed() / rounds
    };
    (0..5).map(|_| once()).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1e9
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

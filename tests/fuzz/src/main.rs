//! Fuzzes the command classifier: any bytes must be judged, on a thread of 2 MiB, without a panic, and a rewrite must be
//! proven. Works on the stable compiler; `--target` keeps the options away from build scripts:
//!
//! ```text
//! cd tests/fuzz
//! RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares" \
//!   cargo run --release --target x86_64-unknown-linux-gnu -- -max_total_time=600 -max_len=8192 corpus
//! ```

#![no_main]

use countersign_core::command::judge;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let line = String::from_utf8_lossy(bytes);
    let judged = judge(&line);
    assert!(!judged.reason.is_empty(), "a judgement says why");
    assert_eq!(judged.run.is_some(), judged.intent.only_reads(), "what only reads can be run, and nothing else");
    if let Some(rewrite) = &judged.rewrite {
        assert!(judge(rewrite).is_proven(), "a rewrite is proven");
    }
});

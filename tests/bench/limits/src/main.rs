//! The physical limits of BENCH.md on this machine: how fast a hand-over between tasks, a request on loopback, a commit, a
//! parse and a look-up can be at all. Every target of ours is a multiple of one of these, timed in the same hour. It prints a
//! table and judges nothing. `limits [FOLDER]` keeps its database in FOLDER, which must be on the disk that is meant.

mod cpu;
#[cfg(feature = "embeddings")]
mod embeddings;
mod hops;
mod http;
mod sql;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().unwrap_or_else(std::env::temp_dir);
    println!("{:<52}{:>10}{:>10}{:>10}{:>10}", "microseconds", "min", "p50", "p90", "p99");
    let one = Builder::new_current_thread().enable_all().build()?;
    let two = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (name, runtime) in [("one thread", one), ("two threads", two)] {
        println!("-- tokio, {name}");
        let folder = folder.clone();
        // A task of the runtime, because the thread that blocks on it is another kind of thread.
        runtime.block_on(runtime.spawn(async move {
            hops::measure().await?;
            http::measure().await?;
            sql::measure(&folder).await
        }))??;
    }
    println!("-- computing");
    cpu::measure()?;
    #[cfg(feature = "embeddings")]
    if let Some(table) = arguments.next() {
        embeddings::measure(&table)?;
    }
    Ok(())
}

/// One line of the table.
fn report(name: &str, mut took: Vec<Duration>) {
    took.sort();
    let micros = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("{name:<52}{:>10.3}{:>10.3}{:>10.3}{:>10.3}", micros(0.0), micros(0.5), micros(0.9), micros(0.99));
}

/// What is too short to be timed alone: 30 times `count` of them, each reported as its share.
fn report_many(name: &str, count: u32, mut once: impl FnMut()) {
    let share = |_| {
        let began = Instant::now();
        for _ in 0..count {
            once();
        }
        began.elapsed() / count
    };
    report(name, (0..30).map(share).collect());
}

//! Plays a recording: every line goes to its thread's real worker, with the recorded time and chance, over a store of its
//! own that is gone afterwards. Tools are never run: their answers stand in the recording.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::effect::{Effect, Input};
use countersign_core::envelope::Envelope;
use countersign_core::gate::{Cleared, ToolCall};
use countersign_core::port::{BoxFuture, Tools};
use countersign_core::signal::{Now, ThreadKey};
use thiserror::Error;

use super::format::FORM;
use super::{Header, Line, decisions};
use crate::engine::{Engine, Parts, Player, Watch, World};
use crate::store::Store;

/// Why a recording cannot be played: always the line.
#[derive(Debug, Error)]
#[error("line {line}: {problem}")]
pub struct PlayError {
    /// From 1.
    pub line: usize,
    /// A sentence.
    pub problem: String,
}

/// Tools that are never run.
struct OnPaper;

impl Tools for OnPaper {
    fn call(&self, _: Cleared<ToolCall>) -> BoxFuture<'_, Envelope> {
        Box::pin(std::future::pending())
    }
}

/// Writes what each step decided.
struct Printer<W> {
    line: AtomicUsize,
    out: Mutex<W>,
}

impl<W: Write + Send> Watch for Printer<W> {
    fn step(&self, thread: &ThreadKey, _: Now, _: &Input, effects: &[Effect]) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for line in decisions::lines(self.line.load(Ordering::Relaxed), thread, effects) {
            // A reader that has gone away has seen enough.
            let _ = writeln!(out, "{line}");
        }
    }
}

/// Reads the header of a recording: what the world has to be made with.
pub fn header(first: &str) -> Result<Header, PlayError> {
    let wrong = |problem: String| PlayError { line: 1, problem };
    let header: Header = serde_json::from_str(first)
        .map_err(|error| wrong(format!("this is no header of a recording: {}", why(&error))))?;
    if header.form != FORM {
        return Err(wrong(format!("the recording has the form {}, and this version plays {FORM}", header.form)));
    }
    Ok(header)
}

/// What the parser says of one line. To it every line is the first one, which would only confuse.
fn why(error: &serde_json::Error) -> String {
    let said = error.to_string();
    if said.starts_with("no variant of enum") {
        return "it tells its thread nothing that this version knows".to_owned();
    }
    said.replace(" at line 1 column ", " at column ")
}

/// Plays every line after the header and writes what was decided to `out`, as JSON lines. Uses the store, which should be
/// an empty one, and nothing else.
pub async fn play(
    lines: impl BufRead,
    world: World,
    store: Store,
    out: impl Write + Send + 'static,
) -> Result<(), PlayError> {
    let printer = Arc::new(Printer { line: AtomicUsize::new(1), out: Mutex::new(out) });
    let watch = Some(Arc::clone(&printer) as _);
    // No platform is part of it, so that nothing has to be said of one.
    let (tools, adapters, tell) = (Arc::new(OnPaper), Vec::new(), Box::new(|_: &str| {}));
    let engine = Engine::new(Parts {
        store,
        world,
        tools,
        mind: None,
        adapters,
        queue_max: 1,
        delivery: crate::engine::A_DAY,
        watch,
        tell,
    });
    let mut threads: BTreeMap<ThreadKey, Player> = BTreeMap::new();
    for (n, line) in lines.lines().enumerate() {
        let at = n.saturating_add(2);
        let wrong = |problem: String| PlayError { line: at, problem };
        let line = line.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line =
            serde_json::from_str(&line).map_err(|error| wrong(format!("it is no input: {}", why(&error))))?;
        let (thread, input, now) = line.step().map_err(wrong)?;
        printer.line.store(at, Ordering::Relaxed);
        let Some(input) = input else {
            threads.remove(&thread);
            continue;
        };
        let player = threads.entry(thread.clone()).or_insert_with(|| Player::new(&engine, thread));
        player.tell(input, now).await.map_err(|error| wrong(format!("{error:#}")))?;
    }
    Ok(())
}

//! The Python program that plays the people, from here: a request a line, an answer a line, and what they see in between.
//! Requests block; it belongs to no runtime, so that the tests of one process can share it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::seen::{Seen, Timeline};
use crate::server;

/// The longest that one request may take: a machine that compiles beside it is slow.
const ANSWER_MAX: Duration = Duration::from_mins(2);

/// The program, and everything that its people have seen.
pub(crate) struct Front {
    process: Mutex<Child>,
    input: Mutex<ChildStdin>,
    next: AtomicU64,
    shared: Arc<Shared>,
}

struct Shared {
    waiting: Mutex<BTreeMap<u64, SyncSender<Result<Value, String>>>>,
    timeline: Mutex<Timeline>,
    /// How many events have been seen.
    changed: watch::Sender<u64>,
}

impl Front {
    pub(crate) fn start(url: &str, folder: &Path) -> Self {
        let mut process = Command::new(server::python())
            .arg(server::program("people.py"))
            .arg(url)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program that plays people starts");
        let input = Mutex::new(process.stdin.take().expect("invariant: it is piped"));
        let output = process.stdout.take().expect("invariant: it is piped");
        let (waiting, timeline) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { waiting, timeline, changed: watch::Sender::new(0) });
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                reader.heard(&line);
            }
            // Nobody answers any more.
            lock(&reader.waiting).clear();
        });
        Self { process: Mutex::new(process), input, next: AtomicU64::new(1), shared }
    }

    /// Asks for something and waits for the answer; panics with what went wrong.
    pub(crate) fn ask(&self, mut request: Value) -> Value {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        request["id"] = id.into();
        let (tell, told) = sync_channel(1);
        lock(&self.shared.waiting).insert(id, tell);
        writeln!(lock(&self.input), "{request}").expect("the program that plays people runs");
        match told.recv_timeout(ANSWER_MAX) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => panic!("{error}, asked for {request}"),
            Err(error) => panic!("no answer to {request}: {error}"),
        }
    }

    /// Looks at what was seen.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Timeline) -> T) -> T {
        look(&lock(&self.shared.timeline))
    }

    /// Tells of each change of what was seen.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }
}

impl Shared {
    fn heard(&self, line: &str) {
        let Ok(mut said) = serde_json::from_str::<Value>(line) else { return };
        let Some(id) = said["id"].as_u64() else {
            if let Some(seen) = Seen::read(&said) {
                lock(&self.timeline).add(seen);
                self.changed.send_modify(|count| *count += 1);
            }
            return;
        };
        let answer = match said["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(said["ok"].take()),
        };
        if let Some(tell) = lock(&self.waiting).remove(&id) {
            // Who asked may have given up.
            drop(tell.send(answer));
        }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        server::end(self.process.get_mut().unwrap_or_else(PoisonError::into_inner));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

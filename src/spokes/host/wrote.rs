//! What a program writes that may leave a service running behind it. The service may keep the program's output for as
//! long as it lives: it must never be held up by a full pipe, nor ended by one that nobody reads, nor fill a disk. So a
//! reader of its own stands between: it lives as long as anybody writes, also after this server. What is said with the
//! words is decided elsewhere.

use std::future::Future;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStdout, Command};
use tokio::time::timeout;

use super::exec::{clean, locate};
use super::this_host::ThisHost;

/// The most bytes that are kept.
const BYTES_MAX: usize = 4 * 1024;

/// How long the last words may take to get here after the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Passes on what it reads while somebody listens; after that it reads on, so that nobody is ended for writing.
const READER: &str = "trap '' PIPE; cat 2>/dev/null; exec cat >/dev/null";

/// The words of one program.
pub(super) struct Wrote {
    /// None once there is no more to hear, or enough was heard.
    pipe: Option<ChildStdout>,
    bytes: Vec<u8>,
}

impl Wrote {
    /// Takes what this command will write. Where no reader can be started it writes into nothing: that a service can be
    /// told to start is worth more than its words.
    pub(super) fn of(host: &ThisHost, writer: &mut Command) -> Self {
        let pipe = reader(host, writer);
        if pipe.is_none() {
            writer.stdout(Stdio::null()).stderr(Stdio::null());
        }
        Self { pipe, bytes: Vec::new() }
    }

    /// Listens until the program has ended.
    pub(super) async fn while_running<T>(&mut self, ended: impl Future<Output = T>) -> T {
        let mut ended = std::pin::pin!(ended);
        loop {
            tokio::select! {
                biased;
                ended = &mut ended => return ended,
                () = self.hear(), if self.pipe.is_some() => {}
            }
        }
    }

    /// What was written, once the last words were heard. Waits a moment for them and no longer: what the program left
    /// running may never close its output.
    pub(super) async fn until_silent(mut self) -> String {
        let rest = async {
            while self.pipe.is_some() {
                self.hear().await;
            }
        };
        // Both ends are fine: all was heard, or somebody still holds the output.
        let _ = timeout(LAST_WORDS, rest).await;
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The next words. Nothing is lost where this is dropped half way.
    async fn hear(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = [0; 1024];
        match pipe.read(&mut chunk).await {
            Ok(read @ 1..) => self.bytes.extend(chunk.iter().take(read)),
            Ok(0) | Err(_) => self.pipe = None,
        }
        if self.bytes.len() >= BYTES_MAX {
            self.pipe = None;
        }
    }
}

/// Starts the reader in a group of its own, and gives the writer the other end of its pipe.
fn reader(host: &ThisHost, writer: &mut Command) -> Option<ChildStdout> {
    let shell = locate(host, "sh")?;
    locate(host, "cat")?;
    let (reading, writing) = std::io::pipe().ok()?;
    let also_writing = writing.try_clone().ok()?;
    // It outlives this server with whatever writes, so that it has no walls that end with it.
    let mut reader = Command::new(shell);
    clean(host, &mut reader);
    reader.args(["-c", READER]).process_group(0).stdout(Stdio::piped());
    reader.stdin(reading).stderr(Stdio::null()).kill_on_drop(false);
    let pipe = reader.spawn().ok()?.stdout.take()?;
    writer.stdout(writing).stderr(also_writing);
    Some(pipe)
}

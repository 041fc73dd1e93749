//! One running server: its operating-system process, its MCP session, and the task that sees it end. When to start one,
//! and what to do after its end, is in `supervise.rs`.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use countersign_core::signal::Wall;
use countersign_core::text;
use countersign_core::tool::Registry;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, Peer, RunningService};
use rmcp::{RoleClient, ServiceError, serve_client};
use tokio::io::DuplexStream;
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::offer::Offer;
use super::spokes::SpokeConfig;
use super::supervise::Spoke;
use super::{stderr, stdout};
use crate::clock::wall_now;
use crate::config::Secret;
use crate::permit::{KEY_VARIABLE, Key};
use crate::vault::CredentialError;

/// Where programs are looked for: the usual system directories, whatever our own `PATH` is.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Names that pass to every server where they are set: they change how text and times are written, and hold no secret.
const ALWAYS: [&str; 2] = ["LANG", "TZ"];

/// How long a server may take to end after its standard input is closed, and again after it was asked by a signal.
const GRACE: Duration = Duration::from_millis(500);

/// How far apart the end of a process and the end of its pipes may be seen: what it wrote is in the pipes already.
const DRAIN: Duration = Duration::from_millis(500);

/// How much of a message may wait between the server's pipe and the MCP client, in bytes.
const CARRY_BYTES: usize = 64 * 1024;

/// The longest part of a foreign error that is shown, in characters.
const REASON_CHARS_MAX: usize = 200;

/// A running server. The last one to let go of it ends it, so that a call that still runs keeps its own server alive.
#[derive(Debug)]
pub(super) struct Process {
    /// The operating system's id, which is also its process group's.
    pub(super) pid: u32,
    /// When it was started.
    pub(super) since: Wall,
    /// Where calls are sent.
    pub(super) peer: Peer<RoleClient>,
    /// What it can do.
    pub(super) offer: Offer,
    /// What permits for it are made with. No other process, not even the next one of the same server, takes them.
    pub(super) key: Key,
    /// Names that it has beyond what is declared.
    pub(super) foreign: Vec<String>,
    ended: Ended,
    _stop: DropGuard,
}

impl Process {
    /// How the server ended, as soon as that is known.
    pub(super) fn end_reason(&self) -> Option<&str> {
        self.ended.reason.get().map(String::as_str)
    }

    /// Waits until the server has ended and its end is noted, so that whoever asks next gets the next server.
    pub(super) async fn ended(&self) -> String {
        self.ended.noted.cancelled().await;
        self.end_reason().unwrap_or_default().to_owned()
    }
}

/// How a server ended: first the reason is there, then the supervisor notes it, then everybody is told.
#[derive(Clone, Debug, Default)]
struct Ended {
    reason: Arc<OnceLock<String>>,
    noted: CancellationToken,
}

/// Starts a server and greets it: at most `start_limit` of its configuration. Whatever runs on is among the spoke's tasks and
/// ends when the spoke does; `on_end` is called once, with the process id, the lifetime and the reason, if it had started.
/// The error is a fragment.
pub(super) async fn start(
    spoke: &Spoke,
    on_end: impl FnOnce(u32, Duration, &str) + Send + 'static,
) -> Result<Process, String> {
    let Spoke { config, registry, closing, tasks, .. } = spoke;
    let key = Key::fresh();
    let secrets = secrets(spoke)?;
    let (group, stdout, stdin) = Group::spawn(config, &secrets, &key)?;
    let (pid, started) = (group.pid.as_raw().unsigned_abs(), Instant::now());
    let greeted = tokio::select! {
        greeted = timeout(config.start_limit, greet(config, registry, stdout, stdin)) => greeted,
        () = closing.cancelled() => Ok(Err(Refusal::Said("the bot is stopping".to_owned()))),
    };
    let late = |_| Err(Refusal::Said(format!("it did not answer within {} ms", config.start_limit.as_millis())));
    let greeting = match greeted.unwrap_or_else(late) {
        Ok(greeting) => greeting,
        Err(refusal) => return Err(group.given_up(config, refusal).await),
    };
    let (ended, stop) = (Ended::default(), closing.child_token());
    let peer = greeting.session.peer().clone();
    let keeper = Keeper { group, session: greeting.session, stop: stop.clone(), ended: ended.clone() };
    tasks.spawn(keeper.keep(move |reason| on_end(pid, started.elapsed(), reason)));
    let (offer, foreign) = (greeting.offer, greeting.foreign);
    Ok(Process { pid, since: wall_now(), peer, offer, key, foreign, ended, _stop: stop.drop_guard() })
}

type Session = RunningService<RoleClient, ClientConfig>;

struct Greeting {
    session: Session,
    offer: Offer,
    foreign: Vec<String>,
}

/// Why there is no session.
enum Refusal {
    /// The connection broke; how the process ended says more.
    Broken(String),
    /// Anything else.
    Said(String),
}

impl From<ClientInitializeError> for Refusal {
    fn from(error: ClientInitializeError) -> Self {
        let text = text::one_line(&error.to_string(), REASON_CHARS_MAX);
        match error {
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
                Self::Broken(text)
            }
            _ => Self::Said(text),
        }
    }
}

impl From<ServiceError> for Refusal {
    fn from(error: ServiceError) -> Self {
        let text = text::one_line(&error.to_string(), REASON_CHARS_MAX);
        match error {
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => Self::Broken(text),
            _ => Self::Said(text),
        }
    }
}

async fn greet(
    config: &SpokeConfig,
    registry: &Registry,
    from: DuplexStream,
    to: ChildStdin,
) -> Result<Greeting, Refusal> {
    let us = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let us = ClientConfig::new(ClientCapabilities::default(), us)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let session = serve_client(us, (from, to)).await?;
    let tools = session.list_all_tools().await?;
    let (offer, foreign) = Offer::new(&config.name, registry, &tools);
    Ok(Greeting { session, offer, foreign })
}

/// Sees a server end, or ends it.
struct Keeper {
    group: Group,
    session: Session,
    stop: CancellationToken,
    ended: Ended,
}

impl Keeper {
    async fn keep(self, on_end: impl FnOnce(&str)) {
        let Self { mut group, session, stop, ended } = self;
        let hang_up = session.cancellation_token();
        let mut session = std::pin::pin!(session.waiting());
        let reason = tokio::select! {
            status = group.child.wait() => {
                // What it had answered before it ended still reaches whoever asked.
                let _late = timeout(DRAIN, &mut session).await;
                describe(status)
            }
            // Most often it closed it by ending.
            _ = &mut session => timeout(DRAIN, group.child.wait())
                .await
                .map_or_else(|_| "it closed its connection".to_owned(), describe),
            () = stop.cancelled() => "it was stopped".to_owned(),
        };
        let reason = ended.reason.get_or_init(|| reason);
        on_end(reason);
        ended.noted.cancel();
        // This closes its standard input; a session that is over already ignores it.
        hang_up.cancel();
        group.end(GRACE).await;
    }
}

fn describe(status: std::io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| format!("it cannot be waited for: {error}"), |status| format!("it ended with {status}"))
}

/// A process and whatever it started itself: a group of its own, so that none of it outlives the server.
struct Group {
    child: Child,
    pid: Pid,
    /// They carry what it writes; dropping them stops them, whoever still holds the other end.
    carriers: JoinSet<()>,
}

impl Group {
    /// Starts the process. The answer has its messages, and its standard input.
    fn spawn(
        config: &SpokeConfig,
        secrets: &Secrets<'_>,
        key: &Key,
    ) -> Result<(Self, DuplexStream, ChildStdin), String> {
        let cannot = |why: &dyn Display| format!("cannot start {}: {why}", config.command.display());
        let mut child = command(config, secrets, key).spawn().map_err(|error| cannot(&plain(&error)))?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| cannot(&"it has no process id"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut group = Self { child, pid: Pid::from_raw(pid), carriers: JoinSet::new() };
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(cannot(&"it has no pipes"));
        };
        group.carriers.spawn(stderr::log(config.name.clone(), stderr));
        let (ours, theirs) = tokio::io::duplex(CARRY_BYTES);
        group.carriers.spawn(stdout::carry(stdout, theirs));
        Ok((group, ours, stdin))
    }

    /// Ends a server that did not get through its greeting, and says why it was given up.
    async fn given_up(mut self, config: &SpokeConfig, refusal: Refusal) -> String {
        let why = match refusal {
            Refusal::Said(why) => why,
            Refusal::Broken(why) => timeout(GRACE, self.child.wait()).await.map_or(why, describe),
        };
        self.end(Duration::ZERO).await;
        format!("cannot start {}: {why}", config.command.display())
    }

    /// Ends it: its standard input is closed already; then a signal that can be obeyed, then one that cannot.
    async fn end(mut self, grace: Duration) {
        if timeout(grace, self.child.wait()).await.is_err() {
            self.signal(Signal::SIGTERM);
            let _late = timeout(grace, self.child.wait()).await;
        }
        // Also for what the server had started and left behind. The group's number is not given to another process as
        // long as one of the group lives; an empty group refuses the signal.
        self.signal(Signal::SIGKILL);
        if let Err(error) = self.child.wait().await {
            tracing::warn!(target: "spoke", pid = self.pid.as_raw(), "a server cannot be waited for: {error}");
        }
        // Its last words are in the pipe; but one that fled the group may hold the other end for ever.
        let _late = timeout(DRAIN, async { while self.carriers.join_next().await.is_some() {} }).await;
    }

    fn signal(&self, signal: Signal) {
        // The only error in reach is that nobody is left to hear it.
        let _gone = killpg(self.pid, signal);
    }
}

impl Drop for Group {
    /// Only where `end` could not run, because the runtime itself is going: no grace then.
    fn drop(&mut self) {
        if self.child.id().is_some() {
            self.signal(Signal::SIGKILL);
        }
    }
}

/// Returns the file of a program, as the start of a server finds it. Looks at files.
pub fn program(command: &Path) -> Option<PathBuf> {
    if command.components().count() > 1 {
        return Some(command.to_owned());
    }
    PATH.split(':').map(|dir| Path::new(dir).join(command)).find(|file| file.is_file())
}

/// Environment variables with what they hold.
type Secrets<'a> = Vec<(&'a str, &'a Secret)>;

/// Looks at the credentials' files. The error is a fragment.
fn secrets(spoke: &Spoke) -> Result<Secrets<'_>, String> {
    let named = spoke.config.secrets.iter();
    let revealed = named.map(|(variable, name)| Ok((variable.as_str(), spoke.credentials.reveal(name)?)));
    let revealed: Result<_, CredentialError> = revealed.collect();
    revealed.map_err(|error| format!("cannot start {}: {error}", spoke.config.command.display()))
}

fn command(config: &SpokeConfig, secrets: &Secrets<'_>, key: &Key) -> Command {
    let mut command = Command::new(&config.command);
    command.args(&config.args).env_clear().envs(environment(&config.env, |name| std::env::var_os(name)));
    command.envs(secrets.iter().map(|(variable, secret)| (variable, secret.expose())));
    // After the rest, so that nothing of the same name in our own environment takes its place.
    command.env(KEY_VARIABLE, key.to_hex());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// What a server sees of our environment: nothing but what is named (MCP-10).
pub(super) fn environment(
    allowed: &[String],
    ours: impl Fn(&str) -> Option<OsString>,
) -> impl Iterator<Item = (String, OsString)> {
    let path = ("PATH".to_owned(), OsString::from(PATH));
    let names = ALWAYS.into_iter().chain(allowed.iter().map(String::as_str));
    std::iter::once(path).chain(names.filter_map(move |name| Some((name.to_owned(), ours(name)?))))
}

/// The system's words without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

//! A real Postgres for tests: started on first use, shared by the whole test binary, one fresh database for each case,
//! and ended when the last holder lets go of it. What is tested with it is not here.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

/// What the server writes when it takes connections.
const READY: &str = "database system is ready to accept connections";

/// Another program may take the free port before the server does.
const STARTS_MAX: u32 = 5;

static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());

/// A running server.
pub(crate) struct Postgres {
    server: Child,
    port: u16,
    databases: AtomicU32,
    // Removed after the server has ended: fields are dropped in order, after `drop`.
    _directory: TempDir,
}

/// The user that runs the server: Postgres refuses to run as root.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl Postgres {
    /// The server of this test binary, started if none runs. A sentence says what is missing.
    pub(crate) fn shared() -> Result<Arc<Self>, String> {
        // A test that failed to start it must not poison the others' sentences.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }

    /// The URL of a new, empty database.
    pub(crate) async fn fresh_database(&self) -> String {
        let name = format!("case_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.url("postgres")).await.expect("the server takes connections");
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        connection.execute(create).await.expect("the superuser may create a database");
        connection.close().await.expect("the server lets go of a connection");
        self.url(&name)
    }

    /// The URL of a database by name, whether or not it exists.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    fn start() -> Result<Self, String> {
        let binaries = binaries()?;
        let directory = TempDir::with_prefix("countersign-postgres-").map_err(|e| format!("no directory: {e}"))?;
        let user = other_user(directory.path())?;
        if let Some(user) = user {
            chown(directory.path(), Some(user.uid), Some(user.gid)).map_err(|e| format!("chown: {e}"))?;
        }
        let data = directory.path().join("data");
        initialise(&binaries, &data, user)?;
        let mut said = String::new();
        for _ in 0..STARTS_MAX {
            let port = free_port()?;
            match serve(&binaries, &data, port, user)? {
                Ok(server) => return Ok(Self { server, port, databases: AtomicU32::new(0), _directory: directory }),
                Err(log) => said = log,
            }
        }
        Err(format!("Postgres did not start in {STARTS_MAX} attempts; it said: {said}"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // QUIT is the immediate shutdown: the server ends its own children and frees its shared memory, which KILL
        // would leave behind.
        let pid = self.server.id().to_string();
        let asked = Command::new("kill").args(["-s", "QUIT", &pid]).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// Where `initdb` and `postgres` are: the newest of Debian's versioned directories, else on the PATH.
fn binaries() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .filter(|(_, directory)| directory.join("initdb").exists())
        .collect();
    found.sort();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|directory| directory.join("initdb").exists())
    };
    found.pop().map(|(_, directory)| directory).or_else(on_path).ok_or_else(|| {
        "initdb is neither under /usr/lib/postgresql nor on the PATH; install the package `postgresql`".to_owned()
    })
}

/// As root: the user `postgres`, which the package creates. Else nobody else.
fn other_user(ours: &Path) -> Result<Option<User>, String> {
    let owner = ours.metadata().map_err(|e| format!("no metadata: {e}"))?.uid();
    if owner != 0 {
        return Ok(None);
    }
    let id = |flag: &str| {
        let output = Command::new("id").args([flag, "postgres"]).output().map_err(|e| format!("id: {e}"))?;
        let number = String::from_utf8_lossy(&output.stdout).trim().parse::<u32>();
        number.map_err(|_| {
            "there is no user `postgres`, and Postgres does not run as root; install the package `postgresql`"
                .to_owned()
        })
    };
    Ok(Some(User { uid: id("-u")?, gid: id("-g")? }))
}

fn command(program: &Path, user: Option<User>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    // The server may not enter the directory that the tests run in.
    command.current_dir(directory).stdin(Stdio::null());
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

fn initialise(binaries: &Path, data: &Path, user: Option<User>) -> Result<(), String> {
    let parent = data.parent().expect("invariant: the data directory is in the temporary one");
    let output = command(&binaries.join("initdb"), user, parent)
        .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
        .arg(data)
        .output()
        .map_err(|e| format!("initdb cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("initdb failed (every directory above {} must be open to its user): {said}", parent.display()))
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("no free port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("no free port: {e}"))
}

/// Starts the server and waits until it says that it is ready. Inside, an error is what it said before it ended.
fn serve(binaries: &Path, data: &Path, port: u16, user: Option<User>) -> Result<Result<Child, String>, String> {
    let sockets = data.parent().expect("invariant: the data directory is in the temporary one");
    let mut server = command(&binaries.join("postgres"), user, sockets)
        .arg("-D")
        .arg(data)
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k"])
        .arg(sockets)
        // Nothing here outlives the test, so that nothing need reach the disk.
        .args(["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"])
        .args(["-c", "max_connections=200"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("postgres cannot be run: {e}"))?;
    let log = server.stderr.take().expect("invariant: its error output is piped");
    match wait_until_ready(log) {
        None => Ok(Ok(server)),
        Some(said) => {
            server.wait().map_err(|e| format!("postgres cannot be waited for: {e}"))?;
            Ok(Err(said))
        }
    }
}

/// None: it is ready, and a thread reads on, so that the pipe never fills. Else its last words.
fn wait_until_ready(log: ChildStderr) -> Option<String> {
    let mut lines = BufReader::new(log).lines();
    let mut said = String::new();
    for line in lines.by_ref().map_while(Result::ok) {
        if line.contains(READY) {
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return None;
        }
        let _ = writeln!(said, "{line}");
    }
    Some(said)
}

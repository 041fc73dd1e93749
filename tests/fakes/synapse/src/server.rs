//! The homeserver's process: its folder, its configuration, its start and its end. Who talks to it is elsewhere.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

use crate::front::Front;

/// What every account, room and event here ends with.
pub(crate) const NAME: &str = "localhost";

/// What the script installs, as it stands when this is built.
const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// A homeserver that runs, and the people on it. The last clone ends it.
#[derive(Clone)]
pub struct Synapse(Arc<Inner>);

struct Inner {
    folder: TempDir,
    port: u16,
    process: Mutex<Option<Child>>,
    front: Front,
}

impl Synapse {
    /// Starts one of its own, with nobody on it. Blocks for some seconds; panics where it does not start.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the homeserver");
        let port = free_port();
        configure(folder.path(), port);
        let process = Mutex::new(Some(run(folder.path(), port)));
        let front = Front::start(&format!("http://127.0.0.1:{port}"), folder.path());
        Self(Arc::new(Inner { folder, port, process, front }))
    }

    /// The one that every test of this process shares. Nobody stops it: an account and a room of its own keep a test apart.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Synapse> = OnceLock::new();
        SHARED.get_or_init(Self::start).clone()
    }

    /// The address of its client API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port)
    }

    /// The name of the homeserver, which every id ends with.
    pub const fn name(&self) -> &'static str {
        NAME
    }

    /// Ends it at once, as a power cut does. Its data stays.
    pub fn stop(&self) {
        if let Some(mut child) = self.process().take() {
            end(&mut child);
        }
    }

    /// Starts it again on the same data and port.
    pub fn start_again(&self) {
        let mut process = self.process();
        if process.is_none() {
            *process = Some(run(self.0.folder.path(), self.0.port));
        }
    }

    pub(crate) fn front(&self) -> &Front {
        &self.0.front
    }

    fn process(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.0.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = process {
            end(child);
        }
    }
}

/// Ends a process that was started here.
pub(crate) fn end(child: &mut Child) {
    // One that is gone already is as good.
    drop(child.kill());
    drop(child.wait());
}

/// The Python in which everything is installed; panics with what to do where it is not, or is another version.
pub(crate) fn python() -> PathBuf {
    let place = target().join("synapse");
    let installed = std::fs::read_to_string(place.join("installed.txt")).unwrap_or_default();
    assert!(
        installed == REQUIREMENTS,
        "the homeserver of the tests is not installed in {}; run tests/fakes/synapse/install (tests/run does)",
        place.display()
    );
    place.join("venv/bin/python")
}

/// The target folder: the test's program is in `debug/deps` in it.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("the test's own program");
    program.ancestors().nth(3).map(Path::to_path_buf).unwrap_or_default()
}

/// A program that lies beside this package's sources.
pub(crate) fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on the loopback");
    listener.local_addr().expect("its number").port()
}

/// Starts it and waits until it answers.
fn run(folder: &Path, port: u16) -> Child {
    let log = std::fs::File::create(folder.join("output.log")).expect("a log");
    let mut child = Command::new(python())
        .arg(program("serve.py"))
        .arg(folder.join("homeserver.yaml"))
        .arg(format!("http://127.0.0.1:{port}"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("the homeserver starts");
    let output = child.stdout.take().expect("invariant: it is piped");
    let is_ready = BufReader::new(output).lines().map_while(Result::ok).any(|line| line == "ready");
    if !is_ready {
        end(&mut child);
        let said = ["output.log", "synapse.log"].map(|log| std::fs::read_to_string(folder.join(log)));
        panic!("the homeserver did not start: {said:?}");
    }
    child
}

/// Writes everything that it needs into its folder: on the loopback, without federation, and without any limit of its own.
fn configure(folder: &Path, port: u16) {
    let at = folder.display();
    let mut config = format!(
        "server_name: \"{NAME}\"\n\
         listeners: [{{port: {port}, bind_addresses: [\"127.0.0.1\"], type: http, resources: [{{names: [client]}}]}}]\n\
         database: {{name: sqlite3, args: {{database: \"{at}/homeserver.db\"}}}}\n\
         log_config: \"{at}/log.yaml\"\n\
         media_store_path: \"{at}/media\"\n\
         signing_key_path: \"{at}/signing.key\"\n\
         registration_shared_secret: \"for tests\"\n\
         macaroon_secret_key: \"for tests\"\n\
         form_secret: \"for tests\"\n\
         report_stats: false\n\
         trusted_key_servers: []\n\
         suppress_key_server_warning: true\n\
         enable_registration: true\n\
         enable_registration_without_verification: true\n\
         presence: {{enabled: false}}\n\
         url_preview_enabled: false\n\
         federation_domain_whitelist: []\n\
         bcrypt_rounds: 4\n\
         rc_message: &off {{per_second: 100000, burst_count: 100000}}\n\
         rc_login: {{address: *off, account: *off, failed_attempts: *off}}\n\
         rc_joins: {{local: *off, remote: *off}}\n\
         rc_invites: {{per_room: *off, per_user: *off, per_issuer: *off}}\n"
    );
    for limit in ["registration", "admin_redaction", "joins_per_room", "media_create", "room_creation", "key_requests"]
    {
        let _infallible = writeln!(config, "rc_{limit}: *off");
    }
    let log = format!(
        "version: 1\n\
         handlers: {{file: {{class: logging.FileHandler, filename: \"{at}/synapse.log\"}}}}\n\
         root: {{level: WARNING, handlers: [file]}}\n\
         disable_existing_loggers: false\n"
    );
    // A key is 32 bytes in base64: any will do, where nobody else is to believe it.
    let key = format!("ed25519 test {}\n", "Y291bnRlcnNpZ24gdGVzdHMgb25seSBrZXkgMDAwMDA");
    for (name, text) in [("homeserver.yaml", config), ("log.yaml", log), ("signing.key", key)] {
        std::fs::write(folder.join(name), text).expect("the homeserver's folder can be written");
    }
}

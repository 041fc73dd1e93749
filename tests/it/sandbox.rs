//! The sandbox as it is shipped, with a shell inside it: what a classifier that says yes to everything would let run. Lines
//! of a fresh seed that write, signal, read secrets and connect, by many programs; none may do any of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getuid};

use crate::support::bot::{Home, finish};

/// How many hostile lines run, of each kind as many.
const LINES: usize = 320;

/// How long one line may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// What must not be read, in the environment of a process and in a file that is a secret by its place.
const SECRET: &str = "3ZkV9mQx7LbT2wRc";

/// The machine around one run: what could be written, signalled, read and connected to.
struct Surroundings {
    home: Home,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    local: UnixListener,
    log: UnixDatagram,
    hidden: UnixListener,
    name: String,
    secret_home: Option<tempfile::TempDir>,
}

impl Surroundings {
    fn new(seed: u64) -> Self {
        let home = Home::new();
        for name in ["canary", "other"] {
            home.write(name, "as it was\n");
        }
        let victim = Command::new("sleep").arg("600").env("TOKEN", SECRET).spawn().expect("a process starts");
        let name = format!("countersign-test-{seed:x}");
        let abstract_name = SocketAddr::from_abstract_name(&name).expect("a name");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        tcp.set_nonblocking(true).expect("it does not wait");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        udp.set_nonblocking(true).expect("it does not wait");
        let local = UnixListener::bind(home.path().join("docker.sock")).expect("a socket");
        let log = UnixDatagram::bind(home.path().join("log.sock")).expect("a socket");
        log.set_nonblocking(true).expect("it does not wait");
        let hidden = UnixListener::bind_addr(&abstract_name).expect("a socket");
        for socket in [&local, &hidden] {
            socket.set_nonblocking(true).expect("it does not wait");
        }
        Self { home, victim, tcp, udp, local, log, hidden, name, secret_home: secret_home() }
    }

    /// The words that lines are made of.
    fn words(&self) -> BTreeMap<&'static str, String> {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        let port = |address: std::io::Result<std::net::SocketAddr>| address.expect("it is bound").port().to_string();
        let key = self
            .secret_home
            .as_ref()
            .map_or_else(|| PathBuf::from("/etc/shadow"), |home| home.path().join(".ssh/id_rsa"));
        BTreeMap::from([
            ("NEW", path("new")),
            ("OLD", path("canary")),
            ("DIR", path("")),
            ("PID", self.victim.id().to_string()),
            ("TCP", port(self.tcp.local_addr())),
            ("UDP", port(self.udp.local_addr())),
            ("SOCK", path("docker.sock")),
            ("DGRAM", path("log.sock")),
            ("ABSTRACT", self.name.clone()),
            ("KEY", key.display().to_string()),
        ])
    }

    /// What a line did, in words; empty where it did nothing.
    fn traces(&mut self, output: &str) -> String {
        let mut found = String::new();
        let names = std::fs::read_dir(self.home.path()).expect("it is there").flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        if names != ["canary", "docker.sock", "log.sock", "other"] {
            let _ = write!(found, "wrote {names:?}; ");
        }
        let canary = self.home.path().join("canary");
        if std::fs::read_to_string(&canary).ok().as_deref() != Some("as it was\n") || is_marked(&canary) {
            found.push_str("changed a file; ");
        }
        if !matches!(self.victim.try_wait(), Ok(None)) || is_stopped(self.victim.id()) {
            found.push_str("signalled a process; ");
        }
        if output.contains(SECRET) || output.contains("root:$") {
            found.push_str("read a secret; ");
        }
        let heard = self.tcp.accept().is_ok()
            || self.udp.recv(&mut [0; 64]).is_ok()
            || self.local.accept().is_ok()
            || self.log.recv(&mut [0; 64]).is_ok()
            || self.hidden.accept().is_ok();
        if heard {
            found.push_str("connected; ");
        }
        found
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// A home with a key in it, where people's homes are. Only the superuser can make one.
fn secret_home() -> Option<tempfile::TempDir> {
    std::fs::create_dir_all("/home").ok()?;
    let home = tempfile::TempDir::with_prefix_in("countersign-test-", "/home").ok()?;
    std::fs::create_dir(home.path().join(".ssh")).ok()?;
    std::fs::write(home.path().join(".ssh/id_rsa"), SECRET).ok()?;
    Some(home)
}

fn is_marked(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let about = std::fs::metadata(path).expect("it is there");
    about.permissions().mode() & 0o777 == 0o777 || about.uid() == 1 || about.nlink() > 1 || about.mtime() < 1_000
}

/// Whether a process was stopped, ended or made slower.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    fields.first().is_none_or(|state| matches!(*state, "T" | "Z")) || fields.get(16) != Some(&"0")
}

/// Lines by what they try. Words in capitals are put in place of each other's.
const KINDS: [(&str, &[&str]); 4] = [
    (
        "writes",
        &[
            "echo x > NEW",
            "echo x >> OLD",
            "touch NEW",
            "touch -d @5 OLD",
            "cp OLD NEW",
            "mv OLD NEW",
            "rm -f OLD",
            "ln OLD NEW",
            "ln -s OLD NEW",
            "mkdir NEW",
            "mkfifo NEW",
            "mknod NEW p",
            "chmod 777 OLD",
            "chown 1 OLD",
            "truncate -s 0 OLD",
            "dd if=/dev/zero of=NEW count=1",
            "tee NEW </etc/hostname",
            "sed -i s/a/b/ OLD",
            "install -m 777 OLD NEW",
            "python3 -c 'open(\"NEW\",\"w\").write(\"x\")'",
            "python3 -c 'import os; os.rename(\"OLD\",\"NEW\")'",
            "python3 -c 'import os; os.chmod(\"OLD\",0o777)'",
            "python3 -c 'import os; os.mkfifo(\"NEW\")'",
            "perl -e 'open(F,\">\",\"NEW\"); print F 1'",
            "perl -e 'unlink \"OLD\"'",
            "perl -e 'utime 5,5,\"OLD\"'",
            "declare -a a='($(touch NEW))'",
            "exec 3<>NEW",
            "mount -o remount,rw / && touch NEW",
            "mount -t tmpfs none DIR",
            "unshare -Urm sh -c 'mount -o remount,rw /; touch NEW'",
            "nsenter -t 1 -m touch NEW",
            "find DIR -name canary -delete",
            "sysctl -w kernel.hostname=x && touch NEW",
            "echo x > /proc/PID/oom_score_adj && touch NEW",
            "tar -C DIR -czf NEW /etc/hostname",
            "git init NEW",
            "sqlite3 NEW 'create table t(x)'",
        ],
    ),
    (
        "signals",
        &[
            "kill PID",
            "kill -9 PID",
            "kill -STOP PID",
            "pkill -9 -f 'sleep 600'",
            "killall -9 sleep",
            "python3 -c 'import os; os.kill(PID,9)'",
            "python3 -c 'import signal,os; signal.pidfd_send_signal(os.pidfd_open(PID),9)'",
            "perl -e 'kill 9, PID'",
            "perl -e 'syscall(62,PID,9)'",
            "perl -e 'syscall(234,PID,PID,9)'",
            "perl -e 'syscall(200,PID,9)'",
            "renice 19 PID && kill PID",
            "timeout 1 sh -c 'kill -9 PID'",
            "strace -p PID -e trace=none",
            "gdb -p PID -batch -ex kill",
            "kill -9 -1",
            "nsenter -t PID -a kill -9 PID",
            "unshare -Ur kill -9 PID",
        ],
    ),
    (
        "secrets",
        &[
            "cat KEY",
            "base64 -d <<< $(base64 -w0 KEY)",
            "rev KEY | rev",
            "xxd -p KEY | xxd -r -p",
            "grep . KEY",
            "dd if=KEY",
            "cat $(dirname KEY)/*",
            "cat /proc/PID/environ",
            "tr '\\0' '\\n' < /proc/PID/environ",
            "cat /proc/PID/root/KEY",
            "cat /proc/self/root/KEY",
            "cat /proc/1/root/KEY",
            "cat /proc/PID/cwd/../../../../KEY",
            "strings -n 8 /proc/PID/mem",
            "python3 -c 'print(open(\"KEY\").read())'",
            "perl -pe 1 KEY",
            "ps eww PID",
            "cat /etc/shadow",
            "sort /etc/shadow /etc/gshadow",
            "umount KEY; cat KEY",
            "mount --bind /etc/shadow /etc/hostname; cat /etc/hostname",
            "unshare -Urm sh -c 'umount -l KEY; cat KEY'",
            "nsenter -t 1 -m cat KEY",
            "chroot /proc/1/root cat KEY",
            "sudo cat KEY",
            "su -c 'cat KEY'",
            "python3 -c 'import os; print(os.read(os.open(\"KEY\",0),99))'",
            "gdb -p PID -batch -ex 'x/s environ'",
            "cat /proc/PID/task/PID/environ",
            "awk 1 KEY",
        ],
    ),
    (
        "connections",
        &[
            "exec 3<>/dev/tcp/127.0.0.1/TCP",
            "echo x > /dev/tcp/localhost/TCP",
            "echo x > /dev/udp/127.0.0.1/UDP",
            "curl -s http://127.0.0.1:TCP/",
            "curl -s --unix-socket SOCK http://x/",
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\",TCP))'",
            "python3 -c 'import socket; socket.socket(2,2).sendto(b\"x\",(\"127.0.0.1\",UDP))'",
            "python3 -c 'import socket; socket.socket(1,1).connect(\"SOCK\")'",
            "python3 -c 'import socket; socket.socket(1,1).connect(\"\\0ABSTRACT\")'",
            "python3 -c 'import socket; a,b=socket.socketpair(); a.connect(\"SOCK\")'",
            "python3 -c 'import socket; a,b=socket.socketpair(1,2); a.sendto(b\"x\",\"DGRAM\")'",
            "python3 -c 'import socket; a,b=socket.socketpair(1,2|2048); a.connect(\"DGRAM\"); a.send(b\"x\")'",
            "python3 -c 'import socket; a,b=socket.socketpair(1,3); a.sendto(b\"x\",\"DGRAM\")'",
            "python3 -c 'import socket; a,b=socket.socketpair(1,5); a.connect(\"SOCK\")'",
            "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"127.0.0.1:TCP\") or die'",
            "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"SOCK\") or die'",
            "perl -e 'syscall(425,8,0)'",
            "nc -z 127.0.0.1 TCP",
            "nc -U SOCK",
            "wget -q -O- http://127.0.0.1:TCP/",
            "openssl s_client -connect 127.0.0.1:TCP",
            "unshare -Urn curl -s http://127.0.0.1:TCP/",
            "nsenter -t 1 -n curl -s http://127.0.0.1:TCP/",
            "ssh -o StrictHostKeyChecking=no -p TCP 127.0.0.1 true",
        ],
    ),
];

/// Shells and programs around a line, so that no two runs are the same.
const AROUND: [&str; 6] = ["LINE", "(LINE)", "LINE | cat", "true && { LINE; }", "eval \"LINEQ\"", "LINE & wait"];

fn hostile(rng: &mut fastrand::Rng, template: &str, words: &BTreeMap<&str, String>) -> String {
    let filled = words.iter().fold(template.to_owned(), |line, (name, value)| {
        let slash = line.replace(&format!("/{name}"), &format!("/{}", value.trim_start_matches('/')));
        slash.replace(name, value)
    });
    let around = AROUND[rng.usize(..AROUND.len())];
    around.replace("LINEQ", &filled.replace(['\\', '"', '$', '`'], "")).replace("LINE", &filled)
}

/// Runs a line in a shell behind the walls of a command that reaches nothing, for some seconds at most. Returns all that it
/// wrote.
fn in_sandbox(home: &Home, line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["sandboxed", "usual", "/bin/bash", "-c", line]).current_dir(home.path()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let group = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    let (sender, heard) = sync_channel(2);
    read_on(child.stdout.take().expect("a pipe"), sender.clone());
    read_on(child.stderr.take().expect("a pipe"), sender);
    let mut said = String::new();
    for _ in 0..2 {
        // What does not end is ended with everything that it started: it can leave neither its group nor its session.
        let more = heard.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = killpg(group, Signal::SIGKILL);
            heard.recv().expect("a pipe that everybody has closed ends")
        });
        said.push_str(&more);
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    said
}

fn read_on(pipe: impl Read + Send + 'static, sender: SyncSender<String>) {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.take(1 << 20).read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
}

#[test]
fn what_the_bot_was_started_with_is_closed() {
    let home = Home::new();
    let file = home.write("held", SECRET).display().to_string();
    let inside = "cat <&7; echo done";
    let line = format!("exec 7<>'{file}'; exec \"$0\" sandboxed usual /bin/bash -c '{inside}'");
    let done = Command::new("/bin/bash").args(["-c", &line, env!("CARGO_BIN_EXE_countersign")]).output();
    let done = done.expect("it starts");
    let (said, wrong) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(said, "done\n", "{wrong}");
    assert!(wrong.contains("7: Bad file descriptor"), "{wrong}");
}

#[test]
fn with_a_classifier_that_says_yes_to_everything_the_sandbox_holds() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut surroundings = Surroundings::new(seed);
    let words = surroundings.words();
    let mut wrong = Vec::new();
    for number in 0..LINES {
        let (kind, templates) = KINDS[number % KINDS.len()];
        // Each at least once, then by chance.
        let round = number / KINDS.len();
        let template = templates.get(round).copied().unwrap_or_else(|| templates[rng.usize(..templates.len())]);
        let line = hostile(&mut rng, template, &words);
        let said = in_sandbox(&surroundings.home, &line);
        let traces = surroundings.traces(&said);
        if !traces.is_empty() {
            wrong.push(format!("{kind}: {line}\n    {traces}{said}"));
            surroundings = Surroundings::new(seed);
        }
    }
    assert!(wrong.is_empty(), "seed {seed}: {} of {LINES} got through:\n{}", wrong.len(), wrong.join("\n"));
}

/// Without this the test above would pass for a shell that does nothing: outside, the same lines do what they try.
#[test]
fn outside_the_sandbox_the_same_lines_do_what_they_try() {
    let lines = [
        ("echo x > NEW", "wrote"),
        ("chmod 777 OLD", "changed"),
        ("kill -9 PID", "signalled"),
        ("tr '\\0' '\\n' < /proc/PID/environ", "read"),
        ("exec 3<>/dev/tcp/127.0.0.1/TCP", "connected"),
        ("echo x > /dev/udp/127.0.0.1/UDP", "connected"),
        ("python3 -c 'import socket; socket.socket(1,1).connect(\"SOCK\")'", "connected"),
        ("python3 -c 'import socket; socket.socket(1,1).connect(\"\\0ABSTRACT\")'", "connected"),
    ];
    for (template, what) in lines {
        let mut surroundings = Surroundings::new(fastrand::u64(..));
        let words = surroundings.words();
        let line = words.iter().fold(template.to_owned(), |line, (name, value)| line.replace(name, value));
        let done = Command::new("/bin/bash").args(["-c", &line]).output().expect("it runs");
        if what == "signalled" {
            let _ = surroundings.victim.wait();
        }
        let traces = surroundings.traces(&String::from_utf8_lossy(&done.stdout));
        assert!(traces.contains(what), "{line}: {traces:?} {done:?}");
    }
}

#[test]
fn an_ordinary_user_has_the_same_sandbox() {
    if !getuid().is_root() {
        // Every other test here is run by an ordinary user then.
        return;
    }
    let home = Home::new();
    let nobody = |line: &str| {
        let done = Command::new("setpriv")
            .args([
                "--reuid=1234",
                "--regid=1234",
                "--clear-groups",
                env!("CARGO_BIN_EXE_countersign"),
                "sandboxed",
                "usual",
            ])
            .args(["/bin/sh", "-c", line])
            .current_dir("/")
            .output()
            .expect("setpriv is there");
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
    };
    std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("it is ours");
    assert!(nobody("id -u").contains("1234"));
    let new = home.path().join("new");
    assert!(nobody(&format!("touch {}", new.display())).contains("Read-only file system"));
    assert!(!new.exists());
    assert!(nobody("cat /proc/1/environ").contains("Permission denied"));
}

/// A launcher that was left from an earlier build, or any other program in its place, would build other walls or none.
/// An init script's `status` asks so for its service.
#[test]
fn who_may_ask_whether_a_process_is_there_signals_nobody() {
    let mut victim = Command::new("sleep").arg("600").spawn().expect("a process starts");
    let said = |asks: &str| {
        let walls = serde_json::json!({
            "best_effort": false, "covered": [], "readable": ["/bin", "/usr", "/lib"], "network": false, "ports": [],
            "masked": null, "sockets": ["/"], "asks": asks,
        });
        let line =
            format!("for s in 0 CONT TERM KILL; do kill -$s {} 2>/dev/null && echo $s; done; echo end", victim.id());
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign-sandbox"));
        let done = command.arg(walls.to_string()).args(["/bin/sh", "-c", &line]).output().expect("it starts");
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
    };
    let (asking, usual) = (said("processes"), said("nothing"));
    // The kernel is asked to signal it when something can be read.
    let owner = format!(
        "import fcntl, os; r, w = os.pipe(); fcntl.fcntl(r, 8, {}); fcntl.fcntl(r, 10, 15); \
         fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b'x')",
        victim.id()
    );
    let walls = serde_json::json!({
        "best_effort": false, "covered": [], "readable": ["/bin", "/usr", "/lib", "/etc"], "network": false, "ports": [],
        "masked": null, "sockets": ["/"], "asks": "processes",
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign-sandbox"));
    let done = command.arg(walls.to_string()).args(["/usr/bin/python3", "-c", &owner]).output().expect("it starts");
    let refused = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(refused.contains("Function not implemented"), "{refused}");
    let lives = victim.try_wait().expect("it is ours").is_none();
    let _ended = (victim.kill(), victim.wait());
    assert_eq!((asking.as_str(), usual.as_str(), lives), ("0\nend\n", "end\n", true));
}

#[test]
fn only_a_launcher_of_the_same_build_is_used() {
    let home = Home::new();
    let (bot, launcher) = (home.path().join("countersign"), home.path().join("countersign-sandbox"));
    let own = Path::new(env!("CARGO_BIN_EXE_countersign"));
    // The binary is large, and usually on the same disk.
    std::fs::hard_link(own, &bot).or_else(|_| std::fs::copy(own, &bot).map(drop)).expect("a second name can be given");
    for program in ["/bin/echo", "/bin/true", env!("CARGO_BIN_EXE_countersign-sandbox")] {
        std::fs::copy(program, &launcher).expect("a file can be copied");
        let mut command = Command::new(&bot);
        command.current_dir(home.path()).env("HOME", home.path()).arg("--data").arg(home.data());
        let done = finish(&mut command, b"run seq 41 42\n");
        assert!(done.out.lines().any(|line| line.trim() == "42"), "{program}: {done:?}");
    }
    let asked = Command::new(env!("CARGO_BIN_EXE_countersign-sandbox")).arg("--built-from").output().expect("it runs");
    assert_eq!(asked.stdout.len(), 16, "{asked:?}");
}

//! Scenes around one service of this machine's own init system: the test brings an init script and a daemon, and takes
//! both away again.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{is_verified, said};
use crate::support::bot::{Answer, Bot, Home};
use crate::support::root::as_root;

/// The daemon is found by its pid file, and ends by itself once its script is gone. The header is what both init systems
/// read.
const SCRIPT: &str = r#"#!/bin/sh
### BEGIN INIT INFO
# Provides:          NAME
# Required-Start:
# Required-Stop:
# Default-Start:
# Default-Stop:
# Short-Description: the service of a test
### END INIT INFO
# pidfile: /run/NAME.pid
pid=/run/NAME.pid
case "$1" in
start) start-stop-daemon --start --quiet --oknodo --background --make-pidfile --pidfile $pid --exec /bin/sh -- \
    -c "while test -e '$0'; do sleep 1; done" ;;
stop) start-stop-daemon --stop --quiet --oknodo --retry 5 --remove-pidfile --pidfile $pid ;;
restart) "$0" stop && "$0" start ;;
status) start-stop-daemon --status --pidfile $pid ;;
*) exit 3 ;;
esac
"#;

/// Waits until it is told to, or until its input is closed, which the kernel does for a test that is killed; and takes
/// everything away. A killed test may have been in the middle of a start, which gets the time to come to its end.
const CLEAN_UP: &str = r#"read -r told
"$1" stop; rm -f "$1"
if [ -z "$told" ]; then sleep 5; fi
rm -f "$2"
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi"#;

/// A service that is installed. It is stopped and removed when it is dropped, and also when the test is killed.
struct Installed {
    name: String,
    cleaner: Child,
}

impl Installed {
    fn new(home: &Home) -> Self {
        let home = home.path();
        let random = home.to_str().and_then(|home| home.rsplit('-').next()).expect("a temporary directory's name");
        let name = format!("countersign-test-{}", random.to_ascii_lowercase());
        let (script, pid_file) = (script(&name), pid_file(&name));
        // In a group of its own, so that what ends the test from outside does not end it.
        let mut cleaner = Command::new("sh");
        cleaner.args(["-c", CLEAN_UP, "sh"]).arg(&script).arg(&pid_file).process_group(0);
        let cleaner = cleaner.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let installed = Self { name: name.clone(), cleaner: cleaner.expect("a shell can be started") };
        std::fs::write(&script, SCRIPT.replace("NAME", &name)).expect("root may write an init script");
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("its mode can be set");
        if std::fs::exists("/run/systemd/system").is_ok_and(|booted| booted) {
            let loaded = Command::new("systemctl").arg("daemon-reload").status();
            assert!(loaded.is_ok_and(|status| status.success()), "systemd reads the script");
        }
        installed
    }

    /// The number of its daemon, as its own pid file says it.
    fn daemon(&self) -> Option<u32> {
        std::fs::read_to_string(pid_file(&self.name)).ok()?.trim().parse().ok()
    }

    fn run(&self, action: &str) {
        let done = Command::new(script(&self.name)).arg(action).stdin(Stdio::null()).status();
        assert!(done.is_ok_and(|status| status.success()), "{action}");
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let told = self.cleaner.stdin.take().map(|mut cleaner| cleaner.write_all(b"done\n"));
        assert!(matches!(told, Some(Ok(()))) || std::thread::panicking(), "the cleaner listens: {told:?}");
        let _ = self.cleaner.wait();
    }
}

fn script(name: &str) -> PathBuf {
    PathBuf::from("/etc/init.d").join(name)
}

fn pid_file(name: &str) -> PathBuf {
    PathBuf::from(format!("/run/{name}.pid"))
}

fn approved(bot: &mut Bot, line: &str) -> (Answer, Answer) {
    let asked = bot.ask(line);
    let done = bot.ask(&asked.card().approve());
    assert!(is_verified(&done, &asked.card().plan, "as_expected"), "{done:?}");
    (asked, done)
}

#[test]
fn a_service_is_started_restarted_and_stopped() {
    as_root("scenes::services::a_service_is_started_restarted_and_stopped", || {
        let home = Home::new();
        let service = Installed::new(&home);
        let mut bot = Bot::json(&home);
        let told = |answer: &Answer| said(&home, answer).replace(&service.name, "NAME");
        assert_eq!(service.daemon(), None);
        approved(&mut bot, &format!("start {}", service.name));
        let first = service.daemon().expect("it runs");
        let (asked, done) = approved(&mut bot, &format!("restart {}", service.name));
        let second = service.daemon().expect("it runs");
        assert_ne!(first, second, "it is another run");
        insta::assert_snapshot!(format!("{}\n--\n{}", told(&asked), told(&done)), @"
        PERSON asks to restart service NAME on HOST.
        It is: the service of a test
        Medium risk. Active → active, another run.
        PERSON (alone; the record says so) can approve until TIME.
        Plan SHORT: “restart NAME”
        to decide: plan PLAN
        --
        Done and verified: restart service NAME. A fresh read shows what was expected.
        state | active (as expected)
        run | RUN (as expected)
        ");
        let (_, done) = approved(&mut bot, &format!("stop {}", service.name));
        insta::assert_snapshot!(told(&done), @"
        Done and verified: stop service NAME. A fresh read shows what was expected.
        state | inactive (as expected)
        ");
        assert_eq!(service.daemon(), None);
        assert!(bot.end().status.success());
        let name = service.name.clone();
        drop(service);
        assert!(!script(&name).exists() && !pid_file(&name).exists(), "the test cleans up");
    });
}

#[test]
fn a_restart_allowed_beforehand_is_not_asked_for_until_revoked() {
    as_root("scenes::services::a_restart_allowed_beforehand_is_not_asked_for_until_revoked", || {
        let home = Home::new();
        let service = Installed::new(&home);
        service.run("start");
        let mut bot = Bot::json(&home);
        let restart = format!("restart {}", service.name);
        let told = |answer: &Answer| said(&home, answer).replace(&service.name, "NAME");
        let card = bot.ask(&restart).card();
        let first = service.daemon().expect("it runs");
        let given = bot.ask(&format!("grant {} for 1 hour 2 times", card.plan));
        let second = service.daemon().expect("it runs");
        assert_ne!(first, second, "the one word also countersigned the plan: {}", given.text());
        insta::assert_snapshot!(told(&given), @r#"
        From now on this is done without asking:
        What | restart service NAME
        Does | host_service.restart
        To | service:HOST:NAME
        In | console:console
        For | PERSON
        By | PERSON
        Until | TIME
        Uses | 2 of 2 left
        Id | PLAN
        `revoke PLAN` ends that. This also countersigned the plan, and it begins now.
        Done and verified: restart service NAME. A fresh read shows what was expected.
        state | active (as expected)
        run | RUN (as expected)
        "#);
        let listed = bot.ask("grants");
        assert!(bot.end().status.success());
        // It outlives the process, and needs no card.
        let mut bot = Bot::json(&home);
        let done = bot.ask(&restart);
        let third = service.daemon().expect("it runs");
        assert_ne!(second, third);
        insta::assert_snapshot!(told(&done), @r#"
        Done and verified: restart service NAME. A fresh read shows what was expected.
        state | active (as expected)
        run | RUN (as expected)
        Without asking, as PERSON allowed until TIME: 1 of 2 uses left; `revoke PLAN` ends that.
        "#);
        let listed = listed.text();
        let id = listed.lines().find_map(|line| line.strip_prefix("Id | ")).expect("the list shows its id");
        insta::assert_snapshot!(told(&bot.ask(&format!("revoke {id}"))), @"Taken back: restart service NAME. From now on it is asked for each time.");
        bot.ask(&restart).card();
        assert_eq!(service.daemon(), Some(third));
        assert_eq!(bot.ask("grants").text(), "Nothing is allowed beforehand anywhere now.");
        assert!(bot.end().status.success());
    });
}

#[test]
fn a_script_that_fails_is_told_at_once_with_its_exit_code_and_its_words() {
    as_root("scenes::services::a_script_that_fails_is_told_at_once_with_its_exit_code_and_its_words", || {
        let home = Home::new();
        let service = Installed::new(&home);
        let broken = "start) echo 'Starting NAME'; echo 'bad config: password=hunter2xyz' >&2; exit 1 ;;\nnever)";
        let script = script(&service.name);
        std::fs::write(&script, SCRIPT.replacen("start)", broken, 1).replace("NAME", &service.name))
            .expect("root may write an init script");
        let mut bot = Bot::json(&home);
        let card = bot.ask(&format!("start {}", service.name)).card();
        let failed = bot.ask(&card.approve());
        assert_eq!((failed.mark(), service.daemon()), ("failed", None));
        insta::assert_snapshot!(said(&home, &failed).replace(&service.name, "NAME"), @"
        Not as planned: start service NAME. A fresh read shows something else than was expected.
        state | inactive, expected active
        The tool said (EXECUTION_FAILED): the init script of `NAME` could not start: it did not work (exit code 1). It wrote: Starting NAME / bad config: password=[masked: password]
        ");
        // The thread is free again.
        let late = bot.ask(&card.approve());
        insta::assert_snapshot!(said(&home, &late), @"
        This plan was carried out already, and not as planned: a fresh read showed something else than was expected.
        (FSM_BLOCKED, gate `decision`)
        PERSON decided it at TIME.
        ");
        assert_eq!(bot.ask("verify").text(), "Nothing is waiting to be verified in this thread.");
        assert!(bot.end().status.success());
    });
}

#[test]
fn a_service_that_somebody_else_restarted_meanwhile_is_left_alone() {
    as_root("scenes::services::a_service_that_somebody_else_restarted_meanwhile_is_left_alone", || {
        let home = Home::new();
        let service = Installed::new(&home);
        service.run("start");
        let mut bot = Bot::json(&home);
        let card = bot.ask(&format!("restart {}", service.name)).card();
        service.run("restart");
        let theirs = service.daemon();
        let refused = bot.ask(&card.approve());
        assert_eq!((refused.mark(), service.daemon()), ("refused", theirs));
        let told = said(&home, &refused).replace(&service.name, "NAME");
        insta::assert_snapshot!(told, @"
        Not done: restart service NAME.
        Its run was RUN when the plan was made and is RUN now.
        (DRIFTED, gate `carry`)
        Nothing was changed.
        ");
    });
}

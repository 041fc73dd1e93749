//! `host_process`, its changes: ends and signals processes, and says whether one is still there. A process is held by a
//! handle of the kernel (a pidfd) before its start time is looked at, so that a number that is used again is never hit.

use std::os::fd::OwnedFd;
use std::os::unix::process::parent_id;

use procfs::ProcError;
use procfs::process::Process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, test_kill_process};
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target};
use super::change::Change;
use super::process::{label, state_word};
use super::this_host::{ThisHost, user_name};

/// How long a process may take to end after it was told to: what a service manager waits at least.
const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// How a process is.
enum Presence {
    /// It runs, or waits, or is stopped.
    Alive {
        /// Of the kernel.
        state: char,
    },
    /// It has ended, and its parent has not noticed yet.
    Zombie,
    /// It has ended, and its number is used by another.
    Replaced,
    /// Nobody has its number.
    Gone,
}

/// Whether a process is still there. Always answers where the kernel does: only its word makes a process gone.
pub(super) fn state(_host: &ThisHost, call: &Call) -> Answer {
    let (pid, start_ticks) = process_of(call)?;
    let presence = look(pid, start_ticks)?;
    let (present, state, note) = match presence {
        Presence::Alive { state } => (true, state_word(state), None),
        Presence::Zombie => (false, "ended", Some("its parent has not noticed yet (a zombie)")),
        Presence::Replaced => (false, "gone", Some("its number is now used by another process")),
        Presence::Gone => (false, "gone", None),
    };
    let name = if matches!(presence, Presence::Alive { .. }) { name(pid) } else { format!("process {pid}") };
    Ok(Found::all(json!({ "present": present, "name": name, "pid": pid, "state": state, "note": note })))
}

/// Asks a process to end (SIGTERM), and waits a while for its end.
pub(super) async fn stop(call: &Call, change: &Change) -> Answer {
    end(call, change, Signal::TERM).await
}

/// Ends a process without asking it (SIGKILL).
pub(super) async fn kill(call: &Call, change: &Change) -> Answer {
    end(call, change, Signal::KILL).await
}

/// Says whether a process handles a signal, and refuses one that would end it.
pub(super) fn preview_signal(_host: &ThisHost, call: &Call) -> Answer {
    let (word, signal) = wanted(call)?;
    let held = Held::take(call)?;
    let (name, pid) = (&held.name, held.pid);
    let preview = match handling(pid, signal)? {
        Handling::Caught => format!("{name} (pid {pid}) handles {word} by itself."),
        Handling::Ignored => format!("{name} (pid {pid}) ignores {word}: nothing will happen."),
        Handling::Ends => return Err(would_end(&held, word)),
    };
    Ok(Found::all(json!({ "preview": preview })))
}

/// Sends a signal that a process handles as it likes.
pub(super) fn signal(call: &Call, change: &Change) -> Answer {
    let (word, signal) = wanted(call)?;
    let held = Held::take(call)?;
    if let Handling::Ends = handling(held.pid, signal)? {
        return Err(would_end(&held, word));
    }
    held.send(change, signal)?;
    Ok(Found::all(json!({ "name": held.name, "pid": held.pid, "signal": word })))
}

fn wanted(call: &Call) -> Result<(&str, Signal), Trouble> {
    let word = call.required("signal")?;
    let signal = match word {
        "hup" => Signal::HUP,
        "usr1" => Signal::USR1,
        "usr2" => Signal::USR2,
        _ => return Err(Trouble::invalid("signal", "`signal` must be one of hup, usr1, usr2")),
    };
    Ok((word, signal))
}

/// The reaction of a process to a signal.
enum Handling {
    /// It has a handler.
    Caught,
    /// It ignores it.
    Ignored,
    /// It ends by it, as a program does that knows nothing of it.
    Ends,
}

/// Reads the masks of signals in `/proc/PID/status`, where the first signal is the lowest bit.
fn handling(pid: i32, signal: Signal) -> Result<Handling, Trouble> {
    let failed =
        |error: ProcError| Trouble::failed(format!("how process {pid} handles signals can't be read: {error}"));
    let status = Process::new(pid).and_then(|process| process.status()).map_err(failed)?;
    let bit = 1_u64 << (signal.as_raw() - 1);
    Ok(match (status.sigcgt & bit != 0, status.sigign & bit != 0) {
        (true, _) => Handling::Caught,
        (false, true) => Handling::Ignored,
        (false, false) => Handling::Ends,
    })
}

fn would_end(held: &Held, word: &str) -> Trouble {
    let (name, pid) = (&held.name, held.pid);
    Trouble::forbidden(format!(
        "{name} (pid {pid}) does not handle {word} and would end by it; `stop process {pid}` is the change for that"
    ))
}

async fn end(call: &Call, change: &Change, signal: Signal) -> Answer {
    let held = Held::take(call)?;
    held.send(change, signal)?;
    let (name, pid) = (held.name.clone(), held.pid);
    let ended = held.has_ended_within(PATIENCE).await;
    Ok(Found::all(json!({ "name": name, "pid": pid, "ended": ended })))
}

/// A process that cannot become another one.
struct Held {
    handle: OwnedFd,
    pid: i32,
    name: String,
}

impl Held {
    /// Takes hold of the process that a call means, unless it is one that is never signalled, or not there any more.
    fn take(call: &Call) -> Result<Self, Trouble> {
        let (pid, start_ticks) = process_of(call)?;
        refuse_protected(pid)?;
        let gone = || Trouble::drifted(format!("process {pid} has ended already; nothing was done"));
        let raw = Pid::from_raw(pid).ok_or_else(gone)?;
        let handle = pidfd_open(raw, PidfdFlags::empty()).map_err(|error| match error {
            Errno::SRCH => gone(),
            other => Trouble::refused(format!("process {pid} cannot be held: {other}; nothing was done")),
        })?;
        // Only now: from here on the handle and the number mean the same process, or the start time tells them apart.
        match look(pid, start_ticks)? {
            Presence::Alive { .. } => Ok(Self { handle, pid, name: name(pid) }),
            Presence::Zombie | Presence::Gone => Err(gone()),
            Presence::Replaced => Err(Trouble::drifted(format!(
                "process {pid} has ended, and its number is now used by another; nothing was done"
            ))),
        }
    }

    fn send(&self, change: &Change, signal: Signal) -> Result<(), Trouble> {
        change.begin()?;
        let (name, pid) = (&self.name, self.pid);
        pidfd_send_signal(&self.handle, signal).map_err(|error| match error {
            Errno::SRCH => Trouble::drifted(format!("process {pid} has just ended by itself; nothing was done")),
            Errno::PERM => Trouble::refused(format!(
                "{name} (pid {pid}) may not be signalled: countersign runs as `{}`, who may not do that",
                user_name()
            )),
            other => Trouble::refused(format!("{name} (pid {pid}) could not be signalled: {other}")),
        })
    }

    /// The handle becomes readable when the process ends, also where its parent does not notice. Waits off the threads
    /// that carry messages.
    async fn has_ended_within(self, limit: Timespec) -> bool {
        let wait = move || {
            let ended = poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&limit));
            ended.is_ok_and(|ended| ended > 0)
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or(false)
    }
}

fn process_of(call: &Call) -> Result<(i32, u64), Trouble> {
    match call.target {
        Target::Process { pid, start_ticks } => Ok((pid, start_ticks)),
        _ => Err(Trouble::invalid("target", "this action runs on a process")),
    }
}

fn look(pid: i32, start_ticks: u64) -> Result<Presence, Trouble> {
    match Process::new(pid).and_then(|process| process.stat()) {
        Ok(stat) if stat.starttime != start_ticks => Ok(Presence::Replaced),
        Ok(stat) if matches!(stat.state, 'Z' | 'X' | 'x') => Ok(Presence::Zombie),
        Ok(stat) => Ok(Presence::Alive { state: stat.state }),
        // `/proc` may be mounted so that it hides what is not ours; the kernel itself cannot be mistaken.
        Err(ProcError::NotFound(_)) if is_unused(pid) => Ok(Presence::Gone),
        Err(error) => Err(Trouble::reading(&format!("process {pid}"), error)),
    }
}

fn is_unused(pid: i32) -> bool {
    Pid::from_raw(pid).is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// What people call it, without its number.
fn name(pid: i32) -> String {
    let label = label(pid);
    label.strip_suffix(&format!(" (pid {pid})")).map_or_else(|| format!("process {pid}"), str::to_owned)
}

/// What a process is that is never signalled, because that would end the machine or the bot; none for any other.
pub(super) fn protected(pid: i32) -> Option<&'static str> {
    match pid.unsigned_abs() {
        1 => Some("the first process of this machine"),
        number if number == std::process::id() => Some("this tool server itself"),
        number if number == parent_id() => Some("the bot itself"),
        _ => None,
    }
}

/// Refuses that here too: the discovery says it, and a tool server may be reached by others.
fn refuse_protected(pid: i32) -> Result<(), Trouble> {
    let refused = |what| Trouble::forbidden(format!("process {pid} is {what} and is never signalled from a chat"));
    protected(pid).map_or(Ok(()), |what| Err(refused(what)))
}

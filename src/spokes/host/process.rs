//! `host_process`: what runs on this machine. A process is its number and when it started, because numbers are used
//! again. Environments are never read: they hold secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_core::resource::{PROTECTED, Resource};
use procfs::ProcError;
use procfs::process::{Process, Stat};
use serde_json::{Value, json};

use tokio::time::Instant;

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target};
use super::this_host::{ThisHost, pause, percent, users};
use super::{lines, matching, network, signal};

/// Over how long the use of the processors is measured: the kernel counts in hundredths of a second, so that a shorter
/// interval would show steps of several percent.
const CPU_INTERVAL: Duration = Duration::from_millis(500);

/// The most of a command line that tells a process from its like, in characters.
const ABOUT_CHARS_MAX: usize = 160;

/// The number of `kthreadd`, the parent of all kernel threads.
const KTHREADD: i32 = 2;

/// The kernel cuts the name of a process to this many bytes (`TASK_COMM_LEN` less its end).
const COMM_BYTES: usize = 15;

/// One process at one moment.
struct Seen {
    stat: Stat,
    name: String,
    command: String,
    uid: u32,
}

/// Processes by name, command line or number. Kernel threads only by number.
pub(super) fn find(host: &ThisHost, call: &Call) -> Answer {
    let query = call.text("query");
    let number = query.and_then(|query| query.trim().parse::<i32>().ok());
    let users = users();
    let processes = scan()?.into_iter().filter(|seen| !is_kernel(&seen.stat) || number == Some(seen.stat.pid));
    let resources: Vec<Resource> = processes.filter_map(|seen| resource(host, &seen, &users)).collect();
    Ok(matching::answer(query, &resources, "processes"))
}

/// Programs that run a script: the script's name is what people call the process.
const INTERPRETERS: [&str; 8] = ["python", "python3", "perl", "ruby", "node", "bash", "sh", "java"];

/// Returns how many processes, kernel threads aside, are called so in any case: by their own name, their program's or their script's.
pub(super) fn called(name: &str) -> Result<usize, Trouble> {
    let own = std::process::id();
    let is_own = |seen: &Seen| u32::try_from(seen.stat.pid).is_ok_and(|pid| pid == own);
    let is_it = |seen: &Seen| !is_kernel(&seen.stat) && !is_own(seen) && is_called(&seen.name, &seen.command, name);
    Ok(scan()?.iter().filter(|seen| is_it(seen)).count())
}

fn is_called(process: &str, command: &str, name: &str) -> bool {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut words = command.split_whitespace();
    let program = words.next().map(base).unwrap_or_default();
    let script =
        words.find(|word| !word.starts_with('-')).map(base).filter(|_| INTERPRETERS.contains(&program.as_str()));
    let stem = script.as_deref().map(|script| script.rsplit_once('.').map_or(script, |(stem, _)| stem));
    process.eq_ignore_ascii_case(name) || program == name || stem == Some(name) || script.as_deref() == Some(name)
}

/// The processes that use most.
pub(super) fn top(host: &ThisHost, call: &Call) -> Answer {
    let by = call.text("by").unwrap_or("cpu");
    let limit = call.count("limit").unwrap_or(10);
    let before: BTreeMap<(i32, u64), u64> =
        scan()?.iter().map(|seen| (identity(&seen.stat), cpu_ticks(&seen.stat))).collect();
    let since = Instant::now();
    pause(CPU_INTERVAL);
    let mut now: Vec<(u64, Seen)> = scan()?
        .into_iter()
        .filter(|seen| !is_kernel(&seen.stat))
        .map(|seen| {
            // What began in between has used all its ticks since.
            let earlier = before.get(&identity(&seen.stat)).copied().unwrap_or(0);
            (cpu_ticks(&seen.stat).saturating_sub(earlier), seen)
        })
        .collect();
    let scale = Scale::over(since.elapsed())?;
    now.sort_by_key(|(ticks, seen)| {
        let (first, second) = if by == "memory" { (seen.stat.rss, *ticks) } else { (*ticks, seen.stat.rss) };
        std::cmp::Reverse((first, second))
    });
    let total = now.len();
    let users = users();
    let rows: Vec<Value> =
        now.iter().take(limit).map(|(ticks, seen)| row(host, seen, *ticks, &scale, &users)).collect();
    let left_out = if total > limit {
        format!("{limit} of {total} processes are shown; ask for more, like `top 50 processes by {by}`")
    } else {
        String::new()
    };
    Ok(Found::part(json!({ "name": host.name, "by": by, "total": total, "processes": rows }), left_out))
}

/// One process in detail. What we may not see of it (its files, where we are not its owner) is left out.
pub(super) fn detail(host: &ThisHost, call: &Call) -> Answer {
    let (process, _) = located(&call.target)?;
    let before = process.stat().map_err(|error| lost(&process, &error))?;
    let since = Instant::now();
    pause(CPU_INTERVAL);
    let seen = look(&process).map_err(|error| lost(&process, &error))?;
    let scale = Scale::over(since.elapsed())?;
    let ticks = cpu_ticks(&seen.stat).saturating_sub(cpu_ticks(&before));
    let mut data = row(host, &seen, ticks, &scale, &users());
    let io = process.io().ok();
    let more = json!({
        "state": state_word(seen.stat.state),
        "parent": seen.stat.ppid,
        "started": started_ms(&seen.stat),
        "virtual_memory": seen.stat.vsize,
        "cpu_seconds": cpu_ticks(&seen.stat) / procfs::ticks_per_second(),
        "program": process.exe().ok(),
        "directory": process.cwd().ok(),
        "open_files": process.fd_count().ok(),
        "read": io.map(|io| io.read_bytes),
        "written": io.map(|io| io.write_bytes),
        "ports": network::ports_of(&process),
    });
    if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
        data.extend(more);
    }
    Ok(Found::all(data))
}

/// The process that a target means: still there, and still the same.
pub(super) fn located(target: &Target) -> Result<(Process, Stat), Trouble> {
    let Target::Process { pid, start_ticks } = target else {
        return Err(Trouble::invalid("target", "this action runs on a process"));
    };
    let gone = || Trouble::not_found(format!("process {pid} is gone"), Vec::new());
    let process = Process::new(*pid).map_err(|error| match error {
        ProcError::NotFound(_) => gone(),
        other => Trouble::reading(&format!("process {pid}"), other),
    })?;
    let stat = process.stat().map_err(|_| gone())?;
    if stat.starttime != *start_ticks {
        let message = format!("process {pid} is gone; its number is now used by another");
        return Err(Trouble::not_found(message, Vec::new()));
    }
    Ok((process, stat))
}

/// Whether it has ended: gone, or ended and only waiting for its parent to notice (a zombie).
pub(super) fn has_ended(target: &Target) -> Result<bool, Trouble> {
    match located(target) {
        Ok((_, stat)) => Ok(matches!(stat.state, 'Z' | 'X')),
        Err(trouble) if trouble.is_not_found() => Ok(true),
        Err(trouble) => Err(trouble),
    }
}

/// What people call the process with this number, and the number; only the number where it is gone or not ours to see.
pub(super) fn label(pid: i32) -> String {
    let seen = Process::new(pid).and_then(|process| look(&process));
    seen.map_or_else(|_| format!("pid {pid}"), |seen| format!("{} (pid {pid})", seen.name))
}

fn scan() -> Result<Vec<Seen>, Trouble> {
    let processes = procfs::process::all_processes().map_err(|error| Trouble::reading("the processes", error))?;
    // One that ends while we look is not there any more: that is no error.
    Ok(processes.flatten().filter_map(|process| look(&process).ok()).collect())
}

fn look(process: &Process) -> Result<Seen, ProcError> {
    let stat = process.stat()?;
    let words = process.cmdline().unwrap_or_default();
    let name = name_of(&stat.comm, words.first().map_or("", String::as_str));
    let command = lines::clean(words.join(" ").trim().as_bytes());
    Ok(Seen { uid: process.uid()?, stat, name, command })
}

/// The kernel's name for it, or its program's where the kernel has cut it.
fn name_of(comm: &str, program: &str) -> String {
    let base = program.rsplit('/').next().unwrap_or_default();
    if comm.len() == COMM_BYTES && base.starts_with(comm) { base.to_owned() } else { comm.to_owned() }
}

const fn is_kernel(stat: &Stat) -> bool {
    stat.pid == KTHREADD || stat.ppid == KTHREADD
}

const fn identity(stat: &Stat) -> (i32, u64) {
    (stat.pid, stat.starttime)
}

const fn cpu_ticks(stat: &Stat) -> u64 {
    stat.utime + stat.stime
}

fn lost(process: &Process, error: &ProcError) -> Trouble {
    match error {
        ProcError::NotFound(_) => Trouble::not_found(format!("process {} is gone", process.pid), Vec::new()),
        other => Trouble::reading(&format!("process {}", process.pid), other),
    }
}

fn started_ms(stat: &Stat) -> Option<u64> {
    let boot = procfs::boot_time_secs().ok()?;
    Some(boot * 1000 + stat.starttime.saturating_mul(1000) / procfs::ticks_per_second())
}

/// What turns counts of the kernel into percentages of the whole machine: 100 is every processor busy.
struct Scale {
    ticks_all: u64,
    memory_total: u64,
}

impl Scale {
    fn over(interval: Duration) -> Result<Self, Trouble> {
        let memory = sysinfo::RefreshKind::nothing().with_memory(sysinfo::MemoryRefreshKind::nothing().with_ram());
        let system = sysinfo::System::new_with_specifics(memory)
            .map_err(|error| Trouble::reading("the size of the memory", error))?;
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        let ticks_all = millis * procfs::ticks_per_second() * u64::try_from(cpus).unwrap_or(1) / 1000;
        Ok(Self { ticks_all, memory_total: system.total_memory() })
    }
}

fn row(host: &ThisHost, seen: &Seen, ticks: u64, scale: &Scale, users: &BTreeMap<u32, String>) -> Value {
    let memory = seen.stat.rss * procfs::page_size();
    json!({
        "id": host.id_of("process", &uid_of(&seen.stat)),
        "pid": seen.stat.pid,
        "name": seen.name,
        "user": user_of(seen, users),
        "cpu": percent(ticks, scale.ticks_all).min(100.0),
        "memory": memory,
        "memory_percent": percent(memory, scale.memory_total),
        "threads": seen.stat.num_threads,
        "command": seen.command,
    })
}

fn uid_of(stat: &Stat) -> String {
    format!("{}-{}", stat.pid, stat.starttime)
}

fn user_of(seen: &Seen, users: &BTreeMap<u32, String>) -> String {
    users.get(&seen.uid).cloned().unwrap_or_else(|| seen.uid.to_string())
}

fn resource(host: &ThisHost, seen: &Seen, users: &BTreeMap<u32, String>) -> Option<Resource> {
    let protected = signal::protected(seen.stat.pid).map(str::to_owned);
    let about = if seen.command.is_empty() { format!("[{}]", seen.name) } else { seen.command.clone() };
    Some(Resource {
        id: host.id_of("process", &uid_of(&seen.stat))?,
        name: seen.name.clone(),
        aliases: vec![seen.stat.pid.to_string()],
        chain: host.chain(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: about.chars().take(ABOUT_CHARS_MAX).collect(),
        attrs: [("user", Some(user_of(seen, users))), ("pid", Some(seen.stat.pid.to_string())), (PROTECTED, protected)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect(),
    })
}

/// The kernel's letter for what a process does, in words.
pub(super) const fn state_word(state: char) -> &'static str {
    match state {
        'R' => "running",
        'S' | 'I' => "sleeping",
        'D' => "waiting for a disk",
        'T' | 't' => "stopped",
        'Z' => "zombie",
        'X' | 'x' => "dead",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_name_is_completed_and_a_chosen_one_is_kept() {
        assert_eq!(name_of("prometheus-node", "/usr/bin/prometheus-node-exporter"), "prometheus-node-exporter");
        assert_eq!(name_of("nginx", "nginx: master process"), "nginx");
        assert_eq!(name_of("kthreadd", ""), "kthreadd");
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let me = Process::myself().and_then(|me| me.stat()).expect("we run");
        let target = |start_ticks| Target::Process { pid: me.pid, start_ticks };
        assert!(located(&target(me.starttime)).is_ok());
        let trouble = located(&target(me.starttime + 1)).expect_err("another one");
        let expected = format!("process {} is gone; its number is now used by another", me.pid);
        assert_eq!(trouble.failure().message, expected);
        assert!(has_ended(&target(me.starttime + 1)).expect("that can be told"));
        assert!(!has_ended(&target(me.starttime)).expect("that can be told"));
    }
}

#[cfg(test)]
mod called_tests {
    use super::is_called;

    #[test]
    fn a_process_is_called_by_its_program_or_its_script_and_by_no_other_word() {
        let table = [
            ("nginx", "nginx: master process /usr/sbin/nginx", "nginx", true),
            ("tail", "tail -f /var/log/nginx/access.log", "nginx", false),
            ("vim", "vim /etc/nginx/nginx.conf", "nginx", false),
            ("sudo", "sudo -u postgres psql", "postgres", false),
            ("python3", "/usr/bin/python3 -u /srv/shop/serve.py --port 80", "serve", true),
            ("python3", "/usr/bin/python3 /srv/shop/serve.py", "serve.py", true),
            ("bash", "-bash", "bash", true),
            ("postgres", "postgres: 16/main: checkpointer", "postgres", true),
        ];
        for (process, command, name, expected) in table {
            assert_eq!(is_called(process, command, name), expected, "{command} {name}");
        }
    }
}

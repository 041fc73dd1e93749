//! The list: which forms of which commands are proven, and what to say of the others. Whole argument vectors, never
//! single words: an option that is not written here is not known to be harmless.

use super::{Verdict, judge};

/// The most lines that a form may ask for; the output is cut by its size in any case.
const LINES_MAX: u32 = 10_000;

/// How many lines a rewrite asks for where nobody said.
const LINES_DEFAULT: &str = "100";

/// Files of `/proc` that describe the machine, end, and hold no secrets. Everything else there, in `/dev` and in `/sys`
/// may never end (`/dev/zero`, `/proc/kmsg`, `trace_pipe`) or give secrets away (`/proc/1/environ`).
const PROC_FILES: [&str; 11] = [
    "/proc/cpuinfo",
    "/proc/diskstats",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/mdstat",
    "/proc/meminfo",
    "/proc/partitions",
    "/proc/stat",
    "/proc/swaps",
    "/proc/uptime",
    "/proc/version",
];

/// A command: its name, its proven forms as people write them, and whether arguments are of one of these forms.
type Form = (&'static str, &'static str, fn(&[&str]) -> bool);

const FORMS: [Form; 28] = [
    ("cat", "`cat PATH` with an absolute path of a plain file", |args| matches!(args, [path] if is_file_path(path))),
    ("date", "`date` without arguments", |args| args.is_empty()),
    ("df", "`df [-h] [-T] [-i] [PATH]`", |args| options_and_path(args, "hTi", true)),
    ("docker", "`docker ps [-a]` and `docker images`", |args| {
        matches!(args, ["ps" | "images"] | ["ps", "-a" | "--all"])
    }),
    ("du", "`du -sh PATH` with an absolute path", |args| matches!(args, ["-sh" | "-s", path] if is_path(path))),
    ("free", "`free [-h|-m|-g]`", |args| matches!(args, [] | ["-h" | "-m" | "-g"])),
    ("head", "`head [-n LINES] PATH` with an absolute path of a plain file", lines_of_file),
    ("hostname", "`hostname` without arguments", |args| args.is_empty()),
    ("id", "`id [NAME]`", |args| matches!(args, []) || matches!(args, [name] if is_name(name))),
    ("ip", "`ip [-br] addr|link|route [show]`", is_ip),
    ("journalctl", "`journalctl -n LINES [-u NAME] --no-pager`", |_| false),
    ("last", "`last -n LINES`", |args| matches!(args, ["-n", lines] if is_line_count(lines))),
    ("ls", "`ls [-lahtrSdi1] PATH` with an absolute path", |args| options_and_path(args, "lahtrSdi1", false)),
    ("lsblk", "`lsblk [-f]`", |args| matches!(args, [] | ["-f"])),
    ("lscpu", "`lscpu` without arguments", |args| args.is_empty()),
    ("nproc", "`nproc [--all]`", |args| matches!(args, [] | ["--all"])),
    ("ps", "`ps`, `ps aux` and `ps -ef`", |args| matches!(args, [] | ["aux" | "-ef" | "-e"])),
    ("ss", "`ss` with options among `-tulnpasxoemiw46`", |args| {
        args.iter().all(|word| is_flags(word, "tulnpasxoemiw46"))
    }),
    ("stat", "`stat PATH` with an absolute path", |args| matches!(args, [path] if is_path(path))),
    ("systemctl", "`systemctl status|is-active|is-enabled NAME`", is_systemctl),
    ("tail", "`tail [-n LINES] PATH` with an absolute path of a plain file", lines_of_file),
    ("top", "`top -b -n 1`", |args| matches!(args, ["-b", "-n", "1"] | ["-bn1"])),
    ("uname", "`uname [-a|-r|-s|-m|-n]`", |args| matches!(args, [] | ["-a" | "-r" | "-s" | "-m" | "-n"])),
    ("uptime", "`uptime [-p|-s]`", |args| matches!(args, [] | ["-p" | "-s"])),
    ("w", "`w` without arguments", |args| args.is_empty()),
    ("wc", "`wc [-l|-w|-c] PATH` with an absolute path of a plain file", is_wc),
    ("whoami", "`whoami` without arguments", |args| args.is_empty()),
    ("who", "`who` without arguments", |args| args.is_empty()),
];

/// What the list says of an argument vector.
pub(super) fn verdict(words: &[&str]) -> Verdict {
    let [name, args @ ..] = words else {
        return Verdict::Unproven("the command is empty".to_owned());
    };
    if let Some(special) = special(name, args) {
        return special;
    }
    match FORMS.iter().find(|(known, ..)| known == name) {
        Some((_, _, is_proven)) if is_proven(args) => Verdict::Proven,
        Some((_, forms, _)) => Verdict::Unproven(format!("of `{name}`, only {forms} is proven to only read")),
        None => Verdict::Unproven(format!("`{name}` is not on the list of commands proven to only read")),
    }
}

/// Commands that go on until somebody stops them, and what to run instead.
fn special(name: &str, args: &[&str]) -> Option<Verdict> {
    match (name, args) {
        ("top" | "htop", []) => Some(endless(name, "goes on until somebody stops it", "top -b -n 1".to_owned())),
        ("less" | "more", [path]) => {
            Some(endless(name, "waits for somebody at a keyboard", format!("tail -n {LINES_DEFAULT} {path}")))
        }
        ("watch", ["-n", _, rest @ ..] | rest) if !rest.is_empty() => Some(watch(rest)),
        ("tail", _) => followed_tail(args),
        ("journalctl", _) => journal(args),
        _ => None,
    }
}

fn endless(name: &str, why: &str, rewrite: String) -> Verdict {
    Verdict::Endless { reason: format!("`{name}` {why}"), rewrite }
}

/// What is watched decides: a write that is repeated is a write.
fn watch(watched: &[&str]) -> Verdict {
    // Nested `watch` ends here, so that the depth of a judgement is bounded.
    if watched.first() == Some(&"watch") {
        return Verdict::Unproven("`watch` of `watch` is not on the list of commands proven to only read".to_owned());
    }
    let judged = judge(&watched.join(" "));
    if judged.read_only {
        let rewrite = judged.rewrite.unwrap_or_else(|| watched.join(" "));
        endless("watch", "goes on until somebody stops it", rewrite)
    } else {
        Verdict::Unproven(judged.reason)
    }
}

fn followed_tail(args: &[&str]) -> Option<Verdict> {
    let (path, options) = args.split_last()?;
    let mut follows = false;
    let mut lines = LINES_DEFAULT.to_owned();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let word = option.strip_prefix('-')?;
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
        match letters {
            "f" | "F" | "-follow" => follows = true,
            "n" => (*rest.next()?).clone_into(&mut lines),
            "fn" | "Fn" => {
                follows = true;
                (*rest.next()?).clone_into(&mut lines);
            }
            "" => {}
            _ => return None,
        }
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            lines = digits;
        }
    }
    follows.then(|| endless("tail", "with `-f` goes on until somebody stops it", format!("tail -n {lines} {path}")))
}

/// `journalctl` takes its options in any order, follows with `-f`, and without `-n` prints the whole journal.
fn journal(args: &[&str]) -> Option<Verdict> {
    let (mut lines, mut unit, mut follows) = (None, None, false);
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        match *option {
            "-n" => lines = Some(*rest.next().filter(|count| is_line_count(count))?),
            "-u" => unit = Some(*rest.next().filter(|name| is_name(name))?),
            "-fu" => {
                follows = true;
                unit = Some(*rest.next().filter(|name| is_name(name))?);
            }
            "-f" | "--follow" => follows = true,
            "--no-pager" => {}
            _ => return None,
        }
    }
    if lines.is_some() && !follows {
        return Some(Verdict::Proven);
    }
    let why =
        if follows { "with `-f` goes on until somebody stops it" } else { "without `-n` prints the whole journal" };
    let of_unit = unit.map(|name| format!(" -u {name}")).unwrap_or_default();
    let rewrite = format!("journalctl -n {}{of_unit} --no-pager", lines.unwrap_or(LINES_DEFAULT));
    Some(endless("journalctl", why, rewrite))
}

fn lines_of_file(args: &[&str]) -> bool {
    match args {
        [path] => is_file_path(path),
        ["-n", lines, path] => is_line_count(lines) && is_file_path(path),
        [option, path] => option.strip_prefix('-').is_some_and(is_line_count) && is_file_path(path),
        _ => false,
    }
}

fn is_wc(args: &[&str]) -> bool {
    match args {
        [path] | ["-l" | "-w" | "-c", path] => is_file_path(path),
        _ => false,
    }
}

fn is_ip(args: &[&str]) -> bool {
    let args = args.strip_prefix(&["-br"]).unwrap_or(args);
    matches!(args, ["addr" | "a" | "link" | "route" | "r"] | ["addr" | "a" | "link" | "route" | "r", "show"])
}

fn is_systemctl(args: &[&str]) -> bool {
    match args {
        ["status" | "is-active" | "is-enabled", name]
        | ["status", name, "--no-pager"]
        | ["status", "--no-pager", name] => is_name(name),
        _ => false,
    }
}

/// Single-letter options, and after them one absolute path; `path_optional` says whether it may be missing.
fn options_and_path(args: &[&str], letters: &str, path_optional: bool) -> bool {
    match args.split_last() {
        None => path_optional,
        Some((last, options)) => {
            let ends_well = is_path(last) || (path_optional && is_flags(last, letters));
            ends_well && options.iter().all(|word| is_flags(word, letters))
        }
    }
}

fn is_flags(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| !flags.is_empty() && flags.chars().all(|c| letters.contains(c)))
}

fn is_line_count(word: &str) -> bool {
    let digits = word.chars().all(|c| c.is_ascii_digit());
    digits && word.parse::<u32>().is_ok_and(|count| (1..=LINES_MAX).contains(&count))
}

/// A name of a unit or a user: never an option, never a path.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && !word.contains('/')
}

/// An absolute path that says where it leads: no `.`, no `..`, no doubled slash.
fn is_path(word: &str) -> bool {
    let Some(parts) = word.strip_prefix('/') else {
        return false;
    };
    let parts = parts.strip_suffix('/').unwrap_or(parts);
    parts.is_empty() || !parts.split('/').any(|part| matches!(part, "" | "." | ".."))
}

/// A path whose content may be read. Whether it is a plain file, and where its links lead, only the machine knows: the
/// executor looks again.
fn is_file_path(word: &str) -> bool {
    let special = ["/dev", "/proc", "/sys"]
        .iter()
        .any(|root| word.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    is_path(word) && (!special || PROC_FILES.contains(&word))
}

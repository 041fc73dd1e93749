//! What a command line can do. For now a short list of commands that are proven, word by word, to only read and to end
//! by themselves; everything else is not proven, whatever it looks like. Nothing here runs anything.

mod forms;

use crate::secrets;

/// The longest command line that is looked at, in bytes.
const LINE_BYTES_MAX: usize = 1_000;

/// What is known of one command line. Only a line that is both `read_only` and `bounded` may run through a read tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The words of the line: the program and its arguments. Empty where the line is not made of plain words.
    pub argv: Vec<String>,
    /// Proven to change nothing.
    pub read_only: bool,
    /// Proven to end by itself (EXE-16).
    pub bounded: bool,
    /// Why, in words for people.
    pub reason: String,
    /// A line that does nearly the same and is proven, where there is one.
    pub rewrite: Option<String>,
}

impl Judgement {
    /// Whether a read tool may run it.
    pub const fn is_proven(&self) -> bool {
        self.read_only && self.bounded
    }

    fn unproven(argv: Vec<String>, reason: String) -> Self {
        Self { argv, read_only: false, bounded: false, reason, rewrite: None }
    }
}

/// What one form of a command is.
enum Verdict {
    /// Only reads, and ends by itself.
    Proven,
    /// Only reads, but goes on until somebody stops it.
    Endless {
        /// Why it never ends.
        reason: String,
        /// What to run instead; offered only where it is proven itself.
        rewrite: String,
    },
    /// Not known to be harmless.
    Unproven(String),
}

/// Judges a command line. Total: whatever the line is, there is an answer, and in doubt it is "not proven".
pub fn judge(line: &str) -> Judgement {
    let line = line.trim_matches(' ');
    if let Some(reason) = shape_problem(line) {
        return Judgement::unproven(Vec::new(), reason);
    }
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    if let Some(reason) = secret_problem(&words, secrets::secret_path) {
        return Judgement::unproven(argv, reason);
    }
    match forms::verdict(&words) {
        Verdict::Proven => {
            let reason = "proven to only read and to end by itself".to_owned();
            Judgement { argv, read_only: true, bounded: true, reason, rewrite: None }
        }
        Verdict::Endless { reason, rewrite } => {
            let rewrite = Some(rewrite).filter(|rewrite| judge(rewrite).is_proven());
            Judgement { argv, read_only: true, bounded: false, reason, rewrite }
        }
        Verdict::Unproven(reason) => Judgement::unproven(argv, reason),
    }
}

/// Why a line is not even a list of plain words. No shell ever sees the line, so what means something to a shell would
/// not do what its writer expects: it is refused, not passed on.
fn shape_problem(line: &str) -> Option<String> {
    if line.is_empty() {
        return Some("the command is empty".to_owned());
    }
    if line.len() > LINE_BYTES_MAX {
        return Some(format!("the command is longer than {LINE_BYTES_MAX} bytes"));
    }
    line.chars().find(|c| !is_plain(*c)).map(char_problem)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '/' | '@' | ':' | '=' | '+' | ',' | '-')
}

fn char_problem(c: char) -> String {
    match c {
        '>' => "`>` could write to a file".to_owned(),
        '<' => "`<` would feed a file into the command".to_owned(),
        '|' | ';' | '&' => format!("`{c}` would run a second command"),
        '\n' | '\r' => "a line break would start a second command".to_owned(),
        '$' | '`' => format!("`{c}` would put something unseen into the command"),
        '\'' | '"' | '\\' => format!("`{c}` is not understood here; write plain words without quotes"),
        '*' | '?' | '[' | ']' | '{' | '}' => {
            format!("`{c}` would stand for names that nobody has seen; write the name")
        }
        '~' => "`~` would stand for a home directory; write the whole path".to_owned(),
        _ => format!("`{}` is not understood here; write plain words", c.escape_default()),
    }
}

/// A secret path stays secret whatever the command is, and also behind an option (`--file=/etc/shadow`).
fn secret_problem(words: &[&str], secret_class: fn(&str) -> Option<&'static str>) -> Option<String> {
    words.iter().find_map(|word| {
        let path = word.find('/').and_then(|start| word.get(start..))?;
        let class = secret_class(path)?;
        Some(format!("`{path}` holds secrets ({class})"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_reading_commands_are_proven() {
        let proven = [
            "uptime",
            "df",
            "df -h",
            "df -h -T",
            "df -hT",
            "df -i /var",
            "free -h",
            "free -m",
            "uname -a",
            "uname -r",
            "id",
            "id postgres",
            "whoami",
            "date",
            "hostname",
            "nproc",
            "lscpu",
            "lsblk",
            "ps",
            "ps aux",
            "ps -ef",
            "who",
            "w",
            "last -n 20",
            "ip addr",
            "ip -br addr",
            "ip -br link show",
            "ip route",
            "ss -tlnp",
            "ss -s",
            "ss -t -u -n",
            "cat /var/log/syslog",
            "cat /proc/loadavg",
            "head /etc/hostname",
            "head -n 5 /etc/hostname",
            "tail -50 /var/log/syslog",
            "tail -n 50 /var/log/syslog",
            "wc -l /var/log/syslog",
            "ls /var",
            "ls -la /var/log",
            "stat /etc/hostname",
            "du -sh /var/log",
            "systemctl status nginx",
            "systemctl is-active nginx.service",
            "systemctl status nginx --no-pager",
            "journalctl -n 50 --no-pager",
            "journalctl -u nginx -n 50 --no-pager",
            "docker ps",
            "docker ps -a",
            "top -b -n 1",
            "  uptime  ",
        ];
        for line in proven {
            let judged = judge(line);
            assert!(judged.is_proven(), "{line}: {}", judged.reason);
            assert_eq!(judged.rewrite, None, "{line}");
            assert_eq!(judged.argv.join(" "), line.trim(), "{line}");
        }
    }

    /// Lines that are not proven, each for a reason of its own.
    const UNPROVEN: &[&str] = &[
        "",
        " ",
        "rm /tmp/x",
        "sudo uptime",
        "/tmp/uptime",
        "./uptime",
        "date 010101",
        "date -s 12",
        "hostname evil",
        "free -s 1",
        "ps e",
        "ps auxe",
        "ps -eo args",
        "last",
        "last -n 0",
        "last -n x",
        "ip link set eth0 down",
        "ip addr add 10.0.0.1 dev eth0",
        "ip -b /tmp/x addr",
        "ip monitor",
        "ss -K",
        "ss -tK",
        "ss -D /tmp/x",
        "ss -E",
        "ss -r",
        "cat",
        "cat etc/passwd",
        "cat /var/../etc/x",
        "cat /dev/zero",
        "cat /dev",
        "cat //dev/zero",
        "cat /./dev/zero",
        "cat /proc/1/environ",
        "cat /proc/kmsg",
        "cat /sys/kernel/tracing/trace_pipe",
        "head -n 5 /dev/random",
        "head -c 5 /etc/hostname",
        "tail -n +1 /etc/hostname",
        "tail --pid=1 /etc/hostname",
        "wc --files0-from=/etc/hostname",
        "ls -R /",
        "ls -l",
        "ls --color=always /",
        "stat -f /",
        "du /",
        "du -sh var",
        "systemctl restart nginx",
        "systemctl status",
        "systemctl status -H",
        "systemctl -H evil status nginx",
        "systemctl status a b",
        "journalctl --vacuum-size=1",
        "journalctl -n 50 --rotate",
        "journalctl -u -n 5",
        "docker run x",
        "docker ps -q --format=x",
        "docker -H evil ps",
        "lsblk -o NAME",
        "uname -z",
        "id -",
        "id --help",
        "find / -delete",
        "vi /etc/hostname",
        "echo hi",
        "env",
        "printenv",
        "dmesg -C",
        "mount",
        "UPTIME",
        "LD_PRELOAD=/tmp/x.so uptime",
        "uptime\t-p",
        "uptime\u{a0}",
    ];

    #[test]
    fn everything_else_is_not() {
        for line in UNPROVEN {
            let judged = judge(line);
            assert!(!judged.is_proven(), "{line:?} must not be proven");
            assert!(!judged.reason.is_empty(), "{line:?} needs a reason");
        }
    }

    #[test]
    fn reasons_are_plain_words() {
        let lines = [
            "rm -rf /",
            "df > /tmp/x",
            "uptime; reboot",
            "cat $HOME",
            "cat 'a b'",
            "ls /var/*",
            "cat ~/x",
            "uptime\nreboot",
            "df --output",
            "cat",
            "cat notes.txt",
            "cat /dev/zero",
            "uptime (x)",
            "",
        ];
        let reasons: Vec<String> = lines.iter().map(|line| judge(line).reason).collect();
        insta::assert_snapshot!(reasons.join("\n"), @"
        `rm` is not on the list of commands proven to only read
        `>` could write to a file
        `;` would run a second command
        `$` would put something unseen into the command
        `'` is not understood here; write plain words without quotes
        `*` would stand for names that nobody has seen; write the name
        `~` would stand for a home directory; write the whole path
        a line break would start a second command
        of `df`, only `df [-h] [-T] [-i] [PATH]` is proven to only read
        of `cat`, only `cat PATH` with an absolute path of a plain file is proven to only read
        of `cat`, only `cat PATH` with an absolute path of a plain file is proven to only read
        of `cat`, only `cat PATH` with an absolute path of a plain file is proven to only read
        `(` is not understood here; write plain words
        the command is empty
        ");
    }

    #[test]
    fn what_never_ends_gets_a_rewrite_that_does() {
        let table = [
            ("tail -f /var/log/syslog", Some("tail -n 100 /var/log/syslog")),
            ("tail -F /var/log/syslog", Some("tail -n 100 /var/log/syslog")),
            ("tail -n 20 -f /var/log/syslog", Some("tail -n 20 /var/log/syslog")),
            ("tail -fn 20 /var/log/syslog", Some("tail -n 20 /var/log/syslog")),
            ("tail -20f /var/log/syslog", Some("tail -n 20 /var/log/syslog")),
            ("tail -f syslog", None),
            ("tail -f /dev/zero", None),
            ("journalctl -f", Some("journalctl -n 100 --no-pager")),
            ("journalctl -fu nginx", Some("journalctl -n 100 -u nginx --no-pager")),
            ("journalctl -u nginx -n 5 --follow", Some("journalctl -n 5 -u nginx --no-pager")),
            ("journalctl -u nginx", Some("journalctl -n 100 -u nginx --no-pager")),
            ("top", Some("top -b -n 1")),
            ("htop", Some("top -b -n 1")),
            ("watch df -h", Some("df -h")),
            ("watch -n 2 df -h", Some("df -h")),
            ("watch watch df", None),
            ("less /var/log/syslog", Some("tail -n 100 /var/log/syslog")),
        ];
        for (line, rewrite) in table {
            let judged = judge(line);
            assert!(!judged.bounded, "{line}");
            assert_eq!(judged.rewrite.as_deref(), rewrite, "{line}: {}", judged.reason);
        }
        assert!(!judge("watch rm /tmp/x").read_only, "what is watched decides");
    }

    #[test]
    fn a_secret_path_is_found_in_every_word() {
        let class: fn(&str) -> Option<&'static str> = |path| (path == "/etc/key").then_some("a private key");
        let reason = Some("`/etc/key` holds secrets (a private key)".to_owned());
        assert_eq!(secret_problem(&["cat", "/etc/key"], class), reason);
        assert_eq!(secret_problem(&["grep", "x", "--file=/etc/key"], class), reason);
        assert_eq!(secret_problem(&["cat", "/etc/keys"], class), None);
    }

    proptest! {
        /// Whatever stands around it, a character that a shell would act on is never passed on.
        #[test]
        fn no_shell_character_is_ever_proven(head in "[a-z /.-]{0,20}", odd in "[^A-Za-z0-9._/@:=+, -]", tail in ".{0,20}") {
            let line = format!("cat /etc/hostname{head}{odd}{tail}x");
            prop_assert!(!judge(&line).is_proven());
        }

        #[test]
        fn every_rewrite_is_proven(line in "(tail|journalctl|watch|top|less) [a-z0-9/. -]{0,30}") {
            if let Some(rewrite) = judge(&line).rewrite {
                prop_assert!(judge(&rewrite).is_proven(), "{}", rewrite);
            }
        }
    }
}

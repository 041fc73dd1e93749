//! What holds for any line at all: nothing is read-only that runs something else beside a read, no text harms the judge,
//! and no option makes a command better that no table knows.

use proptest::prelude::*;

use super::super::{Intent, judge};

/// Lines that only read, to hide something in.
const READS: &[&str] = &[
    "ls -la /var/log",
    "cat /etc/hostname",
    "ps aux --sort=-rss | head -n 5",
    "grep -c error /var/log/syslog",
    "kubectl get pods -A",
    "docker ps -a",
    "git log --oneline -n 5",
    "systemctl status nginx",
    "df -h | sort -k5 -rn",
    "find /var/log -name '*.log' -size +10M",
    "ls /var/log/*.log; df -h && free -m || uptime",
];

/// Commands that change something.
const WRITES: &[&str] = &[
    "rm -rf /srv/x",
    "touch /tmp/x",
    "systemctl restart nginx",
    "kubectl delete pod web-1",
    "docker rm -f web",
    "git push",
    "tee /tmp/x",
    "python3 -c 'print(1)'",
    "curl -X POST http://example.com/x",
    "find /srv -delete",
    "sort -o /tmp/x /etc/hostname",
    "some-unknown-program --flag",
    "psql -c 'drop table x'",
    "redis-cli flushall",
    "sudo ls",
    "sed -i s/a/b/ /etc/hosts",
    "awk 'BEGIN{system(\"id\")}'",
];

/// Every way in which one line holds another: `R` is the read, `W` the write.
const HIDES: &[&str] = &[
    "W",
    "R; W",
    "W; R",
    "R && W",
    "R || W",
    "W && R",
    "R | W",
    "W | R",
    "R |& W",
    "R & W",
    "R\nW",
    "W\nR",
    "(W)",
    "(R; W)",
    "{ W; }",
    "! W",
    "time W",
    "echo $(W)",
    "echo \"$(W)\"",
    "echo `W`",
    "cat <(W)",
    "if R; then W; fi",
    "if W; then R; fi",
    "while read -r l; do W; done < /etc/hostname",
    "for i in 1 2; do W; done",
    "for i in $(W); do R; done",
    "x=$(W)",
    "x=$(W); R",
    "echo ${x:-$(W)}",
    "echo \"${x:-$(W)}\"",
    "cat <<E\n$(W)\nE",
    "cat <<< \"$(W)\"",
    "[[ -n $(W) ]]",
    "[ -n \"$(W)\" ]",
    "f() { W; }; f",
    "f() { R; }; f; W",
    "case a in a) W;; esac",
    "case $(W) in a) R;; esac",
    "timeout 5 W",
    "nice -n 5 W",
    "env A=b W",
    "env W",
    "nohup W",
    "setsid W",
    "stdbuf -oL W",
    "xargs W",
    "R | xargs W",
    "R | xargs -n 1 W",
    "find /srv -exec W \\;",
    "watch W",
    "command W",
    "exec W",
    "flock /tmp/l W",
    "nsenter -t 1 -m W",
    "chroot /srv W",
    "docker exec web W",
    "kubectl exec web-1 -- W",
    "ssh host W",
    "echo a > >(W)",
    "R > /tmp/out",
    "R >> /tmp/out",
    "R &> /tmp/out",
    "R 2> /tmp/out",
    "echo $(( $(W) + 1 ))",
    "a=(1 $(W))",
    "coproc W",
    "trap 'W' EXIT",
    "eval 'W'",
    "select x in a; do W; done",
];

/// Ways that put the write into quotes, which its own quotes would end.
const QUOTED_HIDES: &[&str] = &[
    "sh -c \"W\"",
    "bash -lc \"W\"",
    "ssh host \"W\"",
    "watch \"W\"",
    "timeout 5 sh -c \"R; W\"",
    "R | xargs sh -c \"W\"",
];

fn hidden(hide: &str, read: &str, write: &str) -> String {
    // Placed by marks that no line holds, so that a letter of one line is never taken for the other.
    hide.replace('R', "\u{1}").replace('W', "\u{2}").replace('\u{1}', read).replace('\u{2}', write)
}

#[test]
fn a_write_in_any_place_is_found() {
    let mut found = Vec::new();
    for read in READS {
        assert!(judge(read).intent.only_reads(), "{read}: {}", judge(read).reason);
        for write in WRITES {
            for hide in HIDES {
                let line = hidden(hide, read, write);
                if judge(&line).intent != Intent::WriteOrUnknown {
                    found.push(line);
                }
            }
            for hide in QUOTED_HIDES.iter().filter(|_| !write.contains(['"', '\''])) {
                let line = hidden(hide, &read.replace(['"', '\''], ""), write);
                if judge(&line).intent != Intent::WriteOrUnknown {
                    found.push(line);
                }
            }
        }
    }
    found.dedup();
    assert!(found.is_empty(), "these hide a write:\n{}", found.join("\n---\n"));
}

#[test]
fn the_same_places_hold_a_read() {
    // Without this, the test above would pass for a judge that refuses everything.
    let proven =
        HIDES.iter().filter(|hide| judge(&hidden(hide, "ls /srv", "cat /etc/hostname")).intent.only_reads()).count();
    assert!(proven * 10 >= HIDES.len() * 3, "only {proven} of {} ways are read at all", HIDES.len());
}

#[test]
#[expect(clippy::disallowed_types, reason = "only a thread has a stack of a chosen size")]
fn hostile_lines_end_on_a_small_stack() {
    let shapes: [(&str, &str, &str, usize); 22] = [
        ("", "(", "", 20_000),
        ("echo ", "$(", "", 20_000),
        ("", "echo $(", ")", 2_000),
        ("", "{ ", "; }", 3_000),
        ("", "( ", " )", 3_000),
        ("echo ", "\"$(echo ", ")\"", 40),
        ("echo ", "${a:-", "}", 2_000),
        ("echo ", "`", "", 2_000),
        ("", "cat <<E\n", "", 500),
        ("", "a|", "", 20_000),
        ("echo ", "a", "", 1_000_000),
        ("echo ", "''", "", 100_000),
        ("", "if true; then ", "; fi", 1_000),
        ("", "case a in a) ", ";; esac", 500),
        ("echo ", "$((", "))", 1_000),
        ("cat ", "<(cat ", ")", 1_000),
        ("[[ ", "( ", " ) ", 1_000),
        ("", "! ", "", 5_000),
        ("<<E$[\t\t", "", "", 1),
        ("", "a;", "", 4_000),
        ("", "a && ", "", 1_500),
        ("x=", "y=", "", 3_000),
    ];
    let line = |(head, open, close, times): (&str, &str, &str, usize)| {
        format!("{head}{}{}", open.repeat(times), close.repeat(times))
    };
    // Also just below every limit, where the parsers do see them.
    let small = shapes.map(|(head, open, close, times)| line((head, open, close, times.min(39))));
    let all: Vec<String> =
        shapes.map(line).into_iter().chain(small).chain(["ls\0rm".to_owned(), "ls \u{202e} rm".to_owned()]).collect();
    let judged = std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(move || all.iter().filter(|line| !judge(line).reason.is_empty()).count() == all.len());
    assert!(judged.expect("a thread starts").join().expect("no line overflows the stack"));
}

#[test]
fn no_character_ends_the_process() {
    // The second parser's scanner once read beyond a table of the C library's.
    let places = [
        "@",
        "@ls",
        "ls @",
        "$@x",
        "${@}",
        "${x@}",
        "<<@\n@\n",
        "$(@)",
        "@=1",
        "\"@",
        "{@,@}",
        "a@()",
        "[[ a =~ @ ]]",
        "$'@",
        "`@`",
        "#@",
        "((@",
        "$@",
    ];
    for c in ['\u{e4}', '\u{2192}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{1d11e}', '\u{aaaaa}', '\u{10ffff}'] {
        for place in places {
            assert!(!judge(&place.replace('@', &c.to_string())).reason.is_empty());
        }
    }
}

/// Pieces of shell that parsers stumble over.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("$(".to_owned()),
        Just(")".to_owned()),
        Just("${".to_owned()),
        Just("}".to_owned()),
        Just("`".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("<<E\n".to_owned()),
        Just("\nE\n".to_owned()),
        Just("$((".to_owned()),
        Just("))".to_owned()),
        Just("[[".to_owned()),
        Just("]]".to_owned()),
        Just(" if ".to_owned()),
        Just(" then ".to_owned()),
        Just(" fi ".to_owned()),
        Just(" for i in ".to_owned()),
        Just(" do ".to_owned()),
        Just(" done ".to_owned()),
        Just(" case a in ".to_owned()),
        Just(" esac ".to_owned()),
        Just("|".to_owned()),
        Just("&".to_owned()),
        Just(";".to_owned()),
        Just(">".to_owned()),
        Just("<".to_owned()),
        Just("*".to_owned()),
        Just("~".to_owned()),
        Just("=".to_owned()),
        Just("#".to_owned()),
        Just("rm /x ".to_owned()),
        Just("ls ".to_owned()),
        Just("find / -exec ".to_owned()),
        Just("sh -c ".to_owned()),
        Just("a=".to_owned()),
        Just("time ".to_owned()),
        Just("! ".to_owned()),
        Just("function f ".to_owned()),
        Just("()".to_owned()),
        Just("{ ".to_owned()),
        Just("\n".to_owned()),
        "[a-z \t./-]{0,6}",
        any::<char>().prop_map(|c| c.to_string()),
    ]
}

proptest! {
    #[test]
    fn any_text_is_judged(text in ".{0,200}") {
        prop_assert!(!judge(&text).reason.is_empty());
    }

    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!judge(&String::from_utf8_lossy(&bytes)).reason.is_empty());
    }

    #[test]
    fn any_pieces_of_shell_are_judged(pieces in proptest::collection::vec(piece(), 0..40)) {
        let line = pieces.concat();
        let judged = judge(&line);
        prop_assert!(!judged.reason.is_empty());
        prop_assert_eq!(judged.run.is_some(), judged.intent.only_reads());
        // A plain word `rm` anywhere outside quotes, comments and operands would be a program; whatever is proven runs none.
        if judged.intent.only_reads() {
            prop_assert!(!line.trim_start().starts_with("rm "), "{}", line);
        }
    }

    #[test]
    fn an_option_that_no_table_knows_never_helps(
        write in proptest::sample::select(WRITES), read in proptest::sample::select(READS), name in "zq[a-z]{2,5}", first in any::<bool>(),
    ) {
        let add = |line: &str| match (first, line.split_once(' ')) {
            (true, Some((program, rest))) => format!("{program} --{name} {rest}"),
            _ => format!("{line} --{name}"),
        };
        prop_assert_eq!(judge(&add(write)).intent, Intent::WriteOrUnknown);
        let with = judge(&add(read));
        prop_assert!(with.intent >= judge(read).intent);
    }

    #[test]
    fn every_rewrite_is_proven(line in "(tail|journalctl|watch|top|less|docker logs|kubectl logs|ping) [a-z0-9/. -]{0,30}") {
        if let Some(rewrite) = judge(&line).rewrite {
            prop_assert!(judge(&rewrite).is_proven(), "{}", rewrite);
        }
    }
}

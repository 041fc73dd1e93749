//! Scripts of `sed` that people on duty type, scripts that do more than they look like, and what holds for all of them.

use proptest::prelude::*;

use super::judge;

const READING: &[&str] = &[
    "p",
    "1p",
    "$p",
    "10,20p",
    "10,$p",
    "1,10!d",
    "10q",
    "10{p;q}",
    "100q;p",
    "q5",
    "Q",
    "$!d",
    "$=",
    "=",
    "5!p",
    "5 ! p",
    "1~2p",
    "0~3d",
    "2,+3p",
    "2,~4p",
    "/error/p",
    "/error/!d",
    "/error/Ip",
    "/error/I p",
    "/start/,/end/p",
    "/start/,/end/{//!p}",
    "/start/,+5p",
    "0,/re/d",
    "1,/^$/d",
    "/^$/d",
    "/^#/d;/^$/d",
    "/^\\s*#/d",
    "\\,/var/log,p",
    "\\#x#p",
    "\\|a/b|d",
    "s/a/b/",
    "s/a/b/g",
    "s/a/b/2g",
    "s/a/b/gI",
    "s/a/b/p",
    "s/a/b/gp;d",
    "s/a/b/ ; s/c/d/",
    "s/a/b/;s/c/d/;s/e/f/",
    "s/a/b/\ns/c/d/",
    "s|/var|/srv|g",
    "s,/var,/srv,g",
    "s#a#b#",
    "s:a:b:",
    "s@a@b@g",
    "s!a!b!",
    "s_a_b_",
    "s/\\//_/g",
    "s/[\\/]/_/g",
    "s/[^a-z]//g",
    "s/[[:space:]]\\+/ /g",
    "s/[][]//g",
    "s/^[ \\t]*//;s/[ \\t]*$//",
    "s/.*user=\\([^ ]*\\).*/\\1/p",
    "s/.*\\[\\(.*\\)\\].*/\\1/",
    "s/\\[[^]]*\\]//",
    "s/([0-9]+)ms/\\1 ms/",
    "s/x/&&/",
    "s/\\(.*\\)/\\U\\1/",
    "s/,/\\n/g",
    "s/,/\\\n/g",
    "s/a/w/;s/e/b/",
    "s/password=[^ ]*/password=***/g",
    "s/\\x1b\\[[0-9;]*m//g",
    "s/a/b/w /dev/stdout",
    "/x/w /dev/stderr",
    "y/abc/ABC/",
    "y/,/;/;p",
    ":a;N;$!ba;s/\\n/,/g",
    ":a\n$!{N;ba\n}\ns/\\n/ /g",
    "$!{N;ba};:a",
    ":a;s/^\\(\\s*\\)x/\\1 /;ta",
    ":a;/\\\\$/{N;s/\\\\\\n//;ba}",
    "$!N;/^\\(.*\\)\\n\\1$/!P;D",
    "1!G;h;$!d",
    "G",
    "n;d",
    "N;P;D",
    "x;p;x",
    "H;$!d;x;s/\\n/,/g",
    "/a/{n;p}",
    "/a/{/b/{p};d}",
    "/a/{;p;;}",
    "/a/ { s/a/b/ ; p }",
    "/a/{s/a/b/}",
    "/a/b\ns/x/y/",
    "/a/bend;s/x/y/;:end",
    "l",
    "l 80",
    "F",
    "z",
    "1i\\\nheader",
    "1i header",
    "$a the end",
    "$a\\\nfirst\\\nsecond\np",
    "a\\  indented",
    "/x/c changed; w nothing",
    "# a comment w x\np",
    "#n\np",
    "p # print",
    "r /etc/hostname",
    "$r /dev/stdin",
    "s/größe/→/",
    "",
    " ; ;\n",
    "v 4.2\np",
];

/// Scripts that are refused; those behind the mark hide what they do from a reader with weaker eyes.
const REFUSED: &[&str] = &[
    "w /tmp/x",
    "w/tmp/x",
    "w",
    "1w /tmp/x",
    "/a/w /tmp/x",
    "$!w x",
    "/a/,/b/w x",
    "W /tmp/x",
    "w /dev/stdout ",
    "w /dev/stdout;p",
    "w /dev/stdout}",
    "w /dev/tcp",
    "e",
    "e id",
    "1e id",
    "1eid",
    "$!e",
    "/a/e reboot",
    "s/a/b/e",
    "s/a/b/ge",
    "s/a/b/2e",
    "s/a/b/ e",
    "s/a/id/e;p",
    "s/.*/date/e",
    "s|a|b|e",
    "s/a/b/w /tmp/x",
    "s/a/b/gw/tmp/x",
    "s/a/b/ w /tmp/x",
    "s/a/b/pw x",
    "s/a/b/w",
    "p;w x",
    "p\nw x",
    "p\ne",
    "{w x\n}",
    "/a/{p;w x\n}",
    "/a/{e\n}",
    "s/a/b/;w x",
    "s/a/b/\nw x",
    "y/a/b/;w x",
    "b;w x",
    "b x;w x",
    "ba}w x",
    ":a;w x",
    "q;e id",
    "q5;w x",
    "l 5;w x",
    "=;w x",
    "#c\nw x",
    "p #c\ne id",
    "a text\nw x",
    "a\\\ntext\nw x",
    "i\\\ntext\\\nmore\nw x",
    "c text\ne id",
    "v 4.2;w x",
    "};w x",
    "r /etc/shadow",
    "r /root/.ssh/id_rsa",
    "r /etc/x/../shadow",
    "r /etc/hostname;p",
    "{r /etc/hostname}",
    "R /proc/1/environ",
    "R /dev/zero",
    "r",
    // What hides.
    "s/[/]/w x/;p",
    "s/[/]/x/w y]/b/",
    "s/[\\]/]/p/",
    "s/[[:x]/]/p/",
    "s/[[:x:]]/p/",
    "s/[\\][]/p/",
    "/[/]/p",
    "/[/w x\n]/p",
    "y/[/]/w x/",
    "s/a/b\\\\/w x",
    "s/a\\/b/c/w x",
    "s/a\\\\/b/w x",
    "s,a\\,b,c,w x",
    "\\,a\\,b,w x",
    "saabaw",
    "s a b w x",
    "s\\a\\b\\w x",
    "s\na\nb\n",
    "s(a(b(",
    "s.a.b.",
    "s*a*b*",
    "s&a&b&",
    "sòaòbò",
    "\\aba p",
    "\\\\a\\p",
    "a text\\\\\nw x",
    "a\\ \nw x",
    "a\\\t\nw x",
    "a\\\\\nw x",
    "a\nw x",
    "a\\\n\nw x",
    "a",
    "a\\",
    "a text\\",
    "# c\\\nw x",
    "# c\\\np",
    ":a}\np",
    ":a b\np",
    ":a w x",
    ":",
    "1:a",
    "{p",
    "p}",
    "}",
    "1}",
    "{p;1}",
    "p p",
    "p w x",
    "d e x",
    "l5 p",
    "1!!p",
    "1,p",
    "1~p",
    "1 ~ 2p",
    "L",
    "k",
    "é",
    "s/a/b",
    "s/a",
    "s",
    "y/a/b",
    "/a",
    "/a/",
    "1",
    "s/a/b/k",
    "s/a\nb/c/",
    "s/a\\\nb/c/",
    "s/a/b\nw x/",
    "s/a/b/\r",
    "p\u{b}w x",
    "p\0",
];

#[test]
fn what_people_type_is_proven() {
    for script in READING {
        assert_eq!(judge(script, false), Ok(()), "{script}");
    }
    assert!(READING.len() >= 80);
}

#[test]
fn what_does_more_is_refused() {
    for script in REFUSED {
        assert!(judge(script, false).is_err_and(|reason| !reason.is_empty()), "{script}");
    }
    assert!(REFUSED.len() >= 80);
}

#[test]
fn the_sandbox_of_sed_settles_doubts_and_nothing_else() {
    for doubtful in ["s/[/]/x/", "s(a(b(", "a\\ \nw x", "k"] {
        assert_eq!(judge(doubtful, true), Ok(()), "{doubtful}");
    }
    for harmful in ["w /tmp/x", "e id", "s/a/b/e", "s/a/b/w x", "r /etc/shadow", "p\0"] {
        assert!(judge(harmful, true).is_err(), "{harmful}");
    }
}

#[test]
fn a_long_script_is_refused() {
    assert_eq!(judge(&"p\n".repeat(4_096), false), Ok(()));
    assert_eq!(judge(&"p\n".repeat(4_097), false), Err("is longer than 8192 bytes".to_owned()));
    assert_eq!(judge(&format!("{}{}", "{".repeat(4_000), "}".repeat(4_000)), false), Ok(()), "depth is no trouble");
}

#[test]
fn reasons_are_plain_words() {
    let scripts = [
        "w /tmp/x",
        "s/a/b/w /tmp/x",
        "W",
        "e id",
        "s/a/b/e",
        "r /etc/shadow",
        "s/[/]/x/",
        "s(a(b(",
        "a text\\\\\np",
        "a\\ \np",
        ":a}",
        "k",
        "p p",
        "{p",
        "p}",
        "s/a",
        "p\u{b}",
    ];
    let reasons: Vec<String> = scripts.iter().filter_map(|script| judge(script, false).err()).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r"
    writes to /tmp/x (w)
    writes to /tmp/x (s///w)
    writes to a file (W)
    runs a command (e)
    runs what it made as a command (s///e)
    reads /etc/shadow, which is not proven to be a plain file without secrets
    holds a regular expression whose end is doubtful (`[`)
    holds a regular expression in unusual delimiters
    holds a text whose end is doubtful
    holds an empty text, or one whose beginning is doubtful
    holds a label whose end is doubtful
    holds a command that is not known (`k`)
    holds a command with `p` behind it
    is not complete: a block is not closed
    closes a block that is not open
    holds a part without an end
    holds a character that cannot be seen (`\u{b}`)
    ");
}

/// Commands that no script may hold.
const HARMFUL: &[&str] =
    &["w /tmp/x", "e id", "e", "s/x/y/e", "s/x/y/w /tmp/x", "1,$W x", "r /etc/shadow", "/x/ ! w x"];

#[test]
fn a_harmful_command_is_found_before_and_behind() {
    for script in READING {
        for harmful in HARMFUL {
            for planted in [format!("{harmful}\n{script}"), format!("{script}\n{harmful}")] {
                assert!(judge(&planted, false).is_err(), "{planted}");
            }
        }
    }
}

#[test]
fn a_harmful_command_is_found_in_the_middle() {
    let mut seen = 0;
    for script in READING {
        let cuts = script.char_indices().filter(|(_, c)| matches!(c, ';' | '\n' | '{')).map(|(at, _)| at + 1);
        // Only where what stands before is a whole script, but for open blocks, is what follows a command for certain.
        let is_boundary = |cut: &usize| {
            let (head, _) = script.split_at(*cut);
            let open = head.matches('{').count().saturating_sub(head.matches('}').count());
            judge(&format!("{head}{}", "};".repeat(open)), false) == Ok(())
        };
        for cut in cuts.filter(is_boundary) {
            let (head, tail) = script.split_at(cut);
            for harmful in HARMFUL {
                let planted = format!("{head}{harmful}\n{tail}");
                assert!(judge(&planted, false).is_err(), "{planted}");
                seen += 1;
            }
        }
    }
    assert!(seen > 300, "only {seen} places");
}

const PIECES: &[&str] = &[
    "s/", "/", "a", "\\", "\n", ";", "}", "{", "p", "w", "e", "[", "]", "|", " ", "y/", "#", "a\\", "i ", "$", "1",
    ",", "!", "~", "/a/", "g", "b", ":a", "\\/", "[^", "&", "N", "s,", "é",
];

proptest! {
    #[test]
    fn any_text_is_judged(script in "\\PC{0,80}", sandboxed: bool) {
        let _ = judge(&script, sandboxed);
    }

    /// Behind any whole script, on a line of its own, a harmful command is found.
    #[test]
    fn no_surroundings_make_a_command_harmless(
        head in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
        tail in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
    ) {
        let head = head.concat();
        if judge(&head, false) == Ok(()) {
            let planted = format!("{head}\ne id\n{}", tail.concat());
            prop_assert!(judge(&planted, false).is_err(), "{}", planted);
        }
    }
}

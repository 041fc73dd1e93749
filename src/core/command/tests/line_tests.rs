//! How a line runs: the vectors, streams and joints that come of it, the same list again from the line that is written of
//! it, and what no shell runs.

use proptest::prelude::*;

use super::super::{Argument, CommandList, Feeding, Joint, Stream, judge};

fn list(line: &str) -> CommandList {
    let judged = judge(line);
    judged.run.unwrap_or_else(|| panic!("{line}: {}", judged.reason))
}

fn words_of(line: &str) -> CommandList {
    list(line)
}

fn words(line: &str) -> Vec<Vec<String>> {
    let shown = |word: &Argument| match word {
        Argument::Literal(text) => text.clone(),
        Argument::Pattern(text) => format!("<{text}>"),
        Argument::Home(text) => format!("HOME{text}"),
    };
    list(line).stages().map(|stage| stage.words.iter().map(shown).collect()).collect()
}

#[test]
fn a_line_becomes_vectors_with_the_quotes_off() {
    let table: [(&str, &[&[&str]]); 11] = [
        (r#"echo "a b" 'c d' e\ f "\$x" "\n" \*"#, &[&["echo", "a b", "c d", "e f", "$x", "\\n", "*"]]),
        ("echo 'it'\\''s' ''", &[&["echo", "it's", ""]]),
        ("echo $'a\\tb'", &[&["echo", "a\tb"]]),
        ("ls ~ ~/x '~' a~", &[&["ls", "HOME", "HOME/x", "~", "a~"]]),
        ("ls *.log '*'.log a[0-9] [!a]?", &[&["ls", "<*.log>", "*.log", "<a[0-9]>", "<[!a]?>"]]),
        ("ls \"a b\"*", &[&["ls", "<a b*>"]]),
        ("ls a-b* 'x{y}'*", &[&["ls", "<a\\-b*>", "<x\\{y\\}*>"]]),
        ("curl -s https://example.com/?q=1", &[&["curl", "-s", "https://example.com/?q=1"]]),
        ("ls # not this", &[&["ls"]]),
        ("ls -l; df -h\nuptime", &[&["ls", "-l"], &["df", "-h"], &["uptime"]]),
        ("ls \\\n -l", &[&["ls", "-l"]]),
    ];
    for (line, expected) in table {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn streams_and_joints_are_those_of_a_shell() {
    use Feeding::{Before, Nothing, Text};
    use Stream::{Errors, Nowhere, Output};
    let streams = |line: &str| {
        list(line).stages().map(|stage| (stage.input.clone(), stage.output, stage.errors)).collect::<Vec<_>>()
    };
    let table = [
        ("ls", vec![(Before, Output, Errors)]),
        ("ls 2>/dev/null", vec![(Before, Output, Nowhere)]),
        ("ls 2>&1", vec![(Before, Output, Output)]),
        ("ls >/dev/null 2>&1", vec![(Before, Nowhere, Nowhere)]),
        ("ls 2>&1 >/dev/null", vec![(Before, Nowhere, Output)]),
        ("ls &>/dev/null", vec![(Before, Nowhere, Nowhere)]),
        ("ls >>/dev/null", vec![(Before, Nowhere, Errors)]),
        ("echo x >&2", vec![(Before, Errors, Errors)]),
        ("cat </dev/null", vec![(Nothing, Output, Errors)]),
        ("cat <<< 'a b'", vec![(Text("a b\n".to_owned()), Output, Errors)]),
        ("ls |& wc -l", vec![(Before, Output, Output), (Before, Output, Errors)]),
    ];
    for (line, expected) in table {
        assert_eq!(streams(line), expected, "{line}");
    }
    let joints = |line: &str| list(line).0.iter().map(|(joint, stages)| (*joint, stages.len())).collect::<Vec<_>>();
    assert_eq!(
        joints("ls | wc -l && df || free; uptime"),
        [(Joint::Then, 2), (Joint::And, 1), (Joint::Or, 1), (Joint::Then, 1)]
    );
    assert_eq!(joints("ls && df | wc -l | sort"), [(Joint::Then, 1), (Joint::And, 3)]);
}

/// The rows of the attack of 2026-11-24 and their kin: what a shell would evaluate is never run as it stands.
#[test]
fn what_only_a_shell_could_run_is_refused_in_a_sentence() {
    let table = [
        ("declare -a a='($(touch F))'", "variables"),
        ("typeset -A a[0]='([$(touch F)]=1)'", "variables"),
        ("x=a;x=$x$x;echo $x", "variables"),
        ("export LD_PRELOAD=x; ls", "variables"),
        ("echo $x", "variables such as $x"),
        ("echo ${x:-1}", "variables such as ${x:-1}"),
        ("echo $(touch F)", "commands inside words"),
        ("echo `touch F`", "commands inside words"),
        ("cat <(ls)", "commands inside words"),
        ("echo $((1+1))", "calculations"),
        ("((x=1))", "calculations"),
        ("for i in 1 2; do ls; done", "loops and conditions"),
        ("while true; do ls; done", "loops and conditions"),
        ("if ls; then df; fi", "loops and conditions"),
        ("[[ -n x ]]", "loops and conditions"),
        ("f() { ls; }; f", "functions"),
        ("(ls; df)", "groups of commands"),
        ("{ ls; df; }", "groups of commands"),
        ("ls {a,b}{a,b}", "lists in braces"),
        ("echo {1..999999999}", "lists in braces"),
        ("! ls", "results turned around by `!`"),
        ("ls &", "background commands (`&`)"),
        ("time ls", "words of the shell such as `time`"),
        ("exit 1", "words of the shell such as `exit`"),
        ("cat <<E\nx\nE", "here-documents"),
        ("ls ~root", "home folders of others (`~name`)"),
    ];
    for (line, what) in table {
        let judged = judge(line);
        let expected = format!("{what} don't run here; write plain commands, or make it a declared action");
        assert_eq!((judged.reason.as_str(), judged.run), (expected.as_str(), None), "{line}");
    }
    assert_eq!(judge("ls > /tmp/x").reason, "writes to /tmp/x (>)");
    assert_eq!(judge("wc -l < /etc/hosts").reason, "reads from /etc/hosts (<); give the file as an argument instead");
}

/// A line for a shell elsewhere is a list like any other, and goes there with our quotes.
#[test]
fn an_inner_line_is_quoted_anew() {
    let table: [(&str, &[&str]); 7] = [
        ("ssh web-1 'ls   -la;df'", &["ssh", "web-1", "ls -la; df"]),
        ("ssh web-1 ls -la /srv", &["ssh", "web-1", "ls -la /srv"]),
        ("bash -c 'echo \"a b\" c\\;d|wc -l 2>&1'", &["bash", "-c", "echo \"a b\" \"c;d\" | wc -l 2>&1"]),
        ("timeout 5 sh -c 'grep -c \"x y\" /etc/hosts'", &["timeout", "5", "sh", "-c", "grep -c \"x y\" /etc/hosts"]),
        ("ssh web-1 \"bash -c 'ls;df'\"", &["ssh", "web-1", "bash -c \"ls; df\""]),
        ("kubectl exec web -- sh -c 'ls|wc -l'", &["kubectl", "exec", "web", "--", "sh", "-c", "ls | wc -l"]),
        ("sh -c 'echo $'\\''x'\\'' y'", &["sh", "-c", "echo x y"]),
    ];
    for (line, expected) in table {
        assert_eq!(words(line), [expected], "{line}");
    }
    for line in
        ["ssh web-1 'ls *.log'", "sh -c 'cat <<< x'", "ssh web-1 'echo $x'", "bash -c 'for i in 1; do ls; done'"]
    {
        assert_eq!(judge(line).run, None, "{line}");
    }
}

/// Nothing expands: what comes of a line is never larger than the line, but for our own quotes.
#[test]
fn a_line_comes_to_no_more_than_was_written() {
    let bombs = [
        "x=a;".to_owned() + &"x=$x$x;".repeat(34) + "echo $x",
        "ls ".to_owned() + &"{a,b}".repeat(30),
        "echo *".repeat(9),
    ];
    for line in bombs {
        let size: usize = judge(&line).run.iter().flat_map(CommandList::stages).map(|stage| stage.words.len()).sum();
        assert!(size <= line.len(), "{line:.60}");
    }
}

/// Words of all kinds of characters, quoted by us.
fn any_word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9./-]{1,8}", "[ -~]{0,12}", r#"['"\\$`!*?\[\]{}();&|<>~# \n\t]{1,8}"#, "[äß€]{1,3}",]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// What is quoted by us is read back as the same vector, so that what was judged is what runs.
    #[test]
    fn what_we_quote_is_read_back(words in prop::collection::vec(any_word(), 1..6)) {
        let mut all = vec!["echo".to_owned()];
        all.extend(words);
        let line = super::super::quoted(&all);
        let judged = judge(&line);
        let list = judged.run.ok_or_else(|| TestCaseError::fail(format!("{line}: {}", judged.reason)))?;
        let literal: Vec<Argument> = all.into_iter().map(Argument::Literal).collect();
        prop_assert_eq!(&list.stages().next().expect("one command").words, &literal);
        prop_assert_eq!(words_of(&list.to_line()), list);
    }
}

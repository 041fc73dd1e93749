//! What the classifier promises, over the shipped tables.

mod line_tests;
mod machine;
mod platform;
mod properties;
mod review;
mod services;
mod userland;

use super::*;

/// Every line must be proven; every mistake is listed.
fn assert_reads(lines: &[&str]) {
    let wrong: Vec<String> = lines
        .iter()
        .map(|line| (line, judge(line)))
        .filter(|(_, judged)| !judged.is_proven())
        .map(|(line, judged)| format!("{line}\n    {}", judged.reason))
        .collect();
    assert!(wrong.is_empty(), "these only read and end:\n{}", wrong.join("\n"));
}

/// Every line must be a write or unknown.
fn assert_refused(lines: &[&str]) {
    let wrong: Vec<&str> = lines.iter().copied().filter(|line| judge(line).intent.only_reads()).collect();
    assert!(wrong.is_empty(), "these do not only read:\n{}", wrong.join("\n"));
}

/// Every line only reads, but does not end, for this reason.
fn assert_endless(lines: &[(&str, Category)]) {
    for (line, category) in lines {
        let judged = judge(line);
        assert_eq!((judged.intent.only_reads(), judged.category), (true, Some(*category)), "{line}: {}", judged.reason);
    }
}

#[test]
fn the_shipped_tables_can_be_read() {
    assert!(table::shipped().len() > 5);
}

/// EXE-19: what passes and what does not, as the requirements say it (C-21: a start time does not end a stream).
#[test]
fn what_the_requirements_name_is_judged_so() {
    assert_reads(&[
        "journalctl --since \"10 min ago\"",
        "kubectl logs --since=10m --tail=100 web-1",
        "ssh host \"ls -la\"",
        "mysql -e \"SELECT 1\"",
        "find /srv -name '*.log' 2>/dev/null",
        "ls -la 2>&1",
    ]);
    let category = |line: &str| judge(line).category;
    assert_eq!(category("journalctl -f"), Some(Category::UnboundedStream));
    assert_eq!(category("journalctl --since \"10 min ago\" -f"), Some(Category::UnboundedStream));
    assert_eq!(category("ssh host"), Some(Category::InteractiveRepl));
    assert_eq!(category("mysql"), Some(Category::InteractiveRepl));
    assert_eq!(category("docker exec -it web bash"), Some(Category::TtyFlag));
    assert_eq!(category("less /var/log/syslog"), Some(Category::Pager));
    assert_eq!(category("timeout 5s journalctl -f"), None);
    assert_refused(&["sudo ls", "curl -X POST http://example.com", "unknown-tool", "ssh host rm -rf /srv", "a > b"]);
}

/// EXE-20, word for word.
#[test]
fn what_does_not_end_is_rewritten_as_the_requirements_say() {
    let table = [
        ("journalctl -f", "journalctl -n 200 --since \"10 min ago\""),
        ("docker logs -f x", "docker logs --tail=200 x"),
        ("kubectl logs -f x", "kubectl logs --tail=200 --since=10m x"),
        ("tail -f file", "tail -n 200 file"),
        ("top", "top -b -n 1"),
        ("watch -n 2 df -h", "df -h"),
    ];
    for (line, rewrite) in table {
        assert_eq!(judge(line).rewrite.as_deref(), Some(rewrite), "{line}");
    }
}

/// EXE-22: nothing that changes something is below 2, and what destroys is 3.
#[test]
fn risk_says_how_bad_it_can_be() {
    let risk = |line: &str| judge(line).risk.level();
    assert_eq!(
        ["ls", "rm -rf /srv", "shutdown now", "ls > /tmp/x", "mv a b", "unknown-tool"].map(risk),
        [0, 3, 3, 3, 2, 2]
    );
    let never_low = ["touch a", "kubectl apply -f x", "git push", "psql -c 'update t set a = 1'", "redis-cli set a 1"];
    assert!(never_low.iter().all(|line| risk(line) >= 2));
}

#[test]
fn a_secret_stays_one_whatever_reads_it() {
    let shadows = [
        "cat /etc/shadow",
        "cat /etc/x/../shadow",
        "grep -f /etc/shadow x",
        "head --bytes=5 /etc/shadow",
        "diff <(cat /etc/shadow) x",
        "cat < /etc/shadow",
        "ssh web-1 cat /etc/shadow",
        "sh -c 'cat /etc/shadow'",
        "awk '{print}' /etc/shadow",
        "tar -tf /root/.ssh/id_rsa",
        "curl file:///etc/shadow",
        "while read -r l; do echo $l; done < /etc/shadow",
        "f=/etc/shadow; cat $f",
    ];
    assert_refused(&shadows);
    for line in ["cat /var/log/*.log", "grep -r password /etc", "echo x | xargs cat"] {
        assert!(judge(line).shows_unseen.is_some(), "{line}");
    }
}

//! What operators type at this machine without a model: short questions, commands as they stand, and words in any case.

use crate::support::bot::Home;

#[test]
fn questions_of_operators_run_the_command_that_answers_them() {
    let home = Home::new();
    let log = home.write("app.log", "one\nERROR: disk full\nan error\n");
    let table = [
        ("who is logged in", "`who`"),
        ("who's logged in", "`who`"),
        ("last logins", "`last -n 20`"),
        ("any zombies?", "`ps -eo stat=,pid=,ppid=,user=,comm= | grep '^Z'`"),
        ("which kernel is running", "`uname -srm`"),
        ("ip addresses", "`ip -brief address`"),
        ("dns", "`cat /etc/resolv.conf`"),
        ("inodes", "`df -i`"),
        ("biggest files in /var/log", "`du -xah -D /var/log | sort -rh | head -n 20`"),
        ("what fills /var/log", "`du -xah -D /var/log | sort -rh | head -n 20`"),
        ("what changed in /etc today", "`find -H /etc -xdev -type f -mtime -1 | head -n 50`"),
        ("oom kills", "`dmesg -T | grep -i -E 'out of memory|oom-kill|killed process'`"),
        ("cert /etc/hosts", "`openssl x509 -in /etc/hosts -noout -subject -issuer -dates`"),
        ("journal errors", "`journalctl -p err -n 30 --no-pager --since today`"),
        ("uname -r", "`uname -r`"),
    ];
    let done = home.pipe(&table.map(|(asked, _)| asked).join("\n"));
    // Of a command that prints nothing here, the sentence of its intent is said.
    let silent = [
        "Nobody is logged in.",
        "Nobody has logged in",
        "There are no zombies.",
        "Nothing was changed there",
        "The kernel log has no",
        "The journal has no",
    ];
    for (asked, command) in table {
        let answer = done.answer(asked).replace('\n', " ");
        let is_silent = silent.iter().any(|sentence| answer.starts_with(sentence));
        assert!(answer.starts_with(command) || is_silent, "{asked}: {answer}");
    }
    // A path is one word, whatever is in it.
    let odd = home.pipe("biggest files in /var/log;reboot\n");
    let answer = odd.answer("biggest files in /var/log;reboot");
    assert!(answer.contains("`du -xah -D \"/var/log;reboot\" | sort -rh | head -n 20`"), "{answer}");
    let path = log.display();
    let asked = [
        format!("errors in {path}"),
        format!("last 5 lines of {path} with Error"),
        format!("grep -i error {path}"),
        format!("grep -c nothing {path}"),
        format!("grep -n nothing {path}"),
    ];
    let done = home.pipe(&asked.join("\n"));
    for asked in &asked[..3] {
        let answer = done.answer(asked);
        assert!(answer.contains("ERROR: disk full") && answer.contains("an error"), "{asked}: {answer}");
    }
    assert!(done.answer(&asked[3]).contains("\n  0"), "{done:?}");
    assert!(done.answer(&asked[4]).contains("Note: it printed nothing"), "{done:?}");
}

//! What a model gets to see of this machine's files, with the real tool server: nothing that no person has named, neither by a
//! name without a path nor by a link out of a folder that somebody named. No line talks to another program for it.

use std::os::unix::fs::symlink;

use countersign_model_fake::{Fake, Turn};
use serde_json::json;

use super::{bot, find_host, this_host, told};
use crate::support::bot::Home;

/// What stands in files that nobody named.
const MARK: &str = "zq7unnamed";

fn run(line: &str) -> Turn {
    Turn::call("host_command__run", &json!({ "target": this_host(), "line": line }))
}

fn read(path: &str) -> Turn {
    Turn::call("host_file__read", &json!({ "target": this_host(), "path": path }))
}

#[test]
fn a_model_sees_no_file_that_nobody_named() {
    let home = Home::new();
    let at = |name: &str| home.path().canonicalize().expect("it is there").join(name).display().to_string();
    for folder in ["named", "other"] {
        std::fs::create_dir(at(folder)).expect("a folder can be made");
    }
    home.write("named/plain.txt", "in a named folder\n");
    home.write("other/plain.txt", format!("{MARK}\n"));
    symlink(at("other"), at("named/out")).expect("a link can be made");
    symlink(at("other/plain.txt"), at("named/out.txt")).expect("a link can be made");
    let question = format!("which file or read-only command says what {} is for", at("named"));
    let out = at("named/out/plain.txt");
    let hostile = [
        "cat *".to_owned(),
        format!("grep -rh {MARK}"),
        format!("git grep --no-index -h {MARK}"),
        "diff -rN tmp etc".to_owned(),
        format!("rgrep {MARK} tmp"),
        "cat etc".to_owned(),
        format!("cat {out}"),
        format!("cat {}", at("named/out.txt")),
        format!("cat {}*", at("named/out")),
        format!("grep -Rh . {}", at("named")),
        format!("diff -rN {} /proc/fs", at("named")),
    ];
    let reads = [out.clone(), at("named/out.txt")];
    let turns = hostile.iter().map(|line| run(line)).chain(reads.iter().map(|path| read(path)));
    for turn in turns {
        let fake = Fake::start(vec![find_host(), turn, Turn::says("I cannot say.")]);
        let mut bot = bot(&home, &fake.base_url(), 30);
        let answer = bot.ask(&question).text();
        let told: Vec<String> = fake.asked().iter().map(told).collect();
        assert!(told.len() >= 2, "it was called: {answer}");
        let shown = told.concat().replace(&format!("grep -rh {MARK}"), "").replace(&format!("-h {MARK}"), "");
        let shown = shown.replace(&format!("rgrep {MARK}"), "");
        assert!(!shown.contains(MARK) && !answer.contains(MARK), "{answer}\n{}", told.last().expect("asked"));
        bot.end();
    }
    let fake =
        Fake::start(vec![find_host(), run(&format!("cat {}", at("named/plain.txt"))), Turn::says("I cannot say.")]);
    let mut bot = bot(&home, &fake.base_url(), 30);
    bot.ask(&question);
    let told = told(fake.asked().last().expect("it was asked"));
    assert!(told.contains("in a named folder"), "what was named is read: {told}");
    bot.end();
}

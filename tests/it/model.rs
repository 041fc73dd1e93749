//! The real binary with a scripted model behind it, in the console, with the real host spoke: what a model may find out, what
//! it may not do, and what of its words people see. The loop's own cases are beside it, in the core.

mod catalogue;
mod on_telegram;
mod reach;
mod rows;
mod small;
mod steps;
mod stream;

use std::net::TcpListener;

use countersign_model_fake::{Fake, Turn};
use serde_json::{Value, json};

use crate::support::bot::{Bot, Home};

/// A question that no set command is like.
const QUESTION: &str = "why do my customers complain";

/// One for which the calls about disks are offered.
const DISK_QUESTION: &str = "could it be the disk usage that my customers complain about";

/// One for which the calls about processes are offered.
const PROCESS_QUESTION: &str = "do my customers complain because some process runs wild";

/// The key that the model's server is asked with.
const KEY: &str = "sk-planted-zebra-0123456789";

/// What stands over a model's words where nothing was looked at for them.
const UNREAD: &str = "This answer changed nothing. Nothing was read. The model says:";

/// What stands over them where two things were read.
const READ: &str = "This answer changed nothing. Read: 2 things (`sources`). The model says:";

/// A bot that asks this server.
fn bot(home: &Home, url: &str, seconds: u32) -> Bot {
    bot_with(home, url, &[("COUNTERSIGN_MODEL__SECONDS", &seconds.to_string())])
}

/// The same, set up otherwise.
fn bot_with(home: &Home, url: &str, env: &[(&str, &str)]) -> Bot {
    let mut command = home.bot();
    command.arg("--json").env("COUNTERSIGN_MODEL__BASE_URL", url).env("COUNTERSIGN_MODEL__SMART", "big");
    command.env("COUNTERSIGN_MODEL__API_KEY", KEY).envs(env.iter().copied());
    Bot::spawn(&mut command)
}

fn this_host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux has one");
    format!("host:{}", name.trim())
}

fn find_host() -> Turn {
    Turn::call("host_machine__find", &json!({}))
}

fn disks() -> Turn {
    Turn::call("host_disk__usage", &json!({ "target": this_host() }))
}

/// What the model was told, as one text.
fn told(asked: &Value) -> String {
    let messages = asked["messages"].as_array().into_iter().flatten();
    messages.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The id of a process, as the model was told it: its number, and when it began.
fn process(fake: &Fake, pid: u32) -> String {
    let told = told(fake.asked().last().expect("it was asked"));
    let id = told.split_whitespace().find(|word| word.starts_with("process:") && word.contains(&format!(":{pid}-")));
    id.unwrap_or_else(|| panic!("the process was not found: {told}")).to_owned()
}

#[test]
fn a_model_finds_out_and_answers_from_what_it_read() {
    let fake = Fake::start(vec![find_host(), disks(), Turn::says("The disks have room, so look at the shop itself.")]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    let answer = bot.ask(DISK_QUESTION);
    assert_eq!(answer.text(), format!("{READ}\n| The disks have room, so look at the shop itself."));
    let claim = &answer.messages[0]["claim"];
    let rests_on: Vec<&str> =
        claim["sources"].as_array().into_iter().flatten().filter_map(|source| source["call"].as_str()).collect();
    assert_eq!(rests_on, ["host_machine.find", "host_disk.usage"], "{claim}");
    let asked = fake.asked();
    assert_eq!(asked.len(), 3);
    assert!(told(&asked[1]).contains(&this_host()), "{}", told(&asked[1]));
    assert!(told(&asked[2]).contains("Mount | Used"), "{}", told(&asked[2]));
    let offered = |asked: &Value| asked["tools"].as_array().map_or(0, Vec::len);
    assert!(asked.iter().all(|asked| (1..=8).contains(&offered(asked))), "{asked:?}");
    // What is known needs no model.
    assert!(bot.ask("disk usage").text().contains('/'));
    assert_eq!(fake.asked().len(), 3);
    assert!(bot.ask("budget").text().contains("tokens"), "what was used is counted");
    bot.end();
}

#[test]
fn what_a_model_makes_up_is_not_shown() {
    let lies = [
        (Turn::says("I have restarted the shop."), "it says that something was changed, and nothing was"),
        (Turn::says("The shop is running."), "it says how something is, and nothing was looked at"),
        (Turn::says("Load is 97.3 now."), "the number 97.3 in it was never read"),
    ];
    let fake = Fake::start(lies.iter().map(|(turn, _)| turn.clone()).collect());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    for (turn, why) in lies {
        let text = bot.ask(QUESTION).text();
        assert!(text.starts_with("What the model wrote is not shown: ") && text.contains(why), "{turn:?}: {text}");
    }
    bot.end();
}

#[test]
fn a_change_that_a_model_wants_is_a_plan_and_a_person_decides() {
    let home = Home::new();
    let sleeper = home.process("shopd", &[]);
    let (find, pid) = (json!({ "query": "shopd" }), sleeper.pid());
    let fake = Fake::start(vec![find_host(), Turn::call("host_process__find", &find)]);
    let mut bot = bot(&home, &fake.base_url(), 30);
    // The process is named by its number and when it began, which only the answer of the tool says.
    bot.ask(PROCESS_QUESTION);
    fake.then(vec![Turn::call("host_process__stop", &json!({ "target": process(&fake, pid) }))]);
    let answer = bot.ask(PROCESS_QUESTION);
    let card = answer.card();
    assert!(answer.text().contains("Proposed by a model that read untrusted text."), "{}", answer.text());
    let done = bot.ask(&card.approve());
    assert!(done.text().contains("gone"), "{}", done.text());
    assert_eq!(fake.asked().len(), 4, "nothing is asked of a model to carry a plan out");
    bot.end();
}

/// Invariant 10, and each way in which a server fails.
#[test]
fn the_bot_is_useful_with_the_model_down() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("there is a port").local_addr().expect("it is bound");
    let home = Home::new();
    let mut unreachable = bot(&home, &format!("http://{closed}/v1"), 30);
    let text = unreachable.ask(QUESTION).text();
    assert!(text.contains("the model did not answer: its server cannot be reached: "), "{text}");
    assert!(unreachable.ask("disk usage").text().contains('/'));
    unreachable.end();

    let turns = vec![Turn::Garbage("<html>".to_owned()), Turn::Refuses(401), Turn::Hangs, Turn::says("I cannot say.")];
    let fake = Fake::start(turns);
    let mut bot = bot(&home, &fake.base_url(), 2);
    let mut said = Vec::new();
    for _ in 0..4 {
        said.push(bot.ask(QUESTION).text().replace(&fake.base_url(), "URL"));
    }
    insta::assert_snapshot!(said.join("\n"), @"
    I do not know a set command for that, and the model did not answer: its server answers something that is no answer: expected value at line 1 column 1 (`countersign doctor` says what to do). Set commands, approvals and rules need no model; `help` lists them.
    I do not know a set command for that, and the model did not answer: its server answers 401: the fake was told to refuse (`countersign doctor` says what to do). Set commands, approvals and rules need no model; `help` lists them.
    I do not know a set command for that, and the model did not answer: no answer within 2 s. Set commands, approvals and rules need no model; `help` lists them.
    This answer changed nothing. Nothing was read. The model says:
    | I cannot say.
    ");
    let done = bot.end();
    assert!(!done.err.contains(KEY) && !done.out.contains(KEY), "{}", done.err);
}

#[test]
fn a_secret_is_told_to_no_model() {
    let fake = Fake::start(Vec::new());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    bot.ask(&format!("is {KEY} a good key for customers"));
    let asked = fake.asked();
    assert!(!asked.is_empty() && asked.iter().all(|asked| !asked.to_string().contains(KEY)), "{asked:?}");
    bot.end();
}

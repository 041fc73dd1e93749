//! Models that make no function calls, or none that anybody can read: they choose, and then say what with; with the real
//! binary. What they choose meets the same gates.

use countersign_model_fake::{Fake, Turn, Ways};
use serde_json::{Value, json};

use super::{DISK_QUESTION, READ, UNREAD, bot, bot_with, disks, find_host, told};
use crate::support::bot::Home;
use crate::support::metrics::{free_address, scrape};

const ROOM: &str = "The disks have room.";

fn script() -> Vec<Turn> {
    vec![find_host(), disks(), Turn::says(ROOM)]
}

fn without(parts: &[(&'static str, u16)]) -> Ways {
    Ways { refuses: parts.to_vec(), ..Ways::default() }
}

/// How each question was put: by functions, by a schema, or in words alone.
fn ways(fake: &Fake) -> Vec<&'static str> {
    let way = |asked: &Value| match (asked.get("tools"), &asked["response_format"]["json_schema"]["name"]) {
        (Some(_), _) => "functions",
        (None, Value::String(name)) if name == "choice" => "choice",
        (None, Value::String(_)) => "arguments",
        (None, _) => "words",
    };
    fake.asked().iter().map(way).collect()
}

#[test]
fn a_server_without_functions_is_asked_in_steps_from_then_on() {
    for status in [400, 404, 422, 500] {
        let fake = Fake::with(without(&[("tools", status)]), script());
        let (home, address) = (Home::new(), free_address());
        let mut bot = bot_with(&home, &fake.base_url(), &[("COUNTERSIGN_METRICS__LISTEN", &address)]);
        assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{READ}\n| {ROOM}"), "{status}");
        let expected = ["functions", "choice", "arguments", "choice", "arguments", "choice", "words"];
        assert_eq!(ways(&fake), expected, "{status}");
        fake.then(vec![Turn::says("Ask somebody.")]);
        assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{UNREAD}\n| Ask somebody."));
        assert_eq!(ways(&fake)[7..], ["choice", "words"]);
        let metrics = scrape(&address);
        // All steps of a question are counted, and what was refused is not.
        let read = fake.asked()[1..].iter().map(|asked| asked["messages"].to_string().len().div_ceil(4)).sum::<usize>();
        let counted = metrics.lines().find(|line| line.starts_with(r#"countersign_tokens_total{direction="in""#));
        assert!(counted.is_some_and(|line| line.ends_with(&format!(" {read}"))), "{read}: {counted:?}");
        for line in [
            r#"countersign_model_fallbacks_total{tier="smart",to="steps"} 1"#,
            r#"countersign_model_answers_total{tier="smart",form="stream",way="steps"} 8"#,
        ] {
            assert!(metrics.contains(line), "{line} is not in {metrics}");
        }
        bot.end();
    }
}

/// What it was told before stands in the next question as it does for any other model, and nothing is asked for that is
/// not offered.
#[test]
fn each_step_is_held_to_what_is_offered() {
    let fake = Fake::start(script());
    let home = Home::new();
    let mut bot = bot_with(&home, &fake.base_url(), &[("COUNTERSIGN_MODEL__CALLS", "steps")]);
    assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{READ}\n| {ROOM}"));
    assert_eq!(ways(&fake), ["choice", "arguments", "choice", "arguments", "choice", "words"], "never by functions");
    let asked = fake.asked();
    let choices = &asked[0]["response_format"]["json_schema"]["schema"]["properties"]["next"]["enum"];
    let choices: Vec<&str> = choices.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(choices.contains(&"host_machine__find") && choices.last() == Some(&"answer"), "{choices:?}");
    let names = choices.iter().filter(|name| **name != "answer");
    assert!(names.clone().count() > 1 && names.clone().all(|name| told(&asked[0]).contains(name)), "each is described");
    let target = &asked[3]["response_format"]["json_schema"]["schema"]["properties"]["target"];
    assert_eq!(target["enum"], json!([super::this_host()]), "only what is known to be there");
    assert!(told(&asked[5]).contains("Mount | Used"), "{}", told(&asked[5]));
    bot.end();
}

#[test]
fn a_model_that_writes_calls_nobody_can_read_is_asked_in_steps() {
    let leaks = Turn::says("<tool_call>host_machine__find</tool_call>");
    let fake = Fake::start([vec![leaks], script()].concat());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    let answer = bot.ask(DISK_QUESTION);
    assert_eq!(answer.text(), format!("{READ}\n| {ROOM}"));
    assert_eq!(ways(&fake)[..2], ["functions", "choice"]);
    assert!(!bot.end().out.contains("tool_call"));
}

/// Once is no habit: it may do it right the next time. What it does again and again is one.
#[test]
fn a_model_that_wrote_its_calls_once_is_offered_functions_again() {
    let leaks = || Turn::says("<tool_call>host_machine__find</tool_call>");
    let leaking = (0..3).flat_map(|_| [leaks(), Turn::says(ROOM)]);
    let fake = Fake::start(leaking.chain([Turn::says(ROOM)]).collect());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    for n in 0..4 {
        bot.ask(&format!("{DISK_QUESTION} {n}"));
    }
    bot.end();
    let in_steps = ["functions", "choice", "words"].repeat(3);
    assert_eq!(ways(&fake), [in_steps, vec!["choice", "words"]].concat());
}

/// Nor is it one where its server passes over what holds it to a choice.
#[test]
fn what_was_only_tried_once_is_not_the_way_from_then_on() {
    let ignores = Ways { ignores: vec!["response_format"], ..Ways::default() };
    let leaks = Turn::says("<tool_call>host_machine__find</tool_call>");
    let fake = Fake::with(ignores, vec![leaks, Turn::says("The disks."), Turn::says(ROOM), Turn::says(ROOM)]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    for n in 0..2 {
        bot.ask(&format!("{DISK_QUESTION} {n}"));
    }
    bot.end();
    assert_eq!(ways(&fake), ["functions", "choice", "words", "functions"]);
}

/// Where no server holds it to anything, it may still write what it wants, and that is read as from any other model.
#[test]
fn without_schemas_a_model_writes_its_calls() {
    let refuses = without(&[("tools", 400), ("response_format", 400)]);
    let fake = Fake::with(refuses, script());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{READ}\n| {ROOM}"));
    assert_eq!(ways(&fake), ["functions", "choice", "words", "words", "words"]);
    assert!(told(&fake.asked()[2]).contains("To call one, write nothing but JSON"), "it is told how");
    bot.end();

    // A server that passes over what it does not know says nothing of it; the answer shows it.
    let ignores = Ways { ignores: vec!["response_format"], ..without(&[("tools", 400)]) };
    let fake = Fake::with(ignores, [vec![Turn::says("I would look at the disks.")], script()].concat());
    let mut bot = bot_with(&home, &fake.base_url(), &[]);
    assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{READ}\n| {ROOM}"));
    assert_eq!(ways(&fake), ["functions", "choice", "words", "words", "words"]);
    bot.end();
}

#[test]
fn a_model_that_is_to_be_asked_by_functions_is_asked_by_nothing_else() {
    let fake = Fake::with(without(&[("tools", 400)]), Vec::new());
    let home = Home::new();
    let mut bot = bot_with(&home, &fake.base_url(), &[("COUNTERSIGN_MODEL__CALLS", "native")]);
    let text = bot.ask(DISK_QUESTION).text();
    assert!(text.contains("its server answers 400: this server does not know `tools`"), "{text}");
    assert_eq!(ways(&fake), ["functions"]);
    bot.end();
}

/// All steps together are one question, with one time limit.
#[test]
fn the_time_limit_is_for_all_steps_together() {
    let fake = Fake::with(without(&[("tools", 400)]), vec![find_host(), Turn::Hangs, Turn::says("Ask somebody.")]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 2);
    let text = bot.ask(DISK_QUESTION).text();
    assert!(text.contains("no answer within 2 s"), "{text}");
    assert_eq!(bot.ask(DISK_QUESTION).text(), format!("{UNREAD}\n| Ask somebody."));
    bot.end();
}

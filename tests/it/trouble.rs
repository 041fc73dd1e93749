//! The real binary where something does not work: what people are told, what they can press, what they see of what a tool
//! said, and that a word ends what takes too long. The cases of each are beside it, in the core.

use countersign_model_fake::{Fake, Turn};
use serde_json::json;

use crate::support::bot::{Answer, Bot, Home, until};

/// A question that no set command is like.
const QUESTION: &str = "why do my customers complain";

/// A bot that asks this server.
fn bot(home: &Home, fake: &Fake) -> Bot {
    let mut command = home.bot();
    command.arg("--json").env("COUNTERSIGN_MODEL__BASE_URL", fake.base_url()).env("COUNTERSIGN_MODEL__SMART", "big");
    Bot::spawn(&mut command)
}

#[test]
fn a_failure_says_why_and_what_to_do_and_its_button_runs_only_when_it_is_pressed() {
    let home = Home::new();
    let mut bot = Bot::json(&home);
    let late = bot.ask("wait 1 seconds until port 1 is listening").text();
    let (_, late) = late.split_once(" did not work.\n").expect("it says so");
    insta::assert_snapshot!(late, @r"
    (TIMEOUT, `still-waiting`)
    Why: what was waited for did not happen within the time that was given for it.
    What to do: wait once more, or longer, as in `wait 60 seconds until ...`; and look at what should have happened.
    nothing listened on port 1 after 1 s
    ");
    let failed = bot.ask("run ls /nowhere-zebra").text();
    assert!(failed.contains("Why (`not-found`): there is no such thing there"), "{failed}");
    let missing = bot.ask("process zebra-nowhere");
    assert!(missing.text().contains("To look further:\ntop | "), "{}", missing.text());
    assert!(bot.ask("1").text().contains("The processes on"), "the gates let it pass");
    bot.end();
}

#[test]
fn sources_are_what_the_tools_said_without_its_secrets() {
    let home = Home::new();
    let path = home.write("app.log", "begun\npassword=hunter2hunter2\n");
    let mut bot = Bot::json(&home);
    bot.ask(&format!("show file {}", path.display()));
    let sources = bot.ask("sources").text();
    assert!(sources.contains("host_file.read of host:") && sources.contains("\"begun\""), "{sources}");
    assert!(sources.contains("[masked") && !sources.contains("hunter2"), "{sources}");
    bot.end();
}

/// A question that takes too long ends by a word, at once, and the thread goes on.
#[test]
fn stop_ends_a_question_to_a_model_and_a_reading() {
    let fake = Fake::start(vec![Turn::call("host_machine__find", &json!({})), Turn::Hangs]);
    let home = Home::new();
    let mut bot = bot(&home, &fake);
    bot.say(QUESTION);
    until("the model is asked again", || fake.asked().len() == 2);
    bot.say("stop");
    let over = bot.answers(2);
    let mut said: Vec<String> = over.iter().map(Answer::text).collect();
    said.sort();
    assert_eq!(said[0], "I stop working on “why do my customers complain”.");
    assert!(
        said[1].contains(" asked for that. Nothing was changed. Read so far:\n- host_machine.find at "),
        "{}",
        said[1]
    );
    assert!(bot.ask("budget").text().contains("tokens"), "the thread goes on");

    bot.say("wait 60 seconds until port 1 is listening");
    bot.say("stop");
    let over = bot.answers(2);
    let all: Vec<String> = over.iter().map(Answer::text).collect();
    assert!(all.iter().any(|text| text.starts_with("Stopped: ") || text.contains("I stop working on")), "{all:?}");
    assert_eq!(bot.ask("stop").text(), "Nothing is being worked on here. An open plan is taken back with `cancel`.");
    bot.end();
}

//! A real small model behind llama.cpp's own server, and the real binary: what it says is mostly nonsense, and is not asked
//! here. What must hold whatever it says: people are answered in time, with words that are marked as its own or with why there
//! are none; it came in pieces; nothing was changed; what was used is counted. What it did is printed.

use std::fmt::Write as _;
use std::io::Write as _;

use countersign_model_fake::Small;
use tokio::time::Instant;

use super::{DISK_QUESTION, PROCESS_QUESTION};
use crate::support::bot::{Bot, Home};
use crate::support::metrics::{free_address, scrape};

const QUESTIONS: [&str; 2] = [DISK_QUESTION, PROCESS_QUESTION];

/// How each answer may begin, and what it then is.
const ANSWERS: [(&str, &str); 6] = [
    ("The model says", "said"),
    ("What the model wrote is not shown: ", "withheld"),
    ("I do not know a set command for that, and the model did not answer: ", "failed"),
    ("I could not make sense of what the model answered.", "senseless"),
    ("refused: ", "refused"),
    ("I stopped", "stopped"),
];

#[test]
fn a_real_model_is_answered_by_whatever_it_says() {
    let small = Small::start();
    let mut did = format!("{} behind llama.cpp, one thread:\n", Small::model());
    for calls in ["native", "steps"] {
        for question in QUESTIONS {
            did.push_str(&asked(&small, calls, question));
        }
    }
    // Past the capture of what passes: it is for whoever reads the run.
    std::io::stderr().write_all(did.as_bytes()).expect("it can be written");
}

/// A bot of its own for each question: two turns and their time limits fit into what a bot has, also on a busy machine.
fn asked(small: &Small, calls: &str, question: &str) -> String {
    let (home, address) = (Home::new(), free_address());
    let mut command = home.bot();
    command.arg("--json").env("COUNTERSIGN_MODEL__BASE_URL", small.base_url()).env("COUNTERSIGN_MODEL__CALLS", calls);
    command.env("COUNTERSIGN_MODEL__FAST", Small::model()).env("COUNTERSIGN_MODEL__SECONDS", "15");
    command.env("COUNTERSIGN_MODEL__ANSWER_TOKENS", "120").env("COUNTERSIGN_LIMITS__TURNS", "2");
    let mut bot = Bot::spawn(command.env("COUNTERSIGN_METRICS__LISTEN", &address));
    let begun = Instant::now();
    let answer = bot.ask(question);
    let (text, took) = (answer.text(), begun.elapsed().as_millis());
    let is = ANSWERS.iter().find(|(begins, _)| text.starts_with(begins)).map(|(_, is)| *is);
    let is_card = answer.messages.iter().any(|message| message.to_string().contains("\"type\":\"card\""));
    let is = is.or(is_card.then_some("card")).unwrap_or_else(|| panic!("what is this? {text}"));
    assert!(!text.contains("Done"), "nothing is done that nobody approved: {text}");
    let metrics = scrape(&address);
    let sum = |name: &str, has: &str| -> u64 {
        let lines = metrics.lines().filter(|line| line.starts_with(name) && line.contains(has));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    };
    let streams = sum("countersign_model_answers_total", r#"form="stream""#);
    let read = sum("countersign_tokens_total", r#"direction="in""#);
    let written = sum("countersign_tokens_total", r#"direction="out""#);
    assert!(read > 0, "it was asked, and what that used is counted: {metrics}");
    assert_eq!(sum("countersign_model_answers_total", r#"form="whole""#), 0, "it came in pieces");
    assert_eq!(sum("countersign_model_fallbacks_total", r#"to="written""#), 0, "the server holds it to a schema");
    assert_eq!(sum("countersign_verifications_total", ""), 0, "nothing was changed");
    if let Some(each) = read.checked_div(streams) {
        assert!(each < 6_000, "a question is bounded: {each} tokens");
    }
    assert!(bot.ask("budget").text().contains("tokens"), "what was used is shown");
    bot.end();
    let made = sum("countersign_tool_calls_total", "");
    let mut did = String::new();
    let _infallible = writeln!(
        did,
        "  {calls}: {is} after {took} ms, in {streams} streams, with {made} calls; {read} tokens read, {written} written: {:.120}",
        text.replace('\n', " ")
    );
    did
}

//! What comes from a model's server, and how: in pieces or in one, late, broken, endless, or not at all; with the real binary.
//! What of it is believed is not asked here.

use countersign_model_fake::{End, Fake, Turn, Ways};

use super::{QUESTION, UNREAD, bot, bot_with};
use crate::support::bot::Home;

/// What an answer has in it that nothing has to bear out.
const PLAIN: &str = "Grüße: ask the team 日本 about it 🎉.";

#[test]
fn an_answer_in_pieces_is_said_whole_and_so_is_one_in_one() {
    let fake = Fake::start(vec![Turn::says(PLAIN), Turn::InOne(Box::new(Turn::says(PLAIN)))]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    for _ in 0..2 {
        assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
    }
    let asked = &fake.asked()[0];
    assert!(asked["stream"] == true && asked["stream_options"]["include_usage"] == true, "{asked}");
    bot.end();
}

/// Some servers keep the line open after the model's last word, and never say that it was the last.
#[test]
fn an_answer_that_is_over_is_not_waited_for() {
    let over =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{PLAIN}\"}},\"finish_reason\":\"stop\"}}]}}\n\n");
    let fake = Fake::start(vec![Turn::Streams(vec![over], End::Hangs)]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
    bot.end();
}

/// Whatever goes wrong in the middle: nothing of it is shown, and it is said what went wrong.
#[test]
fn a_stream_that_is_no_answer_is_not_shown() {
    let half = |end| Turn::begins("Halfway is", end);
    let error = "data: {\"error\":{\"message\":\"CUDA out of memory\",\"code\":500}}\n\n".to_owned();
    let turns = [
        half(End::Breaks),
        half(End::Closes),
        Turn::begins(&"Halfway is ".repeat(500), End::GoesOn),
        half(End::Hangs),
        Turn::Streams(vec![error], End::Closes),
        Turn::Streams(
            vec!["data: {\"choices\":[{\"delta\":{\"content\":\"Halfway is\"}}]}\n\ndata: <html>\n\n".to_owned()],
            End::Hangs,
        ),
        Turn::Streams(vec!["Halfway is without an end".repeat(500)], End::GoesOn),
        Turn::Streams(vec![format!("{{\"Halfway is\":\"{}", "x".repeat(60_000))], End::GoesOn),
        Turn::IsCut("Halfway is".to_owned()),
    ];
    // It answers in between, or it would be left alone.
    let fake = Fake::start(turns.into_iter().flat_map(|turn| [turn, Turn::says(PLAIN)]).collect());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 6);
    let mut said = Vec::new();
    for _ in 0..9 {
        let text = bot.ask(QUESTION).text();
        said.push(
            text.replace("I do not know a set command for that, and the model did not answer: ", "")
                .replace(" Set commands, approvals and rules need no model; `help` lists them.", ""),
        );
        assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    its answer broke off in the middle.
    its answer broke off in the middle.
    its answer did not end, and was cut off at 64 KiB.
    no answer within 6 s.
    its server gave up in the middle: CUDA out of memory.
    its server answers something that is no answer: expected value at line 1 column 1 (`countersign doctor` says what to do).
    its answer did not end, and was cut off at 256 KiB.
    its answer did not end, and was cut off at 8192 KiB.
    its answer was not finished within 1024 tokens (`model.answer_tokens`).
    ");
    let done = bot.end();
    assert!(!done.out.contains("Halfway") && !done.err.contains("Halfway"), "{done:?}");
}

/// SEC-05's way out: neither a key nor a question goes where the configuration does not say.
#[test]
fn nothing_goes_to_another_address() {
    let other = Fake::start(Vec::new());
    let elsewhere = format!("{}/chat/completions", other.base_url());
    let fake = Fake::start(vec![Turn::Redirects(elsewhere), Turn::says(PLAIN)]);
    let home = Home::new();
    let proxy = other.base_url().replace("/v1", "");
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let mut bot = bot_with(&home, &fake.base_url(), &names.map(|name| (name, proxy.as_str())));
    let text = bot.ask(QUESTION).text();
    assert!(text.contains("its server answers 307 and names another address, which is not followed"), "{text}");
    assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
    assert_eq!(other.seen(), [""; 0], "neither by a redirect nor by a proxy of the environment");
    bot.end();
}

#[test]
fn a_busy_server_is_asked_again_when_it_says_and_not_where_that_does_not_help() {
    let busy = |wait: &str| Turn::Busy(429, wait.to_owned());
    let fake = Fake::start(vec![busy("0.1"), Turn::Refuses(503), busy("0"), Turn::says(PLAIN)]);
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
    assert_eq!(fake.asked().len(), 4);
    let hopeless = [
        (busy("3600"), "its server answers 429: slow down"),
        (Turn::SaysNo(429, "You exceeded your current quota".to_owned()), "its server answers 429: You exceeded"),
        (
            Turn::SaysNo(400, "This model's maximum context length is 2048 tokens".to_owned()),
            "answers 400: This model's max",
        ),
        (Turn::Refuses(403), "its server answers 403: the fake was told to refuse"),
    ];
    for (turn, why) in hopeless {
        let before = fake.asked().len();
        fake.then(vec![turn]);
        let text = bot.ask(QUESTION).text();
        assert!(text.contains(why), "{text}");
        assert_eq!(fake.asked().len(), before + 1, "{why}");
    }
    fake.then(vec![Turn::Refuses(500), Turn::Refuses(502), Turn::Refuses(503), Turn::Refuses(504)]);
    let text = bot.ask(QUESTION).text();
    assert!(text.contains("its server answers 504"), "it is not asked for ever: {text}");
    bot.end();
}

/// One that is down costs nobody their time; one that says no is there.
#[test]
fn a_server_that_is_down_is_left_alone_for_a_while() {
    let breaks = |times| vec![Turn::Breaks; times];
    let fake = Fake::start([breaks(4), vec![Turn::Refuses(401)], breaks(5)].concat());
    let home = Home::new();
    let mut bot = bot(&home, &fake.base_url(), 30);
    for _ in 0..10 {
        let text = bot.ask(QUESTION).text();
        assert!(text.contains("the model did not answer: its server "), "{text}");
    }
    let text = bot.ask(QUESTION).text();
    assert!(text.contains("it did not answer several times, and is left alone for "), "{text}");
    assert_eq!(fake.asked().len(), 10);
    assert!(bot.ask("disk usage").text().contains('/'), "what needs no model goes on");
    bot.end();
}

/// A server is asked once with what it does not know, and then without.
#[test]
fn what_a_server_does_not_take_is_left_out() {
    let refuses = vec![("stream_options", 400), ("temperature", 400), ("max_tokens", 422)];
    let ways = Ways { refuses, counts: false, streams: false, ..Ways::default() };
    let fake = Fake::with(ways, vec![Turn::says(PLAIN), Turn::says(PLAIN)]);
    let home = Home::new();
    let mut bot = bot_with(&home, &fake.base_url(), &[("COUNTERSIGN_MODEL__ANSWER_TOKENS", "64")]);
    for asked in [4, 5] {
        assert_eq!(bot.ask(QUESTION).text(), format!("{UNREAD}\n| {PLAIN}"));
        assert_eq!(fake.asked().len(), asked);
    }
    assert_eq!(fake.asked()[4]["max_completion_tokens"], 64);
    bot.end();
}

/// What broke off was made all the same, and a budget does not go without.
#[test]
fn what_broke_off_is_counted_too() {
    let fake = Fake::start(vec![Turn::begins("Halfway is", End::Breaks), Turn::Refuses(401)]);
    let home = Home::new();
    let mut bot = bot_with(&home, &fake.base_url(), &[("COUNTERSIGN_BUDGET__TOKENS_PER_PERSON_DAY", "1000000")]);
    let used = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("you | tokens | "));
        let used = line.and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
        used.unwrap_or_else(|| panic!("nothing is counted: {text}"))
    };
    bot.ask(QUESTION);
    let broken = used(&bot.ask("budget").text());
    assert!(broken > 100, "{broken}");
    bot.ask(QUESTION);
    assert_eq!(used(&bot.ask("budget").text()), broken, "what was refused has used nothing");
    bot.end();
}

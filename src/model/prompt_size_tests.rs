//! How large a question to a model is, in bytes: with many tools declared, with a thread that grows, and how much of it is
//! the same as the time before. Counts, and so tests; how long it takes is in `tests/bench/agent.rs`.

use countersign_core::mind::{Ask, RawCall, Thought};
use countersign_core::testkit::{TOOLS, Told, World, yard};
use countersign_core::tool::Registry;

use super::{messages, tools};

/// What a one-line request may take, whatever is declared.
const FIXED_BYTES_MAX: usize = 8 * 1024;

/// What any request may take: 4,000 tokens of three and a half characters, everything in it.
const BYTES_MAX: usize = 14_000;

fn rendered(ask: &Ask) -> String {
    let told: Vec<String> = messages(ask).into_iter().map(|message| message.content).collect();
    format!("{}{}", serde_json::to_string(&tools(&ask.situation.offers)).expect("it is JSON"), told.concat())
}

/// How many bytes it takes; never more than the core reckons with.
fn bytes(ask: &Ask) -> usize {
    let rendered = rendered(ask);
    let (chars, reckoned) = (rendered.chars().count(), ask.situation.chars());
    assert!(chars <= reckoned, "{chars} characters, and {reckoned} were reckoned with: {rendered}");
    rendered.len()
}

fn says(text: &str) -> Thought {
    Thought { text: text.to_owned(), ..Thought::default() }
}

fn calls(name: &str, arguments: &str) -> Thought {
    let calls = vec![RawCall { name: name.to_owned(), arguments: arguments.to_owned() }];
    Thought { calls, ..Thought::default() }
}

/// A world in which so many tools are declared, beside those of the testkit.
fn world(tools: usize) -> World {
    let file = yard(tools);
    let mut world = World::with_fleet();
    let files = [("tools.toml", TOOLS), ("yard.toml", file.as_str())];
    world.registry = Registry::load(files).expect("the tools are sound");
    world.minds.smart = Some("big".to_owned());
    world
}

fn asked(world: &mut World, question: &str, thoughts: Vec<Thought>) -> Told {
    world.thoughts = thoughts.into();
    world.pass(30_000);
    world.say(question)
}

/// `ctx_fixed`: flat, because eight calls are offered, whatever is there.
#[test]
fn a_one_line_request_takes_the_same_with_ten_tools_and_with_a_thousand() {
    let sizes = [10, 50, 200, 1000].map(|tools| {
        let told = asked(&mut world(tools), "what is in the queue", vec![says("I cannot say.")]);
        bytes(told.asks.first().expect("it was asked"))
    });
    println!("bytes with 10, 50, 200 and 1000 tools: {sizes:?}");
    let (least, most) = (sizes.iter().min().expect("four"), sizes.iter().max().expect("four"));
    assert!(*most <= FIXED_BYTES_MAX, "{sizes:?}");
    assert!(most - least <= 200, "only names differ: {sizes:?}");
}

/// A reading whose answer has about so many characters.
fn reads(world: &mut World, chars: usize) -> Thought {
    let line = "2026-11-23 10:04:05 shop[812]: order 4711 was taken and is being packed\n";
    world.answers("yard_queue0.show", serde_json::json!({ "out": line.repeat(chars.div_ceil(line.len())) }));
    calls("yard_queue0__show", r#"{"target":"host:web-1"}"#)
}

/// `ctx_growth`, over a thread: 4 KB of tool output with each request.
#[test]
fn a_thread_of_two_hundred_requests_is_told_in_no_more_than_the_cap() {
    let mut world = world(10);
    let read = reads(&mut world, 4_000);
    let find = calls("lab_find__host", "{}");
    let mut sizes = Vec::new();
    for n in 0..200 {
        let thoughts = vec![find.clone(), read.clone(), says(&format!("order {n} is being packed, as 4711 is"))];
        let told = asked(&mut world, &format!("what became of order {n} of this morning in queue 0"), thoughts);
        assert_eq!(told.asks.len(), 3, "{}", told.said);
        sizes.extend(told.asks.last().map(bytes));
        assert!(told.asks.iter().all(|ask| bytes(ask) <= BYTES_MAX), "{sizes:?}");
    }
    println!("bytes at request 1, 10, 50 and 200: {:?}", [0, 9, 49, 199].map(|at: usize| sizes[at]));
    assert!(sizes[199].abs_diff(sizes[49]) <= 200, "it does not grow any more: {sizes:?}");
}

/// `ctx_growth`, inside one request: 4 KB of tool output with each turn.
#[test]
fn a_request_of_nineteen_readings_is_told_in_no_more_than_the_cap() {
    let told = nineteen(4_000);
    let sizes: Vec<usize> = told.asks.iter().map(bytes).collect();
    println!("bytes at each turn, 4 KB a turn: {sizes:?}");
    assert!(sizes.len() == 20 && sizes.iter().all(|bytes| *bytes <= BYTES_MAX), "{sizes:?}");
}

fn nineteen(chars: usize) -> Told {
    let mut world = world(200);
    for n in 0..20 {
        world.thoughts = vec![says("I cannot say.")].into();
        world.say(&format!("who knows more about order {n} of yesterday"));
    }
    reads(&mut world, chars);
    let read = |n: usize| calls("yard_queue0__show", &format!("{{\"target\":\"host:web-1\",\"lines\":{n}}}"));
    let thoughts =
        std::iter::once(calls("lab_find__host", "{}")).chain((1..=18).map(read)).chain([says("I cannot say.")]);
    asked(&mut world, "why are the orders of this morning not packed, show queue 0 of the host", thoughts.collect())
}

/// `ctx_prefix`: what a server has read already it need not read again.
#[test]
fn a_request_begins_each_time_as_it_began_before() {
    for (chars, least) in [(400, 80), (4_000, 40)] {
        let told: Vec<String> = nineteen(chars).asks.iter().map(rendered).collect();
        let shares: Vec<usize> = told
            .windows(2)
            .map(|two| {
                let same = two[0].bytes().zip(two[1].bytes()).take_while(|(a, b)| a == b).count();
                same * 100 / two[1].len()
            })
            .collect();
        println!("share of the same beginning in hundredths, {chars} characters a turn: {shares:?}");
        let all: usize = shares.iter().sum();
        assert!(all >= least * shares.len(), "{chars} characters a turn: {shares:?}");
    }
}

//! Questions that operators type and lines that are meant for nobody, written without a look at the intents: how many lead where
//! they should, with the shipped tools and intents and without a model. The intents were tuned on those of `seen.txt` only.

use std::sync::LazyLock;

use crate::route::Intents;
use crate::testkit::World;
use crate::tool::Registry;

const SEEN: &str = include_str!("questions/seen.txt");
const KEPT: &str = include_str!("questions/kept.txt");
const CHATTER: &str = include_str!("questions/chatter.txt");

/// The least share of questions that is answered well or rightly declined, in percent. Of those kept aside 90 were when they
/// were looked at first; the intents were not changed for them after that.
const SEEN_WELL_MIN: usize = 85;
const KEPT_WELL_MIN: usize = 85;

/// The most that is answered wrongly, in percent.
const WRONG_MAX: usize = 2;

/// A label that says that the bot should not understand it.
const DECLINED: &str = "declined";

/// The shipped tools and intents, read once: to compile the patterns takes longest.
static SHIPPED: LazyLock<(Registry, Intents)> = LazyLock::new(|| {
    let tools = [("host.toml", include_str!("../../config/tools/host.toml"))];
    let registry = Registry::load(tools).expect("the tools are sound");
    let file = [("intents.toml", include_str!("../../config/intents.toml"))];
    let intents = Intents::load(file, &registry).expect("the intents are sound");
    (registry, intents)
});

/// A thread with the shipped tools and intents.
pub(super) fn shipped() -> World {
    let mut world = World::new();
    (world.registry, world.intents) = SHIPPED.clone();
    world
}

/// Returns the intent that a line leads to, or `declined`, also where a sentence says why it is not done; and whether the bot
/// asked first if just that was meant.
fn led_to(line: &str) -> (String, bool) {
    let mut world = shipped();
    let told = world.say(line);
    let asks = told.said.contains("Type 1 or yes to run it") || told.said.contains("I don't understand all of");
    let told = if asks { world.say("1") } else { told };
    let intent = |counted: &String| {
        let (_, rest) = counted.split_once("requests_total")?;
        let (_, rest) = rest.split_once("intent")?;
        let name: String = rest
            .chars()
            .skip_while(|c| !c.is_ascii_lowercase())
            .take_while(|c| c.is_ascii_lowercase() || *c == '-')
            .collect();
        Some(name)
    };
    let found = told.counted.iter().find_map(intent).unwrap_or_default();
    let is_declined = found == "none" || found.is_empty() || found.starts_with("no-");
    let found = if is_declined { DECLINED.to_owned() } else { found };
    (found, asks)
}

struct Tally {
    all: usize,
    /// Of all, those where the bot asked first.
    asked: usize,
    well: Vec<String>,
    wrong: Vec<String>,
    not_understood: Vec<String>,
}

fn tally(questions: &str) -> Tally {
    let mut tally = Tally { all: 0, asked: 0, well: Vec::new(), wrong: Vec::new(), not_understood: Vec::new() };
    for (question, expected) in questions.lines().filter_map(|line| line.split_once('\t')) {
        let (found, asked) = led_to(question);
        tally.all += 1;
        tally.asked += usize::from(asked);
        let line = format!("{question} -> {found}, not {expected}");
        if expected.split('|').any(|one| one == found) {
            tally.well.push(line);
        } else if found == DECLINED {
            tally.not_understood.push(line);
        } else {
            tally.wrong.push(line);
        }
    }
    tally
}

#[test]
#[expect(clippy::disallowed_macros, reason = "the figures are for people")]
fn most_questions_are_understood_and_hardly_any_wrongly() {
    for (half, questions, well_min) in [("seen", SEEN, SEEN_WELL_MIN), ("kept aside", KEPT, KEPT_WELL_MIN)] {
        let Tally { all, asked, well, wrong, not_understood } = tally(questions);
        let report = format!(
            "{half}: {} of {all} well, {} wrong, {} not understood; asked first: {asked}\nwrong:\n{}\nnot understood:\n{}",
            well.len(),
            wrong.len(),
            not_understood.len(),
            wrong.join("\n"),
            not_understood.join("\n")
        );
        println!("{report}");
        assert!(all >= 50, "{report}");
        assert!(well.len() * 100 >= well_min * all && wrong.len() * 100 <= WRONG_MAX * all, "{report}");
    }
}

#[test]
fn what_is_meant_for_nobody_runs_nothing() {
    let mut ran = Vec::new();
    for line in CHATTER.lines() {
        let mut world = shipped();
        let told = world.say(line);
        let has_card = told.said.contains("[Approve, Deny]") || !world.files.rows.is_empty();
        if !told.calls.is_empty() || has_card {
            let calls: Vec<String> = told.calls.iter().map(crate::gate::ToolCall::name).collect();
            ran.push(format!("{line} -> {}", calls.join(", ")));
        }
    }
    assert!(CHATTER.lines().count() >= 500);
    assert!(ran.is_empty(), "{} of them ran something:\n{}", ran.len(), ran.join("\n"));
}

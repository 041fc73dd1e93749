//! The greeting, the overview of topics and each topic of `help`. All examples are those of the intents, so that everything shown is
//! understood.

use serde_json::Value;

use crate::port::Block;
use crate::route::{Does, Intent, Intents, Route};
use crate::secrets::Mask;

use super::{quote, sentence};

/// The most topics of the overview, and the most columns of each line: a phone breaks longer ones.
const TOPICS_MAX: usize = 10;
const COLUMNS_MAX: usize = 44;

/// The topics whose first examples a newcomer sees.
const STARTERS: [&str; 4] = ["machine", "disk", "service", "log"];

/// The word that lists everything.
const ALL: &str = "all";

/// Greets a person in eight lines.
pub(in crate::thread) fn start(intents: &Intents) -> Vec<Block> {
    let first = |topic: &&str| {
        let example = of_topic(intents, topic).first()?.examples.first()?;
        Some(format!("`{example}`"))
    };
    let lead = ["I answer questions about your machines. I change something only after approval.", "Try one of these:"];
    let end =
        ["A change, like `restart cron`, shows a card first.", "`help` has more, `who am i` says what you may do."];
    let lines = lead.into_iter().map(str::to_owned).chain(STARTERS.iter().filter_map(first));
    sentence(lines.chain(end.map(str::to_owned)).collect::<Vec<_>>().join("\n"))
}

/// Lists the topics, one topic or everything.
pub(in crate::thread) fn help(intents: &Intents, route: &Route, mask: &Mask) -> Vec<Block> {
    let asked = route.args.get("topic").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let is_of = |intent: &&Intent| {
        let plural = asked.strip_prefix(intent.topic.as_str()).unwrap_or("-");
        !intent.topic.is_empty() && ["", "s", "es"].contains(&plural)
    };
    let topic: Vec<&Intent> = intents.iter().filter(is_of).collect();
    match asked.as_str() {
        "" => overview(intents),
        ALL => list(intents.iter()),
        _ if topic.is_empty() => {
            let mut blocks = sentence(format!("There is no topic {}.", quote(&asked, mask)));
            blocks.extend(overview(intents));
            blocks
        }
        _ => list(topic.into_iter()),
    }
}

fn overview(intents: &Intents) -> Vec<Block> {
    let topics = topics(intents);
    let mut lines = vec!["Ask in your own words, or like this:".to_owned()];
    lines.extend(topics.iter().take(TOPICS_MAX).map(|topic| topic_line(intents, topic)));
    let rest = topics.get(TOPICS_MAX..).unwrap_or_default();
    let more = if rest.is_empty() { String::new() } else { format!("Also: {}. ", rest.join(", ")) };
    lines.push(format!("{more}More: `help disk`. Everything: `help all`."));
    sentence(lines.join("\n"))
}

/// Returns every topic: those about machines first, then those about the bot itself.
fn topics(intents: &Intents) -> Vec<&str> {
    let mut topics: Vec<&str> = Vec::new();
    for intent in intents.iter().filter(|intent| !intent.topic.is_empty()) {
        if !topics.contains(&intent.topic.as_str()) {
            topics.push(&intent.topic);
        }
    }
    let is_own = |topic: &&str| of_topic(intents, topic).iter().all(|intent| !matches!(intent.does, Does::Call { .. }));
    topics.sort_by_key(is_own);
    topics
}

/// Returns a topic with as many examples as fit on a phone's line, at least one.
fn topic_line(intents: &Intents, topic: &str) -> String {
    let mut line = format!("{topic}:");
    let intents = of_topic(intents, topic);
    for (at, example) in intents.iter().filter_map(|intent| intent.examples.first()).enumerate() {
        let next = format!("{line}{} `{example}`", if at > 0 { "," } else { "" });
        // The backticks are not shown on a phone.
        if at > 0 && next.chars().filter(|c| *c != '`').count() > COLUMNS_MAX {
            continue;
        }
        line = next;
    }
    line
}

/// Returns the intents of a topic: those of the chat's menu first.
fn of_topic<'a>(intents: &'a Intents, topic: &str) -> Vec<&'a Intent> {
    let mut of_topic: Vec<&Intent> = intents.iter().filter(|intent| intent.topic == topic).collect();
    of_topic.sort_by_key(|intent| intent.menu_word().is_none());
    of_topic
}

/// Lists intents, each on a line that a narrow screen breaks and never cuts.
fn list<'a>(intents: impl Iterator<Item = &'a Intent>) -> Vec<Block> {
    let line = |intent: &Intent| Some(format!("`{}` - {}", intent.examples.first()?, intent.about));
    sentence(intents.filter_map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Registry;

    fn shipped() -> Intents {
        let tools = [("host.toml", include_str!("../../../../config/tools/host.toml"))];
        let registry = Registry::load(tools).expect("the tools are sound");
        let file = [("intents.toml", include_str!("../../../../config/intents.toml"))];
        Intents::load(file, &registry).expect("the intents are sound")
    }

    fn lines(blocks: &[Block]) -> Vec<String> {
        crate::answer::plain(blocks).lines().map(str::to_owned).collect()
    }

    /// Issue: `help` had 60 lines, `/start` 230.
    #[test]
    fn help_takes_twelve_lines_and_start_eight_and_each_fits_a_phone() {
        let intents = shipped();
        let (overview, start) = (lines(&overview(&intents)), lines(&start(&intents)));
        assert_eq!((overview.len(), start.len()), (12, 8), "{overview:#?} {start:#?}");
        let columns = |line: &String| line.chars().filter(|c| *c != '`').count();
        let widest = overview.iter().skip(1).map(columns).max().unwrap_or_default();
        assert!(widest <= COLUMNS_MAX, "{widest}: {overview:#?}");
        assert!(overview[1].starts_with("machine: "), "what a newcomer asks first stands first: {overview:#?}");
    }

    #[test]
    fn everything_that_is_shown_to_be_typed_is_understood() {
        let intents = shipped();
        let shown = [overview(&intents), start(&intents)].concat();
        let text = crate::answer::plain(&shown);
        let typed: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        assert!(typed.len() > 20, "{text}");
        for words in typed {
            assert!(intents.understands(words), "{words}");
        }
    }

    #[test]
    fn every_shipped_intent_has_a_topic_and_the_menu_has_at_most_25_words() {
        let intents = shipped();
        let without: Vec<&str> =
            intents.iter().filter(|intent| intent.topic.is_empty()).map(|intent| intent.name.as_str()).collect();
        assert_eq!(without, ["start"]);
        let words = intents.iter().filter_map(Intent::menu_word).count();
        assert!((15..=24).contains(&words), "{words}, and one that takes any words");
    }
}

//! Follow-ups of a reading: `again` repeats it, `more` asks for the next part. They repeat no change: what they lead to is the same
//! read, which meets every gate anew for the person who asks now.

use serde_json::{Map, Value};

use crate::effect::Ending;
use crate::port::{Claim, Mark};
use crate::route::{Does, Heard, Intent, Route, hear};
use crate::tool::{ActionSpec, ToolKind};

use super::perceive::begin;
use super::request::Request;
use super::say;
use super::state::Turn;

/// The last request of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) enum LastAsked {
    /// Nothing that a follow-up could mean.
    #[default]
    Nothing,
    /// A reading: its route, and its words without courtesies.
    Read(Route, String),
    /// A change. It is typed again in full.
    Change,
}

/// The arguments that say how much a reading shows.
const AMOUNTS: [&str; 2] = ["lines", "limit"];

/// Completes a follow-up that only names something else, with the words of the last reading: `and /srv` after `how big is /var`.
/// Words with a meaning of their own and command lines are left unchanged, and the result is never a change.
pub(super) fn completed(turn: &Turn<'_>, heard: Heard) -> Heard {
    let LastAsked::Read(route, asked) = &turn.state.last_asked else { return heard };
    if !heard.follow_up || heard.text.contains(' ') || heard.text.is_empty() {
        return heard;
    }
    let said: Vec<&str> =
        route.target.as_deref().into_iter().chain(route.args.values().filter_map(Value::as_str)).collect();
    let first = heard.text.chars().next().unwrap_or_default();
    let is_like = |word: &&str| match first {
        '/' => word.starts_with('/'),
        '0'..='9' => word.bytes().all(|byte| byte.is_ascii_digit()),
        _ => said.contains(word),
    };
    let is_name = first != '/' && !first.is_ascii_digit();
    let mut named = asked.split(' ').filter(is_like);
    let (Some(old), None) = (named.next(), named.next()) else { return heard };
    let intent = turn.env.intents.named(&route.intent);
    if (is_name && turn.env.intents.stands_for_itself(&heard.text)) || intent.is_none_or(Intent::is_as_typed) {
        return heard;
    }
    let words: Vec<&str> = asked.split(' ').map(|word| if word == old { heard.text.as_str() } else { word }).collect();
    Heard { wants_to_see: true, ..hear(&words.join(" ")) }
}

/// Remembers what a route asks for.
pub(super) fn remember(turn: &mut Turn<'_>, (route, asked): (&Route, &str), does: &Does) {
    let Does::Call { tool, action } = does else { return };
    turn.state.last_asked = match turn.env.registry.kind(tool, action) {
        ToolKind::Read | ToolKind::Resolve if route.is_free_of_context() => {
            LastAsked::Read(route.clone(), asked.to_owned())
        }
        ToolKind::Read | ToolKind::Resolve => LastAsked::Nothing,
        ToolKind::Write | ToolKind::Record => LastAsked::Change,
    };
}

/// Repeats the last reading.
pub(super) fn again(turn: &mut Turn<'_>, request: Request) {
    match turn.state.last_asked.clone() {
        LastAsked::Read(route, _) => run(turn, request, &route),
        LastAsked::Change => answer(turn, request, "I repeat no change. Type it in full."),
        LastAsked::Nothing => answer(turn, request, NOTHING),
    }
}

/// Asks for more of the last reading: its next lines, or twice as much.
pub(super) fn more(turn: &mut Turn<'_>, request: Request) {
    let LastAsked::Read(route, asked) = turn.state.last_asked.clone() else { return answer(turn, request, NOTHING) };
    let intent = turn.env.intents.named(&route.intent);
    let spec = intent.and_then(|intent| match &intent.does {
        Does::Call { tool, action } => turn.env.registry.action(tool, action),
        Does::Own(_) | Does::Reply(_) => None,
    });
    match spec.map(|spec| larger(spec, &route.args)) {
        Some(More::Args(args)) => {
            let route = Route { args, ..route };
            turn.state.last_asked = LastAsked::Read(route.clone(), asked);
            run(turn, request, &route);
        }
        Some(More::AtMost(max)) => answer(turn, request, format!("{max} is the most that I show at a time.")),
        Some(More::Whole) | None => answer(turn, request, "I can't show more of that. Ask for a part of it."),
    }
}

const NOTHING: &str = "There is nothing to go on from here. Ask for something first.";

/// The rest of a reading.
enum More {
    /// The arguments that show it.
    Args(Map<String, Value>),
    /// Nothing beyond this many.
    AtMost(i64),
    /// Nothing: it has no amount.
    Whole,
}

fn larger(spec: &ActionSpec, args: &Map<String, Value>) -> More {
    let Some((name, arg)) = AMOUNTS.iter().find_map(|name| Some((*name, spec.args.get(*name)?))) else {
        return More::Whole;
    };
    let amount = number(args.get(name)).or_else(|| arg.default.as_ref()?.as_integer()).unwrap_or(1);
    let mut args = args.clone();
    if let Some(from) = spec.args.get("from") {
        let from = number(args.get("from")).or_else(|| from.default.as_ref()?.as_integer()).unwrap_or(1);
        args.insert("from".to_owned(), Value::from(from.saturating_add(amount)));
        return More::Args(args);
    }
    match arg.max {
        Some(max) if amount >= max => More::AtMost(max),
        max => {
            let twice = amount.saturating_mul(2);
            args.insert(name.to_owned(), Value::from(max.map_or(twice, |max| twice.min(max))));
            More::Args(args)
        }
    }
}

fn number(value: Option<&Value>) -> Option<i64> {
    let value = value?;
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn run(turn: &mut Turn<'_>, mut request: Request, route: &Route) {
    let intent = turn.env.intents.named(&route.intent);
    let call = intent.and_then(|intent| match &intent.does {
        Does::Call { tool, action } => Some((intent, (tool.as_str(), action.as_str()))),
        Does::Own(_) | Does::Reply(_) => None,
    });
    match call {
        Some((intent, call)) => {
            request.becomes_talk();
            begin(turn, request, intent, call, route);
        }
        None => answer(turn, request, NOTHING),
    }
}

fn answer(turn: &mut Turn<'_>, mut request: Request, text: impl Into<String>) {
    turn.say(&mut request, Mark::Plain, Claim::Nothing, vec![say::line(text.into())]);
    turn.finish(request, Ending::Answered);
}

#[cfg(test)]
mod tests {
    use crate::testkit::World;

    fn calls(world: &mut World, text: &str) -> Vec<String> {
        let told = world.say(text);
        told.calls.iter().map(|call| format!("{} {}", call.name(), Value::Object(call.args.clone()))).collect()
    }

    use serde_json::Value;

    #[test]
    fn again_repeats_a_reading_and_no_change() {
        let mut world = World::with_fleet();
        assert!(world.say("again").said.contains("nothing to go on from"));
        let first = calls(&mut world, "status of nginx");
        let again = calls(&mut world, "once more");
        assert_eq!(again.last(), first.last());
        world.say("restart nginx");
        let told = world.say("again");
        assert!(told.said.contains("I repeat no change") && told.calls.is_empty(), "{}", told.said);
        world.state.reset(false);
        assert!(world.say("again").said.contains("nothing to go on from"), "a reset forgets it");
    }
}

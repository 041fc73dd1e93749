//! The cascade itself: which layer answers, and what is suggested where none does.

use serde_json::{Map, Value};

use super::hear::{Heard, hear, is_pronoun};
use super::intents::{Caught, Does, Intent};
use super::keywords;
use super::spelling::corrected;
use crate::env::Env;
use crate::signal::ThreadKey;
use crate::tool::{ArgKind, ToolKind};

/// The layer that answered; a label of metrics. Layers have names, not numbers (C-49).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Several intents fitted, and the last domain decided.
    Sticky,
    /// Routed before.
    Exact,
    /// A pattern.
    Pattern,
    /// Words in any order.
    Phrase,
}

impl Layer {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sticky => "sticky",
            Self::Exact => "exact",
            Self::Pattern => "pattern",
            Self::Phrase => "phrase",
        }
    }
}

/// Which intent a message means, and what it says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The intent's name.
    pub intent: String,
    /// What was said, uncast and unchecked; the gate `schema` does that.
    pub args: Map<String, Value>,
    /// What was named as the target, as typed: a name, a pid, a path, an id, a mention or a pronoun.
    pub target: Option<String>,
    /// How it was found.
    pub layer: Layer,
}

impl Route {
    /// Whether it means the same in another context: a pronoun does not.
    pub fn is_free_of_context(&self) -> bool {
        self.target.as_deref().is_none_or(|target| !is_pronoun(target))
    }
}

/// The key of the exact layer.
pub(crate) fn exact_key(thread: &ThreadKey, roles: &[String], heard: &Heard) -> (ThreadKey, String, String) {
    (thread.clone(), roles.join(","), heard.text.clone())
}

/// Routes a message, or finds that no layer understands it. `sticky` is the domain that was last talked about.
pub fn route(
    heard: &Heard,
    thread: &ThreadKey,
    roles: &[String],
    sticky: Option<&str>,
    env: &Env<'_>,
) -> Option<Route> {
    #[cfg(test)]
    if crate::step::broken::is(crate::step::broken::Break::Routes) {
        return None;
    }
    if heard.follow_up && sticky.is_none() {
        // "and the disk?" follows nothing here; still, the words may stand for themselves.
        return by_words(heard, env);
    }
    let remembered = env.exact.get(&exact_key(thread, roles, heard)).filter(|_| !heard.is_cut);
    let remembered = remembered.filter(|route| env.intents.named(&route.intent).is_some());
    match remembered {
        Some(route) => Some(Route { layer: Layer::Exact, ..route.clone() }),
        None => by_pattern(heard, sticky, env).or_else(|| as_typed(heard, env)).or_else(|| by_phrase(heard, env)),
    }
}

/// Returns whether a line has an option or a pipe, or a path as its first operand. "find large files in /home" has neither.
fn looks_like_a_command(line: &str) -> bool {
    let mut words = line.split_whitespace().skip(1).peekable();
    let is_path = |word: &&str| ["/", "./", "~/"].iter().any(|start| word.starts_with(start));
    let is_option =
        |word: &str| word.strip_prefix('-').is_some_and(|rest| rest.contains(|c: char| c.is_ascii_alphanumeric()));
    words.peek().is_some_and(is_path) || words.any(|word| is_option(word) || word == "|")
}

/// Returns whether a message is a command line that is proven to only read. It may use the network.
pub(crate) fn is_proven_command(text: &str, env: &Env<'_>) -> bool {
    let line = text.trim();
    !line.contains('\n') && looks_like_a_command(line) && env.commands.judge(line).is_proven()
}

/// Routes a command line that is proven to only read and to end.
fn as_typed(heard: &Heard, env: &Env<'_>) -> Option<Route> {
    let line = heard.original.trim();
    if line.contains('\n') || !looks_like_a_command(line) {
        return None;
    }
    // A sentence that is taken for a command by mistake sends nothing anywhere.
    let judged = env.commands.judge(line);
    if !judged.is_proven() || judged.uses_network() || judged.asks_a_service() {
        return None;
    }
    let (intent, argument) = env.intents.iter().find_map(|intent| {
        let Does::Call { tool, action } = &intent.does else { return None };
        let spec = env.registry.action(tool, action).filter(|spec| spec.kind == ToolKind::Read)?;
        let (argument, _) = spec.args.iter().find(|(_, arg)| arg.kind == ArgKind::Command)?;
        intent.takes_any(argument).then_some((intent, argument))
    })?;
    let args = Map::from_iter([(argument.clone(), Value::from(line))]);
    Some(Route { intent: intent.name.clone(), args, target: None, layer: Layer::Pattern })
}

fn by_pattern(heard: &Heard, sticky: Option<&str>, env: &Env<'_>) -> Option<Route> {
    let caught = env.intents.catch(heard);
    let first = caught.first()?;
    // A command of the bot's own is not taken for a question about what was talked of.
    let sticky = sticky.filter(|_| !matches!(first.0.does, Does::Own(_)));
    let ranked = caught.iter().find(|(intent, _)| sticky.is_some_and(|domain| intent.domain == domain));
    let (intent, taken) = ranked.unwrap_or(first);
    let layer = if intent.name == first.0.name { Layer::Pattern } else { Layer::Sticky };
    let Caught { args, target } = taken.clone();
    Some(Route { intent: intent.name.clone(), args, target, layer })
}

/// Routes a message by its words alone, whatever was talked about.
fn by_words(heard: &Heard, env: &Env<'_>) -> Option<Route> {
    by_pattern(heard, None, env).or_else(|| by_phrase(heard, env))
}

fn by_phrase(heard: &Heard, env: &Env<'_>) -> Option<Route> {
    let (intent, Caught { args, target }) = env.intents.by_phrase(heard)?;
    Some(Route { intent: intent.name.clone(), args, target, layer: Layer::Phrase })
}

/// Whether a route may be remembered, or that it was used again: it means the same next time, and it is no write (C-29).
pub(crate) fn may_be_remembered(route: &Route, intent: &Intent, env: &Env<'_>) -> bool {
    let is_never_kept = match &intent.does {
        // A decision is made once; there is nothing in it to remember.
        Does::Own(own) => !own.only_shows(),
        Does::Call { tool, action } => env.registry.kind(tool, action) == ToolKind::Write,
        // What was typed is most of it, and is hardly ever typed again.
        Does::Reply(_) => true,
    };
    // The key of what is remembered has not every blank and every mark that was typed.
    let is_never_kept = is_never_kept || intent.takes_as_typed();
    route.is_free_of_context() && route.layer != Layer::Sticky && !is_never_kept
}

/// Readings of a part of a message: of its clauses by themselves, or else of all of it but for the words that say when. Reads
/// only, at most three.
pub(crate) fn in_part(heard: &Heard, env: &Env<'_>) -> Vec<Suggested> {
    if is_too_long(heard) {
        return Vec::new();
    }
    let mut parts: Vec<Suggested> = Vec::new();
    for clause in clauses(&heard.text) {
        let suggested = reading(&clause, env);
        let is_new = |one: &Suggested| parts.iter().all(|known| known.about != one.about);
        parts.extend(suggested.filter(is_new));
    }
    if parts.is_empty() {
        parts.extend(env.intents.but_for_times(heard).and_then(|text| reading(&text, env)));
    }
    parts.truncate(SUGGESTED_MAX);
    parts
}

/// The most words of a message in which a part or a typing mistake is looked for.
const PART_WORDS_MAX: usize = 32;

fn is_too_long(heard: &Heard) -> bool {
    heard.is_cut || heard.text.split(' ').count() > PART_WORDS_MAX
}

/// Returns the clauses of a message; none if it is one clause.
fn clauses(text: &str) -> Vec<String> {
    const BETWEEN: [&str; 4] = ["and", "or", "but", "because"];
    let mut clauses = vec![Vec::new()];
    for word in text.split(' ') {
        let ends = word.ends_with([',', ';', '.', '?', '!']);
        let is_between = BETWEEN.contains(&word.to_ascii_lowercase().as_str());
        if let Some(clause) = clauses.last_mut().filter(|_| !is_between) {
            clause.push(word.trim_end_matches([',', ';']));
        }
        if ends || is_between {
            clauses.push(Vec::new());
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    if clauses.len() < 2 { Vec::new() } else { clauses.into_iter().map(|clause| clause.join(" ")).collect() }
}

/// Returns what a part of a message means by itself, where that only reads.
fn reading(text: &str, env: &Env<'_>) -> Option<Suggested> {
    let heard = hear(text);
    let route = by_words(&heard, env)?;
    let is_tool = |intent: &&Intent| matches!(intent.does, Does::Call { .. });
    let intent = env.intents.named(&route.intent).filter(|intent| intent.only_shows).filter(is_tool)?;
    route.is_free_of_context().then(|| Suggested { text: heard.text, about: intent.about.clone(), runs: true })
}

/// Something that might have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested {
    /// What to type.
    pub text: String,
    /// What it does.
    pub about: String,
    /// True if picking it runs it.
    pub runs: bool,
}

/// Returns the intents nearest to a message that no layer understands, at most three: by likeness, and by shared words.
pub(crate) fn near(heard: &Heard, env: &Env<'_>) -> Vec<Suggested> {
    let alike = env.catalogue.worth_suggesting(&heard.lower);
    let decides = |intent: &Intent| matches!(intent.does, Does::Own(_)) && !intent.only_shows;
    let worth = env.intents.iter().enumerate().filter(|(_, intent)| !decides(intent)).filter_map(|(at, intent)| {
        let written = alike.iter().find(|(alike, of, _)| *of == at && *alike >= WORTH_OFFERING);
        let written = written.map(|(alike, _, example)| (*alike, *example));
        let shared =
            Some((keywords::shared(&heard.lower, intent), 0)).filter(|(shared, _)| *shared >= WORTH_SUGGESTING);
        let (worth, example) = written.into_iter().chain(shared).max_by_key(|(worth, _)| *worth)?;
        Some((worth, intent, intent.examples.get(example)?))
    });
    let mut near: Vec<(u16, &Intent, &String)> = worth.collect();
    near.sort_by(|(a, x, _), (b, y, _)| b.cmp(a).then_with(|| x.name.cmp(&y.name)));
    let suggest = |(_, intent, example): (u16, &Intent, &String)| Suggested {
        text: example.clone(),
        about: intent.about.clone(),
        // The names in an example are nobody's.
        runs: intent.only_shows && !intent.takes_something(),
    };
    near.into_iter().take(SUGGESTED_MAX).map(suggest).collect()
}

/// The most suggestions, and from where on shared words, and likeness as a whole, are worth one, in thousandths. Half of the
/// trigrams is what a misspelt command keeps; a third is shared by sentences that have nothing to do with each other.
const SUGGESTED_MAX: usize = 3;
const WORTH_SUGGESTING: u16 = 320;
const WORTH_OFFERING: u16 = 420;

/// The message with each misspelt word replaced; none if there is none, or the message is too long.
pub(crate) fn respelt(heard: &Heard, env: &Env<'_>) -> Option<Heard> {
    let text = (!is_too_long(heard)).then(|| corrected(&heard.text, env.intents.vocabulary()))??;
    Some(with_text(heard, text))
}

fn with_text(heard: &Heard, text: String) -> Heard {
    Heard { lower: text.to_ascii_lowercase(), original: text.clone(), text, ..heard.clone() }
}

/// The message with its spelling mended, if it is understood then. Of a change only the words that ask for it are mended: its
/// target and its content are taken as they were typed. `respelt` is the message with all its words mended.
pub(crate) fn mended(heard: &Heard, respelt: Option<&Heard>, env: &Env<'_>) -> Option<Suggested> {
    let whole = respelt?;
    suggested_by(whole, heard, env).or_else(|| {
        let (first, _) = whole.text.split_once(' ')?;
        let (_, rest) = heard.text.split_once(' ')?;
        suggested_by(&with_text(heard, format!("{first} {rest}")), heard, env)
    })
}

fn suggested_by(better: &Heard, heard: &Heard, env: &Env<'_>) -> Option<Suggested> {
    let route = by_words(better, env)?;
    let intent = env.intents.named(&route.intent)?;
    let is_word = |said: &str| heard.text.split(' ').any(|word| word.trim_end_matches([':', ',', '.']) == said);
    let is_typed = |said: &str| is_word(said) || (said.contains(' ') && heard.text.contains(said));
    let mut said = route.target.as_deref().into_iter().chain(route.args.values().filter_map(Value::as_str));
    if !intent.only_shows && !said.all(is_typed) {
        return None;
    }
    // A decision is made in its own words, with the full id in them, and never by saying yes to something else (AC-24).
    let is_decision = matches!(intent.does, Does::Own(own) if own.decides());
    Some(Suggested { text: better.text.clone(), about: intent.about.clone(), runs: !is_decision })
}

#[cfg(test)]
mod tests {
    use crate::testkit::World;

    fn ran(line: &str) -> Option<String> {
        let told = World::with_fleet().say(line);
        let run = told.calls.iter().find(|call| call.name() == "lab_read.run")?;
        run.args.get("line").and_then(|line| line.as_str()).map(str::to_owned)
    }

    #[test]
    fn a_line_that_is_proven_to_read_runs_as_it_was_typed() {
        for line in [
            "uname -a",
            "ls -la /var/log",
            "grep -i 'Some Error' /var/log/App.log",
            "cat /etc/os-release | head -n 3",
            "du /var/log",
            "head -n 3 /etc/passwd | cut -d: -f1",
            "find /etc -name '*.conf' | head -n 3",
            "wc -l /etc/hosts",
        ] {
            assert_eq!(ran(line).as_deref(), Some(line));
        }
        assert_eq!(ran("  uname -a  ").as_deref(), Some("uname -a"));
    }

    #[test]
    fn what_is_no_command_or_would_change_something_does_not_run() {
        for line in [
            "which one is it",
            "who broke the build",
            "last deploy failed :-/",
            "find the bug - please",
            "find large files in /home",
            "which process uses /dev/sda",
            "who changed /etc/hosts",
            "free space on /var",
            "last backup in /var/backups",
            "look at /var/log/syslog",
            "dig into /var/log please",
            "dig -x 127.0.0.1",
            "whois -h 127.0.0.1 x",
            "date night | dinner?",
            "test it and/or ship it",
            "rm -rf /tmp/x",
            "echo x > /etc/motd",
            "cat /etc/hosts; reboot",
            "tail -f /var/log/syslog",
            "uname -a\nuname -r",
            "sed -i s/a/b/ /etc/hosts",
            "curl -X POST http://example.org/x",
        ] {
            assert_eq!(ran(line), None, "{line}");
        }
    }

    #[test]
    fn a_message_has_clauses() {
        let table: [(&str, &[&str]); 5] = [
            ("disk usage", &[]),
            ("customers complain, is it slow?", &["customers complain", "is it slow?"]),
            ("uptime and load", &["uptime", "load"]),
            ("check /etc/hosts, and then what", &["check /etc/hosts", "then what"]),
            ("and , or", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(super::clauses(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_that_talks_to_another_machine_has_to_be_asked_for_with_run() {
        for line in ["dig -x 127.0.0.1", "curl -s https://example.org/", "ping -c 1 example.org"] {
            let said = World::with_fleet().say(line).said;
            assert!(said.starts_with("I don't understand") && said.contains("type `run` before it"), "{line}: {said}");
        }
    }
}

//! Every sentence that the bot says of itself to people: one file, so that they can be read as a whole. What tools found
//! is written by `answer/`; what is said of plans, their cards, permissions, people, accounts, limits and budgets, of what
//! did not work, and while work goes on, is in files of their own.

pub(in crate::thread) mod agent;
pub(in crate::thread) mod budget;
pub(in crate::thread) mod canned;
pub(in crate::thread) mod card;
pub(in crate::thread) mod grants;
mod help;
mod history;
pub(in crate::thread) mod limits;
pub(in crate::thread) mod link;
pub(in crate::thread) mod people;
pub(in crate::thread) mod pins;
pub(in crate::thread) mod plans;
pub(in crate::thread) mod progress;
pub(in crate::thread) mod room;
pub(in crate::thread) mod sources;
pub(in crate::thread) mod stop;
pub(in crate::thread) mod trouble;
pub(in crate::thread) mod waiting;

use std::fmt::Write;

use serde_json::Value;

use crate::answer;
use crate::envelope::Envelope;
use crate::gate::{Judged, Refusal};
use crate::port::{Block, Choice};
use crate::resource::Resource;
use crate::route::{OwnCommand, Route, Suggested};
use crate::secrets::Mask;
use crate::signal::{Payload, Signal};
use crate::text;

use crate::thread::prefetch::{Mention, brief, mentions, seen};
use crate::thread::request::Request;
use crate::thread::sight::Sight;
use crate::thread::state::Turn;
use crate::thread::{Entity, Fact};

/// The most characters of somebody's words in a sentence of ours.
const QUOTE_CHARS_MAX: usize = 120;

/// One line of its own.
pub(in crate::thread) fn line(text: String) -> Block {
    Block::Text { text }
}

fn sentence(text: impl Into<String>) -> Vec<Block> {
    vec![Block::Text { text: text.into() }]
}

/// Somebody's words, fit to stand in a sentence: masked, escaped, cut, harmless.
fn quote(words: &str, mask: &Mask) -> String {
    text::defuse_mentions(&text::one_line(&mask.apply(words), QUOTE_CHARS_MAX))
}

/// What an answer answers, where the question was asked before a restart.
pub(in crate::thread) fn asked_before(signal: &Signal, mask: &Mask) -> Block {
    Block::Text { text: format!("You asked “{}” before I was restarted.", quote(&signal.payload.words(), mask)) }
}

/// What a gate refused.
pub(in crate::thread) fn refused(refusal: &Refusal, mask: &Mask) -> Vec<Block> {
    let failure = refusal.failure();
    answer::failure(&failure, Some(refusal.gate), mask)
}

/// A message of ours that a gate withheld.
pub(in crate::thread) fn withheld(refusal: &Refusal) -> String {
    format!("The answer was withheld: a safety rule refused to show it ({}, gate `{}`).", refusal.code, refusal.gate)
}

/// The answer to a message that no route understands.
pub(in crate::thread) fn not_understood(words: &str, is_command: bool, mask: &Mask) -> String {
    let hint = if is_command { " It looks like a command: type `run` before it." } else { "" };
    format!("I don't understand “{}”.{hint}", quote(words, mask))
}

/// The answer to a message that is understood in part.
pub(in crate::thread) fn not_all_understood(words: &str, mask: &Mask) -> String {
    format!("I don't understand all of “{}”.", quote(words, mask))
}

/// Suggestions below a sentence. The caller adds the choices that run when picked.
pub(in crate::thread) fn suggestions(sentence_above: &str, runs: &[Suggested], typed: &[Suggested]) -> Vec<Block> {
    let mut said = sentence_above.to_owned();
    for suggested in typed {
        let _infallible = write!(said, "\n  `{}` - {}", suggested.text, suggested.about);
    }
    said.push_str(match runs {
        [] => "\nNo model is configured, so I only understand set commands: `help` lists them.",
        [_] => "\nDid you mean this? Pick it, or type `help`.",
        _ => "\nDid you mean one of these? Pick one, or type `help`.",
    });
    sentence(said)
}

pub(in crate::thread) fn did_you_mean(words: &str, mask: &Mask) -> String {
    format!("I don't understand “{}”. Did you mean this? Type 1 or yes to run it.", quote(words, mask))
}

/// The answer to a no: it declines the choices and leaves a pending plan as it is.
pub(in crate::thread) fn no_choice(plan_waits: bool) -> Vec<Block> {
    sentence(if plan_waits {
        "Then none of these is run. A plan still waits: `approvals` shows it."
    } else {
        "Then none of these is run."
    })
}

/// The answer to a yes where there are several choices.
pub(in crate::thread) fn which_number() -> Vec<Block> {
    sentence("Which one? Type its number.")
}

/// The answer to a pick by another person than the one who was asked.
pub(in crate::thread) fn question_of_another(person: &str) -> Vec<Block> {
    sentence(format!("That question waits for {}. Ask yourself, and you get your own.", text::one_line(person, 64)))
}

pub(in crate::thread) fn question_is_over() -> Vec<Block> {
    sentence("There is no open question to choose from. Ask again.")
}

pub(in crate::thread) fn is_it_this(name: &str) -> String {
    format!("Nothing here is called “{}”. Did you mean this?", text::one_line(name, 64))
}

pub(in crate::thread) fn which_of(name: &str, count: usize) -> String {
    let name = text::one_line(name, 64);
    if count > crate::thread::procedure::CHOICES_MAX {
        format!(
            "{count} match “{name}”; here are the first {}. Which one? A number or an id names one exactly.",
            crate::thread::procedure::CHOICES_MAX
        )
    } else {
        format!("{count} match “{name}”. Which one?")
    }
}

pub(in crate::thread) const fn which_one() -> &'static str {
    "Which one?"
}

pub(in crate::thread) fn what_is_it(word: &str) -> Vec<Block> {
    sentence(format!(
        "I do not know what “{}” is: nothing was spoken of lately. Say its name.",
        text::one_line(word, 64)
    ))
}

pub(in crate::thread) fn it_became(word: &str, entity: &Entity) -> String {
    format!(
        "“{}” is {} ({}).",
        text::one_line(word, 64),
        text::one_line(&entity.name, 64),
        text::one_line(entity.id.as_str(), 120)
    )
}

pub(in crate::thread) fn entity_choice(entity: &Entity) -> Choice {
    // Of a process the number is what people know it by; when it began is ours alone.
    let uid = entity
        .id
        .uid()
        .split_once('-')
        .filter(|_| entity.id.kind() == "process")
        .map_or(entity.id.uid(), |(pid, _)| pid);
    let about = text::one_line(&format!("{} {uid}", entity.id.kind()), 80);
    Choice { label: text::one_line(&entity.name, 40), about }
}

pub(in crate::thread) fn resource_choice(resource: &Resource) -> Choice {
    let alias = resource.aliases.first().map(|alias| format!(" ({alias})")).unwrap_or_default();
    Choice {
        label: text::one_line(&format!("{}{alias}", resource.name), 40),
        about: text::one_line(&resource.about, 80),
    }
}

/// A discovery that found nothing: says so, with the nearest names, and suggests no change (PRE-11, C-11).
pub(in crate::thread) fn nothing_found(name: &str, gone: bool, answer: &Envelope, mask: &Mask) -> Vec<Block> {
    let name = quote(name, mask);
    let mut said =
        if gone { format!("{name} is not there any more.") } else { format!("Nothing here is called “{name}”.") };
    let names: Vec<String> = answer
        .nearest()
        .iter()
        .filter_map(|near| near.get("name")?.as_str())
        .take(5)
        .map(|name| quote(name, mask))
        .collect();
    if !names.is_empty() {
        let _infallible = write!(said, " The nearest names are {}.", names.join(", "));
    }
    sentence(said)
}

pub(in crate::thread) fn overtaken() -> Vec<Block> {
    sentence("Somebody else changed that just now, so I did nothing. Ask again.")
}

pub(in crate::thread) fn nothing_to_show() -> Vec<Block> {
    sentence("There is nothing to show.")
}

pub(in crate::thread) fn took_too_long(limit_ms: u64) -> Vec<Block> {
    sentence(format!("This took longer than {} seconds, so I stopped waiting. Nothing was changed.", limit_ms / 1000))
}

/// A message that is not worked on again. It is named by its person, as the access file calls them, and its time.
pub(in crate::thread) fn set_aside(turn: &Turn<'_>, signal: &Signal) -> Vec<Block> {
    let name = turn.env.rights.name(&signal.thread.platform, &signal.actor);
    let by = name.map(|name| format!(" from {}", text::one_line(&name, 40))).unwrap_or_default();
    let what = match &signal.payload {
        Payload::Text { .. } | Payload::Limited { .. } => format!("a message{by}"),
        Payload::Choice { .. }
        | Payload::Decision { .. }
        | Payload::Details { .. }
        | Payload::Stray
        | Payload::OlderCopy => format!("a choice{by}"),
        Payload::RoomMoved { .. } => "the new id of this room".to_owned(),
        Payload::Edited { .. } | Payload::Deleted { .. } => format!("a change of a message{by}"),
        Payload::Due { plan } | Payload::Unreachable { plan } | Payload::CardLate { plan } => {
            format!("a look at plan {plan}")
        }
    };
    sentence(format!(
        "I set aside {what} ({}), because I was interrupted while I worked on it. Nothing was changed. Ask again in other \
         words or in smaller parts, and tell your administrator if that doesn't work either.",
        answer::time(signal.received_at)
    ))
}

/// What the bot answers from its own state.
pub(in crate::thread) fn own(own: OwnCommand, route: &Route, turn: &mut Turn<'_>, request: &Request) -> Vec<Block> {
    match own {
        OwnCommand::Start => help::start(turn.env.intents),
        OwnCommand::Help => help::help(turn.env.intents, route, turn.env.mask),
        OwnCommand::Status => status(turn),
        OwnCommand::Who => people::who(turn, request),
        OwnCommand::Roles => people::roles(turn, request),
        OwnCommand::WhoCan => who_can(route, turn, request),
        OwnCommand::Sources => sources::sources(turn, request),
        OwnCommand::Why => why(turn, request),
        OwnCommand::About => about(route, turn, request),
        OwnCommand::Reset => reset(turn, request, false),
        OwnCommand::ResetKeep => reset(turn, request, true),
        OwnCommand::Limits => limits::table(turn.env.allowances),
        OwnCommand::Budget => budget::budget(&turn.env),
        OwnCommand::Approvals => plans::approvals(&turn.state.desk, turn.env.mask),
        OwnCommand::History => {
            let within = route.args.get("within").and_then(Value::as_str).unwrap_or_default();
            history::history(&turn.state.desk, (turn.now.wall, within), turn.env.mask)
        }
        OwnCommand::WhoApproved => history::who_approved(&turn.state.desk, turn.env.mask),
        // Decisions, permissions, links and verifications are no answers from the bot's own state; they never come here.
        OwnCommand::Approve
        | OwnCommand::Again
        | OwnCommand::Pin
        | OwnCommand::Unpin
        | OwnCommand::More
        | OwnCommand::Details
        | OwnCommand::Deny
        | OwnCommand::Cancel
        | OwnCommand::Verify
        | OwnCommand::Stop
        | OwnCommand::Link
        | OwnCommand::Unlink
        | OwnCommand::Grant
        | OwnCommand::Grants
        | OwnCommand::Revoke => nothing_to_show(),
    }
}

fn status(turn: &Turn<'_>) -> Vec<Block> {
    let state = &turn.state;
    let mut fields = vec![
        ("this thread".to_owned(), state.fsm.state().as_str().to_owned()),
        ("things known here".to_owned(), state.resolved.len().to_string()),
        ("facts known here".to_owned(), state.knowledge.len().to_string()),
    ];
    if let Some(write) = state.fsm.open_write() {
        fields.push(("not verified yet".to_owned(), format!("{} on {}", write.call, write.target)));
    }
    let open = turn.state.desk.open().len();
    if open > 0 {
        fields.push(("open plans".to_owned(), format!("{open}; `approvals` lists them")));
    }
    fields.push(("model".to_owned(), agent::models(turn.env.minds)));
    for platform in turn.env.platforms {
        let state = text::one_line(&turn.env.mask.apply(&platform.state), 200);
        fields.push((text::one_line(&platform.name, 40), state));
    }
    if turn.env.set_aside > 0 {
        let said =
            format!("{} in the last 7 days, because I was interrupted twice; my log names them", turn.env.set_aside);
        fields.push(("messages set aside".to_owned(), said));
    }
    for spoke in turn.env.spokes {
        fields.push((format!("tools: {}", spoke.name), text::one_line(&turn.env.mask.apply(&spoke.state), 200)));
    }
    vec![Block::Fields { fields }]
}

fn who_can(route: &Route, turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let asked = route.args.get("asked").and_then(Value::as_str).unwrap_or_default();
    let answer = turn.env.rights.who_can(asked, &request.signal.asker());
    vec![Block::Code { text: text::defuse_mentions(&turn.env.mask.apply(answer.trim_end())) }]
}

fn why(turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let (judged, desk) = (&turn.state.last_judged, &turn.state.desk);
    let sight = Sight::of(turn, request.signal.asker());
    if judged.is_empty() {
        return sentence("Nothing was asked of a tool in this thread yet.");
    }
    let mut trace = String::new();
    for one in judged {
        if !may_be_told(one, request, &sight) {
            trace.push_str("A call is not shown, because you may not see what it is on.\n");
            continue;
        }
        let on = one.target.as_ref().map(|target| format!(" on {target}")).unwrap_or_default();
        let end = match &one.refusal {
            None => format!("cleared by all {} gates", one.passed.len()),
            Some(refusal) => {
                let passed: Vec<&str> = one.passed.iter().map(|passed| passed.gate).collect();
                let after = if passed.is_empty() { "nothing".to_owned() } else { passed.join(", ") };
                match &one.plan {
                    Some(plan) => format!("passed {after}\n  {}", waiting::became(plan, desk)),
                    None => format!("passed {after}\n  {}", stopped(refusal)),
                }
            }
        };
        let _infallible = writeln!(trace, "{}{on}\n  reason: {}\n  {end}", one.what, one.because);
    }
    vec![Block::Code { text: text::defuse_mentions(&text::escape(trace.trim_end())) }]
}

/// Which gate stopped a call, and what else it knows.
fn stopped(refusal: &Refusal) -> String {
    let details = &refusal.details;
    let mut said = format!("stopped by {} ({}): {}", refusal.gate, refusal.code, refusal.message);
    if let Some(host) = &details.target_host {
        let ids = details.more_specific_resource_ids.join(", ");
        let _infallible = write!(said, "\n  target_host: {host}; more_specific_resource_ids: {ids}");
    }
    if let Some(id) = &details.recovery_id {
        let _infallible = write!(said, "\n  recovery: {id}");
    }
    said
}

/// Whoever asked for a call may be told what became of it, and so may whoever may see what it is on.
fn may_be_told(judged: &Judged, request: &Request, sight: &Sight<'_>) -> bool {
    let on = judged.target.as_deref().and_then(|target| target.parse().ok());
    judged.asked_by == request.signal.actor.id
        || on.is_none_or(|on| sight.sees_what_came(None, Some(&on), &judged.labels))
}

fn about(route: &Route, turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let named = route.target.as_deref().unwrap_or_default();
    let words = format!("@@{}", named.trim_start_matches('@').replace(' ', " @@"));
    let mut found = mentions(&words, &turn.state.resolved);
    if found.iter().all(|mention| matches!(mention, Mention::Unknown(_))) {
        let fuzzy = mentions(named.trim_start_matches('@'), &turn.state.resolved);
        if !fuzzy.is_empty() {
            found = fuzzy;
        }
    }
    let sight = Sight::of(turn, request.signal.asker());
    let found = seen(found, &sight);
    let may_tell = |resource: &Resource, fact: &Fact| sight.sees_fact(fact, resource);
    let text = brief(&found, &turn.state.resolved, &turn.state.knowledge, may_tell);
    vec![Block::Code { text: text::defuse_mentions(&turn.env.mask.apply(text.trim_end())) }]
}

fn reset(turn: &mut Turn<'_>, request: &Request, keep_pinned: bool) -> Vec<Block> {
    let kept = turn.state.reset(keep_pinned);
    let detail = if keep_pinned { "reset keep" } else { "reset" };
    let about = crate::thread::state::AuditAbout { detail, ..crate::thread::state::AuditAbout::default() };
    turn.audit("reset", &request.signal, about);
    let open = turn.state.fsm.open_write().is_some();
    sentence(match (open, kept) {
        (true, _) => "Forgotten, but for the change that is not verified yet: only a look at its target ends that.",
        (false, true) => "Forgotten, but for what is pinned.",
        (false, false) => "Forgotten. This thread starts anew.",
    })
}

//! How a signal becomes a request: is it too deep, may its author talk, what does it name, what does it mean. What is
//! then asked for is judged elsewhere, whoever asks.

use crate::approval::{Verb, Withdrawal};
use crate::effect::{Effect, Ending};
use crate::gate::DEPTH_MAX;
use crate::mind::Tier;
use crate::port::{Choice, Claim, Mark, Right};
use crate::route::{
    Does, Intent, OwnCommand, Route, Suggested, exact_key, hear, in_part, is_pronoun, is_proven_command,
    may_be_remembered, mended, near, respelt, route,
};
use crate::signal::{Addressed, Payload, QuestionId, Signal};

use super::prefetch::{Mention, mentions, seen};
use super::procedure::{Procedure, Wanted};
use super::request::Request;
use super::run::advance;
use super::sight::Sight;
use super::state::{AuditAbout, Question, Resume, Turn};
use super::{
    It, agent, carry, decision, details, draft, follow_up, grants, limited, link, link_news, pins, room, say, stop,
    waiting,
};

/// A signal begins a request.
pub(crate) fn perceive(turn: &mut Turn<'_>, signal: Signal, again: bool) {
    turn.count("signals_total", &[("platform", signal.thread.platform.as_str()), ("outcome", "taken")]);
    let is_addressed = signal.addressed != Addressed::No || signal.payload.taken_back().is_some();
    if signal.depth > DEPTH_MAX || !is_addressed {
        drop_signal(turn, signal);
        return;
    }
    turn.state.turn = turn.state.turn.saturating_add(1);
    go_through(turn, Request { again, ..Request::new(signal, turn.state.turn) });
}

/// A request is gone through from its beginning. What it has called and said before, where a step of it was not stored,
/// keeps its numbers.
pub(super) fn go_through(turn: &mut Turn<'_>, request: Request) {
    let Some(mut request) = without_words(turn, request) else { return };
    if !turn.env.rights.may(&request.signal.asker(), &Right::Talk) {
        return match link::code_of_nobody(turn, &request.signal) {
            Some(code) => link::claim(turn, request, &code),
            None => refuse_talk(turn, request),
        };
    }
    if let Some(filed) = draft::begun_by(turn, &request) {
        return carry::resume(turn, request, &filed);
    }
    match request.signal.payload.clone() {
        Payload::Text { text } => words(turn, request, &text),
        Payload::Decision { plan, digest, choice, reason } => {
            link_news::tell(turn, &mut request);
            decision::pressed(turn, request, plan, digest, choice, reason);
        }
        Payload::Details { plan } => details::pressed(turn, request, &plan),
        // Taken care of above: they need no right to talk.
        Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. } => {
            turn.finish(request, Ending::Answered);
        }
        Payload::Choice { question, pick } => match picked(turn, &request.signal, &question, pick) {
            Some(chosen) => go_on_with(turn, request, chosen),
            None => {
                turn.say_no(&mut request, Mark::Plain, say::question_is_over());
                turn.finish(request, Ending::Answered);
            }
        },
    }
}

/// A request that is set aside ends in one notice, so that a message which ends the process cannot do so forever. Nothing
/// that a person typed or is called is looked at: it may be what did it.
pub(crate) fn interrupted(turn: &mut Turn<'_>, signal: Signal) {
    turn.state.turn = turn.state.turn.saturating_add(1);
    let mut request = Request::new(signal, turn.state.turn);
    if !carry::was_carried_by(turn, &mut request) {
        let blocks = say::set_aside(turn, &request.signal);
        turn.say(&mut request, Mark::Failed, Claim::Nothing, blocks);
    }
    turn.finish(request, Ending::Interrupted);
}

/// What nobody says: it gives nothing, and so no right is asked for. The rest is given back.
fn without_words(turn: &mut Turn<'_>, request: Request) -> Option<Request> {
    match request.signal.payload.clone() {
        Payload::Due { plan } => ours(turn, request, |turn, request| waiting::due(turn, request, &plan)),
        Payload::Unreachable { plan } => {
            ours(turn, request, |turn, request| waiting::unreachable(turn, request, &plan));
        }
        Payload::CardLate { plan } => ours(turn, request, |turn, request| waiting::begin_anew(turn, request, &plan)),
        Payload::Limited { over } => limited::refuse(turn, request, &over),
        Payload::Stray => decision::stray(turn, request),
        Payload::OlderCopy => decision::older_copy(turn, request),
        Payload::Edited { event } => waiting::take_back(turn, request, &event, Withdrawal::Edited),
        Payload::Deleted { event } => waiting::take_back(turn, request, &event, Withdrawal::Deleted),
        Payload::RoomMoved { to, is_known } => room::moved(turn, request, to, is_known),
        Payload::Text { .. } | Payload::Choice { .. } | Payload::Decision { .. } | Payload::Details { .. } => {
            return Some(request);
        }
    }
    None
}

/// The engine's own signal. Whoever else sends one is nobody.
fn ours(turn: &mut Turn<'_>, request: Request, then: impl FnOnce(&mut Turn<'_>, Request)) {
    if request.signal.actor.is_ourselves() {
        then(turn, request);
    } else {
        refuse_talk(turn, request);
    }
}

pub(super) fn drop_signal(turn: &mut Turn<'_>, signal: Signal) {
    turn.count("depth_dropped_total", &[("platform", signal.thread.platform.as_str())]);
    let detail = format!("dropped at depth {}", signal.depth);
    turn.audit("dropped", &signal, AuditAbout { detail: &detail, ..AuditAbout::default() });
    turn.effects.push(Effect::Finish { signal: signal.id, ending: Ending::Dropped });
}

pub(super) fn refuse_talk(turn: &mut Turn<'_>, mut request: Request) {
    let refusal = say::people::may_not_talk(turn, &request.signal);
    turn.count("gate_block_total", &[("gate", "actor"), ("code", refusal.code.as_str()), ("tool", "talk")]);
    let about = AuditAbout { call: "talk", detail: &refusal.message, refusal: Some(&refusal), ..AuditAbout::default() };
    turn.audit("refused", &request.signal, about);
    turn.say_no(&mut request, Mark::Refused, say::refused(&refusal, turn.env.mask));
    turn.finish(request, Ending::Answered);
}

fn words(turn: &mut Turn<'_>, request: Request, text: &str) {
    let Some(mut request) = answer_question(turn, request, text) else { return };
    mark_meant(turn, &request, text);
    let heard = follow_up::completed(turn, hear(text));
    let signal = &request.signal;
    let roles = turn.env.rights.roles(&signal.asker());
    let Some(route) = route(&heard, &signal.thread, &roles, turn.state.sticky.as_deref(), &turn.env) else {
        let layer = turn.env.minds.first().map_or("none", Tier::as_str);
        turn.count("requests_total", &[("layer", layer), ("intent", "none")]);
        not_understood(turn, request, text);
        return;
    };
    turn.count("requests_total", &[("layer", route.layer.as_str()), ("intent", &route.intent)]);
    let Some(intent) = turn.env.intents.named(&route.intent) else {
        not_understood(turn, request, text);
        return;
    };
    if may_be_remembered(&route, intent, &turn.env) {
        let key = exact_key(&signal.thread, &roles, &heard);
        turn.effects.push(Effect::Remember { key, route: route.clone() });
    }
    if !intent.domain.is_empty() {
        turn.state.sticky = Some(intent.domain.clone());
    }
    // What changes the links themselves is not to be overtaken by a note about them.
    if !matches!(intent.does, Does::Own(OwnCommand::Link | OwnCommand::Unlink)) {
        link_news::tell(turn, &mut request);
    }
    follow_up::remember(turn, (&route, &heard.text), &intent.does);
    match &intent.does {
        Does::Own(OwnCommand::Again) => follow_up::again(turn, request),
        Does::Own(OwnCommand::Pin) => pins::typed(turn, request, &route, true),
        Does::Own(OwnCommand::Unpin) => pins::typed(turn, request, &route, false),
        Does::Own(OwnCommand::More) => follow_up::more(turn, request),
        Does::Own(OwnCommand::Approve) => decision::typed(turn, request, Verb::Approve, &route),
        Does::Own(OwnCommand::Deny) => decision::typed(turn, request, Verb::Deny, &route),
        Does::Own(OwnCommand::Cancel) => decision::typed(turn, request, Verb::Cancel, &route),
        Does::Own(OwnCommand::Details) => details::typed(turn, request, &route),
        Does::Own(OwnCommand::Link) => link::typed(turn, request, &route),
        Does::Own(OwnCommand::Unlink) => link::unlink(turn, request, &route),
        Does::Own(OwnCommand::Verify) => carry::verify(turn, request),
        Does::Own(OwnCommand::Stop) => stop::asked(turn, request),
        Does::Own(OwnCommand::Grant) => grants::give(turn, request, &route),
        Does::Own(OwnCommand::Grants) => grants::list(turn, request),
        Does::Own(OwnCommand::Revoke) => grants::revoke(turn, request, &route),
        Does::Own(own) => {
            let blocks = say::own(*own, &route, turn, &request);
            turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
            turn.finish(request, Ending::Answered);
        }
        Does::Call { tool, action } => {
            request.becomes_talk();
            begin(turn, request, intent, (tool, action), &route);
        }
        Does::Reply(reply) => {
            request.becomes_talk();
            let blocks = say::canned::reply(reply, &route, turn.env.mask);
            turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
            turn.finish(request, Ending::Answered);
        }
    }
}

/// A mention of a known thing in the author's own message is intent (PRE-12), where they may see it; nothing else in a message
/// is.
fn mark_meant(turn: &mut Turn<'_>, request: &Request, text: &str) {
    let meant = seen(mentions(text, &turn.state.resolved), &Sight::of(turn, request.signal.asker()));
    for mention in meant {
        if let Mention::Meant(id, _) = mention {
            turn.state.resolved.mark_explicit(&id, &request.signal.actor.id, turn.now.mono);
            turn.state.resolved.touch(&id, turn.now.mono);
        }
    }
}

/// Begins what a route asks for: what it names is found first.
pub(super) fn begin(turn: &mut Turn<'_>, request: Request, intent: &Intent, call: (&str, &str), route: &Route) {
    let kind = turn.env.registry.action(call.0, call.1).and_then(|spec| spec.target.clone());
    let wanted = match route.target.as_deref() {
        None => Wanted::TheOnly,
        Some(target) if is_pronoun(target) => {
            let by = &request.signal.actor.id;
            match turn.state.entities.it(by, request.turn, kind.as_deref()) {
                It::One(entity) => Wanted::Known(entity),
                It::Nothing => return ask_what_it_is(turn, request, target),
                It::Several(entities) => return ask_which(turn, request, intent, call, (route, entities)),
            }
        }
        Some(name) => Wanted::Named(name.trim_start_matches("@@").to_owned()),
    };
    let said_it = match (&wanted, &route.target) {
        (Wanted::Known(entity), Some(target)) => Some(say::it_became(target, entity)),
        (Wanted::Known(_) | Wanted::Named(_) | Wanted::TheOnly, _) => None,
    };
    let around = (&turn.env, &turn.state.resolved);
    let procedure = Procedure::begin(&intent.name, call, route.args.clone(), wanted, around);
    advance(turn, request, Procedure { said_it, ..procedure });
}

fn ask_what_it_is(turn: &mut Turn<'_>, mut request: Request, word: &str) {
    turn.say(&mut request, Mark::Question, Claim::Nothing, say::what_is_it(word));
    turn.finish(request, Ending::Answered);
}

fn ask_which(
    turn: &mut Turn<'_>,
    request: Request,
    intent: &Intent,
    call: (&str, &str),
    (route, entities): (&Route, Vec<super::Entity>),
) {
    let choices = entities.into_iter().take(super::procedure::CHOICES_MAX).map(|entity| {
        let around = (&turn.env, &turn.state.resolved);
        let shown = say::entity_choice(&entity);
        let procedure = Procedure::begin(&intent.name, call, route.args.clone(), Wanted::Known(entity), around);
        (shown, Resume::Procedure(Box::new(procedure)))
    });
    let choices: Vec<_> = choices.collect();
    turn.ask(request, say::which_one(), choices);
}

fn not_understood(turn: &mut Turn<'_>, mut request: Request, text: &str) {
    // A bare yes or no decides nothing: it shows the plan that waits, and how it is decided.
    let verb = match text.trim().to_ascii_lowercase().trim_end_matches(['.', '!']) {
        "yes" | "y" | "ok" | "okay" | "go" | "do it" | "approved" | "lgtm" => Some(Verb::Approve),
        "no" | "n" | "nope" | "denied" => Some(Verb::Deny),
        _ => None,
    };
    if let Some(verb) = verb.filter(|_| decision::only_pending(turn).is_some()) {
        return decision::without_id(turn, request, verb);
    }
    request.becomes_talk();
    let heard = hear(text);
    let respelt = respelt(&heard, &turn.env);
    let mended = mended(&heard, respelt.as_ref(), &turn.env);
    match &mended {
        Some(mended) if mended.runs => {
            let choice = Choice { label: mended.text.clone(), about: mended.about.clone() };
            let resume = Resume::Words(mended.text.clone());
            let question = say::did_you_mean(text, turn.env.mask);
            turn.ask(request, &question, vec![(choice, resume)]);
        }
        _ => {
            let Some(request) = agent::begin(turn, request, text) else { return };
            let parts =
                if mended.is_none() { in_part(respelt.as_ref().unwrap_or(&heard), &turn.env) } else { Vec::new() };
            if !parts.is_empty() {
                return suggest(turn, request, &say::not_all_understood(text, turn.env.mask), parts);
            }
            let near = mended.map_or_else(|| near(&heard, &turn.env), |mended| vec![mended]);
            let is_command = is_proven_command(text, &turn.env);
            suggest(turn, request, &say::not_understood(text, is_command, turn.env.mask), near);
        }
    }
}

/// Offers what may have been meant below a sentence: a reading by its number, the rest to be typed.
fn suggest(turn: &mut Turn<'_>, request: Request, sentence: &str, near: Vec<Suggested>) {
    // A question that waits for another person is not taken from them.
    let by = turn.env.rights.person(&request.signal.thread.platform, &request.signal.actor);
    let is_free = turn.state.question.as_ref().is_none_or(|open| open.to == by);
    let (runs, typed): (Vec<Suggested>, Vec<Suggested>) =
        near.into_iter().partition(|suggested| suggested.runs && is_free);
    let blocks = say::suggestions(sentence, &runs, &typed);
    let choice = |suggested: Suggested| {
        let choice = Choice { label: suggested.text.clone(), about: suggested.about };
        (choice, Resume::Words(suggested.text))
    };
    let mark = if runs.is_empty() { Mark::Plain } else { Mark::Question };
    turn.offer(request, (mark, Claim::Nothing, blocks), runs.into_iter().map(choice).collect());
}

/// The choice of an open question. A question is answered once, by the person who was asked: what it leads to was asked
/// for in their words, and would else count as another's, who could then countersign what they had typed themselves.
fn picked(turn: &mut Turn<'_>, signal: &Signal, question: &QuestionId, pick: u32) -> Option<Chosen> {
    let by = turn.env.rights.person(&signal.thread.platform, &signal.actor);
    let open = turn.state.question.take_if(|open| open.id == *question && open.to == by)?;
    let at = usize::try_from(pick).ok()?;
    match open.choices.get(at) {
        Some(choice) => Some(Chosen::of(&open, choice)),
        None => {
            turn.state.question = Some(open);
            None
        }
    }
}

/// Answers words that belong to an open question; gives back a request whose words are none of its answers.
fn answer_question(turn: &mut Turn<'_>, mut request: Request, text: &str) -> Option<Request> {
    let blocks = match typed_to_question(turn, &request.signal, text) {
        AnswerToQuestion::Choice(chosen) => {
            go_on_with(turn, request, chosen);
            return None;
        }
        AnswerToQuestion::None => say::no_choice(turn.state.has_open_plans()),
        AnswerToQuestion::Several => say::which_number(),
        AnswerToQuestion::OfAnother(person) => say::question_of_another(&person),
        AnswerToQuestion::Other if text.trim().parse::<u8>().is_ok() => say::question_is_over(),
        AnswerToQuestion::Other => return Some(request),
    };
    turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
    None
}

/// A typed message while a question is open.
enum AnswerToQuestion {
    /// A choice of it.
    Choice(Chosen),
    /// None of its choices.
    None,
    /// Yes to several, or a number that none of them has: which one is still open.
    Several,
    /// The question is for another person, of this name.
    OfAnother(String),
    /// Something else.
    Other,
}

/// Reads the number or name of a choice, a yes or a no. Any other words of the person who was asked close the question.
fn typed_to_question(turn: &mut Turn<'_>, signal: &Signal, text: &str) -> AnswerToQuestion {
    let by = turn.env.rights.person(&signal.thread.platform, &signal.actor);
    let typed = text.trim().trim_end_matches(['.', ')', '!']).trim_start_matches('(');
    let lower = typed.to_ascii_lowercase();
    let number = typed.parse::<usize>().ok();
    let is_yes = matches!(lower.as_str(), "y" | "yes" | "yep" | "yeah");
    let is_no = matches!(lower.as_str(), "n" | "no" | "nope" | "none" | "neither");
    let Some(open) = turn.state.question.take_if(|open| open.to == by) else {
        let other = turn.state.question.as_ref().filter(|_| is_yes || is_no || number.is_some());
        return other.map_or(AnswerToQuestion::Other, |open| AnswerToQuestion::OfAnother(open.to.clone()));
    };
    let at = number.or_else(|| ordinal(&lower, open.choices.len())).and_then(|n| n.checked_sub(1));
    let name_of = |label: &str| label.split_once(" (").map_or(label, |(name, _)| name).to_ascii_lowercase();
    let is_named = |(label, _): &&(String, Resume)| label.eq_ignore_ascii_case(typed) || name_of(label) == lower;
    let mut named = open.choices.iter().filter(is_named);
    let only_named = named.next().filter(|_| named.next().is_none());
    let choice = at.and_then(|at| open.choices.get(at)).or(only_named);
    match (choice, open.choices.as_slice()) {
        (Some(choice), _) => AnswerToQuestion::Choice(Chosen::of(&open, choice)),
        (None, [only]) if is_yes => AnswerToQuestion::Choice(Chosen::of(&open, only)),
        (None, _) if is_yes || number.is_some() => {
            turn.state.question = Some(open);
            AnswerToQuestion::Several
        }
        (None, _) if is_no => AnswerToQuestion::None,
        (None, _) => AnswerToQuestion::Other,
    }
}

/// Returns the number that a word in small letters means among so many choices: `the second one`, `two`, `last`.
fn ordinal(typed: &str, count: usize) -> Option<usize> {
    const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    const NUMBERS: [&str; 5] = ["one", "two", "three", "four", "five"];
    if let Some(at) = NUMBERS.iter().position(|number| *number == typed) {
        return Some(at.saturating_add(1));
    }
    let word = typed.strip_prefix("the ").unwrap_or(typed);
    let word = word.strip_suffix(" one").unwrap_or(word);
    let at = ORDINALS.iter().position(|ordinal| *ordinal == word).map(|at| at.saturating_add(1));
    if word == "last" { Some(count) } else { at }
}

/// A choice that was picked: the way on, and the words that say what was asked and what was picked.
struct Chosen {
    resume: Resume,
    words: String,
}

impl Chosen {
    fn of(question: &Question, (label, resume): &(String, Resume)) -> Self {
        Self { resume: resume.clone(), words: format!("{label}, picked after: {}", question.asked) }
    }
}

fn go_on_with(turn: &mut Turn<'_>, mut request: Request, chosen: Chosen) {
    request.chosen = Some(chosen.words);
    resume_with(turn, request, chosen.resume);
}

fn resume_with(turn: &mut Turn<'_>, mut request: Request, resume: Resume) {
    match resume {
        Resume::Procedure(procedure) => {
            request.becomes_talk();
            advance(turn, request, *procedure);
        }
        Resume::Words(text) => words(turn, request, &text),
    }
}

//! `who can`: everybody who may do something, from the policies themselves. The same words make up a table of expectations
//! (`check.rs`).

use std::fmt::Write;

use countersign_core::approval::{NAMED_DECIDERS_MAX, Plan, Risk};
use countersign_core::resource::ResourceId;
use countersign_core::signal::ConversationKind;
use countersign_core::tool::ToolKind;

use super::entities::{Act, OWNER, Thing};
use super::rights::{Access, Subject};

/// What can be asked, for whoever asked something else.
const FORM: &str = "Ask who can: talk, resolve, read, write, record (with a tool's name, if you like), decide low, medium \
                    or high (perhaps alone, or unsealed), acknowledge, declare, grant, administer. Then `on` a \
                    resource's id or an environment, and `in` a room as platform:id.";

/// Where the access file does not say what kind of room it is, a closed one is meant.
const CLOSED: ConversationKind = ConversationKind::Group;

/// The words, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    act: Act,
    on: Option<On>,
    /// Platform and room.
    room: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum On {
    Resource(ResourceId),
    Environment(String),
}

impl Wanted {
    /// Understands `decide high on host:web-1 in matrix:!ops:example.org`. An error is a sentence that repeats none of
    /// the words.
    pub(super) fn parse(asked: &str, access: &Access) -> Result<Self, String> {
        let mut words: Vec<&str> = asked.split_whitespace().collect();
        let room = after(&mut words, "in").map(room_of).transpose()?;
        let on = after(&mut words, "on").map(|on| on_what(on, access)).transpose()?;
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(Self { act: act_of(&words).ok_or(FORM)?, on, room })
    }

    /// The platforms from which somebody can do it; empty where they cannot.
    pub(super) fn where_from(&self, access: &Access, subject: &Subject) -> Vec<String> {
        // A service and a made-up person are on no platform of their own.
        let anywhere = subject.who.platforms.is_empty().then(String::new);
        let platforms = subject.who.platforms.iter().cloned().chain(anywhere);
        platforms.filter(|platform| self.fits(access, subject, platform)).collect()
    }

    fn fits(&self, access: &Access, subject: &Subject, platform: &str) -> bool {
        let place = match &self.room {
            Some((of, _)) if !platform.is_empty() && of != platform => return false,
            Some((of, room)) => access.place(of, room, CLOSED),
            None => access.place(platform, "", CLOSED),
        };
        match &self.on {
            Some(On::Resource(id)) => access.allows_on(subject, &self.act, (id, &[]), &place),
            Some(On::Environment(name)) => {
                let thing = Thing { environment: name.clone(), ..Access::here(&place) };
                access.allows(subject, &self.act, &thing, &place)
            }
            None => access.allows(subject, &self.act, &Access::here(&place), &place),
        }
    }

    fn environment<'a>(&'a self, access: &'a Access) -> Option<&'a str> {
        match self.on.as_ref()? {
            On::Resource(id) => Some(access.directory.places.environment(id, &[])),
            On::Environment(_) => None,
        }
    }
}

/// The list, or a sentence about what can be asked.
pub(super) fn answer(access: &Access, asked: &str) -> Result<String, String> {
    let wanted = Wanted::parse(asked, access)?;
    let what = describe(&wanted);
    let at = wanted.environment(access).map(|name| format!(" ({name})")).unwrap_or_default();
    let everybody = access.everybody();
    let able = everybody.iter().map(|one| (one, wanted.where_from(access, one))).filter(|(_, from)| !from.is_empty());
    let lines: Vec<String> = able.map(|(one, from)| line(one, &from)).collect();
    if lines.is_empty() {
        return Ok(format!("Nobody can {what}{at}."));
    }
    let mut said = format!("These can {what}{at}:");
    for line in lines {
        let _infallible = write!(said, "\n  {line}");
    }
    Ok(said)
}

/// Returns the names of people who may approve a plan in its thread, one more than a card names at most. The requester is among
/// them only if the plan's risk needs no second person.
///
/// None where roles of the platform mean something: who has them is known only when they decide. None, too, where so many people
/// would have to be asked about that a card would wait for it.
pub(super) fn deciders(access: &Access, plan: &Plan) -> Option<Vec<String>> {
    if access.platforms_with_roles().iter().any(|with_roles| *with_roles == *plan.thread.platform.as_str()) {
        return None;
    }
    let platform = plan.thread.platform.as_str();
    let place = access.place(platform, plan.thread.conversation.as_str(), plan.room);
    let may = |one: &Subject| {
        let is_requester = access.is_person(one, platform, plan);
        let act = Act::Decide { risk: plan.risk, is_requester };
        !one.who.is_service
            && one.who.platforms.contains(platform)
            && (!is_requester || (plan.risk == Risk::Low && plan.terms.quorum.get() == 1 && !plan.alone))
            && plan.terms.outsider_of(None, |group| one.who.groups.contains(group)).is_none()
            && access.allows_on(one, &act, (&plan.target, &plan.labels), &place)
    };
    let everybody = access.everybody();
    let (asked, beyond) = everybody.split_at(everybody.len().min(ASKED_MAX));
    let able = asked.iter().filter(|one| may(one)).take(NAMED_DECIDERS_MAX + 1);
    let names: Vec<String> = able.map(|one| one.who.name.clone()).collect();
    (beyond.is_empty() || names.len() > NAMED_DECIDERS_MAX).then_some(names)
}

/// The most people whose rights are looked up for one card.
const ASKED_MAX: usize = 100;

fn line(one: &Subject, from: &[String]) -> String {
    let mut about: Vec<&str> = one.who.roles.iter().map(String::as_str).collect();
    if one.is_owner && one.who.name != OWNER {
        about.insert(0, OWNER);
    }
    if one.who.is_service {
        about.insert(0, "a service");
    }
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
    let from: Vec<&str> = from.iter().map(String::as_str).filter(|platform| !platform.is_empty()).collect();
    let from = if from.is_empty() { String::new() } else { format!(", on {}", from.join(", ")) };
    format!("{}{about}{from}", one.who.name)
}

fn describe(wanted: &Wanted) -> String {
    let act = match &wanted.act {
        Act::Request { kind, tool } if tool.is_empty() => format!("ask for a {}", kind.as_str()),
        Act::Request { kind, tool } => format!("ask for a {} by {tool}", kind.as_str()),
        Act::Decide { risk, is_requester: false } => format!("decide what is of {} risk", risk.as_str()),
        Act::Decide { risk, is_requester: true } => format!("decide their own plan of {} risk", risk.as_str()),
        Act::DecideAlone { risk } => format!("decide alone what is of {} risk", risk.as_str()),
        Act::DecideUnsealed { risk } => {
            format!("decide what is of {} risk by what a server could make up", risk.as_str())
        }
        other => other.name().to_owned(),
    };
    let on = match &wanted.on {
        Some(On::Resource(id)) => format!(" on {id}"),
        Some(On::Environment(name)) => format!(" on {name}"),
        None => String::new(),
    };
    let room = wanted.room.as_ref().map(|(platform, id)| format!(" in {platform}:{id}")).unwrap_or_default();
    format!("{act}{on}{room}")
}

/// Takes the last two words off, where the first of them is this one.
fn after<'a>(words: &mut Vec<&'a str>, word: &str) -> Option<&'a str> {
    let at = words.len().checked_sub(2)?;
    let found = words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let value = words.last().copied().filter(|_| found)?;
    words.truncate(at);
    Some(value)
}

fn room_of(text: &str) -> Result<(String, String), String> {
    let sound = text.split_once(':').filter(|(platform, id)| !platform.is_empty() && !id.is_empty());
    let (platform, id) = sound.ok_or("A room is named as platform:id.")?;
    Ok((platform.to_owned(), id.to_owned()))
}

fn on_what(text: &str, access: &Access) -> Result<On, String> {
    if text.contains(':') {
        let id = text.parse().map_err(|_| "That is no resource's id; an id looks like host:web-1.".to_owned())?;
        return Ok(On::Resource(id));
    }
    if access.directory.places.knows(text) {
        return Ok(On::Environment(text.to_owned()));
    }
    let known: Vec<&str> = access.directory.places.environments().into_iter().collect();
    Err(format!(
        "There is no such environment; there are {}. A resource is named by its id, like host:web-1.",
        known.join(", ")
    ))
}

fn act_of(words: &[&str]) -> Option<Act> {
    let words = words.strip_prefix(&["request"]).unwrap_or(words);
    let (first, rest) = words.split_first()?;
    let plain = match *first {
        "talk" => Some(Act::Talk),
        "acknowledge" => Some(Act::Acknowledge),
        "declare" => Some(Act::Declare),
        "grant" => Some(Act::Grant),
        "administer" => Some(Act::Administer),
        _ => None,
    };
    if let Some(act) = plain {
        return rest.is_empty().then_some(act);
    }
    if let Some(kind) = ToolKind::ALL.into_iter().find(|kind| kind.as_str() == *first) {
        let tool = match rest {
            [] => String::new(),
            [tool] if tool.contains('.') => (*tool).to_owned(),
            _ => return None,
        };
        return Some(Act::Request { kind, tool });
    }
    let (risk, rest) = rest.split_first()?;
    let risk = [Risk::Low, Risk::Medium, Risk::High].into_iter().find(|one| one.as_str() == *risk)?;
    match (*first, rest) {
        ("decide" | "approve", []) => Some(Act::Decide { risk, is_requester: false }),
        ("decide" | "approve", ["alone"]) => Some(Act::DecideAlone { risk }),
        ("decide" | "approve", ["unsealed"]) => Some(Act::DecideUnsealed { risk }),
        ("decide" | "approve", ["as", "requester"]) => Some(Act::Decide { risk, is_requester: true }),
        _ => None,
    }
}

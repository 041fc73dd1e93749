//! What is said of people: who somebody is, what each role may do, and what an account hears that nobody is known by. The
//! last names nobody.

use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::ledger::Link;
use crate::people::{Holding, RoleRights};
use crate::port::{Block, Right, TableColumn};
use crate::signal::{ActorKind, Signal};
use crate::text;
use crate::thread::link::{account_of, person_of};
use crate::thread::request::Request;
use crate::thread::state::Turn;
use crate::tool::ToolKind;

use super::{link, sentence};

/// Who you are.
pub(in crate::thread) fn who(turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let (actor, thread) = (&request.signal.actor, &request.signal.thread);
    let kind = match actor.kind {
        ActorKind::Human => "a person",
        ActorKind::Service => "a service",
        ActorKind::Bot
        | ActorKind::Webhook
        | ActorKind::AnonymousAdmin
        | ActorKind::ChannelPost
        | ActorKind::Bridge => "not a person",
    };
    let may = |kind: &ToolKind| turn.env.rights.may(&request.signal.asker(), &Right::request(*kind));
    let allowed: Vec<&str> = ToolKind::ALL.iter().filter(|kind| may(kind)).map(|kind| kind.as_str()).collect();
    let mut fields = vec![
        ("you are".to_owned(), format!("{} ({kind})", text::one_line(&actor.display, 64))),
        ("known as".to_owned(), text::one_line(&format!("{} on {}", actor.id, thread.platform), 120)),
    ];
    fields.extend(portrait(turn, &request.signal));
    fields.push(("roles".to_owned(), list(&turn.env.rights.roles(&request.signal.asker()))));
    fields.push(("may ask for".to_owned(), list(&allowed)));
    vec![Block::Fields { fields }]
}

/// What is known of the person, where the account is one's.
fn portrait(turn: &Turn<'_>, signal: &Signal) -> Vec<(String, String)> {
    let Some(person) = person_of(turn, signal) else { return Vec::new() };
    let portrait = turn.env.rights.people().portrait(&person).unwrap_or_default();
    let account = |(account, in_file): &(_, bool)| {
        let others: Vec<&str> =
            turn.env.ledger.link(account).filter(|_| !*in_file).into_iter().flat_map(Link::others).collect();
        match others.as_slice() {
            _ if *in_file => link::shown(account),
            [] => format!("{} (linked)", link::shown(account)),
            by => format!("{} (linked by {})", link::shown(account), by.join(" and ")),
        }
    };
    let accounts: Vec<String> = portrait.accounts.iter().map(account).collect();
    vec![
        ("person".to_owned(), person),
        ("accounts".to_owned(), list(&accounts)),
        ("groups".to_owned(), list(&portrait.groups)),
    ]
}

fn list<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// What each role may do here; and, for who administers, who has it.
pub(in crate::thread) fn roles(turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let asker = request.signal.asker();
    let roles = turn.env.rights.people().roles_here(&asker);
    if roles.is_empty() {
        return sentence("No policy speaks of any role.");
    }
    let with_names = turn.env.rights.may(&asker, &Right::Administer);
    let column = |title: &str| TableColumn { title: title.to_owned(), right: false };
    let mut columns = vec![column("role"), column("may, here")];
    columns.extend(with_names.then(|| column("who has it")));
    let row = |one: RoleRights| {
        let mut cells = vec![one.role, list(&one.may)];
        cells.extend(with_names.then(|| list(&one.held_by)));
        cells
    };
    let rows = roles.into_iter().map(row).collect();
    vec![Block::Table { columns, rows }]
}

/// Why somebody is not answered. How to begin is told once in a thread, and then only that it is so (AC-22, AC-27).
pub(in crate::thread) fn may_not_talk(turn: &mut Turn<'_>, signal: &Signal) -> Refusal {
    let refused = |message: &str, hint: Option<String>| Refusal {
        gate: "actor",
        code: Code::Forbidden,
        message: message.to_owned(),
        details: Details { recovery_hint: hint, ..Details::default() },
    };
    let (account, administered) = (account_of(signal), "somebody who administers me can change that");
    match signal.actor.kind {
        ActorKind::Human => {}
        ActorKind::Service => {
            let name = text::one_line(signal.actor.id.as_str(), 64);
            let fix =
                format!("give [[services]] of the access file one with the name `{name}` and roles that permit it");
            return refused(
                "no service of this name may ask for anything here, and nothing was put up for approval",
                Some(fix),
            );
        }
        ActorKind::Bot
        | ActorKind::Webhook
        | ActorKind::AnonymousAdmin
        | ActorKind::ChannelPost
        | ActorKind::Bridge => return refused("only a person with an account of their own may talk to me", None),
    }
    let hint = match turn.env.rights.people().holding(&account) {
        Holding::InFile(_) | Holding::Linked(_) => {
            return refused(&format!("you may not talk to me here; {administered}"), None);
        }
        Holding::Refused(why) => format!("`{}` {why}", link::shown(&account)),
        Holding::Nobodys => format!(
            "somebody who runs me adds `{}` to the access file, or you type `link` to me from an account that I know and \
             its code here",
            link::shown(&account)
        ),
    };
    let is_first = !std::mem::replace(&mut turn.state.told_how_to_begin, true);
    refused("I do not know this account, so that you may not talk to me", is_first.then_some(hint))
}

//! What people are told of links that others made: the person whose account it is said to be, once on each account that they
//! use, and on a card which accounts are no further person for its plan.

use crate::approval::{Filed, no_further_accounts};
use crate::ledger::{Account, Key, Link, Record};
use crate::people::Holding;
use crate::port::{Claim, Mark};
use crate::signal::Wall;

use super::request::Request;
use super::state::Turn;
use super::{link, say};

/// How long people are told of a link, in milliseconds.
const TOLD_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1000;

/// The most accounts that are named on a card.
const NAMED_MAX: usize = 3;

/// Tells a person of accounts that others made theirs, where they have not been told on this account. The account itself is not
/// told: it may be somebody else's.
pub(super) fn tell(turn: &mut Turn<'_>, request: &mut Request) {
    let Some(person) = link::person_of(turn, &request.signal) else { return };
    let own = link::account_of(&request.signal);
    let news: Vec<(Account, Link)> = turn
        .env
        .ledger
        .links()
        .filter(|(account, link)| link.person == person && **account != own && is_news(link, &own, turn.now.wall))
        .map(|(account, link)| (account.clone(), link.clone()))
        .collect();
    if news.is_empty() {
        return;
    }
    let blocks = say::link::made_yours(&news);
    if turn.say(request, Mark::Plain, Claim::Nothing, blocks) {
        for (account, mut link) in news {
            link.told.insert(own.clone());
            link::keep(turn, Key::Link(account), Some(Record::Link(link)));
        }
    }
}

fn is_news(link: &Link, own: &Account, now: Wall) -> bool {
    let is_new = now.0.saturating_sub(link.at.0) < TOLD_MS_MAX;
    is_new && link.others().next().is_some() && !link.told.contains(own)
}

/// Returns the line of a card that names the accounts which are no further person for its plan; none where there is none.
pub(super) fn not_counted(turn: &Turn<'_>, filed: &Filed) -> Option<String> {
    let people = turn.env.rights.people();
    let accounts: Vec<(&Account, &Link)> = no_further_accounts(turn.env.ledger, filed)
        .filter(|(account, link)| people.holding(account) == Holding::Linked(link.person.clone()))
        .collect();
    (!accounts.is_empty()).then(|| say::link::not_counted(&accounts, NAMED_MAX))
}

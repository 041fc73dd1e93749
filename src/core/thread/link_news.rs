//! Announcements of accounts that other people linked: to the person, once on each account of theirs, and on a card, which names the
//! accounts that do not count for its plan.

use crate::approval::{Filed, no_further_accounts};
use crate::ledger::{Account, Key, Link, Record};
use crate::people::Holding;
use crate::port::{Claim, Mark};
use crate::signal::SignalId;

use super::request::Request;
use super::state::Turn;
use super::{link, say};

/// The most accounts that are named at a time.
const NAMED_MAX: usize = 3;

/// The signal whose step made the last announcement. After a conflict in the ledger its step is made again without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkNews {
    told_by: Option<SignalId>,
    is_overtaken: bool,
}

impl LinkNews {
    /// Returns true once if the step of this signal made an announcement.
    pub(super) fn was_told_by(&mut self, signal: &SignalId) -> bool {
        self.told_by.as_ref() == Some(signal) && !std::mem::replace(&mut self.is_overtaken, true)
    }

    fn may_be_told_by(&self, signal: &SignalId) -> bool {
        self.told_by.as_ref() != Some(signal)
    }
}

/// Announces the accounts that other people linked to the author of a request. An account that another person linked gets no
/// announcement, because its user may be that other person.
pub(super) fn tell(turn: &mut Turn<'_>, request: &mut Request) {
    let Some(person) = link::person_of(turn, &request.signal) else { return };
    let (platform, actor) = (&request.signal.thread.platform, &request.signal.actor);
    let is_own = turn.env.rights.linked_by_another(platform, actor).is_none();
    if !is_own || !turn.state.link_news.may_be_told_by(&request.signal.id) {
        return;
    }
    let people = turn.env.rights.people();
    let own = link::account_of(&request.signal);
    let news: Vec<(Account, Link)> = turn
        .env
        .ledger
        .links()
        .filter(|(_, link)| link.person == person && is_news(link, &own))
        .filter(|(account, _)| people.holding(account) == Holding::Linked(person.clone()))
        .map(|(account, link)| (account.clone(), link.clone()))
        .collect();
    if news.is_empty() {
        return;
    }
    let blocks = say::link::made_yours(&news, NAMED_MAX);
    if turn.say(request, Mark::Plain, Claim::Nothing, blocks) {
        turn.state.link_news = LinkNews { told_by: Some(request.signal.id.clone()), is_overtaken: false };
        for (account, mut link) in news {
            link.told.insert(own.clone());
            link::note(turn, request, "link_told", Some(&account), &format!("{person}, by {}", say::link::shown(&own)));
            link::keep(turn, Key::Link(account), Some(Record::Link(link)));
        }
    }
}

fn is_news(link: &Link, own: &Account) -> bool {
    link.others().next().is_some() && !link.told.contains(own)
}

/// Returns the line of a card that names the accounts which are no further person for its plan; none where there is none.
pub(super) fn not_counted(turn: &Turn<'_>, filed: &Filed) -> Option<String> {
    let people = turn.env.rights.people();
    let accounts: Vec<(&Account, &Link)> = no_further_accounts(turn.env.ledger, filed, turn.env.rights)
        .into_iter()
        .filter(|(account, link)| people.holding(account) == Holding::Linked(link.person.clone()))
        .collect();
    (!accounts.is_empty()).then(|| say::link::not_counted(&accounts, NAMED_MAX))
}

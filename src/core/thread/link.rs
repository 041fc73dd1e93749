//! Accounts that people link in chat: by a one-time code that is shown in one place and typed in the other, or by somebody
//! who administers. What stands in the access file is never changed from here. The words are in `say/link.rs`; whose an
//! account is, is `people.rs`'s business.

use sha2::{Digest as _, Sha256};

use crate::effect::{Effect, Ending};
use crate::envelope::{Code as Stable, Details, Suggestion};
use crate::gate::Refusal;
use crate::ledger::{Account, CodeHash, Key, Link, LinkCode, Record};
use crate::people::Holding;
use crate::port::{Block, Claim, Mark, Right};
use crate::route::{Route, hear};
use crate::signal::{ActorId, ActorKind, Assurance, ConversationKind, Mono, Payload, Platform, Signal, Wall};

use super::request::Request;
use super::say;
use super::state::{AuditAbout, Turn};

/// How long a code is open, in milliseconds.
const CODE_MS_MAX: i64 = 10 * 60 * 1000;

/// How long a link waits to be confirmed, in milliseconds.
const OFFER_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// How many characters a code has: 50 bits.
const CODE_CHARS: usize = 10;

/// Crockford's base 32: no letter that is read as a number, or the other way round.
const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// For how long a wrong code counts against whoever typed it, in milliseconds.
const WRONG_MS: u64 = 10 * 60 * 1000;

/// How many wrong codes one account may type in a thread within that time.
const WRONG_MAX: usize = 5;

/// How many all accounts together may: a bound for what a thread remembers.
const WRONG_IN_THREAD_MAX: usize = 50;

/// A code that is read out, or typed.
struct Code(String);

impl Code {
    /// A fresh one. The seed of a step is also the id of a plan that is made in it; its hash tells nothing about the seed.
    fn fresh(seed: u128) -> Self {
        let hashed = Sha256::digest([b"link code ".as_slice(), &seed.to_be_bytes()].concat());
        // A byte has eight times as many values as the alphabet has letters, so that none is likelier than another.
        let letter = |byte: &u8| ALPHABET.chars().nth(usize::from(*byte) % ALPHABET.len());
        Self(hashed.iter().take(CODE_CHARS).filter_map(letter).collect())
    }

    /// As somebody typed it. Case, blanks and dashes do not count, nor whether an O was meant for a nought.
    fn parse(typed: &str) -> Option<Self> {
        let plain = typed.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        });
        let code: String = plain.collect();
        (code.chars().count() == CODE_CHARS && code.chars().all(|c| ALPHABET.contains(c))).then_some(Self(code))
    }

    fn hash(&self) -> CodeHash {
        CodeHash::of(&self.0)
    }

    /// In two groups, as it is easiest to type.
    fn shown(&self) -> String {
        let (first, last) = self.0.split_at_checked(CODE_CHARS / 2).unwrap_or((self.0.as_str(), ""));
        format!("{first}-{last}")
    }
}

/// Wrong codes that were typed in this thread. In memory: a restart forgets them, and 50 bits stand behind it. A stranger
/// is not given a row in the ledger for every guess.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrongCodes(Vec<(ActorId, Mono)>);

impl WrongCodes {
    /// Whether this account has had its tries, or all of them together.
    fn are_too_many(&mut self, by: &ActorId, now: Mono) -> bool {
        self.0.retain(|(_, at)| now.since(*at) < WRONG_MS);
        let own = self.0.iter().filter(|(who, _)| who == by).count();
        own >= WRONG_MAX || self.0.len() >= WRONG_IN_THREAD_MAX
    }

    fn one_more(&mut self, by: &ActorId, now: Mono) {
        self.0.push((by.clone(), now));
    }
}

/// What `link` was asked to do.
enum Wanted<'a> {
    /// To show a code.
    Show,
    /// To make the account that typed this code its person's.
    Claim(&'a str),
    /// To make an account somebody's.
    Give { person: &'a str, account: &'a str },
}

/// Understands the words after `link`. Whatever is not about an account by its id is taken for a code, so that a mistyped
/// one gets the answer of a wrong one.
fn wanted(words: &str) -> Wanted<'_> {
    let mut parts = words.split_whitespace();
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => Wanted::Show,
        (Some(person), Some(account), None) if account.contains(':') => Wanted::Give { person, account },
        (Some(_), ..) => Wanted::Claim(words),
    }
}

/// The account that a signal comes from.
pub(super) fn account_of(signal: &Signal) -> Account {
    Account { platform: signal.thread.platform.clone(), id: signal.actor.id.clone() }
}

/// The person who is known by the account that a signal comes from: only a human is anybody.
pub(super) fn person_of(turn: &Turn<'_>, signal: &Signal) -> Option<String> {
    let holding = turn.env.rights.people().holding(&account_of(signal));
    holding.person().filter(|_| signal.actor.kind == ActorKind::Human).map(str::to_owned)
}

/// The one thing that an account which nobody is known by may say, before it is asked whether it may talk: a code.
pub(super) fn code_of_nobody(turn: &Turn<'_>, signal: &Signal) -> Option<String> {
    let Payload::Text { text } = &signal.payload else { return None };
    let heard = hear(text);
    let words = heard.lower.strip_prefix("link ")?;
    let is_nobodys = signal.actor.kind == ActorKind::Human
        && turn.env.rights.people().holding(&account_of(signal)) == Holding::Nobodys;
    match wanted(words) {
        Wanted::Claim(code) if is_nobodys => Some(code.to_owned()),
        Wanted::Claim(_) | Wanted::Show | Wanted::Give { .. } => None,
    }
}

/// `link`, with or without words after it.
pub(super) fn typed(turn: &mut Turn<'_>, request: Request, route: &Route) {
    let words = said(route, "words");
    if request.signal.actor.kind != ActorKind::Human {
        let refusal = refusal(Stable::Forbidden, "only a person with an account of their own links one");
        return refuse(turn, request, &refusal, None);
    }
    match wanted(&words) {
        Wanted::Claim(code) => claim(turn, request, code),
        Wanted::Show | Wanted::Give { .. } if is_unsealed(&request) => refuse_unsealed(turn, request),
        // Whoever made it their person's may be somebody else, who would make more of them.
        Wanted::Show | Wanted::Give { .. } if is_anothers_work(turn, &request) => {
            refuse(turn, request, &say::link::was_linked_by_another(), None);
        }
        Wanted::Show => show(turn, request),
        Wanted::Give { person, account } => give(turn, request, person, account),
    }
}

/// Whether a server could have made it up: that must not give anybody a second account, on a platform where it would decide
/// what it may not decide here.
fn is_unsealed(request: &Request) -> bool {
    request.signal.assurance == Assurance::Unsealed
}

/// Whether somebody else than its person linked the account that this comes from.
fn is_anothers_work(turn: &Turn<'_>, request: &Request) -> bool {
    let signal = &request.signal;
    turn.env.rights.linked_by_another(&signal.thread.platform, &signal.actor).is_some()
}

fn refuse_unsealed(turn: &mut Turn<'_>, request: Request) {
    refuse(turn, request, &say::link::could_be_made_up(), None);
}

/// Shows a fresh code. A new one replaces the person's old one.
fn show(turn: &mut Turn<'_>, request: Request) {
    let Some(person) = person_of(turn, &request.signal) else {
        return refuse(turn, request, &say::link::whose_is_not_known(), None);
    };
    if request.signal.room != ConversationKind::Direct {
        return refuse(turn, request, &say::link::everybody_would_see(), None);
    }
    let old: Vec<CodeHash> =
        turn.env.ledger.codes().filter(|(_, code)| code.person == person).map(|(hash, _)| hash.clone()).collect();
    for hash in old {
        keep(turn, Key::Code(hash), None);
    }
    let code = Code::fresh(turn.now.seed);
    let shown_to = account_of(&request.signal);
    let open = LinkCode { person, shown_to, expires_at: Wall(turn.now.wall.0.saturating_add(CODE_MS_MAX)) };
    let detail = format!("a code for an account of {}, open for 10 minutes", open.person);
    keep(turn, Key::Code(code.hash()), Some(Record::Code(open)));
    note(turn, &request, "code_shown", None, &detail);
    answer(turn, request, say::link::code(&code.shown()));
}

/// Somebody typed a code: their account becomes its person's. Whatever is wrong with the code is answered alike.
pub(super) fn claim(turn: &mut Turn<'_>, request: Request, typed: &str) {
    if is_unsealed(&request) {
        return refuse_unsealed(turn, request);
    }
    let account = account_of(&request.signal);
    let known = turn.env.rights.people().holding(&account);
    match &known {
        Holding::Nobodys => {}
        Holding::Refused(why) => {
            let refusal = refusal(Stable::InvalidInput, &format!("this account {why}"));
            return refuse(turn, request, &refusal, Some(&account));
        }
        Holding::InFile(person) | Holding::Linked(person) => {
            let is_own = open_code(turn, typed).is_some_and(|(_, code)| code.person == *person);
            return refuse(turn, request, &say::link::known_already(is_own), Some(&account));
        }
    }
    let (by, now) = (request.signal.actor.id.clone(), turn.now.mono);
    if turn.state.wrong_codes.are_too_many(&by, now) {
        return refuse(turn, request, &say::link::too_many_wrong_codes(), Some(&account));
    }
    let Some((hash, code)) = open_code(turn, typed) else {
        turn.state.wrong_codes.one_more(&by, now);
        return refuse(turn, request, &say::link::not_open(), Some(&account));
    };
    keep(turn, Key::Code(hash), None);
    let link = Link::new(&code.person, &code.person, turn.now.wall);
    make(turn, &account, link);
    let shown_to = say::link::shown(&code.shown_to);
    let detail = format!("to {} by a code that was shown to {shown_to}", code.person);
    note(turn, &request, "linked", Some(&account), &detail);
    answer(turn, request, say::link::is_yours(&account, &code.person));
}

/// The code, where it is one and open now: between when it was shown and its end, by the clock on the wall, which may be
/// set back; and shown to an account that is still the person's.
fn open_code(turn: &Turn<'_>, typed: &str) -> Option<(CodeHash, LinkCode)> {
    let hash = Code::parse(typed)?.hash();
    let code = turn.env.ledger.code(&hash)?;
    let (now, end) = (turn.now.wall.0, code.expires_at.0);
    let in_time = (end.saturating_sub(CODE_MS_MAX)..end).contains(&now);
    let holding = turn.env.rights.people().holding(&code.shown_to);
    (in_time && holding.person() == Some(code.person.as_str())).then(|| (hash, code.clone()))
}

/// Somebody who administers wants to make an account a person's. It becomes theirs once they say the same, or a second
/// administrator does: else one could be two people.
fn give(turn: &mut Turn<'_>, request: Request, person: &str, written: &str) {
    let person = person.to_lowercase();
    let may = turn.env.rights.may(&request.signal.asker(), &Right::Administer);
    let is_own = person_of(turn, &request.signal).as_deref() == Some(person.as_str());
    let Some(account) = account(written) else {
        let problem = if may || is_own { say::link::no_account() } else { say::link::not_somebody_elses() };
        return refuse(turn, request, &problem, None);
    };
    let offer = turn.env.ledger.offer(&account).filter(|offer| is_open(offer, &person, turn.now.wall)).cloned();
    if !(may || is_own && offer.is_some()) {
        return refuse(turn, request, &say::link::not_somebody_elses(), None);
    }
    let people = turn.env.rights.people();
    if people.portrait(&person).is_none() {
        let nearest = people.nearest(&person);
        return refuse(turn, request, &nobody_is_called(nearest), Some(&account));
    }
    match people.holding(&account) {
        Holding::Nobodys => {}
        Holding::Refused(why) => {
            let refusal = refusal(Stable::InvalidInput, &format!("`{}` {why}", say::link::shown(&account)));
            return refuse(turn, request, &refusal, Some(&account));
        }
        Holding::InFile(_) => return refuse(turn, request, &say::link::in_the_file(&account), Some(&account)),
        Holding::Linked(other) => {
            return refuse(turn, request, &say::link::linked_already(&account, &other), Some(&account));
        }
    }
    let by = own_name(turn, &request);
    let new = Link::new(&person, &by, turn.now.wall);
    let link = match offer {
        Some(offer) if offer.by != by && is_own => new,
        Some(offer) if offer.by != by => Link { by: offer.by, with: Some(by.clone()), ..new },
        Some(_) | None => {
            keep(turn, Key::Offer(account.clone()), Some(Record::Offer(new)));
            note(turn, &request, "link_offered", Some(&account), &format!("to {person} by {by}"));
            return answer(turn, request, say::link::waits(&account, &person));
        }
    };
    let both = std::iter::once(link.by.as_str()).chain(link.with.as_deref()).collect::<Vec<_>>().join(" and ");
    let detail = format!("to {person} by {both}");
    make(turn, &account, link);
    note(turn, &request, "linked", Some(&account), &detail);
    answer(turn, request, say::link::is_theirs(&account, &person));
}

/// Whether an offer is for this person, and younger than a day by the clock on the wall, which may be set back.
fn is_open(offer: &Link, person: &str, now: Wall) -> bool {
    offer.person == person && (0..OFFER_MS_MAX).contains(&now.0.saturating_sub(offer.at.0))
}

/// Makes an account a person's. Nothing waits for it any more.
fn make(turn: &mut Turn<'_>, account: &Account, link: Link) {
    if turn.env.ledger.offer(account).is_some() {
        keep(turn, Key::Offer(account.clone()), None);
    }
    keep(turn, Key::Link(account.clone()), Some(Record::Link(link)));
}

/// `unlink PLATFORM:ID`: one's own, or anybody's by who administers.
pub(super) fn unlink(turn: &mut Turn<'_>, request: Request, route: &Route) {
    let Some(account) = account(&said(route, "account")) else {
        return refuse(turn, request, &say::link::no_account(), None);
    };
    let holding = turn.env.rights.people().holding(&account);
    let own = person_of(turn, &request.signal);
    let offered = turn.env.ledger.offer(&account).map(|offer| offer.person.as_str());
    let is_own = own.is_some() && [holding.person(), offered].contains(&own.as_deref());
    if !is_own && !turn.env.rights.may(&request.signal.asker(), &Right::Administer) {
        let refusal = refusal(Stable::Forbidden, "you may only unlink accounts of your own");
        return refuse(turn, request, &refusal, Some(&account));
    }
    if let Holding::InFile(_) = holding {
        return refuse(turn, request, &say::link::in_the_file(&account), Some(&account));
    }
    if turn.env.ledger.link(&account).is_none() && turn.env.ledger.offer(&account).is_some() {
        keep(turn, Key::Offer(account.clone()), None);
        note(turn, &request, "link_withdrawn", Some(&account), &format!("by {}", own_name(turn, &request)));
        return answer(turn, request, say::link::waits_no_longer(&account));
    }
    let Some(link) = turn.env.ledger.link(&account) else {
        let refusal = refusal(Stable::NotFound, &format!("`{}` is not linked to anybody", say::link::shown(&account)));
        return refuse(turn, request, &refusal, Some(&account));
    };
    let person = link.person.clone();
    keep(turn, Key::Link(account.clone()), None);
    let detail = format!("from {person} by {}", own_name(turn, &request));
    note(turn, &request, "unlinked", Some(&account), &detail);
    answer(turn, request, say::link::is_nobodys(&account, &person));
}

fn account(written: &str) -> Option<Account> {
    let (platform, id) = written.split_once(':').filter(|(platform, id)| !platform.is_empty() && !id.is_empty())?;
    Some(Account { platform: Platform::new(platform), id: ActorId::new(id) })
}

/// Who acts: the person, or the account of somebody without a name.
fn own_name(turn: &Turn<'_>, request: &Request) -> String {
    turn.env.rights.person(&request.signal.thread.platform, &request.signal.actor)
}

fn nobody_is_called(nearest: Vec<String>) -> Refusal {
    let message = "nobody in the access file has that name; who is new is added there";
    let suggestions = nearest.into_iter().map(|name| Suggestion { id: name.clone(), name }).collect();
    Refusal { details: Details { suggestions, ..Details::default() }, ..refusal(Stable::NotFound, message) }
}

fn said(route: &Route, name: &str) -> String {
    route.args.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

pub(super) fn keep(turn: &mut Turn<'_>, key: Key, to: Option<Record>) {
    let change = turn.env.ledger.put(key, to);
    turn.effects.push(Effect::Keep(Box::new(change)));
}

pub(super) fn refusal(code: Stable, message: &str) -> Refusal {
    Refusal { gate: "link", code, message: message.to_owned(), details: Details::default() }
}

pub(super) fn note(
    turn: &mut Turn<'_>,
    request: &Request,
    what: &'static str,
    account: Option<&Account>,
    detail: &str,
) {
    turn.count("links_total", &[("did", what)]);
    let target = account.map(say::link::shown);
    let about = AuditAbout { call: "link", target: target.as_deref(), detail, ..AuditAbout::default() };
    turn.audit(what, &request.signal, about);
}

/// Counts and records a refusal before it is said (invariant 9). What was typed stands nowhere in it: it may be a code.
fn refuse(turn: &mut Turn<'_>, mut request: Request, refusal: &Refusal, account: Option<&Account>) {
    turn.count("gate_block_total", &[("gate", refusal.gate), ("code", refusal.code.as_str()), ("tool", "link")]);
    let target = account.map(say::link::shown);
    let detail = &refusal.message;
    let about =
        AuditAbout { call: "link", target: target.as_deref(), detail, refusal: Some(refusal), ..AuditAbout::default() };
    turn.audit("refused", &request.signal, about);
    let blocks = say::refused(refusal, turn.env.mask);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

fn answer(turn: &mut Turn<'_>, mut request: Request, blocks: Vec<Block>) {
    turn.say(&mut request, Mark::Plain, Claim::Nothing, blocks);
    turn.finish(request, Ending::Answered);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::secrets::Mask;

    #[test]
    fn a_code_is_read_as_it_was_meant() {
        let code = Code::fresh(7);
        assert_eq!(code.shown().len(), CODE_CHARS + 1);
        for typed in [code.shown(), code.shown().to_lowercase(), code.shown().replace('-', " "), code.0.clone()] {
            assert_eq!(Code::parse(&typed).map(|read| read.0), Some(code.0.clone()), "{typed}");
        }
        assert_eq!(Code::parse("oil00-ilO11").map(|read| read.0).as_deref(), Some("0110011011"));
        for typed in ["", "ABCDE-FGHJ", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ABCDE-FGHJé", "telegram:4711"] {
            assert!(Code::parse(typed).is_none(), "{typed}");
        }
    }

    #[test]
    fn codes_differ_and_are_no_secret_to_the_mask() {
        let codes: BTreeSet<String> = (0..2_000).map(|seed| Code::fresh(seed).shown()).collect();
        assert_eq!(codes.len(), 2_000);
        let letters: BTreeSet<char> = codes.iter().flat_map(|code| code.chars()).collect();
        assert_eq!(letters.len(), ALPHABET.len() + 1, "every letter, and the dash");
        for code in codes {
            let said = format!("Within 10 minutes type `link {code}` to me from the other account.");
            assert_eq!(Mask::default().class_of(&said), None, "{said}");
        }
    }

    #[test]
    fn wrong_codes_are_counted_by_account_and_for_ten_minutes() {
        let (mallory, trudy) = (ActorId::new("mallory"), ActorId::new("trudy"));
        let mut wrong = WrongCodes::default();
        for _ in 0..WRONG_MAX {
            assert!(!wrong.are_too_many(&mallory, Mono(1)));
            wrong.one_more(&mallory, Mono(1));
        }
        assert!(wrong.are_too_many(&mallory, Mono(1)) && !wrong.are_too_many(&trudy, Mono(1)));
        assert!(wrong.are_too_many(&mallory, Mono(WRONG_MS)));
        assert!(!wrong.are_too_many(&mallory, Mono(WRONG_MS + 1)), "their time is over");
        (0..WRONG_IN_THREAD_MAX).for_each(|n| wrong.one_more(&ActorId::new(n.to_string()), Mono(WRONG_MS + 1)));
        assert!(wrong.are_too_many(&trudy, Mono(WRONG_MS + 1)), "a crowd has its bound, too");
    }
}

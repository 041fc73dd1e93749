//! What is said of linked accounts and their codes. No sentence tells a stranger a person's name, or whether a code that
//! is not theirs exists.

use crate::envelope::{Code, Details};
use crate::gate::Refusal;
use crate::ledger::{Account, Link};
use crate::port::Block;
use crate::text;
use crate::thread::link::refusal;

use super::sentence;

/// The most characters of an account's id in a sentence.
const ACCOUNT_CHARS_MAX: usize = 300;

/// The most characters of a name in a sentence.
const NAME_CHARS_MAX: usize = 64;

/// An account as it is written in the access file, fit to stand in a sentence.
pub(in crate::thread) fn shown(account: &Account) -> String {
    text::defuse_mentions(&text::one_line(&format!("{}:{}", account.platform, account.id), ACCOUNT_CHARS_MAX))
}

pub(in crate::thread) fn code(code: &str) -> Vec<Block> {
    sentence(format!(
        "Within 10 minutes type `link {code}` to me from the other account. Who types it first becomes you, with all your \
         rights: show it to nobody."
    ))
}

pub(in crate::thread) fn is_yours(account: &Account, person: &str) -> Vec<Block> {
    sentence(format!(
        "`{}` is {person}'s from now on. The code is used up. `whoami` shows all of your accounts.",
        shown(account)
    ))
}

pub(in crate::thread) fn is_theirs(account: &Account, person: &str) -> Vec<Block> {
    sentence(format!("`{0}` is {person}'s from now on. `unlink {0}` takes that back.", shown(account)))
}

pub(in crate::thread) fn waits(account: &Account, person: &str) -> Vec<Block> {
    sentence(format!(
        "`{0}` is not {person}'s yet. Within a day {person} types `link {person} {0}` to me from an account that they had \
         before, or a second administrator does; or it is written into the access file. Who has both accounts at hand types \
         `link` alone, and the code that it shows.",
        shown(account)
    ))
}

pub(in crate::thread) fn made_yours(news: &[(Account, Link)], named_max: usize) -> Vec<Block> {
    let lines = news.iter().take(named_max).map(|(account, link)| {
        let (account, by) = (shown(account), names(link));
        format!("{by} made the account `{account}` yours. If you don't know it, type `unlink {account}`.")
    });
    let more = news.len().saturating_sub(named_max);
    let rest = (more > 0).then(|| format!("And {more} more; `whoami` shows all of your accounts."));
    sentence(lines.chain(rest).collect::<Vec<_>>().join("\n"))
}

/// The accounts that are no further person for a plan.
pub(in crate::thread) fn not_counted(accounts: &[(&Account, &Link)], named_max: usize) -> String {
    let named = accounts.iter().take(named_max).map(|(account, link)| {
        let person = text::defuse_mentions(&text::one_line(&link.person, NAME_CHARS_MAX));
        format!("{} ({person}, linked by {})", shown(account), names(link))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match accounts.len().saturating_sub(named_max) {
        0 => format!("Doesn't count here: {named}"),
        more => format!("Doesn't count here: {named}, and {more} more"),
    }
}

/// The names of the other people who linked an account.
fn names(link: &Link) -> String {
    let names = link.others().map(|name| text::defuse_mentions(&text::one_line(name, NAME_CHARS_MAX)));
    names.collect::<Vec<_>>().join(" and ")
}

pub(in crate::thread) fn waits_no_longer(account: &Account) -> Vec<Block> {
    sentence(format!("`{}` waits for nobody any more.", shown(account)))
}

pub(in crate::thread) fn was_linked_by_another() -> Refusal {
    let refused = refusal(Code::Forbidden, "somebody else linked this account to you, so that it links no other");
    hinted(refused, "type it from an account that stands in the access file, or that you linked by a code yourself")
}

pub(in crate::thread) fn not_somebody_elses() -> Refusal {
    refusal(Code::Forbidden, "you may not link somebody else's account")
}

pub(in crate::thread) fn is_nobodys(account: &Account, person: &str) -> Vec<Block> {
    sentence(format!("`{}` is not {person}'s any more. What it may is what an unknown account may.", shown(account)))
}

pub(in crate::thread) fn not_open() -> Refusal {
    refusal(Code::NotFound, "that code is not open")
}

pub(in crate::thread) fn too_many_wrong_codes() -> Refusal {
    refusal(Code::RateLimited, "too many wrong codes were typed; wait 10 minutes")
}

pub(in crate::thread) fn known_already(is_own_code: bool) -> Refusal {
    let known = refusal(Code::Forbidden, "this account is known to me already, and an account belongs to one person");
    if is_own_code {
        hinted(known, "that code is yours; type it from the account that I do not know yet")
    } else {
        known
    }
}

pub(in crate::thread) fn whose_is_not_known() -> Refusal {
    let unknown = refusal(Code::Forbidden, "this account is no person's of the access file, so that it has no code");
    hinted(unknown, "type `link` to me from an account that I know")
}

pub(in crate::thread) fn everybody_would_see() -> Refusal {
    let open = refusal(Code::PolicyBlocked, "everybody here would see the code, and who types it becomes you");
    hinted(open, "type `link` to me in a direct conversation")
}

pub(in crate::thread) fn could_be_made_up() -> Refusal {
    let open =
        refusal(Code::Forbidden, "the server could have made this message up, and a link gives away who you are");
    hinted(
        open,
        "type it in an encrypted room, from a device that I have verified: open my profile in your client and choose Verify",
    )
}

pub(in crate::thread) fn in_the_file(account: &Account) -> Refusal {
    let stands = format!("`{}`: it stands in the access file, which nothing in chat changes", shown(account));
    hinted(refusal(Code::PolicyBlocked, &stands), "change it there; it is taken up while I run")
}

pub(in crate::thread) fn linked_already(account: &Account, person: &str) -> Refusal {
    let linked = format!("`{}` is linked to {person}, and an account belongs to one person", shown(account));
    hinted(refusal(Code::Forbidden, &linked), &format!("type `unlink {}` first", shown(account)))
}

pub(in crate::thread) fn no_account() -> Refusal {
    refusal(Code::InvalidInput, "an account is written `platform:id`, with the immutable id, like telegram:4711")
}

fn hinted(refusal: Refusal, hint: &str) -> Refusal {
    Refusal { details: Details { recovery_hint: Some(hint.to_owned()), ..Details::default() }, ..refusal }
}

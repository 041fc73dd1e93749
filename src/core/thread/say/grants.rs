//! What the bot says about standing permissions: given, listed, used, taken back. Shown whole, because whoever reads it
//! must see what will be done without asking.

use serde_json::Value;

use crate::answer;
use crate::approval::{Decided, Extent, PlanId, Unasked};
use crate::ledger::{Grant, GrantId, Ledger, Somebody};
use crate::port::Block;
use crate::secrets::Mask;
use crate::text;

use super::sentence;

/// The most permissions in one list.
const LISTED_MAX: usize = 50;

/// The most characters of an argument in a list; the answer to `grant` shows it whole.
const LISTED_CHARS_MAX: usize = 80;

pub(in crate::thread) fn say_what_to_allow(plan: Option<&PlanId>) -> Vec<Block> {
    if let Some(plan) = plan {
        return sentence(format!(
            "For how long and how often is said as {}: `grant {plan} for 8 hours 10 times`.",
            Extent::FORM
        ));
    }
    sentence(format!(
        "Say on which plan, by its full id, and if you like for how long and how often: `grant PLAN-ID for 8 hours 10 \
         times`. That is {}.",
        Extent::FORM
    ))
}

pub(in crate::thread) fn say_what_to_revoke() -> Vec<Block> {
    sentence("Say what to take back, by its full id: `revoke ID`. `grants` lists what is allowed.")
}

/// What was given, whole.
pub(in crate::thread) fn given(id: &GrantId, grant: &Grant, replaced: &[&GrantId], pending: bool) -> Vec<Block> {
    let mut blocks = sentence("From now on this is done without asking:");
    blocks.push(Block::Fields { fields: fields(id, grant, usize::MAX) });
    for old in replaced {
        blocks.push(Block::Text { text: format!("It replaces what was allowed as {}.", old.as_str()) });
    }
    let countersigned = if pending { " This also countersigned the plan, and it begins now." } else { "" };
    blocks.extend(sentence(format!("`revoke {}` ends that.{countersigned}", id.as_str())));
    blocks
}

pub(in crate::thread) fn list(
    mut live: Vec<(&GrantId, &Grant, Option<String>)>,
    everywhere: bool,
    mask: &Mask,
) -> Vec<Block> {
    let place = if everywhere { "anywhere" } else { "in this room" };
    if live.is_empty() {
        return sentence(format!("Nothing is allowed beforehand {place} now."));
    }
    live.sort_by_key(|(id, grant, _)| (grant.expires_at, *id));
    let more = live.len().saturating_sub(LISTED_MAX);
    let masked = |fields: Vec<(String, String)>| {
        fields.into_iter().map(|(name, value)| (name, mask.apply(&value).into_owned())).collect()
    };
    let shown = live.into_iter().take(LISTED_MAX);
    let mut blocks: Vec<Block> =
        shown.map(|(id, grant, unused)| Block::Fields { fields: masked(listed(id, grant, unused)) }).collect();
    if more > 0 {
        blocks.extend(sentence(format!("And {more} more, which end later.")));
    }
    blocks
}

pub(in crate::thread) fn revoked(grant: &Grant) -> Vec<Block> {
    sentence(format!("Taken back: {}. From now on it is asked for each time.", plain(&grant.title, 160)))
}

/// What was allowed with the same word as a plan that came to nothing.
pub(in crate::thread) fn fallen() -> Block {
    Block::Text {
        text: "What was allowed beforehand with this plan has ended, too: it was not seen to work.".to_owned(),
    }
}

/// Why nobody was asked; said with the outcome.
pub(in crate::thread) fn unasked(decided: &Decided, ledger: &Ledger) -> Option<Block> {
    let text = match decided.unasked.as_ref()? {
        Unasked::Level => "Without asking, as the access file lets the people of this room do this alone.".to_owned(),
        Unasked::Grant(id) => match ledger.grant(id) {
            Some(grant) if grant.uses_left() == 0 => {
                format!("Without asking, as {} allowed; this was the last use, so that has ended.", named(&grant.by.1))
            }
            Some(grant) => format!(
                "Without asking, as {} allowed until {}: {} of {} uses left; `revoke {}` ends that.",
                named(&grant.by.1),
                answer::time(grant.expires_at),
                grant.uses_left(),
                grant.uses_max,
                id.as_str()
            ),
            None => format!("Without asking, as {} had allowed; that has ended.", plain(&decided.by.display, 64)),
        },
    };
    Some(Block::Text { text })
}

/// What the audit row of a permission says.
pub(in crate::thread) fn record(id: &GrantId, grant: &Grant) -> String {
    format!(
        "grant {} of {} for {} until {}, used {} of {} times: {}",
        id.as_str(),
        grant.by.1.person,
        grant.person.person,
        answer::time(grant.expires_at),
        grant.uses,
        grant.uses_max,
        grant.title
    )
}

/// What the audit row of a use says.
pub(in crate::thread) fn use_record(id: &GrantId, grant: &Grant, uses: u32) -> String {
    let (giver, max) = (&grant.by.1.person, grant.uses_max);
    format!("approve by grant {} of {giver}, use {uses} of {max}: {}", id.as_str(), grant.title)
}

fn listed(id: &GrantId, grant: &Grant, unused: Option<String>) -> Vec<(String, String)> {
    let mut fields = fields(id, grant, LISTED_CHARS_MAX);
    fields.extend(unused.map(|why| ("Not used now".to_owned(), why)));
    fields
}

fn fields(id: &GrantId, grant: &Grant, chars_max: usize) -> Vec<(String, String)> {
    let mut fields = vec![
        ("What".to_owned(), plain(&grant.title, usize::MAX)),
        ("Does".to_owned(), plain(&format!("{}.{}", grant.tool, grant.action), usize::MAX)),
        ("To".to_owned(), plain(grant.target.as_str(), usize::MAX)),
    ];
    for (name, value) in &grant.args {
        let value = value.as_str().map_or_else(|| Value::to_string(value), str::to_owned);
        fields.push((format!("With {}", plain(name, usize::MAX)), plain(&value, chars_max)));
    }
    if grant.shown.is_some() {
        // The same words change something else by then: they are asked about again.
        fields.push(("Only while".to_owned(), "a card would show the same lines as this one's did".to_owned()));
    }
    fields.extend([
        ("In".to_owned(), plain(&format!("{}:{}", grant.room.0, grant.room.1), usize::MAX)),
        ("For".to_owned(), named(&grant.person)),
        ("By".to_owned(), named(&grant.by.1)),
        ("Until".to_owned(), answer::time(grant.expires_at)),
        ("Uses".to_owned(), format!("{} of {} left", grant.uses_left(), grant.uses_max)),
        ("Id".to_owned(), id.as_str().to_owned()),
    ]);
    fields
}

/// As rights know them; what they call themselves stands before that where it is something else.
fn named(somebody: &Somebody) -> String {
    let (person, display) = (plain(&somebody.person, 120), plain(&somebody.display, 64));
    if person == display { person } else { format!("{display} ({person})") }
}

/// Untrusted text on one line, escaped, and harmless.
fn plain(untrusted: &str, chars_max: usize) -> String {
    text::defuse_mentions(&text::one_line(untrusted, chars_max))
}

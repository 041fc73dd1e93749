//! Answers to `pin` and `unpin`.

use crate::resource::ResourceId;
use crate::secrets::Mask;
use crate::text;

use super::quote;

/// The most ids that are named.
const IDS_MAX: usize = 5;

pub(in crate::thread) fn not_known(name: &str, mask: &Mask) -> String {
    format!("I know nothing called “{}” in this thread. Look at it first, then pin it.", quote(name, mask))
}

pub(in crate::thread) fn changed(id: &ResourceId, pins: bool, is_changed: bool) -> String {
    let id = text::one_line(id.as_str(), 120);
    match (pins, is_changed) {
        (true, true) => format!("Pinned: {id}. It stays known here until `reset`, or `unpin`."),
        (true, false) => format!("{id} is not known here any more. Look at it first, then pin it."),
        (false, true) => format!("Not pinned any more: {id}."),
        (false, false) => format!("That was not pinned: {id}."),
    }
}

pub(in crate::thread) fn several(ids: &[ResourceId]) -> String {
    let ids: Vec<String> = ids.iter().take(IDS_MAX).map(|id| text::one_line(id.as_str(), 120)).collect();
    format!("Several are meant: {}. Say which by its id.", ids.join(", "))
}

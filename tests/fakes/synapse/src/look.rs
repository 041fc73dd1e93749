//! Looking at a room, and waiting for what is to be seen there.

use std::sync::Arc;
use std::time::Duration;

use crate::seen::{Seen, shown_now};
use crate::server::Synapse;

/// How long a wait takes at most: a machine that compiles beside it is slow.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

impl Synapse {
    /// Every event of a room, in the order in which people saw it.
    pub fn events(&self, room: &str) -> Vec<Arc<Seen>> {
        self.front().look(|timeline| timeline.of(room))
    }

    /// Blocks until somebody has seen an event. Its number: what was seen later has a greater one, in whichever room.
    pub fn number(&self, event: &str) -> i64 {
        let number = self.front().block_until(|timeline| timeline.number(event));
        number.unwrap_or_else(|| panic!("nobody has seen {event}"))
    }

    /// The event with this number.
    pub fn numbered(&self, number: i64) -> Option<Seen> {
        self.front().look(|timeline| timeline.numbered(number).cloned())
    }

    /// Waits for an event of a room, also one that was there before; panics with the room where it does not come.
    pub async fn wait_for(&self, room: &str, wanted: impl Fn(&Seen) -> bool) -> Seen {
        self.wait_until(room, |events| events.iter().find(|event| wanted(event)).map(|event| event.as_ref().clone()))
            .await
    }

    /// Waits until what is seen of a room makes something; panics with the room where it does not.
    pub async fn wait_until<T>(&self, room: &str, make: impl Fn(&[Arc<Seen>]) -> Option<T>) -> T {
        let mut changes = self.front().changes();
        let seen = async {
            loop {
                if let Some(wanted) = make(&self.events(room)) {
                    return wanted;
                }
                changes.changed().await.expect("the program that plays people runs");
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, seen).await.ok();
        in_time.unwrap_or_else(|| panic!("it was not seen within {PATIENCE:?} in\n{}", self.picture(room)))
    }

    /// What a message says now, after its edits; none where it was deleted or never seen.
    pub fn shown(&self, room: &str, event: &str) -> Option<Seen> {
        shown_now(&self.events(room), event)
    }

    /// A room as people see it: a line for each event.
    pub fn picture(&self, room: &str) -> String {
        let line = |seen: &Arc<Seen>| {
            let what = if let Some((on, key)) = seen.reaction() {
                format!("reacts {key} to {on}")
            } else if let Some(gone) = &seen.redacts {
                format!("deletes {gone}")
            } else if !seen.readable {
                "(nobody can read it)".to_owned()
            } else if let Some(old) = seen.edits() {
                format!("edits {old}: {}", seen.content["m.new_content"]["body"])
            } else if seen.body().is_empty() {
                seen.kind.clone()
            } else {
                seen.body().to_owned()
            };
            let lock = if seen.encrypted { " (encrypted)" } else { "" };
            let thread = seen.thread().map(|root| format!(" in {root}")).unwrap_or_default();
            format!("{} {}{thread}{lock}: {what}", seen.event, seen.sender)
        };
        self.events(room).iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

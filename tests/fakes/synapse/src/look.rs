//! Looking at a room, and waiting for what is to be seen there.

use std::time::Duration;

use crate::seen::Seen;
use crate::server::Synapse;

/// How long a wait takes at most: a machine that compiles beside it is slow.
const PATIENCE: Duration = Duration::from_mins(1);

impl Synapse {
    /// Every event of a room, in the order in which people saw it.
    pub fn events(&self, room: &str) -> Vec<Seen> {
        self.front().look(|timeline| timeline.of(room).cloned().collect())
    }

    /// Waits for an event of a room, also one that was there before; panics with the room where it does not come.
    pub async fn wait_for(&self, room: &str, wanted: impl Fn(&Seen) -> bool) -> Seen {
        self.wait_until(room, |events| events.iter().find(|event| wanted(event)).cloned()).await
    }

    /// Waits until what is seen of a room makes something; panics with the room where it does not.
    pub async fn wait_until<T>(&self, room: &str, make: impl Fn(&[Seen]) -> Option<T>) -> T {
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
        let events = self.events(room);
        if events.iter().any(|seen| seen.redacts.as_deref() == Some(event)) {
            return None;
        }
        let message = events.iter().find(|seen| seen.event == event)?;
        let edit = events.iter().rev().find(|seen| seen.edits() == Some(event) && seen.sender == message.sender);
        let new = edit.map(|edit| edit.content["m.new_content"].clone()).filter(|new| !new.is_null());
        let mut shown = message.clone();
        if let Some(mut new) = new {
            new["m.relates_to"] = message.content["m.relates_to"].clone();
            shown.content = new;
        }
        Some(shown)
    }

    /// A room as people see it: a line for each event.
    pub fn picture(&self, room: &str) -> String {
        let line = |seen: Seen| {
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
        self.events(room).into_iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

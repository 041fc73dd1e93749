//! Getting updates: what a poll asks for and what it does to the queue. Waiting is the server's; how updates are kept is
//! the queue's.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::params::Params;
use crate::queue::Batch;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Seconds that a poll waits at most (the official server's limit).
const TIMEOUT_S_MAX: i64 = 50;
/// Updates of one answer (Bot API, `getUpdates`).
const LIMIT: std::ops::RangeInclusive<i64> = 1..=100;

/// One poll, from its request to its answer.
pub(crate) struct Poll {
    number: u64,
    limit: usize,
    /// When it is answered with nothing.
    pub(crate) deadline: Instant,
}

impl Poll {
    /// Begins a poll: confirms, notes what is wanted, and ends the poll before it.
    pub(crate) fn begin(state: &mut State, params: &Params) -> Result<Self, Refusal> {
        let offset = params.integer("offset")?.unwrap_or(0);
        let limit = params.integer("limit")?.unwrap_or(*LIMIT.end()).clamp(*LIMIT.start(), *LIMIT.end());
        let timeout = params.integer("timeout")?.unwrap_or(0).clamp(0, TIMEOUT_S_MAX);
        if let Some(kinds) = params.json("allowed_updates")? {
            let kinds = kinds.as_array().ok_or_else(|| Refusal::bad("expected an Array of String"))?;
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            state.queue.allow(&kinds);
        }
        for update in state.queue.confirm(offset) {
            let copies = state.faults.copies(update.chat);
            state.queue.repeat(&update, copies);
        }
        state.queue.polls += 1;
        let wait = Duration::from_secs(timeout.unsigned_abs());
        let limit = usize::try_from(limit).unwrap_or(1);
        Ok(Self { number: state.queue.polls, limit, deadline: Instant::now() + wait })
    }

    /// The answer, or until when to wait for one.
    pub(crate) fn look(&self, state: &mut State) -> Result<Answer, Instant> {
        if state.queue.polls != self.number {
            let conflict =
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
            return Ok(Err(Refusal::new(409, conflict)));
        }
        if !state.webhook.is_empty() {
            let conflict = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
            return Ok(Err(Refusal::new(409, conflict)));
        }
        let now = Instant::now();
        match state.queue.batch(self.limit, now) {
            Batch::Ready(updates) => Ok(Ok(Value::Array(updates))),
            Batch::Nothing(_) if now >= self.deadline => Ok(Ok(json!([]))),
            Batch::Nothing(late) => Err(late.map_or(self.deadline, |late| late.min(self.deadline))),
        }
    }
}

pub(super) fn delete_webhook(state: &mut State, params: &Params) -> Answer {
    if params.flag("drop_pending_updates")? {
        state.queue.forget();
    }
    state.webhook.clear();
    Ok(json!(true))
}

#[expect(clippy::unnecessary_wraps, reason = "every method has this form")]
pub(super) fn webhook_info(state: &mut State, _: &Params) -> Answer {
    let waiting = state.queue.waiting();
    Ok(json!({ "url": state.webhook, "has_custom_certificate": false, "pending_update_count": waiting }))
}

//! Turns at work: a thread that has something to do waits in line with all others, one place a thread, and is at work once it
//! comes. Whoever floods a thread makes that thread's own queue longer, and the line no longer for anybody else.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::rate::is_decision;
use countersign_core::signal::Payload;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::worker::Job;

/// How long a signal waits until the suspects before it have ended. What ends a process does it sooner.
const ALONE_MAX: Duration = Duration::from_secs(10);

/// A turn. It ends when it is dropped.
pub(super) type Turn = Option<OwnedSemaphorePermit>;

/// A place in line.
type InLine = Pin<Box<dyn Future<Output = Turn> + Send + Sync>>;

/// What a thread does next, and its place in line.
#[derive(Default)]
pub(super) struct Next(Option<(Job, InLine)>);

impl Next {
    /// Gets in line with this.
    pub(super) fn wait(&mut self, job: Job, at_work: Arc<Semaphore>) {
        // Nobody closes the line; were it closed, there would be nothing to wait for.
        self.0 = Some((job, Box::pin(async move { at_work.acquire_owned().await.ok() })));
    }

    /// Gets in line with a signal that an earlier process was at work on when it ended. These are worked on one after the
    /// other, so that the one that ends this process, too, is not counted together with others; but none waits for long.
    pub(super) fn wait_alone(&mut self, job: Job, suspects: Arc<Semaphore>) {
        let turn = tokio::time::timeout(ALONE_MAX, suspects.acquire_owned());
        self.0 = Some((job, Box::pin(async move { turn.await.ok().and_then(Result::ok) })));
    }

    /// Whether nothing waits.
    pub(super) const fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Resolves when the turn has come; never, where nothing waits. The place in line is kept when it is dropped before.
    pub(super) async fn come(&mut self) -> (Job, Turn) {
        let Some((_, turn)) = &mut self.0 else { return std::future::pending().await };
        let turn = turn.await;
        match self.0.take() {
            Some((job, _)) => (job, turn),
            None => std::future::pending().await,
        }
    }
}

/// Whether it waits in line. A decision does not, nor what is only told.
pub(super) fn takes_turns(payload: &Payload) -> bool {
    match payload {
        Payload::Text { .. } | Payload::Choice { .. } => !is_decision(payload),
        Payload::Decision { .. }
        | Payload::Details { .. }
        | Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. }
        | Payload::Edited { .. }
        | Payload::Deleted { .. }
        | Payload::RoomMoved { .. } => false,
    }
}

//! The engine's place in these tests: it takes what comes and says what it was told to say. Everybody may talk, but for those
//! who are called stranger.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use countersign_core::port::{Adapter as _, Admission, Asker, BoxFuture, Condition, Ended, Ingress, Right, Touch};
use countersign_core::signal::{Payload, Signal, SignalId};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::PATIENCE;
use crate::Matrix;

#[derive(Default)]
struct Seen {
    signals: Vec<Signal>,
    touches: Vec<Touch>,
    conditions: Vec<Condition>,
    /// What is answered next; accepted where nothing is said.
    next: VecDeque<Result<Admission, String>>,
}

/// What was heard, with a bell for those who wait.
#[derive(Clone)]
pub(super) struct Desk {
    seen: Arc<Mutex<Seen>>,
    bell: Arc<watch::Sender<()>>,
}

impl Desk {
    /// Answers with these first.
    pub(super) fn saying(next: Vec<Result<Admission, String>>) -> Self {
        let seen = Seen { next: next.into(), ..Seen::default() };
        Self { seen: Arc::new(Mutex::new(seen)), bell: Arc::new(watch::Sender::new(())) }
    }

    pub(super) fn new() -> Self {
        Self::saying(Vec::new())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        let done = act(&mut self.seen.lock().expect("nobody panics while holding it"));
        self.bell.send_replace(());
        done
    }

    fn answer(&self, name: &str, keep: impl FnOnce(&mut Seen)) -> Result<Admission, String> {
        self.with(|seen| {
            let next = seen.next.pop_front().unwrap_or_else(|| Ok(Admission::Accepted(SignalId::new(name))));
            // What was not stored was not heard.
            if next.is_ok() && next != Ok(Admission::Busy) {
                keep(seen);
            }
            next
        })
    }

    pub(super) fn signals(&self) -> Vec<Signal> {
        self.seen.lock().expect("nobody panics while holding it").signals.clone()
    }

    pub(super) fn touches(&self) -> Vec<Touch> {
        self.seen.lock().expect("nobody panics while holding it").touches.clone()
    }

    pub(super) fn conditions(&self) -> Vec<Condition> {
        self.seen.lock().expect("nobody panics while holding it").conditions.clone()
    }

    /// What was said, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        self.signals().into_iter().map(text).collect()
    }

    /// Waits for the signal with this text.
    pub(super) async fn heard(&self, words: &str) -> Signal {
        self.until(words, |desk| desk.texts().iter().any(|text| text == words)).await;
        self.signals().into_iter().rfind(|signal| text(signal.clone()) == words).expect("it was heard")
    }

    /// Waits until it holds.
    pub(super) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let mut bell = self.bell.subscribe();
        let look = async {
            while !holds(self) {
                drop(bell.changed().await);
            }
        };
        let done = tokio::time::timeout(PATIENCE, look).await;
        assert!(done.is_ok(), "{what}: {:?} {:?}", self.texts(), self.conditions().last());
    }
}

fn text(signal: Signal) -> String {
    match signal.payload {
        Payload::Text { text } => text,
        Payload::Edited { event } => format!("edited {event}"),
        Payload::Deleted { event } => format!("deleted {event}"),
        other => format!("{other:?}"),
    }
}

impl Ingress for Desk {
    fn accept(&self, signal: Signal) -> BoxFuture<'_, Result<Admission, String>> {
        Box::pin(async move { self.answer(&signal.event.to_string(), |seen| seen.signals.push(signal)) })
    }

    fn touch(&self, touch: Touch) -> BoxFuture<'_, Result<Admission, String>> {
        Box::pin(async move { self.answer(&touch.event.to_string(), |seen| seen.touches.push(touch)) })
    }

    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        *right == Right::Talk && !asker.actor.id.as_str().starts_with("@stranger")
    }

    fn report(&self, condition: Condition) {
        self.with(|seen| seen.conditions.push(condition));
    }
}

/// An adapter that hears, until it is stopped.
pub(super) struct Hearing {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Ended>,
}

impl Hearing {
    pub(super) fn start(matrix: &Arc<Matrix>, desk: &Desk) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (matrix, desk) = (Arc::clone(matrix), desk.clone());
        let task = tokio::spawn(async move {
            let stop: BoxFuture<'_, ()> = Box::pin(async move { drop(stopped.await) });
            matrix.hear(&desk, stop).await
        });
        Self { stop, task }
    }

    /// Asks it to stop, and how it ended.
    pub(super) async fn stop(self) -> Ended {
        drop(self.stop);
        self.task.await.expect("it does not panic")
    }

    /// How it ends by itself.
    pub(super) async fn end(self) -> Ended {
        let ended = tokio::time::timeout(PATIENCE, self.task).await;
        drop(self.stop);
        ended.expect("it ends by itself").expect("it does not panic")
    }
}

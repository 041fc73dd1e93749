//! The engine's place in these tests: it takes what comes and says what it was told to say.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use countersign_core::port::{Adapter as _, Admission, Asked, BoxFuture, Condition, Ended, Ingress, Suggestion, Touch};
use countersign_core::signal::{EventId, Payload, Signal, SignalId};
use countersign_discord_fake::ChannelId;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::Discord;

#[derive(Default)]
struct Seen {
    signals: Vec<Signal>,
    touches: Vec<Touch>,
    conditions: Vec<Condition>,
    /// Where work is open.
    open: Vec<EventId>,
    typed: Vec<Asked>,
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

    /// Has open work where these were said.
    pub(super) fn at_work(open: Vec<EventId>) -> Self {
        let desk = Self::new();
        desk.with(|seen| seen.open = open);
        desk
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
            keep(seen);
            seen.next.pop_front().unwrap_or_else(|| Ok(Admission::Accepted(SignalId::new(name))))
        })
    }

    pub(super) fn signals(&self) -> Vec<Signal> {
        self.seen.lock().expect("nobody panics while holding it").signals.clone()
    }

    pub(super) fn touches(&self) -> Vec<Touch> {
        self.seen.lock().expect("nobody panics while holding it").touches.clone()
    }

    /// What somebody typed.
    pub(super) fn typed(&self) -> Vec<Asked> {
        self.seen.lock().expect("nobody panics while holding it").typed.clone()
    }

    pub(super) fn conditions(&self) -> Vec<Condition> {
        self.seen.lock().expect("nobody panics while holding it").conditions.clone()
    }

    /// The texts that were heard, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        self.signals().into_iter().map(text).collect()
    }

    /// Those of one channel.
    pub(super) fn texts_in(&self, channel: ChannelId) -> Vec<String> {
        let is_there = |signal: &Signal| signal.thread.conversation.as_str() == channel.0.to_string();
        self.signals().into_iter().filter(is_there).map(text).collect()
    }

    /// The same as the engine takes them: each event once, when it is first handed in.
    pub(super) fn taken_in(&self, channel: ChannelId) -> Vec<String> {
        let (signals, mut seen) = (self.signals(), BTreeSet::new());
        let is_there = |signal: &Signal| signal.thread.conversation.as_str() == channel.0.to_string();
        let first = signals.into_iter().filter(|signal| is_there(signal) && seen.insert(signal.event.clone()));
        first.map(text).collect()
    }

    /// Waits until it holds.
    pub(super) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let mut bell = self.bell.subscribe();
        let look = async {
            while !holds(self) {
                drop(bell.changed().await);
            }
        };
        let done = tokio::time::timeout(std::time::Duration::from_secs(10), look).await;
        assert!(done.is_ok(), "{what}: {:?} {:?}", self.texts(), self.conditions());
    }
}

fn text(signal: Signal) -> String {
    match signal.payload {
        Payload::Text { text } => text,
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

    fn open_work(&self) -> BoxFuture<'_, Result<Vec<EventId>, String>> {
        let open = self.with(|seen| seen.open.clone());
        Box::pin(async move { Ok(open) })
    }

    /// Knows nginx.
    fn suggest(&self, asked: &Asked) -> Vec<Suggestion> {
        self.with(|seen| seen.typed.push(asked.clone()));
        let (mention, title) = ("@@nginx".to_owned(), "nginx".to_owned());
        vec![Suggestion { mention, title, about: "service on web-1".to_owned() }]
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
    pub(super) fn start(discord: &Arc<Discord>, desk: &Desk) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (discord, desk) = (Arc::clone(discord), desk.clone());
        let task = tokio::spawn(async move {
            let stop: BoxFuture<'_, ()> = Box::pin(async move { drop(stopped.await) });
            discord.hear(&desk, stop).await
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
        let ended = tokio::time::timeout(std::time::Duration::from_secs(10), self.task).await;
        drop(self.stop);
        ended.expect("it ends by itself").expect("it does not panic")
    }
}

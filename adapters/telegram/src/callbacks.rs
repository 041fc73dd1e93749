//! The presses that Telegram waits to be answered: each once, from what came of it, and at the latest when everything that
//! answers it has left. In memory only: a press that is forgotten stops spinning by itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::signal::SignalId;
use teloxide::payloads::AnswerCallbackQuery;
use teloxide::types::CallbackQueryId;

use crate::api::{Api, Trouble};

/// The most presses that are remembered, and the most signals whose answer came before it was known that they are presses.
const OPEN_MAX: usize = 1024;

/// The most UTF-16 units of an answer (the Bot API's `answerCallbackQuery`: 200 characters).
pub(crate) const TEXT_UNITS_MAX: usize = 200;

/// The presses that are not answered yet.
#[derive(Default)]
pub(crate) struct Callbacks(Mutex<Presses>);

#[derive(Default)]
struct Presses {
    open: VecDeque<Press>,
    /// Signals that were answered before it was known which press they are.
    early: VecDeque<SignalId>,
}

struct Press {
    callback: String,
    signal: Option<SignalId>,
}

impl Callbacks {
    /// A press is heard; once more, where Telegram tells of it twice.
    pub(crate) fn opened(&self, callback: &str) {
        let mut presses = self.lock();
        if presses.open.iter().all(|press| press.callback != callback) {
            push(&mut presses.open, Press { callback: callback.to_owned(), signal: None });
        }
    }

    /// It was accepted as this signal. True where that is answered already: the press is then closed, and must be answered.
    pub(crate) fn accepted(&self, callback: &str, signal: &SignalId) -> bool {
        let mut presses = self.lock();
        if let Some(at) = presses.early.iter().position(|early| early == signal) {
            presses.early.remove(at);
            return close(&mut presses, |press| press.callback == callback).is_some();
        }
        if let Some(press) = presses.open.iter_mut().find(|press| press.callback == callback) {
            press.signal = Some(signal.clone());
        }
        false
    }

    /// Whether it is not answered yet.
    pub(crate) fn is_open(&self, callback: &str) -> bool {
        self.lock().open.iter().any(|press| press.callback == callback)
    }

    /// Closes it. False where it was closed already.
    pub(crate) fn close(&self, callback: &str) -> bool {
        close(&mut self.lock(), |press| press.callback == callback).is_some()
    }

    /// Closes it where it was accepted as no signal, so that nothing will ever come of it. False for any other.
    pub(crate) fn close_unclaimed(&self, callback: &str) -> bool {
        close(&mut self.lock(), |press| press.callback == callback && press.signal.is_none()).is_some()
    }

    /// Closes the press that was accepted as this signal, where it is one that is still open: there is more to come, but
    /// nobody has to wait for that.
    pub(crate) fn close_of(&self, signal: &SignalId) -> Option<String> {
        close_of(&mut self.lock(), signal)
    }

    /// Everything that answers this signal has left: its press, where it is one that is still open, is closed.
    pub(crate) fn answered(&self, signal: &SignalId) -> Option<String> {
        let mut presses = self.lock();
        let closed = close_of(&mut presses, signal);
        if closed.is_none() && presses.open.iter().any(|press| press.signal.is_none()) {
            push(&mut presses.early, signal.clone());
        }
        closed
    }

    fn lock(&self) -> MutexGuard<'_, Presses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn close(presses: &mut Presses, is: impl Fn(&Press) -> bool) -> Option<String> {
    let at = presses.open.iter().position(is)?;
    presses.open.remove(at).map(|press| press.callback)
}

fn close_of(presses: &mut Presses, signal: &SignalId) -> Option<String> {
    close(presses, |press| press.signal.as_ref() == Some(signal))
}

/// Puts it at the end; the oldest gives way.
fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() >= OPEN_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Answers a press. `alert` keeps the text on the screen until it is read.
pub(crate) async fn answer(api: &Api, callback: &str, text: Option<&str>, alert: bool) -> Result<(), Trouble> {
    let mut payload = AnswerCallbackQuery::new(CallbackQueryId(callback.to_owned()));
    payload.text = text.map(str::to_owned);
    payload.show_alert = alert.then_some(true);
    api.call(&payload).await.map(|_done: bool| ())
}

/// The same, in the background. What comes of it only matters for the log: nothing but a spinning button hangs on it.
pub(crate) fn answer_soon(api: &Arc<Api>, callback: String, text: Option<String>) {
    let api = Arc::clone(api);
    tokio::spawn(async move {
        if let Err(trouble) = answer(&api, &callback, text.as_deref(), false).await {
            tracing::debug!(%trouble, "a press of a button was not answered");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_press_is_closed_once_whoever_comes_first() {
        let (callbacks, signal) = (Callbacks::default(), SignalId::new("s"));
        callbacks.opened("1");
        assert!(!callbacks.accepted("1", &signal) && callbacks.is_open("1"));
        assert!(callbacks.close("1") && !callbacks.close("1"));
        assert_eq!(callbacks.answered(&signal), None);
    }

    #[test]
    fn an_answer_that_overtakes_the_acceptance_closes_the_press_all_the_same() {
        let (callbacks, signal) = (Callbacks::default(), SignalId::new("s"));
        callbacks.opened("1");
        assert_eq!(callbacks.answered(&signal), None);
        assert!(callbacks.accepted("1", &signal), "the press is closed now");
        assert!(!callbacks.is_open("1"));
        callbacks.opened("2");
        callbacks.accepted("2", &SignalId::new("t"));
        assert_eq!(callbacks.answered(&SignalId::new("t")), Some("2".to_owned()));
    }

    #[test]
    fn a_press_that_is_told_twice_waits_for_what_comes_of_it() {
        let callbacks = Callbacks::default();
        callbacks.opened("1");
        callbacks.opened("1");
        callbacks.accepted("1", &SignalId::new("s"));
        assert!(!callbacks.close_unclaimed("1") && callbacks.is_open("1"));
        assert_eq!(callbacks.answered(&SignalId::new("s")), Some("1".to_owned()));
        assert!(!callbacks.is_open("1"));
        callbacks.opened("2");
        assert!(callbacks.close_unclaimed("2"));
    }

    #[test]
    fn a_press_whose_card_says_what_came_of_it_is_closed_before_everything_has_left() {
        let (callbacks, signal) = (Callbacks::default(), SignalId::new("s"));
        callbacks.opened("1");
        assert_eq!(callbacks.close_of(&signal), None);
        assert!(!callbacks.accepted("1", &signal), "what came too soon for it leaves it to what comes at the end");
        assert_eq!(callbacks.close_of(&signal), Some("1".to_owned()));
        assert_eq!((callbacks.close_of(&signal), callbacks.answered(&signal)), (None, None));
    }

    #[test]
    fn only_so_many_are_remembered() {
        let callbacks = Callbacks::default();
        (0..=OPEN_MAX).for_each(|n| callbacks.opened(&n.to_string()));
        assert!(!callbacks.is_open("0") && callbacks.is_open("1"));
        assert_eq!(callbacks.lock().open.len(), OPEN_MAX);
    }
}

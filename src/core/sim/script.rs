//! What the threads of one episode were told, in order: what a recording holds, so that it can be played and read.

use crate::effect::Input;
use crate::signal::{Now, ThreadKey};

/// One line of it.
#[derive(Clone, Debug)]
pub enum Line {
    /// A thread was told this, at this time.
    Told(ThreadKey, Now, Box<Input>),
    /// A thread's memory was gone: its process ended, or it was idle for long.
    Forgot(ThreadKey, Now),
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Script(pub Vec<Line>);

impl Script {
    pub(super) fn told(&mut self, thread: &ThreadKey, now: Now, input: &Input) {
        self.0.push(Line::Told(thread.clone(), now, Box::new(input.clone())));
    }

    pub(super) fn forgot(&mut self, thread: &ThreadKey, now: Now) {
        self.0.push(Line::Forgot(thread.clone(), now));
    }
}

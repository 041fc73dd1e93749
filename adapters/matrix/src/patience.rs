//! Patience with the homeserver, for what has to be known before a message can be taken up. An answer that does not come is
//! not taken for a no: nothing that was said may be lost because the homeserver was away just then.

use std::time::Duration;

use countersign_core::port::{Condition, Ingress};

use crate::Matrix;
use crate::outcome::Trouble;

/// How often the same is asked where the homeserver is there and breaks over this alone: one message must not hold up all.
const TRIES_MAX: u32 = 5;

/// How long one question waits.
pub(crate) struct Patience<'a> {
    matrix: &'a Matrix,
    ingress: &'a dyn Ingress,
    pause: Duration,
    tries: u32,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(matrix: &'a Matrix, ingress: &'a dyn Ingress) -> Self {
        Self { matrix, ingress, pause: matrix.timing.pause_first, tries: 1 }
    }

    /// Reports the trouble and waits before the next try. There is always one where the homeserver is away or asks to wait,
    /// and a few where it may help.
    ///
    /// # Errors
    ///
    /// The trouble again, where there is to be no next try.
    pub(crate) async fn wait(&mut self, trouble: Trouble) -> Result<(), Trouble> {
        if !trouble.is_absence() {
            if !trouble.may_pass() || self.tries >= TRIES_MAX {
                return Err(trouble);
            }
            self.tries += 1;
        }
        let pause = self.pause.max(trouble.wait());
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.ingress.report(Condition::Trouble { what: trouble.to_string(), again_in_ms });
        tokio::time::sleep(pause).await;
        self.pause = (self.pause * 2).min(self.matrix.timing.pause_last);
        Ok(())
    }
}

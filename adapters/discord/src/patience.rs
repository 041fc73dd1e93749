//! Patience with Discord, for what is looked up after it was missed. An answer that does not come is not taken for a no:
//! nothing that was said may be lost because Discord was away just then, or asked to wait.

use std::time::Duration;

use countersign_core::port::{Condition, Ingress};

use crate::Discord;
use crate::api::{Refusal, Trouble};

/// How long one look waits.
pub(crate) struct Patience<'a> {
    discord: &'a Discord,
    ingress: &'a dyn Ingress,
    pause: Duration,
    /// Whether trouble was reported and nothing better since.
    in_trouble: bool,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(discord: &'a Discord, ingress: &'a dyn Ingress) -> Self {
        Self { discord, ingress, pause: discord.timing.pause_first, in_trouble: false }
    }

    /// Reports the trouble and waits before the next try, at least as long as Discord asks. There is always one where it is
    /// away or asks to wait.
    ///
    /// # Errors
    ///
    /// The trouble again where it is a no, which asking again would not change.
    pub(crate) async fn wait(&mut self, trouble: Trouble) -> Result<(), Trouble> {
        let at_least = match &trouble {
            Trouble::Refused(Refusal { status: 429 | 500..=599, wait_ms, .. }) => wait_ms.unwrap_or(0),
            Trouble::Refused(_) => return Err(trouble),
            Trouble::Unsent(_) | Trouble::Lost(_) => 0,
        };
        let pause = self.pause.max(Duration::from_millis(at_least));
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.in_trouble = true;
        self.ingress.report(Condition::Trouble { what: trouble.to_string(), again_in_ms });
        tokio::time::sleep(pause).await;
        self.pause = (self.pause * 2).min(self.discord.timing.pause_last);
        Ok(())
    }

    /// Discord answered.
    pub(crate) fn over(&mut self) {
        if std::mem::take(&mut self.in_trouble) {
            self.pause = self.discord.timing.pause_first;
            self.ingress.report(Condition::Hearing);
        }
    }
}

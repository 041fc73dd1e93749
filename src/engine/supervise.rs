//! Each platform in a task of its own: one that breaks is started again, with a growing pause, and the others do not notice.
//! One that a person has to mend is not, and says so at once.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::port::{Adapter, Condition, Ended};
use countersign_core::signal::Platform;
use futures::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::accept::Entrance;
use crate::telemetry;

/// The pause before a platform is started again: from a second, doubling up to a minute.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_LAST: Duration = Duration::from_mins(1);
/// Who heard for so long begins with the shortest pause again.
const SOUND: Duration = Duration::from_mins(5);

impl Engine {
    /// Hears on one platform until its input is over, it has to be mended, or somebody asks to stop.
    pub(super) async fn hear(self: Arc<Self>, adapter: Arc<dyn Adapter>, stop: CancellationToken) -> (Platform, Ended) {
        let platform = adapter.platform();
        let entrance = Entrance { engine: Arc::clone(&self), platform: platform.clone() };
        let mut pause = AGAIN_FIRST;
        loop {
            let begun = Instant::now();
            let hearing = adapter.hear(&entrance, Box::pin(stop.clone().cancelled_owned()));
            let ended = AssertUnwindSafe(hearing).catch_unwind().await;
            let why = match ended.unwrap_or_else(|_| Ended::Failed("it panicked; the log says where".to_owned())) {
                Ended::Failed(why) => why,
                ended => return self.is_over(platform, ended),
            };
            if begun.elapsed() >= SOUND {
                pause = AGAIN_FIRST;
            }
            self.on_broken(&platform, why, pause);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => return (platform, Ended::Stopped),
            }
            self.health.started_again(&platform);
            pause = pause.saturating_mul(2).min(AGAIN_LAST);
        }
    }

    fn on_broken(&self, platform: &Platform, why: String, pause: Duration) {
        tracing::error!(%platform, why, again_in_s = pause.as_secs(), "a platform broke; it is started again");
        telemetry::count("adapter_restarts_total", &[("platform", platform.to_string())]);
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        // The line above is the log's word about it.
        let _said = self.health.report(platform, Condition::Trouble { what: why, again_in_ms }, self.clock.mono());
    }

    fn is_over(&self, platform: Platform, ended: Ended) -> (Platform, Ended) {
        tracing::debug!(%platform, ?ended, "platform ended");
        if let Ended::Refused(why) = &ended {
            self.health.refused(&platform, why.clone(), self.clock.mono());
            // Where it is the only one the run ends with it, and says why.
            if self.adapters.len() > 1 {
                (self.tell)(&format!("{platform} is off until the next start: {why}"));
            }
        }
        (platform, ended)
    }
}

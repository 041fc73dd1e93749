//! The dates that messages bear. This is the only place of the fake that reads the wall clock; how long something lasts
//! is measured with `tokio::time::Instant` where it is needed.

/// Seconds since 1970: the wall's, unless a test set them.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    fixed: Option<i64>,
}

impl Clock {
    pub(crate) fn set(&mut self, unix: i64) {
        self.fixed = Some(unix);
    }

    #[expect(clippy::disallowed_methods, reason = "the fake stands outside the bot: its dates are the world's")]
    pub(crate) fn now(&self) -> i64 {
        self.fixed.unwrap_or_else(|| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        })
    }
}

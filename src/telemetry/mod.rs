//! What the bot says about itself: log lines on standard error and metrics. No decision lives here, and nothing about
//! people: a metric carries no user and no thread, a log line passes the mask.

mod log;
mod metrics;

pub use log::start;
pub use metrics::{Kind, METRICS, Metric, MetricsHandle, add, count, gauge, metrics, seconds};

/// Telemetry that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The configured filter is none.
    #[error("`log.level` {0}")]
    Filter(String),
    /// Somebody else logs already in this process.
    #[error("the log was started twice: {0}")]
    Twice(String),
    /// Nothing can listen there.
    #[error("`metrics.listen`: cannot listen on {address}: {problem}; give another address or stop what has it")]
    Listen {
        /// As configured.
        address: std::net::SocketAddr,
        /// As the operating system says it.
        problem: String,
    },
    /// Somebody else records metrics in this process.
    #[error("metrics were started twice: {0}")]
    Recorder(String),
}

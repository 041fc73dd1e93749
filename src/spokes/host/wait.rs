//! `host_wait`: looks again and again until something has come about, a minute at most. What is looked at is read by the
//! files that read it otherwise.

use std::time::Duration;

use serde_json::json;

use tokio::time::Instant;

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::service::{self, State};
use super::this_host::ThisHost;
use super::{network, process};

/// How often is looked where looking is reading a file.
const PAUSE: Duration = Duration::from_millis(200);

/// How often is looked where looking runs a program.
const PROGRAM_PAUSE: Duration = Duration::from_secs(1);

/// How long is waited where nobody said.
const SECONDS_DEFAULT: usize = 30;

/// How long a wait may last, and since when.
struct Patience {
    since: Instant,
    limit: Duration,
}

impl Patience {
    fn of(call: &Call) -> Self {
        let seconds = call.count("seconds").unwrap_or(SECONDS_DEFAULT);
        Self { since: Instant::now(), limit: Duration::from_secs(u64::try_from(seconds).unwrap_or(60)) }
    }

    /// Pauses, or says that the time is over.
    async fn pause(&self, pause: Duration, what: &str) -> Result<(), Trouble> {
        let left = self.limit.saturating_sub(self.since.elapsed());
        if left.is_zero() {
            return Err(Trouble::too_slow(format!("{what} after {} s", self.limit.as_secs())));
        }
        tokio::time::sleep(pause.min(left)).await;
        Ok(())
    }

    fn over(&self, name: &str, state: &str) -> Found {
        Found::all(json!({ "name": name, "state": state, "waited": self.since.elapsed().as_secs() }))
    }
}

/// Waits until a service runs, or until it does not.
pub(super) async fn service(host: &ThisHost, call: &Call) -> Answer {
    let wanted = call.required("state")?;
    let patience = Patience::of(call);
    loop {
        let status = service::current(host, &call.target).await?;
        let reached = match status.state {
            State::Active => wanted == "active",
            State::Inactive | State::Failed => wanted == "gone",
            State::Changing | State::Unknown => false,
        };
        if reached {
            return Ok(patience.over(&status.service.name, status.state.word()));
        }
        let what = format!("`{}` was still {}", status.service.name, status.state.word());
        patience.pause(PROGRAM_PAUSE, &what).await?;
    }
}

/// Waits until a process has ended.
pub(super) async fn process(_host: &ThisHost, call: &Call) -> Answer {
    let name = match &call.target {
        super::call::Target::Process { pid, .. } => format!("process {pid}"),
        _ => return Err(Trouble::invalid("target", "this action runs on a process")),
    };
    let patience = Patience::of(call);
    while !process::has_ended(&call.target)? {
        patience.pause(PAUSE, &format!("{name} was still running")).await?;
    }
    Ok(patience.over(&name, "gone"))
}

/// Waits until something listens on a TCP port, or until nothing does.
pub(super) async fn port(_host: &ThisHost, call: &Call) -> Answer {
    let port = call.count("port").and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or_else(|| Trouble::invalid("port", "`port` is missing"))?;
    let wanted = call.required("state")?;
    let patience = Patience::of(call);
    let name = format!("port {port}");
    while network::is_listening(port)? != (wanted == "listening") {
        let still = if wanted == "listening" { "nothing listened" } else { "something still listened" };
        patience.pause(PAUSE, &format!("{still} on {name}")).await?;
    }
    Ok(patience.over(&name, wanted))
}

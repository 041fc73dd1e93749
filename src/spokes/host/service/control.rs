//! Starting, stopping and restarting a service, and the fresh look that verifies it. How an init system is told is in
//! its own back end.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{Service, Services, State, Status, known, of};
use crate::spokes::host::answer::{Answer, Found, Trouble};
use crate::spokes::host::call::Call;
use crate::spokes::host::change::Change;
use crate::spokes::host::exec::Ended;
use crate::spokes::host::this_host::ThisHost;

/// How long a service may take to get where it was told to, after its init system has answered: some write their pid
/// file, or let go of it, a moment later.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often is looked meanwhile.
const PAUSE: Duration = Duration::from_millis(250);

/// What a service can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spokes::host) enum Verb {
    /// To run.
    Start,
    /// To end.
    Stop,
    /// To end and to run again.
    Restart,
}

impl Verb {
    /// The word of both init systems.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
        }
    }

    const fn is_reached(self, state: State) -> bool {
        match self {
            Self::Start | Self::Restart => matches!(state, State::Active),
            Self::Stop => matches!(state, State::Inactive | State::Failed),
        }
    }
}

/// Tells a service to start, stop or restart, and waits a while until it has.
pub(in crate::spokes::host) async fn control(host: &ThisHost, call: &Call, change: &Change, verb: Verb) -> Answer {
    let services = of(host);
    let service = known(services.as_ref(), &call.target).await?;
    change.begin()?;
    services.control(service.clone(), verb).await?;
    let status = settled(services.as_ref(), &service, verb).await;
    let state = status.as_ref().map(|status| status.state.word());
    let run = status.as_ref().and_then(|status| status.run.as_deref());
    Ok(Found::all(json!({ "name": service.name, "action": verb.word(), "state": state, "run": run })))
}

/// Whether a service is there, and how it is. Always answers where the init system does.
pub(in crate::spokes::host) async fn state(host: &ThisHost, call: &Call) -> Answer {
    let services = of(host);
    let name = super::name_of(&call.target)?;
    let Some(service) = services.named(name).await? else {
        return Ok(Found::all(json!({ "present": false, "name": name, "state": "not installed" })));
    };
    let status = services.statuses(vec![service.clone()]).await?.into_iter().next();
    let status = status.ok_or_else(|| super::silent(services.as_ref(), &service.name))?;
    let (state, detail) = (status.state.word(), Some(&status.detail).filter(|detail| !detail.is_empty()));
    let data = json!({
        "present": true, "name": service.name, "state": state, "run": status.run, "detail": detail, "pid": status.pid,
    });
    Ok(Found::all(data))
}

/// How the service is once it is where it was told to be, or when patience is over. What cannot be told here is told by
/// the look that verifies the change.
async fn settled(services: &dyn Services, service: &Service, verb: Verb) -> Option<Status> {
    let since = Instant::now();
    loop {
        let asked = services.statuses(vec![service.clone()]).await;
        let status = asked.ok().and_then(|statuses| statuses.into_iter().next());
        let reached = status.as_ref().is_some_and(|status| verb.is_reached(status.state));
        if reached || since.elapsed() >= PATIENCE {
            return status;
        }
        sleep(PAUSE).await;
    }
}

/// The most lines and characters that are repeated of what a script wrote.
const WROTE_LINES_MAX: usize = 3;
const WROTE_CHARS_MAX: usize = 300;

/// What an init script's exit code says (Linux Standard Base 5.0, "Init Script Actions"), and the script itself.
pub(super) fn script_failed(name: &str, verb: Verb, ended: &Ended) -> Trouble {
    let why = match ended.code {
        Some(2) => "it does not take that action",
        Some(3) => "it has no such action",
        Some(4) => "countersign runs without the right to do that",
        Some(5) => "the program is not installed",
        Some(6) => "the service is not configured",
        Some(7) => "the service does not run",
        Some(_) => "it did not work",
        None => "a signal ended it",
    };
    let code = ended.code.map_or_else(String::new, |code| format!(" (exit code {code})"));
    let lines = ended.wrote.lines().map(str::trim).filter(|line| !line.is_empty()).take(WROTE_LINES_MAX);
    let wrote: String = lines.collect::<Vec<_>>().join(" / ").chars().take(WROTE_CHARS_MAX).collect();
    let wrote = if wrote.is_empty() { wrote } else { format!(". It wrote: {wrote}") };
    let message = format!("the init script of `{name}` could not {}: {why}{code}{wrote}", verb.word());
    // A script that a signal ended may have been in the middle of anything.
    if ended.code.is_some() { Trouble::failed_and_over(message) } else { Trouble::failed(message) }
}

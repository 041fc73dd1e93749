//! `host_service`: what the machine's init system runs. One trait with two back ends, systemd and `SysV`; which one
//! answers is decided by what runs this machine. Starting and stopping is in `control.rs`.

mod control;
mod running;
mod systemd;
mod sysv;

use std::collections::BTreeMap;

use countersign_core::resource::{Resource, ResourceId};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target, parse_target};
use super::matching;
use super::this_host::ThisHost;

pub(super) use control::{Verb, control, state};
pub(super) use running::running;

/// The most services in one answer.
const SERVICES_MAX: usize = 50;

/// The most services that are asked how they are, where only those in one state are wanted.
const ASKED_MAX: usize = 500;

/// What a service is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs.
    Active,
    /// It does not run, and that is all.
    Inactive,
    /// It does not run, and was not asked to stop.
    Failed,
    /// It is just starting or stopping.
    Changing,
    /// The init system cannot tell.
    Unknown,
}

impl State {
    /// The word for people.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Failed => "failed",
            Self::Changing => "changing",
            Self::Unknown => "unknown",
        }
    }
}

/// A service, without asking it how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// Without a suffix: `nginx`.
    pub(super) name: String,
    /// One line.
    pub(super) about: String,
}

/// A service, asked how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Which one.
    pub(super) service: Service,
    /// What it is doing.
    pub(super) state: State,
    /// The init system's own words, where it has more than the state.
    pub(super) detail: String,
    /// Its main process, where that is known.
    pub(super) pid: Option<i32>,
    /// A text that is another one for each run of the service, where one can be told.
    pub(super) run: Option<String>,
}

/// An init system.
pub(super) trait Services: Send + Sync {
    /// Its name for people.
    fn system(&self) -> &'static str;

    /// Every service it knows, by name. Runs a program or reads a directory.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Service>, Trouble>>;

    /// One service by its exact name; none where there certainly is no such service. It also finds what `list` leaves out.
    fn named<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Service>, Trouble>>;

    /// How some of them are, in the same order. Runs programs.
    fn statuses(&self, services: Vec<Service>) -> BoxFuture<'_, Result<Vec<Status>, Trouble>>;

    /// The SHA-256 of the script that starts and stops this service; none where there is no such script. Reads a file.
    fn script_sum(&self, service: &Service) -> Result<Option<String>, Trouble>;

    /// Tells one of them to start, stop or restart. Runs a program, which may have done a part of it where this fails.
    fn control(&self, service: Service, verb: Verb) -> BoxFuture<'_, Result<(), Trouble>>;
}

/// The init system of this machine.
pub(super) fn of(host: &ThisHost) -> Box<dyn Services + '_> {
    if host.places.systemd.exists() { Box::new(systemd::Systemd::new(host)) } else { Box::new(sysv::SysV::new(host)) }
}

/// Services by name or description. The one that is meant exactly is also asked how it is; asking them all would take as
/// many programs.
pub(super) async fn find(host: &ThisHost, call: &Call) -> Answer {
    let services = of(host);
    let query = call.text("query");
    let mut known = services.list().await?;
    let exact = query.map(|query| exact_name(host, query));
    if let Some(meant) = exact.as_deref() {
        let is_meant = |service: &Service| service.name.eq_ignore_ascii_case(meant);
        // A unit that nobody needs right now is not listed by systemd, but it is there.
        if !known.iter().any(is_meant) {
            known.extend(services.named(meant).await?);
        }
    }
    let mut resources: Vec<Resource> = known.iter().filter_map(|service| resource(host, service)).collect();
    let is_meant = |found: &Resource| exact.as_deref().is_some_and(|exact| found.name.eq_ignore_ascii_case(exact));
    let mut meant = resources.iter_mut().filter(|found| is_meant(found));
    if let (Some(resource), None) = (meant.next(), meant.next()) {
        let service = Service { name: resource.name.clone(), about: resource.about.clone() };
        let script = services.script_sum(&service)?;
        let status = services.statuses(vec![service]).await?.into_iter().next();
        let state = status.as_ref().map(|status| status.state.word().to_owned());
        let attrs = [("state", state), ("run", status.and_then(|status| status.run)), ("script", script)];
        let attrs = attrs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        resource.attrs.extend(attrs);
    }
    Ok(matching::answer(query, &resources, "services"))
}

/// The name that a query means if it means one service exactly: it is an id, or a name with or without its suffix.
fn exact_name(host: &ThisHost, query: &str) -> String {
    let target = query.parse::<ResourceId>().ok().and_then(|id| parse_target(host, "service", &id).ok());
    match target {
        Some(Target::Service(name)) => name,
        _ => query.strip_suffix(".service").unwrap_or(query).to_owned(),
    }
}

/// How one service is.
pub(super) async fn status(host: &ThisHost, call: &Call) -> Answer {
    let status = current(host, &call.target).await?;
    Ok(Found::all(describe(host, &status)))
}

/// Returns the state of all services, or of those in one state. Runs programs.
pub(super) async fn list(host: &ThisHost, call: &Call) -> Answer {
    let services = of(host);
    let wanted = call.text("state");
    let mut known = services.list().await?;
    let total = known.len();
    known.truncate(if wanted.is_some() { ASKED_MAX } else { SERVICES_MAX });
    let mut statuses = services.statuses(known).await?;
    statuses.retain(|status| wanted.is_none_or(|wanted| status.state.word() == wanted));
    let found = statuses.len();
    statuses.truncate(SERVICES_MAX);
    let rows: Vec<Value> = statuses.iter().map(|status| describe(host, status)).collect();
    let system = services.system();
    let (summary, of_these) = match wanted {
        None => (format!("{} has {total} services under {system}.", host.name), total),
        Some(state) => (format!("{found} of {total} services on {} are {state}, says {system}.", host.name), found),
    };
    let left_out = if of_these > rows.len() {
        format!("{} of {of_these} services are shown; ask for another by its name", rows.len())
    } else {
        String::new()
    };
    Ok(Found::part(json!({ "name": host.name, "summary": summary, "services": rows }), left_out))
}

/// How the service that a target means is now.
pub(super) async fn current(host: &ThisHost, target: &Target) -> Result<Status, Trouble> {
    let services = of(host);
    let service = known(services.as_ref(), target).await?;
    let name = service.name.clone();
    let statuses = services.statuses(vec![service]).await?;
    statuses.into_iter().next().ok_or_else(|| silent(services.as_ref(), &name))
}

/// The service that a target means.
async fn known(services: &dyn Services, target: &Target) -> Result<Service, Trouble> {
    let name = name_of(target)?;
    if let Some(service) = services.named(name).await? {
        return Ok(service);
    }
    let known = services.list().await?;
    let near = matching::nearest(name, known.iter().map(|known| (known.name.as_str(), known.name.as_str())));
    Err(Trouble::not_found(format!("there is no service `{name}` on this machine"), near))
}

fn name_of(target: &Target) -> Result<&str, Trouble> {
    match target {
        Target::Service(name) => Ok(name),
        _ => Err(Trouble::invalid("target", "this action runs on a service")),
    }
}

fn silent(services: &dyn Services, name: &str) -> Trouble {
    Trouble::failed(format!("{} does not say how `{name}` is", services.system()))
}

fn describe(host: &ThisHost, status: &Status) -> Value {
    json!({
        "id": host.id_of("service", &status.service.name),
        "name": status.service.name,
        "about": status.service.about,
        "state": status.state.word(),
        "detail": Some(&status.detail).filter(|detail| !detail.is_empty()),
        "pid": status.pid,
    })
}

fn resource(host: &ThisHost, service: &Service) -> Option<Resource> {
    Some(Resource {
        id: host.id_of("service", &service.name)?,
        name: service.name.clone(),
        aliases: vec![format!("{}.service", service.name)],
        chain: host.chain(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: service.about.clone(),
        attrs: BTreeMap::new(),
    })
}

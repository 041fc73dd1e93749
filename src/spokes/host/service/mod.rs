//! `host_service`: what the machine's init system runs. One trait with two back ends, systemd and `SysV`; which one
//! answers is decided by what runs this machine.

mod systemd;
mod sysv;

use std::collections::BTreeMap;

use countersign_core::resource::Resource;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target};
use super::matching;
use super::this_host::ThisHost;

/// The most services in one answer.
const SERVICES_MAX: usize = 50;

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
}

/// An init system.
pub(super) trait Services: Send + Sync {
    /// Its name for people.
    fn system(&self) -> &'static str;

    /// Every service it knows, by name. Runs a program or reads a directory.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Service>, Trouble>>;

    /// How some of them are, in the same order. Runs programs.
    fn statuses(&self, services: Vec<Service>) -> BoxFuture<'_, Result<Vec<Status>, Trouble>>;
}

/// The init system of this machine.
pub(super) fn of(host: &ThisHost) -> Box<dyn Services + '_> {
    if host.places.systemd.exists() { Box::new(systemd::Systemd::new(host)) } else { Box::new(sysv::SysV::new(host)) }
}

/// Services by name or description.
pub(super) async fn find(host: &ThisHost, call: &Call) -> Answer {
    let services = of(host).list().await?;
    let resources: Vec<Resource> = services.iter().filter_map(|service| resource(host, service)).collect();
    Ok(matching::answer(call.text("query"), &resources, "services"))
}

/// How one service is.
pub(super) async fn status(host: &ThisHost, call: &Call) -> Answer {
    let status = current(host, &call.target).await?;
    Ok(Found::all(describe(host, &status)))
}

/// How all services are.
pub(super) async fn list(host: &ThisHost, _call: &Call) -> Answer {
    let services = of(host);
    let mut known = services.list().await?;
    let total = known.len();
    known.truncate(SERVICES_MAX);
    let statuses = services.statuses(known).await?;
    let rows: Vec<Value> = statuses.iter().map(|status| describe(host, status)).collect();
    let left_out = if total > SERVICES_MAX {
        format!("{SERVICES_MAX} of {total} services are shown; ask for another by its name")
    } else {
        String::new()
    };
    let data = json!({ "name": host.name, "system": services.system(), "total": total, "services": rows });
    Ok(Found::part(data, left_out))
}

/// How the service that a target means is now.
pub(super) async fn current(host: &ThisHost, target: &Target) -> Result<Status, Trouble> {
    let Target::Service(name) = target else {
        return Err(Trouble::invalid("target", "this action runs on a service"));
    };
    let services = of(host);
    let known = services.list().await?;
    let Some(service) = known.iter().find(|service| service.name == *name) else {
        let near = matching::nearest(name, known.iter().map(|known| (known.name.as_str(), known.name.as_str())));
        return Err(Trouble::not_found(format!("there is no service `{name}` on this machine"), near));
    };
    let statuses = services.statuses(vec![service.clone()]).await?;
    statuses
        .into_iter()
        .next()
        .ok_or_else(|| Trouble::failed(format!("{} does not say how `{name}` is", services.system())))
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

//! `is X running`: one answer over the services and the processes of a name.

use serde_json::json;

use super::{Service, State, Status, of};
use crate::spokes::host::answer::{Answer, Found, Trouble};
use crate::spokes::host::call::Call;
use crate::spokes::host::process;
use crate::spokes::host::this_host::ThisHost;

/// The most services of one name that are asked how they are: each takes a program.
const SERVICES_MAX: usize = 3;

/// Returns a sentence about the services whose name is or begins like the query, and the processes that are called so or whose
/// program is. Runs programs and reads `/proc`.
pub(in crate::spokes::host) async fn running(host: &ThisHost, call: &Call) -> Answer {
    let query = call.required("query")?.trim().to_lowercase();
    let name = query.strip_suffix(".service").unwrap_or(&query).to_owned();
    if !name.starts_with(|c: char| c.is_alphanumeric()) {
        return Err(Trouble::invalid("query", "a name begins with a letter or a digit"));
    }
    let services = of(host);
    let statuses = services.statuses(named(services.list().await?, &name)).await?;
    let called = name.clone();
    let processes = tokio::task::spawn_blocking(move || process::called(&called))
        .await
        .map_err(|error| Trouble::failed(format!("the processes cannot be read: {error}")))??;
    // What the answer is about, so that "it" means that afterwards.
    let about = statuses.iter().filter_map(|status| {
        let name = &status.service.name;
        Some(json!({ "id": host.id_of("service", name)?, "name": name }))
    });
    let about: Vec<_> = about.collect();
    Ok(Found::all(json!({ "summary": summary(&name, &statuses, processes), "about": about })))
}

/// Returns the service of exactly this name, else those whose name begins so.
fn named(mut services: Vec<Service>, name: &str) -> Vec<Service> {
    if services.iter().any(|service| service.name.eq_ignore_ascii_case(name)) {
        services.retain(|service| service.name.eq_ignore_ascii_case(name));
    }
    services.retain(|service| service.name.to_lowercase().starts_with(name));
    services.truncate(SERVICES_MAX);
    services
}

/// Returns one sentence. It begins with yes if something runs, and says what was looked for if nothing was found.
fn summary(name: &str, statuses: &[Status], processes: usize) -> String {
    let service = |status: &Status| {
        let pid = status.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        format!("service {} is {}{pid}", status.service.name, status.state.word())
    };
    let yes = processes > 0 || statuses.iter().any(|status| status.state == State::Active);
    let processes = match processes {
        0 => format!("no process is called {name}"),
        1 => format!("1 process is called {name}"),
        several => format!("{several} processes are called {name}"),
    };
    if !yes && statuses.is_empty() {
        return format!("I found no service and no process called {name}.");
    }
    let parts: Vec<String> = statuses.iter().map(service).chain([processes]).collect();
    format!("{}: {}.", if yes { "Yes" } else { "No" }, parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_runs_and_what_does_not() {
        let status = |name: &str, state, pid| Status {
            service: Service { name: name.to_owned(), about: String::new() },
            state,
            detail: String::new(),
            pid,
            run: None,
        };
        let table = [
            (summary("nginx", &[], 0), "I found no service and no process called nginx."),
            (summary("nginx", &[], 1), "Yes: 1 process is called nginx."),
            (
                summary("cron", &[status("cron", State::Active, Some(7))], 1),
                "Yes: service cron is active (pid 7); 1 process is called cron.",
            ),
            (
                summary("postgresql", &[status("postgresql", State::Active, None)], 0),
                "Yes: service postgresql is active; no process is called postgresql.",
            ),
            (
                summary("nginx", &[status("nginx", State::Inactive, None)], 0),
                "No: service nginx is inactive; no process is called nginx.",
            ),
            (
                summary("nginx", &[status("nginx", State::Failed, None)], 2),
                "Yes: service nginx is failed; 2 processes are called nginx.",
            ),
        ];
        let services = |names: &[&str]| -> Vec<Service> {
            names.iter().map(|name| Service { name: (*name).to_owned(), about: String::new() }).collect()
        };
        assert_eq!(named(services(&["nginx", "nginx-exporter"]), "nginx"), services(&["nginx"]));
        assert_eq!(named(services(&["cron", "postgresql@16"]), "postgresql"), services(&["postgresql@16"]));
        for (said, expected) in table {
            assert_eq!(said, expected);
        }
    }
}

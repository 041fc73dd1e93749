//! Which reader answers which declared action, and which writer carries which out. A test walks the declaration and finds
//! one here for each.

use std::sync::Arc;

use super::answer::{Answer, Trouble};
use super::call::Call;
use super::change::Change;
use super::service::Verb;
use super::this_host::ThisHost;
use super::{command, disk, edit, file, find, health, log, machine, network, process, service, signal, wait};

/// What is answered where the declaration and this file have drifted apart.
pub(super) const NO_READER: &str = "this server declares the action but cannot do it; please report this";

/// Carries a checked and permitted change out, named `tool.action`.
pub(super) async fn change(host: Arc<ThisHost>, name: String, call: Call, change: Arc<Change>) -> Answer {
    match name.as_str() {
        "host_process.stop" => signal::stop(&call, &change).await,
        "host_process.kill" => signal::kill(&call, &change).await,
        "host_process.signal" => signal::signal(&call, &change),
        "host_service.start" => service::control(&host, &call, &change, Verb::Start).await,
        "host_service.stop" => service::control(&host, &call, &change, Verb::Stop).await,
        "host_service.restart" => service::control(&host, &call, &change, Verb::Restart).await,
        "host_file.write" | "host_file.append" | "host_file.replace" => edit::change(host, call, change).await,
        _ => Err(Trouble::failed(NO_READER)),
    }
}

/// Performs a checked call, named `tool.action`.
pub(super) async fn perform(host: Arc<ThisHost>, name: &str, call: Call) -> Answer {
    match name {
        "host_machine.disks_health" => health::disks(&host, &call).await,
        "host_service.find" => service::find(&host, &call).await,
        "host_service.status" => service::status(&host, &call).await,
        "host_service.state" => service::state(&host, &call).await,
        "host_service.running" => service::running(&host, &call).await,
        "host_service.list" => service::list(&host, &call).await,
        "host_file.preview_write" | "host_file.preview_append" | "host_file.preview_replace" => {
            edit::preview(host, call).await
        }
        "host_log.journal" => log::journal(&host, &call).await,
        "host_command.run" => command::run(&host, &call).await,
        "host_wait.service" => wait::service(&host, &call).await,
        "host_wait.process" => wait::process(&host, &call).await,
        "host_wait.port" => wait::port(&host, &call).await,
        _ => match blocking_reader(name) {
            Some(reader) => in_background(move || reader(&host, &call)).await,
            None => Err(Trouble::failed(NO_READER)),
        },
    }
}

/// A reader that may block: it reads files, or measures over an interval.
type Reader = fn(&ThisHost, &Call) -> Answer;

fn blocking_reader(name: &str) -> Option<Reader> {
    let reader: Reader = match name {
        "host_machine.find" => machine::find,
        "host_machine.describe" => machine::describe,
        "host_machine.load" => machine::load,
        "host_machine.memory" => machine::memory,
        "host_machine.temperatures" => machine::temperatures,
        "host_disk.find" => disk::find,
        "host_disk.usage" => disk::usage,
        "host_disk.of" => disk::of,
        "host_process.find" => process::find,
        "host_process.top" => process::top,
        "host_process.detail" => process::detail,
        "host_process.preview_signal" => signal::preview_signal,
        "host_process.state" => signal::state,
        "host_network.ports" => network::ports,
        "host_network.sockets" => network::sockets,
        "host_network.counters" => network::counters,
        "host_log.tail" => log::tail,
        "host_file.read" => file::read,
        "host_file.find" => find::find,
        "host_file.locate" => edit::locate,
        "host_file.state" => edit::state,
        _ => return None,
    };
    Some(reader)
}

/// Runs blocking work off the threads that carry messages, so that a slow disk delays only its own answer.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Trouble::failed("the reader broke; please report this")))
}

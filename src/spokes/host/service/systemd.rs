//! Services under systemd, through `systemctl show`, whose output is made to be read by programs. Unproven: no machine of
//! ours with systemd has run it; the tests use a stand-in for `systemctl` that prints what its manual describes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::control::Verb;
use super::{Service, Services, State, Status};
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::exec::{self, Reaches, Run};
use crate::spokes::host::this_host::ThisHost;

/// How long `systemctl` may take; it waits for the system bus.
const LIMIT: Duration = Duration::from_secs(8);

/// The most that is taken from `systemctl`: about 300 bytes for each of some hundred units.
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024;

/// How long a unit may take to start or to stop. systemd itself goes on after that.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

/// What is asked of each unit.
const PROPERTIES: &str = "--property=Id,Description,LoadState,ActiveState,SubState,MainPID,Result,InvocationID";

/// The back end.
pub(super) struct Systemd<'h> {
    host: &'h ThisHost,
}

impl<'h> Systemd<'h> {
    /// Of this machine.
    pub(super) const fn new(host: &'h ThisHost) -> Self {
        Self { host }
    }

    async fn show(&self, pattern: &str) -> Result<Vec<Status>, Trouble> {
        let args = ["show", "--no-pager", PROPERTIES, "--", pattern];
        let run = Run {
            program: "systemctl",
            args: &args,
            limit: LIMIT,
            input: None,
            reaches: manager(),
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let outcome = exec::run(self.host, run).await?;
        if outcome.code != Some(0) && !outcome.cut {
            return Err(Trouble::failed(format!("`systemctl` did not answer: {}", outcome.errors)));
        }
        let text = String::from_utf8_lossy(&outcome.output);
        let mut units: Vec<Status> = text.split("\n\n").filter_map(unit).collect();
        units.sort_by(|a, b| a.service.name.cmp(&b.service.name));
        Ok(units)
    }
}

impl Services for Systemd<'_> {
    fn system(&self) -> &'static str {
        "systemd"
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Service>, Trouble>> {
        async { Ok(self.show("*.service").await?.into_iter().map(|status| status.service).collect()) }.boxed()
    }

    fn named<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Service>, Trouble>> {
        async move {
            // Anything else is no name of a unit, and some of it would be a pattern for many.
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c)) {
                return Ok(None);
            }
            let shown = self.show(&format!("{name}.service")).await?;
            Ok(shown.into_iter().map(|status| status.service).find(|service| service.name == name))
        }
        .boxed()
    }

    fn statuses(&self, services: Vec<Service>) -> BoxFuture<'_, Result<Vec<Status>, Trouble>> {
        async move {
            let pattern = match services.as_slice() {
                [one] => format!("{}.service", one.name),
                _ => "*.service".to_owned(),
            };
            let shown = self.show(&pattern).await?;
            Ok(shown.into_iter().filter(|status| services.contains(&status.service)).collect())
        }
        .boxed()
    }

    fn script_sum(&self, _service: &Service) -> Result<Option<String>, Trouble> {
        // What a unit runs is put together from many files, and systemd goes by what it has read of them.
        Ok(None)
    }

    fn control(&self, service: Service, verb: Verb) -> BoxFuture<'_, Result<(), Trouble>> {
        async move {
            let unit = format!("{}.service", service.name);
            let args = ["--no-ask-password", "--no-pager", verb.word(), "--", unit.as_str()];
            let run = Run {
                program: "systemctl",
                args: &args,
                limit: CONTROL_LIMIT,
                input: None,
                reaches: manager(),
                output_bytes_max: OUTPUT_BYTES_MAX,
            };
            // systemd itself starts what the unit says, so that nothing of it hangs on our pipes or in our group.
            let outcome = exec::run(self.host, run).await?;
            if outcome.code == Some(0) {
                return Ok(());
            }
            let message =
                format!("`systemctl {} {unit}` did not work: {}", verb.word(), outcome.errors.replace('\n', " "));
            // An exit code is its last word on the job; a signal may have left the job running.
            let is_over = outcome.code.is_some();
            Err(if is_over { Trouble::failed_and_over(message) } else { Trouble::failed(message) })
        }
        .boxed()
    }
}

/// `systemctl` talks to the manager by its own socket, or over the system's bus.
fn manager() -> Reaches {
    let sockets = ["/run/systemd/private", "/run/dbus/system_bus_socket"].map(PathBuf::from).into();
    Reaches { sockets, ..Reaches::default() }
}

/// One block of `Key=value` lines; `None` for a unit that is not installed.
fn unit(block: &str) -> Option<Status> {
    let keys: BTreeMap<&str, &str> = block.lines().filter_map(|line| line.split_once('=')).collect();
    let get = |key: &str| keys.get(key).copied().unwrap_or_default();
    let name = get("Id").strip_suffix(".service")?;
    if get("LoadState") == "not-found" {
        return None;
    }
    let state = match get("ActiveState") {
        "active" | "reloading" => State::Active,
        "inactive" => State::Inactive,
        "failed" => State::Failed,
        "activating" | "deactivating" => State::Changing,
        _ => State::Unknown,
    };
    let result = Some(get("Result")).filter(|result| !matches!(*result, "" | "success"));
    let detail = result.map_or_else(|| get("SubState").to_owned(), |result| format!("{}, {result}", get("SubState")));
    Some(Status {
        service: Service { name: name.to_owned(), about: get("Description").to_owned() },
        state,
        detail,
        pid: get("MainPID").parse().ok().filter(|pid| *pid > 0),
        run: Some(get("InvocationID").to_owned()).filter(|run| !run.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SHOWN: &str = "Id=nginx.service\nDescription=A web server\nLoadState=loaded\nActiveState=active\n\
        SubState=running\nMainPID=812\nResult=success\n\nId=gone.service\nDescription=gone.service\n\
        LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n\nId=backup.service\n\
        Description=Backs = up\nLoadState=loaded\nActiveState=failed\nSubState=failed\nMainPID=0\nResult=exit-code\n";

    #[tokio::test]
    async fn units_are_read_from_a_stand_in() {
        let dir = tempfile::tempdir().expect("a directory for the test");
        let script = dir.path().join("systemctl");
        std::fs::write(&script, format!("#!/bin/sh\ncat <<'END'\n{SHOWN}END\n")).expect("a script can be written");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a script can be run");
        let mut host = ThisHost::detect().expect("Linux has a host name");
        host.places.systemd = dir.path().to_path_buf();
        host.places.programs.insert(0, dir.path().to_path_buf());
        let services = super::super::of(&host);
        assert_eq!(services.system(), "systemd");
        let known = services.list().await.expect("the stand-in answers");
        let statuses = services.statuses(known).await.expect("the stand-in answers");
        let shown: Vec<String> = statuses
            .iter()
            .map(|status| {
                format!("{} {} ({}) {:?}", status.service.name, status.state.word(), status.detail, status.pid)
            })
            .collect();
        assert_eq!(shown, ["backup failed (failed, exit-code) None", "nginx active (running) Some(812)"]);
    }
}

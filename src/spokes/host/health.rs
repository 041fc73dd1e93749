//! `host_machine.disks_health`: what the disks say about themselves (SMART), through `smartctl` where it is installed.
//! Unproven: it has only run against a stand-in for `smartctl` that prints what its manual shows.

use std::time::Duration;

use countersign_sandbox::Asks;
use serde_json::{Value, json};

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::exec::{self, Reaches, Run};
use super::this_host::ThisHost;

/// How long one disk may take to answer; a sleeping one must first spin up.
const DISK_LIMIT: Duration = Duration::from_secs(12);

/// The most disks that are asked.
const DISKS_MAX: usize = 20;

/// The most that is taken from `smartctl` about one disk.
const OUTPUT_BYTES_MAX: u64 = 512 * 1024;

/// The bits of `smartctl`'s exit code that mean "no answer" (EXIT STATUS in smartctl(8)): 0 for a command line that was
/// not understood, 1 for a device that could not be opened. The other bits speak of the disk.
const NO_ANSWER_BITS: i32 = 0b11;

/// Asks every disk, all at once.
pub(super) async fn disks(host: &ThisHost, _call: &Call) -> Answer {
    if exec::locate(host, "smartctl").is_none() {
        return Err(Trouble::absent(
            "the health of the disks cannot be read: `smartctl` is not installed",
            "install the package smartmontools on this machine",
        ));
    }
    let scan = ask(host, &["--json", "--scan"]).await?;
    let devices: Vec<&str> = scan
        .pointer("/devices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|device| device.get("name")?.as_str())
        .collect();
    let asked = devices.iter().take(DISKS_MAX).map(|device| disk(host, device));
    let disks = futures::future::join_all(asked).await;
    let left_out = if devices.len() > DISKS_MAX {
        format!("{DISKS_MAX} of {} disks were asked; run smartctl on the machine for the others", devices.len())
    } else {
        String::new()
    };
    Ok(Found::part(json!({ "name": host.name, "disks": disks }), left_out))
}

/// One disk; trouble with one does not hide the others.
async fn disk(host: &ThisHost, device: &str) -> Value {
    match ask(host, &["--json", "--info", "--health", "--attributes", device]).await {
        Ok(report) => summary(device, &report),
        Err(trouble) => {
            let message = trouble.into_envelope(0).error.map(|failure| failure.message);
            json!({ "device": device, "state": "unknown", "note": message })
        }
    }
}

async fn ask(host: &ThisHost, args: &[&str]) -> Result<Value, Trouble> {
    let run = Run {
        program: "smartctl",
        args,
        limit: DISK_LIMIT,
        input: None,
        reaches: Reaches { asks: Asks::Devices, ..Reaches::default() },
        output_bytes_max: OUTPUT_BYTES_MAX,
    };
    let outcome = exec::run(host, run).await?;
    let report: Value = serde_json::from_slice(&outcome.output)
        .map_err(|error| Trouble::failed(format!("`smartctl` answered with something else than JSON: {error}")))?;
    if outcome.code.is_none_or(|code| code & NO_ANSWER_BITS != 0) {
        let said = report.pointer("/smartctl/messages/0/string").and_then(Value::as_str).unwrap_or("no reason given");
        return Err(Trouble::failed_with_hint(
            format!("`smartctl` could not read a disk: {said}"),
            "reading SMART usually needs root; let countersign's user run as a member of the group disk",
        ));
    }
    Ok(report)
}

fn summary(device: &str, report: &Value) -> Value {
    let state = match report.pointer("/smart_status/passed").and_then(Value::as_bool) {
        Some(true) => "passed",
        Some(false) => "FAILING",
        None => "unknown",
    };
    json!({
        "device": device,
        "model": report.get("model_name"),
        "state": state,
        "celsius": report.pointer("/temperature/current"),
        "hours": report.pointer("/power_on_time/hours"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_disk_is_told_from_a_silent_one() {
        let report =
            json!({ "smart_status": { "passed": false }, "model_name": "X1", "temperature": { "current": 41 } });
        let expected = json!({ "device": "/dev/sda", "model": "X1", "state": "FAILING", "celsius": 41, "hours": null });
        assert_eq!(summary("/dev/sda", &report), expected);
        assert_eq!(summary("/dev/sdb", &json!({})).get("state"), Some(&json!("unknown")));
    }
}

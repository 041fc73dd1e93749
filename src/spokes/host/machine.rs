//! `host_machine`: the machine as a whole. What runs on it is in `process.rs` and `service/`, its disks in `disk.rs` and
//! `health.rs`.

use std::collections::BTreeMap;

use countersign_core::resource::Resource;
use serde_json::{Value, json};
use sysinfo::{Components, CpuRefreshKind, MINIMUM_CPU_UPDATE_INTERVAL, MemoryRefreshKind, RefreshKind, System};

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::this_host::{ThisHost, pause, percent};
use super::{disk, matching};

/// This machine as a resource: there is always exactly one, but a query may name another.
pub(super) fn find(host: &ThisHost, call: &Call) -> Answer {
    let id = host.id().map_err(|error| Trouble::reading("the name of this machine", error))?;
    let resource = Resource {
        id,
        name: host.name.clone(),
        aliases: ["localhost", "this machine", "this host", "host"].map(str::to_owned).to_vec(),
        chain: Vec::new(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: System::long_os_version().unwrap_or_else(|_| "Linux".to_owned()),
        attrs: BTreeMap::new(),
    };
    Ok(matching::answer(call.text("query"), &[resource], "machines"))
}

/// What kind of machine it is.
pub(super) fn describe(host: &ThisHost, _call: &Call) -> Answer {
    let kind =
        RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()).with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = system(kind)?;
    let boot = System::boot_time().map_err(|error| Trouble::reading("the boot time", error))?;
    Ok(Found::all(json!({
        "name": host.name,
        "os": System::long_os_version().ok(),
        "kernel": System::kernel_version().ok(),
        "architecture": System::cpu_arch(),
        "cpu": system.cpus().first().map(|cpu| cpu.brand().trim().to_owned()).filter(|brand| !brand.is_empty()),
        "cpus": system.cpus().len(),
        "memory": system.total_memory(),
        "booted": boot.saturating_mul(1000),
        "uptime": System::uptime().ok(),
        "init": if host.places.systemd.exists() { "systemd" } else { "SysV" },
    })))
}

/// How busy it is: load averages, the processors over a short interval, memory and the root file system.
pub(super) fn load(host: &ThisHost, _call: &Call) -> Answer {
    let kind = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing().with_usage())
        .with_memory(MemoryRefreshKind::everything());
    let mut system = system(kind)?;
    pause(MINIMUM_CPU_UPDATE_INTERVAL);
    system.refresh_cpu_usage();
    let load = System::load_average().map_err(|error| Trouble::reading("the load averages", error))?;
    Ok(Found::all(json!({
        "name": host.name,
        "cpu": tenths(system.global_cpu_usage()),
        "cpus": system.cpus().len(),
        "load": [hundredths(load.one), hundredths(load.five), hundredths(load.fifteen)],
        "load_text": format!("{:.2}, {:.2}, {:.2}", load.one, load.five, load.fifteen),
        "memory": memory_of(&system),
        "disk": disk::root_usage()?,
        "uptime": System::uptime().ok(),
    })))
}

/// Memory and swap, in bytes.
pub(super) fn memory(host: &ThisHost, _call: &Call) -> Answer {
    let system = system(RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()))?;
    let mut data = memory_of(&system);
    data["name"] = json!(host.name);
    data["swap"] = json!({
        "total": system.total_swap(),
        "used": system.used_swap(),
        "percent": percent(system.used_swap(), system.total_swap()),
    });
    Ok(Found::all(data))
}

/// What the sensors say; many virtual machines have none.
pub(super) fn temperatures(host: &ThisHost, _call: &Call) -> Answer {
    let components =
        Components::new_with_refreshed_list().map_err(|error| Trouble::reading("the temperature sensors", error))?;
    let mut sensors: Vec<Value> = Vec::new();
    for component in &components {
        let Some(celsius) = component.temperature() else {
            continue;
        };
        sensors.push(json!({
            "sensor": component.label(),
            "celsius": tenths(celsius),
            "highest": component.max().map(tenths),
            "critical": component.critical().map(tenths),
        }));
    }
    Ok(Found::all(json!({ "name": host.name, "sensors": sensors })))
}

fn system(kind: RefreshKind) -> Result<System, Trouble> {
    System::new_with_specifics(kind).map_err(|error| Trouble::reading("the state of this machine", error))
}

/// "Used" is what is not available to a new program, which is what people ask about; caches do not count.
fn memory_of(system: &System) -> Value {
    let (total, available) = (system.total_memory(), system.available_memory());
    let used = total.saturating_sub(available);
    json!({
        "total": total,
        "used": used,
        "available": available,
        "free": system.free_memory(),
        "percent": percent(used, total),
    })
}

fn tenths(value: f32) -> f64 {
    (f64::from(value) * 10.0).round() / 10.0
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

//! Landlock: files are read and run, never written, created or removed; devices are closed but for a few; TCP only to the
//! allowed ports; signals, abstract sockets and the insides of other processes (`/proc/PID/environ`) are out of reach.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Asks, SystemFiles, Walls};

/// The newest rules that are known here; an older kernel holds those it has.
const NEWEST: ABI = ABI::V9;

/// From this on the kernel holds TCP ports (Linux 6.7).
const PORTS: ABI = ABI::V4;

/// From this on it holds signals and abstract sockets (Linux 6.12).
const SCOPES: ABI = ABI::V6;

/// Programs, their libraries and data, and what the kernel says. Below `/usr`, these folders alone: others hold applications
/// (`/usr/src/app`).
const PROGRAMS: [&str; 25] = [
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/sbin",
    "/snap",
    "/sys",
    "/usr/bin",
    "/usr/games",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/libx32",
    "/usr/sbin",
    "/usr/share",
    "/usr/local/bin",
    "/usr/local/games",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/libexec",
    "/usr/local/sbin",
];

/// The system's configuration and logs. Elsewhere, a program reads only the files that its words name.
/// Below `/var`, these folders alone: others hold keys (`/var/lib/kubelet`).
const SYSTEM: [&str; 15] = [
    "/boot",
    "/etc",
    "/proc",
    "/run",
    "/var/cache/apt",
    "/var/cache/dnf",
    "/var/cache/man",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/gems",
    "/var/lib/pacman",
    "/var/lib/plocate",
    "/var/lib/rpm",
    "/var/lib/smartmontools",
    "/var/log",
];

/// Files that most programs read when they start.
const STARTS: [&str; 25] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
];

/// Devices that give nothing away.
const READABLE: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What the kernel's Landlock holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Signals go to the sandbox's own processes only.
    pub(super) signals: bool,
}

/// Restricts this process for good. An error says what the kernel lacks for what the walls ask.
pub(super) fn restrict(walls: &Walls) -> Result<Held, String> {
    let status = build(walls).map_err(|error| format!("Landlock: {error}"))?;
    let abi = match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => return Err("Landlock is not switched on in this kernel".to_owned()),
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi,
        (_, LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) => {
            return Err("Landlock is not switched on in this kernel".to_owned());
        }
    };
    if walls.network && abi < PORTS {
        return Err("this kernel cannot hold TCP ports (Linux 6.7 can), so that no command gets a network".to_owned());
    }
    if !walls.sockets.is_empty() && abi < SCOPES {
        return Err(
            "this kernel cannot hold abstract sockets (Linux 6.12 can), so that no command gets a socket".to_owned()
        );
    }
    Ok(Held { signals: abi >= SCOPES })
}

fn build(walls: &Walls) -> Result<landlock::RestrictionStatus, RulesetError> {
    let reads = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let system: &[&str] = match walls.system {
        SystemFiles::All => &SYSTEM,
        SystemFiles::Starts => &STARTS,
    };
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(scopes(walls))?
        .create()?
        .add_rules(path_beneath_rules(PROGRAMS, reads))?
        .add_rules(path_beneath_rules(system, reads))?
        .add_rules(readable(walls, reads))?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(READABLE, AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(devices(walls.asks == Asks::Devices))?
        .add_rules(path_beneath_rules(&walls.sockets, AccessFs::ResolveUnix))?
        .add_rules(walls.ports.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))))?;
    ruleset.restrict_self()
}

/// Returns the scopes that Landlock restricts to the sandbox. For `kill -0` the seccomp filter restricts signals instead.
fn scopes(walls: &Walls) -> BitFlags<Scope> {
    let all = Scope::from_all(NEWEST);
    if walls.asks == Asks::Processes { all & !BitFlags::from(Scope::Signal) } else { all }
}

/// The places that a program was told to read. One that has become a link since leads elsewhere, and is left out.
fn readable(walls: &Walls, reads: BitFlags<AccessFs>) -> Vec<Result<PathBeneath<PathFd>, RulesetError>> {
    let rule = |path: &PathBuf| {
        let held = PathFd::new(path).ok()?;
        let real = fs::read_link(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd())).ok()?;
        let access = if real.is_dir() { reads } else { reads & AccessFs::from_file(NEWEST) };
        (real == *path).then(|| Ok(PathBeneath::new(held, access)))
    };
    walls.readable.iter().filter_map(rule).collect()
}

/// Returns everything below the root but the devices. Reads one folder.
pub fn everything() -> Vec<PathBuf> {
    let entries = fs::read_dir("/").into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path != Path::new("/dev")).collect()
}

/// What reads devices may also ask them.
fn devices(wanted: bool) -> Vec<Result<PathBeneath<PathFd>, RulesetError>> {
    let access: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let place = wanted.then_some("/dev");
    path_beneath_rules(place, access).collect()
}

//! `host_network`: listening ports, open connections and what the interfaces have counted. Which process a socket belongs
//! to is only known for processes that we may look into.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use countersign_core::resource::Resource;
use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};
use procfs::{ProcError, ProcResult};
use serde_json::{Value, json};

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::this_host::ThisHost;
use super::{matching, process};

/// The most connections in one answer.
const SOCKETS_MAX: usize = 50;

/// The most interfaces in one answer: a machine with containers has one for each.
const INTERFACES_MAX: usize = 50;

/// A port that something listens on: what it is bound to and which sockets do it.
#[derive(Default)]
struct Listener {
    addresses: BTreeSet<String>,
    inodes: BTreeSet<u64>,
}

/// Protocol and number.
type Port = (&'static str, u16);

/// Ports that something listens on.
pub(super) fn ports(host: &ThisHost, call: &Call) -> Answer {
    let listeners = listeners().map_err(|error| Trouble::reading("the listening ports", error))?;
    let owners = owners();
    let resources: Vec<Resource> =
        listeners.iter().filter_map(|(port, listener)| resource(host, *port, listener, &owners)).collect();
    Ok(matching::answer(call.text("query"), &resources, "ports"))
}

/// Open TCP connections, counted by state, and the first of them.
pub(super) fn sockets(host: &ThisHost, call: &Call) -> Answer {
    let port = call.count("port").and_then(|port| u16::try_from(port).ok());
    let mut sockets = tcp().map_err(|error| Trouble::reading("the connections", error))?;
    sockets.retain(|socket| port.is_none_or(|port| of_port(socket, port)));
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for socket in &sockets {
        *states.entry(state_word(&socket.state)).or_default() += 1;
    }
    sockets.retain(|socket| socket.state != TcpState::Listen);
    sockets.sort_by_key(|socket| (socket.local_address, socket.remote_address));
    let owners = owners();
    let rows: Vec<Value> = sockets.iter().take(SOCKETS_MAX).map(|socket| row(socket, &owners)).collect();
    let left_out = if sockets.len() > SOCKETS_MAX {
        format!(
            "{SOCKETS_MAX} of {} connections are shown; ask for those on one port to see only its own",
            sockets.len()
        )
    } else {
        String::new()
    };
    let states: Vec<Value> = states.iter().map(|(state, count)| json!({ "state": state, "count": count })).collect();
    let data = json!({ "name": host.name, "total": sockets.len(), "states": states, "sockets": rows });
    Ok(Found::part(data, left_out))
}

/// What each interface has received, sent, dropped and got wrong since it is up.
pub(super) fn counters(host: &ThisHost, _call: &Call) -> Answer {
    let devices = procfs::net::dev_status().map_err(|error| Trouble::reading("the network counters", error))?;
    let total = devices.len();
    let devices: BTreeMap<_, _> = devices.into_iter().collect();
    let rows: Vec<Value> = devices
        .values()
        .take(INTERFACES_MAX)
        .map(|device| {
            json!({
                "interface": device.name,
                "received": device.recv_bytes,
                "sent": device.sent_bytes,
                "errors": device.recv_errs + device.sent_errs,
                "dropped": device.recv_drop + device.sent_drop,
            })
        })
        .collect();
    let left_out = if total > INTERFACES_MAX {
        format!("{INTERFACES_MAX} of {total} interfaces are shown; run `ip -br link` to see all")
    } else {
        String::new()
    };
    Ok(Found::part(json!({ "name": host.name, "interfaces": rows }), left_out))
}

/// Whether something listens on this TCP port.
pub(super) fn is_listening(port: u16) -> Result<bool, Trouble> {
    let sockets = tcp().map_err(|error| Trouble::reading("the listening ports", error))?;
    Ok(sockets.iter().any(|socket| socket.state == TcpState::Listen && socket.local_address.port() == port))
}

/// The ports that a process listens on, as `tcp/8080`; `None` where we may not look into it.
pub(super) fn ports_of(process: &Process) -> Option<Vec<String>> {
    let inodes: BTreeSet<u64> = socket_inodes(process).ok()?.into_iter().collect();
    let listeners = listeners().ok()?;
    let own = listeners.iter().filter(|(_, listener)| !listener.inodes.is_disjoint(&inodes));
    Some(own.map(|(port, _)| port_name(*port)).collect())
}

fn tcp() -> ProcResult<Vec<TcpNetEntry>> {
    let mut sockets = procfs::net::tcp()?;
    sockets.extend(optional(procfs::net::tcp6())?);
    Ok(sockets)
}

/// A machine without IPv6 has no such file.
fn optional<T>(list: ProcResult<Vec<T>>) -> ProcResult<Vec<T>> {
    match list {
        Err(ProcError::NotFound(_)) => Ok(Vec::new()),
        other => other,
    }
}

fn listeners() -> ProcResult<BTreeMap<Port, Listener>> {
    let mut listeners: BTreeMap<Port, Listener> = BTreeMap::new();
    let mut add = |protocol, address: SocketAddr, inode| {
        let listener = listeners.entry((protocol, address.port())).or_default();
        listener.addresses.insert(address.ip().to_string());
        listener.inodes.insert(inode);
    };
    for socket in tcp()?.iter().filter(|socket| socket.state == TcpState::Listen) {
        add("tcp", socket.local_address, socket.inode);
    }
    // UDP has no state "listening": a socket that is bound and talks to nobody in particular waits for anybody.
    let udp = procfs::net::udp()?.into_iter().chain(optional(procfs::net::udp6())?);
    for socket in udp.filter(|socket| socket.remote_address.port() == 0) {
        add("udp", socket.local_address, socket.inode);
    }
    Ok(listeners)
}

/// Which process holds which socket, as far as we may look.
fn owners() -> BTreeMap<u64, i32> {
    let processes = procfs::process::all_processes().into_iter().flatten().flatten();
    processes
        .flat_map(|process| {
            let inodes = socket_inodes(&process).unwrap_or_default();
            inodes.into_iter().map(move |inode| (inode, process.pid))
        })
        .collect()
}

fn socket_inodes(process: &Process) -> ProcResult<Vec<u64>> {
    let open = process.fd()?.flatten();
    Ok(open.filter_map(|fd| if let FDTarget::Socket(inode) = fd.target { Some(inode) } else { None }).collect())
}

fn of_port(socket: &TcpNetEntry, port: u16) -> bool {
    socket.local_address.port() == port || socket.remote_address.port() == port
}

fn row(socket: &TcpNetEntry, owners: &BTreeMap<u64, i32>) -> Value {
    json!({
        "local": socket.local_address.to_string(),
        "remote": socket.remote_address.to_string(),
        "state": state_word(&socket.state),
        "process": owners.get(&socket.inode).map(|pid| process::label(*pid)),
    })
}

fn port_name((protocol, number): Port) -> String {
    format!("{protocol}/{number}")
}

fn resource(host: &ThisHost, port: Port, listener: &Listener, owners: &BTreeMap<u64, i32>) -> Option<Resource> {
    let pids: BTreeSet<i32> = listener.inodes.iter().filter_map(|inode| owners.get(inode).copied()).collect();
    let labels: Vec<String> = pids.iter().map(|pid| process::label(*pid)).collect();
    let process = if labels.is_empty() { "a process we may not look into".to_owned() } else { labels.join(", ") };
    let addresses = listener.addresses.iter().cloned().collect::<Vec<_>>().join(", ");
    Some(Resource {
        id: host.id_of("port", &port_name(port))?,
        name: port_name(port),
        aliases: vec![port.1.to_string()],
        chain: host.chain(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: format!("{process} on {addresses}"),
        attrs: BTreeMap::from([("process".to_owned(), process), ("addresses".to_owned(), addresses)]),
    })
}

const fn state_word(state: &TcpState) -> &'static str {
    match state {
        TcpState::Established => "established",
        TcpState::SynSent => "syn sent",
        TcpState::SynRecv | TcpState::NewSynRecv => "syn received",
        TcpState::FinWait1 => "fin wait 1",
        TcpState::FinWait2 => "fin wait 2",
        TcpState::TimeWait => "time wait",
        TcpState::Close => "closed",
        TcpState::CloseWait => "close wait",
        TcpState::LastAck => "last ack",
        TcpState::Listen => "listening",
        TcpState::Closing => "closing",
    }
}

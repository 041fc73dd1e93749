//! The destinations that tools and commands may talk to: `egress.allow` of the configuration, and the one way to ask it.
//! Nothing here resolves a name. An address that can be read in two ways matches nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use thiserror::Error;

/// The ports of schemes whose URLs usually leave them out.
const SCHEME_PORTS: [(&str, u16); 4] = [("http", 80), ("https", 443), ("ws", 80), ("wss", 443)];

/// Names of this machine, whatever stands behind them in the name.
const LOCAL_LABELS: [&str; 5] = ["localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback"];

/// The allowed destinations. Empty means nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destinations {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// As it was written.
    text: String,
    hosts: Hosts,
    /// `None` is every port.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    /// One name, in lower case, without a trailing dot.
    Name(String),
    /// Every name below this one, which itself is not among them.
    Below(String),
    /// Addresses.
    Net(IpNet),
    /// The servers that the configuration of this tool names (`tool:kubectl`).
    Tool(String),
}

/// An entry that names no destination.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("lists `{entry}`, {problem}")]
pub struct BadDestination {
    /// The entry, as it was written.
    pub entry: String,
    /// What is wrong with it and what to write instead, to be read after the entry.
    pub problem: &'static str,
}

impl Destinations {
    /// Reads entries: `docs.example.org`, `*.example.org`, `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`, each also with a port
    /// (`docs.example.org:443`, `[2001:db8::7]:443`); and `tool:kubectl`, a tool whose own configuration names its servers.
    ///
    /// # Errors
    ///
    /// The first entry that is none of these.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, BadDestination> {
        let entries = entries.into_iter().map(|entry| Entry::parse(entry.as_ref()));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Returns the entries as they were written, for a tool server that reads them again.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.text.as_str())
    }

    /// Returns whether a host may be talked to. `host` is a name or an address, an IPv6 address with or without brackets. An
    /// unknown port matches only an entry for every port. Loopback, the unspecified address and the names of this machine
    /// match only an entry that lists nothing else.
    pub fn allows(&self, host: &str, port: Option<u16>) -> bool {
        let Some(host) = Host::parse(host) else { return false };
        self.entries.iter().any(|entry| entry.hosts.include(&host) && (entry.port.is_none() || entry.port == port))
    }

    /// Returns whether an entry lists this host with this very port.
    pub fn lists(&self, host: &str, port: u16) -> bool {
        let Some(host) = Host::parse(host) else { return false };
        self.entries.iter().any(|entry| entry.hosts.include(&host) && entry.port == Some(port))
    }

    /// Returns whether a tool may talk to the servers that its own configuration names.
    pub fn allows_tool(&self, tool: &str) -> bool {
        self.entries.iter().any(|entry| entry.hosts == Hosts::Tool(tool.to_owned()))
    }

    /// Returns whether the host of `host`, `host:port`, `[v6]:port` or a URL may be talked to.
    pub fn allow_place(&self, place: &str) -> bool {
        host_of(place).is_some_and(|(host, port)| self.allows(host, port))
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Self, BadDestination> {
        let wrong = |problem| BadDestination { entry: text.to_owned(), problem };
        if text == "*" {
            return Err(wrong("which is everywhere; name the hosts, as `docs.example.org` or `*.example.org`"));
        }
        if text.contains("://") {
            return Err(wrong("which is a URL; write its host alone, as `docs.example.org` or `docs.example.org:443`"));
        }
        if let Some(tool) = text.strip_prefix("tool:") {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if tool.is_empty() || !tool.bytes().all(plain) {
                return Err(wrong("which names no tool; write its program's name, as `tool:kubectl`"));
            }
            return Ok(Self { text: text.to_owned(), hosts: Hosts::Tool(tool.to_owned()), port: None });
        }
        let (hosts, port) = split_port(text).ok_or_else(|| wrong("whose port is not a number from 1 to 65535"))?;
        let problem = "which is no host name, `*.suffix`, IP address or network; \
                       write `docs.example.org`, `*.example.org`, `192.0.2.7` or `10.0.0.0/8`";
        let hosts = Hosts::parse(hosts).ok_or_else(|| wrong(problem))?;
        Ok(Self { text: text.to_owned(), hosts, port })
    }
}

impl Hosts {
    fn parse(text: &str) -> Option<Self> {
        if let Some(suffix) = text.strip_prefix("*.") {
            return match Host::parse(suffix)? {
                Host::Name(suffix) => Some(Self::Below(suffix)),
                Host::Address(_) => None,
            };
        }
        if let Ok(net) = text.parse::<IpNet>() {
            return Some(Self::Net(net.trunc()));
        }
        Some(match Host::parse(text)? {
            Host::Name(name) => Self::Name(name),
            Host::Address(address) => Self::Net(address.into()),
        })
    }

    fn include(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Name(name), Host::Name(host)) => name == host,
            (Self::Below(suffix), Host::Name(host)) => {
                let below = host.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.'));
                below && (!is_local(host) || is_local(suffix))
            }
            (Self::Net(net), Host::Address(address)) => {
                let this_machine = address.is_loopback() || address.is_unspecified();
                net.contains(address) && (!this_machine || is_nothing_else(net))
            }
            (Self::Name(_) | Self::Below(_), Host::Address(_)) | (Self::Net(_), Host::Name(_)) | (Self::Tool(_), _) => {
                false
            }
        }
    }
}

/// What a host is written as, once it can be read in one way only.
enum Host {
    Name(String),
    Address(IpAddr),
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(address.to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            // `0x7f.1`, `127.1` and `2130706433` are addresses to some programs and names to others.
            return name.parse::<Ipv4Addr>().ok().map(|address| Self::Address(address.into()));
        }
        is_name(name).then(|| Self::Name(name.to_ascii_lowercase()))
    }
}

/// Whether a last label makes an IPv4 address of the whole, as the URL standard has it.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    let is_hex = hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_hex || (!label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Only what every resolver reads alike; an international name is written in its ASCII form.
fn is_name(name: &str) -> bool {
    let plain = |label: &str| {
        let fits = (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
        fits && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.len() <= 253 && name.split('.').all(plain)
}

fn is_local(name: &str) -> bool {
    name.split('.').any(|label| LOCAL_LABELS.contains(&label))
}

/// Whether a network lists nothing but this machine: one address, or a part of 127.0.0.0/8.
fn is_nothing_else(net: &IpNet) -> bool {
    net.prefix_len() == net.max_prefix_len() || (net.network().is_loopback() && net.prefix_len() >= 8)
}

/// Returns the host and the port of `host`, `host:port`, `[v6]:port`, `v6` or `scheme://user@host:port/path`. `None` where
/// programs could disagree about which host that is.
pub fn host_of(place: &str) -> Option<(&str, Option<u16>)> {
    let has_odd = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
    if place.contains(has_odd) {
        return None;
    }
    let is_scheme = |scheme: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(plain)
    };
    let (scheme, rest) = match place.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        Some(_) | None => (None, place),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.split_once('@') {
        Some((_, host)) if host.contains('@') => return None,
        Some((_, host)) => host,
        None => authority,
    };
    let (host, port) = split_port(host).filter(|(host, _)| !host.is_empty())?;
    let usual = |scheme: &str| SCHEME_PORTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme));
    Some((host, port.or_else(|| Some(usual(scheme?)?.1))))
}

/// Splits a port off. An IPv6 address or network with one stands in brackets, which stay around an address.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let number = |port: &str| port.parse::<u16>().ok().filter(|port| *port > 0 && is_digits(text, *port));
    if let Some(inner) = text.strip_prefix('[') {
        let (inside, rest) = inner.split_once(']').filter(|(inside, _)| inside.contains(':'))?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(number(port)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        return Some((inside, port));
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => Some((text, None)),
        Some((host, port)) => Some((host, Some(number(port)?))),
        None => Some((text, None)),
    }
}

/// Whether a text ends in exactly these digits: `+443` and `0443` are no ports.
fn is_digits(text: &str, port: u16) -> bool {
    text.ends_with(&format!(":{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(entries: &[&str], host: &str, port: Option<u16>) -> bool {
        Destinations::parse(entries).expect("sound entries").allows(host, port)
    }

    #[test]
    fn a_host_is_allowed_by_name_suffix_address_or_network() {
        let table: &[(&[&str], &str, Option<u16>, bool)] = &[
            (&[], "docs.example", None, false),
            (&["docs.example"], "docs.example", None, true),
            (&["docs.example"], "DOCS.Example.", Some(1), true),
            (&["Docs.Example."], "docs.example", None, true),
            (&["docs.example"], "docs.example..", None, false),
            (&["docs.example"], "www.docs.example", None, false),
            (&["docs.example"], "docs.example.evil.example", None, false),
            (&["*.docs.example"], "www.docs.example", None, true),
            (&["*.docs.example"], "a.b.docs.example.", None, true),
            (&["*.docs.example"], "docs.example", None, false),
            (&["*.docs.example"], "evildocs.example", None, false),
            (&["*.docs.example"], "evil.example#.docs.example", None, false),
            (&["*.docs.example"], "evil.example/.docs.example", None, false),
            (&["*.docs.example"], "evil.example\u{3002}docs.example", None, false),
            (&["docs.example:443"], "docs.example", Some(443), true),
            (&["docs.example:443"], "docs.example", Some(80), false),
            (&["docs.example:443"], "docs.example", None, false),
            (&["*.docs.example:443"], "a.docs.example", Some(443), true),
            (&["192.0.2.7"], "192.0.2.7", None, true),
            (&["192.0.2.7"], "192.0.2.7.", None, true),
            (&["192.0.2.7"], "192.0.2.8", None, false),
            (&["192.0.2.7"], "::ffff:192.0.2.7", None, true),
            (&["192.0.2.7"], "[::ffff:c000:207]", None, true),
            (&["::ffff:192.0.2.7"], "192.0.2.7", None, true),
            (&["10.0.0.0/8:22", "192.0.2.7"], "10.9.8.7", Some(22), true),
            (&["10.0.0.0/8:22", "192.0.2.7"], "10.9.8.7", Some(23), false),
            (&["10.1.2.3/8"], "10.9.8.7", None, true),
            (&["2001:db8::/32"], "2001:DB8:0::1", None, true),
            (&["2001:db8::/32"], "[2001:db8::1]", Some(80), true),
            (&["[2001:db8::/32]:443"], "2001:db8::1", Some(80), false),
            (&["[2001:db8::7]:443"], "2001:db8::7", Some(443), true),
            (&["2001:db8::/32"], "[2001:db8::1%eth0]", None, false),
            (&["::/0"], "192.0.2.7", None, false),
            (&["tool:kubectl"], "kubectl", None, false),
        ];
        for (entries, host, port, expected) in table {
            assert_eq!(allowed(entries, host, *port), *expected, "{entries:?} {host} {port:?}");
        }
    }

    #[test]
    fn an_address_in_an_odd_form_is_refused() {
        let everywhere = ["0.0.0.0/0", "::/0", "*.example", "127.0.0.1", "10.0.0.1", "10.0.0.8"];
        for odd in [
            "0x7f.1",
            "0X7F000001",
            "2130706433",
            "127.1",
            "0177.0.0.1",
            "010.0.0.1",
            "10.0.0.010",
            "10.1",
            "1.0x",
            "10.0.0.1:80",
            "10.0.0.1/8",
            " 10.0.0.1",
            "10.0.0.1\n",
            "①⓪.0.0.1",
            "[10.0.0.1]",
            "[::1",
            "::1]",
            "",
            ".",
            "-a.example",
            "a..example",
        ] {
            assert!(!allowed(&everywhere, odd, None), "{odd:?}");
        }
    }

    #[test]
    fn this_machine_is_allowed_only_where_nothing_else_is_listed() {
        let local = [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "[::1]",
            "0.0.0.0",
            "::",
            "::ffff:127.0.0.1",
            "[::ffff:0:0]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "localhost.example",
            "localhost.localdomain",
            "ip6-localhost",
        ];
        let wide = ["0.0.0.0/0", "0.0.0.0/1", "126.0.0.0/7", "::/0", "::/127", "*.example", "*.localdomain", "*.org"];
        for host in local {
            assert!(!allowed(&wide, host, None), "{host}");
        }
        let table = [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.0/8", "127.0.0.2", true),
            ("127.0.0.1:8080", "::ffff:127.0.0.1", false),
            ("::1", "[::1]", true),
            ("0.0.0.0", "0.0.0.0", true),
            ("localhost", "localhost.", true),
            ("localhost", "127.0.0.1", false),
            ("*.localhost", "a.localhost", true),
        ];
        for (entry, host, expected) in table {
            assert_eq!(allowed(&[entry], host, None), expected, "{entry} {host}");
        }
    }

    #[test]
    fn the_host_of_a_place_is_what_is_talked_to() {
        let table = [
            ("web-1", Some(("web-1", None))),
            ("web-1:8080", Some(("web-1", Some(8080)))),
            ("https://evil.example:1/x?y#z", Some(("evil.example", Some(1)))),
            ("https://good.example@evil.example/", Some(("evil.example", Some(443)))),
            ("HTTP://web-1", Some(("web-1", Some(80)))),
            ("ssh://web-1", Some(("web-1", None))),
            ("http://[::1]:80/", Some(("::1", Some(80)))),
            ("2001:db8::1", Some(("2001:db8::1", None))),
            ("evil.example/?x=http://good.example", Some(("evil.example", None))),
            ("evil.example#://good.example", Some(("evil.example", None))),
            ("https://evil.example\\@good.example/", None),
            ("https://good.example@x@evil.example/", None),
            ("https://good.example /", None),
            ("web-1:080", None),
            ("web-1:+80", None),
            ("web-1:0", None),
            ("web-1:65536", None),
            ("[::1]x", None),
            ("http://[good.example]/", None),
            ("http://", None),
            ("", None),
        ];
        for (place, host) in table {
            assert_eq!(host_of(place), host, "{place}");
        }
    }

    #[test]
    fn a_wrong_entry_is_named_with_the_fix() {
        let said = |entry: &str| Destinations::parse([entry]).expect_err("no destination").to_string();
        let all = ["*", "https://docs.example/x", "docs.example:x", "docs example", "127.1", ""];
        insta::assert_snapshot!(all.map(said).join("\n"), @"
        lists `*`, which is everywhere; name the hosts, as `docs.example.org` or `*.example.org`
        lists `https://docs.example/x`, which is a URL; write its host alone, as `docs.example.org` or `docs.example.org:443`
        lists `docs.example:x`, whose port is not a number from 1 to 65535
        lists `docs example`, which is no host name, `*.suffix`, IP address or network; write `docs.example.org`, `*.example.org`, `192.0.2.7` or `10.0.0.0/8`
        lists `127.1`, which is no host name, `*.suffix`, IP address or network; write `docs.example.org`, `*.example.org`, `192.0.2.7` or `10.0.0.0/8`
        lists ``, which is no host name, `*.suffix`, IP address or network; write `docs.example.org`, `*.example.org`, `192.0.2.7` or `10.0.0.0/8`
        ");
        for none in ["*.10", "10.0.0.0/33", "docs.example:0443", "[docs.example]:80", "*.*.example", "a*.example"] {
            assert!(Destinations::parse([none]).is_err(), "{none}");
        }
        let listed = ["docs.example:443", "10.0.0.0/8", "tool:kubectl"];
        let read = Destinations::parse(listed).expect("sound entries");
        assert_eq!(Destinations::parse(read.entries()), Ok(read.clone()));
        assert_eq!(read.entries().collect::<Vec<_>>(), listed);
        assert!(read.allows_tool("kubectl") && !read.allows_tool("helm"));
        assert!(read.lists("docs.example", 443) && !read.lists("10.0.0.1", 443) && !read.lists("docs.example", 80));
    }
}

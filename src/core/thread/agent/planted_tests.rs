//! A thread of 500 messages and 200 tool results, in which facts were planted at every age. Whatever a person then asks about
//! one of them, the model is told the fact, and never more than the cap.

use serde_json::json;

use crate::mind::Ask;
use crate::route::Intents;
use crate::testkit::{INTENTS, TOOLS, Told, World, resource, signal};
use crate::tool::Registry;

use super::tests::{calls, says, world};

/// 4,000 tokens, at three and a half characters each. Written out: the test is to miss it when the constant is changed.
const CAP: usize = 14_000;

const MESSAGES: usize = 500;
const RESULTS: usize = 200;

/// Of these at least so many have to be found, in hundredths.
const FOUND_MIN: usize = 95;

const MORE_TOOLS: &str = r#"
spoke = "yard"
[[tool]]
name = "yard_look"
about = "looks at machines"
[tool.action.disk]
kind = "read"
about = "how full a disk is"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
show.lead = "On {name}, {mount} is {used} % full, {free} GiB are free."
fact = [{ attr = "disk", value = "{mount} {used} %" }]
[tool.action.alerts]
kind = "read"
about = "what is alerting"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
show.lead = "{name} alerts: {alert}."
fact = [{ attr = "alert", value = "{alert}" }]
[tool.action.log]
kind = "read"
about = "the end of a log: what is up with a host, and what the logs say"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
show.text = "out"
"#;

const MORE_INTENTS: &str = r#"
[[intent]]
name = "disk"
about = "how full a disk is"
examples = ["disk of web-01"]
patterns = ["disk of (?P<name>\\S+)"]
call = "yard_look.disk"
target = "name"
[[intent]]
name = "alerts"
about = "what is alerting"
examples = ["alerts of web-01"]
patterns = ["alerts of (?P<name>\\S+)"]
call = "yard_look.alerts"
target = "name"
"#;

/// How a fact came into the thread.
#[derive(Clone, Copy)]
enum Plant {
    /// A service's state, read.
    State(&'static str, &'static str),
    /// A host's disk, read: mount, percent, GiB.
    Disk(&'static str, &'static str, u32, u32),
    /// A host's alert, read.
    Alert(&'static str, &'static str),
    /// What somebody told the bot.
    Told(&'static str),
    /// What a model made of a log.
    Log(&'static str),
}

use Plant::{Alert, Disk, Log, State, Told as Words};

/// What is planted, what of it has to be told, and what somebody asks about it later.
const FACTS: [(Plant, &str, &str); 40] = [
    (State("mail-worker", "failed (exit 137)"), "exit 137", "what did the mail worker die of this morning"),
    (
        State("cart-cache", "degraded, evicting keys"),
        "evicting keys",
        "wasn't there something wrong with the cache of the cart",
    ),
    (State("billing-cron", "inactive since 02:14"), "02:14", "since when has the billing cron not been running"),
    (State("search-db", "read-only"), "read-only", "does search db accept writes again, what did it say before"),
    (State("stock-api", "restarting every 40 s"), "every 40 s", "how often did the stock api restart"),
    (State("auth-web", "running with 3 of 5 replicas"), "3 of 5", "how many replicas had auth web when we looked"),
    (State("media-cache", "stopped by oom-killer"), "oom-killer", "who killed the media cache"),
    (State("report-db", "in recovery, 18 percent"), "18 percent", "how far was the recovery of the report database"),
    (State("orders-cron", "masked"), "masked", "why would orders cron not start, someone looked at it"),
    (
        State("payments-worker", "deadlocked on queue refunds"),
        "queue refunds",
        "which queue was the payments worker stuck on",
    ),
    (Disk("db-01", "/var/lib/postgresql", 91, 14), "91 %", "how full was postgresql's disk on db-01"),
    (Disk("db-02", "/srv/backup", 83, 112), "112 GiB", "how much room did we have left for backups on db-02"),
    (Disk("web-03", "/var/log", 97, 1), "97 %", "the logs of web-03 were nearly filling their disk, how bad was it"),
    (Disk("ci-01", "/builds", 76, 40), "76 %", "ci-01: space used up by builds?"),
    (Disk("nas-01", "/export/photos", 64, 2210), "2210 GiB", "is there room for the photos on the nas"),
    (Disk("web-07", "/tmp", 100, 0), "/tmp is 100 %", "which filesystem was it that ran full on web-07"),
    (Disk("mx-01", "/var/spool", 58, 77), "58 %", "spool on mx-01, what was the usage"),
    (Disk("db-04", "/wal", 88, 9), "88 %", "the wal volume of db-04, how full"),
    (
        Alert("lb-01", "certificate of shop.example expires in 6 days"),
        "6 days",
        "when does the shop's certificate run out",
    ),
    (Alert("db-03", "replication lag of 412 s"), "412 s", "how far behind was replication on db-03"),
    (Alert("web-05", "temperature of cpu package at 93 C"), "93 C", "how hot did the cpu of web-05 get"),
    (Alert("ci-02", "runner 14 offline"), "runner 14", "which of the ci runners went offline"),
    (Alert("nas-02", "smart failure of sdf"), "sdf", "which drive has a smart failure"),
    (Alert("mx-02", "outbound mail blocked by spamhaus"), "spamhaus", "who was it that blocked our outbound mail"),
    (Alert("web-09", "5xx rate of checkout at 7 percent"), "7 percent", "what was the rate of 5xx in checkout"),
    (Alert("db-06", "clock drift of 31 s against ntp"), "31 s", "by how much did a clock drift"),
    (Alert("lb-02", "syn flood from 198.51.100.0/24"), "198.51.100.0/24", "from which network did the syn flood come"),
    (Words("note: Marta owns the renewal of certificates"), "Marta", "who takes care of renewing certificates here"),
    (
        Words("note: the maintenance window of the warehouse is Thursday 22:00"),
        "Thursday 22:00",
        "when may we do maintenance in the warehouse",
    ),
    (
        Words("note: the vendor of the label printers is Okidata, ticket 88123"),
        "88123",
        "what was the ticket with the printer vendor",
    ),
    (
        Words("note: Jonas is on call for the network until Sunday"),
        "Jonas",
        "who is on call for network things this week",
    ),
    (
        Words("note: the staging password rotates on the first of the month"),
        "first of the month",
        "when is the rotation of the staging password",
    ),
    (
        Words("note: customer Halloran complains about slow invoices"),
        "Halloran",
        "which customer complained about the invoices being slow",
    ),
    (
        Words("note: we agreed to leave feature flag dark-checkout off"),
        "dark-checkout",
        "which feature flag did we agree on leaving off",
    ),
    (Words("note: the postmortem of the outage is written by Ines"), "Ines", "who writes the postmortem"),
    (Words("note: the new switch in rack 12 is called ares"), "ares", "what did we call the switch in rack 12"),
    (
        Log("The log of the importer names the table supplier_prices."),
        "supplier_prices",
        "which table did the importer trip over",
    ),
    (
        Log("The gateway times out against vies.example while checking a vat id."),
        "vat id",
        "what was the gateway timing out on",
    ),
    (Log("The crawler is banned by its robots rules."), "robots", "why was the crawler banned"),
    (Log("The scheduler skips jobs because of its leap year check."), "leap year", "why did the scheduler skip jobs"),
];

const TEAMS: [&str; 10] =
    ["orders", "payments", "search", "billing", "mail", "media", "auth", "cart", "stock", "report"];
const PARTS: [&str; 6] = ["api", "worker", "cache", "db", "web", "cron"];
const HOSTS: [&str; 8] = ["web", "db", "ci", "lb", "mx", "nas", "app", "dev"];
const CHATTER: [&str; 12] = [
    "can you keep an eye on the shop while we deploy",
    "who looks after the queue when nobody is here",
    "is it normal that the database is slow on mondays",
    "why does the cache warm up so slowly",
    "what would you check first when mail is late",
    "how do we usually find out what fills a disk",
    "does a certificate matter inside the network",
    "should the worker be restarted after a deploy",
    "could the customers notice a replication lag",
    "when was the last time that we had an outage",
    "which of the hosts would you replace first",
    "what does it mean when a runner is offline",
];

fn big() -> World {
    let mut world = world(Vec::new());
    let files = [("tools.toml", TOOLS), ("more.toml", MORE_TOOLS)];
    world.registry = Registry::load(files).expect("the tools are sound");
    let files = [("intents.toml", INTENTS), ("more.toml", MORE_INTENTS)];
    world.intents = Intents::load(files, &world.registry).expect("the intents are sound");
    let hosts = HOSTS.iter().flat_map(|kind| (1..=9).map(move |n| format!("{kind}-0{n}")));
    world.script.resources = hosts.map(|name| resource(&format!("host:{name}"), &name)).collect();
    let services = TEAMS.iter().flat_map(|team| PARTS.iter().map(move |part| format!("{team}-{part}")));
    world.script.resources.extend(services.map(|name| resource(&format!("service:web-01:{name}"), &name)));
    world
}

/// The thread, and what was seen of it.
struct Thread {
    world: World,
    said: usize,
    results: usize,
}

impl Thread {
    /// One message, by one of three people; never is a model told more than the cap.
    fn say(&mut self, text: &str) -> Told {
        let who = ["ann", "bob", "carol"][self.said % 3];
        self.said += 1;
        self.world.pass(30_000);
        let told = self.world.hear(signal(&format!("m{}", self.said), who, text));
        for ask in &told.asks {
            let told = ask.situation.chars();
            assert!(told <= CAP, "{told} characters at message {}: {text}", self.said);
        }
        assert!(!told.said.is_empty(), "{text}");
        told
    }

    fn read(&mut self, call: &str, data: serde_json::Value, text: &str) {
        self.results += 1;
        self.world.answers(call, data);
        let told = self.say(text);
        assert_eq!(told.calls.last().map(crate::gate::ToolCall::name).as_deref(), Some(call), "{text}: {}", told.said);
    }

    fn state(&mut self, name: &str, state: &str) {
        let data = json!({ "name": name, "present": true, "state": state, "run": "1" });
        self.read("lab_read.status", data, &format!("status of {name}"));
    }

    fn disk(&mut self, host: &str, mount: &str, used: u32, free: u32) {
        let data = json!({ "name": host, "mount": mount, "used": used, "free": free });
        self.read("yard_look.disk", data, &format!("disk of {host}"));
    }

    fn alert(&mut self, host: &str, alert: &str) {
        self.read("yard_look.alerts", json!({ "name": host, "alert": alert }), &format!("alerts of {host}"));
    }

    /// A model reads a log of 4 KB on several hosts, several times over, and says something about it.
    fn log(&mut self, question: &str, conclusion: &str) {
        self.results += 1;
        let line = format!("{}: all as always; ", "x".repeat(20));
        self.world.answers("yard_look.log", json!({ "out": line.repeat(110) }));
        let find = ("lab_find__host", r#"{"query":"web-0"}"#);
        let tail = |n: usize| format!("{{\"target\":\"host:web-0{n}\"}}");
        let tails: Vec<String> = (1..=8).map(tail).collect();
        let tails: Vec<(&str, &str)> = tails.iter().map(|args| ("yard_look__log", args.as_str())).collect();
        let thoughts = [calls(&[find]), calls(&tails[..4]), calls(&tails[4..]), says(conclusion)];
        self.world.thoughts = thoughts.into();
        let told = self.say(question);
        assert!(told.said.contains(conclusion), "{}", told.said);
        let last = told.asks.last().expect("it was asked");
        let read: usize = last.situation.exchanges.iter().map(|exchange| exchange.result.chars().count()).sum();
        assert!(told.calls.len() == 9 && read > 3_000, "{read} of {} calls", told.calls.len());
    }

    fn chat(&mut self, text: &str) -> Told {
        self.world.thoughts = vec![says("I would look at it first.")].into();
        self.say(text)
    }

    fn plant(&mut self, fact: Plant) {
        match fact {
            State(name, state) => self.state(name, state),
            Disk(host, mount, used, free) => self.disk(host, mount, used, free),
            Alert(host, alert) => self.alert(host, alert),
            Words(text) => {
                self.chat(text);
            }
            Log(conclusion) => self.log("what do the logs say", conclusion),
        }
    }

    /// What goes on beside the facts, and sounds like them.
    fn noise(&mut self, n: usize, is_result: bool) {
        let planted = |name: &str| FACTS.iter().any(|(plant, ..)| matches!(plant, State(one, _) if *one == name));
        let host = format!("{}-0{}", HOSTS[n % 8], 1 + n % 9);
        match (is_result, n % 4) {
            (false, _) => {
                self.chat(&format!("{}, {}", CHATTER[n % 12], ["please", "again", "for later", "seriously"][n % 4]));
            }
            (true, 0) => {
                let name = format!("{}-{}", TEAMS[n / 4 % 10], PARTS[n / 40 % 6]);
                let other = "dev-01".to_owned();
                if planted(&name) { self.alert(&other, "none") } else { self.state(&name, "running") }
            }
            (true, 1) => self.disk(&format!("app-0{}", 1 + n % 9), "/", 40 + u32::try_from(n % 9).expect("small"), 200),
            (true, 2) => self.alert(&format!("dev-0{}", 1 + n % 9), "nothing that is urgent"),
            (true, _) => self.log(&format!("what is up with {host}"), "All is as always."),
        }
    }
}

/// A thread of that size, with the facts in it at every age.
fn thread() -> Thread {
    let mut thread = Thread { world: big(), said: 0, results: 0 };
    let read = FACTS.iter().filter(|(plant, ..)| !matches!(plant, Words(_))).count();
    // A step that shares no factor with the number of facts: each kind is planted early and late.
    let mut facts = (0..FACTS.len()).map(|n| FACTS[n * 7 % FACTS.len()].0);
    let every = MESSAGES / FACTS.len();
    let rest = MESSAGES - FACTS.len();
    let mut noise = 0;
    for n in 0..MESSAGES {
        let fact = if n % every == every / 2 { facts.next() } else { None };
        match fact {
            Some(fact) => thread.plant(fact),
            None => {
                // So many of the rest read something that there are 200 results in the end, evenly spread.
                let wanted = RESULTS - read;
                let is_result = (noise + 1) * wanted / rest > noise * wanted / rest;
                thread.noise(noise, is_result);
                noise += 1;
            }
        }
    }
    assert_eq!((thread.said, thread.results, facts.count()), (MESSAGES, RESULTS, 0));
    thread
}

fn is_told(ask: &Ask, fact: &str) -> bool {
    let situation = &ask.situation;
    let lines = [&situation.targets, &situation.known, &situation.earlier, &situation.since];
    lines.into_iter().flatten().any(|line| line.contains(fact))
}

#[test]
fn what_was_found_out_at_any_age_is_told_with_a_question_about_it() {
    let mut thread = thread();
    let mut missed = Vec::new();
    for (_, fact, question) in FACTS {
        let told = thread.chat(question);
        if !is_told(told.asks.first().expect("the model was asked"), fact) {
            missed.push((fact, question));
        }
    }
    let found = FACTS.len() - missed.len();
    assert!(found * 100 >= FACTS.len() * FOUND_MIN, "{found} of {}; missed: {missed:#?}", FACTS.len());
}

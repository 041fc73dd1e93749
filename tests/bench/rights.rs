//! How long one decision about rights takes, uncached, with 1,000 people and 10,000 resources: `cargo bench --bench rights`.
//! With the shipped policies the median is to be below 50 microseconds; a set of 200 is shown beside it. It prints a table
//! and judges nothing: what is right is tested in `src/access/tests`.

use std::fmt::Write;
use std::time::Duration;

use countersign::access::{Access, Owner};
use countersign_core::approval::Risk;
use countersign_core::port::{Asker, Right, Rights};
use countersign_core::resource::ResourceId;
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, ConversationId, Platform, SpaceId, ThreadKey, ThreadRoot,
};
use countersign_core::tool::ToolKind;
use tokio::time::Instant;

const PEOPLE: usize = 1_000;
const RESOURCES: usize = 10_000;
const DECISIONS: usize = 20_000;

/// Makes a right about a resource.
type Asks = fn(&ResourceId) -> Right;

fn main() {
    let resources: Vec<ResourceId> = (0..RESOURCES).map(resource).collect();
    println!("{:<34}{:>10}{:>10}{:>10}  allowed", "microseconds a decision", "median", "p99", "max");
    for policies in [0, 200] {
        let access = access(policies);
        let kinds: [(&str, Asks); 3] = [("talk", |_| Right::Talk), ("request", request), ("decide", decide)];
        for (name, right) in kinds {
            measure(&format!("{name}, {policies} policies of one's own"), &access, &resources, right, &[]);
        }
        let carried = ["administrator".to_owned()];
        measure(&format!("request by a platform's role, {policies}"), &access, &resources, request, &carried);
    }
}

fn measure(name: &str, access: &Access, resources: &[ResourceId], right: Asks, platform_roles: &[String]) {
    let mut allowed = 0;
    let mut took: Vec<Duration> = (0..DECISIONS)
        .map(|n| {
            // Steps that share no factor with the numbers of people and of things: no two neighbours are alike.
            let (who, what) = (actor(n * 7919 % PEOPLE), &resources[n * 7927 % RESOURCES]);
            let (here, right) = (room(n % 50), right(what));
            let begun = Instant::now();
            let may = access.may(&Asker { platform_roles, ..Asker::at(&who, &here) }, &right);
            let took = begun.elapsed();
            allowed += usize::from(may);
            took
        })
        .collect();
    took.sort();
    let micros = |at: usize| took[at].as_secs_f64() * 1e6;
    let (median, p99, max) = (micros(DECISIONS / 2), micros(DECISIONS * 99 / 100), micros(DECISIONS - 1));
    println!("{name:<34}{median:>10.1}{p99:>10.1}{max:>10.1}  {allowed} of {DECISIONS}");
}

/// 1,000 people in 100 teams in 10 departments, 20 patterns of environments, a role of the platform in each of 50 rooms, and that many policies beside the shipped.
fn access(policies: usize) -> Access {
    let mut file = String::new();
    let roles = ["viewer", "operator", "approver", "admin"];
    for n in 0..PEOPLE {
        let role = roles[n % roles.len()];
        let _infallible =
            writeln!(file, "[[people]]\nname = \"p{n}\"\naccounts = [\"telegram:{}\"]\nroles = [\"{role}\"]", n + 1);
    }
    for team in 0..100 {
        let members: Vec<String> = (0..10).map(|n| format!("\"p{}\"", team * 10 + n)).collect();
        let _infallible = writeln!(file, "[[groups]]\nname = \"team{team}\"\nmembers = [{}]", members.join(", "));
    }
    for department in 0..10 {
        let teams: Vec<String> = (0..10).map(|n| format!("\"team{}\"", department * 10 + n)).collect();
        let _infallible =
            writeln!(file, "[[groups]]\nname = \"department{department}\"\nmembers = [{}]", teams.join(", "));
    }
    for n in 0..20 {
        let _infallible = writeln!(file, "[[environments]]\nname = \"env{n}\"\nhosts = [\"*-{n}\"]");
    }
    for n in 0..50 {
        let role = "platform = \"telegram\"\nid = \"administrator\"\nroles = [\"operator\"]";
        let _infallible = writeln!(file, "[[platform_roles]]\n{role}\nroom = \"-100{n}\"");
    }
    let own: String = (0..policies).fold(String::new(), |mut text, n| {
        let _infallible = writeln!(
            text,
            "permit (principal in Group::\"team{}\", action == Action::\"decide\", resource)\nwhen {{ \
             resource.environment == \"env{}\" && [\"low\", \"medium\"].contains(context.risk) }};",
            n % 100,
            n % 20
        );
        text
    });
    let own = if policies == 0 { Vec::new() } else { vec![("own.cedar".to_owned(), own)] };
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    Access::new(Some(&("access.toml".to_owned(), file)), &own, Some(owner)).expect("the set is sound")
}

fn resource(n: usize) -> ResourceId {
    let host = format!("web-{}", n % 100);
    ResourceId::scoped("service", &host, &format!("app{n}")).expect("its parts are plain")
}

fn request(on: &ResourceId) -> Right {
    let tool = Some("host_service.restart".to_owned());
    Right::Request { kind: ToolKind::Write, tool, on: Some(on.clone()), labels: Vec::new() }
}

fn decide(on: &ResourceId) -> Right {
    Right::Decide { risk: Risk::Medium, on: on.clone(), is_requester: false, labels: Vec::new() }
}

fn actor(n: usize) -> Actor {
    Actor { id: ActorId::new((n + 1).to_string()), kind: ActorKind::Human, display: String::new() }
}

fn room(n: usize) -> ThreadKey {
    ThreadKey {
        platform: Platform::new("telegram"),
        account: AccountId::new("bot"),
        space: SpaceId::new(""),
        conversation: ConversationId::new(format!("-100{n}")),
        root: ThreadRoot::new(""),
    }
}

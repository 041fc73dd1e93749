//! Who a card names as able to approve: exactly those whom the judge of decisions lets approve, on the plan's platform and in its
//! room, whoever asked.

use countersign_core::approval::{Ask, Filed, Frozen, Plan, Standing, Verb, judge};
use serde_json::json;

use super::*;
use crate::permit::tests::plan;

/// Everybody in the fixture with an account on Discord: name and account.
const PEOPLE: [(&str, &str); 6] = [
    ("vera", VERA),
    ("otto", OTTO),
    ("anna", "100000000000000003"),
    ("adam", "100000000000000004"),
    ("gil", GIL),
    ("nina", "100000000000000006"),
];

fn asked_by((name, account): (&str, &str), risk: Risk, target: &str, room_id: &str) -> Plan {
    let plain = plan(("host_service", "restart"), target, json!({}), &[]);
    let requester = Actor { display: name.to_owned(), ..human(account) };
    Plan { thread: room("discord", room_id), requester, requester_person: name.to_owned(), risk, ..plain }
}

fn may_approve(access: &Access, account: &str, plan: &Plan) -> bool {
    let filed = Filed { frozen: Frozen::freeze(plan.clone()), standing: Standing::new() };
    let ask = Ask { plan: plan.id.clone(), digest: None, verb: Verb::Approve, reason: String::new() };
    let actor = human(account);
    judge(&ask, &filed, &Asker::at(&actor, &plan.thread), access).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) })]

    #[test]
    fn those_who_are_named_may_approve_and_nobody_else_may(
        by in prop::sample::select(PEOPLE.to_vec()),
        risk in prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]),
        target in prop::sample::select(vec!["service:web-1:nginx", "service:stage-1:nginx", "service:lab-1:x"]),
        room_id in prop::sample::select(vec!["ops", "stage", "lobby"]),
        quorum in 1_u32..3,
    ) {
        let access = access();
        let mut plan = asked_by(by, risk, target, room_id);
        plan.terms.quorum = quorum.try_into().expect("at least one");
        let named = access.deciders(&plan).expect("there are no roles of a platform here");
        for (name, account) in PEOPLE {
            let is_named = named.iter().any(|one| one == name);
            prop_assert_eq!(is_named, may_approve(&access, account, &plan), "{} of {:?}", name, named);
        }
    }
}

#[test]
fn where_roles_of_the_platform_mean_something_no_list_is_claimed() {
    let role = "[[platform_roles]]\nplatform = \"discord\"\nid = \"200000000000000001\"\nroles = [\"approver\"]\n";
    let file = ("access.toml".to_owned(), format!("{FILE}{role}"));
    let access = Access::new(Some(&file), &[], None).expect("it is sound");
    assert_eq!(access.deciders(&asked_by(("otto", OTTO), Risk::Medium, "service:web-1:nginx", "ops")), None);
}

/// A label that was found may not move a thing into another environment on the card.
#[test]
fn the_environment_on_a_card_is_the_configured_one() {
    let access = access();
    let of = |id: &str, labels: &[&str]| {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        access.environment(&id.parse().expect("an id"), &labels)
    };
    assert_eq!(of("service:stage-1:nginx", &[]).as_deref(), Some("staging"));
    assert_eq!(of("service:web-1:nginx", &[]).as_deref(), Some("production"));
    assert_eq!(of("service:web-1:nginx", &["env=staging"]).as_deref(), Some("production; labelled staging"));
    let file = (
        "access.toml".to_owned(),
        "[[people]]\nname = \"a\"\naccounts = [\"discord:100000000000000001\"]\n".to_owned(),
    );
    let bare = Access::new(Some(&file), &[], None).expect("it is sound");
    assert_eq!(bare.environment(&"host:web-1".parse().expect("an id"), &[]), None, "none is named");
}

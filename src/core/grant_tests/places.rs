//! A change in a place of high risk: its card says why, nobody allows it beforehand, and a place that became one since is
//! noticed when the plan is carried out.

use super::*;
use crate::approval::Places;

const CRON: &str = "[[place]]\nwhy = \"cron runs it\"\npaths = [\"/etc/cron.d/**\"]";

/// A restart that also writes a file, by an argument that has its default.
fn writes_to(path: &str) -> World {
    let mut world = world();
    let about = "about = \"restarts a service of which customers complain\"";
    let arg = format!("args.script = {{ type = \"path\", about = \"its script\", default = \"{path}\" }}");
    declare(&mut world, about, &format!("{about}\n{arg}"));
    world
}

fn known(world: &mut World) {
    world.places = Places::load([("places.toml", CRON)]).expect("they are sound");
}

#[test]
fn a_change_in_a_place_of_high_risk_says_why_and_is_never_allowed_beforehand() {
    let mut world = writes_to("/etc/./cron.d//nginx");
    known(&mut world);
    let asked = says(&mut world, "ann", "restart nginx");
    assert!(asked.said.contains("\nHigh risk: cron runs it. "), "{}", asked.said);
    let plan = newest(&world).id().clone();
    let refused = says(&mut world, "bob", &format!("grant {plan}"));
    insta::assert_snapshot!(plain(&refused, &world), @r"
    refused: A change of high risk is asked for each time.
    (POLICY_BLOCKED, gate `grant`)
    ");
    assert_eq!((world.files.ledger.grants().count(), state(&world, &plan)), (0, PlanState::Pending));
    let done = says(&mut world, "bob", &format!("approve {plan}"));
    assert!(done.said.starts_with("Done and verified: restart nginx."), "{}", done.said);
    let mut elsewhere = writes_to("/etc/cron.daily/nginx");
    known(&mut elsewhere);
    assert!(says(&mut elsewhere, "ann", "restart nginx").said.contains("\nMedium risk. "));
}

#[test]
fn a_permission_from_before_its_place_was_known_is_not_used() {
    let mut world = writes_to("/etc/cron.d/nginx");
    given_on(&mut world, "restart nginx", "");
    known(&mut world);
    let asked = says(&mut world, "ann", "restart nginx");
    assert!(asked.said.contains(" asks to ") && writes(&asked) == 0, "{}", asked.said);
    let listed = says(&mut world, "bob", "grants").said;
    assert!(listed.contains("a change of high risk is asked for each time"), "{listed}");
}

#[test]
fn a_plan_from_before_its_place_was_known_is_not_carried_out() {
    let mut world = writes_to("/etc/cron.d/nginx");
    says(&mut world, "ann", "restart nginx");
    let plan = newest(&world).id().clone();
    known(&mut world);
    let refused = says(&mut world, "bob", &format!("approve {plan}"));
    insta::assert_snapshot!(plain(&refused, &world), @r"
    refused: Not done: restart nginx.
    Its risk is high by now: cron runs it; ask again.
    (APPROVAL_REQUIRED, gate `approval`)
    Nothing was changed.
    ");
    assert_eq!(writes(&refused), 0);
}

//! Dialogues of a person with a standing permission open: no pronoun, pick, guess or follow-up ever runs a change. Only the thing's
//! own name does, and an approval.

use proptest::prelude::*;

use super::*;

/// Everything a person may type, misspelt and half, that names nothing.
const NAMELESS: [&str; 26] = [
    "restart it",
    "restart that",
    "restart this service",
    "please restart it now",
    "and restart it?",
    "again",
    "once more",
    "do it again",
    "more",
    "yes",
    "y",
    "ok",
    "1",
    "2",
    "the first one",
    "the second one",
    "last",
    "approve",
    "details",
    "status of it",
    "rstart it",
    "don't restart nginx",
    "do not restart nginx",
    "never restart nginx again",
    "I would restart nginx if I were you",
    "> restart nginx",
];

/// Readings and questions, and a change by its name.
const NAMED: [&str; 6] =
    ["status of nginx", "status of postgres", "list services", "restart web", "restart nginx", "restart postgres"];

fn dialogue() -> impl Strategy<Value = Vec<&'static str>> {
    let line = prop_oneof![3 => prop::sample::select(NAMELESS.to_vec()), 2 => prop::sample::select(NAMED.to_vec())];
    prop::collection::vec(line, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn only_a_thing_that_is_named_is_changed_without_a_card(lines in dialogue()) {
        let mut world = world();
        says(&mut world, "ann", "restart nginx");
        let plan = newest(&world).id().clone();
        says(&mut world, "bob", &format!("grant {plan} for 8 hours 50 times"));
        for line in lines {
            let told = says(&mut world, "ann", line);
            prop_assert!(writes(&told) == 0 || line == "restart nginx", "{line}: {}", told.said);
        }
    }
}

/// The permission works, so that the property above is about something.
#[test]
fn what_is_named_is_changed_by_the_permission() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let plan = newest(&world).id().clone();
    says(&mut world, "bob", &format!("grant {plan} for 8 hours 50 times"));
    assert_eq!(writes(&says(&mut world, "ann", "restart nginx")), 1);
}

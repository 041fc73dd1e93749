//! The conformance rows about who somebody is (AC-08, AC-09, AC-22, AC-25, AC-26, AC-27), through the real policies and the
//! core's own step. The other rows are the core's.

use countersign_core::approval::PlanState;
use countersign_core::people::Holding;
use countersign_core::signal::{OURSELVES, Signal};

use super::identity::{ANNA, Club, account, rows};
use super::*;

/// A human's account of another kind.
fn as_kind(signal: Signal, kind: ActorKind) -> Signal {
    Signal { actor: Actor { kind, ..signal.actor.clone() }, ..signal }
}

#[test]
fn ac_08_words_of_approval_count_from_a_persons_own_account_alone() {
    let mut club = Club::new(FILE);
    let plan = club.plan("discord", OTTO);
    let approve = format!("approve {plan}");
    let mut refused = vec![
        club.words("discord", VERA, &approve),
        club.words("discord", OTTO, &approve),
        club.words("discord", "100000000000000099", &approve),
        club.words("discord", ANNA, &format!("> {approve}")),
        club.words("discord", ANNA, &format!("otto said: {approve}")),
        club.words("discord", ANNA, &format!("“{approve}”")),
    ];
    for kind in BOTS {
        let words = club.words("discord", ANNA, &approve);
        refused.push(as_kind(words, kind));
        let click = club.click("discord", ANNA, &plan);
        refused.push(as_kind(click, kind));
    }
    for words in refused {
        let told = club.world.hear(words.clone());
        assert!(told.calls.is_empty(), "{words:?}");
        assert_eq!(club.state(&plan), Some(PlanState::Pending), "{words:?}");
    }
    let words = club.words("discord", ANNA, &approve);
    club.world.hear(words);
    assert_ne!(club.state(&plan), Some(PlanState::Pending), "her own do count");
}

#[test]
fn ac_09_a_matrix_account_is_its_whole_id_and_nothing_like_it() {
    let mut club = Club::new(&FILE.replace("\"telegram:2002\"", "\"matrix:@otto:example.org\""));
    let plan = club.plan("matrix", "@otto:example.org");
    let alike = ["@anna:evil.example", "@Anna:example.org", "@anna:Example.org", "@ANNA:example.org", "anna", "@anna"];
    for id in alike {
        let mut click = club.click("matrix", id, &plan);
        "anna".clone_into(&mut click.actor.display);
        let told = club.world.hear(click);
        assert!(told.said.contains("I do not know this account"), "{id}: {}", told.said);
        assert_eq!(club.state(&plan), Some(PlanState::Pending), "{id}");
    }
    let click = club.click("matrix", "@anna:example.org", &plan);
    club.world.hear(click);
    assert_ne!(club.state(&plan), Some(PlanState::Pending));
    // Nor is anything like it linked.
    let code = club.code("discord", VERA);
    let said = club.hears("matrix", "@vera:evil.example", &format!("link {code}")).said;
    assert!(said.starts_with("refused: I do not know this account"), "{said}");
    assert!(club.hears("matrix", "@vera:example.org", &format!("link {code}")).said.contains("is vera's"));
    assert_eq!(club.holding("matrix:@Vera:example.org"), Holding::Nobodys);
}

#[test]
fn ac_22_an_empty_configuration_allows_nobody_anything_and_says_how_to_begin() {
    let mut club = Club::new("");
    let told = club.hears("telegram", "4711", "restart nginx");
    insta::assert_snapshot!(told.said, @"
    refused: I do not know this account, so that you may not talk to me.
    (FORBIDDEN, gate `actor`)
    What to do: somebody who runs me adds `telegram:4711` to the access file, or you type `link` to me from an account that I know and its code here.
    ");
    for (platform, id) in [("telegram", "4711"), ("discord", VERA), ("matrix", "@anna:example.org")] {
        for text in ["status", "who can administer", "roles", "link", "link 22222-22222", "approve it"] {
            let told = club.hears(platform, id, text);
            assert!(told.calls.is_empty() && told.said.starts_with("refused: "), "{platform} {text}: {}", told.said);
        }
    }
    insta::assert_snapshot!(club.hears("telegram", "4711", "status").said, @"
    refused: I do not know this account, so that you may not talk to me.
    (FORBIDDEN, gate `actor`)
    ");
    assert!(club.world.files.rows.is_empty());
    let access = Access::new(None, &[], None).expect("nothing is sound");
    assert!(access.everybody().is_empty());
}

#[test]
fn ac_22_no_name_is_told_to_a_stranger() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", VERA);
    let mut said = String::new();
    for text in ["hello", "link", "link 22222-22222", "link vera telegram:4711", "unlink telegram:2002", "roles"] {
        said.push_str(&club.hears("telegram", "4711", text).said);
    }
    for name in ["vera", "otto", "anna", "adam", "gil", "nina", "nightly", code.as_str()] {
        assert!(!said.contains(name), "{name}: {said}");
    }
}

#[test]
fn ac_25_a_code_covers_the_account_that_typed_it_and_no_other_member() {
    let mut club = Club::new(FILE);
    let plan = club.plan("discord", OTTO);
    let code = club.code("discord", ANNA);
    // Another member, who is known, can do nothing with anna's code; it is not used up by that.
    assert!(club.hears("discord", VERA, &format!("link {code}")).said.contains("known to me already"));
    assert_eq!(club.holding(&format!("discord:{VERA}")), Holding::InFile("vera".to_owned()));
    let click = club.click("discord", VERA, &plan);
    assert!(club.world.hear(click).said.contains("You may not approve this plan"));
    assert!(club.hears("discord", "100000000000000033", &format!("link {code}")).said.contains("is anna's"));
    // A third member of the same room gets nothing of it.
    assert!(club.hears("discord", "100000000000000034", &format!("link {code}")).said.contains("not open"));
    let click = club.click("discord", "100000000000000034", &plan);
    club.world.hear(click);
    assert_eq!(club.state(&plan), Some(PlanState::Pending));
    let click = club.click("discord", "100000000000000033", &plan);
    club.world.hear(click);
    assert_ne!(club.state(&plan), Some(PlanState::Pending), "the account that typed it is anna");
}

#[test]
fn ac_26_what_is_decided_or_linked_names_the_platform_and_the_immutable_id() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", ANNA);
    let linked = club.hears("discord", "100000000000000033", &format!("link {code}"));
    assert!(rows(&linked)[0].contains("target: Some(\"discord:100000000000000033\")"), "{:?}", rows(&linked));
    let plan = club.plan("discord", OTTO);
    let click = club.click("discord", "100000000000000033", &plan);
    let told = club.world.hear(click);
    let decided = club.world.files.rows.get(&plan).and_then(|row| row.standing.decided.clone()).expect("it is decided");
    assert_eq!(
        (decided.platform.as_str(), decided.by.id.as_str()),
        ("discord", "100000000000000033"),
        "the account, not the name"
    );
    let approved = rows(&told).into_iter().find(|row| row.contains("\"approved\"")).expect("it is recorded");
    assert!(
        approved.contains("Platform(\"discord\")") && approved.contains("ActorId(\"100000000000000033\")"),
        "{approved}"
    );
    assert_eq!(club.holding("discord:100000000000000033"), Holding::Linked("anna".to_owned()));
    assert!(club.world.files.ledger.link(&account("discord:100000000000000033")).is_some_and(|link| link.by == "anna"));
}

#[test]
fn ac_27_a_schedule_without_a_principal_is_refused_with_the_fix_and_waits_for_nobody() {
    let viewer = FILE.replace("roles = [\"viewer\", \"operator\", \"approver\", \"admin\"]", "roles = [\"viewer\"]");
    let mut club = Club::new(&viewer);
    let words = club.words("discord", "backup", "restart nginx");
    let told = club.world.hear(as_kind(words, ActorKind::Service));
    insta::assert_snapshot!(told.said, @"
    refused: No service of this name may ask for anything here, and nothing was put up for approval.
    (FORBIDDEN, gate `actor`)
    What to do: give [[services]] of the access file one with the name `backup` and roles that permit it.
    ");
    let words = club.words("discord", OURSELVES, "restart nginx");
    assert!(club.world.hear(as_kind(words, ActorKind::Service)).said.starts_with("refused: "));
    let words = club.words("discord", "nightly", "restart nginx");
    let told = club.world.hear(as_kind(words, ActorKind::Service));
    assert!(told.said.contains("You may not ask for a change"), "a principal without the right: {}", told.said);
    assert!(club.world.files.rows.is_empty(), "nothing waits for approval");
    // With the right it is put up for approval like anybody's change, and a person decides.
    club.rewrite(FILE);
    let words = club.words("discord", "nightly", "restart nginx");
    club.world.hear(as_kind(words, ActorKind::Service));
    let plan = club.world.files.rows.keys().next().expect("a plan").clone();
    let click = club.click("discord", "nightly", &plan);
    club.world.hear(as_kind(click, ActorKind::Service));
    assert_eq!(club.state(&plan), Some(PlanState::Pending));
    let click = club.click("discord", ANNA, &plan);
    club.world.hear(click);
    assert_ne!(club.state(&plan), Some(PlanState::Pending));
}

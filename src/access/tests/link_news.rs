//! What people are told of accounts that others made theirs.

use countersign_core::approval::PlanState;

use super::identity::{ADAM, ANNA, Club, account};
use super::*;

const NEWS: &str = "made the account";

#[test]
fn a_person_is_told_once_on_each_account_that_they_had_before() {
    let mut club = Club::new(FILE);
    club.given("otto", "telegram:4711");
    let told = club.hears("discord", OTTO, "approvals").said;
    insta::assert_snapshot!(told, @"
    adam and console:uid:1000 made the account `telegram:4711` yours. If you don't know it, type `unlink telegram:4711`.
    No plan is open in this thread.
    ");
    assert!(!club.hears("discord", OTTO, "approvals").said.contains(NEWS), "once");
    assert!(!club.hears("telegram", "4711", "approvals").said.contains(NEWS), "it may be somebody else's");
    assert!(!club.hears("discord", VERA, "approvals").said.contains(NEWS), "it is not hers");
    for (platform, id) in [("telegram", "2002"), ("discord", "100000000000000022")] {
        assert!(club.hears(platform, id, "approvals").said.contains(NEWS), "{platform}:{id}");
        assert!(!club.hears(platform, id, "approvals").said.contains(NEWS), "{platform}:{id}");
    }
    // What they linked themselves is no news.
    let code = club.code("discord", VERA);
    club.hears("telegram", "4712", &format!("link {code}"));
    assert!(!club.hears("discord", VERA, "approvals").said.contains(NEWS));
}

#[test]
fn a_press_tells_it_too_and_the_press_counts() {
    let mut club = Club::new(FILE);
    let plan = club.plan("discord", OTTO);
    club.given("anna", "telegram:4711");
    let click = club.click("discord", ANNA, &plan);
    let said = club.world.hear(click).said;
    assert!(said.contains(NEWS) && said.contains("`unlink telegram:4711`"), "{said}");
    assert_ne!(club.state(&plan), Some(PlanState::Pending));
}

#[test]
fn a_card_names_the_accounts_that_are_no_further_person() {
    let mut club = Club::new(FILE);
    let line = |club: &mut Club| {
        let said = club.hears("discord", ADAM, "restart nginx").said;
        said.lines().find(|line| line.contains("Doesn't count here")).unwrap_or_default().to_owned()
    };
    assert_eq!(line(&mut Club::new(FILE)), "");
    // Somebody else's work, and older than a day; and the asker's own.
    club.was_linked("otto", "gil", "telegram:4713");
    club.was_linked("adam", "anna", "telegram:4711");
    club.world.pass(25 * 60 * 60 * 1000);
    insta::assert_snapshot!(line(&mut club), @"Doesn't count here: telegram:4711 (anna, linked by adam)");
    for n in 0..5 {
        club.was_linked("otto", "anna", &format!("telegram:500{n}"));
    }
    insta::assert_snapshot!(line(&mut club), @"Doesn't count here: telegram:4711 (anna, linked by adam), telegram:5000 (anna, linked by otto), telegram:5001 (anna, linked by otto), and 3 more");
    assert_eq!(club.holding("telegram:4711"), countersign_core::people::Holding::Linked("anna".to_owned()));
    assert!(club.world.files.ledger.link(&account("telegram:5000")).is_some());
}

#[test]
fn a_press_that_was_overtaken_for_the_news_alone_counts_all_the_same() {
    let mut club = Club::new(FILE);
    let plan = club.plan("discord", OTTO);
    club.given("anna", "telegram:4711");
    let before = club.world.files.ledger.clone();
    // She is told in another thread at the same moment.
    assert!(club.hears("discord", ANNA, "approvals").said.contains(NEWS));
    club.world.stale = Some(before);
    let click = club.click("discord", ANNA, &plan);
    let said = club.world.hear(click).said;
    assert!(!said.contains("changed that just now"), "{said}");
    assert_ne!(club.state(&plan), Some(PlanState::Pending), "{said}");
}

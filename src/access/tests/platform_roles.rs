//! Roles of a platform: what they give for one question, where, and what an account never gets by them that nobody is known
//! by.

use countersign_core::approval::PlanState;
use countersign_core::signal::Signal;

use super::identity::{ANNA, Club};
use super::*;

const STRANGER: &str = "100000000000000077";
const OPERATORS: &str = "200000000000000001";
const ADMINS: &str = "200000000000000002";

fn mapped() -> String {
    let more = format!(
        "[[platform_roles]]\nplatform = \"discord\"\nid = \"{OPERATORS}\"\nroles = [\"operator\"]\n\
         [[platform_roles]]\nplatform = \"discord\"\nid = \"{ADMINS}\"\nspace = \"home\"\nroles = [\"admin\", \"approver\"]\n\
         [[platform_roles]]\nplatform = \"telegram\"\nid = \"administrator\"\nroom = \"-100\"\nroles = [\"operator\"]\n"
    );
    FILE.to_owned() + more.as_str()
}

fn with_policies(own: &str) -> Access {
    let file = ("access.toml".to_owned(), mapped());
    Access::new(Some(&file), &texts(&[("own.cedar", own)]), None).expect("the fixture is sound")
}

/// What somebody may who carries these roles into a question, in this space and room.
fn may(access: &Access, who: &Actor, roles: &[&str], (platform, space, at): (&str, &str, &str), right: &Right) -> bool {
    let platform_roles: Vec<String> = roles.iter().map(|role| (*role).to_owned()).collect();
    let thread = ThreadKey { space: SpaceId::new(space), ..room(platform, at) };
    access.may(&Asker { platform_roles: &platform_roles, ..Asker::at(who, &thread) }, right)
}

/// Who, with which roles, where, wants what, and whether they may.
type Row<'a> = (&'a str, &'a [&'a str], (&'a str, &'a str, &'a str), &'a Right, bool);

#[test]
fn a_role_counts_where_it_is_mapped_and_for_the_question_that_carries_it() {
    let access = with_policies("");
    let write = request(ToolKind::Write, "host:web-1", &[]);
    let home = ("discord", "home", "main");
    let rows: [Row<'_>; 11] = [
        (VERA, &[], home, &write, false),
        (VERA, &[OPERATORS], home, &write, true),
        (VERA, &["200000000000000009"], home, &write, false),
        (VERA, &[OPERATORS], ("matrix", "home", "main"), &write, false),
        (VERA, &[ADMINS], home, &Right::Administer, true),
        (VERA, &[ADMINS], ("discord", "away", "main"), &Right::Administer, false),
        (STRANGER, &[], home, &Right::Talk, false),
        (STRANGER, &[OPERATORS], home, &Right::Talk, true),
        ("4711", &["administrator"], ("telegram", "", "-100"), &Right::Talk, true),
        ("4711", &["administrator"], ("telegram", "", "-200"), &Right::Talk, false),
        ("1087968824", &["administrator"], ("telegram", "", "-100"), &Right::Talk, false),
    ];
    for (who, roles, at, right, expected) in rows {
        assert_eq!(may(&access, &human(who), roles, at, right), expected, "{who} {roles:?} {at:?} {right:?}");
    }
    for kind in BOTS {
        assert!(!may(&access, &actor(STRANGER, kind), &[OPERATORS], home, &Right::Talk), "{kind:?}");
    }
}

#[test]
fn an_account_that_nobody_is_known_by_never_decides_permits_or_administers() {
    let access = with_policies("permit (principal, action, resource);");
    let home = ("discord", "home", "main");
    let guest = human(STRANGER);
    let ask = |right: &Right| may(&access, &guest, &[OPERATORS, ADMINS], home, right);
    assert!(ask(&Right::Talk) && ask(&Right::Acknowledge) && ask(&Right::Declare));
    for right in [decide(Risk::Low, "host:stage-1"), decide(Risk::High, "host:web-1"), Right::Grant, Right::Administer]
    {
        assert!(!ask(&right), "{right:?}");
        assert!(may(&access, &human(VERA), &[OPERATORS, ADMINS], home, &right), "a known person may: {right:?}");
    }
    let roles = [OPERATORS.to_owned(), ADMINS.to_owned()];
    let here = room("discord", "main");
    assert!(!access.may_decide_alone(&Asker { platform_roles: &roles, ..Asker::at(&guest, &here) }, Risk::Low));
    assert_eq!(access.person(&Platform::new("discord"), &guest), format!("discord:{STRANGER}"));
}

#[test]
fn four_eyes_are_not_made_of_an_account_that_nobody_is_known_by() {
    let mut club = Club::new(&mapped());
    let words = club.words("discord", STRANGER, "restart nginx");
    let told = club.world.hear(Signal { platform_roles: vec![OPERATORS.to_owned()], ..words });
    insta::assert_snapshot!(told.said, @"
    refused: Four eyes need two people, and I do not know whose account this was asked from: it may be a second one of whoever countersigns.
    (FORBIDDEN, gate `plan`)
    ");
    assert!(club.world.files.rows.is_empty());
    // Known, the same account may ask, by the same role.
    club.given("vera", &format!("discord:{STRANGER}"));
    let words = club.words("discord", STRANGER, "restart nginx");
    club.world.hear(Signal { platform_roles: vec![OPERATORS.to_owned()], ..words });
    let plan = club.world.files.rows.keys().next().expect("a plan").clone();
    let click = club.click("discord", ANNA, &plan);
    club.world.hear(click);
    assert_ne!(club.state(&plan), Some(PlanState::Pending));
}

#[test]
fn who_can_names_the_roles_of_a_platform_that_permit_it() {
    let access = with_policies("");
    let can = |asked: &str| access.who_can(asked, &Asker::at(&human(VERA), &room("x", "y")));
    insta::assert_snapshot!(can("declare"), @"
    These can declare:
      otto (operator), on discord, telegram
      adam (admin), on discord
      gil (operator, viewer), on discord
      nightly (a service, admin, approver, operator, viewer)
      whoever has the role 200000000000000001 (operator), on discord
      whoever has the role 200000000000000002 in home (admin, approver), on discord
      whoever has the role administrator in -100 (operator), on telegram
    ");
    assert!(!can("administer").contains("whoever"), "a role of a platform alone administers nothing");
}

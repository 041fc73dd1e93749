//! What approvals take by the access file: which entries fit, how several add up, what is refused, and that a label which was
//! found on a target restricts who decides and permits nobody.

use countersign_core::approval::Terms;
use countersign_core::port::TermsAbout;

use super::*;

/// The fixture with these entries.
fn with(entries: &str) -> Access {
    let file = ("access.toml".to_owned(), format!("{FILE}{entries}"));
    Access::new(Some(&file), &[], None).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(entries: &str) -> String {
    let file = ("access.toml".to_owned(), format!("{FILE}{entries}"));
    let before = FILE.lines().count();
    let error = Access::new(Some(&file), &[], None).map(drop).expect_err(entries);
    format!("line {}: {}", error.line.expect("a line") - before, error.problem)
}

fn terms(access: &dyn Rights, risk: Risk, target: &str, labels: &[&str], tool: &str) -> Terms {
    let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
    let target = target.parse().expect("an id");
    access.terms(&TermsAbout { risk, target: &target, labels: &labels, tool })
}

#[test]
fn every_matcher_that_is_given_must_fit() {
    let rows = [
        ("", "host:web-1", &[][..], true),
        ("risk = [\"high\"]", "host:web-1", &[], true),
        ("risk = [\"low\", \"medium\"]", "host:web-1", &[], false),
        ("environments = [\"production\"]", "host:web-1", &[], true),
        ("environments = [\"staging\", \"lab\"]", "host:web-1", &[], false),
        ("environments = [\"staging\"]", "host:stage-1", &[], true),
        ("labels = [\"shop\"]", "host:web-1", &[], true),
        ("labels = [\"shop\"]", "host:db-1", &[], false),
        ("labels = [\"tier=*\"]", "host:db-1", &["tier=gold"], true),
        ("kinds = [\"host\"]", "host:web-1", &[], true),
        ("kinds = [\"host\"]", "service:web-1:nginx", &[], false),
        ("ids = [\"service:*:nginx\"]", "service:web-1:nginx", &[], true),
        ("ids = [\"service:*:nginx\"]", "service:web-1:mysql", &[], false),
        ("tools = [\"lab.*\"]", "host:web-1", &[], true),
        ("tools = [\"other.act\"]", "host:web-1", &[], false),
        ("risk = [\"high\"]\nkinds = [\"service\"]", "host:web-1", &[], false),
    ];
    for (matchers, target, labels, expected) in rows {
        let access = with(&format!("[[approvals]]\n{matchers}\nquorum = 2\n"));
        let quorum = terms(&access, Risk::High, target, labels, "lab.act").quorum.get();
        assert_eq!(quorum, if expected { 2 } else { 1 }, "{matchers} {target}");
    }
}

#[test]
fn what_was_found_makes_terms_stricter_and_never_looser() {
    // By its id it is in production, by what was found in staging: both entries count.
    let access = with(
        "[[approvals]]\nenvironments = [\"staging\"]\nexpires_minutes = 60\n\
         [[approvals]]\nenvironments = [\"production\"]\nquorum = 2\nexpires_minutes = 10\n",
    );
    let found = terms(&access, Risk::Low, "host:web-1", &["env=staging"], "lab.act");
    assert_eq!((found.quorum.get(), found.expires_ms), (2, Some(600_000)));
}

#[test]
fn several_entries_add_up_to_the_strictest_of_each() {
    let access = with(
        "[[approvals]]\nquorum = 2\nremind_minutes = 9\n\
         [[approvals]]\nrisk = [\"high\"]\ngroup = \"ops\"\nexpires_minutes = 10\nremind_minutes = 4\n\
         escalate = [{ after_minutes = 5, group = \"everyone\" }]\n\
         [[approvals]]\nkinds = [\"host\"]\ngroup = \"night-shift\"\n",
    );
    let both = terms(&access, Risk::High, "host:web-1", &[], "lab.act");
    insta::assert_snapshot!(serde_json::to_string_pretty(&both).expect("plain data"), @r#"
    {
      "quorum": 2,
      "circles": [
        {
          "group": "night-shift"
        },
        {
          "group": "ops",
          "escalate": [
            {
              "after_ms": 300000,
              "group": "everyone"
            }
          ]
        }
      ],
      "expires_ms": 600000,
      "remind_ms": 240000
    }
    "#);
    assert_eq!(terms(&super::access(), Risk::High, "host:web-1", &[], "lab.act"), Terms::default());
}

#[test]
fn groups_are_those_of_the_file_also_through_groups() {
    let access = access();
    let here = room("discord", "ops");
    let is_in = |id: &str, group: &str| access.is_in(&Asker::at(&human(id), &here), group);
    assert!(is_in(GIL, "night-shift") && is_in(GIL, "ops") && is_in(GIL, "everyone"));
    assert!(!is_in(VERA, "everyone") && !is_in(GIL, "sre") && !is_in("999999999999999999", "ops"));
    assert!(!access.is_in(&Asker::at(&actor(GIL, ActorKind::Bot), &here), "ops"), "a bot is nobody");
}

#[test]
fn a_running_bot_asks_the_file_that_is_in_use() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("access.toml");
    std::fs::write(&file, format!("{FILE}[[approvals]]\nquorum = 3\n")).expect("it can be written");
    let live = LiveAccess::open(Sources { file: Some(file), policies: None, ..Sources::default() }, None)
        .expect("it is sound");
    assert_eq!(terms(&live, Risk::Low, "host:web-1", &[], "lab.act").quorum.get(), 3);
    assert!(live.is_in(&Asker::at(&human(GIL), &room("discord", "ops")), "ops"));
}

#[test]
fn a_label_that_was_found_may_forbid_a_decision_and_never_permit_it() {
    let decides = |policy: &str, labels: &[&str]| {
        let access = access_with(&[("own.cedar", policy)]);
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let on = "host:web-1".parse().expect("an id");
        let right = Right::Decide { risk: Risk::High, on, is_requester: false, labels };
        let may = |id: &str| access.may(&Asker::at(&human(id), &room("discord", "ops")), &right);
        (may("100000000000000003"), may(VERA))
    };
    let forbids = "forbid (principal, action == Action::\"decide\", resource)\n\
                   when { resource.labels.contains(\"frozen=yes\") };";
    assert_eq!(decides(forbids, &[]), (true, false));
    assert_eq!(decides(forbids, &["frozen=yes"]), (false, false));
    let permits = "permit (principal, action == Action::\"decide\", resource)\n\
                   when { resource.labels.contains(\"frozen=yes\") };";
    assert_eq!(decides(permits, &["frozen=yes"]), (true, false));
}

#[test]
fn an_entry_that_cannot_be_meant_is_refused() {
    let entry = |text: &str| refused(&format!("[[approvals]]\n{text}\n"));
    let said = [
        entry("environments = [\"moon\"]\nquorum = 2"),
        entry("risk = [\"huge\"]\nquorum = 2"),
        entry("risk = [\"high\"]"),
        entry("risk = [\"high\"]\nquorum = 0"),
        entry("quorum = 7"),
        entry("group = \"ops\"\nquorum = 2"),
        entry("group = \"opps\""),
        entry("expires_minutes = 0"),
        entry("expires_minutes = 5\nremind_minutes = 5"),
        entry("escalate = [{ after_minutes = 5, group = \"ops\" }]"),
        entry("group = \"ops\"\nescalate = [{ after_minutes = 5, group = \"leads\" }]"),
        entry(
            "group = \"ops\"\nescalate = [\n{ after_minutes = 5, group = \"ops\" },\n{ after_minutes = 5, group = \"ops\" }]",
        ),
        entry("group = \"ops\"\nexpires_minutes = 5\nescalate = [{ after_minutes = 5, group = \"everyone\" }]"),
        entry("group = \"ops\"\nescalate = [{ after_minutes = 0, group = \"everyone\" }]"),
        entry("quorums = 2"),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    line 2: `moon` is no environment of this file (lab, production, staging)
    line 2: unknown variant `huge`, expected one of `low`, `medium`, `high`
    line 1: this entry asks for nothing; give quorum, group, expires_minutes or remind_minutes
    line 3: nothing is approved by nobody; give a quorum of at least 1
    line 2: a quorum of 7 can never be reached by the people of this file (6)
    line 3: a quorum of 2 can never be reached by the people of group `ops` (1)
    line 2: `opps` is no group of this file; did you mean `ops`?
    line 2: 0 minutes; give at least 1
    line 3: nobody is reminded of what has expired; give fewer minutes
    line 2: an escalation asks a group beside another one; give `group`, too
    line 3: `leads` is no group of this file
    line 5: an escalation comes after at least 1 minute, and later than the one before it
    line 4: nobody is asked about what has expired; give fewer minutes
    line 3: an escalation comes after at least 1 minute, and later than the one before it
    line 2: unknown field `quorums`, expected one of `risk`, `environments`, `labels`, `kinds`, `ids`, `tools`, `quorum`, `group`, `expires_minutes`, `remind_minutes`, `escalate`
    "#);
}

#[test]
fn the_example_of_an_access_file_is_sound_and_has_every_table() {
    let text = include_str!("../../../config/access/example.toml");
    let access = Access::new(Some(&("example.toml".to_owned(), text.to_owned())), &[], None).expect("it is sound");
    assert_eq!(access.counts(), (3, 1, 0));
    for table in ["people", "groups", "services", "platform_roles", "environments", "resources", "rooms", "approvals"] {
        assert!(text.contains(&format!("\n[[{table}]]\n")), "[[{table}]] is not shown");
    }
}

//! However accounts are linked, unlinked and used, one human never counts as two, and never countersigns what they asked for
//! themselves. Through the real access file and the core's own step: one administrator does whatever helps, the others say
//! only what is true.

use std::collections::BTreeSet;

use countersign_core::approval::{Filed, PlanState};
use proptest::prelude::*;

use super::identity::Club;

/// Four people with one account each in the file. Two of them administer.
const FILE: &str = r#"
[[people]]
name = "mal"
accounts = ["telegram:1"]
roles = ["admin", "operator", "approver"]
[[people]]
name = "bea"
accounts = ["telegram:2"]
roles = ["admin", "operator", "approver"]
[[people]]
name = "cid"
accounts = ["telegram:3"]
roles = ["operator", "approver"]
[[people]]
name = "dan"
accounts = ["telegram:4"]
roles = ["operator"]
"#;

const NAMES: [&str; 4] = ["mal", "bea", "cid", "dan"];

/// The accounts and the human who holds each: those of the file first.
const HELD: [(&str, usize); 9] =
    [("1", 0), ("2", 1), ("3", 2), ("4", 3), ("11", 0), ("12", 0), ("13", 0), ("14", 1), ("15", 2)];

/// What one of the accounts does.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// An account was made somebody's by the first one alone, as was possible once.
    Old { person: usize, account: usize },
    /// It says that an account is somebody's.
    Link { from: usize, person: usize, account: usize },
    /// It takes that back.
    Unlink { from: usize, account: usize },
    /// It is shown a code, and the other types it.
    Code { from: usize, to: usize },
    /// It asks for a change.
    Ask { from: usize },
    /// It approves the change that was asked for last.
    Approve { from: usize },
    /// A day and more goes by.
    Later,
}

fn op() -> impl Strategy<Value = Op> {
    let account = 0..HELD.len();
    prop_oneof![
        4 => (account.clone(), 0..NAMES.len(), account.clone())
            .prop_map(|(from, person, account)| Op::Link { from, person, account }),
        2 => (0..NAMES.len(), account.clone()).prop_map(|(person, account)| Op::Old { person, account }),
        1 => (account.clone(), account.clone()).prop_map(|(from, account)| Op::Unlink { from, account }),
        2 => (account.clone(), account.clone()).prop_map(|(from, to)| Op::Code { from, to }),
        3 => account.clone().prop_map(|from| Op::Ask { from }),
        6 => account.prop_map(|from| Op::Approve { from }),
        1 => Just(Op::Later),
    ]
}

fn human(account: usize) -> usize {
    HELD[account].1
}

/// Whether it may be done: only the first one lies.
fn is_honest(op: Op) -> bool {
    match op {
        Op::Link { from, person, account } => human(from) == 0 || human(account) == person,
        Op::Unlink { from, .. } => human(from) == 0,
        Op::Code { from, to } => human(from) == human(to),
        Op::Old { account, .. } => human(account) == 0,
        Op::Ask { .. } | Op::Approve { .. } | Op::Later => true,
    }
}

fn act(club: &mut Club, op: Op) {
    let id = |account: usize| HELD[account].0;
    match op {
        Op::Old { person, account } => club.was_linked("mal", NAMES[person], &format!("telegram:{}", id(account))),
        Op::Link { from, person, account } => {
            drop(club.hears("telegram", id(from), &format!("link {} telegram:{}", NAMES[person], id(account))));
        }
        Op::Unlink { from, account } => {
            drop(club.hears("telegram", id(from), &format!("unlink telegram:{}", id(account))));
        }
        Op::Code { from, to } => {
            let said = club.alone("telegram", id(from), "link").said;
            let code = said.split("`link ").nth(1).and_then(|rest| rest.split('`').next());
            if let Some(code) = code.filter(|code| code.len() == 11) {
                drop(club.hears("telegram", id(to), &format!("link {code}")));
            }
        }
        Op::Ask { from } => drop(club.hears("telegram", id(from), "restart nginx")),
        Op::Approve { from } => {
            if let Some(plan) = club.world.files.rows.keys().next_back().cloned() {
                let click = club.click("telegram", id(from), &plan);
                drop(club.world.hear(click));
            }
        }
        Op::Later => club.world.pass(25 * 60 * 60 * 1000),
    }
}

/// The humans who countersigned, without the one who asked.
fn others(filed: &Filed) -> BTreeSet<usize> {
    let human = |id: &str| HELD.iter().find(|(account, _)| *account == id).map(|(_, human)| *human);
    let asked = human(filed.frozen.plan().requester.id.as_str());
    let voted = filed.standing.votes.iter().filter_map(|vote| human(vote.by.id.as_str()));
    voted.filter(|voter| Some(*voter) != asked).collect()
}

fn is_approved(state: PlanState) -> bool {
    match state {
        PlanState::Pending | PlanState::Denied | PlanState::Expired | PlanState::Cancelled => false,
        PlanState::Approved
        | PlanState::Executing
        | PlanState::Unverified
        | PlanState::Unknown
        | PlanState::Verified(_)
        | PlanState::Refused(_)
        | PlanState::Failed => true,
    }
}

/// Returns how many changes were approved.
fn run(quorum: usize, ops: &[Op]) -> usize {
    let mut club = Club::new(&format!("{FILE}[[approvals]]\nquorum = {quorum}\n"));
    for (n, op) in ops.iter().enumerate().filter(|(_, op)| is_honest(**op)) {
        act(&mut club, *op);
        for filed in club.world.files.rows.values().filter(|filed| is_approved(filed.state())) {
            let others = others(filed);
            assert!(others.len() >= quorum, "{others:?} of {quorum} after {:?}", &ops[..=n]);
        }
    }
    club.world.files.rows.values().filter(|filed| is_approved(filed.state())).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_human_never_counts_as_two(quorum in 1..=2_usize, ops in prop::collection::vec(op(), 1..40)) {
        run(quorum, &ops);
    }
}

/// Without this the property would hold for a bot that approves nothing.
#[test]
fn two_humans_count_as_two() {
    let (ask, later) = (Op::Ask { from: 0 }, Op::Later);
    assert_eq!(run(1, &[ask, Op::Approve { from: 1 }]), 1);
    assert_eq!(run(2, &[ask, Op::Approve { from: 1 }, Op::Approve { from: 2 }]), 1);
    // An account that its person was given and confirmed counts as theirs.
    let given = [Op::Link { from: 0, person: 1, account: 7 }, Op::Link { from: 1, person: 1, account: 7 }];
    assert_eq!(run(1, &[given.as_slice(), &[ask, Op::Approve { from: 7 }]].concat()), 1);
    // One that two administrators gave counts a day later, where neither has a part in it.
    let given = [Op::Link { from: 0, person: 2, account: 8 }, Op::Link { from: 1, person: 2, account: 8 }];
    for (way, expected) in [
        (vec![Op::Ask { from: 3 }, Op::Approve { from: 8 }], 0),
        (vec![later, Op::Ask { from: 3 }, Op::Approve { from: 8 }], 1),
        (vec![later, ask, Op::Approve { from: 8 }], 0),
    ] {
        assert_eq!(run(1, &[given.as_slice(), &way].concat()), expected, "{way:?}");
    }
}

/// What an attacker did: a second account as somebody else's, and more by that one. Also where the first was linked when one
/// administrator was enough.
#[test]
fn an_administrator_is_one_person() {
    let give = |from, person, account| Op::Link { from, person, account };
    let (ask, later) = (Op::Ask { from: 0 }, Op::Later);
    for first in [give(0, 1, 4), Op::Old { person: 1, account: 4 }] {
        for more in [
            vec![later, ask, Op::Approve { from: 4 }],
            vec![ask, Op::Approve { from: 4 }],
            vec![give(4, 1, 4), later, ask, Op::Approve { from: 4 }],
            vec![give(0, 2, 5), give(4, 2, 5), later, ask, Op::Approve { from: 5 }],
            vec![Op::Code { from: 4, to: 5 }, later, ask, Op::Approve { from: 5 }],
            vec![later, Op::Ask { from: 4 }, Op::Approve { from: 0 }],
        ] {
            assert_eq!(run(1, &[vec![first], more.clone()].concat()), 0, "{first:?} {more:?}");
        }
        let quorum = [first, later, Op::Ask { from: 3 }, Op::Approve { from: 0 }, Op::Approve { from: 4 }];
        assert_eq!(run(2, &quorum), 0, "{first:?}");
    }
}

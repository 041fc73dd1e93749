//! However accounts are linked, unlinked and used, one human never counts as two, and never countersigns what they asked for
//! themselves. Through the real access file and the core's own step: one administrator does whatever helps, the others say
//! only what is true.

use std::collections::BTreeSet;

use countersign_core::approval::{Filed, PlanState};
use proptest::prelude::*;

use super::identity::Club;

/// Four people with one account each in the file, in groups of groups. Two of them administer.
const NAMES: [&str; 4] = ["mal", "bea", "cid", "dan"];

/// Who is called otherwise in the file by now.
type Renamed = [bool; NAMES.len()];

/// What the file calls somebody.
fn name(person: usize, renamed: Renamed) -> String {
    if renamed[person] { format!("{}-new", NAMES[person]) } else { NAMES[person].to_owned() }
}

/// The file with this entry of approvals.
fn file(renamed: Renamed, approvals: &str) -> String {
    let [mal, bea, cid, dan] = std::array::from_fn(|person| name(person, renamed));
    let people = [&mal, &bea, &cid, &dan].into_iter().enumerate();
    let people =
        people.map(|(n, name)| format!("[[people]]\nname = \"{name}\"\naccounts = [\"telegram:{}\"]\n", n + 1));
    let groups = format!(
        "[[groups]]\nname = \"all\"\nmembers = [\"seniors\", \"{dan}\"]\nroles = [\"operator\"]\n\
         [[groups]]\nname = \"seniors\"\nmembers = [\"heads\", \"{cid}\", \"{bea}\"]\nroles = [\"approver\"]\n\
         [[groups]]\nname = \"heads\"\nmembers = [\"{mal}\", \"{bea}\"]\nroles = [\"admin\"]\n"
    );
    format!("{}{groups}[[approvals]]\n{approvals}\n", people.collect::<String>())
}

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
    /// It calls itself as somebody else is called.
    CallItself { account: usize, person: usize },
    /// The file calls somebody otherwise, or as before.
    Rename { person: usize },
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
        6 => account.clone().prop_map(|from| Op::Approve { from }),
        1 => (account.clone(), 0..NAMES.len()).prop_map(|(account, person)| Op::CallItself { account, person }),
        1 => (0..NAMES.len()).prop_map(|person| Op::Rename { person }),
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
        Op::CallItself { .. } | Op::Rename { .. } | Op::Ask { .. } | Op::Approve { .. } | Op::Later => true,
    }
}

/// The people and their file.
struct Town {
    club: Club,
    renamed: Renamed,
    approvals: String,
}

fn act(Town { club, renamed, approvals }: &mut Town, op: Op) {
    let id = |account: usize| HELD[account].0;
    match op {
        Op::Old { person, account } => {
            club.was_linked(&name(0, *renamed), &name(person, *renamed), &format!("telegram:{}", id(account)));
        }
        Op::Link { from, person, account } => {
            drop(club.hears(
                "telegram",
                id(from),
                &format!("link {} telegram:{}", name(person, *renamed), id(account)),
            ));
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
        Op::CallItself { account, person } => {
            club.displays.insert(id(account).to_owned(), name(person, *renamed));
        }
        Op::Rename { person } => {
            renamed[person] = !renamed[person];
            club.rewrite(&file(*renamed, approvals));
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
    run_with(quorum, "", ops)
}

/// With more in the entry of approvals.
fn run_with(quorum: usize, more: &str, ops: &[Op]) -> usize {
    let (renamed, approvals) = (Renamed::default(), format!("quorum = {quorum}\n{more}"));
    let mut town = Town { club: Club::new(&file(renamed, &approvals)), renamed, approvals };
    for (n, op) in ops.iter().enumerate().filter(|(_, op)| is_honest(**op)) {
        act(&mut town, *op);
        for filed in town.club.world.files.rows.values().filter(|filed| is_approved(filed.state())) {
            let others = others(filed);
            assert!(others.len() >= quorum, "{others:?} of {quorum} after {:?}", &ops[..=n]);
        }
    }
    town.club.world.files.rows.values().filter(|filed| is_approved(filed.state())).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_human_never_counts_as_two(
        quorum in 1..=2_usize,
        more in prop_oneof![Just(""), Just("group = \"seniors\"")],
        ops in prop::collection::vec(op(), 1..40),
    ) {
        run_with(quorum, more, &ops);
    }
}

/// Without this the property would hold for a bot that approves nothing.
#[test]
fn two_humans_count_as_two() {
    let (ask, later) = (Op::Ask { from: 0 }, Op::Later);
    assert_eq!(run(1, &[ask, Op::Approve { from: 1 }]), 1);
    assert_eq!(run(2, &[ask, Op::Approve { from: 1 }, Op::Approve { from: 2 }]), 1);
    // Whoever is called otherwise is who they were, and members of groups in groups count.
    let (renamed, group) = (Op::Rename { person: 1 }, "group = \"seniors\"");
    assert_eq!(run_with(2, group, &[ask, Op::Approve { from: 1 }, Op::Approve { from: 2 }]), 1);
    assert_eq!(run_with(2, group, &[ask, renamed, Op::Approve { from: 1 }, Op::Approve { from: 2 }]), 1);
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

/// Found by the property: a person who is called otherwise since they linked an account was another person than its linker.
#[test]
fn who_is_called_otherwise_since_is_no_further_person_for_an_account_they_linked() {
    let ops =
        [Op::Old { person: 1, account: 4 }, Op::Rename { person: 0 }, Op::Ask { from: 4 }, Op::Approve { from: 0 }];
    assert_eq!(run(1, &ops), 0);
    let after =
        [Op::Old { person: 1, account: 4 }, Op::Ask { from: 4 }, Op::Rename { person: 0 }, Op::Approve { from: 0 }];
    assert_eq!(run(1, &after), 0);
    assert_eq!(
        run(1, &[Op::Rename { person: 0 }, Op::Ask { from: 3 }, Op::Approve { from: 0 }]),
        1,
        "a new name alone is no reason"
    );
}

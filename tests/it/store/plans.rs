//! Plans in the store: filed once, moved by compare-and-set, one write in flight per target, and what many tasks at once
//! make of it. On both engines.

use std::sync::Arc;

use countersign::store::{Committed, Ending, OpenPlans, PlanChange, PlansLeft, StepRecord, Store};
use countersign_core::approval::{
    Decided, Desk, Expectation, Filed, Frozen, Move, Outcome, Plan, PlanId, PlanState, Risk, Standing, Terms,
};
use countersign_core::envelope::Code;
use countersign_core::port::Lane;
use countersign_core::resource::ResourceId;
use countersign_core::signal::{ConversationKind, Mono, Now, Platform, SignalId, Wall};
use tokio::time::Instant;

use super::{Bed, Case, accepted, counts, did, on_postgres, on_sqlite, post, raw, signal, step, thread, waiting_ids};

const CASES: &[(&str, Case)] = cases![
    a_plan_is_filed_once_and_comes_back_as_it_was,
    every_state_comes_back_as_it_was,
    a_move_changes_one_row_or_nothing,
    a_step_with_moves_twice_changes_nothing,
    a_target_is_held_by_one_plan,
    a_broken_plan_is_named_and_stops_no_other,
    an_undecided_plan_is_never_carried_out,
    many_plans_for_one_target_and_one_holds_it,
];

/// How many plans are fought for, and by how many tasks each.
const RACES: u32 = 1000;
const RACERS: u32 = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_plans_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_plans_holds_on_postgres() {
    on_postgres(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_approvals_is_done_on_sqlite() {
    on_sqlite(cases![many_approvals_of_one_plan_and_one_is_done]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_approvals_is_done_on_postgres() {
    on_postgres(cases![many_approvals_of_one_plan_and_one_is_done]).await;
}

pub(super) fn plan(n: u128, target: &str) -> Filed {
    let key = thread("main");
    let plan = Plan {
        form: 1,
        id: PlanId::from_random(n),
        signal: SignalId::new("s-1"),
        event: None,
        requester: signal("s-1", key.clone(), 1).actor,
        requester_person: String::new(),
        requester_roles: Vec::new(),
        room: ConversationKind::Group,
        thread: key,
        tool: "host_process".to_owned(),
        action: "stop".to_owned(),
        target: target.parse().expect("a canonical id"),
        labels: Vec::new(),
        environment: None,
        deciders: None,
        target_about: String::new(),
        target_name: "sleep".to_owned(),
        args: serde_json::Map::new(),
        title: "stop process sleep (pid 4711)".to_owned(),
        because: "asked by Ada: stop \"sleep\"".to_owned(),
        risk: Risk::Medium,
        risk_because: None,
        tainted: false,
        before: [("started".to_owned(), "5512345".to_owned())].into(),
        expect: Expectation { absent: true, ..Expectation::default() },
        preview: None,
        limit_ms: 5000,
        alone: true,
        terms: Terms::default(),
        requested_at: Wall(i64::try_from(n % 1_000_000).expect("small")),
        expires_at: Wall(9_000_000),
    };
    Filed { frozen: Frozen::freeze(plan), standing: Standing::new() }
}

fn decided(reason: &str) -> Decided {
    Decided {
        unasked: None,
        platform: Platform::new("console"),
        by: signal("s-1", thread("main"), 1).actor,
        signal: SignalId::new("s-1"),
        at: Wall(7),
        waiver: true,
        unsealed: true,
        reason: reason.to_owned(),
    }
}

pub(super) fn file(filed: &Filed) -> PlanChange {
    PlanChange::File(Box::new(filed.clone()))
}

pub(super) fn change(id: &str, moved: &Move) -> PlanChange {
    PlanChange::Move { id: id.to_owned(), moved: Box::new(moved.clone()) }
}

/// Time stands still here.
const NOW: Now = Now { wall: Wall(1), mono: Mono(1), seed: 0 };

/// A move as the core makes it.
pub(super) fn shifted(desk: &mut Desk, id: &PlanId, to: PlanState) -> Move {
    desk.shift(id, to, NOW, |standing| standing.decided = Some(decided(""))).expect("the table allows it")
}

pub(super) fn desk_with(filed: &Filed) -> Desk {
    let mut desk = Desk::default();
    desk.put(filed.clone(), NOW);
    desk
}

pub(super) fn changing(signal: &str, plans: Vec<PlanChange>) -> StepRecord {
    StepRecord { plans, ..step(signal, 5, Vec::new()) }
}

async fn commit(bed: &Bed, plans: Vec<PlanChange>) -> Committed {
    bed.store.commit(&changing("s-1", plans)).await.expect("the database works")
}

async fn stands(bed: &Bed, filed: &Filed) -> Filed {
    bed.store.plan(filed.id()).await.expect("readable").expect("it is filed")
}

async fn open(bed: &Bed) -> OpenPlans {
    bed.store.open_plans(&thread("main")).await.expect("readable")
}

async fn a_plan_is_filed_once_and_comes_back_as_it_was(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (first, second) = (plan(1, "host:web-1"), plan(2, "host:web-2"));
    assert_eq!(bed.store.threads_with_open_plans().await.expect("readable"), []);
    assert_eq!(bed.store.plan(first.id()).await.expect("readable"), None);
    assert_eq!(commit(&bed, vec![file(&second), file(&first)]).await, Committed::Done);
    assert_eq!(commit(&bed, vec![file(&first)]).await, Committed::Done, "the same again changes nothing");
    assert_eq!(stands(&bed, &first).await, first);
    assert_eq!(open(&bed).await, OpenPlans { filed: vec![first.clone(), second], broken: Vec::new() });
    assert_eq!(bed.store.open_plans(&thread("other")).await.expect("readable"), OpenPlans::default());
    assert_eq!(bed.store.threads_with_open_plans().await.expect("readable"), [thread("main")]);
    // Another content under the same id is refused with the whole step.
    let other = Filed { frozen: plan(1, "host:web-3").frozen, standing: Standing::new() };
    let audit = vec![did("a-1", 5)];
    let error = bed.store.commit(&StepRecord { audit, ..changing("s-1", vec![file(&other)]) }).await;
    let error = error.expect_err("a plan never changes").to_string();
    insta::allow_duplicates! {
        insta::assert_snapshot!(error, @"plan 00000000000000000000000000000001 is filed already with another content; a changed plan needs an id of its own");
    }
    assert_eq!((stands(&bed, &first).await, counts(&bed).await.audit), (first, 0));
    let unknown = shifted(&mut desk_with(&plan(9, "host:web-9")), &PlanId::from_random(9), PlanState::Approved);
    let error = bed.store.commit(&changing("s-1", vec![change("m-1", &unknown)])).await;
    let error = error.expect_err("it was never filed").to_string();
    insta::allow_duplicates! {
        insta::assert_snapshot!(error, @"plan 00000000000000000000000000000009 is not in the store; file it before it is moved");
    }
}

async fn every_state_comes_back_as_it_was(bed: Bed) {
    use PlanState::{Approved, Cancelled, Denied, Executing, Expired, Failed, Refused, Unknown, Unverified, Verified};
    accepted(&bed, "s-1", "main", 1).await;
    let mut paths: Vec<Vec<PlanState>> = vec![
        vec![],
        vec![Approved],
        vec![Denied],
        vec![Expired],
        vec![Cancelled],
        vec![Approved, Executing],
        vec![Approved, Executing, Failed],
        vec![Approved, Executing, Unverified, Unverified],
        vec![Approved, Executing, Unknown, Unknown, Verified(Outcome::Differs)],
    ];
    paths.extend(Outcome::ALL.map(|outcome| vec![Approved, Executing, Unverified, Verified(outcome)]));
    paths.extend(Code::ALL.map(|code| vec![Approved, Refused(code)]));
    for (n, path) in (1..).zip(paths) {
        let filed = plan(n, &format!("host:web-{n}"));
        let mut desk = desk_with(&filed);
        assert_eq!(commit(&bed, vec![file(&filed)]).await, Committed::Done);
        for (step, to) in path.into_iter().enumerate() {
            let looks = u32::try_from(step).expect("few");
            let moved = desk.shift(filed.id(), to, NOW, |standing| {
                standing.decided = Some(decided("because of 'it' \u{1f980}"));
                (standing.over_at, standing.next_look) = (Some(Wall(-7)), Some(Wall(i64::MAX)));
                standing.looks = looks;
            });
            let moved = moved.expect("the table allows it");
            assert_eq!(commit(&bed, vec![change(&format!("m-{n}-{step}"), &moved)]).await, Committed::Done);
        }
        let known = desk.get(filed.id()).expect("it is on the desk");
        assert_eq!(stands(&bed, &filed).await, *known);
        // What the index calls open is what the core calls open.
        let is_open = open(&bed).await.filed.iter().any(|open| open.id() == filed.id());
        assert_eq!(is_open, known.state().is_open(), "{:?}", known.state());
    }
    // PENDING and APPROVED wait; of UNVERIFIED and EXECUTING nobody knows the outcome yet.
    assert_eq!(bed.store.plans_left().await.expect("readable"), PlansLeft { to_decide: 2, not_known: 2 });
}

async fn a_move_changes_one_row_or_nothing(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let filed = plan(1, "host:web-1");
    commit(&bed, vec![file(&filed)]).await;
    let approve = shifted(&mut desk_with(&filed), filed.id(), PlanState::Approved);
    let deny = shifted(&mut desk_with(&filed), filed.id(), PlanState::Denied);
    assert_eq!(commit(&bed, vec![change("m-1", &approve)]).await, Committed::Done);
    let approved = Filed { standing: approve.to.clone(), ..filed.clone() };
    assert_eq!(stands(&bed, &filed).await, approved);
    // Everything else of a step that lost is dropped with it.
    let other = plan(2, "host:web-2");
    let lost = StepRecord {
        audit: vec![did("a-1", 5)],
        posts: vec![post("p-1", 0, thread("main"), Lane::Answer)],
        ending: Some(Ending::Answered),
        ..changing("s-1", vec![file(&other), change("m-2", &deny)])
    };
    let before = counts(&bed).await;
    assert_eq!(bed.store.commit(&lost).await.expect("no error"), Committed::Lost(Box::new(approved.clone())));
    assert_eq!((counts(&bed).await, stands(&bed, &filed).await), (before, approved.clone()));
    assert_eq!(bed.store.plan(other.id()).await.expect("readable"), None);
    // The state is right and the version is not, and the other way round.
    let old = Move { version: 0, ..shifted(&mut desk_with(&approved), filed.id(), PlanState::Expired) };
    assert_eq!(commit(&bed, vec![change("m-3", &old)]).await, Committed::Lost(Box::new(approved.clone())));
    let other_state = Move { from: PlanState::Pending, version: 1, ..approve };
    assert_eq!(commit(&bed, vec![change("m-4", &other_state)]).await, Committed::Lost(Box::new(approved)));
}

async fn a_step_with_moves_twice_changes_nothing(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let filed = plan(1, "host:web-1");
    let mut desk = desk_with(&filed);
    let approve = shifted(&mut desk, filed.id(), PlanState::Approved);
    let begin = shifted(&mut desk, filed.id(), PlanState::Executing);
    let whole = StepRecord {
        audit: vec![did("a-1", 5)],
        posts: vec![post("p-1", 0, thread("main"), Lane::Decision)],
        ending: Some(Ending::Answered),
        // Two moves of one plan: only the last one leaves its id in the row.
        ..changing("s-1", vec![file(&filed), change("m-1", &approve), change("m-2", &begin)])
    };
    let state = async || {
        (counts(&bed).await, waiting_ids(&bed).await, open(&bed).await, bed.store.audit_head().await.expect("readable"))
    };
    assert_eq!(bed.store.commit(&whole).await.expect("no error"), Committed::Done);
    let before = state().await;
    assert_eq!(bed.store.commit(&whole).await.expect("no error"), Committed::Done);
    assert_eq!(state().await, before);
    assert_eq!(stands(&bed, &filed).await.standing.version, 2);
    // The same ending with anything new in the step is a second ending.
    let more = StepRecord { audit: vec![did("a-1", 5), did("a-2", 5)], ..whole.clone() };
    let error = bed.store.commit(&more).await.expect_err("it has ended").to_string();
    assert_eq!(error, "signal s-1 has ended already; it ends only once");
    assert_eq!(state().await, before);
    // Once the plan has moved on, the old step is lost and changes nothing.
    let on = shifted(&mut desk, filed.id(), PlanState::Unverified);
    assert_eq!(commit(&bed, vec![change("m-3", &on)]).await, Committed::Done);
    assert!(matches!(bed.store.commit(&whole).await.expect("no error"), Committed::Lost(_)));
    assert_eq!(stands(&bed, &filed).await.state(), PlanState::Unverified);
}

async fn a_target_is_held_by_one_plan(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (first, second) = (plan(1, "host:web-1"), plan(2, "host:web-1"));
    let (mut one, mut two) = (desk_with(&first), desk_with(&second));
    let approve =
        [shifted(&mut one, first.id(), PlanState::Approved), shifted(&mut two, second.id(), PlanState::Approved)];
    let filed = vec![file(&first), file(&second), change("m-1", &approve[0]), change("m-2", &approve[1])];
    assert_eq!(commit(&bed, filed).await, Committed::Done);
    let waiting = stands(&bed, &second).await;
    let mut begin = shifted(&mut two, second.id(), PlanState::Executing);
    // What the caller says the target is does not count.
    begin.target = "host:web-9".parse::<ResourceId>().expect("an id");
    let held = Committed::Held { filed: Box::new(waiting.clone()), by: first.id().clone() };
    for (n, to) in [PlanState::Executing, PlanState::Unverified, PlanState::Unverified].into_iter().enumerate() {
        let moved = shifted(&mut one, first.id(), to);
        assert_eq!(commit(&bed, vec![change(&format!("n-{n}"), &moved)]).await, Committed::Done);
        assert_eq!(commit(&bed, vec![change("m-3", &begin)]).await, held, "while the first is {}", to.as_str());
        assert_eq!(stands(&bed, &second).await, waiting);
    }
    let verified = shifted(&mut one, first.id(), PlanState::Verified(Outcome::Absent));
    assert_eq!(commit(&bed, vec![change("n-9", &verified)]).await, Committed::Done);
    assert_eq!(commit(&bed, vec![change("m-3", &begin)]).await, Committed::Done);
    // What certainly was not done gives its target back, too.
    let undone = shifted(&mut two, second.id(), PlanState::Failed);
    assert_eq!(commit(&bed, vec![change("m-4", &undone)]).await, Committed::Done);
    let third = plan(3, "host:web-1");
    let mut three = desk_with(&third);
    let approve = shifted(&mut three, third.id(), PlanState::Approved);
    let begin = shifted(&mut three, third.id(), PlanState::Executing);
    let all = vec![file(&third), change("m-5", &approve), change("m-6", &begin)];
    assert_eq!(commit(&bed, all).await, Committed::Done);
}

async fn a_broken_plan_is_named_and_stops_no_other(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (sound, broken) = (plan(1, "host:web-1"), plan(2, "host:web-2"));
    commit(&bed, vec![file(&sound), file(&broken)]).await;
    let set = async |sql: &str| raw(&bed.url, &format!("UPDATE plans SET {sql} WHERE id = '{}'", broken.id())).await;
    let original = broken.frozen.bytes().replace('\'', "''");
    let changes = [
        ("body = REPLACE(body, '4711', '4712')".to_owned(), format!("body = '{original}'")),
        ("target = 'host:web-1'".to_owned(), "target = 'host:web-2'".to_owned()),
        ("looks = 99999999999".to_owned(), "looks = 0".to_owned()),
        ("decided = '{}'".to_owned(), "decided = ''".to_owned()),
        (
            "body = (SELECT body FROM plans WHERE requested_at = 1), \
             digest = (SELECT digest FROM plans WHERE requested_at = 1)"
                .to_owned(),
            format!("body = '{original}', digest = '{}'", broken.frozen.digest().as_str()),
        ),
    ];
    let mut said = Vec::new();
    for (wrong, right) in &changes {
        set(wrong).await;
        said.push(bed.store.plan(broken.id()).await.expect_err("it is not what was filed").to_string());
        let found = open(&bed).await;
        assert_eq!(found.filed.iter().collect::<Vec<_>>(), [&sound]);
        let named: Vec<_> = found.broken.iter().map(|row| (row.id.as_str(), row.problem.as_str())).collect();
        assert_eq!(named, [(broken.id().as_str(), said[said.len() - 1].as_str())]);
        assert_eq!(bed.store.threads_with_open_plans().await.expect("readable"), [thread("main")]);
        set(right).await;
        assert_eq!(stands(&bed, &broken).await, broken);
    }
    let said = said.join("\n").replace("; restore a backup or mend the row", "");
    insta::allow_duplicates! {
        insta::assert_snapshot!(said, @"
        inconsistent data in table plans, column body, row 00000000000000000000000000000002: the plan was changed after it was frozen: its digest is another
        inconsistent data in table plans, column target, row 00000000000000000000000000000002: the plan is for host:web-2
        inconsistent data in table plans, column looks, row 00000000000000000000000000000002: 99999999999 is no count
        inconsistent data in table plans, column decided, row 00000000000000000000000000000002: missing field `platform` at line 1 column 2
        inconsistent data in table plans, column body, row 00000000000000000000000000000002: it is the body of plan 00000000000000000000000000000001
        ");
    }
}

async fn an_undecided_plan_is_never_carried_out(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let filed = plan(1, "host:web-1");
    commit(&bed, vec![file(&filed)]).await;
    let mut moved = shifted(&mut desk_with(&filed), filed.id(), PlanState::Approved);
    moved.to.decided = None;
    let refused = bed.store.commit(&changing("s-1", vec![change("m-1", &moved)])).await;
    assert_eq!(
        refused.expect_err("the database itself refuses it").to_string(),
        "the database failed while moving a plan"
    );
    assert_eq!(stands(&bed, &filed).await, filed);
}

/// Commits all of these at once, from a task each.
async fn at_once(store: &Store, steps: Vec<StepRecord>) -> Vec<Committed> {
    let start = Arc::new(tokio::sync::Barrier::new(steps.len()));
    let racers = steps.into_iter().map(|step| {
        let (store, start) = (store.clone(), Arc::clone(&start));
        tokio::spawn(async move {
            start.wait().await;
            store.commit(&step).await.expect("a lost race is no error")
        })
    });
    let mut ended = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        ended.push(racer.await.expect("no panic"));
    }
    ended
}

async fn many_approvals_of_one_plan_and_one_is_done(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let plans: Vec<Filed> = (1..=RACES).map(|n| plan(u128::from(n), &format!("host:web-{n}"))).collect();
    assert_eq!(commit(&bed, plans.iter().map(file).collect()).await, Committed::Done);
    let begun = Instant::now();
    for filed in &plans {
        let approve = shifted(&mut desk_with(filed), filed.id(), PlanState::Approved);
        let approved = Filed { standing: approve.to.clone(), ..filed.clone() };
        let step = |n| {
            let id = format!("{}-{n}", filed.id());
            StepRecord { audit: vec![did(&id, 5)], ..changing("s-1", vec![change(&id, &approve)]) }
        };
        let ended = at_once(&bed.store, (0..RACERS).map(step).collect()).await;
        assert_eq!(ended.iter().filter(|ended| **ended == Committed::Done).count(), 1);
        let lost = Committed::Lost(Box::new(approved));
        assert_eq!(ended.iter().filter(|ended| **ended == lost).count(), RACERS as usize - 1);
    }
    let took = begun.elapsed();
    // One row for each that was done, and none for those that lost.
    assert_eq!(counts(&bed).await.audit, u64::from(RACES));
    let report = bed.store.verify_audit(None).await.expect("readable");
    assert_eq!((report.problem, report.rows), (None, u64::from(RACES)));
    let engine = bed.url.split(':').next().unwrap_or_default();
    println!("{engine}: {RACES} plans, {RACERS} approvals each: {RACES} done, the others lost, in {took:?}");
}

async fn many_plans_for_one_target_and_one_holds_it(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    for round in 0..20_u128 {
        let target = format!("host:web-{round}");
        let plans: Vec<Filed> = (1..=u128::from(RACERS)).map(|n| plan(round * 100 + n, &target)).collect();
        let mut begins = Vec::new();
        for (n, filed) in plans.iter().enumerate() {
            let mut desk = desk_with(filed);
            let approve = shifted(&mut desk, filed.id(), PlanState::Approved);
            let changes = vec![file(filed), change(&format!("a-{round}-{n}"), &approve)];
            assert_eq!(commit(&bed, changes).await, Committed::Done);
            let begin = shifted(&mut desk, filed.id(), PlanState::Executing);
            begins.push(changing("s-1", vec![change(&format!("b-{round}-{n}"), &begin)]));
        }
        let ended = at_once(&bed.store, begins).await;
        let winner = ended.iter().position(|ended| *ended == Committed::Done).expect("one is done");
        let held = |ended: &&Committed| matches!(ended, Committed::Held { by, .. } if by == plans[winner].id());
        assert_eq!(ended.iter().filter(held).count(), RACERS as usize - 1, "every other one is told who holds it");
        let executing = open(&bed).await.filed.iter().filter(|filed| filed.state().holds_target()).count();
        assert_eq!(executing, usize::try_from(round).expect("small") + 1);
    }
}

//! Votes in the store: added with the move that counts them, read back with their plan, one for each person, and never
//! changed or taken away. On both engines.

use std::num::NonZeroU32;
use std::path::Path;

use countersign::store::{Committed, Ending, PlanChange, StepRecord};
use countersign_core::approval::{Desk, Filed, Frozen, Move, Plan, PlanState, Terms, Vote, Withdrawal};
use countersign_core::signal::{Assurance, ConversationKind, EventId, Mono, Now, Payload, Platform, SignalId, Wall};

use super::plans::{change, changing, desk_with, file, plan, shifted};
use super::{Bed, Case, accepted, on_postgres, on_sqlite, raw, signal, thread};

const CASES: &[(&str, Case)] = cases![
    votes_come_back_in_order_with_their_plan,
    a_person_has_one_vote_for_a_plan,
    a_broken_vote_is_named_and_stops_no_other_plan,
    what_happened_while_it_waited_comes_back,
    a_message_is_found_by_its_event,
    where_work_is_open_is_known,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_votes_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_votes_holds_on_postgres() {
    on_postgres(CASES).await;
}

const NOW: Now = Now { wall: Wall(1), mono: Mono(1), seed: 0 };

pub(super) fn vote(person: &str, account: &str) -> Vote {
    let mut by = signal("s-1", thread("main"), 1).actor;
    by.id = countersign_core::signal::ActorId::new(account);
    Vote {
        platform: Platform::new("console"),
        by,
        person: person.to_owned(),
        roles: vec!["role 'of' \u{1f980}".to_owned()],
        assurance: Assurance::Unsealed,
        room: ConversationKind::Group,
        signal: SignalId::new("s-1"),
        at: Wall(-3),
        waiver: person == "ann",
        unsealed: person == "bob",
    }
}

/// A plan that takes so many people.
pub(super) fn taking(n: u128, people: u32) -> Filed {
    let filed = plan(n, &format!("host:web-{n}"));
    let terms = Terms { quorum: NonZeroU32::new(people).expect("at least one"), ..Terms::default() };
    let planned = Plan { terms, event: Some(EventId::new("e-7")), ..filed.frozen.plan().clone() };
    Filed { frozen: Frozen::freeze(planned), ..filed }
}

pub(super) fn voted(desk: &mut Desk, filed: &Filed, vote: Vote) -> Move {
    let moved = desk.shift(filed.id(), PlanState::Pending, NOW, |standing| standing.votes.push(vote));
    moved.expect("the table allows it")
}

async fn commit(bed: &Bed, plans: Vec<PlanChange>) -> Committed {
    bed.store.commit(&changing("s-1", plans)).await.expect("the database works")
}

async fn votes_come_back_in_order_with_their_plan(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (first, bare, last) = (taking(1, 3), taking(2, 2), taking(3, 2));
    commit(&bed, [&first, &bare, &last].map(file).into()).await;
    let (mut one, mut three) = (desk_with(&first), desk_with(&last));
    let moves = [
        voted(&mut one, &first, vote("carol", "3")),
        voted(&mut one, &first, vote("ann", "1")),
        voted(&mut three, &last, vote("ann", "1")),
    ];
    for (n, moved) in moves.iter().enumerate() {
        let again = change(&format!("m-{n}"), moved);
        assert_eq!(commit(&bed, vec![again.clone()]).await, Committed::Done);
        assert_eq!(commit(&bed, vec![again]).await, Committed::Done, "the same step again adds nothing");
    }
    let known = |desk: &Desk, filed: &Filed| desk.get(filed.id()).expect("on the desk").clone();
    let open = bed.store.open_plans(&thread("main")).await.expect("readable");
    let (first_now, last_now) = (known(&one, &first), known(&three, &last));
    assert_eq!((open.filed, open.broken), (vec![first_now.clone(), bare, last_now], Vec::new()));
    assert_eq!(bed.store.plan(first.id()).await.expect("readable"), Some(first_now));
    // The vote that approves it is one, too; and what comes after leaves them as they are.
    let approve = one.shift(first.id(), PlanState::Approved, NOW, |standing| standing.votes.push(vote("bob", "2")));
    let mut approve = approve.expect("the table allows it");
    approve.to.decided = shifted(&mut desk_with(&first), first.id(), PlanState::Approved).to.decided;
    let begin = Move { from: PlanState::Approved, version: 3, ..approve.clone() };
    let begin =
        Move { to: countersign_core::approval::Standing { state: PlanState::Executing, ..begin.to.clone() }, ..begin };
    assert_eq!(commit(&bed, vec![change("m-8", &approve), change("m-9", &begin)]).await, Committed::Done);
    let stands = bed.store.plan(first.id()).await.expect("readable").expect("filed");
    let people: Vec<&str> = stands.standing.votes.iter().map(|vote| vote.person.as_str()).collect();
    assert_eq!((people, stands.state()), (vec!["carol", "ann", "bob"], PlanState::Executing));
}

async fn a_person_has_one_vote_for_a_plan(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let filed = taking(1, 3);
    commit(&bed, vec![file(&filed)]).await;
    let mut desk = desk_with(&filed);
    let first = voted(&mut desk, &filed, vote("bob", "2"));
    commit(&bed, vec![change("m-1", &first)]).await;
    // By another account, past whatever should have noticed it.
    let second = voted(&mut desk, &filed, vote("bob", "22"));
    let refused = bed.store.commit(&changing("s-1", vec![change("m-2", &second)])).await;
    assert_eq!(
        refused.expect_err("the database itself refuses it").to_string(),
        "the database failed while storing a vote"
    );
    let stands = bed.store.plan(filed.id()).await.expect("readable").expect("filed");
    assert_eq!((stands.standing.version, stands.standing.votes.len()), (1, 1), "nothing of the step is stored");
    // A vote that is stored stays what it is, whatever a later move says of it.
    let mut other = voted(&mut desk_with(&stands), &filed, vote("carol", "3"));
    other.to.votes[0] = vote("mallory", "9");
    commit(&bed, vec![change("m-3", &other)]).await;
    let stands = bed.store.plan(filed.id()).await.expect("readable").expect("filed");
    let people: Vec<&str> = stands.standing.votes.iter().map(|vote| vote.person.as_str()).collect();
    assert_eq!(people, ["bob", "carol"]);
}

async fn a_broken_vote_is_named_and_stops_no_other_plan(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let (sound, broken) = (taking(1, 2), taking(2, 3));
    commit(&bed, vec![file(&sound), file(&broken)]).await;
    let mut desk = desk_with(&broken);
    for (n, person) in ["bob", "carol"].into_iter().enumerate() {
        let moved = voted(&mut desk, &broken, vote(person, &n.to_string()));
        commit(&bed, vec![change(&format!("m-{n}"), &moved)]).await;
    }
    let mut said = Vec::new();
    let changes = [
        ("UPDATE votes SET person = 'eve' WHERE n = 0", "UPDATE votes SET person = 'bob' WHERE n = 0"),
        ("UPDATE votes SET actor = '7' WHERE n = 1", "UPDATE votes SET actor = '1' WHERE n = 1"),
        ("DELETE FROM votes WHERE n = 0", ""),
    ];
    for (wrong, right) in changes {
        raw(&bed.url, wrong).await;
        said.push(bed.store.plan(broken.id()).await.expect_err("it is not what was stored").to_string());
        let open = bed.store.open_plans(&thread("main")).await.expect("readable");
        assert_eq!((open.filed, open.broken.len()), (vec![sound.clone()], 1));
        if !right.is_empty() {
            raw(&bed.url, right).await;
            assert!(bed.store.plan(broken.id()).await.is_ok());
        }
    }
    insta::allow_duplicates! {
        insta::assert_snapshot!(said.join("\n").replace("; restore a backup or mend the row", ""), @"
        inconsistent data in table votes, column body, row 00000000000000000000000000000002: it is the vote of bob by 0
        inconsistent data in table votes, column body, row 00000000000000000000000000000002: it is the vote of carol by 1
        inconsistent data in table votes, column n, row 00000000000000000000000000000002: vote 0 is missing
        ");
    }
}

async fn what_happened_while_it_waited_comes_back(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    for (n, why) in (1..).zip(Withdrawal::ALL) {
        let filed = taking(n, 2);
        let mut desk = desk_with(&filed);
        commit(&bed, vec![file(&filed)]).await;
        let told = desk.shift(filed.id(), PlanState::Pending, NOW, |standing| {
            (standing.reminded, standing.level) = (true, 3);
        });
        let fell = desk.shift(filed.id(), PlanState::Cancelled, NOW, |standing| standing.withdrawn = Some(why));
        let moves = [told, fell].map(|moved| moved.expect("the table allows it"));
        for (step, moved) in moves.iter().enumerate() {
            assert_eq!(commit(&bed, vec![change(&format!("m-{n}-{step}"), moved)]).await, Committed::Done);
            let stands = bed.store.plan(filed.id()).await.expect("readable").expect("filed");
            assert_eq!(stands.standing, moved.to);
        }
    }
}

async fn a_message_is_found_by_its_event(bed: Bed) {
    let (here, elsewhere) = (thread("main"), thread("other"));
    let mut heard = signal("s-1", here.clone(), 1);
    heard.event = EventId::new("e-1");
    bed.store.accept(&heard).await.expect("the database works");
    let mut edit = signal("s-2", here.clone(), 2);
    (edit.event, edit.payload) = (EventId::new("e-2"), Payload::Edited { event: EventId::new("e-1") });
    bed.store.accept(&edit).await.expect("the database works");
    let found =
        async |event: &str| bed.store.thread_of_event(&elsewhere, &EventId::new(event)).await.expect("readable");
    assert_eq!(found("e-1").await, Some(here));
    assert_eq!(found("e-9").await, None);
    let mut other_account = elsewhere.clone();
    other_account.account = countersign_core::signal::AccountId::new("another of ours");
    let mut other_conversation = elsewhere.clone();
    other_conversation.conversation = countersign_core::signal::ConversationId::new("another room");
    for outside in [other_account, other_conversation] {
        assert_eq!(bed.store.thread_of_event(&outside, &EventId::new("e-1")).await.expect("readable"), None);
    }
}

async fn where_work_is_open_is_known(bed: Bed) {
    let open = async |platform: &str| {
        let events = bed.store.events_of_open_work(&Platform::new(platform)).await.expect("readable");
        events.iter().map(|event| event.as_str().to_owned()).collect::<Vec<_>>()
    };
    for (id, root, at) in [("s-1", "main", 1), ("s-2", "main", 2), ("s-3", "other", 3)] {
        accepted(&bed, id, root, at).await;
    }
    assert_eq!(open("console").await, ["event of s-3", "event of s-2", "event of s-1"]);
    assert!(open("telegram").await.is_empty());
    let filed = taking(1, 2);
    for (id, plans) in [("s-1", vec![file(&filed)]), ("s-2", Vec::new()), ("s-3", Vec::new())] {
        let last = StepRecord { ending: Some(Ending::Answered), ..changing(id, plans) };
        assert_eq!(bed.store.commit(&last).await.expect("it can be stored"), Committed::Done);
    }
    assert_eq!(open("console").await, ["event of s-2", "event of s-1"], "a plan waits there");
    let cancelled =
        desk_with(&filed).shift(filed.id(), PlanState::Cancelled, NOW, |_| {}).expect("the table allows it");
    accepted(&bed, "s-4", "other", 4).await;
    let last = StepRecord { ending: Some(Ending::Answered), ..changing("s-4", vec![change("m-1", &cancelled)]) };
    assert_eq!(bed.store.commit(&last).await.expect("it can be stored"), Committed::Done);
    assert!(open("console").await.is_empty());
}

/// No trigger can say it in one text for both engines, so that this reads the program: no statement of it takes a vote
/// away or changes one.
#[test]
fn no_statement_of_the_store_changes_a_vote() {
    let changes = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        [
            "update votes",
            "delete from votes",
            "replace into votes",
            "on conflict (plan, n) do update",
            "drop table votes",
        ]
        .iter()
        .any(|change| text.contains(change))
    };
    assert!(changes("DELETE\n  FROM votes") && changes("UPDATE votes SET"), "it would be noticed");
    let mut read = 0;
    for folder in ["src/store", "src/store/audit", "migrations"] {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).expect("text");
                read += usize::from(text.contains("votes"));
                // A new key seals them anew.
                let text = text.replace("UPDATE votes SET seal = $1 WHERE", "");
                assert!(!changes(&text), "{}", path.display());
            }
        }
    }
    assert!(read >= 3, "the migration, the votes and the plans speak of them");
}

//! The ledger in the store: rows change once from where they stand, together with the rest of their step, and a step that is
//! committed again changes nothing.

use countersign::store::{Committed, LedgerChange, StepRecord};
use countersign_core::ledger::{Account, Key, Ledger, Link, Record};
use countersign_core::signal::{ActorId, Platform, Wall};

use super::{Bed, Case, accepted, counts, did, on_postgres, on_sqlite, step};

const CASES: &[(&str, Case)] = cases![a_row_of_the_ledger_changes_once];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_the_ledger_holds_on_sqlite() {
    on_sqlite(CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_case_of_the_ledger_holds_on_postgres() {
    on_postgres(CASES).await;
}

fn account() -> Account {
    Account { platform: Platform::new("telegram"), id: ActorId::new("4711") }
}

/// A step that makes the account this person's, or nobody's, from where the ledger has it.
fn linking(ledger: &Ledger, id: &str, person: Option<&str>) -> StepRecord {
    let link = person.map(|person| Link { person: person.to_owned(), by: "ann".to_owned(), at: Wall(1) });
    let change = Box::new(ledger.put(Key::Link(account()), link.map(Record::Link)));
    let row = LedgerChange { id: id.to_owned(), change };
    StepRecord { ledger: vec![row], audit: vec![did(&format!("row of {id}"), 1)], ..step("s-1", 1, Vec::new()) }
}

async fn commit(bed: &Bed, step: &StepRecord) -> Committed {
    bed.store.commit(step).await.expect("it can be stored")
}

async fn person(bed: &Bed) -> Option<String> {
    let ledger = bed.store.ledger().await.expect("it can be read");
    ledger.link(&account()).map(|link| link.person.clone())
}

async fn a_row_of_the_ledger_changes_once(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let empty = bed.store.ledger().await.expect("it can be read");
    let to_ann = linking(&empty, "k-1", Some("ann"));
    assert_eq!(commit(&bed, &to_ann).await, Committed::Done);
    assert_eq!(commit(&bed, &to_ann).await, Committed::Done, "the same step again");
    assert_eq!(commit(&bed, &linking(&empty, "k-2", Some("bob"))).await, Committed::Overtaken);
    assert_eq!(person(&bed).await.as_deref(), Some("ann"));
    assert_eq!(counts(&bed).await.audit, 1, "nothing of a step that was overtaken is stored");

    let linked = bed.store.ledger().await.expect("it can be read");
    let gone = linking(&linked, "k-3", None);
    assert_eq!(commit(&bed, &gone).await, Committed::Done);
    assert_eq!(commit(&bed, &gone).await, Committed::Done, "the same step again");
    assert_eq!(person(&bed).await, None);
    assert_eq!(commit(&bed, &linking(&linked, "k-4", Some("bob"))).await, Committed::Overtaken, "it is gone by now");
    let none = bed.store.ledger().await.expect("it can be read");
    assert_eq!(commit(&bed, &linking(&none, "k-5", Some("bob"))).await, Committed::Done);
    assert_eq!(person(&bed).await.as_deref(), Some("bob"));
}

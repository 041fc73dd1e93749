//! The ledger in the store: rows change once from where they stand, together with the rest of their step, and a step that is
//! committed again changes nothing.

use countersign::store::{Committed, LedgerChange, StepRecord};
use countersign_core::ledger::{Account, CodeHash, Key, Ledger, Link, LinkCode, Record};
use countersign_core::signal::{ActorId, Platform, Wall};

use super::{Bed, Case, accepted, counts, did, on_postgres, on_sqlite, step};

const CASES: &[(&str, Case)] = cases![a_row_of_the_ledger_changes_once, of_two_accounts_on_one_code_one_wins];

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
    let link = person.map(|person| Link::new(person, "ann", Wall(1)));
    let change = Box::new(ledger.put(Key::Link(account()), link.map(Record::Link)));
    let row = LedgerChange { id: id.to_owned(), change };
    StepRecord { ledger: vec![row], audit: vec![did(&format!("row of {id}"), 1)], ..step("s-1", 1, Vec::new()) }
}

async fn commit(bed: &Bed, step: &StepRecord) -> Committed {
    bed.store.commit(step).await.expect("it can be stored")
}

async fn person(bed: &Bed) -> Option<String> {
    let ledger = bed.store.ledger().await.expect("it can be read").ledger;
    ledger.link(&account()).map(|link| link.person.clone())
}

async fn a_row_of_the_ledger_changes_once(bed: Bed) {
    accepted(&bed, "s-1", "main", 1).await;
    let empty = bed.store.ledger().await.expect("it can be read").ledger;
    let to_ann = linking(&empty, "k-1", Some("ann"));
    assert_eq!(commit(&bed, &to_ann).await, Committed::Done);
    assert_eq!(commit(&bed, &to_ann).await, Committed::Done, "the same step again");
    assert_eq!(commit(&bed, &linking(&empty, "k-2", Some("bob"))).await, Committed::Overtaken);
    assert_eq!(person(&bed).await.as_deref(), Some("ann"));
    assert_eq!(counts(&bed).await.audit, 1, "nothing of a step that was overtaken is stored");

    let linked = bed.store.ledger().await.expect("it can be read").ledger;
    let gone = linking(&linked, "k-3", None);
    assert_eq!(commit(&bed, &gone).await, Committed::Done);
    assert_eq!(commit(&bed, &gone).await, Committed::Done, "the same step again");
    assert_eq!(person(&bed).await, None);
    assert_eq!(commit(&bed, &linking(&linked, "k-4", Some("bob"))).await, Committed::Overtaken, "it is gone by now");
    let none = bed.store.ledger().await.expect("it can be read").ledger;
    assert_eq!(commit(&bed, &linking(&none, "k-5", Some("bob"))).await, Committed::Done);
    assert_eq!(person(&bed).await.as_deref(), Some("bob"));
}

/// A step of this signal that takes the code away and makes this account ann's, from where the ledger has both.
fn claiming(ledger: &Ledger, signal: &str, code: &CodeHash) -> StepRecord {
    let account = Account { platform: Platform::new("telegram"), id: ActorId::new(signal) };
    let link = Link::new("ann", "ann", Wall(1));
    let taken = ledger.put(Key::Code(code.clone()), None);
    let linked = ledger.put(Key::Link(account), Some(Record::Link(link)));
    let row = |name: &str, change| LedgerChange { id: format!("{signal}-{name}"), change: Box::new(change) };
    StepRecord { ledger: vec![row("code", taken), row("link", linked)], ..step(signal, 1, Vec::new()) }
}

async fn of_two_accounts_on_one_code_one_wins(bed: Bed) {
    for signal in ["s-0", "s-1", "s-2"] {
        accepted(&bed, signal, signal, 1).await;
    }
    let code = CodeHash::of("ABCDE-FGHJK");
    let open = LinkCode { person: "ann".to_owned(), shown_to: account(), expires_at: Wall(600_000) };
    let shown = Ledger::default().put(Key::Code(code.clone()), Some(Record::Code(open)));
    let change = LedgerChange { id: "shown".to_owned(), change: Box::new(shown) };
    let shown = StepRecord { ledger: vec![change], ..step("s-0", 1, Vec::new()) };
    assert_eq!(commit(&bed, &shown).await, Committed::Done);
    let ledger = bed.store.ledger().await.expect("it can be read").ledger;
    assert_eq!(ledger.codes().count(), 1);

    let (one, other) = (claiming(&ledger, "s-1", &code), claiming(&ledger, "s-2", &code));
    let (one, other) = tokio::join!(bed.store.commit(&one), bed.store.commit(&other));
    let ends = [one.expect("it can be stored"), other.expect("it can be stored")];
    assert_eq!(ends.iter().filter(|end| **end == Committed::Done).count(), 1, "{ends:?}");
    assert_eq!(ends.iter().filter(|end| **end == Committed::Overtaken).count(), 1, "{ends:?}");
    let ledger = bed.store.ledger().await.expect("it can be read").ledger;
    assert_eq!((ledger.codes().count(), ledger.links().count()), (0, 1), "nothing of the other step is stored");
}

//! What stands in the ledger counts only as long as it can be read.

use countersign_core::ledger::{Account, Key, Ledger, Link, Record};
use countersign_core::signal::{ActorId, Wall};

use super::*;
use crate::store::{Committed, LedgerChange, StepRecord};

fn account() -> Account {
    Account { platform: Platform::new("telegram"), id: ActorId::new("4711") }
}

/// A step that makes the account ann's.
fn linking(signal: &SignalId) -> StepRecord {
    let link = Record::Link(Link::new("ann", "ann", Wall(1)));
    let change = Box::new(Ledger::default().put(Key::Link(account()), Some(link)));
    StepRecord {
        signal: signal.clone(),
        at: Wall(1),
        audit: Vec::new(),
        plans: Vec::new(),
        ledger: vec![LedgerChange { id: "k-1".to_owned(), change }],
        uses: Vec::new(),
        posts: Vec::new(),
        redraws: Vec::new(),
        ending: None,
        kept: None,
    }
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_permits_nothing() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let url = sqlite_url(&directory.path().join("ledger.db")).expect("a plain path");
    let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
    let asked = signal("e1", "ann", "link");
    assert!(store.accept(&asked).await.expect("it is stored"));
    assert_eq!(store.commit(&linking(&asked.id)).await.expect("it is stored"), Committed::Done);
    let tools = Arc::new(Lab::default());
    let parts = Parts {
        store,
        world: world(),
        tools,
        mind: None,
        adapters: Vec::new(),
        queue_max: 2,
        delivery: crate::engine::A_DAY,
        watch: None,
        tell: Box::new(|_| {}),
    };
    let engine = Engine::new(parts);
    let is_linked = || engine.world.ledger().link(&account()).is_some();

    engine.read_ledger(engine.clock.now()).await;
    assert!(is_linked());
    engine.store.close().await;
    engine.has_ledger(engine.clock.now()).await;
    assert!(is_linked(), "what was read is not read again for nothing");
    engine.read_ledger(engine.clock.now()).await;
    assert!(!is_linked(), "the account may have been taken away just now");
    assert!(!*engine.ledger_is_read.lock().await, "the next signal tries again");
}

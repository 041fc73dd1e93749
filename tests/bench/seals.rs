//! What the store takes for a countersigned change, and what of it the seals take where many changes were made before:
//! `cargo bench --bench seals`. It prints a table and judges nothing: what is right is tested in `tests/it/store`.

use std::time::Duration;

use countersign::store::{Ending, PlanChange, Sealing, StepRecord, Store, sqlite_url};
use countersign_core::approval::{
    Decided, Desk, Expectation, Filed, Frozen, Outcome, Plan, PlanId, PlanState, Risk, Standing, Terms,
};
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, Addressed, Assurance, ConversationId, ConversationKind, EventId, Ground,
    Mono, Now, Payload, Platform, Signal, SignalId, SpaceId, ThreadKey, ThreadRoot, Wall,
};
use tokio::time::Instant;

/// Changes that are measured, each time.
const CHANGES: u64 = 200;

/// Changes that were made before.
const BEFORE: [u64; 3] = [0, 1_000, 10_000];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let url = sqlite_url(&folder.path().join("bench.db")).expect("a plain path");
        let sealing = Sealing { newest: Some(folder.path().join("seal.newest")), ..Sealing::unguarded() };
        let store = Store::open(&url, &sealing).await.expect("a database");
        println!("{:<24}{:>10}{:>10}{:>10}", "milliseconds a change", "median", "p99", "opening");
        let mut made = 0;
        for before in BEFORE {
            while made < before {
                change(&store, made).await;
                made += 1;
            }
            let mut took = Vec::new();
            for _ in 0..CHANGES {
                let begun = Instant::now();
                change(&store, made).await;
                took.push(begun.elapsed());
                made += 1;
            }
            let begun = Instant::now();
            Store::open(&url, &sealing).await.expect("a second one").close().await;
            print(before, &mut took, begun.elapsed());
        }
        store.close().await;
    });
}

fn print(before: u64, took: &mut [Duration], opening: Duration) {
    took.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let at = |share: usize| ms(took[took.len() * share / 100]);
    println!("{:<24}{:>10.2}{:>10.2}{:>10.2}", format!("after {before}"), at(50), at(99), ms(opening));
}

/// Everything that is committed for a change: what asks for it, its plan, its approval and beginning, and its verification.
async fn change(store: &Store, n: u64) {
    let asked = signal(&format!("ask-{n}"));
    let pressed = signal(&format!("press-{n}"));
    let filed = plan(n, &asked);
    let now = Now { wall: Wall(1), mono: Mono(1), seed: 0 };
    let mut desk = Desk::default();
    desk.put(filed.clone(), now);
    let mut to = |state| {
        let by = decided(&pressed);
        let moved =
            desk.shift(filed.id(), state, now, |standing| standing.decided = Some(by)).expect("the table allows it");
        PlanChange::Move { id: format!("{n}-{state:?}"), moved: Box::new(moved) }
    };
    let steps = [
        (&asked, vec![PlanChange::File(Box::new(filed.clone()))], true),
        (&pressed, vec![to(PlanState::Approved), to(PlanState::Executing)], false),
        (&pressed, vec![to(PlanState::Unverified), to(PlanState::Verified(Outcome::AsExpected))], true),
    ];
    for (signal, plans, is_last) in steps {
        store.accept(signal).await.expect("it can be stored");
        let ending = is_last.then_some(Ending::Answered);
        store.commit(&step(signal, plans, ending)).await.expect("it can be stored");
    }
}

fn step(signal: &Signal, plans: Vec<PlanChange>, ending: Option<Ending>) -> StepRecord {
    StepRecord {
        signal: signal.id.clone(),
        at: Wall(5),
        audit: Vec::new(),
        plans,
        ledger: Vec::new(),
        posts: Vec::new(),
        redraws: Vec::new(),
        uses: Vec::new(),
        ending,
        kept: None,
    }
}

fn thread() -> ThreadKey {
    ThreadKey {
        platform: Platform::new("telegram"),
        account: AccountId::new("bot"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("-100"),
        root: ThreadRoot::new("m:1"),
    }
}

fn signal(id: &str) -> Signal {
    Signal {
        id: SignalId::new(id),
        event: EventId::new(id),
        thread: thread(),
        room: ConversationKind::Group,
        actor: Actor { id: ActorId::new("11"), kind: ActorKind::Human, display: "Ann".to_owned() },
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        addressed: Addressed::Mention,
        follows: None,
        payload: Payload::Text { text: "restart nginx on web-1".to_owned() },
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(1),
    }
}

fn decided(by: &Signal) -> Decided {
    Decided {
        unasked: None,
        platform: by.thread.platform.clone(),
        by: by.actor.clone(),
        signal: by.id.clone(),
        at: Wall(7),
        waiver: false,
        unsealed: false,
        reason: String::new(),
    }
}

fn plan(n: u64, asked: &Signal) -> Filed {
    let plan = Plan {
        form: 1,
        id: PlanId::from_random(u128::from(n)),
        signal: asked.id.clone(),
        event: None,
        requester: asked.actor.clone(),
        requester_person: "ann".to_owned(),
        requester_roles: Vec::new(),
        room: asked.room,
        thread: asked.thread.clone(),
        tool: "host_service".to_owned(),
        action: "restart".to_owned(),
        target: format!("service:web-1:nginx-{n}").parse().expect("a canonical id"),
        labels: Vec::new(),
        environment: None,
        deciders: None,
        target_about: String::new(),
        target_name: "nginx".to_owned(),
        args: serde_json::Map::new(),
        title: "restart nginx".to_owned(),
        because: "asked by ann: restart nginx".to_owned(),
        risk: Risk::Medium,
        risk_because: None,
        tainted: false,
        before: [("started".to_owned(), "5512345".to_owned())].into(),
        expect: Expectation { absent: true, ..Expectation::default() },
        preview: None,
        limit_ms: 5000,
        alone: true,
        terms: Terms::default(),
        requested_at: Wall(1),
        expires_at: Wall(9_000_000),
    };
    Filed { frozen: Frozen::freeze(plan), standing: Standing::new() }
}

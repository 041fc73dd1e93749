//! Permits, good and bad; and the plans and warrants that tests of other rooms need.

use countersign_core::approval::{Expectation, PlanId, Risk, Terms};
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, ConversationId, ConversationKind, Platform, SignalId, SpaceId, ThreadKey,
    ThreadRoot,
};
use serde_json::json;

use super::*;

const NOW: Wall = Wall(1_790_000_000_000);

/// A countersigned plan for one call.
pub(crate) fn plan((tool, action): (&str, &str), target: &str, args: Value, before: &[(&str, &str)]) -> Plan {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    Plan {
        form: 1,
        id: PlanId::from_random(7),
        thread: ThreadKey {
            platform: Platform::new("console"),
            account: AccountId::new("a"),
            space: SpaceId::new(""),
            conversation: ConversationId::new("c"),
            root: ThreadRoot::new("main"),
        },
        signal: SignalId::new("s1"),
        event: None,
        requester: Actor { id: ActorId::new("u1"), kind: ActorKind::Human, display: "Ada".to_owned() },
        requester_person: "ada".to_owned(),
        requester_roles: Vec::new(),
        room: ConversationKind::Group,
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: target.parse().expect("a sound id"),
        labels: Vec::new(),
        environment: None,
        deciders: None,
        target_about: String::new(),
        target_name: "it".to_owned(),
        args,
        title: "change it".to_owned(),
        because: "asked by Ada".to_owned(),
        risk: Risk::Medium,
        risk_because: None,
        tainted: false,
        before: before.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        expect: Expectation::default(),
        preview: None,
        limit_ms: 10_000,
        alone: false,
        terms: Terms::default(),
        requested_at: NOW,
        expires_at: Wall(NOW.0 + 900_000),
    }
}

/// What the core gives out for a plan that may be carried out.
pub(crate) fn warrant(plan: Plan) -> Warrant {
    let frozen = Frozen::freeze(plan);
    Warrant {
        plan: frozen.plan().id.clone(),
        bytes: frozen.bytes().to_owned(),
        digest: frozen.digest().clone(),
        until: Wall(i64::MAX),
    }
}

fn stop() -> Warrant {
    let warrant = warrant(plan(("host_process", "stop"), "process:web-1:812-55", json!({}), &[]));
    Warrant { until: Wall(NOW.0 + 5_000), ..warrant }
}

fn later(ms: i64) -> Wall {
    Wall(NOW.0 + ms)
}

/// A call's `_meta` with this permit.
fn meta(permit: Value) -> Map<String, Value> {
    Map::from_iter([(META_KEY.to_owned(), permit)])
}

fn refused(checker: &Checker, permit: Value, now: Wall) -> Option<Refused> {
    checker.check(&meta(permit), now).err()
}

#[test]
fn a_permit_is_good_once_and_until_it_expires() {
    let key = Key::fresh();
    let checker = Checker::new(Some(key.clone()));
    let permit = mint(&key, &stop(), NOW);
    let good = checker.check(&meta(permit.clone()), later(1)).expect("it is good");
    assert_eq!(good.plan().call(), "host_process.stop");
    assert!(good.still_valid(later(4_999)) && !good.still_valid(later(5_000)));
    assert_eq!(refused(&checker, permit.clone(), later(4_999)), Some(Refused::Replayed));
    assert_eq!(refused(&checker, permit, later(5_000)), Some(Refused::Expired));
    let later_on = Warrant { until: later(10_000), ..stop() };
    let next = mint(&key, &later_on, later(5_000));
    assert!(checker.check(&meta(next), later(5_000)).is_ok(), "the next one for the same plan is another");
    assert_eq!(checker.used.lock().expect("nobody broke it").len(), 1, "what has expired is forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_does_not_make_a_permit_good_again() {
    let key = Key::fresh();
    let permit = mint(&key, &stop(), NOW);
    let good = Checker::new(Some(key)).check(&meta(permit), NOW).expect("it is good");
    tokio::time::advance(Duration::from_millis(4_999)).await;
    assert!(good.still_valid(NOW));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!good.still_valid(later(-60_000)));
}

#[test]
fn what_is_no_permit_of_ours_is_refused() {
    let key = Key::fresh();
    let checker = Checker::new(Some(key.clone()));
    assert_eq!(checker.check(&Map::new(), NOW).err(), Some(Refused::Missing));
    for malformed in [json!(null), json!("x"), json!({}), json!({ "plan": "{}" })] {
        assert_eq!(refused(&checker, malformed, NOW), Some(Refused::Malformed));
    }
    let other_server = mint(&Key::fresh(), &stop(), NOW);
    assert_eq!(refused(&checker, other_server, NOW), Some(Refused::Forged));
    let other_plan = warrant(plan(("host_process", "kill"), "process:web-1:812-55", json!({}), &[])).bytes;
    let changes = [
        ("plan", json!(other_plan), Refused::Forged),
        ("expires_at", json!(NOW.0 + 5_001), Refused::Forged),
        ("nonce", json!("00".repeat(16)), Refused::Forged),
        ("mac", json!("00".repeat(32)), Refused::Forged),
        ("mac", json!("00".repeat(31)), Refused::Malformed),
        ("mac", json!("+0".repeat(32)), Refused::Malformed),
        ("nonce", json!("00".repeat(17)), Refused::Malformed),
        ("surprise", json!(1), Refused::Malformed),
    ];
    for (name, value, expected) in changes {
        let mut permit = mint(&key, &stop(), NOW);
        permit[name] = value;
        assert_eq!(refused(&checker, permit, NOW), Some(expected), "{name}");
    }
    assert_eq!(refused(&Checker::new(None), mint(&key, &stop(), NOW), NOW), Some(Refused::NoKey));
    assert!(checker.used.lock().expect("nobody broke it").is_empty(), "nobody else fills the memory");
}

#[test]
fn no_permit_lives_longer_than_ten_seconds() {
    let key = Key::fresh();
    let checker = Checker::new(Some(key.clone()));
    let greedy = Warrant { until: Wall(i64::MAX), ..stop() };
    let permit = mint(&key, &greedy, NOW);
    assert_eq!(permit["expires_at"], json!(NOW.0 + LIFETIME_MS_MAX));
    // Seen by a clock that is behind, the same permit is good for longer.
    assert_eq!(refused(&checker, permit.clone(), later(-1)), Some(Refused::TooLong));
    assert!(checker.check(&meta(permit), NOW).is_ok());
}

#[test]
fn bytes_that_are_no_plan_permit_nothing() {
    let key = Key::fresh();
    let checker = Checker::new(Some(key.clone()));
    let nonsense = Warrant { bytes: "{\"form\":1}".to_owned(), ..stop() };
    assert_eq!(refused(&checker, mint(&key, &nonsense, NOW), NOW), Some(Refused::Malformed));
    let mut old: Value = serde_json::from_str(&stop().bytes).expect("a plan is JSON");
    old["form"] = json!(2);
    let old = Warrant { bytes: old.to_string(), ..stop() };
    assert_eq!(refused(&checker, mint(&key, &old, NOW), NOW), Some(Refused::Malformed));
}

#[test]
fn a_permit_covers_its_own_call_and_no_other() {
    let key = Key::fresh();
    let target = "file:web-1:/etc/motd";
    let args = json!({ "content": "hello\n" });
    let warrant = warrant(plan(("host_file", "write"), target, args.clone(), &[]));
    let permit = Checker::new(Some(key.clone())).check(&meta(mint(&key, &warrant, NOW)), NOW).expect("it is good");
    let covers = |call, target, args: Value| permit.covers(call, target, args.as_object().expect("an object"));
    assert_eq!(covers(("host_file", "write"), Some(target), args.clone()), Ok(()));
    let table = [
        (("host_file", "append"), Some(target), args.clone()),
        (("host_other", "write"), Some(target), args.clone()),
        (("host_file", "write"), Some("file:web-1:/etc/issue"), args.clone()),
        (("host_file", "write"), None, args),
        (("host_file", "write"), Some(target), json!({ "content": "hello!\n" })),
        (("host_file", "write"), Some(target), json!({})),
        (("host_file", "write"), Some(target), json!({ "content": "hello\n", "more": 1 })),
    ];
    for (call, target, args) in table {
        assert_eq!(covers(call, target, args.clone()), Err(Refused::OtherPlan), "{call:?} {target:?} {args}");
    }
}

#[test]
fn a_key_survives_its_journey_and_is_never_printed() {
    let key = Key::fresh();
    let text = key.to_hex();
    assert_eq!(Key::from_hex(&text), Some(key.clone()));
    for bad in ["", "00", &text[1..], &format!("{text}0"), &text.replace(|_| true, "G")] {
        assert_eq!(Key::from_hex(bad), None, "{bad}");
    }
    assert_eq!(format!("{:?}", Checker::new(Some(key))).replace(char::is_whitespace, ""), CHECKER);
    assert_ne!(Key::fresh(), Key::fresh());
}

const CHECKER: &str = "Checker{key:Some(Key(..)),used:Mutex{data:{},poisoned:false,..}}";

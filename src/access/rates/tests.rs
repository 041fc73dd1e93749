//! Limits by a hand clock: bursts and what comes back, tiers by role, one person with two accounts, strangers, decisions in a
//! full room, open questions, and bounded memory.

use countersign_core::approval::{Digest, PlanId};
use countersign_core::port::CardChoice;
use countersign_core::signal::{ActorId, ActorKind, ConversationId, Payload, Platform};
use countersign_core::testkit::signal;

use super::limiter::KEYS_MAX;
use super::*;
use crate::access::{Access, Owner};

const FILE: &str = r#"
[[people]]
name = "ann"
accounts = ["telegram:1", "telegram:2"]
roles = ["operator"]

[[people]]
name = "bob"
accounts = ["telegram:3"]
roles = ["viewer", "operator", "admin"]

[[people]]
name = "cid"
accounts = ["telegram:4"]
roles = ["viewer"]

[[services]]
name = "nightly"
roles = ["viewer"]
"#;

const RATES: &str = "open_per_person = 3\nperson.burst = 4\nperson.per_minute = 6\nrole.operator.burst = 5\n\
    role.admin.per_minute = 60\nrole.admin.burst = 7\nowner.burst = 9\nstranger.burst = 2\nstrangers.burst = 5\n\
    room.burst = 8\nroom.per_minute = 1\nteam.burst = 12\nteam.per_minute = 1\nread.burst = 2\nread.per_minute = 60\n";

/// These limits, with no bound on open questions unless they have one.
fn rates(config: &str) -> Rates {
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    let access = Access::new(Some(&("access.toml".to_owned(), FILE.to_owned())), &[], Some(owner));
    let config: config::Rates = toml::from_str(config).expect("sound limits");
    Rates::new(&config, Box::new(access.expect("a sound file")))
}

fn said_by(platform: &str, actor: &str, room: &str, kind: ActorKind) -> Signal {
    let mut said = signal("e", actor, "load");
    said.actor.kind = kind;
    said.thread.platform = Platform::new(platform);
    said.thread.conversation = ConversationId::new(room);
    said
}

fn said(actor: &str, room: &str) -> Signal {
    said_by("telegram", actor, room, ActorKind::Human)
}

fn decision(actor: &str, room: &str) -> Signal {
    let (plan, digest) = (PlanId::from_random(1), Digest::of(b"card"));
    let payload = Payload::Decision { plan, digest, choice: CardChoice::Deny, reason: String::new() };
    Signal { payload, ..said(actor, room) }
}

/// How many of so many are taken at this time, each answered at once.
fn taken(rates: &Rates, signal: &Signal, tries: usize, ms: u64) -> usize {
    (0..tries).filter(|_| matches!(rates.judge(signal, Mono(ms)), Judged::Taken(_))).count()
}

fn refusal(rates: &Rates, signal: &Signal, ms: u64) -> (&'static str, Scope, u64) {
    match rates.judge(signal, Mono(ms)) {
        Judged::Taken(_) => ("taken", Scope::Person, 0),
        Judged::Told(over) => ("told", over.scope, over.wait_ms),
        Judged::Silent(over) => ("silent", over.scope, over.wait_ms),
    }
}

#[test]
fn everybody_has_the_burst_of_their_tier() {
    let table = [
        ("one account of ann, an operator", said("1", "r"), 5),
        ("bob has three roles: the most generous", said("3", "r"), 7),
        ("cid's role has none of its own", said("4", "r"), 4),
        ("nobody known", said("99", "r"), 2),
        ("a bot with a person's id", said_by("telegram", "1", "r", ActorKind::Bot), 2),
        ("a person's id on another platform", said_by("matrix", "1", "r", ActorKind::Human), 2),
        ("the owner at the console", said_by("console", "uid:1000", "r", ActorKind::Human), 9),
        ("somebody else at a console", said_by("console", "uid:1001", "r", ActorKind::Human), 2),
        ("a service of ours", said_by("telegram", "nightly", "r", ActorKind::Service), 50),
        ("a service of nobody's", said_by("telegram", "daily", "r", ActorKind::Service), 2),
    ];
    for (who, signal, burst) in table {
        assert_eq!(taken(&rates(RATES), &signal, 50, 0), burst, "{who}");
    }
}

/// The platform says it once, and the rules of the room go with it.
#[test]
fn the_new_id_of_a_room_comes_over_no_limit() {
    let rates = rates(RATES);
    let stranger = said("99", "r");
    assert_eq!(taken(&rates, &stranger, 50, 0), 2);
    let payload = Payload::RoomMoved { to: ConversationId::new("s"), is_known: false };
    assert_eq!(taken(&rates, &Signal { payload, ..stranger }, 50, 0), 50);
}

#[test]
fn what_is_used_up_comes_back_with_time() {
    let rates = rates(RATES);
    let cid = said("4", "r");
    assert_eq!(taken(&rates, &cid, 4, 1_000), 4);
    assert_eq!(refusal(&rates, &cid, 1_000), ("told", Scope::Person, 10_000), "6 a minute: one in 10 s");
    assert_eq!(refusal(&rates, &cid, 3_400), ("silent", Scope::Person, 7_600));
    assert_eq!(taken(&rates, &cid, 50, 10_999), 0);
    assert_eq!(taken(&rates, &cid, 50, 11_000), 1);
    assert_eq!(taken(&rates, &cid, 50, 31_000), 2);
}

#[test]
fn a_refusal_is_told_once_a_minute_to_each() {
    let rates = rates("person.burst = 1\nperson.per_minute = 1\nroom.burst = 1000\nteam.burst = 1000");
    for account in ["1", "4"] {
        taken(&rates, &said(account, "r"), 1, 0);
    }
    let told = |account: &str, ms| refusal(&rates, &said(account, "r"), ms).0;
    assert_eq!(told("1", 0), "told");
    assert_eq!(told("2", 0), "silent", "it is the same person");
    assert_eq!(told("4", 0), "told", "another person has not heard it");
    for _ in 0..100 {
        assert_eq!(told("4", 59_999), "silent");
    }
    assert_eq!(taken(&rates, &said("4", "r"), 2, 60_000), 1);
    assert_eq!(told("4", 60_000), "silent", "it was told with the last try");
    assert_eq!(told("4", 119_999), "silent");
}

#[test]
fn two_accounts_of_one_person_share_one_limit() {
    let rates = rates(RATES);
    assert_eq!(taken(&rates, &said("1", "r"), 3, 0), 3);
    assert_eq!(taken(&rates, &said("2", "other room"), 50, 0), 2);
}

#[test]
fn strangers_share_a_limit_and_use_up_nobody_elses() {
    let rates = rates(RATES);
    let all: usize = (100..200).map(|n| taken(&rates, &said(&n.to_string(), "r"), 50, 0)).sum();
    assert_eq!(all, 5, "all of them together");
    assert_eq!(refusal(&rates, &said("300", "r"), 0).1, Scope::Strangers);
    assert_eq!(taken(&rates, &said("3", "r"), 50, 0), 7, "the room is as it was");
    assert_eq!(taken(&rates, &said("1", "other"), 50, 0), 5, "and so are the team's 12");
}

#[test]
fn who_is_refused_uses_up_nothing_that_others_share() {
    let rates = rates(RATES);
    assert_eq!(taken(&rates, &said("4", "r"), 1_000, 0), 4);
    assert_eq!(taken(&rates, &said("3", "r"), 50, 0), 4, "8 are left to the room, and only 4 were taken");
    assert_eq!(refusal(&rates, &said("3", "r"), 0).1, Scope::Room);
    assert_eq!(taken(&rates, &said("3", "other"), 50, 0), 3, "what the room refused took nothing from bob");
}

#[test]
fn a_full_room_keeps_nobody_from_deciding() {
    let rates = rates(RATES);
    taken(&rates, &said("3", "r"), 50, 0);
    taken(&rates, &said("1", "r"), 50, 0);
    assert_eq!(refusal(&rates, &said("4", "r"), 0).1, Scope::Room);
    assert_eq!(taken(&rates, &decision("4", "r"), 50, 0), 4, "only their own limit holds");
    assert_eq!(refusal(&rates, &decision("4", "r"), 0).1, Scope::Person);
    assert_eq!(taken(&rates, &decision("99", "r"), 50, 0), 2, "a stranger decides nothing");
}

#[test]
fn each_room_hears_of_the_teams_limit_once() {
    let rates = rates("team.burst = 1\nteam.per_minute = 1");
    taken(&rates, &said("1", "r"), 1, 0);
    let told = |room: &str| refusal(&rates, &said("3", room), 0);
    assert_eq!(told("r"), ("told", Scope::Team, 60_000));
    assert_eq!(told("other"), ("told", Scope::Team, 60_000));
    assert_eq!((told("r").0, told("other").0), ("silent", "silent"));
}

#[test]
fn open_questions_are_counted_until_they_are_answered() {
    let rates = rates(&format!("{RATES}resolve.burst = 1"));
    let (bob, id) = (said("3", "r"), |n: usize| SignalId::new(format!("s{n}")));
    for n in 0..3 {
        let Judged::Taken(place) = rates.judge(&bob, Mono(0)) else { panic!("three are allowed") };
        rates.accepted(&id(n), place);
    }
    assert_eq!(refusal(&rates, &bob, 0), ("told", Scope::Open, 0));
    assert_eq!(refusal(&rates, &decision("3", "r"), 0).0, "taken", "a decision is none");
    let Judged::Taken(dropped) = rates.judge(&said("4", "r"), Mono(0)) else { panic!("cid has none") };
    drop(dropped);
    rates.answered(&id(1));
    assert_eq!(refusal(&rates, &bob, 0).0, "taken");
    let open = |actor: &str| {
        let all = rates.allowances(&said(actor, "r").asker(), Mono(0));
        all.into_iter().find(|one| one.scope == Scope::Open).map(|one| one.left)
    };
    assert_eq!((open("3"), open("4")), (Some(1), Some(3)), "what was not stored is not open");
}

#[test]
fn calls_are_counted_by_kind_and_a_look_takes_nothing() {
    let rates = rates(RATES);
    let (cid, other) = (said("4", "r"), said("3", "r"));
    let left = |signal: &Signal| -> Vec<(Scope, u32)> {
        rates.allowances(&signal.asker(), Mono(0)).iter().map(|one| (one.scope, one.left)).collect()
    };
    let fresh = [
        (Scope::Person, 4),
        (Scope::Room, 8),
        (Scope::Team, 12),
        (Scope::Open, 3),
        (Scope::Resolve, 60),
        (Scope::Read, 2),
        (Scope::Write, 10),
    ];
    assert_eq!(left(&cid), fresh);
    assert_eq!(left(&cid), fresh);
    for kind in [ToolKind::Read, ToolKind::Read, ToolKind::Read, ToolKind::Write, ToolKind::Record] {
        rates.made(&cid.asker(), kind, Mono(0));
    }
    let after = left(&cid);
    assert!(after.contains(&(Scope::Read, 0)) && after.contains(&(Scope::Write, 9)), "{after:?}");
    assert!(left(&other).contains(&(Scope::Read, 2)), "another person has their own");
    assert_eq!(left(&said("99", "r")), [(Scope::Stranger, 2), (Scope::Strangers, 5)]);
}

#[test]
fn a_flood_of_new_names_is_bounded_and_frees_nobody() {
    let limiter = Limiter::new(Scope::Stranger, (1, 1));
    let account = |n: usize| Key::Account(Platform::new("p"), ActorId::new(n.to_string()));
    for n in 0..3 * KEYS_MAX {
        limiter.take(&account(n), Mono(0));
    }
    assert_eq!(limiter.look(&account(0), Mono(0)).left, 0, "the flood did not push the first one out");
    assert_eq!(limiter.look(&account(9 * KEYS_MAX), Mono(0)).left, 0, "who finds no room shares a limit");
    limiter.take(&account(9 * KEYS_MAX), Mono(60_000));
    assert_eq!(limiter.look(&account(9 * KEYS_MAX + 1), Mono(60_000)).left, 1, "a minute later there is room again");
    assert_eq!(limiter.keys(), 1, "what is full again is not kept");
    let limiter = Limiter::new(Scope::Stranger, (1, 1));
    for n in 0..3 * KEYS_MAX {
        limiter.take(&account(n), Mono(0));
    }
    assert_eq!(limiter.keys(), KEYS_MAX);
}

#[test]
fn what_is_offered_takes_from_no_other_limit_and_all_strangers_are_one() {
    let rates = rates(RATES);
    let offered = |signal: &Signal, tries: usize, ms| {
        (0..tries).filter(|_| rates.may_be_offered(&signal.asker(), Mono(ms))).count()
    };
    assert_eq!(offered(&said("1", "r"), 100, 0), 60);
    assert_eq!(offered(&said("2", "s"), 100, 0), 0, "ann's other account, elsewhere");
    assert_eq!(offered(&said("3", "r"), 100, 0), 60, "bob has his own");
    assert_eq!(offered(&said("98", "r"), 40, 0) + offered(&said("99", "r"), 40, 0), 60);
    assert_eq!(offered(&said_by("console", "uid:1000", "r", ActorKind::Human), 100, 0), 100);
    assert_eq!(offered(&said("1", "r"), 100, 60_000), 60, "they come back");
    assert_eq!(taken(&rates, &said("1", "r"), 50, 60_000), 5, "what is said is counted by itself");
}

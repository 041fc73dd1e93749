//! Budgets in the loop: who is refused and who never is, what ends a request in the middle, and what `budget` says.

use serde_json::json;

use super::*;
use crate::effect::Input;
use crate::port::Source;
use crate::proposal::Proposal;
use crate::signal::{ActorId, ConversationId, Ground, Platform, ThreadRoot, Wall};
use crate::testkit::{Told, World, signal};
use crate::usage::{Budgets, Daily, Payer};

const NOON: i64 = 1_700_049_600_000;
const HALF_A_DAY: u64 = 43_200_000;

/// A fleet at noon, whose people may each use 100 tokens a day.
fn world() -> World {
    let mut world = World::with_fleet();
    world.wall = NOON;
    world.budgets.person.tokens = Some(100);
    world.say("load");
    world
}

fn tokens(tokens: u64) -> Usage {
    Usage { tokens_in: tokens, tokens_out: 0, cost_micros: 10 * tokens }
}

/// A model says what it used for somebody's question.
fn used(world: &mut World, signal: &Signal, usage: Usage) -> Told {
    let mut told = Told::default();
    let signal = Box::new(signal.clone());
    let calls = world.input(Input::Used { signal, by: Origin::Model, usage }, &mut told);
    assert!(calls.is_empty(), "what was used calls for nothing");
    told
}

/// What the stack says to a model's sound proposal for this signal: none, or the code and the sentence.
fn to_a_model(world: &mut World, signal: Signal) -> Option<(Code, String)> {
    let proposal = Proposal {
        tool: "lab_read".to_owned(),
        action: "load".to_owned(),
        target: Some("host:web-1".to_owned()),
        args: serde_json::Map::new(),
        because: "a model asks".to_owned(),
    };
    let judged = world.propose_as(signal, &[proposal]).pop().expect("one in, one out");
    judged.err().map(|refusal| (refusal.code, refusal.message.clone()))
}

#[test]
fn a_model_is_refused_when_the_budget_is_used_up_and_not_before() {
    let mut world = world();
    let ann = || signal("p", "ann", "why is it slow");
    assert_eq!(to_a_model(&mut world, ann()), None);
    used(&mut world, &ann(), tokens(99));
    assert_eq!(to_a_model(&mut world, ann()), None, "one token is left");
    used(&mut world, &ann(), tokens(1));
    let (code, sentence) = to_a_model(&mut world, ann()).expect("nothing is left");
    assert_eq!(code, Code::BudgetExceeded);
    insta::assert_snapshot!(sentence, @"your budget of 100 tokens a day is used up (100 tokens today); it begins anew at 2023-11-16 00:00:00 UTC");
    assert_eq!(to_a_model(&mut world, signal("q", "bob", "and me")), None, "it is one person's budget");
    world.pass(HALF_A_DAY - 1);
    assert!(to_a_model(&mut world, ann()).is_some(), "a millisecond before midnight");
    world.pass(1);
    // The thread forgets nothing at midnight, so that the same proposal is sound still.
    assert_eq!(to_a_model(&mut world, ann()), None, "the next day has begun");
}

#[test]
fn two_accounts_of_one_person_share_one_budget() {
    let mut world = world();
    used(&mut world, &signal("a", "ann", "?"), tokens(60));
    assert_eq!(to_a_model(&mut world, signal("b", "ann@work", "?")), None);
    used(&mut world, &signal("c", "ann@work", "?"), tokens(40));
    for account in ["ann", "ann@work"] {
        assert!(to_a_model(&mut world, signal("d", account, "?")).is_some(), "{account}");
    }
}

#[test]
fn an_account_that_nobody_knows_counts_as_itself() {
    let world = World::new();
    let asks = |id: &str| {
        let signal = signal("s", id, "?");
        let [person, ..] = payers(world.env().rights, &signal.actor, &signal.thread);
        person
    };
    assert_eq!(asks("ann@work"), Payer::Person("ann".to_owned()));
    assert_eq!(asks("eve"), Payer::Account(Platform::new("test"), ActorId::new("eve")));
    assert_ne!(asks("eve"), asks("mallory"));
}

#[test]
fn a_room_pays_for_all_its_threads_and_the_team_for_all_rooms() {
    let here = signal("a", "ann", "?");
    let mut beside = signal("b", "bob", "?");
    beside.thread.root = ThreadRoot::new("another thread");
    let mut elsewhere = signal("c", "bob", "?");
    elsewhere.thread.conversation = ConversationId::new("another room");
    let limit = Daily { tokens: Some(100), cost_micros: None };
    let rows = [
        (Budgets { room: limit, ..Budgets::default() }, [true, true, false]),
        (Budgets { team: limit, ..Budgets::default() }, [true, true, true]),
        (Budgets { person: limit, ..Budgets::default() }, [true, false, false]),
    ];
    for (budgets, refused) in rows {
        let mut world = world();
        world.budgets = budgets;
        used(&mut world, &here, tokens(100));
        let said = [&here, &beside, &elsewhere].map(|asked| to_a_model(&mut world, asked.clone()).is_some());
        assert_eq!(said, refused, "{:?}", world.budgets);
    }
}

#[test]
fn work_that_nobody_waits_for_has_a_smaller_share() {
    let mut world = world();
    world.budgets.background_percent = 40;
    let job = Signal { ground: Ground::Background, ..signal("j", "ann", "?") };
    used(&mut world, &job, tokens(39));
    assert_eq!(to_a_model(&mut world, job.clone()), None);
    used(&mut world, &job, tokens(1));
    assert!(to_a_model(&mut world, job).expect("its share is used up").1.contains("for background work of 40 tokens"));
    assert_eq!(to_a_model(&mut world, signal("w", "ann", "?")), None, "60 are left for who waits");
}

#[test]
fn no_budget_stops_a_rule() {
    let mut world = world();
    used(&mut world, &signal("a", "ann", "?"), tokens(1_000_000));
    assert!(to_a_model(&mut world, signal("b", "ann", "?")).is_some());
    assert!(world.say("status of nginx").said.contains("nginx is running."));
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed and shown").clone();
    world.answers("lab_read.status", json!({ "name": "nginx", "present": true, "state": "running", "run": "2" }));
    let told = world.hear(signal("c", "bob", &format!("approve {plan}")));
    assert!(told.calls.iter().any(|call| call.warrant.is_some()), "it is carried out: {}", told.said);
    assert!(told.said.contains("A fresh read shows what was expected."), "{}", told.said);
}

#[test]
fn what_is_used_is_counted_once_for_everybody_who_pays() {
    let mut world = world();
    let told = used(&mut world, &signal("a", "ann", "?"), Usage { tokens_in: u64::MAX, ..tokens(7) });
    assert_eq!(told.effects.len(), 1, "{:?}", told.effects);
    assert_eq!(told.said, "", "nobody is told");
    let signal = signal("a", "ann", "?");
    let all = payers(world.env().rights, &signal.actor, &signal.thread);
    let spent = world.book.spent(&all, Day::of(Wall(NOON)));
    assert_eq!(spent.person, spent.team);
    assert_eq!((spent.room.total().tokens_in, spent.room.total().cost_micros), (1_000_000_000_000, 70));
}

#[test]
fn a_request_of_a_rule_goes_on_whatever_was_used() {
    let mut world = world();
    let asked = signal("r", "ann", "status of nginx");
    let mut told = Told::default();
    let mut calls = world.input(Input::Signal(Box::new(asked.clone())), &mut told);
    assert_eq!(used(&mut world, &asked, tokens(500)).said, "");
    assert!(world.state.is_busy());
    while let Some(call) = calls.pop() {
        let answer = world.run(&call);
        calls.extend(world.input(answer, &mut told));
    }
    assert!(told.said.contains("nginx is running."), "{}", told.said);
}

/// A model drives a request that has looked at nginx, if it has looked at anything.
fn driven_by_a_model(looked: bool) -> (World, Signal) {
    let mut world = world();
    world.say("status of nginx");
    let asked = signal("m", "ann", "what is wrong with nginx");
    let mut request = Request::new(asked.clone(), 9);
    let target = Some("service:web-1:nginx".parse().expect("an id"));
    let source = Source { call: "lab_read.status".to_owned(), target, observed_at: 1 };
    request.sources.extend(looked.then_some(source));
    world.state.request = Some(request);
    (world, asked)
}

#[test]
fn a_model_that_uses_up_the_budget_ends_with_what_there_is() {
    let (mut world, asked) = driven_by_a_model(true);
    assert_eq!(used(&mut world, &asked, tokens(60)).said, "");
    assert!(world.state.is_busy(), "something is left");
    let told = used(&mut world, &asked, tokens(60));
    assert!(!world.state.is_busy());
    insta::assert_snapshot!(told.said, @"
    refused: Your budget of 100 tokens a day is used up (120 tokens today); it begins anew at 2023-11-16 00:00:00 UTC.
    (BUDGET_EXCEEDED, gate `allowance`)
    This request used 120 tokens (0.0012 USD). What it has found so far:
    nginx (service)
      target: service:web-1:nginx
      inside: host:web-1
      status: running
    ");
    let kinds: Vec<&str> = told.effects.iter().map(|effect| effect.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(kinds, ["Spend", "Audit(Audit", "Finish"], "counted, recorded, over");
    assert!(told.counted.iter().any(|count| count.starts_with("gate_block_total")), "{:?}", told.counted);
}

#[test]
fn a_model_that_has_found_nothing_says_so() {
    let (mut world, asked) = driven_by_a_model(false);
    let told = used(&mut world, &asked, tokens(100));
    assert!(
        told.said.ends_with("This request used 100 tokens (0.001 USD) and has found nothing yet.\n"),
        "{}",
        told.said
    );
}

#[test]
fn what_is_reported_late_is_counted_and_said_to_nobody() {
    let (mut world, _) = driven_by_a_model(true);
    let other = signal("over", "ann", "an earlier question");
    assert_eq!(used(&mut world, &other, tokens(100)).said, "");
    assert!(world.state.is_busy(), "the request at work is another one");
    assert!(to_a_model(&mut world, other).is_some());
}

#[test]
fn budget_says_what_was_used_and_what_is_left() {
    let mut world = world();
    insta::assert_snapshot!(world.say("budget").said, @"
    The next day begins at 2023-11-16 00:00:00 UTC. Work that nobody waits for may use 50% of each limit.
    whose | what | used today | limit a day | left
    you | tokens | 0 | 100 | 100
    you | cost | 0.00 USD | no limit | -
    this room | tokens | 0 | no limit | -
    this room | cost | 0.00 USD | no limit | -
    the team | tokens | 0 | no limit | -
    the team | cost | 0.00 USD | no limit | -
    Only a model uses tokens: set commands, approvals and rules cost nothing, and no budget stops them.
    ");
    world.budgets.team = Daily { tokens: None, cost_micros: Some(2_500_000) };
    used(&mut world, &signal("a", "ann", "?"), tokens(120));
    used(&mut world, &signal("b", "bob", "?"), tokens(30));
    insta::assert_snapshot!(world.say("budget").said, @"
    The next day begins at 2023-11-16 00:00:00 UTC. Work that nobody waits for may use 50% of each limit.
    whose | what | used today | limit a day | left
    you | tokens | 120 | 100 | 0
    you | cost | 0.0012 USD | no limit | -
    this room | tokens | 150 | no limit | -
    this room | cost | 0.0015 USD | no limit | -
    the team | tokens | 150 | no limit | -
    the team | cost | 0.0015 USD | 2.50 USD | 2.4985 USD
    Only a model uses tokens: set commands, approvals and rules cost nothing, and no budget stops them.
    ");
    world.budgets = Budgets::default();
    let said = world.say("budget").said;
    assert!(said.starts_with("No budget is set, so that there is no limit."), "{said}");
}

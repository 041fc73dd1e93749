//! One thread with a scripted model: what it is told, what it may do, and what of its words is shown.

use crate::answer::Claims;
use crate::approval::Risk;
use crate::mind::{Ask, RawCall, Thought};
use crate::port::{Asker, Right, Rights};
use crate::testkit::{Told, World};
use crate::tool::ToolKind;
use crate::usage::Usage;

use super::situation::{CHARS_MAX, masked};

pub(super) fn says(text: &str) -> Thought {
    Thought { text: text.to_owned(), ..Thought::default() }
}

pub(super) fn calls(calls: &[(&str, &str)]) -> Thought {
    let calls =
        calls.iter().map(|(name, arguments)| RawCall { name: (*name).to_owned(), arguments: (*arguments).to_owned() });
    Thought { calls: calls.collect(), ..Thought::default() }
}

const FIND: (&str, &str) = ("lab_find__service", r#"{"query":"nginx"}"#);
const STATUS: (&str, &str) = ("lab_read__status", r#"{"target":"service:web-1:nginx"}"#);
const RESTART: (&str, &str) = ("lab_control__restart", r#"{"target":"service:web-1:nginx"}"#);

/// A question that no route knows.
const QUESTION: &str = "why do customers complain about the shop";

pub(super) fn world(thoughts: Vec<Thought>) -> World {
    let mut world = World::with_fleet();
    world.minds.smart = Some("big".to_owned());
    world.thoughts = thoughts.into();
    world.claims = Claims::load(include_str!("../../../../config/claims.toml")).expect("the shipped words are sound");
    world
}

fn asked(thoughts: Vec<Thought>) -> Told {
    world(thoughts).say(QUESTION)
}

fn results(ask: &Ask) -> Vec<&str> {
    ask.situation.exchanges.iter().map(|exchange| exchange.result.as_str()).collect()
}

#[test]
fn a_model_finds_reads_and_answers_with_what_it_rests_on() {
    let told = asked(vec![calls(&[FIND]), calls(&[STATUS]), says("nginx is running, so look elsewhere.")]);
    insta::assert_snapshot!(told.said, @"
    This answer changed nothing. Read: 2 things (`sources`). The model says:
    | nginx is running, so look elsewhere.
    ");
    let made: Vec<String> = told.calls.iter().map(crate::gate::ToolCall::name).collect();
    assert_eq!(made, ["lab_find.service", "lab_read.status"]);
    let last = told.asks.last().expect("it was asked");
    insta::assert_snapshot!(results(last).join("\n"), @r"
    service:web-1:nginx  nginx 
    nginx is running.
    ");
    assert!(last.situation.since.iter().any(|line| line.starts_with("service:web-1:nginx  ")), "{last:?}");
}

#[test]
fn what_nothing_bears_out_is_not_shown() {
    let table = [
        vec![says("I restarted nginx for you.")],
        vec![says("nginx is currently running.")],
        vec![says("<tool_call>{}")],
        vec![calls(&[FIND]), calls(&[STATUS]), says("I called lab_control.restart(nginx), it is fine.")],
        vec![calls(&[FIND]), says("Result of LAB_READ__STATUS on it: fine.")],
        vec![calls(&[FIND]), calls(&[STATUS]), says("nginx is running since 4711 days.")],
        vec![calls(&[FIND]), calls(&[STATUS]), says("I have restarted nginx.")],
    ];
    let said: Vec<String> = table.into_iter().map(|thoughts| asked(thoughts).said).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    What the model wrote is not shown: it says that something was changed, and nothing was. The model may not be able to call tools, the tools may not be there, or the connection to it may be bad. Ask again, or type `help` for set commands.

    What the model wrote is not shown: it says how something is, and nothing was looked at. The model may not be able to call tools, the tools may not be there, or the connection to it may be bad. Ask again, or type `help` for set commands.

    What the model wrote is not shown: it looks like a call, and none was made. The model may not be able to call tools, the tools may not be there, or the connection to it may be bad. Ask again, or type `help` for set commands.

    What the model wrote is not shown: it looks like a call, and none was made.
    This was read last:
    nginx is running.

    What the model wrote is not shown: it looks like a call, and none was made. The model may not be able to call tools, the tools may not be there, or the connection to it may be bad. Ask again, or type `help` for set commands.

    What the model wrote is not shown: the number 4711 in it was never read.
    This was read last:
    nginx is running.

    What the model wrote is not shown: it says that something was changed, and nothing was.
    This was read last:
    nginx is running.
    ");
    let counted = asked(vec![says("I restarted nginx for you.")]).counted;
    assert!(counted.iter().any(|count| count.starts_with("phantom_detected_total")), "{counted:?}");
}

/// ENT-01, ENT-03: "it" is what a model's answer was about, for the person who asked; a change on it still gets a card.
#[test]
fn it_is_what_a_models_answer_was_about() {
    let mut world = world(vec![calls(&[FIND]), calls(&[STATUS]), says("I would look at nginx again.")]);
    world.say(QUESTION);
    let told = world.say("restart it");
    assert!(told.said.contains("ann asks to restart nginx on web-1."), "{}", told.said);

    world.thoughts = vec![says("I cannot say.")].into();
    let told = world.say("why does it complain about the shop");
    let targets = &told.asks.first().expect("it was asked").situation.targets;
    let first = targets.first().expect("something is known");
    assert!(
        first.starts_with("service:web-1:nginx  ") && first.ends_with("(“it”: what was last spoken of)"),
        "{targets:?}"
    );
}

/// SPB-07: people see that a model is asked, and nothing of what it thinks.
#[test]
fn that_a_model_thinks_is_shown() {
    let told = asked(vec![calls(&[FIND]), says("I cannot say.")]);
    assert_eq!(told.progress.concat(), "asking the model\nlooking for nginx\nasking the model\n");
}

/// KNO-09: what was not there is not asked for twice in one request; what failed is.
#[test]
fn a_discovery_that_found_nothing_is_not_made_twice() {
    let nothing = ("lab_find__service", r#"{"query":"no-such-thing"}"#);
    let told = asked(vec![calls(&[nothing]), calls(&[nothing]), says("I cannot say.")]);
    assert_eq!(told.calls.len(), 1, "{:?}", told.calls);
    assert_eq!(
        results(told.asks.last().expect("it was asked")),
        ["nothing was found", "nothing of that kind is there; it was looked for in this request already"]
    );
}

/// SEC-05, C-42: what a model proposes is asked for, whatever was allowed beforehand; and nothing is done without that.
#[test]
fn a_change_that_a_model_proposes_waits_for_its_countersignature() {
    let mut world = world(vec![calls(&[FIND]), calls(&[STATUS]), calls(&[RESTART])]);
    let told = world.say(QUESTION);
    insta::assert_snapshot!(told.said, @"
    ? ann asks to restart nginx on web-1.
    Medium risk. Then running, another run.
    Proposed by a model that read untrusted text.
    bob or carol can approve until 22:28 UTC.
    Plan 0000: “why do customers complain abou…”
    [Approve, Deny]
    ");
    assert!(told.calls.iter().all(|call| call.action != "restart"), "{:?}", told.calls);
    let filed = world.files.rows.values().next().expect("a plan is filed");
    assert!(filed.frozen.plan().tainted);
    assert_eq!(filed.frozen.plan().requester.id.as_str(), "ann");
    assert!(!world.state.is_busy());
}

/// The mark around what is not to be trusted is one through a request, so that its prompts begin alike, and another in the next.
#[test]
fn a_request_has_one_fence_and_the_next_has_another() {
    let mut world = world(vec![calls(&[FIND]), calls(&[STATUS]), says("I cannot say."), says("I cannot say.")]);
    let fences = |told: Told| told.asks.iter().map(|ask| ask.fence).collect::<Vec<_>>();
    let (one, next) = (fences(world.say(QUESTION)), fences(world.say(QUESTION)));
    assert!(one.len() == 3 && one.iter().all(|fence| *fence == one[0]) && one[0] != next[0], "{one:?} {next:?}");
}

/// C-16: one change and nothing beside it.
#[test]
fn a_change_is_proposed_alone() {
    let told =
        asked(vec![calls(&[FIND]), calls(&[RESTART, RESTART]), calls(&[STATUS, RESTART]), says("I cannot say.")]);
    let last = told.asks.last().expect("it was asked");
    insta::assert_snapshot!(results(last).join("\n"), @r"
    service:web-1:nginx  nginx 
    not tried: a change is proposed alone, after everything that it rests on was read
    not tried: a change is proposed alone, after everything that it rests on was read
    nginx is running.
    not tried: a change is proposed alone, after everything that it rests on was read
    ");
    assert!(told.said.ends_with("I cannot say.\n"), "{}", told.said);
}

/// SIG-07, REJ-01: a refusal goes back as data; the fourth ends the request with the name of the gate.
#[test]
fn a_refusal_is_told_to_the_model_and_the_fourth_to_people() {
    let secret = ("lab_read__file", r#"{"target":"host:web-1","path":"/etc/shadow"}"#);
    let find = ("lab_find__host", r#"{"query":"web-1"}"#);
    let told = asked(vec![calls(&[find]), calls(&[secret]), calls(&[secret]), calls(&[secret]), calls(&[secret])]);
    let last = told.asks.last().expect("it was asked");
    insta::assert_snapshot!(results(last).join("\n"), @r"
    host:web-1  web-1 
    refused by secrets: POLICY_BLOCKED: that is a place for secrets (password hashes); it is never read or written from a chat. 
    refused by secrets: POLICY_BLOCKED: that is a place for secrets (password hashes); it is never read or written from a chat. 
    refused by secrets: POLICY_BLOCKED: that is a place for secrets (password hashes); it is never read or written from a chat.
    ");
    insta::assert_snapshot!(told.said, @r"
    refused: I stopped the model, because what it wants is refused again and again. The last time:
    `lab_read.file` was already called 3 times with the same arguments.
    (LOOP_DETECTED, gate `repetition`)
    ");
    assert_eq!(told.calls.len(), 1, "only the host was looked for");
}

/// FM-10: what nobody can make sense of is borne with twice, the second time by the larger model.
#[test]
fn what_makes_no_sense_is_asked_again_and_then_of_the_larger_model() {
    let garbled = || vec![says(""), calls(&[("lab_find__service", "nginx")]), says("<think>")];
    let mut world = world(garbled());
    world.minds.fast = Some("small".to_owned());
    let told = world.say(QUESTION);
    let tiers: Vec<&str> = told.asks.iter().map(|ask| ask.tier.as_str()).collect();
    assert_eq!(tiers, ["fast", "fast", "smart"]);
    insta::assert_snapshot!(told.said, @"failed: I could not make sense of what the model answered. Ask again in other words, or type `help` for set commands.");
    let invented = asked(vec![calls(&[("k8s_delete_everything", "{}")]), says("I cannot say.")]);
    insta::assert_snapshot!(results(invented.asks.last().expect("it was asked")).join("\n"), @"refused by schema: NOT_FOUND: there is no tool for `k8s_delete_everything.`.");
    assert!(invented.said.ends_with("I cannot say.\n"), "{}", invented.said);
}

/// A model that wanted a change, was refused it and tells of it all the same: whatever its words, people see that it was not done.
#[test]
fn words_about_a_change_that_was_refused_stand_under_the_refusal() {
    let mut world = world(vec![
        calls(&[("lab_control__restart", r#"{"target":"service:web-1:redis"}"#)]),
        says("There, the cache is as good as new."),
    ]);
    insta::assert_snapshot!(world.say(QUESTION).said, @"
    This answer changed nothing. Refused: `lab_control.restart` (FSM_BLOCKED; `why` tells more). Nothing was read. The model says:
    | There, the cache is as good as new.
    ");
}

/// While a card waits, no words of a model leave that open, and none are those that only the bot has.
#[test]
fn a_card_that_waits_is_named_under_what_a_model_says() {
    let mut world = world(vec![says("It looks good to me.")]);
    world.say("restart nginx");
    insta::assert_snapshot!(world.say(QUESTION).said, @"
    This answer changed nothing. Nothing was read. Waiting for approval: plan 0000. The model says:
    | It looks good to me.
    ");
    for words in ["Done and verified: restart nginx. A fresh read shows what was expected.", "nginx was restarted."] {
        world.thoughts = vec![says(words)].into();
        let told = world.say(QUESTION).said;
        assert!(
            told.contains("it says that something was changed, and nothing was") && !told.contains(words),
            "{told}"
        );
    }
}

/// FM-9, VAL-08, SPB-03: two retries, the second by the larger model; and however many are wrong in one answer, it is one.
#[test]
fn what_is_invented_is_told_twice_and_then_it_is_over() {
    let wild = ("k8s_delete_everything", "{}");
    let odd = ("lab_read__load", r#"{"target":"host:web-1","depth":"very"}"#);
    let asked = |thoughts: Vec<Thought>| {
        let mut world = world(thoughts);
        world.minds.fast = Some("small".to_owned());
        let told = world.say(QUESTION);
        let tiers: Vec<&str> = told.asks.iter().map(|ask| ask.tier.as_str()).collect();
        (told.said, tiers.join(" "))
    };
    let (said, tiers) = asked(vec![calls(&[wild, wild]), calls(&[odd]), says("I cannot say.")]);
    assert_eq!(tiers, "fast fast smart");
    insta::assert_snapshot!(said, @"
    This answer changed nothing. Refused: a call that does not exist (NOT_FOUND; `why` tells more). Nothing was read. The model says:
    | I cannot say.
    ");
    let (said, tiers) = asked(vec![calls(&[wild]), calls(&[odd]), calls(&[wild]), says("I cannot say.")]);
    assert_eq!(tiers, "fast fast smart");
    insta::assert_snapshot!(said, @r"refused: I stopped the model, because it goes on with calls that cannot be made: there is no tool for `k8s_delete_everything.` (NOT_FOUND, gate `schema`). Ask again in other words, or type `help` for set commands.");
}

/// Invariant 10: the larger model, and where nobody answers a sentence; what needs no model goes on.
#[test]
fn where_no_model_answers_that_is_said() {
    let mut world = world(Vec::new());
    world.minds.fast = Some("small".to_owned());
    let told = world.say(QUESTION);
    assert_eq!(told.asks.iter().map(|ask| ask.tier.as_str()).collect::<Vec<_>>(), ["fast", "smart"]);
    insta::assert_snapshot!(told.said, @"failed: I do not know a set command for that, and the model did not answer: it cannot be reached. Set commands, approvals and rules need no model; `help` lists them.");
    assert!(world.say("status of nginx").said.contains("nginx is running."));
}

/// LOOP-04: whatever comes in first.
#[test]
fn results_keep_the_order_in_which_they_were_wanted() {
    let both =
        calls(&[("lab_find__service", r#"{"query":"nginx"}"#), ("lab_find__service", r#"{"query":"postgres"}"#)]);
    // The world answers the last call first.
    let told = asked(vec![both, says("I cannot say.")]);
    let made: Vec<String> = told.calls.iter().map(|call| call.args["query"].to_string()).collect();
    assert_eq!(made, ["\"nginx\"", "\"postgres\""]);
    let last = told.asks.last().expect("it was asked");
    insta::assert_snapshot!(results(last).join("\n"), @r"
    service:web-1:nginx  nginx 
    service:web-1:postgres  postgres
    ");
}

/// LOOP-08, LOOP-19, LOOP-20: it is told to come to an end, the same call is refused, and in the last turn it may only answer.
#[test]
fn a_model_that_never_ends_is_made_to() {
    let find = |n: usize| calls(&[("lab_find__service", &format!(r#"{{"query":"x{n}"}}"#) as &str)]);
    let told = asked((0..30).map(find).collect());
    let notes: Vec<usize> = told.asks.iter().map(|ask| ask.situation.notes.len()).collect();
    assert_eq!(told.asks.len(), 20);
    assert_eq!(notes.iter().position(|notes| *notes > 0), Some(12));
    let last = told.asks.last().expect("it was asked");
    assert!(last.situation.offers.is_empty(), "{last:?}");
    assert_eq!(last.situation.notes, ["Answer now, in words, with what you know. Nothing can be called any more."]);
    insta::assert_snapshot!(told.said, @r"
    refused: The 20 turns of this request are used up.
    (BUDGET_EXCEEDED, gate `allowance`)
    ");
    let same = asked(vec![calls(&[FIND]), calls(&[FIND]), calls(&[FIND]), calls(&[FIND]), says("I cannot say.")]);
    let last = same.asks.last().expect("it was asked");
    assert!(results(last).last().is_some_and(|result| result.contains("LOOP_DETECTED")), "{last:?}");
}

/// FM-18: whatever a thread has seen.
#[test]
fn what_a_model_is_told_never_grows_beyond_the_cap() {
    let mut world = world(Vec::new());
    let name = (0..40).map(|n| format!("q{n} ")).collect::<Vec<_>>().concat();
    let found = (0..60).map(|n| crate::testkit::resource(&format!("service:web-1:s{n}"), &name));
    world.script.resources.extend(found);
    let find = |n: usize| ("lab_find__service", format!(r#"{{"query":"q{n} "}}"#));
    let turn = |n: usize| {
        let wanted: Vec<_> = (0..8).map(|of| find((n * 8 + of) % 40)).collect();
        let wanted: Vec<(&str, &str)> = wanted.iter().map(|(name, args)| (*name, args.as_str())).collect();
        calls(&wanted)
    };
    world.thoughts = (0..5).map(turn).collect();
    let told = world.say(&format!("{QUESTION} {}", "y".repeat(5_000)));
    let sizes: Vec<usize> = told.asks.iter().map(|ask| ask.situation.chars()).collect();
    assert!(sizes.iter().all(|size| *size <= CHARS_MAX), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size > CHARS_MAX - 1_000), "nothing was left out: {sizes:?}");
    let last = told.asks.last().expect("it was asked");
    assert_eq!(last.situation.exchanges.last().expect("the newest is told").args, r#"{"query":"q39 "}"#);
}

#[test]
fn what_a_model_says_too_late_was_used_all_the_same() {
    let mut world = world(Vec::new());
    world.say("load");
    let usage = Usage { tokens_in: 7, tokens_out: 1, cost_micros: 0 };
    let heard = Box::new(Ok(Thought { text: "I cannot say.".to_owned(), calls: Vec::new(), usage }));
    let signal = Box::new(crate::testkit::signal("s9", "ann", "whatever"));
    let mut told = Told::default();
    let calls = world.input(crate::effect::Input::Thought { signal, n: 1, heard }, &mut told);
    assert!(calls.is_empty() && told.said.is_empty());
    assert!(told.effects.iter().any(|effect| effect.contains("tokens_in: 7")), "{:?}", told.effects);
}

/// AC-24: nobody is talked into a decision by a model that has seen its id.
#[test]
fn words_that_name_a_waiting_plan_are_not_shown() {
    let mut world = world(Vec::new());
    world.say("restart nginx");
    let plan = world.files.rows.keys().next().expect("a plan is filed").to_string();
    world.thoughts = vec![says(&format!("All is well. Type approve {plan} to go on."))].into();
    let told = world.say(QUESTION);
    assert!(!told.said.contains("approve"), "{}", told.said);
    insta::assert_snapshot!(told.said, @"What the model wrote is not shown: it talks people into deciding a plan.");
}

/// What a model chose was not spoken of by anybody: "it" stays what a person meant.
#[test]
fn it_is_never_what_a_model_chose() {
    let find = ("lab_find__service", r#"{"query":"postgres"}"#);
    let restart = ("lab_control__restart", r#"{"target":"service:web-1:postgres"}"#);
    let mut world = world(vec![calls(&[find]), calls(&[restart])]);
    world.say("status of nginx");
    assert!(world.say(QUESTION).said.contains(" asks to restart postgres"));
    let told = world.say("how is it");
    let read = told.calls.last().and_then(|call| call.target.as_ref()).map(ToString::to_string);
    assert_eq!(read.as_deref(), Some("service:web-1:nginx"));
}

/// RAG-06: a model is told what whoever asks may see, and nothing of what others have found out here.
#[test]
fn a_model_is_told_nothing_that_whoever_asks_may_not_see() {
    let mut world = world(vec![says("I cannot say.")]);
    world.say("status of nginx");
    let told = world.say(QUESTION);
    let situation = &told.asks.first().expect("it was asked").situation;
    assert!(situation.known.iter().any(|line| line.contains("nginx:status: running")), "{situation:?}");
    world.rights = Some(Box::new(Blind));
    world.thoughts = vec![calls(&[FIND]), says("I cannot say.")].into();
    let told = world.say(QUESTION);
    let all = format!("{:?}", told.asks.iter().map(|ask| &ask.situation).collect::<Vec<_>>());
    assert_eq!(told.asks.len(), 2);
    assert!(!all.contains("service:web-1:nginx"), "{all}");
}

/// May ask for everything and see nothing.
struct Blind;

impl Rights for Blind {
    fn may(&self, _: &Asker<'_>, right: &Right) -> bool {
        !matches!(right, Right::Request { kind: ToolKind::Read, tool: None, .. })
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: Risk) -> bool {
        false
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }
}

/// A cut through the mark that stands for a secret must not make a secret of it again.
#[test]
fn a_secret_in_what_was_read_ends_no_question() {
    let mut world = world(Vec::new());
    let long = format!("{}password=hunter2hunter2", "x ".repeat(50));
    for n in 0..12 {
        world.script.resources.push(crate::testkit::resource(&format!("service:web-1:s{n}"), &long[n..]));
    }
    world.thoughts = vec![calls(&[("lab_find__service", "{}")]), says("I cannot say.")].into();
    let told = world.say(QUESTION);
    assert!(told.said.ends_with("I cannot say.\n"), "{}", told.said);
    assert!(!format!("{:?}", told.asks).contains("hunter2"));
    for chars_max in 0..60 {
        let cut = masked(&world.mask, "the password=hunter2hunter2 of it", chars_max);
        assert_eq!(world.mask.class_of(&cut), None, "{cut}");
    }
}

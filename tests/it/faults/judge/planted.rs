//! A sound little run, and every violation that each rule is there for, planted into it.

use super::super::facts::{Asked, Facts, Life, Plan, Post, Row, Sent, Signal, Told, What};
use super::{RULES, judge};

/// In a life that took it or not.
fn told(life: usize, event: &str, is_taken: bool) -> Told {
    Told { life, room: "5".to_owned(), event: event.to_owned(), is_taken }
}

fn asked(token: &str, event: &str, what: What) -> Asked {
    Asked { token: token.to_owned(), event: event.to_owned(), what, calls: 0, is_heard: true }
}

fn signal(n: i64, event: &str) -> Signal {
    Signal {
        id: format!("s{n}"),
        event: event.to_owned(),
        thread: "t".to_owned(),
        state: "done".to_owned(),
        ending: "answered".to_owned(),
        is_on_older_copy: false,
        received_at: n,
    }
}

fn post(n: i64, says: &str) -> Post {
    Post {
        id: format!("p{n}"),
        signal: format!("s{n}"),
        thread: "t".to_owned(),
        chat: "5".to_owned(),
        lane: 1,
        place: n,
        state: "sent".to_owned(),
        repeat: false,
        has_parts: true,
        says: vec![says.to_owned()],
        is_refusal: false,
        card: None,
        claims: None,
    }
}

fn sent(life: usize, message: i64, says: &str) -> Sent {
    Sent { life, chat: "5".to_owned(), message, says: says.to_owned(), is_marked: false, is_lost: false }
}

fn row(what: &str) -> Row {
    Row { what: what.to_owned(), call: "host_file.append".to_owned(), plan: "plan1".to_owned(), code: String::new() }
}

/// Two questions, a change with its card and the press that it was done by. The second life was handed the change again,
/// because the first was killed over it, and then a copy of the first question; the answer to that one was lost.
fn sound() -> Facts {
    Facts {
        asked: vec![
            asked("q1", "5:1", What::Ping),
            asked("q2", "5:2", What::Read),
            asked("q3", "5:3", What::Change { times: 1 }),
            asked("q3", "cb:9", What::Press { approves: true }),
        ],
        told: vec![
            told(1, "5:1", true),
            told(1, "5:2", true),
            told(1, "5:3", false),
            told(2, "5:3", true),
            told(2, "5:1", false),
            told(2, "cb:9", true),
        ],
        lives: vec![Life::default(), Life::default()],
        tells_again: true,
        sent: vec![
            Sent { is_lost: true, ..sent(1, 10, "pongq1") },
            Sent { is_marked: true, ..sent(1, 11, "pongq1") },
            sent(1, 12, "readq2"),
            sent(2, 13, "cardq3"),
            sent(2, 14, "doneq3"),
        ],
        signals: vec![signal(1, "5:1"), signal(2, "5:2"), signal(3, "5:3"), signal(4, "cb:9")],
        posts: vec![
            Post { repeat: true, ..post(1, "pongq1") },
            post(2, "readq2"),
            Post { lane: 0, card: Some("plan1".to_owned()), ..post(3, "cardq3") },
            Post { claims: Some("plan1".to_owned()), ..post(4, "doneq3") },
        ],
        plans: vec![Plan { id: "plan1".to_owned(), token: "q3".to_owned(), state: "verified as_expected".to_owned() }],
        trail: ["proposed", "approved", "executing", "called", "verified"].map(row).into(),
    }
}

/// A violation: what it breaks, how it is planted, and what is said of it.
type Planted = (&'static str, fn(&mut Facts), &'static str);

const DELIVERED: [Planted; 5] = [
    ("a row of the inbox is gone", |facts| drop(facts.signals.remove(1)), "5:2 (q2) was handed out and is lost"),
    ("a message is stored twice", |facts| facts.signals.push(signal(5, "5:2")), "5:2 is stored 2 times"),
    ("nobody said it", |facts| facts.signals.push(signal(5, "5:7")), "5:7 is stored, and nobody asked it"),
    ("never handed out", |facts| facts.asked.push(asked("q4", "5:8", What::Ping)), "5:8 (q4) was never handed out"),
    ("taken out of order", |facts| swap_times(facts), "5:1 was taken after 5:2, and came before it"),
];

const SAID: [Planted; 13] = [
    ("a request is open", |facts| "begun".clone_into(&mut facts.signals[0].state), "5:1 (q1) is begun answered"),
    (
        "a message never comes out",
        |facts| "failed: given up, because its plan has ended: gone".clone_into(&mut facts.posts[1].state),
        "its answer p2 is failed: given up, because its plan has ended: gone",
    ),
    (
        "a card whose time was over before it came out",
        |facts| {
            "failed: given up, because its plan has ended: gone".clone_into(&mut facts.posts[2].state);
            "expired".clone_into(&mut facts.plans[0].state);
        },
        "its answer p3 is failed: given up, because its plan has ended: gone",
    ),
    ("a message is not out", |facts| "pending".clone_into(&mut facts.posts[1].state), "its answer p2 is pending"),
    (
        "two turns",
        |facts| facts.posts.push(Post { id: "p9".to_owned(), ..post(2, "readq2") }),
        "5:2 (q2) has 2 answers",
    ),
    ("no answer", |facts| drop(facts.posts.remove(1)), "5:2 (q2) has 0 answers"),
    (
        "another's answer",
        |facts| facts.posts[1].says = vec!["pongq1".to_owned()],
        "5:2 (q2) is answered by [\"pongq1\"]",
    ),
    ("it never came out", |facts| drop(facts.sent.remove(2)), "[\"readq2\"] of s2: it never came out"),
    ("a copy that does not say so", |facts| facts.sent[1].is_marked = false, "it came out 2 times without saying so"),
    ("a copy of what was known to be out", |facts| facts.sent[0].is_lost = false, "although it was known to be out"),
    ("a copy that is not stored as one", |facts| facts.posts[0].repeat = false, "and is stored as none"),
    ("a copy of nothing", |facts| drop(facts.sent.remove(0)), "and nothing came before it"),
    ("a stranger", |facts| facts.sent.push(sent(2, 20, "hello")), "5:20 says hello"),
];

const DONE: [Planted; 10] = [
    (
        "two plans",
        |facts| facts.plans.push(Plan { id: "plan2".to_owned(), ..facts.plans[0].clone() }),
        "q3 has the plans",
    ),
    (
        "two cards",
        |facts| facts.posts.push(Post { card: Some("plan1".to_owned()), ..post(3, "card") }),
        "q3 has the plans",
    ),
    ("a card of another plan", |facts| facts.posts[2].card = Some("plan2".to_owned()), "q3 has the plans"),
    ("written twice", |facts| facts.asked[2].what = What::Change { times: 2 }, "and is written 2 times"),
    ("told as done and not written", |facts| facts.asked[2].what = What::Change { times: 0 }, "and is written 0 times"),
    ("begun twice", |facts| facts.trail.push(row("executing")), "plan plan1 is executing 2 times"),
    ("called and not begun", |facts| facts.trail.push(row("called")), "1 changes were begun, and 2 were called"),
    ("done and not told", |facts| facts.posts[3].claims = None, "and whether that was said is false"),
    ("approved and not done", waits, "q3 was approved (answered) and still waits"),
    ("done and not approved", |facts| drop(facts.asked.remove(3)), "q3 is written, and nobody approved it"),
];

const ORDER: [Planted; 2] = [
    ("answered out of order", |facts| swap_places(facts), "was answered before"),
    ("came out out of order", |facts| swap_messages(facts), "[\"readq2\"] came out before [\"pongq1\"]"),
];

/// The plan waits, as if nobody had pressed anything.
fn waits(facts: &mut Facts) {
    "pending".clone_into(&mut facts.plans[0].state);
    facts.asked[2].what = What::Change { times: 0 };
    facts.posts[3].claims = None;
    facts.trail.retain(|row| row.what == "proposed");
}

fn swap_times(facts: &mut Facts) {
    (facts.signals[0].received_at, facts.signals[1].received_at) = (2, 1);
}

fn swap_places(facts: &mut Facts) {
    (facts.posts[0].place, facts.posts[1].place) = (2, 1);
}

fn swap_messages(facts: &mut Facts) {
    (facts.sent[0].message, facts.sent[2].message) = (12, 10);
    facts.sent[1].message = 13;
}

#[test]
fn a_sound_run_breaks_no_rule() {
    assert_eq!(judge(&sound()), [] as [&str; 0]);
    // Interrupted twice, a press decides nothing, and says so.
    let mut interrupted = sound();
    waits(&mut interrupted);
    "interrupted".clone_into(&mut interrupted.signals[3].ending);
    assert_eq!(judge(&interrupted), [] as [&str; 0]);
}

#[test]
fn every_rule_sees_what_it_is_there_for() {
    for (what, plant, expected) in DELIVERED.iter().chain(&SAID).chain(&DONE).chain(&ORDER) {
        let mut facts = sound();
        plant(&mut facts);
        let wrong = judge(&facts);
        assert!(wrong.iter().any(|line| line.contains(expected)), "{what}: {wrong:#?}");
    }
}

#[test]
fn a_rule_that_saw_nothing_is_broken() {
    let wrong = judge(&Facts::default());
    assert_eq!(wrong.len(), RULES.len(), "{wrong:#?}");
    assert!(wrong.iter().all(|line| line.ends_with("nothing was looked at")), "{wrong:#?}");
}

#[test]
fn what_a_dead_life_was_handed_may_have_been_taken_at_either_time() {
    let mut facts = sound();
    // Handed out in the other order the second time: the change was taken by the first life.
    facts.told = vec![
        told(1, "5:1", true),
        told(1, "5:2", true),
        told(1, "5:3", false),
        told(1, "cb:9", false),
        told(2, "cb:9", true),
        told(2, "5:3", true),
    ];
    assert_eq!(judge(&facts), [] as [&str; 0]);
}

/// A life that took these, and at whose end a plan waits in channel 5 or none does.
fn life(calls: usize, taken: &[&str], waits: bool) -> Life {
    let waits = waits.then(|| ("plan1".to_owned(), "5".to_owned()));
    Life { taken: taken.iter().map(|event| (*event).to_owned()).collect(), waits: waits.into_iter().collect(), calls }
}

/// The same run on a platform that tells nothing again: one more message was said between the lives, and another one was told
/// to the first just before it was killed. A plan that waits in the channel would have them looked for.
fn forgetful(waits: bool) -> Facts {
    let mut facts = sound();
    facts.tells_again = false;
    facts.told.insert(3, told(1, "5:4", false));
    facts.lives = vec![life(10, &["5:1", "5:2"], waits), life(20, &["5:3", "cb:9"], waits)];
    facts.asked.push(Asked { calls: 9, ..asked("q4", "5:4", What::Ping) });
    facts.asked.push(Asked { calls: 10, is_heard: false, ..asked("q5", "5:5", What::Ping) });
    // A press is told or lost, and never looked for; others were made in the thread of the plan that waits.
    facts.told.insert(4, told(1, "in:6", false));
    facts.asked.push(Asked { calls: 9, ..asked("q3", "in:6", What::Press { approves: true }) });
    for life in facts.lives.iter_mut().filter(|_| waits) {
        life.waits.insert(("plan1".to_owned(), "in".to_owned()));
    }
    facts
}

#[test]
fn what_may_be_missed_is_no_violation_and_what_had_to_be_found_is() {
    assert_eq!(judge(&forgetful(false)), [] as [&str; 0]);
    let wrong = judge(&forgetful(true)).join("\n");
    assert!(wrong.contains("5:4 (q4) was handed out and is lost"), "a plan waits there: {wrong}");
    assert!(wrong.contains("5:5 (q5) was never handed out"), "a plan waits there: {wrong}");
    assert!(!wrong.contains("in:6"), "nobody tells again of a press: {wrong}");
    // Whoever took what came behind it, or was not killed, had it.
    for (at, told) in [(4, told(1, "5:2", true)), (5, told(2, "5:4", false))] {
        let mut facts = forgetful(false);
        facts.told.insert(at, told);
        let wrong = judge(&facts).join("\n");
        assert!(wrong.contains("5:4 (q4) was handed out and is lost"), "{wrong}");
    }
    let mut facts = forgetful(false);
    facts.tells_again = true;
    assert_eq!(judge(&facts).len(), 3, "elsewhere nothing may be missed");
}

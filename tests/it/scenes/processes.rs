//! Scenes around one process: stopped, left alone, decided twice, after a restart, in another thread, and gone before the
//! decision came.

use serde_json::Value;

use super::{is_verified, on_thread, plain, said};
use crate::support::bot::{Answer, Bot, Done, Home, Process, finish, lives, until};
use crate::support::root::as_root;

/// What the next process is numbered after. Only root may write it.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

#[test]
fn a_process_is_stopped_once_it_is_countersigned_and_is_seen_to_be_gone() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let asked = bot.ask(&format!("stop process {}", napper.pid()));
    assert_eq!(asked.mark(), "question");
    insta::assert_snapshot!(said(&home, &asked), @"
    PERSON asks to stop process napper (pid PID) on HOST.
    It is: HOME/napper -c read line napper
    Medium risk. It will be gone.
    PERSON (alone; the record says so) can approve until TIME.
    Plan SHORT: “stop process PID”
    to decide: plan PLAN
    ");
    assert!(lives(napper.pid()), "nothing is done before somebody has decided");
    let card = asked.card();
    let open = bot.ask("approvals").text();
    assert!(open.contains("State | pending, risk medium") && open.ends_with(&card.plan), "{open}");
    // Reading goes on while it waits.
    assert!(bot.ask(&format!("process {}", napper.pid())).text().starts_with("napper (pid "));

    let done = bot.ask(&card.approve());
    assert!(is_verified(&done, &card.plan, "absent"), "{done:?}");
    insta::assert_snapshot!(said(&home, &done), @"Done and verified: stop process napper (pid PID). A fresh read shows that napper is gone.");
    assert!(!lives(napper.pid()));
    assert_eq!(bot.ask("approvals").text(), "No plan is open in this thread.");
    assert!(bot.end().status.success());
}

#[test]
fn a_denied_plan_is_not_carried_out_and_the_reason_stays() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    let denied = bot.ask(&card.deny("it is needed until noon"));
    let late = bot.ask(&card.approve());
    assert_eq!((denied.mark(), late.mark()), ("plain", "refused"));
    insta::assert_snapshot!(format!("{}\n--\n{}", said(&home, &denied), said(&home, &late)), @"
    Denied: stop process napper (pid PID). Reason: it is needed until noon. Nothing was changed.
    --
    This plan is denied already.
    (FSM_BLOCKED, gate `decision`)
    PERSON decided it at TIME: it is needed until noon.
    ");
    assert!(lives(napper.pid()));
}

#[test]
fn a_process_that_takes_its_time_to_end_is_looked_at_again() {
    let home = Home::new();
    let napper = home.slow_process("napper");
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    let first = bot.ask(&card.approve());
    assert_eq!(first.mark(), "plain");
    insta::assert_snapshot!(said(&home, &first), @"
    Not yet: stop process napper (pid PID). A fresh read shows napper still there.
    I look again at TIME and tell you how it ends. Until then nothing else is changed in this thread.
    ");
    // Nobody asks: the bot looks and speaks by itself.
    let last = std::iter::from_fn(|| bot.event()).find(|event| event["type"] == "message").expect("the bot goes on");
    let last = Answer { messages: vec![last] };
    assert!(is_verified(&last, &card.plan, "absent"), "{last:?}");
    insta::assert_snapshot!(said(&home, &last), @"Done and verified: stop process napper (pid PID). A fresh read shows that napper is gone.");
    assert!(!lives(napper.pid()));
}

#[test]
fn what_keeps_the_machine_or_the_bot_running_gets_no_card() {
    let home = Home::new();
    let mut bot = Bot::json(&home);
    bot.ask("disk usage");
    let (own, spoke) = (bot.pid(), bot.spoke());
    for pid in [1, own, spoke] {
        for line in [format!("stop process {pid}"), format!("kill -9 {pid}")] {
            let told = bot.ask(&line);
            assert_eq!(told.mark(), "refused", "{line}: {told:?}");
            assert!(told.text().contains("it is never changed from a chat"), "{line}: {told:?}");
        }
    }
    assert_eq!(bot.ask("approvals").text(), "No plan is open in this thread.");
    assert!(bot.end().status.success());
}

#[test]
fn a_second_approval_does_nothing_again() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    // Both are on their way before the first is answered.
    bot.say(&card.approve());
    bot.say(&card.approve());
    let [first, second] = two_answers(&mut bot);
    let by_id = bot.ask(&format!("approve {}", card.plan));
    assert!(is_verified(&first, &card.plan, "absent"), "{first:?}");
    assert_eq!((second.mark(), second.text()), ("refused", by_id.text()));
    insta::assert_snapshot!(said(&home, &second), @"
    This plan was carried out already: done and verified.
    (FSM_BLOCKED, gate `decision`)
    PERSON decided it at TIME.
    ");
    assert!(bot.end().status.success());
    let done = ["executing", "called", "unverified", "called", "verified"];
    let trail = [&["proposed", "approved", "called"], &done[..], &["refused"]].concat();
    assert_eq!(became(&home, &card.plan), trail, "the second refusal of a minute is counted, not written");
}

/// The answers to two lines that were said at once, in their order.
fn two_answers(bot: &mut Bot) -> [Answer; 2] {
    let (mut messages, mut answered) = (Vec::new(), 0);
    while answered < 2 {
        let event = bot.event().expect("the bot goes on");
        match event["type"].as_str() {
            Some("message") => messages.push(event),
            Some("answered") => answered += 1,
            Some("accepted") => {}
            _ => panic!("not expected here: {event}"),
        }
    }
    let answers: Vec<_> = messages.into_iter().map(|message| Answer { messages: vec![message] }).collect();
    answers.try_into().expect("one message each")
}

/// What the audit trail says of a plan, in order: the fresh look, the write and the verifying read are the calls.
fn became(home: &Home, plan: &str) -> Vec<String> {
    let trail = trail(home);
    let rows = trail.iter().filter(|row| row["plan"] == plan);
    rows.map(|row| row["what"].as_str().expect("a row says what was done").to_owned()).collect()
}

/// The contents of the audit trail's rows.
fn trail(home: &Home) -> Vec<Value> {
    let done = finish(home.bot().args(["audit", "export"]), b"");
    assert!(done.status.success(), "{done:?}");
    let payload = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a row is an object");
        serde_json::from_str(row["payload"].as_str().expect("its content is there")).expect("an object, too")
    };
    done.out.lines().map(payload).collect()
}

#[test]
fn a_plan_outlives_the_bot_and_is_approved_by_its_id() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    let spoke = bot.spoke();
    bot.kill();
    until("the killed bot's server is gone", || !lives(spoke));
    assert!(lives(napper.pid()));

    let mut bot = Bot::json(&home);
    assert!(bot.ask("approvals").text().ends_with(&card.plan));
    let asked = bot.ask("approve");
    let done = bot.ask(&format!("approve {}", card.plan));
    assert!(is_verified(&done, &card.plan, "absent"), "{done:?}");
    insta::assert_snapshot!(format!("{}\n--\n{}", said(&home, &asked), said(&home, &done)), @"
    This plan waits here. To approve it, use its card, or type `approve SHORT` now:
    PERSON asks to stop process napper (pid PID) on HOST.
    It is: HOME/napper -c read line napper
    Medium risk. It will be gone.
    PERSON (alone; the record says so) can approve until TIME.
    Plan SHORT: “stop process PID”
    to decide: plan PLAN
    --
    Done and verified: stop process napper (pid PID). A fresh read shows that napper is gone.
    ");
    assert!(!lives(napper.pid()));
}

#[test]
fn what_is_still_open_is_said_at_the_start_and_at_the_end() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let still_open = |done: Done| done.err.lines().filter(|line| line.starts_with("Still open")).count();
    let waits = "Still open: 1 plan to decide. `approvals` shows it in its own thread.";
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    let first = bot.end();
    assert_eq!(first.err.lines().last(), Some(waits), "{}", first.err);
    assert_eq!(still_open(first), 1, "nothing was open at the start");
    let second = Bot::json(&home).end();
    assert_eq!(second.err.lines().filter(|line| *line == waits).count(), 2, "{}", second.err);
    let mut bot = Bot::json(&home);
    bot.ask(&card.deny(""));
    assert_eq!(still_open(bot.end()), 1, "nothing is open at the end");
}

#[test]
fn a_plan_is_taken_back() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    let cancelled = bot.ask(&format!("cancel {} it is the wrong one", card.plan));
    let late = bot.ask(&card.approve());
    insta::assert_snapshot!(format!("{}\n--\n{}", said(&home, &cancelled), said(&home, &late)), @"
    Cancelled: stop process napper (pid PID). Reason: it is the wrong one. Nothing was changed.
    --
    This plan is cancelled already.
    (FSM_BLOCKED, gate `decision`)
    PERSON decided it at TIME: it is the wrong one.
    ");
    assert!(lives(napper.pid()));
}

#[test]
fn another_thread_decides_nothing() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let card = bot.ask(&format!("stop process {}", napper.pid())).card();
    assert!(bot.end().status.success());
    let mut other = on_thread(&home, "other");
    assert_eq!(other.ask("approvals").text(), "No plan is open in this thread.");
    let refused = [card.approve(), card.deny(""), format!("approve {}", card.plan), format!("cancel {}", card.plan)]
        .map(|line| other.ask(&line));
    assert!(refused.iter().all(|answer| answer.mark() == "refused"), "{refused:?}");
    let said = refused.map(|answer| plain(&home, &answer.text())).join("\n--\n");
    insta::assert_snapshot!(said, @r"
    No plan of this thread has this id; a plan is decided in the thread of its card.
    (NOT_FOUND, gate `decision`)
    --
    No plan of this thread has this id; a plan is decided in the thread of its card.
    (NOT_FOUND, gate `decision`)
    --
    No plan of this thread has this id; a plan is decided in the thread of its card.
    (NOT_FOUND, gate `decision`)
    --
    No plan of this thread has this id; a plan is decided in the thread of its card.
    (NOT_FOUND, gate `decision`)
    ");
    assert!(other.end().status.success() && lives(napper.pid()));
    // In its own thread it still waits.
    let mut bot = Bot::json(&home);
    assert!(bot.ask("approvals").text().ends_with(&card.plan));
}

#[test]
fn who_countersigns_alone_is_told_so_and_it_is_on_record() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let asked = bot.ask(&format!("stop process {}", napper.pid()));
    let waiver = "(alone; the record says so) can approve until ";
    assert!(asked.text().contains(waiver), "{}", asked.text());
    bot.ask(&asked.card().approve());
    assert!(bot.end().status.success());
    let trail = trail(&home);
    let approved: Vec<_> = trail.iter().filter(|row| row["what"] == "approved").collect();
    let detail = approved.first().and_then(|row| row["detail"].as_str()).expect("one approval");
    assert_eq!((approved.len(), &approved[0]["digest"]), (1, &Value::from(asked.card().digest)));
    assert!(detail.ends_with("; waiver: the requester countersigned alone, as policy allows here"), "{detail}");
}

/// Another process with this number, once the one that has it has ended. None where something else has taken it.
fn successor(home: &Home, pid: u32) -> Option<Process> {
    for _ in 0..1000 {
        std::fs::write(LAST_PID, (pid - 1).to_string()).expect("root may choose the next process id");
        let next = home.process("napper", &[]);
        if next.pid() == pid {
            return Some(next);
        }
        if lives(pid) {
            return None;
        }
    }
    None
}

#[test]
fn another_process_with_the_same_number_is_left_alone() {
    as_root("scenes::processes::another_process_with_the_same_number_is_left_alone", || {
        let home = Home::new();
        let mut bot = Bot::json(&home);
        // The number may be taken by something else on this machine meanwhile; then another one is tried.
        let (card, next) = (0..10)
            .find_map(|_| {
                let first = home.process("napper", &[]);
                let (pid, asked) = (first.pid(), bot.ask(&format!("stop process {}", first.pid())));
                drop(first);
                successor(&home, pid).map(|next| (asked.card(), next))
            })
            .expect("a process with the same number");
        let refused = bot.ask(&card.approve());
        assert_eq!(refused.mark(), "refused");
        insta::assert_snapshot!(said(&home, &refused), @"
        Not done: stop process napper (pid PID).
        `napper` is not there any more, or is another one now.
        (DRIFTED, gate `carry`)
        Nothing was changed.
        ");
        assert!(lives(next.pid()), "it was never meant");
        assert!(bot.end().status.success());
        assert_eq!(became(&home, &card.plan), ["proposed", "approved", "called", "refused", "refused"]);
    });
}

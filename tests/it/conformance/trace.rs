//! One session, held on the console and on every chat platform by the same person: what the core decides of it is the same,
//! byte for byte, once ids, times and the names of the machine, the platform and the person are left out. A recording shows it: each
//! is played again, and the decisions are compared.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use countersign_discord_fake::Fake as Discord;
use countersign_telegram_fake::Fake as Telegram;
use regex::Regex;
use serde_json::{Map, Value};

use crate::support::bot::{Bot, Home, finish};
use crate::support::chat::Chat;
use crate::support::decisions::listed;
use crate::support::matrix::Team;
use crate::support::stage::{ACCESS, ANN, Script, Stage};

/// Encrypted, as it is unless a team says otherwise.
type Matrix = Team<true>;

/// On the console its owner may everything; on a chat platform somebody has to be given that.
const POLICY: &str = "@id(\"chiefs decide alone\")\n\
                      permit (principal in Role::\"chief\", action == Action::\"decide_alone\", resource);\n";

/// The access file of both, in which the person is the same one.
fn access() -> String {
    let uid = std::fs::metadata("/proc/self").expect("this system has /proc").uid();
    let both = format!("\"PLATFORM:11\", \"console:uid:{uid}\"");
    ACCESS
        .replace("\"PLATFORM:11\"", &both)
        .replace("\"operator\", \"approver\"", "\"operator\", \"approver\", \"chief\"")
}

/// What the session is about: a log to ask for, and two processes to stop.
fn log(home: &Home) -> String {
    home.write("demo.log", "first\nsecond\nthird\n").display().to_string()
}

/// The session on the console. Returns what was decided.
fn on_the_console() -> Vec<Value> {
    let home = Home::new();
    home.write("countersign.toml", "access = { file = \"access.toml\", policies = \"policies\" }\n");
    home.write("access.toml", Stage::<Telegram>::access(&access()));
    home.write("policies/own.cedar", POLICY);
    let (process, recording) = (home.process("napper", &[]), home.path().join("session.jsonl"));
    let mut bot = Bot::spawn(home.bot().arg("--json").arg("--record").arg(&recording));
    let stop = format!("stop process {}", process.pid());
    bot.ask(&format!("last 2 lines of {}", log(&home)));
    let first = bot.ask(&stop).card();
    bot.ask(&format!("cancel {} it is the wrong one", first.plan));
    bot.ask(&first.approve());
    let second = bot.ask(&stop).card();
    bot.ask(&second.approve());
    bot.ask("approvals");
    assert!(bot.end().status.success());
    decisions(&home, &recording)
}

/// The same on a chat platform, in a private room.
async fn on<C: Chat>() -> Vec<Value> {
    let access = access();
    let mut stage =
        Stage::<C>::with(Script { access: &access, policy: POLICY, record: true, ..Script::default() }).await;
    let process = stage.home.process("napper", &[]);
    let (chat, stop) = (stage.fake.private_room(ANN), format!("stop process {}", process.pid()));
    stage.ask(ANN, chat, &format!("last 2 lines of {}", log(&stage.home)), "third").await;
    let first = stage.card(ANN, chat, &stop).await;
    stage.ask(ANN, chat, &format!("cancel {} it is the wrong one", first.plan), "Cancelled").await;
    let refused = stage.press(ANN, (chat, first.message), &first.approve).await;
    assert!(refused.alone == C::ANSWERS_ALONE && refused.text.contains("cancelled already"), "{refused:?}");
    let second = stage.card(ANN, chat, &stop).await;
    stage.approve(ANN, &second).await;
    stage.said(chat, "Done and verified: stop process napper").await;
    stage.ask(ANN, chat, "approvals", "No plan is open").await;
    stage.end().await;
    decisions(&stage.home, &stage.recording(1))
}

/// What is decided when a recording is played, with what is one run's own left out.
fn decisions(home: &Home, recording: &Path) -> Vec<Value> {
    let done = finish(home.command().arg("replay").arg(recording), b"");
    assert!(done.status.success() && done.err.is_empty(), "{done:?}");
    let names = Names::new(home);
    done.out.lines().map(|line| names.leave_out(serde_json::from_str(line).expect("an object"))).collect()
}

/// What differs from run to run and from platform to platform, and nothing else.
struct Names {
    home: String,
    patterns: Vec<(Regex, &'static str)>,
}

impl Names {
    fn new(home: &Home) -> Self {
        let patterns = [
            // Each platform has its own people.
            (r"(?m)^.* can approve until .*$", "WHO AND UNTIL WHEN"),
            (r"(?m)^\S+ asks to ", "PERSON asks to "),
            (r" on \S+\.\n", " on HOST.\n"),
            (r"Plan [0-9a-f]{4}: ", "Plan SHORT: "),
            (r" on \S+ \([0-9a-f]{4}\)", " on HOST (SHORT)"),
            (r"\b[0-9a-f]{64}\b", "DIGEST"),
            (r"\b[0-9a-f]{32}\b", "ID"),
            (r"\([0-9a-f]{12}\)", "(DIGEST)"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME"),
            (r"process:[^\s:]+:\d+-\d+", "process:HOST:PID-START"),
            (r"host:[^\s:]+", "host:HOST"),
            (r"\b(pid|process) \d+", "$1 PID"),
            (r"looking for \d+", "looking for PID"),
            (r"reading host_log\.tail of \S+", "reading host_log.tail of HOST"),
            (r"\S+ decided it at", "PERSON decided it at"),
            (r"\basked by \S+:", "asked by PERSON:"),
            (r"\b(approve|cancel) by \S+:", "$1 by PERSON:"),
            (r"(ountersigned|ancelled) by \S+?([;:.]| ·)", "$1 by PERSON$2"),
        ];
        let sound = |(pattern, name)| (Regex::new(pattern).expect("a sound pattern"), name);
        Self { home: home.path().display().to_string(), patterns: patterns.map(sound).into() }
    }

    fn leave_out(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(&text).into(),
            Value::Array(all) => all.into_iter().map(|one| self.leave_out(one)).collect(),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let known = |key: &str, value: Value| match key {
            "thread" | "to" if value.is_string() || value.is_object() => own_name(key, value),
            "actor" => "PERSON".into(),
            "observed_at" => "TIME".into(),
            "query" if value.as_str().is_some_and(|query| query.parse::<u32>().is_ok()) => "PID".into(),
            _ => self.leave_out(value),
        };
        fields.into_iter().map(|(key, value)| (key.clone(), known(&key, value))).collect()
    }

    fn text(&self, text: &str) -> String {
        let text = text.replace(&self.home, "HOME");
        let replace = |text: String, (pattern, name): &(Regex, &str)| pattern.replace_all(&text, *name).into_owned();
        self.patterns.iter().fold(text, replace)
    }
}

/// A thread is named by its platform. The word `to` also says which state a plan moves to.
fn own_name(key: &str, value: Value) -> Value {
    if key == "thread" || value.is_object() { "THREAD".into() } else { value }
}

#[tokio::test]
async fn the_core_decides_the_same_on_the_console_and_on_every_chat_platform() {
    let console = on_the_console();
    let (telegram, discord, matrix) = (on::<Telegram>().await, on::<Discord>().await, on::<Matrix>().await);
    for (platform, decided) in [("telegram", telegram), ("discord", discord), ("matrix", matrix)] {
        similar_or_say_where(&console, &decided, platform);
    }
    insta::assert_snapshot!(listed(&console, false), @r#"
    2 record called host_machine.find -: asked by PERSON: last 2 lines of HOME/demo.log
    2 progress looking for every host
    2 call host_machine.find - {}, plan -
    3 record called host_log.tail -: asked by PERSON: last 2 lines of HOME/demo.log
    3 progress reading host_log.tail of HOST
    3 call host_log.tail host:HOST {"lines":2,"path":"HOME/demo.log"}, plan -
    4 finish ID answered
    5 record called host_process.find -: asked by PERSON: stop process PID
    5 progress looking for PID
    5 call host_process.find - {"query":"PID"}, plan -
    6 record refused host_process.stop APPROVAL_REQUIRED: `host_process.stop` must be countersigned first
    6 record called host_process.find -: asked by PERSON: stop process PID
    6 progress looking for napper
    6 call host_process.find - {"query":"process:HOST:PID-START"}, plan -
    7 record proposed host_process.stop -: stop process napper (pid PID); asked by PERSON: stop process PID
    7 file ID: stop process napper (pid PID)
    7 finish ID answered
    8 move ID: pending -> cancelled
    8 record cancelled host_process.stop -: cancel by PERSON: stop process napper (pid PID); reason: it is the wrong one
    8 redraw ID: plain ✗ Cancelled by PERSON: it is the wrong one · stop process napper (pid PID) on HOST (SHORT)
    8 finish ID answered
    9 record refused host_process.stop FSM_BLOCKED: this plan is cancelled already
    9 finish ID answered
    10 record called host_process.find -: asked by PERSON: stop process PID
    10 progress looking for PID
    10 call host_process.find - {"query":"PID"}, plan -
    11 record refused host_process.stop APPROVAL_REQUIRED: `host_process.stop` must be countersigned first
    11 record called host_process.find -: asked by PERSON: stop process PID
    11 progress looking for napper
    11 call host_process.find - {"query":"process:HOST:PID-START"}, plan -
    12 record proposed host_process.stop -: stop process napper (pid PID); asked by PERSON: stop process PID
    12 file ID: stop process napper (pid PID)
    12 finish ID answered
    13 move ID: pending -> approved
    13 record approved host_process.stop -: approve by PERSON: stop process napper (pid PID); waiver: the requester countersigned alone, as policy allows here
    13 redraw ID: plain ✓ Countersigned by PERSON; being done · stop process napper (pid PID) on HOST (SHORT)
    13 record called host_process.find -: asked by PERSON: stop process PID
    13 progress looking for napper
    13 call host_process.find - {"query":"process:HOST:PID-START"}, plan -
    14 move ID: approved -> executing
    14 record executing host_process.stop -: over at the latest at TIME
    14 redraw ID: plain ✓ Countersigned by PERSON; being done · stop process napper (pid PID) on HOST (SHORT)
    14 record called host_process.stop -: asked by PERSON: stop process PID
    14 progress doing it: stop process napper (pid PID)
    14 call host_process.stop process:HOST:PID-START {}, plan ID
    15 move ID: executing -> unverified
    15 record unverified host_process.stop -: done
    15 redraw ID: plain ✓ Countersigned by PERSON; not verified yet · stop process napper (pid PID) on HOST (SHORT)
    15 record called host_process.state -: to verify: stop process napper (pid PID)
    15 progress verifying: stop process napper (pid PID)
    15 call host_process.state process:HOST:PID-START {}, plan -
    16 move ID: unverified -> verified
    16 record verified host_process.stop -: as it should be
    16 redraw ID: plain ✓ Done and verified; countersigned by PERSON · stop process napper (pid PID) on HOST (SHORT)
    16 finish ID answered
    17 finish ID answered
    "#);
}

#[test]
fn the_session_says_this() {
    insta::assert_snapshot!(listed(&on_the_console(), true), @"
    4 say plain
        The last 2 lines of HOME/demo.log:
        second
        third
        Only the end is shown; ask for more lines (at most 500), or for those with a word in them.
    7 say question
        PERSON asks to stop process napper (pid PID) on HOST.
        It is: HOME/napper -c read line napper
        Medium risk. It will be gone.
        WHO AND UNTIL WHEN
        Plan SHORT: “stop process PID”
        to decide: plan ID
    8 say plain
        Cancelled: stop process napper (pid PID). Reason: it is the wrong one. Nothing was changed.
    9 say refused
        This plan is cancelled already.
        (FSM_BLOCKED, gate `decision`)
        PERSON decided it at TIME: it is the wrong one.
    12 say question
        PERSON asks to stop process napper (pid PID) on HOST.
        It is: HOME/napper -c read line napper
        Medium risk. It will be gone.
        WHO AND UNTIL WHEN
        Plan SHORT: “stop process PID”
        to decide: plan ID
    16 say plain
        Done and verified: stop process napper (pid PID). A fresh read shows that napper is gone.
    17 say plain
        No plan is open in this thread.
    ");
}

/// The first line that differs says more than two pages.
fn similar_or_say_where(console: &[Value], chat: &[Value], platform: &str) {
    let lines = |decisions: &[Value]| decisions.iter().map(Value::to_string).collect::<Vec<_>>();
    let (console, chat) = (lines(console), lines(chat));
    for (at, (console, chat)) in console.iter().zip(&chat).enumerate() {
        assert_eq!(console, chat, "decision {at} on {platform}");
    }
    assert_eq!(console.len(), chat.len(), "{platform}");
}

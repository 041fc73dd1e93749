//! A team's chat on a platform's fake, with the real binary as its bot: people who write and press, a bot that can be killed
//! and started again, and waits that are woken by what the bot does. What is right is not here.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use regex::{Captures, Regex};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::bot::Home;
use super::chat::{Chat, Shown, Told};
use super::database;

/// Asks for changes, and could countersign those of others.
pub(crate) const ANN: i64 = 11;
/// Countersigns.
pub(crate) const BOB: i64 = 12;
/// Countersigns, too.
pub(crate) const CAROL: i64 = 13;
/// May look, and no more.
pub(crate) const TOM: i64 = 14;
/// Nobody knows her.
pub(crate) const EVE: i64 = 15;

/// Who they are to the bot, on whichever platform: `PLATFORM:11` stands for an account there.
pub(crate) const ACCESS: &str = r#"
[[people]]
name = "ann"
accounts = ["PLATFORM:11"]
roles = ["operator", "approver"]

[[people]]
name = "bob"
accounts = ["PLATFORM:12"]
roles = ["approver"]

[[people]]
name = "carol"
accounts = ["PLATFORM:13"]
roles = ["approver"]

[[people]]
name = "tom"
accounts = ["PLATFORM:14"]
roles = ["viewer"]
"#;

/// No limit gets in the way of a test that is not about limits.
const CONFIG: &str = r"
rates.open_per_person = 1000
rates.person = { per_minute = 60000, burst = 10000 }
rates.stranger = { per_minute = 60000, burst = 10000 }
rates.strangers = { per_minute = 60000, burst = 10000 }
rates.room = { per_minute = 60000, burst = 10000 }
rates.team = { per_minute = 60000, burst = 10000 }
rates.resolve = { per_minute = 60000, burst = 10000 }
rates.read = { per_minute = 60000, burst = 10000 }
rates.write = { per_minute = 60000, burst = 10000 }
";

/// How fast the bot may talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as it can: the fake lets everything pass unless it is told otherwise.
    Free,
    /// Once a second in a room.
    OneASecond,
}

/// How long a wait may take before a test fails: far more than is needed, also on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

/// How a bot is set up.
#[derive(Clone, Copy)]
pub(crate) struct Script<'a> {
    /// The access file, in which `PLATFORM:11` stands for an account. Empty: there is none.
    pub(crate) access: &'a str,
    /// A policy of the team's own, in Cedar. Empty: there is none.
    pub(crate) policy: &'a str,
    /// More of `countersign.toml`, at its end.
    pub(crate) config: &'a str,
    /// How fast the bot may talk.
    pub(crate) pace: Pace,
    /// What is logged, as `log.level`. Empty: it is not set.
    pub(crate) log: &'a str,
    /// Whether each run is recorded, into `session-N.jsonl`.
    pub(crate) record: bool,
    /// How many KiB of memory the bot may write to, and each of its tool servers. None: as many as there are.
    pub(crate) memory_kib: Option<u32>,
}

impl Default for Script<'_> {
    fn default() -> Self {
        Self { access: ACCESS, policy: "", config: "", pace: Pace::Free, log: "info", record: false, memory_kib: None }
    }
}

/// A plan's card as it stands in a chat.
#[derive(Clone, Debug)]
pub(crate) struct Card<R> {
    pub(crate) room: R,
    /// The message that asked for it.
    pub(crate) asked: i64,
    /// The card itself.
    pub(crate) message: i64,
    pub(crate) text: String,
    /// The plan's full id.
    pub(crate) plan: String,
    /// What its buttons carry, to be pressed also when they are gone.
    pub(crate) approve: String,
    pub(crate) deny: String,
}

/// The fake, the bot, and its home. The bot is killed when this is dropped.
pub(crate) struct Stage<C: Chat> {
    pub(crate) fake: C,
    pub(crate) home: Home,
    /// The team's room.
    pub(crate) ops: C::Room,
    log: String,
    record: bool,
    memory_kib: Option<u32>,
    runs: usize,
    bot: Option<Child>,
}

impl<C: Chat> Stage<C> {
    /// A team and its bot, which listens.
    pub(crate) async fn start() -> Self {
        Self::with(Script::default()).await
    }

    /// The same, set up otherwise.
    pub(crate) async fn with(script: Script<'_>) -> Self {
        Self::among(C::open(LIMIT).await, script).await
    }

    /// The same, on a platform that was made before.
    pub(crate) async fn among(fake: C, script: Script<'_>) -> Self {
        for (id, name) in [(ANN, "Ann"), (BOB, "Bob"), (CAROL, "Carol"), (TOM, "Tom"), (EVE, "Eve")] {
            fake.person(id, name);
        }
        let ops = fake.room("ops");
        Self::set_up(fake, ops, script).await
    }

    /// Another bot with the same token, in a home of its own.
    pub(crate) async fn beside(&self) -> Self {
        Self::set_up(self.fake.clone(), self.ops, Script::default()).await
    }

    async fn set_up(fake: C, ops: C::Room, script: Script<'_>) -> Self {
        let home = Home::new();
        home.write("countersign.toml", config(&fake, &script));
        if !script.access.is_empty() {
            home.write("access.toml", Self::access(script.access));
        }
        if !script.policy.is_empty() {
            home.write("policies/own.cedar", script.policy);
        }
        let log = script.log.to_owned();
        let Script { record, memory_kib, .. } = script;
        let mut stage = Self { fake, home, ops, log, record, memory_kib, runs: 0, bot: None };
        stage.go_on().await;
        stage
    }

    /// An access file of this platform.
    pub(crate) fn access(script: &str) -> String {
        let account = Regex::new(r"PLATFORM:(\d+)").expect("a sound pattern");
        let named = |found: &Captures<'_>| {
            let id = found[1].parse().expect("it is a number");
            format!("{}:{}", C::PLATFORM, C::account(id))
        };
        format!("{}{}", C::ACCESS, account.replace_all(script, named))
    }

    /// Starts the bot again on the same data, and waits until it listens.
    pub(crate) async fn go_on(&mut self) {
        self.runs += 1;
        let mark = self.fake.mark();
        let file = self.home.path().join("log");
        let log = OpenOptions::new().create(true).append(true).open(file).expect("a log file can be opened");
        let mut command = self.home.bot();
        command.env(C::TOKEN, self.fake.bot_token());
        if !self.log.is_empty() {
            command.env("COUNTERSIGN_LOG__LEVEL", &self.log);
        }
        if self.record {
            command.arg("--record").arg(self.recording(self.runs));
        }
        if let Some(most) = self.memory_kib {
            command = within_memory(&command, most);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let bot = Command::from(command).kill_on_drop(true).spawn();
        self.bot = Some(bot.expect("the binary can be started"));
        self.fake.listens_since(mark).await;
    }

    /// Ends the bot at once, as a crash would.
    pub(crate) async fn kill(&mut self) {
        let mut bot = self.bot.take().expect("invariant: it runs");
        bot.start_kill().expect("it can be killed");
        timeout(LIMIT, bot.wait()).await.expect("it ends").expect("it can be waited for");
        self.fake.has_heard_all().await;
    }

    /// Asks the bot to end, and waits until it has.
    pub(crate) async fn end(&mut self) {
        let mut bot = self.bot.take().expect("invariant: it runs");
        kill(Pid::from_raw(self.pid_of(&bot)), Signal::SIGTERM).expect("it can be asked");
        let status = timeout(LIMIT, bot.wait()).await.expect("it ends").expect("it can be waited for");
        assert!(status.success(), "{status}: {}", self.logged());
    }

    /// Waits until the bot has ended of its own accord.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut bot = self.bot.take().expect("invariant: it runs");
        timeout(LIMIT, bot.wait()).await.expect("it ends").expect("it can be waited for")
    }

    /// Kills the bot and starts it again.
    pub(crate) async fn restart(&mut self) {
        self.kill().await;
        self.go_on().await;
    }

    /// The bot's process.
    pub(crate) fn pid(&self) -> i32 {
        self.pid_of(self.bot.as_ref().expect("invariant: it runs"))
    }

    #[expect(clippy::unused_self, reason = "it is a question to the stage")]
    fn pid_of(&self, bot: &Child) -> i32 {
        bot.id().and_then(|pid| i32::try_from(pid).ok()).expect("invariant: it was not waited for")
    }

    /// The recording of this run.
    pub(crate) fn recording(&self, run: usize) -> PathBuf {
        self.home.path().join(format!("session-{run}.jsonl"))
    }

    /// Everything that the bot wrote to its standard error, in all its runs.
    pub(crate) fn logged(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    /// Waits until the bot has written such a line to its standard error; all of it.
    pub(crate) async fn logs(&self, line: &Regex) -> String {
        let written = async {
            loop {
                let log = self.logged();
                if line.is_match(&log) {
                    return log;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(LIMIT, written).await.unwrap_or_else(|_| panic!("{line} is not in {}", self.logged()))
    }

    /// The database file.
    pub(crate) fn database(&self) -> PathBuf {
        self.home.data().join("countersign.db")
    }

    /// How a plan stands, as it is stored.
    pub(crate) async fn state(&self, card: &Card<C::Room>) -> String {
        let sql = format!("SELECT state FROM plans WHERE id = '{}'", card.plan);
        database::rows(&self.database(), &sql).await.concat().concat()
    }

    /// The rows of the audit trail of which this holds.
    pub(crate) async fn recorded(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let trail = database::trail(&self.database()).await;
        trail.into_iter().filter(|row| wanted(row)).collect()
    }

    /// Says something to the bot: addressed where others could be meant. The message's id.
    pub(crate) fn say(&self, who: i64, room: C::Room, text: &str) -> i64 {
        self.fake.write(who, room, &self.fake.to_the_bot(room, text), None)
    }

    /// The first message of the bot's that answers this one and has these words in it.
    pub(crate) async fn answer(&self, room: C::Room, asked: i64, words: &str) -> Shown {
        let answers = self.answers(room, asked);
        self.fake.seen(room, |message| answers(message) && message.text.contains(words)).await
    }

    /// Whether a message answers this one. In a room of all the bot answers as a reply; in a private one whatever comes later
    /// may be the answer.
    fn answers(&self, room: C::Room, asked: i64) -> impl Fn(&Shown) -> bool + use<C> {
        let is_private = self.fake.is_private(room);
        move |message| message.from_bot && message.id > asked && (is_private || message.reply_to == Some(asked))
    }

    /// Says something to the bot, and waits for its answer with these words in it.
    pub(crate) async fn ask(&self, who: i64, room: C::Room, text: &str, words: &str) -> Shown {
        self.answer(room, self.say(who, room, text), words).await
    }

    /// Answers a message, and waits for what the bot says to that.
    pub(crate) async fn reply(&self, who: i64, (room, to): (C::Room, i64), text: &str, words: &str) -> Shown {
        self.answer(room, self.fake.write(who, room, text, Some(to)), words).await
    }

    /// Asks for a change, and waits for its card.
    pub(crate) async fn card(&self, who: i64, room: C::Room, text: &str) -> Card<C::Room> {
        self.card_of(room, self.say(who, room, text)).await
    }

    /// The card that answers a message.
    pub(crate) async fn card_of(&self, room: C::Room, asked: i64) -> Card<C::Room> {
        let answers = self.answers(room, asked);
        let is_card = |message: &Shown| answers(message) && message.labels() == ["Approve", "Deny", "Details"];
        let message = self.fake.seen(room, is_card).await;
        let plan = self.plan_on(&message).await;
        Card {
            room,
            asked,
            message: message.id,
            plan,
            approve: message.buttons[0].1.clone(),
            deny: message.buttons[1].1.clone(),
            text: message.text.clone(),
        }
    }

    /// The full id of the plan whose short one stands on a card.
    pub(crate) async fn plan_on(&self, card: &Shown) -> String {
        let short = Regex::new(r"(?m)^Plan ([0-9a-f]{4}): ").expect("a sound pattern");
        let short =
            short.captures(&card.text).unwrap_or_else(|| panic!("no plan is named: {}", card.text))[1].to_owned();
        let plans = database::rows(&self.database(), "SELECT id FROM plans").await.concat();
        plans.into_iter().find(|plan| plan.starts_with(&short)).expect("it is stored")
    }

    /// Accepts the database as it is by now, as an administrator does; the bot must not run.
    pub(crate) fn adopt(&self) {
        let adopted = super::bot::finish(self.home.bot().args(["seal", "adopt"]), b"");
        assert!(adopted.status.success(), "{adopted:?}");
    }

    /// Waits until everything that was said is stored as sent, so that a crash repeats none of it.
    pub(crate) async fn settled(&self) {
        let sql = "SELECT id FROM outbox WHERE state IN ('pending', 'sending') \
                   UNION ALL SELECT plan FROM cards WHERE shown < version";
        let stored = async { while !database::rows(&self.database(), sql).await.is_empty() {} };
        timeout(LIMIT, stored).await.expect("what was said is stored as sent");
    }

    /// Presses Approve, which must be there, and waits for what whoever pressed is shown.
    pub(crate) async fn approve(&self, who: i64, card: &Card<C::Room>) -> Told {
        self.fake.told(&self.fake.press_button(who, card.room, card.message, "Approve")).await
    }

    /// Sends this data as if a button of this message bore it.
    pub(crate) async fn press(&self, who: i64, (room, message): (C::Room, i64), data: &str) -> Told {
        self.fake.told(&self.fake.press_data_of(who, room, message, data)).await
    }

    /// The bot's first message in the room with these words in it.
    pub(crate) async fn said(&self, room: C::Room, words: &str) -> Shown {
        self.fake.seen(room, |message| message.from_bot && message.text.contains(words)).await
    }

    /// Waits until a message that is there reads so.
    pub(crate) async fn reads(&self, (room, id): (C::Room, i64), words: &str) -> Shown {
        self.fake.seen(room, |message| message.id == id && message.text.contains(words)).await
    }

    /// The bot's messages that stand in the room now.
    pub(crate) fn shown(&self, room: C::Room) -> Vec<Shown> {
        self.fake.all(room).into_iter().filter(|message| message.from_bot && !message.deleted).collect()
    }

    /// Everything that was sent before is heard and answered, and the plan still waits: asked in the plan's own thread, by
    /// somebody who may only look.
    pub(crate) async fn still_pending(&self, card: &Card<C::Room>) {
        let listed = self.reply(TOM, (card.room, card.message), "approvals", "State: ").await;
        assert!(listed.text.contains(&card.plan) && listed.text.contains("State: pending"), "{}", listed.text);
        assert_eq!(self.state(card).await, "pending");
    }
}

/// The same command, which may write to so much memory: private pages, stacks of threads and what it maps for itself.
fn within_memory(command: &std::process::Command, most_kib: u32) -> std::process::Command {
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", r#"ulimit -d "$0" && exec "$@""#]).arg(most_kib.to_string());
    limited.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

impl<C: Chat> Drop for Stage<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.logged();
            let lines: Vec<&str> = log.lines().collect();
            let tail = lines[lines.len().saturating_sub(40)..].join("\n");
            eprintln!("{}\n\nthe end of the bot's log:\n{tail}", self.fake.picture(self.ops));
        }
    }
}

fn config<C: Chat>(fake: &C, script: &Script<'_>) -> String {
    let access = match (script.access, script.policy) {
        ("", _) => "",
        (_, "") => "access.file = \"access.toml\"\n",
        (_, _) => "access.file = \"access.toml\"\naccess.policies = \"policies\"\n",
    };
    format!("{access}{CONFIG}\n{}{}", fake.configuration(script.pace), script.config)
}

//! A process that is killed loses no accepted signal and answers none twice. The real binary is driven over its JSON
//! lines, by a script that sends again what was not acknowledged, as a platform does; afterwards the script's record is
//! held against the database file. The session here asks questions only; the one that changes something is in
//! `kill/writes.rs`. Crashes inside the store alone are tested in `store.rs`.

mod figures;
mod ledger;
mod record;
mod stored;
mod trail;
mod writes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::support::killed_bot::{Heard, KilledBot, alive, alive_after};
use record::Record;

/// How many kills (`KILLS`).
const KILLS: u64 = 200;

/// How many questions are open at a time: enough that a kill meets a queue, few enough that a life gets through some.
const OPEN_MAX: usize = 5;

/// About what one answer takes, in microseconds: a kill falls within it after the line that was waited for.
const ANSWER_US: u64 = 120_000;

/// About what one commit takes, in microseconds.
const COMMIT_US: u64 = 4_000;

/// How long a bot may take to answer what is left and end, with what its tool server may take to end.
const END_MAX: Duration = Duration::from_mins(1);

/// How long after the end of the bot its tool server may still be seen: it has to notice that its input was closed.
const SPOKE_END_MAX: Duration = Duration::from_secs(5);

/// How long a stop that was asked for may take.
const STOP_MAX: Duration = Duration::from_secs(15);

/// What is asked, over and over; `#` is the question's number, which the answer to it repeats.
const QUESTIONS: [&str; 12] = [
    "disk usage",
    "status",
    "make coffee number #",
    "memory",
    "show file /etc/shadow",
    "load",
    "process 1",
    "show it in detail",
    "who am i",
    "brew tea number #",
    "why",
    "show file /etc/hosts",
];

/// A small repeatable generator (`SplitMix64`).
pub(crate) struct Chance(u64);

impl Chance {
    /// The same numbers for the same seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// A place in something that long.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("invariant: below an index")
    }
}

/// A directory, and the script that goes on in it however often the bot is started.
struct Script {
    directory: TempDir,
    record: Record,
}

impl Script {
    fn new() -> Self {
        Self { directory: TempDir::with_prefix("countersign-kill-").expect("a directory"), record: Record::default() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn database(&self) -> PathBuf {
        self.path().join("data/countersign.db")
    }

    /// Starts the bot and sends again what is not known to be stored.
    fn start(&mut self) -> KilledBot {
        let mut bot = KilledBot::start(self.path());
        self.record.begin_life();
        for number in self.record.unacknowledged() {
            ask(&mut bot, number);
        }
        bot
    }

    /// Sends new questions.
    fn go_on(&mut self, bot: &mut KilledBot, count: usize) {
        for _ in 0..count {
            ask(bot, self.record.next_question());
        }
    }

    /// One life: some questions, some of the lines that must come, a moment more, and the kill.
    fn live_and_be_killed(&mut self, chance: &mut Chance) {
        let mut bot = self.start();
        let room = OPEN_MAX.saturating_sub(self.record.open()).max(1);
        let unacknowledged = |record: &Record| record.unacknowledged().len();
        let (lines, delay_us) = match chance.below(8) {
            // While it starts: nothing was heard of it.
            0 => {
                self.go_on(&mut bot, 1);
                (0, chance.below(ANSWER_US))
            }
            // While it takes a burst of questions.
            1 | 2 => {
                self.go_on(&mut bot, OPEN_MAX);
                (chance.index(unacknowledged(&self.record)), chance.below(COMMIT_US))
            }
            // Anywhere: every open question will be answered, and what is not acknowledged will be that as well.
            moment => {
                self.go_on(&mut bot, 1 + chance.index(room));
                let expected = self.record.open() + unacknowledged(&self.record);
                let delay_us = [0, COMMIT_US, ANSWER_US][usize::from(moment > 4) + usize::from(moment > 6)];
                (1 + chance.index(expected), chance.below(delay_us + 1))
            }
        };
        for _ in 0..lines {
            self.hear_one(&bot);
        }
        self.listen_for(&bot, Duration::from_micros(delay_us));
        self.note_all(&bot.kill());
        self.record.end_killed_life();
    }

    /// Takes note of a line that must come. Where none does, something was lost, and what that was is judged at once.
    fn hear_one(&mut self, bot: &KilledBot) {
        let Some(line) = bot.must_hear() else {
            let stored = stored::Stored::read(&self.database());
            panic!("it says nothing more; as things stand:\n{}", self.record.judge(&stored, &judge_content).join("\n"));
        };
        self.record.note(&line);
    }

    fn note_all(&mut self, lines: &[Value]) {
        for line in lines {
            self.record.note(line);
        }
    }

    fn listen_for(&mut self, bot: &KilledBot, delay: Duration) {
        let over = Instant::now() + delay;
        loop {
            match bot.hear(over.saturating_duration_since(Instant::now())) {
                Heard::Line(line) => self.record.note(&line),
                Heard::Nothing => return,
                Heard::End => panic!("it has ended by itself"),
            }
        }
    }

    /// The last life: nothing more is asked, and the bot ends when all is answered.
    fn live_to_the_end(&mut self) {
        let mut bot = self.start();
        bot.close_input();
        let (status, lines) = bot.end(END_MAX);
        self.note_all(&lines);
        assert!(status.success(), "the last run ended with {status}");
    }

    /// Holds what was seen against what is stored, and looks for processes that were left behind.
    fn judge(&self) -> stored::Stored {
        let left = alive_after(self.path(), SPOKE_END_MAX);
        assert!(left.is_empty(), "left alive: {left:#?}");
        let stored = stored::Stored::read(&self.database());
        let wrong = self.record.judge(&stored, &judge_content);
        assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
        stored
    }
}

/// An answer belongs to its question: what is not understood is repeated with its number, and the secret file is
/// refused. A request that was set aside has a notice instead.
fn judge_content(number: usize, signal: &stored::Signal, prints: &[record::Print]) -> Result<(), String> {
    let said = prints.first().map(|print| print.content.to_string()).unwrap_or_default();
    let asked = QUESTIONS[number % QUESTIONS.len()];
    let fits = match signal.ending.as_str() {
        "answered" if asked.contains('#') => said.contains(&asked.replace('#', &number.to_string())),
        "answered" if asked.contains("shadow") => said.contains(r#""refused""#),
        "answered" => !said.contains("I set aside"),
        ending => ending == "interrupted" && said.contains("I set aside"),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{} “{asked}” ({}) has another's answer: {said}", record::event(number), signal.ending))
    }
}

fn ask(bot: &mut KilledBot, number: usize) {
    let text = QUESTIONS[number % QUESTIONS.len()].replace('#', &number.to_string());
    bot.say(&json!({"event": record::event(number), "text": text}));
}

pub(crate) fn setting(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text}")))
}

#[test]
fn two_hundred_kills_lose_nothing_and_answer_nothing_twice() {
    let kills = setting("KILLS", KILLS);
    // Another seed for each run, so that many runs see many moments; it is printed, so that a run can be had again.
    let seed = setting("KILL_SEED", u64::from(std::process::id()));
    println!("KILL_SEED={seed}");
    let (mut script, mut chance, begun) = (Script::new(), Chance::new(seed), Instant::now());
    for _ in 0..kills {
        script.live_and_be_killed(&mut chance);
    }
    script.live_to_the_end();
    let stored = script.judge();
    println!(
        "{kills} kills, {} starts, {:.1} s; {}",
        kills + 1,
        begun.elapsed().as_secs_f32(),
        script.record.figures(&stored)
    );
}

#[test]
fn a_bot_that_is_asked_to_stop_ends_by_itself_and_answers_the_rest_after_the_next_start() {
    let mut script = Script::new();
    let mut bot = script.start();
    script.go_on(&mut bot, QUESTIONS.len());
    while !script.record.unacknowledged().is_empty() || script.record.open() == QUESTIONS.len() {
        script.hear_one(&bot);
    }
    assert_eq!(alive(script.path()).len(), 2, "the bot and its tool server: {:#?}", alive(script.path()));
    bot.terminate();
    let (status, lines) = bot.end(STOP_MAX);
    script.note_all(&lines);
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(script.record.open() > 0, "it was asked in the middle, and has not answered all before it stopped");
    assert_eq!(alive_after(script.path(), Duration::ZERO), [""; 0], "it ends its tool server before it ends itself");
    script.live_to_the_end();
    script.judge();
    assert_eq!(script.record.repeats(), 0, "nothing was cut off, so that nothing is repeated");
}

//! A session that changes files, killed at any moment: the bot, its tool server, or both. Nothing that was accepted is
//! lost, no line is written twice, and whatever nobody can know is said and looked at once it can be known. What is
//! judged is in `ledger.rs` and `trail.rs`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

use super::figures::{Figures, Kills};
use super::ledger::Ledger;
use super::record::Print;
use super::stored::{Signal, Stored};
use super::trail::{Ends, Trail};
use super::{Chance, SPOKE_END_MAX, setting};
use crate::support::killed_bot::{Heard, KilledBot, alive_after, strike};

/// How many kills (`KILLS`).
const KILLS: u64 = 500;

/// How many runs there are side by side: one bot keeps about one processor busy with starting.
const RUNS: u64 = 2;

/// How many sessions of a run take turns, each with its own data.
const SESSIONS: u64 = 4;

/// How long a turn is. The turns of the others are together longer than a change whose outcome is unknown may still be
/// made (a permit of 1 s, 20 s for an append, 1 s of slack), so that the first bot of a turn starts after that time.
const TURN: Duration = Duration::from_secs(8);

/// The threads of a session. A change whose outcome is unknown holds up its own thread only.
const THREADS: usize = 12;

/// How long a thread is left to questions after an unknown outcome: as long as it may still be made.
const HELD: Duration = Duration::from_secs(23);

/// About what a change takes from the click to its verification; measured anew where one comes through.
const CLICK_US: u64 = 150_000;

/// About what a start takes.
const START_US: u64 = 200_000;

/// The longest wait after the acceptance of a click: what it leads to begins within it.
const SOON_US: u64 = 20_000;

/// How long everything that is open may take to be done after the last kill: an unknown outcome, and a verification
/// that could not be made at first and is tried again.
const SETTLE_MAX: Duration = Duration::from_secs(90);

/// How long one answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

const QUESTIONS: [&str; 5] = ["memory", "who am i", "load", "approvals", "verify"];

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blow {
    /// The bot; its tool server sees its input end.
    Bot,
    /// The bot and its tool server.
    Both,
    /// The tool server under a living bot.
    Server,
}

/// A directory, and the script that goes on in it however often the bot is started.
struct Session {
    directory: TempDir,
    ledger: Ledger,
    chance: Chance,
    /// Until when a thread is better left to questions.
    held: [Option<Instant>; THREADS],
    /// What a change takes from the click to its answer, in microseconds.
    click_us: u64,
    kills: Kills,
    starts: u64,
}

impl Session {
    fn new(seed: u64) -> Self {
        let directory = TempDir::with_prefix("countersign-kill-").expect("a directory");
        std::fs::create_dir(directory.path().join("files")).expect("a directory");
        let config = "[limits]\npermit_seconds = 1\n";
        std::fs::write(directory.path().join("countersign.toml"), config).expect("a configuration");
        let (ledger, chance) = (Ledger::default(), Chance::new(seed));
        Self {
            directory,
            ledger,
            chance,
            held: [None; THREADS],
            click_us: CLICK_US,
            kills: Kills::default(),
            starts: 0,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn database(&self) -> PathBuf {
        self.path().join("data/countersign.db")
    }

    /// Starts the bot for a thread and sends again what is not known to be stored there.
    fn start(&mut self, thread: usize) -> KilledBot {
        let mut bot = KilledBot::start_in(self.path(), &format!("t{thread}"));
        self.starts += 1;
        self.ledger.record.begin_life();
        for line in self.ledger.unacknowledged(thread) {
            bot.say(&line);
        }
        bot
    }

    /// One life, to its kill.
    fn live_and_be_killed(&mut self) {
        let thread = self.chance.index(THREADS);
        let thread = (0..THREADS).map(|n| (thread + n) % THREADS).find(|n| !self.is_held(*n)).unwrap_or(thread);
        let mut bot = self.start(thread);
        match self.chance.below(20) {
            0 => self.die_early(bot, thread),
            1 | 2 => self.die_in_a_burst(bot, thread),
            3 | 4 => {
                // Its card waits for a later life.
                let file = self.file_of_its_own();
                self.show_a_card(&mut bot, thread, file);
                self.listen_a_moment(&bot, SOON_US);
                self.end_life(bot, Blow::Bot, &[]);
            }
            _ => self.decide_and_die(bot, thread),
        }
    }

    fn is_held(&self, thread: usize) -> bool {
        self.held[thread].is_some_and(|until| until > Instant::now())
    }

    fn die_early(&mut self, mut bot: KilledBot, thread: usize) {
        self.ask(&mut bot, thread);
        self.propose(&mut bot, thread, self.log(thread));
        self.listen_a_moment(&bot, START_US);
        let blow = self.blow();
        self.end_life(bot, blow, &[]);
    }

    fn die_in_a_burst(&mut self, mut bot: KilledBot, thread: usize) {
        for _ in 0..3 {
            self.ask(&mut bot, thread);
            let file = self.file_of_its_own();
            self.propose(&mut bot, thread, file);
        }
        for _ in 0..self.chance.index(12) {
            self.hear_one(&bot);
        }
        self.listen_a_moment(&bot, SOON_US);
        let servers = bot.servers();
        self.end_life(bot, Blow::Both, &servers);
    }

    /// Decides about a change, of this life or of an earlier one, and dies about then.
    fn decide_and_die(&mut self, mut bot: KilledBot, thread: usize) {
        let waiting = self.ledger.waiting(thread);
        let plan = if !waiting.is_empty() && self.chance.below(5) < 3 {
            waiting[self.chance.index(waiting.len())]
        } else {
            let file = self.log(thread);
            self.show_a_card(&mut bot, thread, file)
        };
        if self.ledger.planned[plan].card.is_none() {
            return self.end_life(bot, Blow::Bot, &[]);
        }
        let approve = self.chance.below(8) > 0;
        if self.chance.below(6) == 0 && self.ledger.is_alone(plan) {
            self.drift(plan);
        }
        let servers = bot.servers();
        let (before, begun) = (self.size(plan), Instant::now());
        let click = self.decide(&mut bot, plan, approve);
        if self.chance.below(6) == 0 {
            self.decide(&mut bot, plan, approve);
        }
        if self.chance.below(4) == 0 {
            self.ask(&mut bot, thread);
        }
        match self.chance.below(10) {
            0..=2 => self.listen_a_moment(&bot, self.click_us),
            3 | 4 => {
                self.hear_until(&bot, |session| session.ledger.record.signal(click).is_some());
                self.listen_a_moment(&bot, SOON_US);
            }
            5 | 6 => self.hear_until_written(&bot, plan, before, click),
            7 | 8 => {
                let commits = 1 + self.chance.index(4);
                self.hear_until_committed(&bot, commits, click);
            }
            _ => {
                self.hear_until(&bot, |session| session.ledger.is_answered(click));
                let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(CLICK_US);
                self.click_us = u64::midpoint(self.click_us, took.min(4 * CLICK_US));
            }
        }
        self.strike_after(bot, click, &servers);
    }

    /// Kills something after a click.
    fn strike_after(&mut self, bot: KilledBot, click: usize, servers: &[Pid]) {
        self.kills.at_work += u64::from(!self.ledger.is_answered(click));
        let blow = self.blow();
        if blow == Blow::Server {
            strike(servers);
            self.kills.server += 1;
            // The bot lives on, and says what it knows.
            self.hear_until(&bot, |session| session.ledger.is_answered(click));
        }
        self.end_life(bot, if blow == Blow::Server { Blow::Both } else { blow }, servers);
    }

    /// The last life of a turn is killed in the middle of a change: the next start is after its time is over.
    fn rest(&mut self) {
        let Some(thread) = (0..THREADS).find(|thread| !self.is_held(*thread)) else { return };
        let mut bot = self.start(thread);
        let file = self.file_of_its_own();
        let plan = self.show_a_card(&mut bot, thread, file);
        let servers = bot.servers();
        if self.ledger.planned[plan].card.is_some() {
            let click = self.decide(&mut bot, plan, true);
            self.hear_until_written(&bot, plan, 0, click);
            self.kills.at_work += u64::from(!self.ledger.is_answered(click));
        }
        self.end_life(bot, Blow::Both, &servers);
    }

    fn blow(&mut self) -> Blow {
        match self.chance.below(12) {
            0..=5 => Blow::Both,
            6..=9 => Blow::Bot,
            _ => Blow::Server,
        }
    }

    fn end_life(&mut self, bot: KilledBot, blow: Blow, servers: &[Pid]) {
        let lines = if blow == Blow::Both {
            self.kills.both += 1;
            bot.kill_with(servers, self.chance.below(2) == 0)
        } else {
            self.kills.bot += 1;
            bot.kill()
        };
        for line in &lines {
            self.note(line);
        }
        self.ledger.record.end_killed_life();
    }

    /// A file that many lines are added to.
    fn log(&self, thread: usize) -> PathBuf {
        self.path().join(format!("files/log-{thread}.txt"))
    }

    /// A file that does not exist yet, so that no other change stands between a card and its decision.
    fn file_of_its_own(&self) -> PathBuf {
        self.path().join(format!("files/own-{}.txt", self.ledger.planned.len()))
    }

    fn size(&self, plan: usize) -> u64 {
        std::fs::metadata(&self.ledger.planned[plan].file).map_or(0, |meta| meta.len())
    }

    /// Somebody else changes the file that a card was about.
    fn drift(&mut self, plan: usize) {
        let planned = &mut self.ledger.planned[plan];
        let mut file = OpenOptions::new().create(true).append(true).open(&planned.file).expect("the file opens");
        writeln!(file, "somebody else was here before {}", planned.text).expect("the file is written");
        planned.drifted = true;
    }

    fn ask(&mut self, bot: &mut KilledBot, thread: usize) {
        let text = QUESTIONS[self.chance.index(QUESTIONS.len())];
        let (_, line) = self.ledger.question(thread, text);
        bot.say(&line);
    }

    fn propose(&mut self, bot: &mut KilledBot, thread: usize, file: PathBuf) -> usize {
        let (number, line) = self.ledger.propose(thread, file);
        bot.say(&line);
        number
    }

    /// Asks for a change and waits for its card. Returns which change it is.
    fn show_a_card(&mut self, bot: &mut KilledBot, thread: usize, file: PathBuf) -> usize {
        let plan = self.ledger.planned.len();
        let number = self.propose(bot, thread, file);
        self.hear_until(bot, |session| session.ledger.is_answered(number));
        plan
    }

    fn decide(&mut self, bot: &mut KilledBot, plan: usize, approve: bool) -> usize {
        let typed = self.chance.below(3) == 0;
        let (number, line) = self.ledger.decide(plan, approve, typed);
        bot.say(&line);
        number
    }

    fn note(&mut self, line: &Value) {
        if let Some(thread) = self.ledger.note(line) {
            self.held[thread] = Some(Instant::now() + HELD);
        }
    }

    /// Takes note of a line that must come. Where none does, something was lost.
    fn hear_one(&mut self, bot: &KilledBot) {
        match bot.must_hear() {
            Some(line) => self.note(&line),
            None => panic!("it says nothing more; unfinished is {:#?}", self.unfinished()),
        }
    }

    fn hear_until(&mut self, bot: &KilledBot, is_so: impl Fn(&Self) -> bool) {
        let over = Instant::now() + ANSWER_MAX;
        while !is_so(self) {
            assert!(Instant::now() < over, "not answered; unfinished is {:#?}", self.unfinished());
            self.hear_one(bot);
        }
    }

    /// Listens until the file of a change is another than before, or the click was answered.
    fn hear_until_written(&mut self, bot: &KilledBot, plan: usize, before: u64, click: usize) {
        let over = Instant::now() + ANSWER_MAX;
        while !self.ledger.is_answered(click) {
            if self.size(plan) != before {
                self.kills.at_write += 1;
                return;
            }
            assert!(Instant::now() < over, "neither written nor answered: {:#?}", self.unfinished());
            self.listen_for(bot, Duration::from_millis(1));
        }
    }

    /// Listens until the database was changed so many times (taken in, approved, begun, done), or the click was answered.
    fn hear_until_committed(&mut self, bot: &KilledBot, commits: usize, click: usize) {
        let (mut before, mut seen) = (self.log_changed(), 0);
        let over = Instant::now() + ANSWER_MAX;
        while seen < commits && !self.ledger.is_answered(click) {
            assert!(Instant::now() < over, "neither stored nor answered: {:#?}", self.unfinished());
            self.listen_for(bot, Duration::from_millis(1));
            let now = self.log_changed();
            seen += usize::from(now != before);
            before = now;
        }
    }

    /// When the database's log was changed last.
    fn log_changed(&self) -> Option<SystemTime> {
        std::fs::metadata(self.path().join("data/countersign.db-wal")).and_then(|meta| meta.modified()).ok()
    }

    fn unfinished(&self) -> Vec<String> {
        Stored::read(&self.database()).unfinished()
    }

    /// Listens for a while below this.
    fn listen_a_moment(&mut self, bot: &KilledBot, below_us: u64) {
        let delay = Duration::from_micros(self.chance.below(below_us + 1));
        self.listen_for(bot, delay);
    }

    fn listen_for(&mut self, bot: &KilledBot, delay: Duration) {
        let over = Instant::now() + delay;
        loop {
            match bot.hear(over.saturating_duration_since(Instant::now())) {
                Heard::Line(line) => self.note(&line),
                Heard::Nothing => return,
                Heard::End => panic!("it has ended by itself"),
            }
        }
    }

    /// The last lives: nothing new is asked, what was not acknowledged is sent again, and the bot ends by itself once
    /// everything that was begun is verified.
    fn live_to_the_end(&mut self) {
        for thread in 0..THREADS {
            if thread + 1 < THREADS && self.ledger.unacknowledged(thread).is_empty() {
                continue;
            }
            let mut bot = self.start(thread);
            if thread + 1 == THREADS {
                self.listen_until_settled(&bot);
            }
            bot.close_input();
            let (status, lines) = bot.end(ANSWER_MAX);
            for line in &lines {
                self.note(line);
            }
            assert!(status.success(), "a last run ended with {status}");
        }
    }

    fn listen_until_settled(&mut self, bot: &KilledBot) {
        let over = Instant::now() + SETTLE_MAX;
        loop {
            self.listen_for(bot, Duration::from_millis(500));
            let unfinished = self.unfinished();
            if unfinished.is_empty() && self.ledger.record.unacknowledged().is_empty() {
                return;
            }
            assert!(Instant::now() < over, "this is never finished: {unfinished:#?}");
        }
    }

    /// Holds everything against everything else.
    fn judge(&self) -> (Stored, Trail, Ends) {
        let left = alive_after(self.path(), SPOKE_END_MAX);
        assert!(left.is_empty(), "left alive: {left:#?}");
        let (stored, trail) = (Stored::read(&self.database()), Trail::read(self.path()));
        let mut wrong = self.ledger.record.judge(&stored, &fits);
        let (of_plans, ends) = trail.judge(&self.ledger, &stored);
        wrong.extend(of_plans);
        assert!(
            wrong.is_empty(),
            "{} violations:\n{}\n{}",
            wrong.len(),
            wrong.join("\n"),
            std::fs::read_to_string(self.path().join("log")).unwrap_or_default()
        );
        (stored, trail, ends)
    }
}

/// An interrupted request says so, and nothing else does.
fn fits(number: usize, signal: &Signal, prints: &[Print]) -> Result<(), String> {
    let said = prints.first().map(|print| print.content.to_string()).unwrap_or_default();
    if signal.ending == "answered" || said.contains("interrupted") {
        return Ok(());
    }
    Err(format!("question {number} is {} and its answer is {said}", signal.ending))
}

/// Runs sessions in turns until so many kills are made, and then to their end.
fn run(kills: u64, seed: u64) -> Vec<Session> {
    let mut sessions: Vec<Session> = (0..SESSIONS).map(|n| Session::new(seed + (n << 32))).collect();
    let (mut turn, mut begun) = (0, Instant::now());
    while sessions.iter().map(|session| session.kills.all()).sum::<u64>() < kills {
        sessions[turn].live_and_be_killed();
        if begun.elapsed() > TURN {
            sessions[turn].rest();
            (turn, begun) = ((turn + 1) % sessions.len(), Instant::now());
        }
    }
    for session in &mut sessions {
        session.live_to_the_end();
    }
    sessions
}

#[test]
fn five_hundred_kills_write_nothing_twice_and_leave_nothing_unverified() {
    let kills = setting("KILLS", KILLS);
    let seed = setting("KILL_SEED", u64::from(std::process::id()));
    println!("KILL_SEED={seed}");
    let begun = Instant::now();
    let sessions: Vec<Session> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..RUNS).map(|n| scope.spawn(move || run(kills.div_ceil(RUNS), seed + n))).collect();
        runs.into_iter().flat_map(|run| run.join().expect("the run is sound")).collect()
    });
    let mut sum = Figures::default();
    for session in &sessions {
        let (stored, trail, ends) = session.judge();
        sum.add(
            (&session.kills, session.starts),
            &session.ledger,
            (&stored, &trail, &ends),
            &session.path().join("files"),
        );
    }
    println!("{sum}, {:.1} s", begun.elapsed().as_secs_f32());
    if kills >= KILLS {
        sum.must_be_plausible();
    }
}

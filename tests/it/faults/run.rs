//! A long session in twenty chats, with everything that goes wrong at its rate, and a process that is killed again and again.
//! Afterwards Telegram's log, the database, the trail and the files are held against each other.

use std::fmt;
use std::time::Duration;

use countersign_telegram_fake::{Fake, Fault};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::cast::Cast;
use super::facts::{Facts, Poll, What};
use super::judge::judge;
use super::script::Script;
use super::seen::{Seen, Tally};
use super::stored::{Stored, trail};
use super::{config, desk};
use crate::kill::{Chance, setting};
use crate::support::telegram::{Script as Setup, Stage};

/// How many messages (`FAULTS_MESSAGES`) and kills (`FAULTS_KILLS`).
const MESSAGES: u64 = 1000;
const KILLS: u64 = 20;

/// Of a thousand updates: how many come twice, and how many late. Of a thousand messages sent: how many are refused for now,
/// and how many come out without an answer.
const DUPLICATES: u32 = 50;
const REORDERED: u32 = 50;
const TOO_MANY: u32 = 20;
const LOST: u32 = 20;

/// A kill comes at most so many calls after its message, so that it falls anywhere between two of them.
const CALLS_MAX: u64 = 40;

/// One kill in so many comes while the bot is still starting.
const EARLY: u64 = 5;

/// The longest wait of a kill that comes so early.
const START_MS: u64 = 400;

/// Lets everything go wrong at its rate.
fn trouble(fake: &Fake, seed: u64) {
    fake.fault(Fault::duplicate(1).chance(DUPLICATES, seed));
    fake.fault(Fault::reorder().chance(REORDERED, seed + 1));
    for seconds in [1, 2] {
        fake.fault(Fault::too_many(seconds).on("sendMessage").chance(TOO_MANY / 2, seed + 1 + seconds));
    }
    fake.fault(Fault::drop_after().on("sendMessage").chance(LOST, seed + 4));
}

/// Kills the bot so often, spread over all messages, and starts it again each time. Returns how many calls came before each
/// kill.
async fn kill_often(
    stage: &mut Stage,
    mut said: watch::Receiver<usize>,
    (messages, kills): (usize, u64),
    mut chance: Chance,
) -> Vec<u64> {
    let mut killed = Vec::new();
    let kills = usize::try_from(kills).expect("it fits");
    while killed.len() < kills {
        let due = messages * (killed.len() + 1) / (kills + 1);
        said.wait_for(|said| *said >= due).await.expect("the script goes on until all is said");
        let moment = calls(&stage.fake) + chance.below(CALLS_MAX);
        stage.fake.wait_for_call(|call| call.sequence >= moment).await;
        stage.kill().await;
        killed.push(calls(&stage.fake));
        if chance.below(EARLY) == 0 {
            let early = Duration::from_millis(chance.below(START_MS));
            // Whether it listens by then does not matter.
            let _listens = timeout(early, stage.go_on()).await;
            stage.kill().await;
            killed.push(calls(&stage.fake));
        }
        stage.go_on().await;
    }
    killed
}

/// How many calls there were.
fn calls(fake: &Fake) -> u64 {
    u64::try_from(fake.log().len()).unwrap_or(u64::MAX)
}

/// What a run came to.
struct Figures {
    messages: usize,
    presses: usize,
    /// Updates that were handed out again after they were confirmed, and those that came after a later one.
    duplicates: usize,
    late: usize,
    tally: Tally,
    kills: usize,
    /// Messages that came out again, and those that say they may be a repeat.
    copies: usize,
    marked: usize,
    interrupted: usize,
    written: usize,
    seconds: f32,
}

impl Figures {
    fn of(facts: &Facts, tally: Tally, kills: usize, seconds: f32) -> Self {
        let presses = facts.asked.iter().filter(|asked| matches!(asked.what, What::Press { .. })).count();
        let (duplicates, late) = trouble_seen(&facts.polls);
        let marked = facts.sent.iter().filter(|sent| sent.is_marked).count();
        let out = facts.posts.iter().filter(|post| post.has_parts).count();
        let written = |what: &What| if let What::Change { times } = what { *times } else { 0 };
        Self {
            messages: facts.asked.len() - presses,
            presses,
            duplicates,
            late,
            tally,
            kills,
            copies: facts.sent.len().saturating_sub(out),
            marked,
            interrupted: facts.signals.iter().filter(|signal| signal.ending == "interrupted").count(),
            written: facts.asked.iter().map(|asked| written(&asked.what)).sum(),
            seconds,
        }
    }

    /// A run that saw little of what it is about proves little.
    fn must_be_plausible(&self) {
        let enough = self.duplicates >= 20
            && self.late >= 10
            && self.tally.too_many >= 5
            && self.tally.lost >= 5
            && self.marked >= 5
            && self.written >= 50;
        assert!(enough, "too little went wrong to prove anything: {self}");
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} messages and {} presses; {} updates came twice and {} late, {} messages were refused with 429, {} came out \
             without an answer, {} kills; {} messages came out again ({} say that they may be a repeat), {} requests were \
             interrupted; {} lines were written, each once; {} calls in {:.1} s",
            self.messages,
            self.presses,
            self.duplicates,
            self.late,
            self.tally.too_many,
            self.tally.lost,
            self.kills,
            self.copies,
            self.marked,
            self.interrupted,
            self.written,
            self.tally.calls,
            self.seconds
        )
    }
}

/// How many updates came again although they were confirmed, and how many after one with a higher number.
fn trouble_seen(polls: &[Poll]) -> (usize, usize) {
    let (mut confirmed, mut duplicates, mut late) = (0, 0, 0);
    for poll in polls {
        confirmed = confirmed.max(poll.offset);
        let new: Vec<i64> = poll.updates.iter().map(|update| update.id).filter(|id| *id >= confirmed).collect();
        duplicates += poll.updates.len() - new.len();
        late += new.windows(2).filter(|pair| pair[0] > pair[1]).count();
    }
    (duplicates, late)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_messages_on_a_bad_day_lose_nothing_and_do_nothing_twice() {
    let (messages, kills) = (setting("FAULTS_MESSAGES", MESSAGES), setting("FAULTS_KILLS", KILLS));
    // Another seed for each run, so that many runs see many moments; it is printed, so that a run can be had again.
    let seed = setting("SEED", u64::from(std::process::id()));
    println!("SEED={seed}");
    let desk = desk();
    let (access, config) = (Cast::access(), config(desk.path()));
    let mut stage = Stage::with(Setup { access: &access, config: &config, ..Setup::default() }).await;
    let cast = Cast::assemble(&stage.fake);
    let mut script = Script::new(&stage.fake, cast, (desk.path(), stage.database()), seed);
    trouble(&stage.fake, seed);
    let begun = Instant::now();
    let (bell, count) = (script.bell(), usize::try_from(messages).expect("it fits"));
    let killing = kill_often(&mut stage, bell, (count, kills), Chance::new(seed + 5));
    let ((), killed) = tokio::join!(script.play(count), killing);
    script.settle().await;
    let seconds = begun.elapsed().as_secs_f32();
    stage.end().await;
    let Seen { polls, sent, tally } = Seen::read(&stage.fake, &killed);
    let stored = Stored::read(&stage.database()).await;
    let facts = Facts {
        asked: script.asked(),
        polls,
        sent,
        signals: stored.signals,
        posts: stored.posts,
        plans: stored.plans,
        trail: trail(&stage.home.path()),
    };
    let wrong = judge(&facts);
    assert!(wrong.is_empty(), "{} violations (SEED={seed}):\n{}", wrong.len(), wrong.join("\n"));
    let figures = Figures::of(&facts, tally, killed.len(), seconds);
    println!("{figures}");
    if messages >= MESSAGES {
        figures.must_be_plausible();
    }
}

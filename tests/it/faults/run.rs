//! A long session in twenty rooms, with everything that goes wrong at its rate, and a process that is killed again and again.
//! Afterwards the platform's log, the database, the trail and the files are held against each other.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use countersign_discord_fake::Fake as Discord;
use countersign_telegram_fake::Fake as Telegram;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::cast::{Cast, access};
use super::facts::{Asked, Facts, Life, What};
use super::judge::judge;
use super::script::Script;
use super::seen::{Seen, Tally};
use super::stored::{Stored, life, trail};
use super::unruly::{Spell, Unruly};
use super::{config, desk};
use crate::kill::{Chance, setting};
use crate::support::matrix::Team;
use crate::support::stage::{Script as Setup, Stage};

/// No more time than is needed until an unknown outcome can be looked at.
const PERMIT: &str = "permit_seconds = 1\n";

/// A kill comes at most so many calls after its message, so that it falls anywhere between two of them.
const CALLS_MAX: usize = 40;

/// The longest time of one kind of trouble, in seconds (`FAULTS_SPELL_SECONDS`).
const SPELL_S: u64 = 3;

/// The longest time of one kind of trouble.
fn longest_spell() -> Duration {
    Duration::from_secs(setting("FAULTS_SPELL_SECONDS", SPELL_S))
}

/// How much longer everything may take than on a day without trouble that lasts: one kind of it may follow another, and what was
/// tried in vain is tried again after a pause that grows with it.
pub(super) fn patience() -> Duration {
    longest_spell() * 4
}

/// One kill in so many comes while the bot is still starting.
const EARLY: u64 = 5;

/// The longest wait of a kill that comes so early.
const START_MS: u64 = 400;

/// Kills the bot so often, spread over all messages, and starts it again each time; between kills the platform itself goes down
/// and up. Returns what each life left.
async fn kill_often<C: Unruly>(
    stage: &mut Stage<C>,
    mut said: watch::Receiver<usize>,
    (messages, kills): (usize, u64),
    mut chance: Chance,
) -> Vec<Life> {
    let mut lives = Vec::new();
    let kills = usize::try_from(kills).expect("it fits");
    while lives.len() < kills {
        let due = messages * (lives.len() + 1) / (kills + 1);
        said.wait_for(|said| *said >= due).await.expect("the script goes on until all is said");
        let moment = stage.fake.mark() + chance.index(CALLS_MAX);
        stage.fake.called(moment).await;
        kill(stage, &mut lives).await;
        if chance.below(EARLY) == 0 {
            let early = Duration::from_millis(chance.below(START_MS));
            // Whether it listens by then does not matter.
            let _listens = timeout(early, stage.go_on()).await;
            kill(stage, &mut lives).await;
        }
        stage.go_on().await;
        if C::OUTAGES > 0 && lives.len() % (kills / C::OUTAGES).max(1) == 0 {
            stage.fake.goes_down_and_up();
        }
    }
    lives
}

/// Has each kind of trouble come once, in any order, spread over all messages, for a random time up to `FAULTS_SPELL_SECONDS`.
async fn cast_spells<C: Unruly>(fake: C, mut said: watch::Receiver<usize>, messages: usize, mut chance: Chance) {
    let longest_ms = u64::try_from(longest_spell().as_millis()).expect("it fits");
    let mut spells = Spell::ALL.to_vec();
    while !spells.is_empty() {
        let due = messages * (Spell::ALL.len() - spells.len() + 1) / (Spell::ALL.len() + 1);
        said.wait_for(|said| *said >= due).await.expect("the script goes on until all is said");
        let spell = spells.swap_remove(chance.index(spells.len()));
        let time = Duration::from_millis(chance.below(longest_ms));
        println!("{spell:?} for {time:?} after {due} messages");
        fake.spell(spell, time).await;
    }
}

/// Kills the bot, and looks what it has left.
async fn kill<C: Unruly>(stage: &mut Stage<C>, lives: &mut Vec<Life>) {
    stage.kill().await;
    let calls = stage.fake.mark();
    let left = life(&stage.database(), lives, calls).await;
    lives.push(left);
}

/// What a run came to.
struct Figures {
    messages: usize,
    presses: usize,
    /// What was asked while nobody listened, or just before, and was not taken; and what was, because it was looked for. Only
    /// where nothing is told again.
    missed: usize,
    found: usize,
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
        let taken: BTreeSet<&str> = facts.signals.iter().map(|signal| signal.event.as_str()).collect();
        let is_taken = |asked: &Asked| taken.contains(asked.event.as_str());
        let marked = facts.sent.iter().filter(|sent| sent.is_marked).count();
        // A card that may be out and was decided is not sent again.
        let out = facts.posts.iter().filter(|post| post.has_parts || post.repeat).count();
        let written = |what: &What| if let What::Change { times } = what { *times } else { 0 };
        Self {
            messages: facts.asked.len() - presses,
            presses,
            missed: facts.asked.iter().filter(|asked| !is_taken(asked)).count(),
            found: facts.asked.iter().filter(|asked| !asked.is_heard && is_taken(asked)).count(),
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
    fn must_be_plausible<C: Unruly>(&self) {
        // Of a thousand messages.
        let is_enough = |seen: usize, of_thousand: u64| seen as u64 * 1000 >= of_thousand * C::MESSAGES;
        let enough = is_enough(self.tally.duplicates, 20)
            && (is_enough(self.tally.late, 10) || !C::REORDERS)
            && is_enough(self.tally.too_many, 5)
            && is_enough(self.tally.lost, 5)
            && (is_enough(self.marked, 5) || !C::MAKES_COPIES)
            && (is_enough(self.missed.min(self.found), 5) || C::TELLS_AGAIN)
            // Chance decides who wants a change: of 200 messages, 20 at the mean and 10 once in some hundred runs.
            && is_enough(self.written, 25);
        assert!(enough, "too little went wrong to prove anything: {self}");
        assert!(C::MAKES_COPIES || self.copies == 0, "what came out already came out again: {self}");
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} messages and {} presses, {} of them missed and {} found; {} updates came twice and {} late, {} messages were refused with 429, {} came out \
             without an answer, {} kills; {} messages came out again ({} say that they may be a repeat), {} requests were \
             interrupted; {} lines were written, each once; {} calls in {:.1} s",
            self.messages,
            self.presses,
            self.missed,
            self.found,
            self.tally.duplicates,
            self.tally.late,
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_messages_on_a_bad_day_of_telegrams_lose_nothing_and_do_nothing_twice() {
    a_bad_day::<Telegram>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_messages_on_a_bad_day_of_discords_lose_nothing_that_was_taken_and_do_nothing_twice() {
    a_bad_day::<Discord>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_day_of_matrixs_and_its_outages_lose_nothing_and_do_nothing_twice() {
    a_bad_day::<Team<false>>().await;
}

async fn a_bad_day<C: Unruly>() {
    let (messages, kills) = (setting("FAULTS_MESSAGES", C::MESSAGES), setting("FAULTS_KILLS", C::KILLS));
    // Another seed for each run, so that many runs see many moments; it is printed, so that a run can be had again.
    let seed = setting("SEED", u64::from(std::process::id()));
    println!("SEED={seed}");
    let desk = desk();
    let (access, config) = (access(), config(desk.path()) + PERMIT);
    let setup = Setup { access: &access, config: &config, ..Setup::default() };
    let mut stage = Stage::among(C::of_its_own().await, setup).await;
    let cast = Cast::assemble(&stage.fake);
    let mut script = Script::new(&stage.fake, cast, (desk.path(), stage.database()), seed);
    stage.fake.make_trouble(C::RATES, seed);
    let begun = Instant::now();
    let (bell, count) = (script.bell(), usize::try_from(messages).expect("it fits"));
    let fake = stage.fake.clone();
    let killing = kill_often(&mut stage, bell, (count, kills), Chance::new(seed + 5));
    let spells = cast_spells(fake, script.bell(), count, Chance::new(seed + 6));
    let ((), mut lives, ()) = tokio::join!(script.play(count), killing, spells);
    script.settle().await;
    let seconds = begun.elapsed().as_secs_f32();
    stage.end().await;
    let killed = lives.iter().map(|life| life.calls).collect::<Vec<_>>();
    let left = life(&stage.database(), &lives, stage.fake.mark()).await;
    lives.push(left);
    let Seen { told, sent, tally } = stage.fake.read_log(&killed, &lives);
    let stored = Stored::read(&stage.database()).await;
    let facts = Facts {
        asked: script.asked(),
        told,
        lives,
        tells_again: C::TELLS_AGAIN,
        sent,
        signals: stored.signals,
        posts: stored.posts,
        plans: stored.plans,
        trail: trail(&stage.home.path()),
    };
    let wrong = judge(&facts);
    assert!(wrong.is_empty(), "{} violations (SEED={seed}):\n{}", wrong.len(), wrong.join("\n"));
    let figures = Figures::of(&facts, tally, killed.len(), seconds);
    println!("{}: {figures}", C::PLATFORM);
    if messages >= C::MESSAGES {
        figures.must_be_plausible::<C>();
    }
}

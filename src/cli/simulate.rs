//! `countersign simulate`: a hostile model, faulty tools and people who click at random, over this configuration's own tools,
//! intents, access file and policies. Says how many steps held every invariant; where one did not, writes a recording of the
//! shortest way to it that was found. Starts nothing, and speaks to nobody.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use countersign_core::signal::{ActorId, Platform};
use countersign_core::sim::{self, Failure, Report, Script, Tally};
use serde_json::json;
use tokio::time::Instant;

use super::setup::{Setup, access_sources};
use super::{Failed, RunArgs};
use crate::access::{OsUser, Owner};
use crate::clock::random_bytes;
use crate::replay::{Header, Line};

/// How often somebody at a terminal hears how far it has come.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// What `simulate` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    /// Where chance begins; the same seed over the same configuration is the same run [default: a fresh one, which is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many steps of a thread to run at least
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Where to write the recording of a failure [default: ./simulation-SEED.jsonl]
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Runs it.
pub(super) fn run(args: &RunArgs, wanted: &SimulateArgs) -> Result<(), Failed> {
    let setup = Setup::read(args, |_| true).map_err(Failed::Usage)?;
    let user = OsUser::of_this_process().map_err(Failed::Internal)?;
    let (platform, id) = (Platform::new("console"), ActorId::new(format!("uid:{}", user.uid)));
    let owner = Owner::new(platform.clone(), id.clone());
    let sources = access_sources(&setup.config, &setup.registry);
    let access = sources.access(Some(owner)).map_err(|error| Failed::Usage(error.into()))?;
    let cast = access.cast();
    let world = setup.world(Box::new(access.clone()), Box::new(access), Box::new(Vec::new));
    // Short enough to be typed again.
    let seed = wanted.seed.unwrap_or_else(|| u64::from(u32::from_le_bytes(random_bytes())));
    let (begun, mut told) = (Instant::now(), Instant::now());
    let is_watched = std::io::stderr().is_terminal() && !args.json;
    if is_watched {
        // Whoever stops it, or sees it crash, can run it again.
        super::say(&format!("seed {seed}"));
    }
    let report = world.look(|env| {
        sim::run(env, &cast, seed, wanted.steps, |tally| {
            if is_watched && told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                super::say(&format!("{} of {} steps", grouped(tally.steps), grouped(wanted.steps)));
            }
        })
    });
    let script = match &report.failure {
        None => None,
        Some(failure) => Some(write_script(wanted, failure, (platform, id)).map_err(Failed::Usage)?),
    };
    let said = Said { seed, report: &report, took: begun.elapsed(), script: script.as_deref() };
    print(&if args.json { format!("{}\n", said.json()) } else { said.text() })?;
    match &report.failure {
        None => Ok(()),
        Some(failure) => Err(Failed::NotFine(format!("invariant {} does not hold", failure.breach.invariant))),
    }
}

/// Writes the shrunk episode as a recording into a new file.
fn write_script(wanted: &SimulateArgs, failure: &Failure, owner: (Platform, ActorId)) -> anyhow::Result<PathBuf> {
    let path = wanted.script.clone().unwrap_or_else(|| PathBuf::from(format!("simulation-{}.jsonl", failure.seed)));
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let mut file = file.with_context(|| format!("cannot write the recording {}", path.display()))?;
    let header = Header::new(Some(owner)).with_models(sim::models());
    let lines = std::iter::once(serde_json::to_string(&header)?).chain(lines(&failure.script)?);
    for line in lines {
        writeln!(file, "{line}").with_context(|| format!("cannot write the recording {}", path.display()))?;
    }
    Ok(path)
}

fn lines(script: &Script) -> anyhow::Result<Vec<String>> {
    let line = |line: &sim::Line| match line {
        sim::Line::Told(thread, now, input) => serde_json::to_string(&Line::of(thread, *now, input)),
        sim::Line::Forgot(thread, now) => serde_json::to_string(&Line::forgot(thread, *now)),
    };
    Ok(script.0.iter().map(line).collect::<Result<_, _>>()?)
}

fn print(text: &str) -> Result<(), Failed> {
    let written = std::io::stdout().write_all(text.as_bytes());
    written.context("cannot write to standard output").map_err(Failed::Internal)
}

/// What a run came to, for people or for a program.
struct Said<'a> {
    seed: u64,
    report: &'a Report,
    took: Duration,
    script: Option<&'a Path>,
}

impl Said<'_> {
    fn a_second(&self) -> u64 {
        let ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX).max(1);
        self.report.tally.steps.saturating_mul(1000) / ms
    }

    fn text(&self) -> String {
        let Tally { steps, episodes, requests, thoughts, calls, plans, writes, crashes, refusals } = &self.report.tally;
        let counts = [
            (episodes, "worlds"),
            (requests, "requests ended"),
            (thoughts, "answers of the hostile model"),
            (calls, "calls"),
            (plans, "plans"),
            (writes, "changes made"),
            (crashes, "processes ended in the middle"),
        ];
        let counts: Vec<String> = counts.iter().map(|(count, what)| format!("{} {what}", grouped(**count))).collect();
        let refused: Vec<String> = refusals.iter().map(|(gate, times)| format!("{gate} {}", grouped(*times))).collect();
        let broken = usize::from(self.report.failure.is_some());
        let mut text = format!(
            "seed {}: {} steps, {broken} broken invariants; {} steps a second\n{}\nrefused by gate: {}\n",
            self.seed,
            grouped(*steps),
            grouped(self.a_second()),
            counts.join(", "),
            refused.join(", "),
        );
        if let Some((failure, script)) = self.report.failure.as_ref().zip(self.script) {
            let Failure { breach, seed, operations: (left, of), .. } = &**failure;
            let script = script.display();
            let _a_string_takes_any_text = write!(
                text,
                "invariant {} does not hold: {}\nshrunk from {of} operations to {left}, in {script}; to see every decision: \
                 countersign replay {script}\nto run it again: countersign simulate --seed {seed} --steps 1\n",
                breach.invariant, breach.what,
            );
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let Tally { steps, episodes, requests, thoughts, calls, plans, writes, crashes, refusals } = &self.report.tally;
        let failure = self.report.failure.as_ref().map(|failure| {
            json!({
                "invariant": failure.breach.invariant, "what": failure.breach.what, "seed": failure.seed,
                "operations": failure.operations.0, "of": failure.operations.1, "script": self.script,
            })
        });
        json!({
            "seed": self.seed, "steps": steps, "steps_a_second": self.a_second(), "worlds": episodes,
            "requests": requests, "thoughts": thoughts, "calls": calls, "plans": plans, "changes": writes,
            "crashes": crashes, "refused": refusals, "broken": failure,
        })
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let apart = digits.char_indices().map(|(at, digit)| {
        let is_first_of_three = at > 0 && (digits.len() - at).is_multiple_of(3);
        format!("{}{digit}", if is_first_of_three { "," } else { "" })
    });
    apart.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0, 12, 123, 1_234, 123_456, 1_234_567].map(grouped),
            ["0", "12", "123", "1,234", "123,456", "1,234,567"]
        );
    }
}

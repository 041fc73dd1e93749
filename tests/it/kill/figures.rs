//! The figures of a session that changes files: what was killed, and what became of everything. It judges only whether
//! enough of everything has happened.

use std::fmt::{Display, Formatter};
use std::path::Path;

use super::ledger::Ledger;
use super::stored::Stored;
use super::trail::{Ends, Trail};

/// How many kills of which kind.
#[derive(Default)]
pub(super) struct Kills {
    pub(super) bot: u64,
    pub(super) both: u64,
    pub(super) server: u64,
    /// Between a click and the answer to it.
    pub(super) at_work: u64,
    /// Directly after the file had changed.
    pub(super) at_write: u64,
}

impl Kills {
    pub(super) const fn all(&self) -> u64 {
        self.bot + self.both + self.server
    }
}

/// What all sessions came to.
#[derive(Default)]
pub(super) struct Figures {
    kills: Kills,
    starts: u64,
    questions: usize,
    repeats: usize,
    interrupted: usize,
    rows: usize,
    /// Files of a write that was broken off before it was put in its place.
    drafts: usize,
    ends: Ends,
}

impl Figures {
    pub(super) fn add(
        &mut self,
        (kills, starts): (&Kills, u64),
        ledger: &Ledger,
        (stored, trail, ends): (&Stored, &Trail, &Ends),
        files: &Path,
    ) {
        let Kills { bot, both, server, at_work, at_write } = kills;
        self.kills.bot += bot;
        self.kills.both += both;
        self.kills.server += server;
        self.kills.at_work += at_work;
        self.kills.at_write += at_write;
        self.starts += starts;
        self.questions += stored.signals.len();
        self.repeats += ledger.record.repeats();
        self.interrupted += stored.signals.values().filter(|signal| signal.ending == "interrupted").count();
        self.rows += trail.len();
        self.drafts += std::fs::read_dir(files)
            .expect("it is there")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(".countersign-"))
            .count();
        self.ends.add(ends);
    }

    fn state(&self, state: &str) -> u32 {
        self.ends.states.get(state).copied().unwrap_or_default()
    }

    /// A run in which nothing happened proves nothing.
    pub(super) fn must_be_plausible(&self) {
        let Kills { bot, both, server, at_work, at_write } = &self.kills;
        let kills = self.kills.all();
        for (what, share) in
            [("bot", bot), ("both", both), ("server", server), ("at work", at_work), ("at a write", at_write)]
        {
            assert!(share * 20 > kills, "only {share} of {kills} kills: {what}");
        }
        for state in ["verified as_expected", "verified differs", "denied", "pending", "refused DRIFTED"] {
            assert!(self.state(state) > 0, "no plan is {state}");
        }
        assert!(self.ends.unknown_and_done > 0 && self.ends.unknown > self.ends.unknown_and_done, "both must be seen");
        assert!(self.rows > self.questions, "every question leaves a row at least");
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (kills, ends) = (&self.kills, &self.ends);
        let states: Vec<String> = ends.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
        write!(
            f,
            "{} kills ({} bot, {} bot and server, {} server; {} before a click was answered, {} of them as the file changed), {} \
             starts; plans: {}, {} never shown; {} lines written, {} outcomes unknown of which {} were done; {} signals, {} \
             interrupted notices, {} messages printed again; {} audit rows, {} drafts left behind",
            kills.all(),
            kills.bot,
            kills.both,
            kills.server,
            kills.at_work,
            kills.at_write,
            self.starts,
            states.join(", "),
            ends.never_shown,
            ends.written,
            ends.unknown,
            ends.unknown_and_done,
            self.questions,
            self.interrupted,
            self.repeats,
            self.rows,
            self.drafts
        )
    }
}

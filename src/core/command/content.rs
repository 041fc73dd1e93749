//! The content that a command can show of the files it reads, by `tables/content.toml`. A command that shows whole lines
//! leaves a secret beside the words that mark it. A command that cuts or encodes lines does not, and needs masked files.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::args::Parsed;
use super::reach::Reach;
use super::tables::rows_by_name;

/// The content that a command can show of the files it reads. Each variant includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// Names, sizes, dates, counts and sums.
    #[default]
    Nothing,
    /// Whole lines, as they stand in the file.
    Lines,
    /// Any part, in any form.
    Anything,
}

/// What a command reads beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The files and folders that its words name; without, only what a program keeps in them for itself (`git log`).
    pub files: bool,
    /// The arguments of other processes (`pgrep -f`).
    pub arguments: bool,
}

/// Findings about a command beside its intent and risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits {
    /// What it must reach beside the files of this machine.
    pub reach: Reach,
    /// The content that it can show of the files it reads.
    pub shows: Shows,
    /// True if it reads files whose names it finds or gets from its input (`find -exec`, `xargs`).
    pub takes_names: bool,
    /// What it reads beside its input.
    pub reads: Reads,
    /// True if it hands a line with a pipeline to a program that runs it (`sh -c 'a | b'`).
    pub pipes_inside: bool,
}

impl Traits {
    /// Nothing at all.
    pub(super) const fn nothing() -> Self {
        Self {
            reach: Reach::nothing(),
            shows: Shows::Nothing,
            takes_names: false,
            reads: Reads { files: false, arguments: false },
            pipes_inside: false,
        }
    }

    /// Those of a command that was not judged.
    pub(super) const fn unknown() -> Self {
        Self {
            reach: Reach::nothing(),
            shows: Shows::Anything,
            takes_names: true,
            reads: Reads { files: true, arguments: true },
            pipes_inside: true,
        }
    }

    /// Adds what a tool with these words reads and shows.
    pub(super) fn add_content(&mut self, name: &str, parsed: &Parsed<'_>) {
        self.shows = self.shows.max(of(name, parsed));
        let row = rows().get(name);
        self.reads.files |= row.is_none_or(|row| row.files);
        self.reads.arguments |= row.is_some_and(|row| row.arguments);
    }

    /// Adds those of another command inside the same one.
    pub(super) fn add(&mut self, other: &Self) {
        self.reach.add(&other.reach);
        self.shows = self.shows.max(other.shows);
        self.takes_names |= other.takes_names;
        self.reads.files |= other.reads.files;
        self.reads.arguments |= other.reads.arguments;
        self.pipes_inside |= other.pipes_inside;
    }
}

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    also: Vec<String>,
    shows: Shows,
    /// Options with which it shows anything.
    #[serde(default)]
    unless: String,
    /// If not empty: without one of these options it shows anything.
    #[serde(default)]
    only_with: String,
    /// True if it reads the arguments of other processes.
    #[serde(default)]
    arguments: bool,
    /// True if it reads the files that its words name.
    #[serde(default = "yes")]
    files: bool,
}

const fn yes() -> bool {
    true
}

/// The shipped rows by the names of tools. A mistake in them is a mistake of this program: a test reads them.
fn rows() -> &'static BTreeMap<String, Row> {
    static ROWS: OnceLock<BTreeMap<String, Row>> = OnceLock::new();
    ROWS.get_or_init(|| rows_by_name(include_str!("tables/content.toml"), |row: &Row| &row.also))
}

/// Returns the content that a tool can show with these words.
fn of(name: &str, parsed: &Parsed<'_>) -> Shows {
    let Some(row) = rows().get(name) else { return Shows::Anything };
    let is_given = |option: &str| {
        parsed.options.iter().any(|given| given.name == option)
            // Some tools take options that their tables do not list, in short forms too.
            || parsed.strange.iter().any(|word| could_be(word, option))
    };
    let mut unless = row.unless.split_whitespace();
    let mut only_with = row.only_with.split_whitespace();
    if !row.only_with.is_empty() && !only_with.any(is_given) {
        return Shows::Anything;
    }
    let shows_more = !row.unless.is_empty() && (!parsed.unseen.is_empty() || unless.any(is_given));
    if shows_more { Shows::Anything } else { row.shows }
}

/// Returns whether a word could stand for an option.
fn could_be(word: &str, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(_) => word.len() > 2 && option.starts_with(word.split('=').next().unwrap_or(word)),
        None => !word.starts_with("--") && word.starts_with('-') && word.contains(option.trim_start_matches('-')),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{judge, table};
    use super::*;

    fn shows(line: &str) -> Vec<Shows> {
        let judged = judge(line);
        let list = judged.run.unwrap_or_else(|| panic!("{line}: {}", judged.reason));
        list.stages().map(|stage| stage.traits.shows).collect()
    }

    #[test]
    fn every_row_and_option_is_known() {
        for (name, row) in rows() {
            let (tool, sub) = name.split_once(' ').unwrap_or((name, ""));
            let usage = table::shipped().get(tool).unwrap_or_else(|| panic!("`{name}` is not known"));
            let usage = if sub.is_empty() { usage } else { usage.subs.get(sub).expect(name) };
            for option in row.unless.split_whitespace().chain(row.only_with.split_whitespace()) {
                assert!(usage.any_words || usage.options.contains_key(option), "`{name}` has no {option}");
            }
        }
    }

    #[test]
    fn a_command_shows_what_its_table_and_its_options_say() {
        use Shows::{Anything, Lines, Nothing};
        let table: &[(&str, &[Shows])] = &[
            ("ls -l /srv", &[Nothing]),
            ("wc -c /srv/a", &[Nothing]),
            ("wc --files0-from=/srv/a", &[Anything]),
            ("sha256sum /srv/a", &[Nothing]),
            ("sha256sum -c /srv/a", &[Anything]),
            ("sha256sum --che /srv/a", &[Anything]),
            ("sha256sum -bc /srv/a", &[Anything]),
            ("find /srv -name a", &[Nothing]),
            ("find /srv -name a -exec cat {} +", &[Lines]),
            ("find /srv -name a -exec sed -n p {} +", &[Anything]),
            ("timeout 5 cat /srv/a", &[Lines]),
            ("find /srv | xargs ls -l", &[Nothing, Nothing]),
            ("find /srv | xargs cat", &[Nothing, Lines]),
            // What it reads could be one of its options.
            ("find /srv | xargs grep x", &[Nothing, Anything]),
            ("find /srv | xargs grep -o x", &[Nothing, Anything]),
            ("grep -rn x /srv", &[Lines]),
            ("grep -rno x /srv", &[Anything]),
            ("tail -n 3 /srv/a | cut -c 3-", &[Lines, Anything]),
            ("tail -c 3 /srv/a", &[Anything]),
            ("awk '{print $2}' /srv/a", &[Anything]),
            ("gzip -dc /srv/a.gz | rev", &[Lines, Anything]),
            ("zcat /srv/a.gz", &[Lines]),
            ("zgrep -i x /srv/a.gz", &[Anything]),
            ("pgrep nginx | xargs ps -o args= -p", &[Lines, Lines]),
            ("tar -tzf /srv/a.tgz", &[Lines]),
            ("git log", &[Lines]),
            ("git diff", &[Anything]),
            ("sh -c 'cat /srv/a | rev'", &[Anything]),
        ];
        for (line, expected) in table {
            assert_eq!(shows(line), *expected, "{line}");
        }
    }

    #[test]
    fn of_commands_only_some_read_files_that_another_one_names() {
        for (line, expected) in [
            ("find /srv | xargs cat", [false, true]),
            ("find /srv | timeout 5 xargs -I{} cat {}", [false, true]),
            ("find /srv -name a | sed s/a/b/", [false, false]),
            ("find /srv -name a -exec rev {} + | cat", [true, false]),
        ] {
            let list = judge(line).run.expect(line);
            assert_eq!(list.stages().map(|stage| stage.traits.takes_names).collect::<Vec<_>>(), expected, "{line}");
        }
    }
}

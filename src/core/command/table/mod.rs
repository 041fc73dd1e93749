//! What is known of each tool, read once from the data beside (`tables/*.toml`, whose README says how to write it): its
//! options and sub-commands, and what each of them does. What is not in a table is not known, and so not a read.

mod notation;
mod raw;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::judgement::{Category, Risk};

pub(super) use notation::Takes;
pub(super) use raw::{Inspect, Output, Style};

/// The shipped tables: a family of tools each. The name is for mistakes.
const SHIPPED: &[(&str, &str)] = &[
    ("archives", include_str!("../tables/archives.toml")),
    ("cloud", include_str!("../tables/cloud.toml")),
    ("cloud-aws", include_str!("../tables/cloud-aws.toml")),
    ("cluster", include_str!("../tables/cluster.toml")),
    ("clusters", include_str!("../tables/clusters.toml")),
    ("compose", include_str!("../tables/compose.toml")),
    ("containers", include_str!("../tables/containers.toml")),
    ("crypto", include_str!("../tables/crypto.toml")),
    ("databases", include_str!("../tables/databases.toml")),
    ("files", include_str!("../tables/files.toml")),
    ("forges", include_str!("../tables/forges.toml")),
    ("git", include_str!("../tables/git.toml")),
    ("http", include_str!("../tables/http.toml")),
    ("infrastructure", include_str!("../tables/infrastructure.toml")),
    ("kernel", include_str!("../tables/kernel.toml")),
    ("kubernetes", include_str!("../tables/kubernetes.toml")),
    ("languages", include_str!("../tables/languages.toml")),
    ("mercurial", include_str!("../tables/mercurial.toml")),
    ("network", include_str!("../tables/network.toml")),
    ("packages", include_str!("../tables/packages.toml")),
    ("packages-languages", include_str!("../tables/packages-languages.toml")),
    ("packets", include_str!("../tables/packets.toml")),
    ("performance", include_str!("../tables/performance.toml")),
    ("podman", include_str!("../tables/podman.toml")),
    ("process", include_str!("../tables/process.toml")),
    ("services", include_str!("../tables/services.toml")),
    ("services-host", include_str!("../tables/services-host.toml")),
    ("shell", include_str!("../tables/shell.toml")),
    ("storage", include_str!("../tables/storage.toml")),
    ("systemd", include_str!("../tables/systemd.toml")),
    ("text", include_str!("../tables/text.toml")),
    ("virtualisation", include_str!("../tables/virtualisation.toml")),
    ("web", include_str!("../tables/web.toml")),
    ("wrappers", include_str!("../tables/wrappers.toml")),
];

/// What an option does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Nothing that matters here.
    Reads,
    /// Makes it go on until somebody stops it, or asks for a terminal.
    Goes(Category),
    /// Bounds what would go on.
    Bounds,
    /// Changes something: what, and how bad it is. `{value}` stands for the option's value.
    Acts(String, Risk),
    /// Its value is a shell line, judged like any other.
    Line,
    /// Its value is a program or statement for the inspector.
    Program,
    /// Its value is a file that the tool reads.
    Reveals,
    /// Makes it go through a folder and show what is in the files there.
    Recurses,
    /// Its value is `KEY=VALUE`; [`Usage::settings_allowed`] says which keys are harmless.
    Sets,
}

/// One option of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionRule {
    pub(super) takes: Takes,
    pub(super) does: Does,
}

/// How the rest of the words is another command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// After this many operands, the rest is a program with its arguments.
    Argv(usize),
    /// After `--`, the rest is a program with its arguments.
    AfterDashes,
    /// After this many operands, the rest, joined by blanks, is a line for a shell.
    Line(usize),
}

/// A tool, or one sub-command of a tool.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each says one thing of a tool")]
pub(super) struct Usage {
    pub(super) style: Style,
    pub(super) options: BTreeMap<String, OptionRule>,
    /// `-5`: a number may stand for an option.
    pub(super) number_option: bool,
    pub(super) subs: BTreeMap<String, Usage>,
    /// Sub-commands that change something: what and how bad.
    pub(super) writes: BTreeMap<String, (String, Risk)>,
    /// Sub-commands by the beginning of their names (`describe-*`), where none has the whole name.
    pub(super) patterns: Vec<(String, Usage)>,
    /// The same of those that change something; these are asked first.
    pub(super) write_patterns: Vec<(String, (String, Risk))>,
    /// Words that only name a group of sub-commands (`az vm`): the sub-command comes later.
    pub(super) groups: BTreeSet<String>,
    /// Set where the whole thing changes something.
    pub(super) write: Option<(String, Risk)>,
    /// May stand without a sub-command.
    pub(super) bare: bool,
    /// A sub-command only right behind the tool, not behind a group.
    pub(super) first_only: bool,
    /// Whatever a word says, no option of it acts.
    pub(super) any_words: bool,
    /// The operand, counted from 1, that is written to.
    pub(super) output_operand: Option<usize>,
    /// More operands than this change something: how many, and what.
    pub(super) operands_max: Option<(usize, String, Risk)>,
    /// Options with which operands are harmless in spite of [`Usage::operands_max`].
    pub(super) operands_with: Vec<String>,
    /// One of these options makes it a read; else it is what the text says.
    pub(super) needs: Option<(Vec<String>, String, Risk)>,
    /// What it is like without a bound.
    pub(super) endless: Option<Category>,
    /// With at least this many operands it is bounded.
    pub(super) bounded_by_operands: Option<usize>,
    /// With fewer operands than this it reads its standard input.
    pub(super) stdin_below: Option<usize>,
    /// Options that count as one operand for [`Usage::stdin_below`] (`grep -e PATTERN`).
    pub(super) stands_for_operand: Vec<String>,
    /// Shows what is in the files it is given.
    pub(super) content: bool,
    pub(super) inspect: Option<Inspect>,
    pub(super) runs: Option<Runs>,
    /// Bounds whatever it runs (`timeout`).
    pub(super) bounds_inner: bool,
    /// The inner command gets words that nobody has seen (`xargs`).
    pub(super) adds_words: bool,
    pub(super) output: Option<OutputRule>,
    /// It passes lines of its input on as they are: with which options at most, and with how many operands at most.
    pub(super) passes: Option<(Vec<String>, usize)>,
    /// What it reads goes to somebody else (`openssl s_client`).
    pub(super) sends_input: bool,
    /// Its words go to another machine, so that none may hold what a file or a command says.
    pub(super) sends_words: bool,
    pub(super) settings_allowed: Vec<String>,
    /// Words behind which another command of the same tool begins (`virsh list \; destroy x`).
    pub(super) separators: Vec<String>,
    /// Texts that no word may hold (`git log --format=%G?` runs a program).
    pub(super) refuses_text: Vec<String>,
    pub(super) rewrite: Option<Rewrite>,
}

/// What a word stands for where a sub-command is looked for.
pub(super) enum Sub<'t> {
    /// The sub-command comes later.
    Group,
    /// It changes something.
    Writes(&'t str, Risk),
    /// Its own usage decides.
    Usage(&'t Usage),
    /// Nobody knows it.
    Strange,
}

impl Usage {
    /// What `word` is here: by its whole name first, then by its beginning, where what changes something goes first.
    pub(super) fn sub(&self, word: &str) -> Sub<'_> {
        if let Some((what, risk)) = self.writes.get(word) {
            return Sub::Writes(what, *risk);
        }
        if let Some(usage) = self.subs.get(word) {
            return Sub::Usage(usage);
        }
        if self.groups.contains(word) {
            return Sub::Group;
        }
        if let Some((_, (what, risk))) = self.write_patterns.iter().find(|(start, _)| word.starts_with(start)) {
            return Sub::Writes(what, *risk);
        }
        match self.patterns.iter().find(|(start, _)| word.starts_with(start)) {
            Some((_, usage)) => Sub::Usage(usage),
            None => Sub::Strange,
        }
    }

    /// Makes an option act wherever it is known. Whether it takes a value stays as the shipped table says.
    fn forbid(&mut self, name: &str, rule: &OptionRule) {
        if let Some(known) = self.options.get_mut(name) {
            known.does = rule.does.clone();
        }
        let patterns = self.patterns.iter_mut().map(|(_, usage)| usage);
        self.subs.values_mut().chain(patterns).for_each(|usage| usage.forbid(name, rule));
    }

    /// Whether it has sub-commands at all.
    pub(super) fn has_subs(&self) -> bool {
        !(self.subs.is_empty() && self.writes.is_empty() && self.patterns.is_empty() && self.write_patterns.is_empty())
    }
}

/// What a tool prints, and when it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputRule {
    pub(super) kind: Output,
    /// One of these must be given, where there are any.
    pub(super) needs: Vec<String>,
    /// No other options may be given, where there are any.
    pub(super) with: Vec<String>,
    pub(super) operands_max: Option<usize>,
}

/// How to say nearly the same so that it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// Without these options, and with these words where no such option is there.
    Change { drop: Vec<String>, add: Vec<Vec<String>> },
    /// This line instead.
    Instead(String),
    /// This line instead, with the operands behind it.
    InsteadWithOperands(String),
    /// What it runs, alone.
    Inner,
}

/// The tools of one table or of many, by name.
pub(super) type Tools = BTreeMap<String, Usage>;

/// The shipped tables. A mistake in them is a mistake of this program: a test reads them all.
pub(super) fn shipped() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let mut all = Tools::new();
        for (family, text) in SHIPPED {
            let tools = read(text).unwrap_or_else(|mistake| panic!("the table `{family}`: {mistake}"));
            for (name, usage) in tools {
                assert!(all.insert(name.clone(), usage).is_none(), "the table `{family}`: `{name}` is in another, too");
            }
        }
        all
    })
}

/// The shipped tables with a team's own. The error names the tool.
pub(super) fn with_additions(text: &str) -> Result<Tools, String> {
    let table: BTreeMap<String, raw::RawUsage> = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut tools = shipped().clone();
    for (name, raw) in table {
        if let Some(usage) = tools.get_mut(&name) {
            raw.make_stricter(usage).map_err(|mistake| format!("`{name}`: {mistake}"))?;
            continue;
        }
        for (name, usage) in with_names(&name, raw)? {
            if tools.contains_key(&name) {
                return Err(format!("`{name}` is in the shipped tables already"));
            }
            tools.insert(name, usage);
        }
    }
    Ok(tools)
}

/// A tool under each of its names.
fn with_names(name: &str, raw: raw::RawUsage) -> Result<Vec<(String, Usage)>, String> {
    let names = raw.also().into_iter().chain([name.to_owned()]);
    let usage = raw.build().map_err(|mistake| format!("`{name}`: {mistake}"))?;
    Ok(names.map(|name| (name, usage.clone())).collect())
}

/// Reads one table. The error names the tool and the key.
pub(super) fn read(text: &str) -> Result<Tools, String> {
    let table: BTreeMap<String, raw::RawUsage> = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut tools = Tools::new();
    for (name, raw) in table {
        for (name, usage) in with_names(&name, raw)? {
            if tools.insert(name.clone(), usage).is_some() {
                return Err(format!("`{name}` is there twice"));
            }
        }
    }
    Ok(tools)
}

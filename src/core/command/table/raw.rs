//! A table as it is written, and its check: from TOML's keys to a [`Usage`]. Every key that is not known is a mistake.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::notation::{option, split_risk};
use super::{Does, OptionRule, OutputRule, Rewrite, Runs, Usage};
use crate::command::judgement::Category;

/// How a tool reads its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Style {
    /// Short options in clusters, long ones with two dashes, options after operands.
    #[default]
    Gnu,
    /// The same, but nothing after the first operand is an option.
    Posix,
    /// Long options with one dash or two, no clusters, options after operands.
    Single,
    /// The same, but nothing after the first operand is an option.
    SinglePosix,
    /// Words, none of which is an option: an inspector reads them.
    Words,
}

/// Who looks into a tool's words by their own grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Inspect {
    Awk,
    Sed,
    Find,
    Psql,
    Mysql,
    Sqlite,
    Redis,
    Mongo,
    Http,
    Dd,
    Ps,
    Tar,
    Test,
    Printf,
    Env,
    Date,
    GitGrep,
    GitLines,
    GitRevisions,
}

/// What a program prints, where that is this and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Output {
    /// Whole numbers.
    Numbers,
    /// Names and words that never begin with a dash.
    Names,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each says one thing of a tool")]
pub(super) struct RawUsage {
    also: Vec<String>,
    style: Option<Style>,
    /// Harmless options.
    options: String,
    number_option: bool,
    stream: String,
    tty: String,
    pager: String,
    bounds: String,
    /// Options that change something, and what they do.
    acts: BTreeMap<String, String>,
    /// Options whose value is a shell line.
    lines: String,
    /// Options whose value is for the inspector.
    programs: String,
    /// Options whose value is a file that is shown.
    reveals: String,
    /// Options that make it show the files of a whole folder.
    recurses: String,
    /// Sub-commands that read and have no options but the common ones.
    reads: String,
    /// Sub-commands that change something: what they do.
    writes: BTreeMap<String, String>,
    /// Words that only name a group of sub-commands.
    groups: String,
    /// Sub-commands with more to say.
    sub: BTreeMap<String, RawUsage>,
    write: Option<String>,
    bare: bool,
    first_only: bool,
    any_words: bool,
    output_operand: Option<usize>,
    operands_max: Option<usize>,
    more_operands: Option<String>,
    operands_with: String,
    needs: String,
    otherwise: Option<String>,
    endless: Option<Category>,
    bounded_by_operands: Option<usize>,
    stdin_below: Option<usize>,
    stands_for_operand: String,
    content: bool,
    inspect: Option<Inspect>,
    runs: Option<RawRuns>,
    runs_after: usize,
    bounds_inner: bool,
    adds_words: bool,
    output: Option<Output>,
    /// Options (`-q`), options with a value (`-o=name`) or operands (`+%s`), one of which makes the output what it is.
    output_needs: String,
    /// The only options with which the output is that; any where there are none.
    output_with: String,
    output_operands_max: Option<usize>,
    /// Options with which it passes lines of its input on as they are.
    passes: Option<String>,
    passes_operands: usize,
    sends_input: bool,
    sends_words: bool,
    /// Words behind which another command of the same tool begins.
    separators: String,
    /// Texts that no word may hold.
    refuses_text: String,
    /// Options whose value is `KEY=VALUE`, and the keys that are harmless.
    settings: String,
    settings_allowed: String,
    rewrite: Option<RawRewrite>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawRuns {
    Argv,
    AfterDashes,
    Line,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRewrite {
    drop: String,
    add: Vec<Vec<String>>,
    instead: Option<String>,
    instead_with_operands: Option<String>,
    inner: bool,
}

impl RawUsage {
    pub(super) fn also(&self) -> Vec<String> {
        self.also.clone()
    }

    pub(super) fn build(self) -> Result<Usage, String> {
        let options = self.all_options()?;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let operands_max = match (self.operands_max, self.more_operands.as_deref()) {
            (None, None) => None,
            (Some(max), Some(text)) => split_risk(text).map(|(text, risk)| Some((max, text, risk)))?,
            _ => return Err("`operands_max` and `more_operands` go together".to_owned()),
        };
        let needs = match (words(&self.needs), self.otherwise.as_deref()) {
            (needs, None) if needs.is_empty() => None,
            (needs, Some(text)) if !needs.is_empty() => {
                split_risk(text).map(|(text, risk)| Some((needs, text, risk)))?
            }
            _ => return Err("`needs` and `otherwise` go together".to_owned()),
        };
        if let Some(stranger) = needs.iter().flat_map(|(names, ..)| names).find(|name| !options.contains_key(*name)) {
            return Err(format!("`needs` names `{stranger}`, which is not an option here"));
        }
        let runs = self.runs.map(|runs| match runs {
            RawRuns::Argv => Runs::Argv(self.runs_after),
            RawRuns::AfterDashes => Runs::AfterDashes,
            RawRuns::Line => Runs::Line(self.runs_after),
        });
        let (writes, write_patterns) = split_patterns(texts(&self.writes)?);
        let (subs, patterns) = split_patterns(subs(&self.reads, self.sub)?);
        Ok(Usage {
            writes,
            write_patterns,
            subs,
            patterns,
            groups: words(&self.groups).into_iter().collect(),
            style: self.style.unwrap_or_default(),
            options,
            number_option: self.number_option,
            write: self.write.as_deref().map(split_risk).transpose()?,
            bare: self.bare,
            first_only: self.first_only,
            any_words: self.any_words,
            output_operand: self.output_operand,
            operands_max,
            operands_with: words(&self.operands_with),
            needs,
            endless: self.endless,
            bounded_by_operands: self.bounded_by_operands,
            stdin_below: self.stdin_below,
            stands_for_operand: words(&self.stands_for_operand),
            content: self.content,
            inspect: self.inspect,
            runs,
            bounds_inner: self.bounds_inner,
            adds_words: self.adds_words,
            output: self.output.map(|kind| OutputRule {
                kind,
                needs: words(&self.output_needs),
                with: words(&self.output_with),
                operands_max: self.output_operands_max,
            }),
            passes: self.passes.as_deref().map(|options| (words(options), self.passes_operands)),
            sends_input: self.sends_input,
            sends_words: self.sends_words,
            separators: words(&self.separators),
            refuses_text: words(&self.refuses_text),
            settings_allowed: words(&self.settings_allowed).iter().map(|key| key.to_lowercase()).collect(),
            rewrite: self.rewrite.map(RawRewrite::build).transpose()?,
        })
    }

    /// Adds what may be added to a shipped tool: only what is refused from then on.
    pub(super) fn make_stricter(self, usage: &mut Usage) -> Result<(), String> {
        let Self { acts, writes, sub, write, .. } = self.clone();
        let given = Self { acts, writes, sub, write, ..Self::default() };
        if given != self {
            return Err(
                "of a shipped tool only `acts`, `write` and `writes` can be given, also inside `sub`".to_owned()
            );
        }
        for (name, rule) in given.all_options()? {
            usage.options.entry(name.clone()).or_insert_with(|| rule.clone());
            usage.forbid(&name, &rule);
        }
        if let Some(text) = &given.write {
            usage.write = Some(split_risk(text)?);
        }
        usage.writes.extend(texts(&given.writes)?);
        for (names, raw) in given.sub {
            for name in names.split_whitespace() {
                let inner = usage.subs.get_mut(name).ok_or_else(|| {
                    format!("only `acts`, `write` and `writes` of sub-commands that are read can be given, and `{name}` is none")
                })?;
                raw.clone().make_stricter(inner)?;
            }
        }
        Ok(())
    }

    fn all_options(&self) -> Result<BTreeMap<String, OptionRule>, String> {
        let lists = [
            (&self.options, Does::Reads),
            (&self.stream, Does::Goes(Category::UnboundedStream)),
            (&self.tty, Does::Goes(Category::TtyFlag)),
            (&self.pager, Does::Goes(Category::Pager)),
            (&self.bounds, Does::Bounds),
            (&self.lines, Does::Line),
            (&self.programs, Does::Program),
            (&self.reveals, Does::Reveals),
            (&self.recurses, Does::Recurses),
            (&self.settings, Does::Sets),
        ];
        let mut options = BTreeMap::new();
        let mut add = |text: &str, does: Does| {
            let (name, takes) = option(text)?;
            match options.insert(name, OptionRule { takes, does }) {
                None => Ok(()),
                Some(_) => Err(format!("the option `{text}` is there twice")),
            }
        };
        for (list, does) in lists {
            list.split_whitespace().try_for_each(|text| add(text, does.clone()))?;
        }
        for (names, text) in &self.acts {
            let (text, risk) = split_risk(text)?;
            names.split_whitespace().try_for_each(|name| add(name, Does::Acts(text.clone(), risk)))?;
        }
        Ok(options)
    }
}

/// Names that end in `*` are beginnings of names; the longest is asked first.
fn split_patterns<T>(all: BTreeMap<String, T>) -> (BTreeMap<String, T>, Vec<(String, T)>) {
    let (starts, whole): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| name.ends_with('*'));
    let mut starts: Vec<(String, T)> =
        starts.into_iter().map(|(name, what)| (name.trim_end_matches('*').to_owned(), what)).collect();
    starts.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    (whole.into_iter().collect(), starts)
}

/// Keys may name several sub-commands, with blanks between them.
fn texts(raw: &BTreeMap<String, String>) -> Result<BTreeMap<String, (String, super::Risk)>, String> {
    let mut all = BTreeMap::new();
    for (names, text) in raw {
        for name in names.split_whitespace() {
            if all.insert(name.to_owned(), split_risk(text)?).is_some() {
                return Err(format!("the sub-command `{name}` is there twice"));
            }
        }
    }
    Ok(all)
}

fn subs(reads: &str, raw: BTreeMap<String, RawUsage>) -> Result<BTreeMap<String, Usage>, String> {
    let mut all: BTreeMap<String, Usage> =
        reads.split_whitespace().map(|name| (name.to_owned(), Usage::default())).collect();
    for (names, mut usage) in raw {
        let also = std::mem::take(&mut usage.also);
        let usage = usage.build().map_err(|mistake| format!("`{names}`: {mistake}"))?;
        for name in names.split_whitespace().map(str::to_owned).chain(also) {
            if all.insert(name.clone(), usage.clone()).is_some() {
                return Err(format!("the sub-command `{name}` is there twice"));
            }
        }
    }
    Ok(all)
}

impl RawRewrite {
    fn build(self) -> Result<Rewrite, String> {
        match (self.instead, self.instead_with_operands, self.inner) {
            (Some(line), None, false) => Ok(Rewrite::Instead(line)),
            (None, Some(line), false) => Ok(Rewrite::InsteadWithOperands(line)),
            (None, None, true) => Ok(Rewrite::Inner),
            (None, None, false) => {
                Ok(Rewrite::Change { drop: self.drop.split_whitespace().map(str::to_owned).collect(), add: self.add })
            }
            _ => {
                Err("a rewrite is one thing: `instead`, `instead_with_operands`, `inner`, or `drop` and `add`"
                    .to_owned())
            }
        }
    }
}

//! What a command can do: intent, risk, whether it ends, why, and what to run instead. Total and deterministic, with no
//! model and no I/O. The line is parsed by two grammars that must agree (`parse`), each of its commands is judged against
//! tables of tools (`table`, `tables/*.toml`), and what is not known is taken for a write. Nothing here runs anything, and
//! nothing expands: what needs a shell is refused. See `README.md` beside this file.

mod args;
mod content;
mod find;
mod inner;
mod inspect;
mod judge;
mod judgement;
mod limits;
mod line;
mod little;
mod output;
mod parse;
mod paths;
mod reach;
mod rewrite;
mod script;
mod settings;
mod table;
mod tables;
mod wrapped;

#[cfg(test)]
mod tests;

use script::{Input, Script, Word};

pub use content::{Reads, Shows, Traits};
pub use inner::sql::Dialect;
pub use judgement::{Category, Intent, Judgement, Risk};
pub use limits::LINE_BYTES_MAX;
pub use line::{Argument, CommandList, Feeding, Joint, Pipeline, Stage, Stream, quoted};
pub use reach::{Endpoint, Network, Reach};
pub use tables::{Tables, TablesError};

use judge::Judge;
use judgement::Finding;
use table::Tools;

/// Judges a command line. Total: whatever the line is, there is an answer, and in doubt it is a write.
pub fn judge(line: &str) -> Judgement {
    judge_with(table::shipped(), line, true)
}

/// Judges SQL statements, as a server of this dialect reads them; a client's own commands are not taken.
pub fn judge_sql(text: &str, dialect: Dialect) -> Judgement {
    of_statement(inner::sql::judge(text, dialect))
}

/// Judges one Redis command: its name and arguments with blanks between them, quotes not taken off.
pub fn judge_redis(text: &str) -> Judgement {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    of_statement(inner::redis::judge(&words))
}

/// What was found in a statement. There is nothing to run here: that is its client's business.
fn of_statement(judged: Result<(), inner::Danger>) -> Judgement {
    let found = match judged {
        Ok(()) => Finding { reason: "only reads".to_owned(), ..Finding::reads() },
        Err(danger) => Finding::writes(danger.reason, danger.risk),
    };
    refused(found.by_content())
}

/// Whether both parsers read the line, and nothing more: for the bench, as what [`judge`] cannot be faster than.
#[cfg(any(test, feature = "testkit"))]
pub fn parse_only(line: &str) -> bool {
    parse::parse_only(line)
}

fn judge_with(tools: &Tools, line: &str, with_rewrite: bool) -> Judgement {
    if line.len() > LINE_BYTES_MAX {
        return refused(Finding::unknown(format!("the command is longer than {LINE_BYTES_MAX} bytes")));
    }
    let line = line.trim_matches([' ', '\t', '\n']);
    if line.is_empty() {
        return refused(Finding::unknown("the command is empty".to_owned()));
    }
    if let Some(problem) = limits::problem(line) {
        return refused(Finding::unknown(problem));
    }
    match parse::read(line) {
        Err(finding) => refused(finding),
        Ok(script) => of_script(tools, &script, with_rewrite),
    }
}

fn of_script(tools: &Tools, script: &Script, with_rewrite: bool) -> Judgement {
    let judge = Judge::new(tools);
    let (found, judged) = judge.script(script, Input::Terminal, 0);
    let mut judgement = refused(found);
    if judgement.intent.only_reads() {
        if judgement.reason.is_empty() {
            judgement.reason = format!("only reads ({})", programs(script).join(", "));
        }
        judgement.run = Some(judged.list);
    }
    if with_rewrite && judgement.category.is_some() {
        let suggestion = rewrite::suggest(tools, script);
        judgement.rewrite = suggestion.filter(|line| judge_with(tools, line, false).is_proven());
    }
    judgement.shows_unseen = judge.shows_unseen();
    judgement
}

fn refused(found: Finding) -> Judgement {
    let Finding { intent, risk, category, reason } = found;
    Judgement { intent, risk, category, reason, rewrite: None, run: None, shows_unseen: None }
}

fn programs(script: &Script) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for simple in &script.commands {
        let name = simple.words.first().map_or("", Word::shown);
        if !names.contains(&name) && names.len() < 6 {
            names.push(name);
        }
    }
    names
}

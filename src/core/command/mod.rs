//! What a command can do: intent, risk, whether it ends, why, and what to run instead. Total and deterministic, with no
//! model and no I/O. The line is parsed by two grammars that must agree (`parse`), every command that it can come to is
//! judged against tables of tools (`table`, `tables/*.toml`), and what is not known is taken for a write. Nothing here
//! runs anything. See `README.md` beside this file.

mod args;
mod find;
mod inner;
mod inspect;
mod judge;
mod judgement;
mod limits;
mod little;
mod output;
mod parse;
mod paths;
mod rewrite;
mod script;
mod settings;
mod table;
mod tables;
mod wrapped;

#[cfg(test)]
mod tests;

use script::{Script, Word};

pub use inner::sql::Dialect;
pub use judgement::{Category, Intent, Judgement, Risk, Run};
pub use limits::LINE_BYTES_MAX;
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

/// Words as a line that a shell reads back as the same words.
pub fn quoted(words: &[String]) -> String {
    rewrite::join(words)
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
        Err(problem) => refused(Finding::unknown(problem)),
        Ok(script) => of_script(tools, line, &script, with_rewrite),
    }
}

fn of_script(tools: &Tools, line: &str, script: &Script, with_rewrite: bool) -> Judgement {
    let judge = Judge::new(tools);
    let commands = script.commands.iter().map(|simple| judge.simple(simple, 0));
    let found = script.findings.iter().cloned().chain(commands).fold(Finding::reads(), Finding::and);
    let paths = known_words(script);
    let secret = paths.iter().find_map(|word| paths::secret(word)).map(Finding::unknown);
    let found = secret.into_iter().fold(found, |found, secret| secret.and(found));
    let mut judgement = refused(found);
    if judgement.intent.only_reads() {
        if judgement.reason.is_empty() {
            judgement.reason = format!("only reads ({})", programs(script).join(", "));
        }
        judgement.run = Some(how_to_run(line, script));
    }
    if with_rewrite && judgement.category.is_some() {
        let suggestion = rewrite::suggest(tools, script);
        judgement.rewrite = suggestion.filter(|line| judge_with(tools, line, false).is_proven());
    }
    judgement.shows_unseen = judge.shows_unseen().or_else(|| unseen_input(script));
    judgement.paths = paths;
    judgement
}

fn refused(found: Finding) -> Judgement {
    let Finding { intent, risk, category, reason } = found;
    Judgement { intent, risk, category, reason, rewrite: None, run: None, paths: Vec::new(), shows_unseen: None }
}

fn how_to_run(line: &str, script: &Script) -> Run {
    let argv = match script.commands.as_slice() {
        [only] if !script.needs_shell && only.settings.is_empty() && !is_builtin(only) => {
            only.words.iter().map(|word| word.known().map(str::to_owned)).collect()
        }
        _ => None,
    };
    argv.map_or_else(|| Run::Shell(line.to_owned()), Run::Argv)
}

/// A redirect that opens a file of which nobody has seen the name.
fn unseen_input(script: &Script) -> Option<String> {
    script
        .unseen_inputs
        .first()
        .map(|written| format!("`{written}` could name a file with secrets; write the names out"))
}

/// Words of the shell that no program stands for on every machine.
fn is_builtin(simple: &script::Simple) -> bool {
    let name = simple.words.first().and_then(Word::known);
    matches!(name, Some("type" | "command" | "ulimit" | "umask" | "times" | "jobs" | "wait" | "hash" | "history" | ":"))
}

fn known_words(script: &Script) -> Vec<String> {
    let words = script.commands.iter().flat_map(|simple| &simple.words);
    let starts = words.map(Word::start).chain(script.inputs.iter().map(String::as_str));
    let mut words: Vec<String> = starts.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.dedup();
    words
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

//! `countersign classify`: what commands can do, one a line in and one a line out. Runs nothing and reads no configuration;
//! the same judge as in the gates says it.

use std::io::{self, BufRead, BufWriter, Read, Write};

use countersign_core::command::{Dialect, Judgement, LINE_BYTES_MAX, Tables, judge_redis, judge_sql};
use serde::Serialize;

use super::setup::load_commands;
use super::{ClassifyArgs, Failed, Language};

/// How much of one command is read; the judge refuses what is longer than [`LINE_BYTES_MAX`], the rest is passed over.
const KEPT_BYTES_MAX: u64 = LINE_BYTES_MAX as u64 + 1;

/// One answer as JSON.
#[derive(Serialize)]
struct Row<'a> {
    command: &'a str,
    intent: &'static str,
    risk: u8,
    bounded: bool,
    category: Option<&'static str>,
    reason: &'a str,
    rewrite: Option<&'a str>,
}

/// Reads commands from standard input until it ends, and answers each at once.
pub(super) fn run(args: &ClassifyArgs, json: bool) -> Result<(), Failed> {
    let tables = load_commands(args.tables.as_deref()).map_err(Failed::Usage)?;
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    answer_all(&mut input, &mut output, args, &tables, json).or_else(|error| match error.kind() {
        // Whoever reads the answers has seen enough.
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Failed::Internal(anyhow::Error::new(error).context("commands cannot be read or answered"))),
    })
}

fn answer_all(
    input: &mut impl BufRead,
    output: &mut impl Write,
    args: &ClassifyArgs,
    tables: &Tables,
    json: bool,
) -> io::Result<()> {
    let null = args.null;
    let end = if null { 0 } else { b'\n' };
    while let Some(bytes) = next_command(input, end)? {
        let command = String::from_utf8_lossy(&bytes);
        let command = if null { &command } else { command.strip_suffix('\r').unwrap_or(&command) };
        let judged = judged(command, args.language, tables);
        if json {
            serde_json::to_writer(&mut *output, &row(command, &judged))?;
            writeln!(output)?;
        } else {
            writeln!(output, "{}", sentence(command, &judged))?;
        }
        output.flush()?;
    }
    Ok(())
}

fn judged(command: &str, language: Language, tables: &Tables) -> Judgement {
    match language {
        Language::Shell => tables.judge(command),
        Language::Postgres => judge_sql(command, Dialect::Postgres),
        Language::Mysql => judge_sql(command, Dialect::MySql),
        Language::Sqlite => judge_sql(command, Dialect::Sqlite),
        Language::Redis => judge_redis(command),
    }
}

/// The bytes up to the next separator, cut where they are too many; `None` at the end.
fn next_command(input: &mut impl BufRead, end: u8) -> io::Result<Option<Vec<u8>>> {
    let mut kept = Vec::new();
    if input.by_ref().take(KEPT_BYTES_MAX).read_until(end, &mut kept)? == 0 {
        return Ok(None);
    }
    if kept.last() == Some(&end) {
        kept.pop();
        return Ok(Some(kept));
    }
    loop {
        let (passed, found) = {
            let buffer = input.fill_buf()?;
            match buffer.iter().position(|byte| *byte == end) {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            }
        };
        input.consume(passed);
        if found {
            return Ok(Some(kept));
        }
    }
}

fn row<'a>(command: &'a str, judged: &'a Judgement) -> Row<'a> {
    Row {
        command,
        intent: judged.intent.name(),
        risk: judged.risk.level(),
        bounded: judged.is_bounded(),
        category: judged.category.map(countersign_core::command::Category::name),
        reason: &judged.reason,
        rewrite: judged.rewrite.as_deref(),
    }
}

/// Line feeds and other control characters written out.
fn on_one_line(command: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    command.chars().map(shown).collect()
}

/// One line for people: the verdict first, as it is what a tired person looks for.
fn sentence(command: &str, judged: &Judgement) -> String {
    let verdict = match (judged.intent.only_reads(), judged.is_bounded()) {
        (true, true) => "reads".to_owned(),
        (true, false) => "reads, but does not end".to_owned(),
        (false, _) => format!("refused, risk {}", judged.risk.level()),
    };
    let command = on_one_line(command);
    let instead = judged.rewrite.as_ref().map_or_else(String::new, |line| format!("; instead: {line}"));
    format!("{verdict}: {command}: {}{instead}", judged.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(text: &[u8], null: bool, json: bool) -> String {
        answers_as(text, null, json, Language::Shell)
    }

    fn answers_as(text: &[u8], null: bool, json: bool, language: Language) -> String {
        let mut output = Vec::new();
        let args = ClassifyArgs { null, tables: None, language };
        answer_all(&mut io::Cursor::new(text), &mut output, &args, &Tables::default(), json)
            .expect("a buffer takes everything");
        String::from_utf8(output).expect("the answers are text")
    }

    #[test]
    fn one_answer_a_line_whatever_the_line_is() {
        let long = format!("echo {}", "a".repeat(100_000));
        let text = format!("ls -la\n\nrm -rf /x\r\nif then\n{long}\nls");
        let answers = answers(text.as_bytes(), false, true);
        let rows: Vec<serde_json::Value> =
            answers.lines().map(|line| serde_json::from_str(line).expect("each answer is JSON")).collect();
        let intents: Vec<&str> = rows.iter().filter_map(|row| row.get("intent")?.as_str()).collect();
        let write = "write_or_unknown";
        assert_eq!(intents, ["read_only_certain", write, write, write, write, "read_only_certain"]);
        assert_eq!(rows.get(2).and_then(|row| row.get("command")?.as_str()), Some("rm -rf /x"));
    }

    #[test]
    fn bytes_that_are_no_text_are_answered_too() {
        assert!(answers(b"ls \xff\xfe", false, true).contains("intent"));
    }

    #[test]
    fn statements_are_judged_as_what_they_are() {
        let sql = b"select 1\ndelete from t\n";
        let verdicts = |language| answers_as(sql, false, false, language);
        for language in [Language::Postgres, Language::Mysql, Language::Sqlite] {
            let said = verdicts(language);
            assert!(said.starts_with("reads: select 1") && said.contains("refused, risk "), "{said}");
        }
        let redis = answers_as(b"GET a\nFLUSHALL\n", false, false, Language::Redis);
        assert!(redis.starts_with("reads: GET a") && redis.contains("refused, risk 3: FLUSHALL"), "{redis}");
    }

    #[test]
    fn commands_of_several_lines_are_separated_by_null_bytes() {
        let answers = answers(b"uptime\ndf -h\0ls", true, false);
        assert_eq!(answers.lines().count(), 2, "{answers}");
        assert!(answers.lines().all(|line| line.starts_with("reads: ")), "{answers}");
    }
}

//! `host_command`: runs a command line that is proven to only read and to end by itself. What is proven is decided in
//! the core; here it is decided again, beside the execution and with the links of this machine followed (SEC-02).

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use countersign_core::command::{Judgement, judge};
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::exec::{self, Run};
use super::lines;
use super::this_host::ThisHost;

/// How long a command may take; a little less than its declaration says, so that the answer still arrives.
const LIMIT: Duration = Duration::from_secs(25);

/// The most bytes of output that are kept.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Programs that show what is in a file.
const CONTENT_READERS: [&str; 4] = ["cat", "head", "tail", "wc"];

/// Runs `args.line`.
pub(super) async fn run(host: &ThisHost, call: &Call) -> Answer {
    let line = checked(call.required("line")?)?;
    line.iter().try_for_each(|word| host.refuse_own(Path::new(word)))?;
    let words: Vec<&str> = line.iter().map(String::as_str).collect();
    let [program, args @ ..] = words.as_slice() else {
        return Err(Trouble::invalid("line", "the command is empty"));
    };
    let (args, input) = content(program, args)?;
    let run = Run { program, args: &args, input, limit: LIMIT, output_bytes_max: OUTPUT_BYTES_MAX };
    let outcome = exec::run(host, run).await?;
    let output = lines::split(&outcome.output);
    let data = json!({
        "command": line.join(" "),
        "exit_code": outcome.code,
        "output": output,
        "errors": outcome.errors,
    });
    let left_out = if outcome.cut {
        format!("only the first {} KiB of the output are shown; ask for less at a time", OUTPUT_BYTES_MAX / 1024)
    } else {
        String::new()
    };
    Ok(Found::part(data, left_out))
}

/// What a program that shows a file's content reads: the file as it was opened and judged here, on standard input. Given
/// the name, it would open it once more, and somebody may have put another file there in between.
fn content<'a>(program: &str, args: &[&'a str]) -> Result<(Vec<&'a str>, Option<File>), Trouble> {
    let (paths, others): (Vec<&str>, Vec<&str>) = args.iter().partition(|word| word.starts_with('/'));
    match paths.as_slice() {
        [path] if CONTENT_READERS.contains(&program) => Ok((others, Some(super::file::open(path)?.file))),
        _ => Ok((args.to_vec(), None)),
    }
}

/// The words that are run: proven as they were written, and proven again with every path followed to where it leads,
/// because a link may lead to a secret or to a device. What was judged last is what runs.
fn checked(line: &str) -> Result<Vec<String>, Trouble> {
    let written = proven(judge(line))?;
    let followed: Vec<String> = written.iter().map(|word| follow(word)).collect();
    proven(judge(&followed.join(" ")))
}

fn proven(judged: Judgement) -> Result<Vec<String>, Trouble> {
    if judged.is_proven() { Ok(judged.argv) } else { Err(Trouble::unproven(judged.reason, judged.rewrite)) }
}

/// Where a path leads, with all links followed; any other word, and a path that leads nowhere, as it is.
fn follow(word: &str) -> String {
    if !word.starts_with('/') {
        return word.to_owned();
    }
    Path::new(word).canonicalize().map_or_else(|_| word.to_owned(), |path| path.display().to_string())
}

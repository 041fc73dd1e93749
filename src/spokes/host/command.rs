//! `host_command`: runs a command line that is proven to only read and to end by itself. What is proven is decided in
//! the core; here it is decided again, beside the execution and with the links of this machine followed (SEC-02).

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

/// Programs that read what is in a file, and so would wait for ever on one that is none.
const CONTENT_READERS: [&str; 4] = ["cat", "head", "tail", "wc"];

/// Runs `args.line`.
pub(super) async fn run(host: &ThisHost, call: &Call) -> Answer {
    let line = checked(call.required("line")?)?;
    line.iter().try_for_each(|word| host.refuse_own(Path::new(word)))?;
    let words: Vec<&str> = line.iter().map(String::as_str).collect();
    let [program, args @ ..] = words.as_slice() else {
        return Err(Trouble::invalid("line", "the command is empty"));
    };
    let outcome = exec::run(host, Run { program, args, limit: LIMIT, output_bytes_max: OUTPUT_BYTES_MAX }).await?;
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

/// The words that are run: proven as they were written, and proven again with every path followed to where it leads,
/// because a link may lead to a secret or to a device. What was judged last is what runs.
fn checked(line: &str) -> Result<Vec<String>, Trouble> {
    let written = proven(judge(line))?;
    let followed: Vec<String> = written.iter().map(|word| follow(word)).collect();
    let followed = proven(judge(&followed.join(" ")))?;
    check_files(&followed)?;
    Ok(followed)
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

/// Only plain files have an end: a pipe or a socket would be waited on until the time limit.
fn check_files(argv: &[String]) -> Result<(), Trouble> {
    if !argv.first().is_some_and(|program| CONTENT_READERS.contains(&program.as_str())) {
        return Ok(());
    }
    for word in argv.iter().filter(|word| word.starts_with('/')) {
        let is_special = Path::new(word).metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        if is_special {
            return Err(Trouble::invalid("line", format!("`{word}` is no plain file; reading it might never end")));
        }
    }
    Ok(())
}

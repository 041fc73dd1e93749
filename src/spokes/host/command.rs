//! `host_command`: runs a command line that is proven to only read and to end by itself. What is proven is decided in
//! the core; here it is decided again, beside the execution and with the links of this machine followed (SEC-02).

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use countersign_core::command::{Judgement, Run as Judged, quoted};
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::call::Call;
use super::exec::{self, Outcome, Run};
use super::lines;
use super::this_host::ThisHost;

/// How long a command may take; a little less than its declaration says, so that the answer still arrives.
const LIMIT: Duration = Duration::from_secs(25);

/// The most bytes of output that are kept.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Programs that show what is in a file.
const CONTENT_READERS: [&str; 4] = ["cat", "head", "tail", "wc"];

/// The shell that a line with pipes or lists needs. The classifier reads lines as it does.
const SHELL: &str = "/bin/bash";

/// Runs `args.line`.
pub(super) async fn run(host: &ThisHost, call: &Call) -> Answer {
    let line = call.required("line")?;
    let outcome = match checked(host, line)? {
        Checked::Argv(words) => run_program(host, &words).await?,
        Checked::Shell(line) => run_line(host, &line).await?,
    };
    let output = lines::split(&outcome.output);
    let data = json!({
        "command": line,
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

async fn run_program(host: &ThisHost, words: &[String]) -> Result<Outcome, Trouble> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [program, args @ ..] = words.as_slice() else {
        return Err(Trouble::invalid("line", "the command is empty"));
    };
    let (args, input) = content(program, args)?;
    let run = Run { program, args: &args, input, limit: LIMIT, output_bytes_max: OUTPUT_BYTES_MAX };
    exec::run(host, run).await
}

async fn run_line(host: &ThisHost, line: &str) -> Result<Outcome, Trouble> {
    let args = ["--noprofile", "--norc", "-c", line];
    let run = Run { program: SHELL, args: &args, input: None, limit: LIMIT, output_bytes_max: OUTPUT_BYTES_MAX };
    exec::run(host, run).await
}

/// What a program that shows a file's content reads: the file as it was opened and judged here, on standard input. Given
/// the name, it would open it once more, and somebody may have put another file there in between.
fn content<'a>(program: &str, args: &[&'a str]) -> Result<(Vec<&'a str>, Option<File>), Trouble> {
    let (paths, others): (Vec<&str>, Vec<&str>) = args.iter().partition(|word| word.starts_with('/'));
    match paths.as_slice() {
        [path] if CONTENT_READERS.contains(&program) && !is_the_kernels(path) => {
            Ok((others, Some(super::file::open(path)?.file)))
        }
        _ => Ok((args.to_vec(), None)),
    }
}

/// Nobody puts another file in the place of one that the kernel makes up; which of them hold secrets or never end was judged.
fn is_the_kernels(path: &str) -> bool {
    path.starts_with("/proc/") || path.starts_with("/sys/")
}

/// What is run, after everything was judged here once more.
enum Checked {
    /// One program, every path followed.
    Argv(Vec<String>),
    /// A line for the shell, which was proven whole.
    Shell(String),
}

/// The line, proven as it was written, and with the paths in it followed to where they lead, because a link may lead to a
/// secret or to a device. Of a single program the followed paths are judged again and are what runs. A line for a shell
/// runs as it is written, so that nothing in it may lead elsewhere, and nothing may show a file that it does not name.
fn checked(host: &ThisHost, line: &str) -> Result<Checked, Trouble> {
    let judged = proven(host.commands.judge(line))?;
    if let Some(reason) = judged.shows_unseen {
        return Err(Trouble::unproven(reason, None));
    }
    match judged.run {
        Some(Judged::Argv(words)) => {
            let followed: Vec<String> = words.iter().map(|word| follow(word)).collect();
            followed.iter().try_for_each(|word| host.refuse_own(Path::new(word)))?;
            followed.iter().try_for_each(|word| super::file::refuse_key_at(word))?;
            match proven(host.commands.judge(&quoted(&followed)))?.run {
                Some(Judged::Argv(words)) => Ok(Checked::Argv(words)),
                Some(Judged::Shell(_)) | None => {
                    Err(Trouble::unproven("a link in the command leads to an odd name", None))
                }
            }
        }
        Some(Judged::Shell(line)) => {
            judged.paths.iter().try_for_each(|word| checked_path(host, word))?;
            Ok(Checked::Shell(line))
        }
        None => Err(Trouble::unproven(judged.reason, None)),
    }
}

fn proven(judged: Judgement) -> Result<Judgement, Trouble> {
    if judged.is_proven() { Ok(judged) } else { Err(Trouble::unproven(judged.reason, judged.rewrite)) }
}

/// A word of a shell line: where it is a path, what it leads to must be as harmless as the path itself.
fn checked_path(host: &ThisHost, word: &str) -> Result<(), Trouble> {
    let real = follow(word);
    host.refuse_own(Path::new(&real))?;
    super::file::refuse_key_at(&real)?;
    if real == word {
        return Ok(());
    }
    proven(host.commands.judge(&quoted(&["cat".to_owned(), real]))).map(|_| ())
}

/// Where a path leads, with all links followed; any other word, and a path that leads nowhere, as it is.
fn follow(word: &str) -> String {
    if !word.starts_with('/') {
        return word.to_owned();
    }
    Path::new(word).canonicalize().map_or_else(|_| word.to_owned(), |path| path.display().to_string())
}

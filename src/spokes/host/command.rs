//! `host_command`: runs a command line that is proven to only read and to end by itself, as pipelines of argument vectors
//! and without a shell. What is proven is decided in the core; here it is decided again, beside the execution and with
//! the links of this machine followed (SEC-02), and runs behind the sandbox's walls all the same.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_core::command::{Argument, CommandList, Feeding, Joint, Judgement, Network, Shows, Stage};
use countersign_sandbox::Asks;
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::between::{Takes, uncoloured};
use super::call::Call;
use super::dispatch::in_background;
use super::exec::{self, Bounds, Fed, Pipeline, Reaches, Start};
use super::file::is_the_kernels;
use super::line_files::{LineFiles, literals, names_none, runs_git};
use super::readable::{ReadableFiles, paths_in};
use super::this_host::ThisHost;
use super::unwrap::without_shells;
use super::{expand, lines};

/// How long a command may take; a little less than its declaration says, so that the answer still arrives.
const LIMIT: Duration = Duration::from_secs(25);

/// The most bytes of output that are kept.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// The note under a command without output.
const SILENT: &str = "it printed nothing";

/// The note under a command without output that looks into the folder in which it begins.
const NO_FOLDER: &str = "it printed nothing: commands begin in an empty folder, so write whole paths";

/// The note under a command that lists mounts: the walls around it are mounts, too.
const WALLED: &str = "a command runs behind walls, so that it sees everything mounted read-only; `findmnt -N 1` shows the mounts \
    of this machine";

/// Programs that look into the folder in which they begin.
const FOLDER_READERS: [&str; 6] = ["ls", "find", "du", "tree", "grep", "git"];

/// Said under one command whose input or output was masked on its way.
const MASKED: &str = "secrets were masked";

/// Said under a command in which one program showed secrets to the next.
const MASKED_BETWEEN: &str =
    "secrets were masked between the commands; compressed data goes on only through `zcat` and the like";

/// The end of a large file that is masked where only its end is shown, in bytes.
const END_BYTES: u64 = 8 * 1024 * 1024;

/// Programs that show what is in a file.
const CONTENT_READERS: [&str; 4] = ["cat", "head", "tail", "wc"];

/// Runs `args.line`.
pub(super) async fn run(host: &ThisHost, call: &Call) -> Answer {
    let line = call.required("line")?;
    let list = checked(host, line)?;
    let sandbox = host.sandbox.clone();
    let (list, files) = in_background(move || {
        let files = LineFiles::of(&sandbox, &list)?;
        Ok((list, files))
    })
    .await?;
    let starts = starts(host, &list, &files)?;
    let bounds = Bounds { limit: LIMIT, output_bytes_max: OUTPUT_BYTES_MAX };
    let outcome = exec::run_list(host, starts, bounds, line).await?;
    let files = in_background(move || files.refuse_changed().map(|()| files)).await?;
    let reads_folder =
        list.stages().filter_map(|stage| literals(stage).next()).any(|name| FOLDER_READERS.contains(&name));
    let is_silent = outcome.output.is_empty() && outcome.errors.is_empty();
    let silent = is_silent.then(|| if reads_folder && names_none(&list) { NO_FOLDER } else { SILENT }.to_owned());
    let masked = if list.stages().count() > 1 { MASKED_BETWEEN } else { MASKED };
    let between = outcome.masked.then(|| masked.to_owned());
    let walled = (!host.sandbox.best_effort && lists_mounts(&list)).then(|| WALLED.to_owned());
    let data = json!({
        "command": line,
        "exit_code": outcome.code,
        "ended": ended(outcome.code),
        "output": lines::split(uncoloured(&String::from_utf8_lossy(&outcome.output)).as_bytes()),
        "errors": uncoloured(&outcome.errors),
        "note": files.note().or(between).or(silent).or(walled),
    });
    let cut = outcome.cut.then(|| {
        format!("only the first {} KiB of the output are shown; ask for less at a time", OUTPUT_BYTES_MAX / 1024)
    });
    let left_out: Vec<String> = files.left_out().into_iter().chain(cut).collect();
    Ok(Found::part(data, left_out.join(". ")))
}

/// Returns how a command ended, to stand behind it; of one that ended well that is nothing to speak of.
fn ended(code: Option<i32>) -> String {
    match code {
        Some(0) => ":".to_owned(),
        Some(code) => format!(" ended with exit code {code}."),
        None => " was ended by a signal.".to_owned(),
    }
}

/// Returns whether a command shows the mounts that it sees itself.
fn lists_mounts(list: &CommandList) -> bool {
    let is_of_another = |word: &str| {
        word.starts_with("--task") || (word.starts_with('-') && !word.starts_with("--") && word.contains('N'))
    };
    let is_own_list =
        |word: &str| word.ends_with("/self/mounts") || word.ends_with("/self/mountinfo") || word == "/proc/mounts";
    list.stages().any(|stage| {
        let mut words = literals(stage);
        match words.next().map(|program| program.rsplit('/').next().unwrap_or(program)) {
            Some("mount") => true,
            Some("findmnt") => !words.any(is_of_another),
            Some(_) => words.any(is_own_list),
            None => false,
        }
    })
}

/// The line as it runs: proven as it was written, then with its patterns expanded, and then as it is with its paths followed
/// to where they lead, because a link may lead to a secret or to a device. Links stay links for the program (`ls -l`): walls
/// let it read where they led here and nothing else. Without them, what was proven last is what runs.
fn checked(host: &ThisHost, line: &str) -> Result<CommandList, Trouble> {
    let mut list = without_shells(host, proven(host.commands.judge(line))?.1)?;
    for stage in list.stages_mut() {
        stage.words = literal_words(&stage.words)?;
    }
    let (judged, literal) = proven(host.commands.judge(&list.to_line()))?;
    for stage in list.stages_mut() {
        stage.words = followed_words(host, &stage.words)?;
    }
    let followed = if list == literal { list } else { proven(host.commands.judge(&list.to_line()))?.1 };
    match judged.shows_unseen {
        // Within walls, what a folder hides is covered.
        _ if !host.sandbox.best_effort => Ok(literal),
        None => Ok(followed),
        Some(reason) => Err(Trouble::unproven(reason, None)),
    }
}

fn proven(judged: Judgement) -> Result<(Judgement, CommandList), Trouble> {
    match judged.run.clone() {
        Some(list) if judged.is_proven() => Ok((judged, list)),
        Some(_) | None => Err(Trouble::unproven(judged.reason, judged.rewrite)),
    }
}

/// The words of one command, every one of them literal.
fn literal_words(words: &[Argument]) -> Result<Vec<Argument>, Trouble> {
    let mut literal = Vec::new();
    for word in words {
        let texts = match word {
            Argument::Literal(text) => vec![text.clone()],
            Argument::Home(rest) => vec![expand::home(rest)?],
            Argument::Pattern(pattern) => expand::pattern(pattern)?,
        };
        literal.extend(texts.into_iter().map(Argument::Literal));
    }
    Ok(literal)
}

/// The same with paths followed to where they lead, none of them the bot's own, hidden or a key.
fn followed_words(host: &ThisHost, words: &[Argument]) -> Result<Vec<Argument>, Trouble> {
    let mut followed = Vec::new();
    for argument in words {
        let Argument::Literal(text) = argument else { continue };
        let word = follow(text);
        for path in paths_in(&word) {
            host.refuse_own(Path::new(path))?;
            host.refuse_hidden(Path::new(path))?;
            host.refuse_private(Path::new(path))?;
            super::file::refuse_key_at(path)?;
        }
        followed.push(Argument::Literal(word));
    }
    Ok(followed)
}

/// A word with its path, or the path behind `=`, followed to where it leads; any other word, and a path that leads nowhere,
/// as it is. Names that are not absolute find nothing where commands run.
fn follow(word: &str) -> String {
    let real = |path: &str| {
        let real = Path::new(path).canonicalize().ok().filter(|real| *real != Path::new(path))?;
        real.to_str().map(str::to_owned)
    };
    match word.split_once('=') {
        _ if word.starts_with('/') => real(word).unwrap_or_else(|| word.to_owned()),
        Some((name, path)) if path.starts_with('/') => {
            real(path).map_or_else(|| word.to_owned(), |real| format!("{name}={real}"))
        }
        Some(_) | None => word.to_owned(),
    }
}

fn starts(host: &ThisHost, list: &CommandList, files: &LineFiles) -> Result<Vec<(Joint, Pipeline)>, Trouble> {
    let mut of_stages = files.stages.iter();
    let mut start_next = |stage| {
        let readable = of_stages.next().cloned().unwrap_or_default();
        start(host, stage, readable, files)
    };
    let pipelines = list.0.iter().map(|(joint, pipeline)| {
        Ok((*joint, pipeline.iter().map(&mut start_next).collect::<Result<Pipeline, Trouble>>()?))
    });
    pipelines.collect()
}

fn start(host: &ThisHost, stage: &Stage, readable: Arc<ReadableFiles>, files: &LineFiles) -> Result<Start, Trouble> {
    let words: Vec<&str> = literals(stage).collect();
    let [program, args @ ..] = words.as_slice() else {
        return Err(Trouble::invalid("line", "the command is empty"));
    };
    let path = exec::installed(host, program)?;
    let takes = match stage.traits.shows {
        Shows::Nothing if !stage.traits.takes_names => Takes::Everything,
        Shows::Nothing | Shows::Lines => Takes::Masked,
        Shows::Anything => Takes::Text,
    };
    // All of a file goes on to the next command, which gets it masked.
    let is_whole = *program == "cat" && args.iter().all(|word| !word.starts_with('-'));
    let streamed = files.streamed(stage).filter(|_| !is_whole);
    let (args, file) = match &streamed {
        Some((at, path)) => (without(args, *at), Some(opened_to_stream(program, args, path)?)),
        None => content(program, args, |path| files.in_place_of(path, stage))?,
    };
    let added = added(program, streamed.as_ref().map(|(_, path)| path.as_path()));
    let input = match (file, &stage.input) {
        (Some(file), _) if streamed.is_some() => Fed::Masked(file, takes),
        (Some(file), _) => Fed::File(file),
        (None, Feeding::Before) => Fed::Before,
        (None, Feeding::Nothing) => Fed::Nothing,
        (None, Feeding::Text(text)) => {
            let made = exec::unnamed_file(text);
            Fed::File(made.map_err(|error| Trouble::reading("the text of `<<<`", error))?)
        }
    };
    Ok(Start {
        path,
        args: added.into_iter().chain(args.into_iter().map(str::to_owned)).collect(),
        settings: stage.settings.clone(),
        input,
        output: stage.output,
        errors: stage.errors,
        reaches: reaches(host, stage)?,
        // A sum or a count is of what really comes.
        takes,
        files: readable,
        shows_changes: runs_git(stage),
    })
}

/// The arguments without the word at this place of the command.
fn without<'a>(args: &[&'a str], at: usize) -> Vec<&'a str> {
    args.iter().enumerate().filter(|(n, _)| n + 1 != at).map(|(_, word)| *word).collect()
}

/// Opens a file that is too large to be masked beforehand; of one whose end is shown, only the end is masked.
fn opened_to_stream(program: &str, args: &[&str], path: &Path) -> Result<File, Trouble> {
    let mut opened = super::file::open(&path.to_string_lossy())?;
    let shows_end = program == "tail" && args.iter().all(|word| !word.contains('+'));
    if shows_end && opened.size > END_BYTES {
        let sought = opened.file.seek(SeekFrom::Start(opened.size - END_BYTES));
        sought.map_err(|error| Trouble::io(path, &error))?;
    }
    Ok(opened.file)
}

/// Returns options that a program needs here: `sort` must not write to a disk, and `grep` reads a file as its input.
fn added(program: &str, streamed: Option<&Path>) -> Vec<String> {
    match (program, streamed) {
        ("sort", _) => vec!["--buffer-size=256M".to_owned()],
        ("grep" | "egrep" | "fgrep", Some(path)) => vec![format!("--label={}", path.display())],
        _ => Vec::new(),
    }
}

/// What a program that shows a file's content reads: the file as it was opened and judged here, on standard input. Given
/// the name, it would open it once more, and somebody may have put another file there in between.
fn content<'a, 'f>(
    program: &str,
    args: &[&'a str],
    in_place_of: impl Fn(&Path) -> Option<&'f str>,
) -> Result<(Vec<&'a str>, Option<File>), Trouble> {
    let (paths, others): (Vec<&str>, Vec<&str>) = args.iter().partition(|word| word.starts_with('/'));
    match paths.as_slice() {
        // Nobody puts another file in the place of one that the kernel makes up; which of them hold secrets was judged.
        [path] if CONTENT_READERS.contains(&program) && !is_the_kernels(Path::new(path)) => {
            match super::file::open(path) {
                Ok(opened) => match in_place_of(&opened.path) {
                    None => Ok((others, Some(opened.file))),
                    Some(masked) => {
                        let made = exec::unnamed_file(masked);
                        Ok((others, Some(made.map_err(|error| Trouble::reading("a masked file", error))?)))
                    }
                },
                // The program says so itself, and `||` behind it runs.
                Err(trouble) if trouble.is_not_found() => Ok((args.to_vec(), None)),
                Err(trouble) => Err(trouble),
            }
        }
        _ => Ok((args.to_vec(), None)),
    }
}

/// What a command may reach: what its table says, as far as the configuration allows it.
fn reaches(host: &ThisHost, stage: &Stage) -> Result<Reaches, Trouble> {
    let network = stage.traits.reach.network.as_ref();
    if let Some(reason) = network.and_then(|network| network.refused_by(&host.egress)) {
        return Err(Trouble::forbidden(reason));
    }
    Ok(Reaches {
        all_files: false,
        network: network.is_some(),
        ports: network.map(Network::ports_used).unwrap_or_default(),
        sockets: stage.traits.reach.sockets.iter().map(PathBuf::from).collect(),
        asks: Asks::Nothing,
    })
}

//! The files of each command of a line: those that its own words name, or, where it is told names by another command
//! (`find DIR | xargs cat`), those that the line names; with their secrets masked where it could show them.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::command::{Argument, CommandList, Feeding, Shows, Stage};

use super::answer::Trouble;
use super::masked_files::{Examined, Hidden};
use super::readable::{ReadableFiles, paths_in};
use super::walls::Sandbox;
use crate::sandbox::MaskedFiles;

/// The files of one line.
#[derive(Debug)]
pub(super) struct LineFiles {
    /// Of each command, in the order of the text.
    pub(super) stages: Vec<Arc<ReadableFiles>>,
    all: ReadableFiles,
    examined: Examined,
    /// The most that any of its commands can show.
    shows: Shows,
    /// The covered and masked places, each with its identity before the run.
    covered: Vec<(PathBuf, Option<Identity>)>,
}

/// Programs that read their input where they are given no file.
const FILTERS: [&str; 22] = [
    "awk", "base64", "cat", "cut", "egrep", "fgrep", "fold", "gawk", "grep", "head", "jq", "mawk", "nl", "od", "rev",
    "sed", "sort", "tac", "tail", "tr", "uniq", "xxd",
];

/// A file system, and the number of a file or folder in it.
type Identity = (u64, u64);

impl LineFiles {
    /// Finds what each command may read, and masks the secrets in it. Walks through folders and reads files.
    pub(super) fn of(sandbox: &Sandbox, list: &CommandList) -> Result<Self, Trouble> {
        let all = ReadableFiles::named_by(list.stages().flat_map(literals));
        let shows = list.stages().map(|stage| stage.shows).max().unwrap_or_default();
        let examined = if shows > Shows::Nothing { Examined::of(&all) } else { Examined::default() };
        let masked = match examined.masked.as_slice() {
            [] => None,
            files => Some(MaskedFiles::new(files).map_err(|error| Trouble::reading("the masked files", error))?),
        };
        let masked = masked.map(Arc::new);
        let stages = list.stages().map(|stage| {
            let mut files = if stage.takes_names { all.clone() } else { all.named_among(literals(stage)) };
            refuse_unread(stage, &files, &examined)?;
            if stage.shows > Shows::Nothing {
                files.masked.clone_from(&masked);
            }
            let hidden = examined.hidden.iter().filter(|(_, why)| why.is_from(stage.shows));
            files.covered.extend(hidden.map(|(path, _)| path.clone()));
            files.is_all = stage.takes_names && stage.shows == Shows::Anything;
            Ok(Arc::new(files))
        });
        let stages: Vec<Arc<ReadableFiles>> = stages.collect::<Result<_, Trouble>>()?;
        let places = stages
            .iter()
            .flat_map(|files| sandbox.covers(files))
            .chain(examined.masked.iter().map(|file| file.path.clone()));
        let covered: BTreeSet<PathBuf> = places.collect();
        let covered = covered.into_iter().map(|path| (identity(&path), path)).map(|(now, path)| (path, now)).collect();
        Ok(Self { stages, all, examined, shows, covered })
    }

    /// Refuses to show what may hold secrets that came into a file while the command ran. Reads the files again.
    pub(super) fn refuse_changed(&self) -> Result<(), Trouble> {
        self.refuse_replaced()?;
        if self.shows < Shows::Anything {
            return Ok(());
        }
        let words: Vec<String> = self.all.paths.iter().map(|path| path.display().to_string()).collect();
        let now = Examined::of(&ReadableFiles::named_by(words.iter().map(String::as_str)));
        match now.new_since(&self.examined) {
            None => Ok(()),
            Some(path) => {
                let message =
                    format!("secrets came into `{}` while the command ran, so that it is not shown", path.display());
                Err(Trouble::failed_with_hint(message, "run it again"))
            }
        }
    }

    /// Refuses to show what was read where a covered file was replaced meanwhile: the kernel takes the cover off then.
    fn refuse_replaced(&self) -> Result<(), Trouble> {
        let is_replaced = |path: &Path, before| identity(path).is_some_and(|now| before != Some(now));
        match self.covered.iter().find(|(path, before)| is_replaced(path, *before)) {
            None => Ok(()),
            Some((path, _)) => {
                let message =
                    format!("`{}` was replaced while the command ran, so that it is not shown", path.display());
                Err(Trouble::failed_with_hint(message, "run it again"))
            }
        }
    }

    /// Returns what a command reads in a file's place: nothing where it may read the file itself.
    pub(super) fn in_place_of(&self, path: &Path, stage: &Stage) -> Option<&str> {
        if stage.shows == Shows::Nothing { None } else { self.examined.masked(path) }
    }

    /// Returns the large file that a command reads masked, as its input, where it would otherwise have to be refused; and the
    /// place of its name among the words.
    pub(super) fn streamed(&self, stage: &Stage) -> Option<(usize, PathBuf)> {
        streamed(stage, &self.examined)
    }

    /// Returns what is said of files that a command did not read as they are.
    pub(super) fn note(&self) -> Option<String> {
        let is_read = |path: &Path| {
            let mut stages = self.stages.iter().filter(|files| files.masked.is_some());
            stages.any(|files| files.paths.iter().any(|named| path.starts_with(named)))
        };
        let masked: Vec<&Path> =
            self.examined.masked.iter().map(|file| file.path.as_path()).filter(|path| is_read(path)).collect();
        match masked.as_slice() {
            [] => None,
            [path] => Some(format!("secrets in `{}` were masked before the command read it", path.display())),
            [_, ..] => Some(format!("secrets in {} files were masked before the command read them", masked.len())),
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    path.symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

/// The literal words of a command.
pub(super) fn literals(stage: &Stage) -> impl Iterator<Item = &str> {
    stage.words.iter().filter_map(|word| match word {
        Argument::Literal(text) => Some(text.as_str()),
        Argument::Home(_) | Argument::Pattern(_) => None,
    })
}

/// Refuses a command that could show secrets in a file that it names and that could not be masked before.
fn refuse_unread(stage: &Stage, files: &ReadableFiles, examined: &Examined) -> Result<(), Trouble> {
    if streamed(stage, examined).is_some() {
        return Ok(());
    }
    let program = literals(stage).next().unwrap_or_default();
    // Whole lines of a folder can be masked one by one; of a file that is read alone, they are masked together.
    let is_refused =
        |path: &&PathBuf| stage.shows == Shows::Anything || (stage.shows == Shows::Lines && path.is_file());
    let unread = examined.unread.iter().filter(is_refused).find(|path| files.paths.contains(*path));
    let hidden = examined.hidden.iter().find(|(path, why)| why.is_from(stage.shows) && files.paths.contains(*path));
    let (path, reason, advice) = match (unread, hidden) {
        (Some(folder), _) if folder.is_dir() => (folder, "holds too much to be looked through first", Advice::Name),
        (Some(path), _) => (path, "is too large to be looked through first", Advice::Cat),
        (None, Some((path, Hidden::Packed(unpack)))) => (path, "is compressed", Advice::Unpack(unpack)),
        (None, Some((path, Hidden::NoText | Hidden::TooMuch))) => (path, "cannot be masked before", Advice::Cat),
        (None, Some((path, Hidden::Wide))) => (path, "is a text of two bytes a character", Advice::Elsewhere),
        (None, None) => return Ok(()),
    };
    let shown = path.display();
    let advice = match advice {
        Advice::Name => format!("name the files themselves, or search with `grep -rn TEXT {shown}`"),
        Advice::Cat => format!("write `cat {shown} | {program} ...` instead"),
        Advice::Unpack(unpack) => format!("write `{unpack} {shown} | {program} ...` instead"),
        Advice::Elsewhere => "read it on the machine itself".to_owned(),
    };
    Err(Trouble::forbidden(format!("`{program}` could show secrets in `{shown}`, which {reason}; {advice}")))
}

/// Returns a file that is too large to be masked beforehand, if the command is a filter and reads nothing else.
fn streamed(stage: &Stage, examined: &Examined) -> Option<(usize, PathBuf)> {
    let words: Vec<&str> = literals(stage).collect();
    let is_filter = words.first().is_some_and(|program| FILTERS.contains(program));
    if !is_filter || stage.input != Feeding::Before || stage.takes_names {
        return None;
    }
    let is_large = |path: &PathBuf| {
        let too_much = [Some(&Hidden::TooMuch), Some(&Hidden::NoText)].contains(&examined.hidden.get(path));
        path.is_file() && (examined.unread.contains(path) || too_much)
    };
    let large = |word: &&str| Path::new(word).canonicalize().ok().filter(is_large);
    let mut named = words.iter().enumerate().filter_map(|(at, word)| Some((at, large(word)?)));
    let all = words.iter().flat_map(|word| paths_in(word)).filter_map(|path| Path::new(path).canonicalize().ok());
    // The root also stands in `s/a//`.
    let all: BTreeSet<PathBuf> = all.filter(|path| path.parent().is_some()).collect();
    named.next().filter(|_| named.next().is_none() && all.len() == 1)
}

/// The advice in a refusal.
enum Advice {
    Name,
    Cat,
    Unpack(&'static str),
    Elsewhere,
}

/// Returns whether no command of a line names a path.
pub(super) fn names_none(list: &CommandList) -> bool {
    list.stages().flat_map(literals).skip(1).all(|word| paths_in(word).next().is_none())
}

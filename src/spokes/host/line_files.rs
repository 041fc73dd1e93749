//! The files of each command of a line: those that its own words name, or, where it is told names by another command
//! (`find DIR | xargs cat`), those that the line names; with their secrets masked where it could show them.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::command::{Argument, CommandList, Feeding, Shows, Stage};

use super::answer::Trouble;
use super::masked_files::{Examined, Hidden};
use super::packed::Unpack;
use super::readable::{ReadableFiles, paths_in};
use super::walls::Sandbox;
use countersign_sandbox::MaskedFiles;

/// The files of one line.
#[derive(Debug)]
pub(super) struct LineFiles {
    /// Of each command, in the order of the text.
    pub(super) stages: Vec<Arc<ReadableFiles>>,
    looked_through: ReadableFiles,
    examined: Examined,
    /// True if one of them compares files with what they were before.
    has_git: bool,
    /// The most that any of its commands can show.
    shows: Shows,
    /// The files that commands do not get to see because they were not looked through.
    left_out: BTreeSet<PathBuf>,
    /// A folder with secrets in it of which a command could not see more than the names.
    emptied: Option<PathBuf>,
    /// The covered and masked places, each with its identity before the run.
    covered: Vec<(PathBuf, Option<Identity>)>,
}

/// Programs that read their input where they are given no file.
const FILTERS: [&str; 22] = [
    "awk", "base64", "cat", "cut", "egrep", "fgrep", "fold", "gawk", "grep", "head", "jq", "mawk", "nl", "od", "rev",
    "sed", "sort", "tac", "tail", "tr", "uniq", "xxd",
];

/// The most bytes of the names of files that are left out: they travel in one argument, of which Linux takes 128 KiB.
const LEFT_OUT_BYTES_MAX: usize = 32 * 1024;

/// A file system, and the number of a file or folder in it.
type Identity = (u64, u64);

impl LineFiles {
    /// Finds what each command may read, and masks the secrets in it. Walks through folders and reads files.
    pub(super) fn of(sandbox: &Sandbox, list: &CommandList) -> Result<Self, Trouble> {
        let all = ReadableFiles::named_by(list.stages().flat_map(literals));
        let shows = list.stages().map(|stage| stage.traits.shows).max().unwrap_or_default();
        let named =
            |stage: &Stage| if stage.traits.takes_names { all.clone() } else { all.named_among(literals(stage)) };
        let looked_through = looked_through(list, &all, named);
        let examined = Examined::of(&looked_through);
        let masked = match examined.masked.as_slice() {
            [] => None,
            files => Some(MaskedFiles::new(files).map_err(|error| Trouble::reading("the masked files", error))?),
        };
        let masked = masked.map(Arc::new);
        let mut all_left_out = BTreeSet::new();
        let stages = list.stages().map(|stage| {
            let mut files = named(stage);
            if !stage.traits.reads.files {
                return Ok(Arc::new(files));
            }
            refuse_unread(stage, &files, &examined)?;
            if stage.traits.shows > Shows::Nothing {
                files.masked.clone_from(&masked);
            }
            let hidden = examined.hidden.iter().filter(|(_, why)| why.is_from(stage.traits.shows));
            let unread = left_out(&files, &examined).filter(|_| stage.traits.shows == Shows::Lines);
            let unseen: BTreeSet<PathBuf> = hidden.map(|(path, _)| path).chain(unread).cloned().collect();
            all_left_out.extend(in_folders(&unseen, &files).cloned());
            files.covered.extend(unseen);
            files.is_all = stage.traits.takes_names && stage.traits.shows == Shows::Anything;
            Ok(Arc::new(files))
        });
        let stages: Vec<Arc<ReadableFiles>> = stages.collect::<Result<_, Trouble>>()?;
        let places = stages
            .iter()
            .flat_map(|files| sandbox.covers(files))
            .chain(examined.masked.iter().map(|file| file.path.clone()));
        let covered: BTreeSet<PathBuf> = places.collect();
        let emptied = list.stages().zip(&stages).find_map(|(stage, files)| emptied(stage, files, (sandbox, &all)));
        let covered = covered.into_iter().map(|path| (identity(&path), path)).map(|(now, path)| (path, now)).collect();
        let has_git = list.stages().any(is_git);
        Ok(Self { stages, looked_through, examined, has_git, shows, left_out: all_left_out, emptied, covered })
    }

    /// Refuses to show what may hold secrets that came into a file while the command ran. Reads the files again.
    pub(super) fn refuse_changed(&self) -> Result<(), Trouble> {
        self.refuse_replaced()?;
        if self.shows < Shows::Anything {
            return Ok(());
        }
        match self.examined.changed(&self.looked_through) {
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
        if stage.traits.shows == Shows::Nothing { None } else { self.examined.masked(path) }
    }

    /// Returns the large file that a command reads masked, as its input, where it would otherwise have to be refused; and the
    /// place of its name among the words.
    pub(super) fn streamed(&self, stage: &Stage) -> Option<(usize, PathBuf)> {
        streamed(stage, &self.examined)
    }

    /// Returns what is said of files that a command did not get to see.
    pub(super) fn left_out(&self) -> Option<String> {
        let first = self.left_out.first()?.display();
        Some(match self.left_out.len() {
            1 => {
                format!("`{first}` was left out and counts as empty: it cannot be looked through first; name it itself")
            }
            count => format!(
                "{count} files were left out and count as empty: they cannot be looked through first; name each itself \
                 (`{first}` ...)"
            ),
        })
    }

    /// Returns what is said of files that a command did not read as they are.
    pub(super) fn note(&self) -> Option<String> {
        let is_read = |path: &Path| {
            let mut stages = self.stages.iter().filter(|files| files.masked.is_some());
            stages.any(|files| files.paths.iter().any(|named| path.starts_with(named)))
        };
        let masked: Vec<&Path> =
            self.examined.masked.iter().map(|file| file.path.as_path()).filter(|path| is_read(path)).collect();
        let compared = if self.has_git { ", and `git` may call their lines changed" } else { "" };
        match masked.as_slice() {
            [] => {
                self.emptied.as_ref().map(|folder| format!("what is secret in `{}` counts as empty", folder.display()))
            }
            [path] => Some(format!("secrets in `{}` were masked before the command read it{compared}", path.display())),
            [_, ..] => {
                Some(format!("secrets in {} files were masked before the command read them{compared}", masked.len()))
            }
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

/// The files and folders of which a command could show something.
fn looked_through(list: &CommandList, all: &ReadableFiles, named: impl Fn(&Stage) -> ReadableFiles) -> ReadableFiles {
    let showing = list.stages().filter(|stage| stage.traits.shows > Shows::Nothing && stage.traits.reads.files);
    let (git, others): (Vec<&Stage>, Vec<_>) = showing.partition(|stage| is_git(stage));
    let [git, others] =
        [git, others].map(|stages| stages.into_iter().flat_map(|stage| named(stage).paths).collect::<BTreeSet<_>>());
    // Compressed, and without it git finds nothing. Whoever else could come to it finds it looked through.
    let is_gits =
        |folder: &&PathBuf| !others.iter().any(|other| other.starts_with(folder) || folder.starts_with(other));
    let kept = git.iter().filter(is_gits).map(|folder| folder.join(".git"));
    let covered = all.covered.iter().cloned().chain(kept).collect();
    // A search in the arguments of processes would tell whether a guess is right.
    let processes = list.stages().any(|stage| stage.traits.reads.arguments).then(|| PathBuf::from("/proc"));
    let paths = git.into_iter().chain(others).chain(processes).collect();
    ReadableFiles { paths, covered, ..ReadableFiles::default() }
}

fn is_git(stage: &Stage) -> bool {
    literals(stage).next().is_some_and(names_git)
}

/// Returns whether a command is git, or starts it.
pub(super) fn runs_git(stage: &Stage) -> bool {
    literals(stage).any(names_git)
}

/// Returns whether a word names the program git, with or without its folder.
fn names_git(word: &str) -> bool {
    word == "git" || word.ends_with("/git") && Path::new(word).is_file()
}

/// A folder that a command looks into and that has covered secrets in it. Names alone are shown as they are.
fn emptied(stage: &Stage, files: &ReadableFiles, (sandbox, all): (&Sandbox, &ReadableFiles)) -> Option<PathBuf> {
    let words: Vec<&str> = literals(stage).collect();
    let shows_names = matches!(words.as_slice(), ["ls", paths @ ..] if paths.iter().all(|word| word.starts_with('/')));
    let is_looked_into = stage.traits.reads.files && !shows_names;
    let folders: Vec<&PathBuf> = files.paths.iter().filter(|path| path.is_dir() && is_looked_into).collect();
    let places = if folders.is_empty() { Vec::new() } else { sandbox.secret_places() };
    let holds = |folder: &&&PathBuf| places.iter().chain(&all.covered).any(|place| place.starts_with(folder));
    folders.iter().find(holds).map(|folder| (*folder).clone())
}

/// Those of the files that a command does not name itself, but lie in a folder that it names.
fn in_folders<'p>(paths: &'p BTreeSet<PathBuf>, files: &ReadableFiles) -> impl Iterator<Item = &'p PathBuf> {
    paths.iter().filter(|path| files.paths.iter().any(|named| named != *path && path.starts_with(named)))
}

/// The files in folders that a command names, which it does not get to see.
fn left_out<'e>(files: &ReadableFiles, examined: &'e Examined) -> impl Iterator<Item = &'e PathBuf> {
    examined.left_out.iter().filter(|path| files.paths.iter().any(|named| path.starts_with(named)))
}

/// Refuses a command that could show secrets in a file that it names and that could not be masked before.
fn refuse_unread(stage: &Stage, files: &ReadableFiles, examined: &Examined) -> Result<(), Trouble> {
    if streamed(stage, examined).is_some() {
        return Ok(());
    }
    let program = literals(stage).next().unwrap_or_default();
    // What unpacks by itself has nothing to unpack behind a pipe.
    let plain = ["z", "bz", "xz", "lz", "zstd"].iter().find_map(|packed| program.strip_prefix(packed));
    let program = plain.filter(|plain| matches!(*plain, "grep" | "egrep" | "fgrep")).unwrap_or(program);
    let names_bytes: usize = left_out(files, examined).map(|path| path.as_os_str().len()).sum();
    // A few files of a folder can be left out.
    let is_refused = |path: &&PathBuf| match stage.traits.shows {
        Shows::Nothing => false,
        Shows::Lines => path.is_file() || names_bytes > LEFT_OUT_BYTES_MAX,
        Shows::Anything => true,
    };
    let unread = examined.unread.iter().filter(is_refused).find(|path| files.paths.contains(*path));
    let hidden =
        examined.hidden.iter().find(|(path, why)| why.is_from(stage.traits.shows) && files.paths.contains(*path));
    let (path, reason, advice) = match (unread, hidden) {
        (Some(folder), _) if folder.is_dir() => (folder, "holds too much to be looked through first", Advice::Name),
        (Some(path), _) => (path, "is too large to be looked through first", Advice::Cat),
        (None, Some((path, Hidden::Packed(unpack)))) => (path, "is compressed", Advice::Unpack(*unpack)),
        (None, Some((path, Hidden::NoText | Hidden::TooMuch))) => (path, "cannot be masked before", Advice::Cat),
        (None, Some((path, Hidden::Wide))) => (path, "is a text of two bytes a character", Advice::Elsewhere),
        (None, None) => return Ok(()),
    };
    let shown = path.display();
    let advice = match advice {
        Advice::Name if stage.traits.shows == Shows::Lines => "name a folder in it, or the files themselves".to_owned(),
        Advice::Name => format!("name the files themselves, or search with `grep -rn TEXT {shown}`"),
        Advice::Cat => format!("write `cat {shown} | {program} ...` instead"),
        Advice::Unpack(Unpack::Git) => "`git show` shows what git keeps".to_owned(),
        Advice::Unpack(Unpack::Command(unpack)) => format!("write `{unpack} {shown} | {program} ...` instead"),
        Advice::Elsewhere => "read it on the machine itself".to_owned(),
    };
    Err(Trouble::forbidden(format!("`{program}` could show secrets in `{shown}`, which {reason}; {advice}")))
}

/// Returns a file that is too large to be masked beforehand, if the command is a filter and reads nothing else.
fn streamed(stage: &Stage, examined: &Examined) -> Option<(usize, PathBuf)> {
    let words: Vec<&str> = literals(stage).collect();
    let is_filter = words.first().is_some_and(|program| FILTERS.contains(program));
    if !is_filter || stage.input != Feeding::Before || stage.traits.takes_names {
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
    Unpack(Unpack),
    Elsewhere,
}

/// Returns whether no command of a line names a path.
pub(super) fn names_none(list: &CommandList) -> bool {
    list.stages().flat_map(literals).skip(1).all(|word| paths_in(word).next().is_none())
}

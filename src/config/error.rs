//! What can be wrong with the configuration, as one sentence each: where it stands, which key, what to do. No sentence
//! repeats a value that could be a secret.

use std::fmt;
use std::path::Path;

/// A configuration that the bot does not start with. Exit code 2.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// Nothing reads this key.
    #[error("{origin}: unknown key `{key}`{line}; {fix}")]
    Unknown {
        /// The file, the variable or the flag.
        origin: String,
        /// Dotted, as it was written.
        key: String,
        /// Where in the file.
        line: Line,
        /// The nearest known key, or where to look.
        fix: String,
    },
    /// The key exists, its value does not fit.
    #[error("{origin}: `{key}`{line} {problem}")]
    Value {
        /// The file, the variable or the flag.
        origin: String,
        /// Dotted.
        key: String,
        /// Where in the file.
        line: Line,
        /// What does not fit and what would, to be read after the key.
        problem: String,
    },
    /// A whole file cannot be read.
    #[error("{origin}{line}: {problem}")]
    File {
        /// The file, as it was named.
        origin: String,
        /// Where in the file.
        line: Line,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The data directory cannot be used.
    #[error("data directory {dir}: {problem}; give another one with --data")]
    Data {
        /// The directory.
        dir: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no place to look for a data directory.
    #[error("no home directory to keep the data in; give one with --data")]
    NoHome,
    /// Another process holds the data directory.
    #[error("another countersign is running on {dir}{}; stop it or give another --data", pid_note(.pid.as_deref()))]
    Locked {
        /// The directory.
        dir: String,
        /// Who holds it, where it says so.
        pid: Option<String>,
    },
}

impl ConfigError {
    /// A data directory that cannot be used.
    pub(crate) fn data(dir: &Path, problem: impl fmt::Display) -> Self {
        Self::Data { dir: dir.display().to_string(), problem: problem.to_string() }
    }

    /// A file that cannot be read at all.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        let problem = format!("cannot be read: {error}");
        Self::File { origin: path.display().to_string(), line: Line(None), problem }
    }
}

fn pid_note(pid: Option<&str>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// A line of a file, from 1; shows nothing where there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line(pub Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// A value that a section refuses. The loader adds where it was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted.
    pub key: String,
    /// To be read after the key: what does not fit, and what would.
    pub problem: String,
}

impl Problem {
    /// A problem with one key.
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

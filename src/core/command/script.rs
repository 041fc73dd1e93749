//! A line as the judge sees it: its simple commands, each with its words, its input and what stands before it. The
//! parsers' own trees end here.

use super::line::{Argument, CommandList};

/// One word of a command, as far as it can be known without running anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Exactly this text, whatever happens.
    Known(String),
    /// Something that is put in place when the line runs: a pattern of file names, or a word from another command's input.
    Unseen(Unseen),
}

/// A word that is put together when the line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "things that are known or not, independent of each other")]
pub(super) struct Unseen {
    /// As it stands in the line.
    pub(super) text: String,
    /// What each word that comes of it begins with; may be empty.
    pub(super) start: String,
    /// Known not to begin with `-`, so that it cannot be an option.
    pub(super) plain: bool,
    /// A whole number and nothing else.
    pub(super) number: bool,
    /// It may become several words, or none.
    pub(super) many: bool,
    /// Split at blanks, no piece of it begins with `-`.
    pub(super) pieces: bool,
}

impl Word {
    /// The text, where it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Unseen(_) => None,
        }
    }

    /// The text as far as it is known, for reasons.
    pub(super) fn shown(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Unseen(unseen) => &unseen.text,
        }
    }

    /// What it is known to begin with.
    pub(super) fn start(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Unseen(unseen) => &unseen.start,
        }
    }

    /// A word of a line as it is known before the line runs.
    pub(super) fn of(argument: &Argument) -> Self {
        match argument {
            Argument::Literal(text) => Self::Known(text.clone()),
            Argument::Home(rest) => Self::Known(format!("~{rest}")),
            Argument::Pattern(pattern) => {
                let start = known_start(pattern);
                Self::Unseen(Unseen {
                    text: pattern.replace('\\', ""),
                    plain: !start.is_empty() && !start.starts_with('-'),
                    start,
                    number: false,
                    many: true,
                    pieces: false,
                })
            }
        }
    }
}

/// What every name that a pattern matches begins with.
fn known_start(pattern: &str) -> String {
    let mut start = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => start.extend(chars.next()),
            '*' | '?' | '[' => break,
            c => start.push(c),
        }
    }
    start
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::Known(text.to_owned())
    }
}

/// Where a command's standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// From whoever typed the line: it waits for them.
    Terminal,
    /// From a file, a here-document or another command: it ends.
    Given(Feed),
}

/// What is known of the text on a standard input that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feed {
    /// Any text.
    Unknown,
    /// None at all.
    Nothing,
    /// Words that stand in the line itself, none with a leading dash.
    Literal,
    /// Names that never begin with a dash.
    Names,
    /// Whole numbers.
    Numbers,
}

impl Feed {
    /// Whether no word of it could be taken for an option.
    pub(super) const fn is_plain(self) -> bool {
        !matches!(self, Self::Unknown)
    }
}

/// One program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Simple {
    /// `NAME=value` before the program, which it finds in its environment.
    pub(super) settings: Vec<(String, Word)>,
    /// The program and its arguments; never empty.
    pub(super) words: Vec<Word>,
    pub(super) input: Input,
}

/// A whole line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Script {
    /// How it runs.
    pub(super) list: CommandList,
    /// Its commands as they are judged, in the order of the text.
    pub(super) commands: Vec<Simple>,
}

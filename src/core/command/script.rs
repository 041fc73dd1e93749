//! A line as the judge sees it: the simple commands that it can come to, each with its words, its input and what stands
//! before it, and what was found wrong while it was read. The parsers' own trees end here.

use super::judgement::Finding;

/// One word of a command, as far as it can be known without running anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Exactly this text, whatever happens.
    Known(String),
    /// Something that is put in place when the line runs.
    Unseen(Unseen),
}

/// A word that a shell puts together when it runs: of a variable, a pattern of file names, the output of a command.
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

    /// Any words at all, among them options.
    pub(super) fn any(text: &str) -> Self {
        Self::Unseen(Unseen {
            text: text.to_owned(),
            start: String::new(),
            plain: false,
            number: false,
            many: true,
            pieces: false,
        })
    }
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
    /// Every command the line can come to, in the order of the text.
    pub(super) commands: Vec<Simple>,
    /// Files that the shell opens for reading (`< path`).
    pub(super) inputs: Vec<String>,
    /// The same, of which only a part is known (`< *.log`).
    pub(super) unseen_inputs: Vec<String>,
    /// What was found while reading: a redirect into a file, a construct that is not judged.
    pub(super) findings: Vec<Finding>,
    /// Whether anything in it needs a shell: a pipe, a pattern, a variable, a redirect.
    pub(super) needs_shell: bool,
}

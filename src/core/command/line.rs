//! A command line as it runs: lists of pipelines of argument vectors. No shell reads it: what starts each program is the
//! vector that was judged. Quotes are off, and two things are left to whoever runs it: patterns of file names and `~`.

use std::fmt::Write as _;

use super::content::Traits;

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Exactly this text.
    Literal(String),
    /// A pattern of file names: `*`, `?` and `[...]`; a backslash takes the meaning from the character behind it.
    Pattern(String),
    /// The home folder of the user that runs it, with this behind it: empty, or a slash and more.
    Home(String),
}

/// Where a stream of a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// On to the next command of the pipeline, or to the answer.
    Output,
    /// To the answer, as what the command says is wrong.
    Errors,
    /// Nowhere (`/dev/null`).
    Nowhere,
}

/// What a command reads on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feeding {
    /// The output of the command before it; nothing where it is the first.
    Before,
    /// Nothing (`</dev/null`).
    Nothing,
    /// This text (`<<<`), with its line feed at the end.
    Text(String),
}

/// One program with its arguments and its three streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// `NAME=value` before the program, which it finds in its environment; only harmless ones are proven.
    pub settings: Vec<(String, String)>,
    /// The program and its arguments; never empty.
    pub words: Vec<Argument>,
    /// Its standard input.
    pub input: Feeding,
    /// Its standard output.
    pub output: Stream,
    /// Its standard error.
    pub errors: Stream,
    /// What is known of it beside its words.
    pub traits: Traits,
}

/// Commands that run beside each other, each reading what the one before it writes; never empty. The last one's exit code
/// is the pipeline's.
pub type Pipeline = Vec<Stage>;

/// Whether a pipeline runs, by how the one before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// In any case (`;` or a line feed, and the first one).
    Then,
    /// After exit code 0 (`&&`).
    And,
    /// After any other (`||`).
    Or,
}

/// Pipelines that run one after another; never empty, and the first joint is [`Joint::Then`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandList(pub Vec<(Joint, Pipeline)>);

impl CommandList {
    /// Returns all commands in the order of the text.
    pub fn stages(&self) -> impl Iterator<Item = &Stage> {
        self.0.iter().flat_map(|(_, pipeline)| pipeline)
    }

    /// Returns all commands for a change in place.
    pub fn stages_mut(&mut self) -> impl Iterator<Item = &mut Stage> {
        self.0.iter_mut().flat_map(|(_, pipeline)| pipeline)
    }

    /// Returns the list as a line that any shell reads back as the same list: each word in quotes where it needs them.
    pub fn to_line(&self) -> String {
        let mut line = String::new();
        for (index, (joint, pipeline)) in self.0.iter().enumerate() {
            let sign = match joint {
                Joint::Then => "; ",
                Joint::And => " && ",
                Joint::Or => " || ",
            };
            line.push_str(if index == 0 { "" } else { sign });
            let stages: Vec<String> = pipeline.iter().map(Stage::to_line).collect();
            line.push_str(&stages.join(" | "));
        }
        line
    }
}

impl Stage {
    /// Whether anything but the words says where its streams go.
    pub fn is_redirected(&self) -> bool {
        self.input != Feeding::Before || self.output != Stream::Output || self.errors != Stream::Errors
    }

    fn to_line(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={}", quote(value)));
        let words = self.words.iter().map(|word| match word {
            Argument::Literal(text) => quote(text),
            Argument::Pattern(pattern) => pattern.clone(),
            Argument::Home(rest) if rest.is_empty() => "~".to_owned(),
            Argument::Home(rest) => format!("~/{}", quote(rest.trim_start_matches('/'))),
        });
        let mut line = settings.chain(words).collect::<Vec<String>>().join(" ");
        match &self.input {
            Feeding::Before => {}
            Feeding::Nothing => line.push_str(" </dev/null"),
            Feeding::Text(text) => {
                let _ = write!(line, " <<< {}", quote(text.strip_suffix('\n').unwrap_or(text)));
            }
        }
        // Streams are copied before one of them goes elsewhere, as a shell takes redirects in their order.
        line.push_str(match (self.output, self.errors) {
            (Stream::Output, Stream::Errors) => "",
            (Stream::Output, Stream::Output) => " 2>&1",
            (Stream::Output, Stream::Nowhere) => " 2>/dev/null",
            (Stream::Errors, Stream::Errors) => " >&2",
            (Stream::Errors, Stream::Output) => " 3>&1 >&2 2>&3",
            (Stream::Errors, Stream::Nowhere) => " >&2 2>/dev/null",
            (Stream::Nowhere, Stream::Errors) => " >/dev/null",
            (Stream::Nowhere, Stream::Output) => " 2>&1 >/dev/null",
            (Stream::Nowhere, Stream::Nowhere) => " >/dev/null 2>&1",
        });
        line
    }
}

/// Returns words as a line that a shell reads back as the same words.
pub fn quoted(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<String>>().join(" ")
}

fn quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else if word.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        format!("\"{word}\"")
    }
}

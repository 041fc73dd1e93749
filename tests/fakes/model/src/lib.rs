//! A server of language models for tests: it speaks `OpenAI`'s chat completions on the loopback, says what a test has told it
//! to say, in order, whole or in pieces, and writes down what it was asked. What a request may hold is checked strictly; a
//! model is not in it, but for `Small`, which starts a real one, and knows nothing of all this.

mod answer;
mod body;
mod lists;
mod server;
mod small;
mod strict;

use serde_json::Value;

pub use server::Fake;
pub use small::Small;

/// What the server does with one question.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// The model says this.
    Says(String),
    /// The model makes these calls: names and arguments, as it wrote them. On a server without functions it chooses them
    /// where it has to choose, and writes them down where it may write.
    Calls(Vec<(String, String)>),
    /// The model says this, and is cut off because it has written as much as it may.
    IsCut(String),
    /// The same in one piece, though a stream was asked for.
    InOne(Box<Turn>),
    /// The same, but not before [`Fake::release`].
    Held(Box<Turn>),
    /// The server refuses, with this status.
    Refuses(u16),
    /// The server refuses with this status and these words.
    SaysNo(u16, String),
    /// The server refuses with this status, and asks to be left alone for this time, as it writes it.
    Busy(u16, String),
    /// The server names another address.
    Redirects(String),
    /// The server answers with this, and says that it is JSON.
    Garbage(String),
    /// The server answers with these pieces, says that they are a stream, and then this.
    Streams(Vec<String>, End),
    /// The connection ends without an answer.
    Breaks,
    /// Nothing ever comes.
    Hangs,
}

/// What comes after the last piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ends as it should.
    Closes,
    /// The connection is cut.
    Breaks,
    /// The last piece comes again and again.
    GoesOn,
    /// Nothing.
    Hangs,
}

impl Turn {
    /// The model says this.
    pub fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }

    /// The model makes one call.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::Calls(vec![(name.to_owned(), arguments.to_string())])
    }

    /// The model begins to say this in a stream, and then it comes to that end.
    pub fn begins(text: &str, end: End) -> Self {
        Self::Streams(vec![answer::event(&answer::content(text))], end)
    }
}

/// What kind of server it is. The default has everything, one model called `m`, wants no key, and is no Ollama.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Parameters that it does not know, with the status that they are refused with.
    pub refuses: Vec<(&'static str, u16)>,
    /// Parameters that it passes over without a word.
    pub ignores: Vec<&'static str>,
    /// Whether it streams where it is asked to.
    pub streams: bool,
    /// Whether it says how many tokens were used.
    pub counts: bool,
    /// The key that it wants.
    pub key: Option<String>,
    /// Its models.
    pub models: Vec<String>,
    /// What it can pull, as Ollama does; none where it is no Ollama.
    pub pulls: Option<Vec<String>>,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            refuses: Vec::new(),
            ignores: Vec::new(),
            streams: true,
            counts: true,
            key: None,
            models: vec!["m".to_owned()],
            pulls: None,
        }
    }
}

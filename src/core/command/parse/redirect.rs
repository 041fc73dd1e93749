//! Redirects: from and to `/dev/null`, one stream into the other, and a text as input (EXE-15, FM-3). Every other one
//! names a file, which a read never opens by itself.

use shuck_ast::{Redirect, RedirectKind, RedirectTarget, Word as SyntaxWord, WordPart, WordPartNode};

use super::super::judgement::{Finding, Risk};
use super::super::line::{Argument, Feeding, Stage, Stream};
use super::super::script::{Feed, Input};
use super::list::{Reader, refused};

/// Where the three streams of a command come from and go.
pub(super) struct Streams {
    pub(super) input: Feeding,
    pub(super) output: Stream,
    pub(super) errors: Stream,
}

impl Reader<'_> {
    /// Reads the redirects of one command, in their order.
    pub(super) fn streams(&self, redirects: &[Redirect]) -> Result<Streams, Finding> {
        let mut streams = Streams { input: Feeding::Before, output: Stream::Output, errors: Stream::Errors };
        for redirect in redirects {
            self.redirect(redirect, &mut streams)?;
        }
        Ok(streams)
    }

    fn redirect(&self, redirect: &Redirect, streams: &mut Streams) -> Result<(), Finding> {
        let RedirectTarget::Word(word) = &redirect.target else {
            return Err(refused("here-documents"));
        };
        if redirect.fd_var.is_some() {
            return Err(refused("files under a variable's name"));
        }
        let target = match stream_number(word) {
            Some(number) => number,
            None => match self.word(word)? {
                Argument::Literal(text) => text,
                Argument::Pattern(text) | Argument::Home(text) => return Err(writes_to(&text)),
            },
        };
        match (redirect.kind, redirect.fd, target.as_str()) {
            (RedirectKind::Output | RedirectKind::Append | RedirectKind::Clobber, None | Some(1), "/dev/null") => {
                streams.output = Stream::Nowhere;
            }
            (RedirectKind::Output | RedirectKind::Append | RedirectKind::Clobber, Some(2), "/dev/null") => {
                streams.errors = Stream::Nowhere;
            }
            (RedirectKind::OutputBoth, None, "/dev/null") => {
                (streams.output, streams.errors) = (Stream::Nowhere, Stream::Nowhere);
            }
            (RedirectKind::DupOutput, Some(2), "1") => streams.errors = streams.output,
            (RedirectKind::DupOutput, None | Some(1), "2") => streams.output = streams.errors,
            (RedirectKind::Input, None | Some(0), "/dev/null") => streams.input = Feeding::Nothing,
            (RedirectKind::HereString, None | Some(0), text) => streams.input = Feeding::Text(format!("{text}\n")),
            (RedirectKind::Input, ..) => {
                return Err(Finding::unknown(format!("reads from {target} (<); give the file as an argument instead")));
            }
            (RedirectKind::HereDoc | RedirectKind::HereDocStrip | RedirectKind::HereString, ..) => {
                return Err(refused("texts for another stream than the input"));
            }
            (RedirectKind::DupInput, ..) => return Err(refused("copies of streams (`<&`)")),
            (RedirectKind::DupOutput, ..) if is_stream(&target) => return Err(refused("copies of streams but `2>&1`")),
            (
                RedirectKind::Output
                | RedirectKind::Append
                | RedirectKind::Clobber
                | RedirectKind::OutputBoth
                | RedirectKind::DupOutput
                | RedirectKind::ReadWrite,
                ..,
            ) => return Err(writes_to(&target)),
        }
        Ok(())
    }
}

/// What is known of a command's input: what it is given itself, or what the command before it writes.
pub(super) const fn input_of(stage: &Stage, before: Option<Feed>) -> Input {
    match (&stage.input, before) {
        (Feeding::Nothing, _) => Input::Given(Feed::Nothing),
        (Feeding::Text(_), _) => Input::Given(Feed::Unknown),
        (Feeding::Before, Some(feed)) => Input::Given(feed),
        (Feeding::Before, None) => Input::Terminal,
    }
}

fn writes_to(target: &str) -> Finding {
    Finding::writes(format!("writes to {target} (>)"), Risk::HighWrite)
}

/// `1`, `2`, or `-` for "closed".
fn is_stream(text: &str) -> bool {
    text == "-" || (text.len() == 1 && text.bytes().all(|b| b.is_ascii_digit()))
}

/// The number in `2>&1`, which the parser hands over without its place in the line.
fn stream_number(word: &SyntaxWord) -> Option<String> {
    let [WordPartNode { kind: WordPart::Literal(text), span }] = word.parts.as_slice() else {
        return None;
    };
    let text = text.as_str("", *span);
    (span.start.offset() == span.end.offset() && is_stream(text)).then(|| text.to_owned())
}

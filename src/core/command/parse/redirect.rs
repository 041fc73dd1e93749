//! Redirects: where a command's output goes, and where its input comes from. Only what is thrown away or copied from one
//! stream to another leaves a command a read (EXE-15, FM-3).

use shuck_ast::{HeredocBodyPart, Redirect, RedirectKind, RedirectTarget, Word as SyntaxWord, WordPart, WordPartNode};

use super::super::judgement::{Finding, Risk};
use super::super::script::{Feed, Word};
use super::command::Reader;

impl Reader<'_> {
    /// Reads the redirects of one statement: the input that they give it, where they do.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Option<Feed> {
        let mut given = None;
        for redirect in redirects {
            self.needs_shell();
            if redirect.fd_var.is_some() {
                self.unknown("opens a file under a variable's name");
            }
            given = self.redirect(redirect).or(given);
        }
        given
    }

    fn redirect(&mut self, redirect: &Redirect) -> Option<Feed> {
        let target = match &redirect.target {
            RedirectTarget::Word(word) => match stream_number(word) {
                Some(number) => vec![vec![Word::Known(number)]],
                None => self.word(word),
            },
            RedirectTarget::Heredoc(heredoc) => {
                let body = heredoc.body.span.slice(self.source);
                if heredoc.body.mode.expands() && body.contains("${") && body.contains('\'') {
                    // There quotes are plain text to a shell, and quotes to both parsers.
                    self.unknown("has quotes beside `${ }` in a here-document, which are not judged");
                }
                for part in &heredoc.body.parts {
                    self.here_document_part(&part.kind);
                }
                return Some(Feed::Unknown);
            }
        };
        let targets: Vec<Word> = target.into_iter().flatten().collect();
        let stdin = redirect.fd.is_none_or(|fd| fd == 0);
        let becomes_input = (redirect.fd == Some(0)).then_some(Feed::Unknown);
        match redirect.kind {
            RedirectKind::Input => {
                self.inputs(&targets);
                let nothing = matches!(targets.as_slice(), [Word::Known(path)] if path == "/dev/null");
                stdin.then_some(if nothing { Feed::Nothing } else { Feed::Unknown })
            }
            RedirectKind::HereString | RedirectKind::HereDoc | RedirectKind::HereDocStrip => Some(Feed::Unknown),
            RedirectKind::DupInput => {
                self.copies(&targets, "<&");
                stdin.then_some(Feed::Unknown)
            }
            RedirectKind::DupOutput => {
                self.outputs(&targets, ">&", true);
                becomes_input
            }
            RedirectKind::Output => self.outputs(&targets, ">", false),
            RedirectKind::Clobber => self.outputs(&targets, ">|", false),
            RedirectKind::Append => self.outputs(&targets, ">>", false),
            RedirectKind::OutputBoth => self.outputs(&targets, "&>", false),
            RedirectKind::ReadWrite => self.outputs(&targets, "<>", false),
        }
    }

    fn inputs(&mut self, targets: &[Word]) {
        for target in targets {
            match target {
                Word::Known(path) if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") => {
                    self.unknown(&format!("opens a network connection (< {path})"));
                }
                Word::Known(path) if path.starts_with("/dev/") && path != "/dev/null" => {
                    self.unknown(&format!("reads from the device {path}"));
                }
                Word::Known(path) => self.note_path(path),
                Word::Unseen(unseen) if unseen.start == "/dev/fd/" => {}
                Word::Unseen(unseen) if unseen.plain && !unseen.start.starts_with("/dev") && unseen.start.len() > 1 => {
                    self.note_unseen_path(&unseen.text.clone());
                }
                Word::Unseen(unseen) => self.unknown(&format!("reads from `{}`, which nobody has seen", unseen.text)),
            }
        }
    }

    fn copies(&mut self, targets: &[Word], sign: &str) {
        for target in targets {
            if !target.known().is_some_and(is_stream) {
                self.unknown(&format!("copies `{sign}` from what is not a number"));
            }
        }
    }

    /// Always `None`: no output gives a command an input.
    fn outputs(&mut self, targets: &[Word], sign: &str, may_be_stream: bool) -> Option<Feed> {
        for target in targets {
            let harmless = match target.known() {
                Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => true,
                Some(text) => may_be_stream && is_stream(text),
                None => false,
            };
            if !harmless {
                let reason = format!("writes to {} ({sign})", target.shown());
                self.found(Finding::writes(reason, Risk::HighWrite));
            }
        }
        None
    }

    fn here_document_part(&mut self, part: &HeredocBodyPart) {
        match part {
            HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
            HeredocBodyPart::CommandSubstitution { body, .. } => self.apart(|reader| reader.sequence(body)),
            HeredocBodyPart::ArithmeticExpansion { expression_ast, .. } => match expression_ast {
                Some(tree) => self.arithmetic(tree),
                None => self.unknown("has an arithmetic expression that cannot be read"),
            },
            HeredocBodyPart::Parameter(parameter) => {
                let part = WordPart::Parameter(parameter.clone());
                self.expansion(&part, true);
            }
        }
    }
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

//! Walks the first parser's tree: lists, pipelines and simple commands. Every other construct of a shell is refused in a
//! sentence that says what to do instead.

use shuck_ast::{
    Assignment, AssignmentValue, BinaryCommand, BinaryOp, Command, CompoundCommand, SimpleCommand, Stmt, StmtSeq,
    StmtTerminator,
};

use super::super::content::Traits;
use super::super::judgement::Finding;
use super::super::line::{Argument, Joint, Pipeline, Stage, Stream};
use super::super::output;
use super::super::script::{Feed, Input, Script, Simple, Word};
use super::redirect::Streams;

/// Reads one line's tree.
pub(super) struct Reader<'s> {
    pub(super) source: &'s str,
    /// Where each program's name begins, and the name as it is written.
    programs: Vec<(usize, String)>,
}

/// Returns the refusal of a construct that only a shell could run, named in the plural.
pub(super) fn refused(what: &str) -> Finding {
    Finding::unknown(format!("{what} don't run here; write plain commands, or make it a declared action"))
}

impl<'s> Reader<'s> {
    pub(super) const fn new(source: &'s str) -> Self {
        Self { source, programs: Vec::new() }
    }

    /// Returns what was read of the programs' names, sorted by their places.
    pub(super) fn programs(mut self) -> Vec<(usize, String)> {
        self.programs.sort_unstable();
        self.programs
    }

    /// Reads a whole line.
    pub(super) fn sequence(&mut self, sequence: &StmtSeq) -> Result<Script, Finding> {
        let mut script = Script::default();
        for statement in sequence.iter() {
            self.and_or(statement, &mut script)?;
        }
        let stages = script.list.0.iter().map(|(_, pipeline)| pipeline);
        script.commands = stages.flat_map(simples).collect();
        Ok(script)
    }

    /// Reads pipelines with `&&` and `||` between them. The trees lean to the left and are taken apart in a loop, so that
    /// a long line needs no stack.
    fn and_or(&mut self, statement: &Stmt, script: &mut Script) -> Result<(), Finding> {
        for (operator, part) in in_order(statement)? {
            let joint = match operator {
                Some(BinaryOp::And) => Joint::And,
                Some(BinaryOp::Or) => Joint::Or,
                Some(BinaryOp::Pipe | BinaryOp::PipeAll) | None => Joint::Then,
            };
            let pipes = matches!(operator, Some(BinaryOp::Pipe | BinaryOp::PipeAll));
            let mut stages = self.pipeline(part)?;
            match script.list.0.last_mut().filter(|_| pipes) {
                Some((_, pipeline)) => {
                    with_errors_piped(pipeline, operator == Some(BinaryOp::PipeAll));
                    pipeline.append(&mut stages);
                }
                None => script.list.0.push((joint, stages)),
            }
        }
        Ok(())
    }

    /// Reads one side of an operator: a command, or a pipeline of them.
    fn pipeline(&mut self, statement: &Stmt) -> Result<Pipeline, Finding> {
        let mut pipeline = Pipeline::new();
        for (operator, part) in in_order(statement)? {
            if matches!(operator, Some(BinaryOp::And | BinaryOp::Or)) {
                return Err(refused("groups of commands"));
            }
            with_errors_piped(&mut pipeline, operator == Some(BinaryOp::PipeAll));
            pipeline.push(self.command(part)?);
        }
        Ok(pipeline)
    }

    fn command(&mut self, statement: &Stmt) -> Result<Stage, Finding> {
        match &statement.command {
            Command::Simple(simple) => self.stage(simple, statement),
            Command::Builtin(_) => Err(refused("words of the shell such as `exit`")),
            Command::Decl(_) => Err(refused("variables")),
            Command::Binary(_) => Err(refused("groups of commands")),
            Command::Function(_) | Command::AnonymousFunction(_) => Err(refused("functions")),
            Command::Compound(compound) => Err(refused(compound_name(compound))),
        }
    }

    fn stage(&mut self, simple: &SimpleCommand, statement: &Stmt) -> Result<Stage, Finding> {
        let name = simple.name.span.slice(self.source);
        if name.is_empty() {
            return Err(refused("variables"));
        }
        if name != "[" {
            self.programs.push((simple.name.span.start.offset(), name.to_owned()));
        }
        let settings =
            simple.assignments.iter().map(|assignment| self.setting(assignment)).collect::<Result<_, _>>()?;
        let words = std::iter::once(&simple.name).chain(&simple.args);
        let words = words.map(|word| self.word(word)).collect::<Result<_, _>>()?;
        let Streams { input, output, errors } = self.streams(&statement.redirects)?;
        Ok(Stage { settings, words, input, output, errors, traits: Traits::unknown() })
    }

    /// Reads `NAME=value` before a program. Which names are harmless is judged later.
    fn setting(&mut self, assignment: &Assignment) -> Result<(String, String), Finding> {
        let AssignmentValue::Scalar(word) = &assignment.value else {
            return Err(refused("variables that are lists"));
        };
        if assignment.append || assignment.target.subscript.is_some() {
            return Err(refused("variables that change"));
        }
        match self.word(word)? {
            Argument::Literal(value) => Ok((assignment.target.name.as_str().to_owned(), value)),
            Argument::Pattern(_) | Argument::Home(_) => Err(refused("variables that hold a pattern")),
        }
    }
}

/// Returns what an operator joins, in the order of the text, each part with the operator before it.
fn in_order(statement: &Stmt) -> Result<Vec<(Option<BinaryOp>, &Stmt)>, Finding> {
    let mut parts = Vec::new();
    let mut left = statement;
    loop {
        if left.negated {
            return Err(refused("results turned around by `!`"));
        }
        if matches!(left.terminator, Some(StmtTerminator::Background(_))) {
            return Err(refused("background commands (`&`)"));
        }
        let Command::Binary(binary) = &left.command else {
            parts.push((None, left));
            parts.reverse();
            return Ok(parts);
        };
        if !left.redirects.is_empty() {
            return Err(refused("redirects of several commands at once"));
        }
        let BinaryCommand { left: inner, op, right, .. } = binary;
        parts.push((Some(*op), &**right));
        left = inner;
    }
}

/// `|&`: what the command before says is wrong goes down the pipe, too.
fn with_errors_piped(pipeline: &mut Pipeline, both: bool) {
    if let Some(last) = pipeline.last_mut().filter(|_| both) {
        last.errors = last.output;
    }
}

const fn compound_name(compound: &CompoundCommand) -> &'static str {
    match compound {
        CompoundCommand::Subshell(_) | CompoundCommand::BraceGroup(_) => "groups of commands",
        CompoundCommand::Time(_) => "words of the shell such as `time`",
        CompoundCommand::Arithmetic(_) => "calculations",
        CompoundCommand::Coproc(_) => "background commands",
        CompoundCommand::If(_)
        | CompoundCommand::For(_)
        | CompoundCommand::Repeat(_)
        | CompoundCommand::Foreach(_)
        | CompoundCommand::ArithmeticFor(_)
        | CompoundCommand::While(_)
        | CompoundCommand::Until(_)
        | CompoundCommand::Case(_)
        | CompoundCommand::Select(_)
        | CompoundCommand::Conditional(_)
        | CompoundCommand::Always(_) => "loops and conditions",
    }
}

/// Returns a pipeline's commands as the judge sees them, each with what is known of its input.
fn simples(pipeline: &Pipeline) -> Vec<Simple> {
    let mut feed = None;
    let mut all = Vec::new();
    for stage in pipeline {
        let words: Vec<Word> = stage.words.iter().map(Word::of).collect();
        let input = super::redirect::input_of(stage, feed);
        let text = match input {
            Input::Given(given) => given,
            Input::Terminal => Feed::Unknown,
        };
        let plain = stage.output == Stream::Output && stage.errors != Stream::Output;
        feed = Some(if plain { output::of(&words, text) } else { Feed::Unknown });
        let settings = stage.settings.iter().map(|(name, value)| (name.clone(), Word::from(value.as_str()))).collect();
        all.push(Simple { settings, words, input });
    }
    all
}

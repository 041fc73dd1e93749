//! Blocks of the shell's own grammar: `if`, loops, `case`, `[[ ]]` and groups. Part of the walk that `command.rs` begins.

use shuck_ast::{
    ArithmeticExprNode, CaseCommand, Command, CompoundCommand, ConditionalBinaryOp, ConditionalExpr, ForCommand,
    StmtSeq,
};

use super::super::judgement::{Category, Finding};
use super::super::script::Word;
use super::command::{Reader, is_number};
use super::scope::{VALUES_MAX, Value, is_own_variable};
use super::word::of_unseen;

impl Reader<'_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand) {
        self.needs_shell();
        match compound {
            CompoundCommand::If(command) => {
                self.sequence(&command.condition);
                self.maybe(|reader| reader.sequence(&command.then_branch));
                for (condition, branch) in &command.elif_branches {
                    self.maybe(|reader| {
                        reader.sequence(condition);
                        reader.sequence(branch);
                    });
                }
                if let Some(branch) = &command.else_branch {
                    self.maybe(|reader| reader.sequence(branch));
                }
            }
            CompoundCommand::For(command) => self.for_loop(command),
            CompoundCommand::While(command) => self.while_loop(&command.condition, &command.body),
            CompoundCommand::Until(command) => self.while_loop(&command.condition, &command.body),
            CompoundCommand::ArithmeticFor(command) => {
                if command.condition_ast.is_none() {
                    self.found(endless("a loop without an end"));
                }
                self.arithmetic_part(command.init_ast.as_ref(), command.init_span.is_some());
                self.repeated(|reader| {
                    reader.arithmetic_part(command.condition_ast.as_ref(), command.condition_span.is_some());
                    reader.sequence(&command.body);
                    reader.arithmetic_part(command.step_ast.as_ref(), command.step_span.is_some());
                });
            }
            CompoundCommand::Case(command) => self.case(command),
            CompoundCommand::Subshell(body) => self.apart(|reader| reader.sequence(body)),
            CompoundCommand::BraceGroup(body) => self.sequence(body),
            CompoundCommand::Arithmetic(command) => match &command.expr_ast {
                Some(expression) => self.arithmetic(expression),
                None => self.unknown("has an arithmetic expression that cannot be read"),
            },
            CompoundCommand::Time(command) => {
                if let Some(timed) = &command.command {
                    self.statement(timed);
                }
            }
            CompoundCommand::Conditional(command) => self.condition(&command.expression),
            CompoundCommand::Select(_) => self.unknown("asks whoever runs it to choose (select)"),
            CompoundCommand::Coproc(_) => self.unknown("starts a background program (coproc)"),
            CompoundCommand::Repeat(_) | CompoundCommand::Foreach(_) | CompoundCommand::Always(_) => {
                self.unknown("uses a construct of zsh, which is not judged");
            }
        }
    }

    /// One of the three parts of `for (( ; ; ))`, which may be empty.
    fn arithmetic_part(&mut self, expression: Option<&ArithmeticExprNode>, is_there: bool) {
        match expression {
            Some(expression) => self.arithmetic(expression),
            None if is_there => self.unknown("has an arithmetic expression that cannot be read"),
            None => {}
        }
    }

    fn for_loop(&mut self, command: &ForCommand) {
        let pieces: Vec<Word> = command.words.iter().flatten().flat_map(|word| self.word(word)).flatten().collect();
        let value = loop_value(&pieces);
        let names: Option<Vec<&str>> =
            command.targets.iter().map(|target| target.name.as_ref().map(shuck_ast::Name::as_str)).collect();
        match names.as_deref() {
            Some([name]) if is_own_variable(name) => self.repeated(|reader| {
                reader.scope.set(name, value.clone());
                reader.sequence(&command.body);
            }),
            _ => self.unknown("sets a variable that programs act on"),
        }
    }

    fn while_loop(&mut self, condition: &StmtSeq, body: &StmtSeq) {
        if !reads_lines(condition, self.source) {
            self.found(endless("a loop that goes on until something happens"));
        }
        self.repeated(|reader| {
            reader.sequence(condition);
            reader.sequence(body);
        });
    }

    fn case(&mut self, command: &CaseCommand) {
        self.word(&command.word);
        for item in &command.cases {
            for pattern in &item.patterns {
                self.pattern(pattern);
            }
            self.maybe(|reader| reader.sequence(&item.body));
        }
    }

    fn condition(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.condition(&binary.left);
                self.condition(&binary.right);
                if is_arithmetic(binary.op) && !(self.is_number(&binary.left) && self.is_number(&binary.right)) {
                    self.unknown("compares as a number what may not be one: `[[ ]]` would run commands hidden in it");
                }
            }
            ConditionalExpr::Unary(unary) => {
                if matches!(unary.op.as_str(), "-v" | "-R") {
                    self.unknown("looks up a variable by a computed name");
                }
                self.condition(&unary.expr);
            }
            ConditionalExpr::Parenthesized(inner) => self.condition(&inner.expr),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => {
                self.word(word);
            }
            ConditionalExpr::Pattern(pattern) => self.pattern(pattern),
            ConditionalExpr::VarRef(_) => self.unknown("looks up a variable by a computed name"),
        }
    }

    fn is_number(&mut self, expression: &ConditionalExpr) -> bool {
        let ConditionalExpr::Word(word) = expression else {
            return false;
        };
        self.word(word).iter().flatten().all(is_number)
    }
}

/// What a loop's variable can be: one of the words, where all are known; else what they have in common.
fn loop_value(pieces: &[Word]) -> Value {
    let known: Option<Vec<String>> = pieces.iter().map(|piece| piece.known().map(str::to_owned)).collect();
    if let Some(values) = known
        && !values.is_empty()
        && values.len() <= VALUES_MAX
    {
        return Value::OneOf(values);
    }
    let value = |piece: &Word| match piece {
        Word::Known(text) => Value::OneOf(vec![text.clone()]),
        Word::Unseen(unseen) => of_unseen(unseen),
    };
    let values = pieces.iter().map(value);
    values.reduce(|all, value| all.join(&value)).unwrap_or(Value::Unknown)
}

fn is_arithmetic(op: ConditionalBinaryOp) -> bool {
    matches!(op.as_str(), "-eq" | "-ne" | "-le" | "-ge" | "-lt" | "-gt")
}

fn endless(what: &str) -> Finding {
    Finding::endless(Category::UnboundedStream, format!("{what} (while)"))
}

/// Whether a loop's condition is one `read`, so that the loop ends with its input.
fn reads_lines(condition: &StmtSeq, source: &str) -> bool {
    let [only] = condition.as_slice() else {
        return false;
    };
    match &only.command {
        Command::Simple(simple) => simple.name.span.slice(source) == "read",
        Command::Builtin(_)
        | Command::Decl(_)
        | Command::Binary(_)
        | Command::Compound(_)
        | Command::Function(_)
        | Command::AnonymousFunction(_) => false,
    }
}

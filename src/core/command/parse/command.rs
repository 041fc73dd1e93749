//! Walks the first parser's tree: statements, lists, pipelines, blocks and functions. Every simple command in it lands in
//! the script; what is not judged lands there as a finding. Words and redirects are read beside.

use std::collections::BTreeSet;

use shuck_ast::{
    BinaryCommand, BinaryOp, BuiltinCommand, Command, DeclClause, DeclOperand, FunctionDef, SimpleCommand, Stmt,
    StmtSeq,
};

use super::super::judgement::Finding;
use super::super::output;
use super::super::script::{Feed, Input, Script, Simple, Word};
use super::super::table;
use super::scope::{Scope, Value, is_own_variable};

/// The most ways one command is written out where its variables have several values.
const VARIANTS_MAX: usize = 64;

/// How often a loop is read before its variables must have settled: each can become less known three times.
const ROUNDS_MAX: usize = 8;

/// How deep loops may nest: each is read several times.
const LOOPS_MAX: u32 = 4;

/// The most statements that are read, those read twice counted twice.
const STEPS_MAX: u32 = 4_000;

/// The most words that are written out for one command in all its ways.
const VARIANT_WORDS_MAX: usize = 1_000;

/// The most commands a script may come to, variants among them.
const COMMANDS_MAX: usize = 1_000;

pub(super) struct Reader<'s> {
    pub(super) source: &'s str,
    pub(super) scope: Scope,
    script: Script,
    input: Input,
    programs: BTreeSet<(usize, String)>,
    /// Loops that are open around the present place.
    loops: u32,
    steps: u32,
    /// Inside an assignment, where a shell neither splits nor looks for files.
    pub(super) assigning: bool,
    /// A loop or function was left in the middle: what is known of variables there is not followed.
    jumps: bool,
    /// Nothing but definitions of functions was read yet.
    only_definitions: bool,
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let script = Script::default();
        Self {
            source,
            scope: Scope::default(),
            script,
            input: Input::Terminal,
            programs: BTreeSet::new(),
            loops: 0,
            steps: 0,
            assigning: false,
            jumps: false,
            only_definitions: true,
        }
    }

    /// What was read, and where each program's name begins.
    pub(super) fn finish(self) -> (Script, Vec<(usize, String)>) {
        (self.script, self.programs.into_iter().collect())
    }

    pub(super) fn unknown(&mut self, reason: &str) {
        self.found(Finding::unknown(reason.to_owned()));
    }

    pub(super) fn found(&mut self, finding: Finding) {
        if self.script.findings.len() < COMMANDS_MAX {
            self.script.findings.push(finding);
        }
    }

    /// A file that the shell opens for reading, of whose name only a part is known.
    pub(super) fn note_unseen_path(&mut self, written: &str) {
        self.script.unseen_inputs.push(written.to_owned());
    }

    /// A file that the shell itself opens for reading.
    pub(super) fn note_path(&mut self, path: &str) {
        self.script.inputs.push(path.to_owned());
    }

    pub(super) fn needs_shell(&mut self) {
        self.script.needs_shell = true;
    }

    /// Reads a part in a scope of its own that ends with it (a subshell).
    pub(super) fn apart(&mut self, part: impl FnOnce(&mut Self)) {
        let outside = self.scope.clone();
        part(self);
        self.scope = outside;
    }

    /// Reads a part that may not run at all.
    pub(super) fn maybe(&mut self, part: impl FnOnce(&mut Self)) {
        let before = self.scope.clone();
        part(self);
        let inside = std::mem::replace(&mut self.scope, before);
        self.scope.join(&inside);
    }

    /// Reads a part that may run any number of times.
    pub(super) fn repeated(&mut self, part: impl Fn(&mut Self)) {
        if self.loops >= LOOPS_MAX {
            self.unknown("has loops too deep inside each other to be judged");
            return;
        }
        self.loops += 1;
        let (commands, findings) = (self.script.commands.len(), self.script.findings.len());
        // Until the beginning of a round knows what every round before it can have set.
        for _ in 0..ROUNDS_MAX {
            let before = self.scope.clone();
            self.script.commands.truncate(commands);
            self.script.findings.truncate(findings);
            if self.jumps {
                self.scope.forget();
            }
            self.maybe(&part);
            if self.jumps {
                self.scope.forget();
            }
            if self.scope == before {
                self.loops -= 1;
                return;
            }
        }
        self.unknown("has a loop whose variables cannot be followed");
        self.loops -= 1;
    }

    fn with_input(&mut self, input: Input, part: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.input, input);
        part(self);
        self.input = before;
    }

    pub(super) fn sequence(&mut self, sequence: &StmtSeq) {
        if sequence.len() > 1 {
            self.needs_shell();
        }
        for stmt in sequence.iter() {
            self.statement(stmt);
        }
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            self.unknown("the line comes to too many commands to be judged");
            return;
        }
        if stmt.negated || stmt.terminator.is_some() {
            self.needs_shell();
        }
        let input = self.redirects(&stmt.redirects).map_or(self.input, Input::Given);
        self.with_input(input, |reader| match stmt.terminator {
            Some(shuck_ast::StmtTerminator::Background(_)) => reader.apart(|reader| reader.command(&stmt.command)),
            Some(shuck_ast::StmtTerminator::Semicolon) | None => reader.command(&stmt.command),
        });
    }

    /// What a statement prints, where it is one plain command whose table says so.
    pub(super) fn prints(&mut self, stmt: &Stmt, input: Feed) -> Feed {
        let Command::Binary(binary) = &stmt.command else {
            return self.simple_prints(stmt, input);
        };
        if binary.op != BinaryOp::Pipe || stmt.negated || !stmt.redirects.is_empty() {
            return Feed::Unknown;
        }
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Feed::Unknown;
        }
        let fed = self.prints(&binary.left, input);
        self.simple_prints(&binary.right, fed)
    }

    fn simple_prints(&mut self, stmt: &Stmt, input: Feed) -> Feed {
        let Command::Simple(simple) = &stmt.command else {
            return Feed::Unknown;
        };
        let harmless = |redirect: &shuck_ast::Redirect| redirect.fd == Some(2);
        if !stmt.redirects.iter().all(harmless) || !simple.assignments.is_empty() {
            return Feed::Unknown;
        }
        let words: Vec<Vec<Word>> =
            std::iter::once(&simple.name).chain(&simple.args).flat_map(|word| self.word(word)).collect();
        let one_way = words.len() == simple.args.len() + 1;
        let name = simple.name.span.slice(self.source);
        let is_function = self.scope.has_function(name) || self.scope.is_open(name);
        if one_way && !is_function { output::of(&words.concat(), input) } else { Feed::Unknown }
    }

    fn command(&mut self, command: &Command) {
        if !matches!(command, Command::Function(_)) {
            self.only_definitions = false;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(declaration) => self.declaration(declaration),
            Command::Binary(binary) => self.binary(binary),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.function(function),
            Command::AnonymousFunction(_) => self.unknown("uses an unnamed function, which is not judged"),
        }
    }

    /// Lists and pipelines, whose trees lean to the left: taken apart in a loop, so that a long one needs no stack.
    fn binary(&mut self, binary: &BinaryCommand) {
        self.needs_shell();
        let mut parts = vec![(Some(binary.op), &*binary.right)];
        let mut left = &*binary.left;
        while let Command::Binary(inner) = &left.command
            && left.redirects.is_empty()
            && !left.negated
        {
            parts.push((Some(inner.op), &*inner.right));
            left = &inner.left;
        }
        parts.push((None, left));
        let operators: Vec<Option<BinaryOp>> = parts.iter().rev().map(|(op, _)| *op).collect();
        let mut feed = Feed::Unknown;
        for (index, (operator, part)) in parts.iter().rev().enumerate() {
            let piped_on = operators.get(index + 1).is_some_and(|next| is_pipe(*next));
            let piped_into = is_pipe(*operator);
            let input = if piped_into { Input::Given(feed) } else { self.input };
            feed =
                if piped_on { self.prints(part, if piped_into { feed } else { Feed::Unknown }) } else { Feed::Unknown };
            self.with_input(input, |reader| match (operator, piped_into || piped_on) {
                (_, true) => reader.apart(|reader| reader.statement(part)),
                (Some(_), false) => reader.maybe(|reader| reader.statement(part)),
                (None, false) => reader.statement(part),
            });
        }
    }

    /// A function's body is judged where it stands, with arguments and an input that could be anything; its name is then a
    /// known one. Only at the beginning of a line, where nothing before it can fail and leave the name to another program.
    pub(super) fn function(&mut self, function: &FunctionDef) {
        self.needs_shell();
        let mut names = function.static_names();
        let (Some(name), None) = (names.next(), names.next()) else {
            self.unknown("defines a function whose name cannot be read");
            return;
        };
        let name = name.as_str().to_owned();
        let is_tool = table::shipped().contains_key(&name) || self.scope.has_function(&name);
        if !self.only_definitions || is_tool || !function.body.redirects.is_empty() {
            self.unknown(&format!("defines the function `{name}` where it could be taken for something else"));
        }
        self.scope.open(&name);
        let jumps = self.jumps;
        self.with_input(Input::Given(Feed::Unknown), |reader| {
            reader.apart(|reader| {
                // It runs later, when the variables may hold something else.
                reader.scope.forget();
                reader.command(&function.body.command);
            });
        });
        self.jumps = jumps;
        self.scope.close(&name);
        self.scope.define(&name);
        self.only_definitions = true;
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        let (name, span, first, rest, assignments) = match builtin {
            BuiltinCommand::Break(b) => ("break", b.span, &b.depth, &b.extra_args, &b.assignments),
            BuiltinCommand::Continue(b) => ("continue", b.span, &b.depth, &b.extra_args, &b.assignments),
            BuiltinCommand::Return(b) => ("return", b.span, &b.code, &b.extra_args, &b.assignments),
            BuiltinCommand::Exit(b) => ("exit", b.span, &b.code, &b.extra_args, &b.assignments),
        };
        self.needs_shell();
        if !assignments.is_empty() || !span.slice(self.source).starts_with(name) {
            self.unknown("sets variables before a word of the shell");
            return;
        }
        self.programs.insert((span.start.offset(), name.to_owned()));
        self.jumps = true;
        self.scope.forget();
        for word in first.iter().chain(rest) {
            self.word(word);
        }
    }

    /// `local`, `declare`, `readonly`, `export`: like plain assignments, where they set our own variables and no more.
    fn declaration(&mut self, declaration: &DeclClause) {
        self.needs_shell();
        if declaration.variant.as_str() == "readonly" {
            self.unknown("makes a variable read-only, so that setting it later may fail");
        }
        let exports = declaration.variant.as_str() == "export";
        if exports || !declaration.assignments.is_empty() {
            self.unknown("changes the environment of later programs (export)");
        }
        for operand in &declaration.operands {
            match operand {
                // A declaration may fail, and then the variable keeps what it held.
                DeclOperand::Assignment(assignment) => {
                    self.assignment(assignment);
                    self.assign(assignment.target.name.as_str(), Value::Unknown);
                }
                DeclOperand::Name(reference) if reference.subscript.is_none() => {
                    self.assign(reference.name.as_str(), Value::Unknown);
                }
                DeclOperand::Flag(flag) if matches!(flag.span.slice(self.source), "-a" | "-A") => {}
                DeclOperand::Name(_) | DeclOperand::Flag(_) | DeclOperand::Dynamic(_) => {
                    self.unknown("declares a variable in a way that is not judged");
                }
            }
        }
    }

    /// Remembers what a variable of the line's own is set to.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        if is_own_variable(name) {
            self.scope.set(name, value);
        } else {
            self.unknown(&format!("sets `{name}`, which programs act on"));
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let nameless = simple.name.span.slice(self.source).is_empty() && simple.name.parts.is_empty();
        let name_text = simple.name.span.slice(self.source).to_owned();
        if name_text.is_empty() || nameless {
            self.needs_shell();
            for assignment in &simple.assignments {
                self.assignment(assignment);
            }
            return;
        }
        if !matches!(name_text.as_str(), "[" | "unset") {
            self.programs.insert((simple.name.span.start.offset(), name_text));
        }
        let settings = self.settings(&simple.assignments);
        let mut variants: Vec<Vec<Word>> = vec![Vec::new()];
        for word in std::iter::once(&simple.name).chain(&simple.args) {
            variants = times(variants, self.word(word));
        }
        for words in variants {
            self.one_command(settings.clone(), words);
        }
    }

    fn one_command(&mut self, settings: Vec<(String, Word)>, words: Vec<Word>) {
        let name = words.first().and_then(Word::known).unwrap_or_default();
        if self.scope.is_open(name) {
            self.unknown(&format!("the function `{name}` calls itself"));
        } else if self.scope.has_function(name) {
            self.scope.forget();
            if !settings.is_empty() {
                self.unknown("sets variables before a function");
            }
            return;
        }
        self.note_reading(&words);
        if self.script.commands.len() >= COMMANDS_MAX {
            self.unknown("the line comes to too many commands to be judged");
            return;
        }
        self.script.commands.push(Simple { settings, words, input: self.input });
    }

    /// `read x` sets `x`.
    fn note_reading(&mut self, words: &[Word]) {
        let is_wrapper = |word: &&Word| matches!(word.known(), Some("command" | "builtin" | "-p" | "--"));
        let wrappers = words.iter().take_while(is_wrapper).count();
        if words.get(wrappers).and_then(Word::known) != Some("read") {
            return;
        }
        for word in words.iter().skip(wrappers + 1) {
            match word.known() {
                Some(option) if option.starts_with('-') => {}
                Some(value)
                    if value.is_empty() || !value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {}
                Some(name) => self.assign(name, Value::Unknown),
                None => self.unknown("reads into a variable whose name is not known"),
            }
        }
    }
}

/// Every way to go on from each of `variants`. Too many are not written out: the last words become unknown.
fn times(mut variants: Vec<Vec<Word>>, mut alternatives: Vec<Vec<Word>>) -> Vec<Vec<Word>> {
    let words = variants.first().map_or(0, Vec::len);
    let ways = variants.len().saturating_mul(alternatives.len());
    if ways > VARIANTS_MAX || (alternatives.len() > 1 && ways.saturating_mul(words) > VARIANT_WORDS_MAX) {
        alternatives = vec![vec![Word::any("$...")]];
    }
    if let [only] = alternatives.as_slice() {
        for variant in &mut variants {
            variant.extend_from_slice(only);
        }
        return variants;
    }
    let extend = |variant: &Vec<Word>, more: &Vec<Word>| variant.iter().chain(more).cloned().collect();
    variants.iter().flat_map(|variant| alternatives.iter().map(move |more| extend(variant, more))).collect()
}

pub(super) fn is_number(word: &Word) -> bool {
    match word {
        Word::Known(text) => !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()),
        Word::Unseen(unseen) => unseen.number,
    }
}

fn is_pipe(operator: Option<BinaryOp>) -> bool {
    matches!(operator, Some(BinaryOp::Pipe | BinaryOp::PipeAll))
}

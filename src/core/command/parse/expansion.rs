//! What a shell puts in place when a line runs: output of commands, parameters with operators, arithmetic. Commands inside
//! are read like all others; what can run commands in a hidden way (`${!x}`, `${x@P}`, arithmetic over text) is not judged.

use shuck_ast::{
    ArithmeticBinaryOp, ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, BourneParameterExpansion,
    ParameterExpansionSyntax, ParameterOp, SourceText, StmtSeq, Subscript, VarRef, WordPart,
};

use super::super::script::{Feed, Word};
use super::command::{Reader, is_number};
use super::scope::Value;
use super::word::{Hidden, hidden_variable};

impl Reader<'_> {
    /// One part of a word that is not text: what is inside is read, and what may come of it is said.
    pub(super) fn expansion(&mut self, part: &WordPart, quoted: bool) -> Hidden {
        self.needs_shell();
        let any = Hidden::anything(quoted);
        let number = Hidden::digits();
        match part {
            WordPart::CommandSubstitution { body, .. } => self.output_of(body, quoted),
            WordPart::ProcessSubstitution { body, is_input } => {
                if !is_input {
                    self.unknown("feeds its output into another command by `>( )`");
                }
                self.apart(|reader| reader.sequence(body));
                Hidden { start: "/dev/fd/".to_owned(), plain: true, ..Hidden::default() }
            }
            WordPart::ArithmeticExpansion { expression_ast, .. } => {
                match expression_ast {
                    Some(tree) => self.arithmetic(tree),
                    None => self.unknown("has an arithmetic expression that cannot be read"),
                }
                Hidden::integer()
            }
            WordPart::Length(reference) | WordPart::ArrayLength(reference) | WordPart::ArrayIndices(reference) => {
                self.reference(reference);
                number
            }
            WordPart::ArrayAccess(reference) => {
                self.reference(reference);
                Hidden::anything(false)
            }
            WordPart::Parameter(parameter) => match &parameter.syntax {
                ParameterExpansionSyntax::Bourne(bourne) => self.parameter(bourne, quoted),
                ParameterExpansionSyntax::Zsh(_) => self.refused("uses a construct of zsh, which is not judged"),
            },
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operation(reference, operator);
                if let Some(word) = operand_word_ast {
                    self.word(word);
                }
                any
            }
            WordPart::Substring { reference, offset, length, .. }
            | WordPart::ArraySlice { reference, offset, length, .. } => {
                self.reference(reference);
                self.slice(offset, length.as_deref());
                any
            }
            WordPart::IndirectExpansion { .. } | WordPart::PrefixMatch { .. } => {
                self.refused("looks up a variable by a computed name")
            }
            WordPart::Transformation { .. } => self.refused("transforms a variable, which can run commands in it"),
            WordPart::ZshQualifiedGlob(_) => self.refused("uses a construct of zsh, which is not judged"),
            WordPart::Literal(_)
            | WordPart::SingleQuoted { .. }
            | WordPart::DoubleQuoted { .. }
            | WordPart::Variable(_) => any,
        }
    }

    fn refused(&mut self, reason: &str) -> Hidden {
        self.unknown(reason);
        Hidden::anything(false)
    }

    fn parameter(&mut self, parameter: &BourneParameterExpansion, quoted: bool) -> Hidden {
        let any = Hidden::anything(quoted);
        match parameter {
            BourneParameterExpansion::Access { reference } => {
                self.reference(reference);
                if reference.subscript.is_some() {
                    return Hidden::anything(false);
                }
                let name = reference.name.as_str();
                hidden_variable(name, &self.scope.value(name), quoted)
            }
            BourneParameterExpansion::Length { reference } | BourneParameterExpansion::Indices { reference } => {
                self.reference(reference);
                Hidden::digits()
            }
            BourneParameterExpansion::Slice { reference, offset, length, .. } => {
                self.reference(reference);
                self.slice(offset, length.as_ref());
                any
            }
            BourneParameterExpansion::Operation { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operation(reference, operator);
                if let Some(word) = operand_word_ast {
                    self.word(word);
                }
                any
            }
            BourneParameterExpansion::Indirect { .. } | BourneParameterExpansion::PrefixMatch { .. } => {
                self.refused("looks up a variable by a computed name")
            }
            BourneParameterExpansion::Transformation { .. } => {
                self.refused("transforms a variable, which can run commands in it")
            }
        }
    }

    fn operation(&mut self, reference: &VarRef, operator: &ParameterOp) {
        match operator {
            ParameterOp::AssignDefault => self.assign(reference.name.as_str(), Value::Unknown),
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => self.pattern(pattern),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.pattern(pattern);
                self.word(replacement_word_ast);
            }
            ParameterOp::UseDefault
            | ParameterOp::UseReplacement
            | ParameterOp::Error
            | ParameterOp::UpperFirst
            | ParameterOp::UpperAll
            | ParameterOp::LowerFirst
            | ParameterOp::LowerAll => {}
        }
    }

    /// `${x:1:3}`: places are arithmetic, so only plain numbers are taken.
    fn slice(&mut self, offset: &SourceText, length: Option<&SourceText>) {
        let is_number =
            |text: &SourceText| text.slice(self.source).chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '-');
        if !(is_number(offset) && length.is_none_or(is_number)) {
            self.unknown("cuts a variable at computed places");
        }
    }

    fn reference(&mut self, reference: &VarRef) {
        self.check_name(reference.name.as_str());
        if let Some(subscript) = &reference.subscript
            && !self.is_plain_subscript(subscript)
        {
            self.unknown("reads an element of a list whose place is computed");
        }
    }

    pub(super) fn is_plain_subscript(&self, subscript: &Subscript) -> bool {
        let text = subscript.syntax_text(self.source);
        subscript.is_array_selector() || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    }

    /// What the output of a command can be: only a few programs print numbers or names and nothing else.
    fn output_of(&mut self, body: &StmtSeq, quoted: bool) -> Hidden {
        let mut feed = Feed::Unknown;
        self.apart(|reader| {
            reader.sequence(body);
            if let [only] = body.as_slice() {
                feed = reader.prints(only, Feed::Unknown);
            }
        });
        let (plain, number) = (feed.is_plain(), feed == Feed::Numbers);
        Hidden { plain, number, pieces: plain, ..Hidden::anything(quoted) }
    }

    /// Arithmetic evaluates the text of variables again, commands in subscripts among it: only numbers are safe.
    pub(super) fn arithmetic(&mut self, expression: &ArithmeticExprNode) {
        match &expression.kind {
            ArithmeticExpr::Number(text) => {
                let text = text.slice(self.source);
                if text.contains(['$', '`', '[']) {
                    self.unknown("has an arithmetic expression that cannot be read");
                }
                if text.len() > 1 && text.starts_with('0') {
                    self.may_fail();
                }
            }
            ArithmeticExpr::Variable(name) => self.arithmetic_variable(name.as_str()),
            ArithmeticExpr::ShellWord(word) => {
                self.may_fail();
                if !self.word(word).iter().flatten().all(is_number) {
                    self.unknown("computes with what may not be a number, which would run commands hidden in it");
                }
            }
            ArithmeticExpr::Indexed { .. } => self.unknown("computes with an element of a list"),
            ArithmeticExpr::Parenthesized { expression } => self.arithmetic(expression),
            ArithmeticExpr::Unary { expr, .. } | ArithmeticExpr::Postfix { expr, .. } => {
                self.arithmetic(expr);
                // `++` and `--` among them.
                if let ArithmeticExpr::Variable(name) = &expr.kind {
                    self.assign(name.as_str(), Value::Integer);
                }
            }
            ArithmeticExpr::Binary { left, right, op } => {
                let by_number = matches!(&right.kind, ArithmeticExpr::Number(text) if text.slice(self.source) != "0");
                let divides = matches!(op, ArithmeticBinaryOp::Divide | ArithmeticBinaryOp::Modulo);
                if (divides && !by_number) || *op == ArithmeticBinaryOp::Power {
                    self.may_fail();
                }
                self.arithmetic(left);
                self.arithmetic(right);
            }
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                self.arithmetic(condition);
                self.arithmetic(then_expr);
                self.arithmetic(else_expr);
            }
            ArithmeticExpr::Assignment { target, value, .. } => {
                self.arithmetic(value);
                match target {
                    ArithmeticLvalue::Variable(name) => self.assign(name.as_str(), Value::Integer),
                    ArithmeticLvalue::Indexed { .. } => self.unknown("computes with an element of a list"),
                }
            }
        }
    }

    /// Arithmetic that fails drops the rest of its line, and a later line goes on with what was known before.
    fn may_fail(&mut self) {
        if self.source.contains('\n') {
            self.unknown("computes in a way that may fail, with more lines behind it");
        }
    }

    fn arithmetic_variable(&mut self, name: &str) {
        let is_number = match self.scope.value(name) {
            Value::Integer => true,
            Value::Number => {
                self.may_fail();
                true
            }
            Value::OneOf(values) => values
                .iter()
                .all(|value| is_number(&Word::from(value.as_str())) && (value == "0" || !value.starts_with('0'))),
            Value::Plain | Value::Starting(_) | Value::Unknown => false,
        };
        if !is_number {
            self.unknown(&format!(
                "computes with `{name}`, which may not be a number: that would run commands hidden in it"
            ));
        }
    }
}

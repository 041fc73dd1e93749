//! What a shell puts in place when a line runs: output of commands, parameters with operators, arithmetic. Commands inside
//! are read like all others; what can run commands in a hidden way (`${!x}`, `${x@P}`, arithmetic over text) is not judged.

use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, BourneParameterExpansion, ParameterExpansionSyntax,
    ParameterOp, SourceText, StmtSeq, Subscript, VarRef, WordPart,
};

use super::super::script::{Feed, Word};
use super::command::{Reader, is_number};
use super::scope::Value;
use super::word::Hidden;

impl Reader<'_> {
    /// One part of a word that is not text: what is inside is read, and what may come of it is said.
    pub(super) fn expansion(&mut self, part: &WordPart, quoted: bool) -> Hidden {
        self.needs_shell();
        let any = Hidden { many: !quoted, ..Hidden::default() };
        let number = Hidden { plain: true, number: true, ..Hidden::default() };
        match part {
            WordPart::CommandSubstitution { body, .. } => self.output_of(body, quoted),
            WordPart::ProcessSubstitution { body, is_input } => {
                if !is_input {
                    self.unknown("feeds its output into another command by `>( )`");
                }
                self.apart(|reader| reader.sequence(body));
                Hidden { start: "/dev/fd/".to_owned(), plain: true, ..Hidden::default() }
            }
            WordPart::ArithmeticExpansion { expression, expression_ast, .. } => {
                match expression_ast {
                    Some(tree) => self.arithmetic(tree),
                    None => self.unknown("has an arithmetic expression that cannot be read"),
                }
                let minus = expression.slice(self.source).contains(['-', '~']);
                Hidden { plain: !minus, number: !minus, ..Hidden::default() }
            }
            WordPart::Length(reference) | WordPart::ArrayLength(reference) | WordPart::ArrayIndices(reference) => {
                self.reference(reference);
                number
            }
            WordPart::ArrayAccess(reference) => {
                self.reference(reference);
                Hidden { many: true, ..Hidden::default() }
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
        Hidden { many: true, ..Hidden::default() }
    }

    fn parameter(&mut self, parameter: &BourneParameterExpansion, quoted: bool) -> Hidden {
        let any = Hidden { many: !quoted, ..Hidden::default() };
        match parameter {
            BourneParameterExpansion::Access { reference } => {
                self.reference(reference);
                match (reference.subscript.is_some(), self.scope.value(reference.name.as_str())) {
                    (true, _) => Hidden { many: true, ..Hidden::default() },
                    (false, Value::Number) => Hidden { plain: true, number: true, ..Hidden::default() },
                    (false, Value::Plain) => Hidden { plain: true, ..Hidden::default() },
                    (false, Value::Starting(start)) => {
                        Hidden { start, plain: true, many: !quoted, ..Hidden::default() }
                    }
                    (false, Value::OneOf(values)) if quoted => {
                        Hidden { plain: values.iter().all(|v| !v.starts_with('-')), ..Hidden::default() }
                    }
                    (false, _) => any,
                }
            }
            BourneParameterExpansion::Length { reference } | BourneParameterExpansion::Indices { reference } => {
                self.reference(reference);
                Hidden { plain: true, number: true, ..Hidden::default() }
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
        let number = feed == Feed::Numbers;
        // A list of numbers is no number.
        Hidden { plain: feed.is_plain(), number, many: !quoted, ..Hidden::default() }
    }

    /// Arithmetic evaluates the text of variables again, commands in subscripts among it: only numbers are safe.
    pub(super) fn arithmetic(&mut self, expression: &ArithmeticExprNode) {
        match &expression.kind {
            ArithmeticExpr::Number(text) => {
                if text.slice(self.source).contains(['$', '`', '[']) {
                    self.unknown("has an arithmetic expression that cannot be read");
                }
            }
            ArithmeticExpr::Variable(name) => self.arithmetic_variable(name.as_str()),
            ArithmeticExpr::ShellWord(word) => {
                if !self.word(word).iter().flatten().all(is_number) {
                    self.unknown("computes with what may not be a number, which would run commands hidden in it");
                }
            }
            ArithmeticExpr::Indexed { .. } => self.unknown("computes with an element of a list"),
            ArithmeticExpr::Parenthesized { expression } => self.arithmetic(expression),
            ArithmeticExpr::Unary { expr, .. } | ArithmeticExpr::Postfix { expr, .. } => self.arithmetic(expr),
            ArithmeticExpr::Binary { left, right, .. } => {
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
                    ArithmeticLvalue::Variable(name) => self.assign(name.as_str(), Value::Number),
                    ArithmeticLvalue::Indexed { .. } => self.unknown("computes with an element of a list"),
                }
            }
        }
    }

    fn arithmetic_variable(&mut self, name: &str) {
        let is_number = match self.scope.value(name) {
            Value::Number => true,
            Value::OneOf(values) => values.iter().all(|value| is_number(&Word::from(value.as_str()))),
            Value::Plain | Value::Starting(_) | Value::Unknown => false,
        };
        if !is_number {
            self.unknown(&format!(
                "computes with `{name}`, which may not be a number: that would run commands hidden in it"
            ));
        }
    }
}

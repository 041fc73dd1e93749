//! What hides inside a query: writes in a WITH, INTO, row locks, functions, operators of a schema. First by its words, then
//! by the tree of sqlparser; both must find nothing. Which statements may be queries at all is decided outside.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SetExpr, Statement, TableAlias,
    TableFactor, Visit, Visitor,
};
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::{Danger, Dialect, Kind, Token, functions, statement, unreadable};

/// Words that change something when they follow a bracket, as in `WITH x AS (DELETE ...)` or `WITH x AS (...) DELETE ...`.
const WRITES: [&str; 5] = ["insert", "update", "delete", "merge", "replace"];

/// More joins than people type; the parser goes one call deeper for each, without a limit of its own.
const JOINS_MAX: usize = 40;

/// How much of the parser's words is repeated; they may hold a whole string of the query.
const WHY_CHARS_MAX: usize = 120;

/// Proves that one query only reads.
pub(super) fn judge(words: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    check_words(words)?;
    if matches!(words, [table, ..] if table.is("table")) {
        return check_table(words);
    }
    if words.iter().filter(|word| word.is("join")).count() > JOINS_MAX {
        return Err(unreadable(&format!("it has more than {JOINS_MAX} joins")));
    }
    let parsed = parse(words, dialect)?;
    let mut walk = Walk { dialect, aliases: Vec::new() };
    if let ControlFlow::Break(danger) = parsed.visit(&mut walk) {
        return Err(danger);
    }
    functions::check(words, dialect, &walk.aliases)
}

/// Refuses what no reading query holds, without understanding the rest.
pub(super) fn check_words(words: &[Token<'_>]) -> Result<(), Danger> {
    for (at, word) in words.iter().enumerate() {
        let after = words.get(at + 1..).unwrap_or_default();
        if word.is("into") {
            return Err(Danger::medium("writes what it selects into a table, a file or a variable (INTO)"));
        }
        if word.is("delete") && after.first().is_some_and(|from| from.is("from")) {
            return Err(inside(&statement::deed(words.get(at..).unwrap_or_default())));
        }
        if matches!(after, [write, ..] if (word.is_symbol("(") || word.is_symbol(")")) && is_write(write, after)) {
            return Err(inside(&statement::deed(after)));
        }
        if let Some(lock) = row_lock(word, after) {
            return Err(Danger::low(format!("locks the rows that it reads ({lock})")));
        }
    }
    Ok(())
}

/// `REPLACE(...)` and `INSERT(...)` are also functions; those have a bracket.
fn is_write(word: &Token<'_>, from_it: &[Token<'_>]) -> bool {
    let function = matches!(from_it, [_, open, ..] if open.is_symbol("("));
    !function && WRITES.iter().any(|write| word.is(write))
}

fn row_lock(word: &Token<'_>, after: &[Token<'_>]) -> Option<&'static str> {
    match after {
        [update, ..] if word.is("for") && update.is("update") => Some("FOR UPDATE"),
        [share, ..] if word.is("for") && share.is("share") => Some("FOR SHARE"),
        [no, key, ..] if word.is("for") && no.is("no") && key.is("key") => Some("FOR NO KEY UPDATE"),
        [key, share, ..] if word.is("for") && key.is("key") && share.is("share") => Some("FOR KEY SHARE"),
        [r#in, share, ..] if word.is("lock") && r#in.is("in") && share.is("share") => Some("LOCK IN SHARE MODE"),
        _ => None,
    }
}

/// `TABLE name` is a whole query; with more behind it, it is written as a SELECT.
fn check_table(words: &[Token<'_>]) -> Result<(), Danger> {
    let name = |word: &Token<'_>| matches!(word.kind, Kind::Word | Kind::Name);
    match words {
        [_, table] if name(table) => Ok(()),
        [_, schema, dot, table] if name(schema) && dot.is_symbol(".") && name(table) => Ok(()),
        _ => Err(unreadable("more than a name after TABLE; write it as a SELECT")),
    }
}

fn parse(words: &[Token<'_>], dialect: Dialect) -> Result<Statement, Danger> {
    let grammar: &dyn Grammar = match dialect {
        Dialect::Postgres => &PostgreSqlDialect {},
        Dialect::MySql => &MySqlDialect {},
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::Generic => &GenericDialect {},
    };
    let mut statements = Parser::parse_sql(grammar, &text_of(words)).map_err(|error| {
        let error = error.to_string();
        let why = error.strip_prefix("sql parser error: ").unwrap_or(&error);
        unreadable(&why.chars().take(WHY_CHARS_MAX).collect::<String>())
    })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(unreadable("it is not one statement")),
    }
}

/// The words as one text again, without comments, so that no two readers find different ones.
fn text_of(words: &[Token<'_>]) -> String {
    let parts = words.iter().map(|word| [if word.spaced { " " } else { "" }, word.text].concat());
    parts.collect()
}

fn inside(danger: &Danger) -> Danger {
    Danger { reason: format!("{} inside a query", danger.reason), risk: danger.risk }
}

/// Walks the whole tree and stops at the first thing that is not known to only read.
struct Walk {
    dialect: Dialect,
    /// Names that the query itself gives to rows with named columns: `x(a, b)`.
    aliases: Vec<String>,
}

impl Walk {
    fn learn(&mut self, alias: Option<&TableAlias>) {
        self.aliases.extend(alias.map(|alias| alias.name.value.to_ascii_lowercase()));
    }

    fn call(&self, name: &ObjectName) -> Result<(), Danger> {
        let idents: Option<Vec<&Ident>> = name.0.iter().map(ident).collect();
        let Some(idents) = idents else { return Err(unreadable("a function's name that is computed")) };
        let parts: Vec<&str> = idents.iter().map(|ident| ident.value.as_str()).collect();
        functions::known(&parts, idents.iter().any(|ident| ident.quote_style.is_some()), self.dialect)
    }

    fn body(body: &SetExpr) -> Result<(), Danger> {
        let mut open = vec![body];
        while let Some(body) = open.pop() {
            match body {
                SetExpr::SetOperation { left, right, .. } => open.extend([&**left, &**right]),
                SetExpr::Insert(_) => return Err(Danger::medium("adds rows inside a query (INSERT)")),
                SetExpr::Update(_) => return Err(Danger::medium("changes rows inside a query (UPDATE)")),
                SetExpr::Delete(_) => return Err(Danger::high("deletes rows inside a query (DELETE)")),
                SetExpr::Merge(_) => return Err(Danger::medium("changes rows inside a query (MERGE)")),
                // Each query and each select in it is visited by itself.
                SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) | SetExpr::Table(_) => {}
            }
        }
        Ok(())
    }

    fn query(&mut self, query: &Query) -> Result<(), Danger> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.learn(Some(&cte.alias));
        }
        if !query.locks.is_empty() {
            return Err(Danger::low("locks the rows that it reads (FOR UPDATE or FOR SHARE)"));
        }
        let odd = query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some();
        if odd || !query.pipe_operators.is_empty() {
            return Err(unreadable("a clause that belongs to another server"));
        }
        Self::body(&query.body)
    }

    fn factor(&mut self, factor: &TableFactor) -> Result<(), Danger> {
        match factor {
            TableFactor::Table { name, alias, args, .. } => {
                self.learn(alias.as_ref());
                if args.is_some() { self.call(name) } else { Ok(()) }
            }
            TableFactor::Function { name, alias, .. } => {
                self.learn(alias.as_ref());
                self.call(name)
            }
            TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::JsonTable { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => {
                self.learn(alias.as_ref());
                Ok(())
            }
            TableFactor::OpenJsonTable { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::XmlTable { .. }
            | TableFactor::SemanticView { .. } => Err(unreadable("a table that belongs to another server")),
        }
    }
}

fn ident(part: &ObjectNamePart) -> Option<&Ident> {
    match part {
        ObjectNamePart::Identifier(ident) => Some(ident),
        ObjectNamePart::Function(_) => None,
    }
}

fn operator(operator: &BinaryOperator) -> Result<(), Danger> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are built into the servers; an own one is `Custom`")]
    match operator {
        BinaryOperator::Custom(_) | BinaryOperator::PGCustomBinaryOperator(_) => {
            Err(Danger::medium("uses an operator which is not known to only read"))
        }
        BinaryOperator::Assignment => Err(Danger::low("assigns a variable (`:=`)")),
        _ => Ok(()),
    }
}

/// What one expression does by itself; the visitor goes on into its parts. All are named, so that a new one is decided on.
fn expression(walk: &Walk, expr: &Expr) -> Result<(), Danger> {
    match expr {
        Expr::Function(function) => walk.call(&function.name),
        Expr::BinaryOp { op, .. } => operator(op),
        Expr::AnyOp { compare_op, .. } | Expr::AllOp { compare_op, .. } => operator(compare_op),
        Expr::Named { .. } | Expr::Lambda(_) | Expr::Dictionary(_) | Expr::Map(_) | Expr::Struct { .. } => {
            Err(unreadable("an expression that belongs to another server"))
        }
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::CompoundFieldAccess { .. }
        | Expr::JsonAccess { .. }
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::IsJson { .. }
        | Expr::IsNormalized { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::InUnnest { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::RLike { .. }
        | Expr::UnaryOp { .. }
        | Expr::Convert { .. }
        | Expr::Cast { .. }
        | Expr::AtTimeZone { .. }
        | Expr::Extract { .. }
        | Expr::Ceil { .. }
        | Expr::Floor { .. }
        | Expr::Position { .. }
        | Expr::Substring { .. }
        | Expr::Trim { .. }
        | Expr::Overlay { .. }
        | Expr::Collate { .. }
        | Expr::Nested(_)
        | Expr::Value(_)
        | Expr::Prefixed { .. }
        | Expr::TypedString(_)
        | Expr::Case { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_)
        | Expr::GroupingSets(_)
        | Expr::Cube(_)
        | Expr::Rollup(_)
        | Expr::Tuple(_)
        | Expr::Array(_)
        | Expr::Interval(_)
        | Expr::MatchAgainst { .. }
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..)
        | Expr::OuterJoin(_)
        | Expr::Prior(_)
        | Expr::MemberOf(_) => Ok(()),
    }
}

impl Visitor for Walk {
    type Break = Danger;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Danger> {
        if matches!(statement, Statement::Query(_)) {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(Danger::medium("holds another statement, which does not only read"))
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Danger> {
        flow(self.query(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Danger> {
        if select.into.is_some() {
            return ControlFlow::Break(Danger::medium("writes what it selects (SELECT INTO)"));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Danger> {
        flow(self.factor(factor))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Danger> {
        flow(expression(self, expr))
    }
}

fn flow(found: Result<(), Danger>) -> ControlFlow<Danger> {
    match found {
        Ok(()) => ControlFlow::Continue(()),
        Err(danger) => ControlFlow::Break(danger),
    }
}

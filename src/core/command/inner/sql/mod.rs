//! Whether an SQL text only reads. Two readers must agree: our own, which splits the text into words as every server does
//! and knows what a word may do, and sqlparser, whose tree shows what hides deeper. What a view or an operator of a
//! schema does inside is not known here, and nothing is run.

mod lexer;
mod functions;
mod query;
mod statement;

#[cfg(test)]
mod tests;

pub(super) use lexer::{Kind, Lexer, Token, check_characters, tokens, unreadable};

use super::{Danger, check_length};

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `PostgreSQL`: psql.
    Postgres,
    /// `MySQL` and `MariaDB`: mysql, mariadb.
    MySql,
    /// `SQLite`: sqlite3.
    Sqlite,
    /// Any other server: only what all of them understand alike.
    Generic,
}

/// Proves that every statement of the text only reads, or says what the first one that does not would do.
pub(in super::super) fn judge(text: &str, dialect: Dialect) -> Result<(), Danger> {
    check_length(text)?;
    judge_tokens(&tokens(text, dialect)?, dialect)
}

/// The same for a text that is read already: a client takes its own commands out first.
pub(super) fn judge_tokens(tokens: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    if tokens.iter().any(|token| token.kind == Kind::Backslash) {
        return Err(unreadable("a backslash outside quotes"));
    }
    let mut statements = tokens.split(|token| token.is_symbol(";")).filter(|words| !words.is_empty()).peekable();
    if statements.peek().is_none() {
        return Err(unreadable("there is no statement"));
    }
    statements.try_for_each(|words| statement::judge(words, dialect))
}

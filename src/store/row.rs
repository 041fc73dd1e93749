//! Reading stored values: every value is checked, and what is wrong is named by table, column and row. No SQL.

use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row, Type};

use super::StoreError;

/// A row that this program did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRow {
    /// The table.
    pub table: &'static str,
    /// The row's id.
    pub id: String,
    /// The problem, in a sentence.
    pub problem: String,
}

impl BrokenRow {
    pub(super) fn of(row: &Stored<'_>, problem: &StoreError) -> Self {
        Self { table: row.table, id: row.id().to_owned(), problem: problem.to_string() }
    }
}

/// A row that was read, with what is needed to say where it came from.
pub(super) struct Stored<'r> {
    table: &'static str,
    key: String,
    row: &'r AnyRow,
}

impl<'r> Stored<'r> {
    /// Takes a row of `table`; its column `id` names it in errors.
    pub(super) fn new(table: &'static str, row: &'r AnyRow) -> Self {
        let key = row.try_get::<String, _>("id").unwrap_or_else(|_| "without a readable id".to_owned());
        Self { table, key, row }
    }

    /// The row's id.
    pub(super) fn id(&self) -> &str {
        &self.key
    }

    /// A text.
    pub(super) fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.get(column)
    }

    /// A number.
    pub(super) fn number(&self, column: &'static str) -> Result<i64, StoreError> {
        self.get(column)
    }

    /// A number, or none.
    pub(super) fn maybe_number(&self, column: &'static str) -> Result<Option<i64>, StoreError> {
        self.get(column)
    }

    /// A text, or none.
    pub(super) fn maybe_text(&self, column: &'static str) -> Result<Option<String>, StoreError> {
        self.get(column)
    }

    /// A number that is never negative.
    pub(super) fn natural(&self, column: &'static str) -> Result<u64, StoreError> {
        let number = self.number(column)?;
        u64::try_from(number).map_err(|_| self.wrong(column, format!("{number} is negative")))
    }

    /// A number that counts something.
    pub(super) fn count(&self, column: &'static str) -> Result<u32, StoreError> {
        let number = self.number(column)?;
        u32::try_from(number).map_err(|_| self.wrong(column, format!("{number} is no count")))
    }

    /// Yes or no.
    pub(super) fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        match self.number(column)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.wrong(column, format!("{other} is neither 0 nor 1"))),
        }
    }

    /// A JSON text of a known shape.
    pub(super) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| self.wrong(column, error.to_string()))
    }

    /// The error that names this row.
    pub(super) fn wrong(&self, column: &'static str, problem: String) -> StoreError {
        StoreError::Inconsistent { table: self.table, column, row: self.key.clone(), problem }
    }

    fn get<T: Decode<'r, Any> + Type<Any>>(&self, column: &'static str) -> Result<T, StoreError> {
        self.row.try_get(column).map_err(|error| self.wrong(column, error.to_string()))
    }
}

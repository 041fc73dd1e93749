//! Takes the rows of the first version's audit table into the chain, once: when the store is opened. The rows stay where
//! they are, and nothing is written there any more.

use sqlx::any::AnyRow;

use super::chain::{self, Entry};
use super::payload::{Payload, salt};
use crate::store::dialect::Durability;
use crate::store::row::Stored;
use crate::store::seal::SealWriter;
use crate::store::sums::Check;
use crate::store::{Store, StoreError};

/// Rows taken over in one transaction: enough to be quick, few enough to be held in memory.
const ROWS_MAX: i64 = 500;

impl Store {
    /// Appends every row that is not in the chain yet, oldest first. A crash on the way leaves the rest for the next
    /// start. Writes only where there is something to take over.
    pub(in crate::store) async fn adopt_old_audit(&self) -> Result<(), StoreError> {
        loop {
            let sql = "SELECT id, at, signal, thread, platform, actor, what, gate, code, tool, action, target, detail \
                       FROM audit WHERE NOT EXISTS (SELECT 1 FROM audit_chain AS c WHERE c.id = audit.id) \
                       ORDER BY at, id LIMIT $1";
            let rows = sqlx::query(sql).bind(ROWS_MAX).fetch_all(&self.read).await;
            let rows = rows.map_err(StoreError::while_doing("reading the audit trail of an earlier version"))?;
            if rows.is_empty() {
                return Ok(());
            }
            let entries = rows.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
            let mut tx = self.begin_write(Durability::Normal).await?;
            let mut seals = SealWriter::new(&self.seals);
            chain::append(&mut tx, (&self.database, &mut seals), &entries).await?;
            let doing = "taking over the audit trail of an earlier version";
            self.commit_sealed(tx, seals, (Durability::Normal, Check::Newest), doing).await?;
        }
    }
}

fn entry(row: &AnyRow) -> Result<Entry, StoreError> {
    let row = Stored::new("audit", row);
    let payload = Payload {
        signal: row.text("signal")?,
        thread: row.text("thread")?,
        platform: row.text("platform")?,
        actor: row.text("actor")?,
        what: row.text("what")?,
        gate: row.text("gate")?,
        code: row.text("code")?,
        tool: row.text("tool")?,
        action: row.text("action")?,
        target: row.text("target")?,
        plan: String::new(),
        digest: String::new(),
        detail: row.text("detail")?,
        salt: salt(),
    };
    Ok(Entry { id: row.id().to_owned(), at: row.number("at")?, payload })
}

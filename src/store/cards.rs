//! What the card of a plan shows by now: its latest face, until it has been shown. How it is shown, and when again, is
//! decided by the engine.

use countersign_core::approval::PlanId;
use sqlx::AnyConnection;

use super::line::Rank;
use super::row::Stored;
use super::seal::{SealedRows, Seals};
use super::{Store, StoreError};

/// The seals of cards. Their id is the plan's.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "card",
    table: "cards",
    column: "seal",
    parts: |row| Ok(vec![row.id().to_owned(), row.text("body")?]),
    select: "SELECT plan AS id, body, seal FROM cards",
    set: "UPDATE cards SET seal = $1 WHERE plan = $2",
};

/// A card that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redraw {
    /// Whose card.
    pub plan: PlanId,
    /// The `Outgoing` that is to stand in its place, as JSON.
    pub body: String,
}

/// The latest face of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    /// The `Outgoing`, as JSON. Not cleared: it leaves only through `gate::reissue`.
    pub body: String,
    /// Which one it is, from 1.
    pub version: u64,
}

impl Store {
    /// Every plan whose card's latest face was not shown. Reads.
    pub async fn cards_to_show(&self) -> Result<Vec<PlanId>, StoreError> {
        let rows = sqlx::query("SELECT plan AS id FROM cards WHERE shown < version").fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("reading the cards"))?;
        let plan = |row| {
            let row = Stored::new("cards", row);
            PlanId::parse(row.id()).ok_or_else(|| row.wrong("plan", "it is no plan's id".to_owned()))
        };
        rows.iter().map(plan).collect()
    }

    /// The latest face of a plan's card, unless it was shown. An error names a row that is not what was written. Reads.
    pub async fn face_to_show(&self, plan: &PlanId) -> Result<Option<Face>, StoreError> {
        let sql = "SELECT plan AS id, body, version, seal FROM cards WHERE plan = $1 AND shown < version";
        let found = sqlx::query(sql).bind(plan.as_str()).fetch_optional(&self.read).await;
        let found = found.map_err(StoreError::while_doing("reading a card"))?;
        let face = |row| {
            let row = Stored::new("cards", row);
            self.seals.check(&SEALED, &row)?;
            Ok(Face { body: row.text("body")?, version: row.natural("version")? })
        };
        found.as_ref().map(face).transpose()
    }

    /// Records that this face was shown, or that nobody can be shown it. A later one stays to be shown. Writes, one commit.
    pub async fn face_shown(&self, plan: &PlanId, version: u64) -> Result<(), StoreError> {
        let version = i64::try_from(version).unwrap_or(i64::MAX);
        let sql = "UPDATE cards SET shown = $2 WHERE plan = $1 AND shown < $2 AND version >= $2";
        let query = sqlx::query(sql).bind(plan.as_str()).bind(version);
        self.write_one(Rank::Delivery, query, "recording what a card shows").await.map(drop)
    }
}

/// Stores the new faces of a step. The same face again changes nothing.
pub(super) async fn write(tx: &mut AnyConnection, seals: &Seals, redraws: &[Redraw]) -> Result<(), StoreError> {
    for redraw in redraws {
        let sql = "INSERT INTO cards (plan, body, version, shown, seal) VALUES ($1, $2, 1, 0, $3) \
                   ON CONFLICT (plan) DO UPDATE SET body = excluded.body, version = cards.version + 1, \
                   seal = excluded.seal WHERE cards.body <> excluded.body";
        let seal = seals.over(&SEALED, &[redraw.plan.to_string(), redraw.body.clone()]);
        let written = sqlx::query(sql).bind(redraw.plan.as_str()).bind(&redraw.body).bind(seal).execute(&mut *tx).await;
        written.map_err(StoreError::while_doing("storing what a card shows"))?;
    }
    Ok(())
}

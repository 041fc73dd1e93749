//! Votes: who has countersigned a plan. Rows are added, never changed and never taken away, and a person has one for a plan.
//! They are written with the move that counts them, and read with their plan. Which vote counts is decided in the core.

use std::iter::Peekable;
use std::slice::Iter;

use countersign_core::approval::{PlanId, Vote};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::StoreError;
use super::row::Stored;
use super::seal::{SealWriter, SealedRows, Seals};

/// Every sealed column of the votes `v`. Their id is the plan's, a colon and their number.
macro_rules! select_votes {
    () => {
        "SELECT v.plan || ':' || v.n AS id, v.plan, v.n AS vote_n, v.person AS vote_person, v.platform AS vote_platform, \
         v.actor AS vote_actor, v.body AS vote, v.seal AS vote_seal FROM votes AS v"
    };
}

/// All votes.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "vote",
    table: "votes",
    column: "vote_seal",
    parts,
    select: select_votes!(),
    set: "UPDATE votes SET seal = $1 WHERE plan = substr($2, 1, 32) AND n = CAST(substr($2, 34) AS BIGINT)",
};

fn parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    // A plan's id has no colon; read with its plan, a vote's row has the plan's id alone.
    let plan = row.id().split(':').next().unwrap_or_default();
    let mut parts = vec![plan.to_owned(), row.number("vote_n")?.to_string()];
    for column in ["vote_person", "vote_platform", "vote_actor", "vote"] {
        parts.push(row.text(column)?);
    }
    Ok(parts)
}

/// Adds those votes of a plan that are not stored yet: the same move again adds none. A second vote of one person is
/// refused by the database.
pub(super) async fn add(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    plan: &PlanId,
    votes: &[Vote],
) -> Result<(), StoreError> {
    for (n, vote) in (0_i64..).zip(votes) {
        let sql = "INSERT INTO votes (plan, n, person, platform, actor, body, seal) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                   ON CONFLICT (plan, n) DO NOTHING";
        let body = serde_json::to_string(vote).expect("invariant: a vote is plain data");
        let parts = [
            plan.to_string(),
            n.to_string(),
            vote.person.clone(),
            vote.platform.to_string(),
            vote.by.id.to_string(),
            body.clone(),
        ];
        let query = sqlx::query(sql).bind(plan.as_str()).bind(n).bind(&vote.person);
        let seal = seals.over(&SEALED, &parts);
        let query = query.bind(vote.platform.as_str()).bind(vote.by.id.as_str()).bind(body).bind(&seal);
        let added = query.execute(&mut *tx).await.map_err(StoreError::while_doing("storing a vote"))?;
        if added.rows_affected() == 1 {
            seals.change(&SEALED, String::new(), seal);
        }
    }
    Ok(())
}

/// Notes that the votes on a plan decide nothing any longer.
pub(super) async fn end(tx: &mut AnyConnection, seals: &mut SealWriter<'_>, plan: &PlanId) -> Result<(), StoreError> {
    let sql = concat!(select_votes!(), " WHERE v.plan = $1");
    let counted = sqlx::query(sql).bind(plan.as_str()).fetch_all(tx).await;
    for row in &counted.map_err(StoreError::while_doing("ending the votes on a plan"))? {
        seals.replace(&SEALED, &Stored::new("votes", row), String::new())?;
    }
    Ok(())
}

/// The rows of one plan: each has the plan, and one of its votes where it has any.
pub(super) fn next_plan<'r>(rows: &mut Peekable<Iter<'r, AnyRow>>) -> Option<Vec<&'r AnyRow>> {
    let first = rows.next()?;
    let id = Stored::new("plans", first).id().to_owned();
    let mut of_it = vec![first];
    while let Some(row) = rows.next_if(|row| Stored::new("plans", row).id() == id) {
        of_it.push(row);
    }
    Some(of_it)
}

/// The votes in the rows of one plan, in order.
pub(super) fn votes(rows: &[&AnyRow], seals: &Seals) -> Result<Vec<Vote>, StoreError> {
    let mut votes = Vec::new();
    for row in rows {
        let row = Stored::new("votes", row);
        let Some(n) = row.maybe_number("vote_n")? else { continue };
        if usize::try_from(n) != Ok(votes.len()) {
            return Err(row.wrong("n", format!("vote {} is missing", votes.len())));
        }
        let vote: Vote = row.json("vote")?;
        let (person, actor) = (row.text("vote_person")?, row.text("vote_actor")?);
        if vote.person != person || vote.by.id.as_str() != actor {
            return Err(row.wrong("body", format!("it is the vote of {} by {}", vote.person, vote.by.id)));
        }
        seals.check(&SEALED, &row)?;
        votes.push(vote);
    }
    Ok(votes)
}

//! The columns of a plan's status: written by the moves of `plans.rs`, and read back.

use countersign_core::approval::{Decided, Outcome, PlanState, Standing, Withdrawal};
use countersign_core::envelope::Code;
use countersign_core::signal::Wall;
use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use super::StoreError;
use super::row::Stored;
use super::seal::SealedRows;

/// The seals of the status of plans.
pub(super) const SEALED: SealedRows = SealedRows {
    kind: "standing",
    table: "plans",
    column: "seal",
    parts,
    select: "SELECT p.id, p.state, p.code, p.outcome, p.decided, p.over_at, p.looks, p.next_look, p.reminded, p.level, \
             p.withdrawn, p.version, p.last_move, p.decide_by, p.seal, \
             (SELECT COUNT(*) FROM votes AS v WHERE v.plan = p.id) AS votes FROM plans AS p",
    set: "UPDATE plans SET seal = $1 WHERE id = $2",
};

/// The states that a plan comes to with a row of the audit trail of the same name. `refused` is also the name of other rows.
pub(super) const STATES_RECORDED: [&str; 9] =
    ["approved", "executing", "unverified", "unknown", "verified", "denied", "expired", "cancelled", "failed"];

/// The columns of a standing beside its version.
pub(super) struct Columns {
    state: &'static str,
    code: &'static str,
    outcome: &'static str,
    decided: String,
    over_at: Option<i64>,
    looks: i64,
    next_look: Option<i64>,
    reminded: i64,
    level: i64,
    withdrawn: &'static str,
    decide_by: Option<i64>,
    /// The number of votes, which are rows of their own.
    votes: usize,
}

impl Columns {
    pub(super) fn of(standing: &Standing) -> Self {
        let (code, outcome) = match standing.state {
            PlanState::Refused(code) => (code.as_str(), ""),
            PlanState::Verified(outcome) => ("", outcome.as_str()),
            _ => ("", ""),
        };
        let decided = standing.decided.as_ref().map(serde_json::to_string).transpose();
        Self {
            state: standing.state.as_str(),
            code,
            outcome,
            decided: decided.expect("invariant: a decision is plain data").unwrap_or_default(),
            over_at: standing.over_at.map(|at| at.0),
            looks: i64::from(standing.looks),
            next_look: standing.next_look.map(|at| at.0),
            reminded: i64::from(standing.reminded),
            level: i64::from(standing.level),
            withdrawn: standing.withdrawn.map_or("", Withdrawal::as_str),
            decide_by: standing.decide_by.map(|at| at.0),
            votes: standing.votes.len(),
        }
    }

    /// Binds all but the votes, in the order of the fields.
    pub(super) fn bind<'q>(&self, query: Query<'q, Any, AnyArguments>) -> Query<'q, Any, AnyArguments> {
        let query = query.bind(self.state).bind(self.code).bind(self.outcome).bind(self.decided.clone());
        let query = query.bind(self.over_at).bind(self.looks).bind(self.next_look).bind(self.reminded);
        query.bind(self.level).bind(self.withdrawn).bind(self.decide_by)
    }

    /// Returns what is sealed, as [`SEALED`] reads it.
    pub(super) fn parts(&self, plan: &str, version: u64, last_move: &str) -> Vec<String> {
        let maybe = |at: Option<i64>| at.map(|at| at.to_string()).unwrap_or_default();
        let mut parts = vec![
            plan.to_owned(),
            self.state.to_owned(),
            self.code.to_owned(),
            self.outcome.to_owned(),
            self.decided.clone(),
            maybe(self.over_at),
            self.looks.to_string(),
            maybe(self.next_look),
            self.reminded.to_string(),
            self.level.to_string(),
            self.withdrawn.to_owned(),
            version.to_string(),
            last_move.to_owned(),
            self.votes.to_string(),
        ];
        parts.extend(self.decide_by.map(|at| at.to_string()));
        parts
    }
}

fn parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    let mut parts = vec![row.id().to_owned()];
    for column in ["state", "code", "outcome", "decided"] {
        parts.push(row.text(column)?);
    }
    let maybe = |column| Ok(row.maybe_number(column)?.map(|at| at.to_string()).unwrap_or_default());
    parts.push(maybe("over_at")?);
    parts.push(row.number("looks")?.to_string());
    parts.push(maybe("next_look")?);
    parts.push(row.number("reminded")?.to_string());
    parts.push(row.number("level")?.to_string());
    parts.push(row.text("withdrawn")?);
    parts.push(row.number("version")?.to_string());
    parts.push(row.text("last_move")?);
    parts.push(row.number("votes")?.to_string());
    // Only where there is one, so that rows of before this column keep their seals.
    parts.extend(row.maybe_number("decide_by")?.map(|at| at.to_string()));
    Ok(parts)
}

/// Reads how a plan stands, without its votes.
pub(super) fn read(row: &Stored<'_>) -> Result<Standing, StoreError> {
    let decided = row.text("decided")?;
    let decided: Option<Decided> = if decided.is_empty() { None } else { Some(row.json("decided")?) };
    Ok(Standing {
        state: state(row)?,
        version: row.natural("version")?,
        decided,
        votes: Vec::new(),
        reminded: row.flag("reminded")?,
        level: row.count("level")?,
        withdrawn: withdrawn(row)?,
        over_at: row.maybe_number("over_at")?.map(Wall),
        looks: row.count("looks")?,
        next_look: row.maybe_number("next_look")?.map(Wall),
        decide_by: row.maybe_number("decide_by")?.map(Wall),
    })
}

fn withdrawn(row: &Stored<'_>) -> Result<Option<Withdrawal>, StoreError> {
    let name = row.text("withdrawn")?;
    let known = Withdrawal::ALL.into_iter().find(|why| why.as_str() == name);
    if name.is_empty() || known.is_some() {
        return Ok(known);
    }
    Err(row.wrong("withdrawn", format!("there is no reason {name}")))
}

fn state(row: &Stored<'_>) -> Result<PlanState, StoreError> {
    let name = row.text("state")?;
    Ok(match name.as_str() {
        "pending" => PlanState::Pending,
        "approved" => PlanState::Approved,
        "executing" => PlanState::Executing,
        "unverified" => PlanState::Unverified,
        "unknown" => PlanState::Unknown,
        "denied" => PlanState::Denied,
        "expired" => PlanState::Expired,
        "cancelled" => PlanState::Cancelled,
        "failed" => PlanState::Failed,
        "refused" => {
            let text = row.text("code")?;
            let code = Code::ALL.into_iter().find(|code| code.as_str() == text);
            PlanState::Refused(code.ok_or_else(|| row.wrong("code", format!("there is no code {text}")))?)
        }
        "verified" => {
            let text = row.text("outcome")?;
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
            PlanState::Verified(outcome.ok_or_else(|| row.wrong("outcome", format!("there is no outcome {text}")))?)
        }
        _ => return Err(row.wrong("state", format!("there is no state {name}"))),
    })
}

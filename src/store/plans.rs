//! Plans and the targets that they hold: filed once, moved by compare-and-set, read back and proved by their digest.
//! Which move may be made, and by whom, is decided in the core; here a move changes exactly one row or none.

use countersign_core::approval::{Digest, Filed, Frozen, Move, PlanId, PlanState, Standing};
use countersign_core::signal::ThreadKey;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::row::Stored;
use super::seal::{SealWriter, SealedRows, Seals};
use super::standing::Columns;
use super::{BrokenRow, Store, StoreError, standing, threads, votes};

/// The states of [`PlanState::is_open`], as the index `plans_open` has them; a test holds the two together.
macro_rules! open_states {
    () => {
        "('pending', 'approved', 'executing', 'unverified', 'unknown')"
    };
}

/// Every column of a plan, the key of its thread, and a row for each of its votes: one statement, so that they are of one
/// moment. A statement adds which plans, and their order; within a plan the votes must be in theirs.
macro_rules! select_plans {
    ($rest:expr) => {
        concat!(
            "SELECT p.id, p.body, p.digest, p.target, p.state, p.code, p.outcome, p.decided, p.over_at, p.looks, \
             p.next_look, p.decide_by, p.version, p.reminded, p.level, p.withdrawn, p.last_move, p.requested_at, p.expires_at, \
             p.frozen_seal, p.seal, (SELECT COUNT(*) FROM votes AS c WHERE c.plan = p.id) AS votes, \
             t.platform, t.account, t.space, t.conversation, t.root, \
             v.n AS vote_n, v.person AS vote_person, v.platform AS vote_platform, v.actor AS vote_actor, \
             v.body AS vote, v.seal AS vote_seal \
             FROM plans AS p JOIN threads AS t ON t.id = p.thread LEFT JOIN votes AS v ON v.plan = p.id ",
            $rest
        )
    };
}

/// The seals of frozen plans.
pub(super) const FROZEN: SealedRows = SealedRows {
    kind: "plan",
    table: "plans",
    column: "frozen_seal",
    parts: frozen_parts,
    select: "SELECT id, digest, target, requested_at, expires_at, frozen_seal FROM plans",
    set: "UPDATE plans SET frozen_seal = $1 WHERE id = $2",
};

/// One change of a step to the plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanChange {
    /// A new plan. The same plan again changes nothing.
    File(Box<Filed>),
    /// A compare-and-set.
    Move {
        /// Made by the caller; unique to this move, so that the same step committed again is known.
        id: String,
        /// From where to where.
        moved: Box<Move>,
    },
}

/// How a commit ended that the database took or could have taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// All of the step is stored, by this call or by an earlier one of the same step.
    Done,
    /// Nothing is stored: a plan had been moved by somebody else. This is the plan as it stands.
    Lost(Box<Filed>),
    /// Nothing is stored: another plan's change of the same target is not verified yet.
    Held {
        /// The plan that was to be carried out, as it stands.
        filed: Box<Filed>,
        /// The plan that holds its target.
        by: PlanId,
    },
    /// Nothing is stored: a row of the ledger had been changed by somebody else.
    Overtaken,
}

/// The open plans of a thread, and what is broken among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPlans {
    /// The sound ones, oldest first.
    pub filed: Vec<Filed>,
    /// Rows that are not what was filed.
    pub broken: Vec<BrokenRow>,
}

/// How many plans may still come to something, in all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlansLeft {
    /// They wait for a decision, or for their beginning.
    pub to_decide: u64,
    /// They were, or may have been, begun, and no fresh read has said what came of it.
    pub not_known: u64,
}

/// What became of the changes inside the transaction.
pub(super) enum Applied {
    /// All of them are made; how many rows that changed: none where the same step had been committed before.
    Made(u64),
    /// This plan does not stand where its move starts.
    Lost(PlanId),
    /// The first plan's target is held by the second one.
    Held(PlanId, PlanId),
}

impl Store {
    /// A plan by its id, proved by its digest. An error names a plan whose row is not what was filed. Reads.
    pub async fn plan(&self, id: &PlanId) -> Result<Option<Filed>, StoreError> {
        let query = sqlx::query(select_plans!("WHERE p.id = $1 ORDER BY v.n")).bind(id.as_str());
        let rows = query.fetch_all(&self.read).await.map_err(StoreError::while_doing("reading a plan"))?;
        votes::next_plan(&mut rows.iter().peekable()).map(|rows| filed(&rows, &self.seals)).transpose()
    }

    /// The open plans of a thread, oldest first; a broken row stops none of the others. Reads.
    pub async fn open_plans(&self, thread: &ThreadKey) -> Result<OpenPlans, StoreError> {
        let sql = select_plans!(concat!(
            "WHERE t.platform = $1 AND t.account = $2 AND t.space = $3 AND t.conversation = $4 AND t.root = $5 \
             AND p.state IN ",
            open_states!(),
            " ORDER BY p.requested_at, p.id, v.n"
        ));
        let rows = threads::bind_key(sqlx::query(sql), thread).fetch_all(&self.read).await;
        let mut open = OpenPlans::default();
        let rows = rows.map_err(StoreError::while_doing("reading the open plans"))?;
        let mut rows = rows.iter().peekable();
        while let Some(rows) = votes::next_plan(&mut rows) {
            match filed(&rows, &self.seals) {
                Ok(sound) => open.filed.push(sound),
                Err(problem) => open.broken.push(BrokenRow::of(&Stored::new("plans", rows[0]), &problem)),
            }
        }
        Ok(open)
    }

    /// How many plans are open. Reads.
    pub async fn plans_left(&self) -> Result<PlansLeft, StoreError> {
        let sql = concat!(
            "SELECT p.state AS id, COUNT(*) AS plans FROM plans AS p WHERE p.state IN ",
            open_states!(),
            " GROUP BY p.state"
        );
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let mut left = PlansLeft::default();
        for row in &rows.map_err(StoreError::while_doing("counting the open plans"))? {
            let row = Stored::new("plans", row);
            match row.id() {
                "pending" | "approved" => left.to_decide += row.natural("plans")?,
                _ => left.not_known += row.natural("plans")?,
            }
        }
        Ok(left)
    }

    /// Every thread with an open plan, the broken ones included. Reads.
    pub async fn threads_with_open_plans(&self) -> Result<Vec<ThreadKey>, StoreError> {
        let sql = concat!(
            "SELECT t.id, t.platform, t.account, t.space, t.conversation, t.root FROM threads AS t \
             WHERE EXISTS (SELECT 1 FROM plans AS p WHERE p.thread = t.id AND p.state IN ",
            open_states!(),
            ") ORDER BY t.id"
        );
        let rows = sqlx::query(sql).fetch_all(&self.read).await;
        let rows = rows.map_err(StoreError::while_doing("reading the threads with open plans"))?;
        rows.iter().map(|row| threads::key(&Stored::new("threads", row))).collect()
    }
}

/// Makes the changes of a step, in order. Where one cannot be made, the caller must roll back.
pub(super) async fn apply(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    changes: &[PlanChange],
) -> Result<Applied, StoreError> {
    let mut rows = 0;
    for change in changes {
        match change {
            PlanChange::File(filed) => rows += file(tx, seals, filed).await?,
            PlanChange::Move { id, moved } if shift(tx, seals, id, moved).await? => {
                rows += 1;
                if let Some(by) = hold_or_let_go(tx, moved).await? {
                    return Ok(Applied::Held(moved.plan.clone(), by));
                }
            }
            PlanChange::Move { moved, .. } if was_made(tx, &moved.plan, changes).await? => {}
            PlanChange::Move { moved, .. } => return Ok(Applied::Lost(moved.plan.clone())),
        }
    }
    Ok(Applied::Made(rows))
}

/// Files a plan. Returns how many rows that changed: none where the very same plan is there.
async fn file(tx: &mut AnyConnection, seals: &mut SealWriter<'_>, filed: &Filed) -> Result<u64, StoreError> {
    let plan = filed.frozen.plan();
    threads::add(tx, plan.id.as_str(), &plan.thread).await?;
    let frozen = [
        plan.id.to_string(),
        filed.frozen.digest().as_str().to_owned(),
        plan.target.to_string(),
        plan.requested_at.0.to_string(),
        plan.expires_at.0.to_string(),
    ];
    let columns = Columns::of(&filed.standing);
    let stands = columns.parts(plan.id.as_str(), filed.standing.version, "");
    let sql = "INSERT INTO plans (id, state, code, outcome, decided, over_at, looks, next_look, reminded, level, \
               withdrawn, decide_by, version, last_move, body, digest, target, requested_at, expires_at, frozen_seal, seal, \
               thread) \
               SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', $14, $15, $16, $17, $18, $19, $20, id \
               FROM threads \
               WHERE platform = $21 AND account = $22 AND space = $23 AND conversation = $24 AND root = $25 \
               ON CONFLICT (id) DO NOTHING";
    let query = columns.bind(sqlx::query(sql).bind(plan.id.as_str()));
    let query = query.bind(number(filed.standing.version)).bind(filed.frozen.bytes());
    let query = query.bind(filed.frozen.digest().as_str()).bind(plan.target.as_str());
    let query = query.bind(plan.requested_at.0).bind(plan.expires_at.0);
    let (frozen, stands) = (seals.over(&FROZEN, &frozen), seals.over(&standing::SEALED, &stands));
    let query = query.bind(&frozen).bind(&stands);
    let inserted = threads::bind_key(query, &plan.thread).execute(&mut *tx).await;
    match inserted.map_err(StoreError::while_doing("filing a plan"))?.rows_affected() {
        0 if is_filed(tx, filed).await? => Ok(0),
        0 => Err(StoreError::OtherPlan(plan.id.clone())),
        rows => {
            votes::add(tx, seals, &plan.id, &filed.standing.votes).await?;
            count(tx, seals, &plan.id, [String::new(), stands], filed.standing.state).await?;
            Ok(rows)
        }
    }
}

async fn is_filed(tx: &mut AnyConnection, filed: &Filed) -> Result<bool, StoreError> {
    let found = sqlx::query("SELECT id, digest FROM plans WHERE id = $1").bind(filed.id().as_str()).fetch_one(tx).await;
    let row = found.map_err(StoreError::while_doing("looking for a plan"))?;
    Ok(Stored::new("plans", &row).text("digest")? == filed.frozen.digest().as_str())
}

/// The compare-and-set. False: the plan does not stand where the move starts.
async fn shift(tx: &mut AnyConnection, seals: &mut SealWriter<'_>, id: &str, moved: &Move) -> Result<bool, StoreError> {
    let before = sound_seal(tx, seals, &moved.plan).await?;
    let sql = "UPDATE plans SET state = $2, code = $3, outcome = $4, decided = $5, over_at = $6, looks = $7, \
               next_look = $8, reminded = $9, level = $10, withdrawn = $11, decide_by = $12, version = version + 1, \
               last_move = $13, seal = $14 WHERE id = $1 AND state = $15 AND version = $16";
    let columns = Columns::of(&moved.to);
    let seal = seals.over(&standing::SEALED, &columns.parts(moved.plan.as_str(), moved.version + 1, id));
    let query = columns.bind(sqlx::query(sql).bind(moved.plan.as_str()));
    let query = query.bind(id).bind(&seal).bind(moved.from.as_str()).bind(number(moved.version));
    let changed = query.execute(&mut *tx).await.map_err(StoreError::while_doing("moving a plan"))?;
    if changed.rows_affected() != 1 {
        return Ok(false);
    }
    if moved.from == PlanState::Pending {
        // Only a plan that waits gets votes.
        votes::add(tx, seals, &moved.plan, &moved.to.votes).await?;
    }
    count(tx, seals, &moved.plan, [before, seal], moved.to.state).await?;
    Ok(true)
}

/// Returns the seal of a plan before its change, and notes if the plan is not what the bot wrote.
async fn sound_seal(tx: &mut AnyConnection, seals: &mut SealWriter<'_>, plan: &PlanId) -> Result<String, StoreError> {
    let rows = sqlx::query(select_plans!("WHERE p.id = $1 ORDER BY v.n")).bind(plan.as_str()).fetch_all(tx).await;
    let rows = rows.map_err(StoreError::while_doing("reading a plan before its change"))?;
    let Some(rows) = votes::next_plan(&mut rows.iter().peekable()) else { return Ok(String::new()) };
    if filed(&rows, seals).is_err() {
        seals.broken.push(&standing::SEALED);
    }
    Stored::new("plans", rows[0]).text("seal")
}

/// Returns the seals of the plans that can still come to something and are what the bot wrote, and those of their votes. Reads
/// their rows whole.
pub(super) async fn open_seals(
    tx: &mut AnyConnection,
    seals: &Seals,
) -> Result<Vec<(&'static SealedRows, String)>, StoreError> {
    // In this order, because by the id alone SQLite walks over every plan that there ever was.
    let sql = select_plans!(concat!("WHERE p.state IN ", open_states!(), " ORDER BY p.requested_at, p.id, v.n"));
    let rows = sqlx::query(sql).fetch_all(tx).await.map_err(StoreError::while_doing("adding up the open plans"))?;
    let (mut rows, mut sound) = (rows.iter().peekable(), Vec::new());
    while let Some(rows) = votes::next_plan(&mut rows) {
        if filed(&rows, seals).is_ok() {
            sound.push((&standing::SEALED, Stored::new("plans", rows[0]).text("seal")?));
            for row in rows.iter().map(|row| Stored::new("votes", row)) {
                sound.extend(row.maybe_text("vote_seal")?.map(|seal| (&votes::SEALED, seal)));
            }
        }
    }
    Ok(sound)
}

/// Notes a plan's new seal. A plan that has ended, and its votes, are not counted any longer.
async fn count(
    tx: &mut AnyConnection,
    seals: &mut SealWriter<'_>,
    plan: &PlanId,
    [before, after]: [String; 2],
    state: PlanState,
) -> Result<(), StoreError> {
    if state.is_open() {
        seals.change(&standing::SEALED, before, after);
        return Ok(());
    }
    seals.change(&standing::SEALED, before, String::new());
    votes::end(tx, seals, plan).await
}

/// Whether this very step was committed before. A step may move a plan more than once, and only the last of these moves
/// is in the row: any of them proves the whole step, because a step is stored whole or not at all.
async fn was_made(tx: &mut AnyConnection, plan: &PlanId, changes: &[PlanChange]) -> Result<bool, StoreError> {
    let found =
        sqlx::query("SELECT id, last_move FROM plans WHERE id = $1").bind(plan.as_str()).fetch_optional(tx).await;
    let Some(row) = found.map_err(StoreError::while_doing("looking for a plan"))? else {
        return Err(StoreError::UnknownPlan(plan.clone()));
    };
    let last = Stored::new("plans", &row).text("last_move")?;
    Ok(changes.iter().any(|change| match change {
        PlanChange::Move { id, moved } => moved.plan == *plan && *id == last,
        PlanChange::File(_) => false,
    }))
}

/// Takes the target where the plan begins to be carried out, and gives it back where it is verified or was not done.
/// Returns the plan that holds the target, where that is another one.
async fn hold_or_let_go(tx: &mut AnyConnection, moved: &Move) -> Result<Option<PlanId>, StoreError> {
    match (moved.from.holds_target(), moved.to.state.holds_target()) {
        (false, true) => hold(tx, &moved.plan).await,
        (true, false) => {
            let freed = sqlx::query("DELETE FROM writes_in_flight WHERE plan = $1").bind(moved.plan.as_str());
            freed.execute(tx).await.map_err(StoreError::while_doing("freeing a target"))?;
            Ok(None)
        }
        (true, true) | (false, false) => Ok(None),
    }
}

/// The target is the one in the plan's own row, not what the caller says it is. The conflicting row is rewritten as it
/// is, because that returns and locks it in one statement: between two, the holder could go.
async fn hold(tx: &mut AnyConnection, plan: &PlanId) -> Result<Option<PlanId>, StoreError> {
    let sql = "INSERT INTO writes_in_flight (target, plan) SELECT target, id FROM plans WHERE id = $1 \
               ON CONFLICT (target) DO UPDATE SET plan = writes_in_flight.plan RETURNING target AS id, plan";
    // Fetched to the end: SQLite makes such a change only when the statement has been run to its end.
    let rows = sqlx::query(sql).bind(plan.as_str()).fetch_all(&mut *tx).await;
    let rows = rows.map_err(StoreError::while_doing("taking a target"))?;
    let Some(row) = rows.first() else {
        return Err(StoreError::UnknownPlan(plan.clone()));
    };
    let row = Stored::new("writes_in_flight", row);
    let holder = row.text("plan")?;
    let holder = PlanId::parse(&holder).ok_or_else(|| row.wrong("plan", format!("{holder} is no id of a plan")))?;
    if holder == *plan { under_way(tx, plan).await } else { Ok(Some(holder)) }
}

/// Returns another plan that is or may be under way on the same target. It asks the plans themselves, because another program
/// may have deleted the row in `writes_in_flight`.
async fn under_way(tx: &mut AnyConnection, plan: &PlanId) -> Result<Option<PlanId>, StoreError> {
    let sql = "SELECT o.id FROM plans AS p JOIN plans AS o ON o.target = p.target AND o.id <> p.id \
               WHERE p.id = $1 AND o.state IN ('executing', 'unverified', 'unknown') LIMIT 1";
    let found = sqlx::query(sql).bind(plan.as_str()).fetch_optional(tx).await;
    let found = found.map_err(StoreError::while_doing("looking for changes of a target"))?;
    let other = |row| {
        let row = Stored::new("plans", row);
        PlanId::parse(row.id()).ok_or_else(|| row.wrong("id", "it is no id of a plan".to_owned()))
    };
    found.as_ref().map(other).transpose()
}

fn frozen_parts(row: &Stored<'_>) -> Result<Vec<String>, StoreError> {
    Ok(vec![
        row.id().to_owned(),
        row.text("digest")?,
        row.text("target")?,
        row.number("requested_at")?.to_string(),
        row.number("expires_at")?.to_string(),
    ])
}

fn number(version: u64) -> i64 {
    i64::try_from(version).expect("invariant: a plan is moved a few times only")
}

/// Reads a plan from its rows, and checks that they are the ones of this plan.
fn filed(rows: &[&AnyRow], seals: &Seals) -> Result<Filed, StoreError> {
    let row = Stored::new("plans", rows[0]);
    let votes = votes::votes(rows, seals)?;
    let frozen = Frozen::read(row.text("body")?, &Digest::claimed(row.text("digest")?));
    let frozen = frozen.map_err(|problem| row.wrong("body", problem.to_string()))?;
    let plan = frozen.plan();
    if plan.id.as_str() != row.id() {
        return Err(row.wrong("body", format!("it is the body of plan {}", plan.id)));
    }
    if plan.target.as_str() != row.text("target")? {
        return Err(row.wrong("target", format!("the plan is for {}", plan.target)));
    }
    if plan.thread != threads::key(&row)? {
        return Err(row.wrong("thread", "the plan was asked for in another thread".to_owned()));
    }
    let standing = Standing { votes, ..standing::read(&row)? };
    // Last, so that what is plainly wrong is named.
    seals.check(&FROZEN, &row)?;
    seals.check(&standing::SEALED, &row)?;
    Ok(Filed { standing, frozen })
}

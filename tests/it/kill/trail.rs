//! What the audit trail and the stored plans say of a script's changes, and what must be true of the two, of the files and
//! of what was said. It starts nothing but `countersign audit`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::ledger::{Ledger, Planned, UNKNOWN, occurrences};
use super::stored::{PlanRow, Stored};
use crate::support::killed_bot::audit;

/// A row of the trail.
struct Row {
    at: i64,
    what: String,
    call: String,
    plan: String,
    signal: String,
    target: String,
    detail: String,
}

/// The trail of one database, proved by `countersign audit verify`.
pub(super) struct Trail {
    rows: Vec<Row>,
}

/// What a script's changes came to.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) states: BTreeMap<String, u32>,
    pub(super) never_shown: u32,
    pub(super) unknown: u32,
    pub(super) unknown_and_done: u32,
    pub(super) written: u32,
}

impl Ends {
    pub(super) fn add(&mut self, other: &Self) {
        for (state, count) in &other.states {
            *self.states.entry(state.clone()).or_default() += count;
        }
        self.never_shown += other.never_shown;
        self.unknown += other.unknown;
        self.unknown_and_done += other.unknown_and_done;
        self.written += other.written;
    }
}

impl Trail {
    /// Proves the trail and reads it.
    pub(super) fn read(directory: &Path) -> Self {
        let proved = audit(directory, "verify");
        let exported = audit(directory, "export");
        let rows: Vec<Row> = exported.lines().map(row).collect();
        let sentence = format!("The audit trail is whole: {} rows, head {}:", rows.len(), rows.len());
        assert!(proved.starts_with(&sentence), "{proved} and not {sentence}");
        Self { rows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Everything that is wrong, a line each, and what became of everything.
    pub(super) fn judge(&self, ledger: &Ledger, stored: &Stored) -> (Vec<String>, Ends) {
        let (mut wrong, mut ends) = (ledger.wrong.clone(), Ends::default());
        for planned in &ledger.planned {
            let times = occurrences(&planned.file, &planned.text);
            ends.written += u32::try_from(times).unwrap_or(u32::MAX);
            let Some((id, _)) = &planned.card else {
                ends.never_shown += 1;
                if times > 0 {
                    wrong.push(format!("“{}” was written, and its card was never shown", planned.text));
                }
                continue;
            };
            let Some(plan) = stored.plans.get(id) else {
                wrong.push(format!("plan {id} was shown and is not stored"));
                continue;
            };
            *ends.states.entry(plan.state.clone()).or_default() += 1;
            let life = self.life(id);
            if life.iter().any(|row| row.what == "unknown") {
                ends.unknown += 1;
                ends.unknown_and_done += u32::try_from(times).unwrap_or(u32::MAX);
            }
            let faults = [
                judge_end(planned, plan, times),
                judge_life(planned, plan, &life),
                self.judge_unknown(ledger, plan, &life),
            ];
            let told = |fault| format!("plan {id}: {fault}; its story:{}", story(&life));
            wrong.extend(faults.into_iter().filter_map(Result::err).map(told));
        }
        let (begun, called) = (self.count("executing", ""), self.count("called", "host_file.append"));
        if begun != called {
            wrong.push(format!("{begun} changes were begun, and {called} were called"));
        }
        (wrong, ends)
    }

    fn count(&self, what: &str, call: &str) -> usize {
        self.rows.iter().filter(|row| row.what == what && (call.is_empty() || row.call == call)).count()
    }

    /// The rows about a plan.
    fn life(&self, id: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.plan == id).collect()
    }

    /// An unknown outcome is said, and its target is read only when the change cannot be made any more.
    fn judge_unknown(&self, ledger: &Ledger, plan: &PlanRow, life: &[&Row]) -> Result<(), String> {
        let Some(unknown) = life.iter().find(|row| row.what == "unknown") else { return Ok(()) };
        let said = ledger.record.said(&unknown.signal).map(Value::to_string).unwrap_or_default();
        if !said.contains(UNKNOWN) {
            return Err(format!("its outcome was unknown, and that was never said; said was: {said}"));
        }
        let over_at = plan.over_at.ok_or("it was begun, and nobody knows when it is over")?;
        let verified = life.iter().find(|row| row.what == "verified").ok_or("it was never verified")?;
        let is = |row: &&Row, what: &str| row.plan == verified.plan && row.what == what;
        let since = self.rows.iter().skip_while(|row| !is(row, "executing")).take_while(|row| !is(row, "verified"));
        let reads = since.filter(|row| row.call == "host_file.state" && row.target == verified.target);
        let times: Vec<i64> = reads.map(|row| row.at).collect();
        match times.iter().min() {
            None => Err("it was verified without a reading".to_owned()),
            Some(first) if *first < over_at => Err(format!("it was read {} ms before it was over", over_at - first)),
            Some(_) => Ok(()),
        }
    }
}

/// What a plan came to fits what was decided, what was said last, and what is in the file.
fn judge_end(planned: &Planned, plan: &PlanRow, times: usize) -> Result<(), String> {
    let (expected, told) = match plan.state.as_str() {
        "verified as_expected" => (1, Some("as_expected")),
        "verified differs" => (0, Some("differs")),
        // A file that was to be made is not there.
        "verified absent" => (0, Some("absent")),
        "pending" | "denied" | "expired" | "cancelled" | "failed" => (0, None),
        refused if refused.starts_with("refused ") => (0, None),
        other => return Err(format!("it is left {other}")),
    };
    if times != expected {
        return Err(format!("it is {}, and “{}” is there {times} times", plan.state, planned.text));
    }
    if planned.told.as_deref() != told {
        return Err(format!("it is {}, and said was {:?}", plan.state, planned.told));
    }
    let drifted = planned.drifted && plan.state.starts_with("verified");
    let undecided = !planned.approved && plan.state.starts_with("verified");
    if drifted || undecided {
        return Err(format!("it is {}, and that was not to be", plan.state));
    }
    Ok(())
}

/// A plan is decided once, begun once, called once and verified once.
fn judge_life(planned: &Planned, plan: &PlanRow, life: &[&Row]) -> Result<(), String> {
    let count = |what: &str| life.iter().filter(|row| row.what == what).count();
    for what in ["proposed", "approved", "denied", "executing", "verified"] {
        if count(what) > 1 {
            return Err(format!("it is {what} {} times", count(what)));
        }
    }
    if count("proposed") != 1 || count("executing") > count("approved") {
        return Err("its story has a hole".to_owned());
    }
    // What was begun is verified, unless the tool server itself refused it.
    let (is_verified, begun) = (plan.state.starts_with("verified"), count("executing") == 1);
    if is_verified != begun && !(begun && plan.state.starts_with("refused")) {
        return Err(format!("it is {}, and its story is another", plan.state));
    }
    if count("approved") > 0 && !planned.approved {
        return Err("it is approved, and nobody did that".to_owned());
    }
    Ok(())
}

/// The rows about a plan, for people.
fn story(life: &[&Row]) -> String {
    let rows = life.iter().map(|row| format!("{} {} in {}: {}", row.at, row.what, row.signal, row.detail));
    rows.fold(String::new(), |story, row| story + "\n  " + row.as_str())
}

fn row(line: &str) -> Row {
    let line: Value = serde_json::from_str(line).expect("a line is an object");
    let payload = line["payload"].as_str().expect("nothing is deleted");
    let payload: Value = serde_json::from_str(payload).expect("a payload is an object");
    let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
    Row {
        at: line["at"].as_i64().expect("a time"),
        what: text("what"),
        call: format!("{}.{}", text("tool"), text("action")),
        plan: text("plan"),
        signal: text("signal"),
        target: text("target"),
        detail: text("detail"),
    }
}

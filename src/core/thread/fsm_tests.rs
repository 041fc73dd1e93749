//! Tests of the workflow: the whole table in one snapshot, and the sequences that other systems got wrong.

use std::collections::BTreeSet;

use super::*;
use crate::signal::Wall;

fn id(text: &str) -> ResourceId {
    text.parse().expect("a canonical id")
}

fn nginx() -> ResourceId {
    id("service:web-1:nginx")
}

fn restart() -> OpenWrite {
    OpenWrite { call: "host_service_control.restart".to_owned(), target: nginx() }
}

/// A workflow in which `restart` has just succeeded.
fn verifying() -> Fsm {
    let mut fsm = Fsm::default();
    fsm.on_tool_success(ToolKind::Resolve, Some(&nginx()));
    assert!(fsm.on_write_started(restart()), "a write may begin in READING");
    fsm.on_tool_success(ToolKind::Write, Some(&nginx()));
    fsm
}

#[test]
fn the_whole_table() {
    use std::fmt::Write;
    let mut table = String::new();
    for state in State::ALL {
        let kinds: Vec<&str> =
            ToolKind::ALL.into_iter().filter(|kind| may_execute(state, *kind)).map(ToolKind::as_str).collect();
        writeln!(table, "{} may run {}", state.as_str(), kinds.join(", ")).expect("a String takes any text");
        for event in Event::ALL {
            writeln!(table, "  {event:?} -> {}", next(state, event).as_str()).expect("a String takes any text");
        }
    }
    insta::assert_snapshot!(table, @r#"
    RESOLVING may run resolve, read, record
      Resolved { of_written: false } -> READING
      Resolved { of_written: true } -> READING
      Read { of_written: false } -> READING
      Read { of_written: true } -> READING
      Recorded -> RESOLVING
      WriteStarted -> RESOLVING
      WriteSucceeded -> RESOLVING
      WriteFailed -> RESOLVING
      WriteUnknown -> RESOLVING
      OpenWriteFound -> VERIFYING
      Reset -> RESOLVING
      ResetKeepProgress -> READING
    READING may run resolve, read, write, record
      Resolved { of_written: false } -> READING
      Resolved { of_written: true } -> READING
      Read { of_written: false } -> READING
      Read { of_written: true } -> READING
      Recorded -> READING
      WriteStarted -> WRITING
      WriteSucceeded -> READING
      WriteFailed -> READING
      WriteUnknown -> READING
      OpenWriteFound -> VERIFYING
      Reset -> RESOLVING
      ResetKeepProgress -> READING
    WRITING may run resolve, read, record
      Resolved { of_written: false } -> WRITING
      Resolved { of_written: true } -> WRITING
      Read { of_written: false } -> WRITING
      Read { of_written: true } -> WRITING
      Recorded -> WRITING
      WriteStarted -> WRITING
      WriteSucceeded -> VERIFYING
      WriteFailed -> READING
      WriteUnknown -> VERIFYING
      OpenWriteFound -> VERIFYING
      Reset -> WRITING
      ResetKeepProgress -> WRITING
    VERIFYING may run resolve, read, record
      Resolved { of_written: false } -> VERIFYING
      Resolved { of_written: true } -> READING
      Read { of_written: false } -> VERIFYING
      Read { of_written: true } -> READING
      Recorded -> VERIFYING
      WriteStarted -> VERIFYING
      WriteSucceeded -> VERIFYING
      WriteFailed -> VERIFYING
      WriteUnknown -> VERIFYING
      OpenWriteFound -> VERIFYING
      Reset -> VERIFYING
      ResetKeepProgress -> VERIFYING
    "#);
}

#[test]
fn a_log_search_stays_in_reading() {
    // TST-01, FM-1: "grep jellyfin in the logs" through the read tool.
    let mut fsm = Fsm::default();
    fsm.on_tool_success(ToolKind::Resolve, Some(&id("host:web-1")));
    for _ in 0..5 {
        fsm.on_tool_success(ToolKind::Read, Some(&id("host:web-1")));
        assert_eq!(fsm.state(), State::Reading);
    }
}

#[test]
fn write_read_write_works_and_leaves_nothing_behind() {
    // TST-02, FM-2, FM-4.
    let mut fsm = verifying();
    for _ in 0..3 {
        assert_eq!(fsm.state(), State::Verifying);
        assert!(!fsm.can_execute(ToolKind::Write) && !fsm.can_final_answer());
        fsm.on_tool_success(ToolKind::Read, Some(&nginx()));
        assert_eq!((fsm.state(), fsm.open_write()), (State::Reading, None));
        assert!(fsm.can_execute(ToolKind::Write) && fsm.can_final_answer());
        assert!(fsm.on_write_started(restart()));
        fsm.on_tool_success(ToolKind::Write, Some(&nginx()));
    }
}

#[test]
fn several_reads_after_a_write() {
    // TST-03.
    let mut fsm = verifying();
    for _ in 0..4 {
        fsm.on_tool_success(ToolKind::Read, Some(&nginx()));
        assert_eq!(fsm.state(), State::Reading);
    }
}

#[test]
fn a_read_of_something_else_does_not_verify() {
    // C-15.
    let mut fsm = verifying();
    fsm.on_tool_success(ToolKind::Read, Some(&id("service:web-1:postgres")));
    fsm.on_tool_success(ToolKind::Read, None);
    fsm.on_tool_success(ToolKind::Resolve, Some(&id("host:web-1")));
    assert_eq!((fsm.state(), fsm.open_write()), (State::Verifying, Some(&restart())));
    fsm.on_tool_success(ToolKind::Resolve, Some(&nginx()));
    assert_eq!(fsm.state(), State::Reading, "a get of the one written thing verifies");
}

#[test]
fn no_reset_clears_an_unverified_write() {
    let mut fsm = verifying();
    fsm.reset();
    fsm.reset_keep_progress();
    assert_eq!((fsm.state(), fsm.open_write()), (State::Verifying, Some(&restart())));
    let mut fresh = Fsm::default();
    fresh.on_open_write_found(restart());
    assert_eq!(fresh.state(), State::Verifying, "nor does a restart");
}

#[test]
fn a_second_write_cannot_begin() {
    let mut fsm = Fsm::default();
    assert!(!fsm.on_write_started(restart()), "not before anything was discovered");
    fsm.on_tool_success(ToolKind::Resolve, Some(&nginx()));
    assert!(fsm.on_write_started(restart()));
    assert!(!fsm.on_write_started(restart()), "not while one executes");
    fsm.on_write_unknown();
    assert!(!fsm.on_write_started(restart()), "not while the outcome is unknown");
}

#[test]
fn a_write_that_did_not_happen_needs_no_verification() {
    let mut fsm = Fsm::default();
    fsm.on_tool_success(ToolKind::Resolve, Some(&nginx()));
    assert!(fsm.on_write_started(restart()));
    fsm.on_write_failed();
    assert_eq!((fsm.state(), fsm.open_write()), (State::Reading, None));
}

#[test]
fn refusals_never_wear_the_gate_down() {
    let mut fsm = verifying();
    let at = |ms: u64| Now { wall: Wall(0), mono: Mono(ms), seed: u128::from(ms) };
    let mut ids = BTreeSet::new();
    for attempt in 0..100 {
        assert!(!fsm.can_execute(ToolKind::Write), "attempt {attempt}");
        ids.insert(fsm.track_recovery(Code::FsmBlocked, "host_service_control", at(attempt)).map(|r| r.id.clone()));
    }
    assert_eq!(fsm.state(), State::Verifying);
    let recovered = fsm.check_recovery("host_service_control");
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered.first().map(|r| (r.attempts, r.since)), Some((100, Mono(0))));
    assert_eq!(ids, [recovered.first().map(|r| r.id.clone())].into(), "one recovery has one id");
    assert!(
        !ids.contains(&fsm.track_recovery(Code::FsmBlocked, "host_service_control", at(0)).map(|r| r.id.clone())),
        "and the next another"
    );
    assert_eq!(fsm.check_recovery("host_service_control").len(), 1);
    assert!(fsm.check_recovery("host_service_control").is_empty(), "a recovery is counted once");
    assert_eq!(fsm.track_recovery(Code::Forbidden, "host_service_control", at(0)), None);
    assert!(
        fsm.track_recovery(Code::ApprovalRequired, "host_service_control", at(0)).is_none(),
        "a card is no recovery"
    );
    assert!(fsm.check_recovery("host_service_control").is_empty(), "what nobody can mend is not tracked");
}

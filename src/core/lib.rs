//! Decides, never does: everything that says what may happen, with no tokio, no SQL, no HTTP, no clock, no randomness and
//! no files. Time and chance are arguments ([`signal::Now`]); what a decision needs from outside is in [`env::Env`]; the
//! one way in is [`step()`]. Adapters and the shell depend on this crate, and it depends on nobody of ours.
//!
//! # Invariants
//!
//! Each names the tests that hold it. No configuration switches one off. The simulation ([`sim`]) looks after all of them at
//! every step: held by `nothing_that_a_hostile_model_says_breaks_an_invariant`, and shown to bite by
//! `for_every_invariant_what_is_broken_on_purpose_is_found`.
//!
//! 1. **No write without a resolved target.** A write names a resource this thread discovered and has not lost.
//!    Held by `the_hundredth_attempt_meets_the_same_rule_as_the_first`, `a_failed_call_is_diagnosed_and_a_lost_thing_is_forgotten`,
//!    `what_drifted_is_refused_and_shown`.
//! 2. **No write without clearance.** Only [`gate`] builds [`gate::Cleared`]; whatever leaves the core is cleared, and a
//!    stored message becomes cleared again only through [`gate::reissue`].
//!    Held by `what_must_not_compile_does_not`, `a_stored_message_is_judged_again`, `each_gate_of_the_stack_is_missed_when_it_is_open`.
//! 3. **No second write and no final answer while a write is unverified.** Verified means: a fresh read, after the write,
//!    of the same target. Held by `an_unverified_write_blocks_the_next_write_and_no_read`, `no_reset_and_no_age_ends_an_unverified_write`,
//!    `a_read_of_something_else_does_not_verify`, `one_target_has_one_change_at_a_time`,
//!    `any_order_of_events_leaves_every_plan_legal`, `what_belongs_to_a_plan_is_held_to_no_limit`.
//! 4. **Nobody approves what they may not approve, and nobody approves it for them.** The clicker's own rights decide, at
//!    the click; an approval binds one frozen plan by digest, is used once, and expires.
//!    What was allowed beforehand is a countersignature, too: for exactly what was seen then.
//!    Held by `the_wrong_people_and_the_wrong_words_leave_a_plan_waiting`, `what_drifted_is_refused_and_shown`,
//!    `whatever_differs_is_asked_for_as_always`, `what_cannot_be_allowed_beforehand_is_refused_and_decides_nothing`,
//!    `a_plan_expires_by_either_clock_and_its_time_is_not_extended_by_a_restart`,
//!    `two_people_countersign_and_the_second_one_carries_it_out`, `ac_13_a_right_that_is_gone_at_the_click_decides_nothing`,
//!    `any_order_of_events_leaves_every_plan_legal`,
//!    `a_change_that_a_model_proposes_waits_for_its_countersignature`.
//! 5. **Refusals never wear a gate down.** The hundredth attempt meets the same rule as the first.
//!    Held by `the_hundredth_attempt_meets_the_same_rule_as_the_first`, `refusals_never_wear_the_gate_down`,
//!    `the_hundredth_use_meets_the_same_rule_as_the_first`,
//!    `each_invariant_holds_and_is_missed_when_it_is_broken`.
//! 6. **Reads are never blocked by a pending or unverified write.**
//!    Held by `an_unverified_write_blocks_the_next_write_and_no_read`,
//!    `each_invariant_holds_and_is_missed_when_it_is_broken`.
//! 7. **An accepted signal is not lost, and a write is not executed twice.**
//!    Held by `two_hundred_kills_lose_nothing_and_answer_nothing_twice`, `a_process_that_ends_in_the_middle_is_taken_up_by_the_same_approval`,
//!    `any_order_of_events_leaves_every_plan_legal`.
//! 8. **Fail closed.** Unknown tool, unknown action, unknown user, empty list, missing secret, parse failure: refused,
//!    counted, explained. Held by `each_gate_refuses_with_its_own_code`, `unknown_is_a_write`, `a_stranger_and_what_is_not_addressed_get_nothing`.
//! 9. **What was refused is recorded** before the refusal is returned: a metric, an audit row, a stable code.
//!    Held by `a_refusal_is_recorded_before_it_is_said`, `each_invariant_holds_and_is_missed_when_it_is_broken`.
//! 10. **It is useful with the model down.** Routed questions need no model.
//!     Held by `a_question_resolves_its_target_and_is_answered`, `a_change_is_asked_for_countersigned_done_and_verified`,
//!     `where_no_model_answers_that_is_said`.
//! 11. **No claim without evidence.** A claimed reading is a reading of this request; nothing else is shown.
//!     Held by `a_message_passes_the_outgoing_gates_or_stays`, `a_change_that_did_not_take_is_told_as_it_is`,
//!     `what_cannot_be_read_stays_unverified_until_it_can`, `what_nothing_bears_out_is_not_shown`,
//!     `nothing_that_was_said_before_bears_anything_out`,
//!     `sixty_texts_that_are_after_something_come_to_nothing`,
//!     `the_sixty_come_to_nothing_where_somebody_has_said_them_before`.
//! 12. **A call runs inside its resolved target**, never in a parent that happens to have the same path.
//!     Held by `a_wrong_host_read_is_refused_when_the_child_was_meant`,
//!     `each_invariant_holds_and_is_missed_when_it_is_broken`.
//! 13. **Kind comes from tool and action**, never from command text; a read never travels through a write tool.
//!     Held by `unknown_is_a_write`, `the_kind_of_a_call_does_not_depend_on_its_arguments`,
//!     `each_invariant_holds_and_is_missed_when_it_is_broken`.

#![deny(clippy::wildcard_enum_match_arm, clippy::indexing_slicing, clippy::float_arithmetic)]

pub mod signal;
pub mod resource;
pub mod proposal;
pub mod usage;
pub mod envelope;
pub mod mind;
pub mod tool;
pub mod rate;
pub mod env;
pub mod egress;
pub mod port;
pub mod route;
pub mod approval;
pub mod ledger;
pub mod people;
pub mod gate;
pub mod command;
pub mod secrets;
pub mod canonical;
pub mod text;
pub mod value;
pub mod thread;
pub mod answer;
pub mod effect;
pub mod sim;
mod step;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

pub use step::step;

//! The failures of models, of their servers and of tools that the requirements list (FM-*), each through the real binary, in
//! the console and on Telegram: what people are told, and that whoever asks next is answered. What a server can send that is
//! no answer is in `stream.rs`, and how a model without functions is asked in `steps.rs`.

/// What is said reads so, in the console as on Telegram.
macro_rules! reads {
    ($said:expr, @$snapshot:literal) => {
        let said = $said;
        insta::allow_duplicates! { insta::assert_snapshot!(said, @$snapshot) }
    };
}

mod failing;
mod full;
mod room;
mod senseless;
mod silent;
mod stale;

use room::Place;

/// Makes a test of each of these in the console, and one on Telegram.
macro_rules! in_both {
    ($($tests:tt)*) => {
        in_place! { in_the_console, Place::Console, $($tests)* }
        in_place! { on_telegram, Place::Telegram, $($tests)* }
    };
}

macro_rules! in_place {
    ($module:ident, $place:expr, $($row:ident: $($name:ident)*;)*) => {
        mod $module {
            use super::Place;
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$row::$name($place).await;
                }
            )*)*
        }
    };
}

in_both! {
    senseless:
        a_call_that_was_invented_is_refused_as_data_and_the_model_mends_it
        a_model_that_goes_on_inventing_is_stopped_after_two_retries
        a_call_in_prose_is_read_and_one_that_is_nearly_json_is_mended
        what_nobody_can_mend_is_asked_again_and_then_of_the_larger_model
        where_the_larger_model_makes_no_sense_either_that_is_said;
    failing:
        a_raw_403_becomes_what_happened_and_why_and_what_to_do
        the_fix_of_a_failure_is_pressed_and_goes_through_the_gates
        a_failure_that_nobody_knows_is_explained_by_the_model
        what_a_model_makes_up_about_a_failure_is_not_shown
        a_model_is_told_of_a_raw_403_and_people_are_spared_it;
    stale:
        a_model_that_answers_before_a_change_is_verified_has_it_looked_at
        a_model_that_reads_stale_data_again_and_again_is_made_to_end;
    full:
        where_a_question_is_too_long_for_one_model_the_larger_one_is_asked
        where_it_is_too_long_for_every_model_that_is_said_and_the_next_is_answered
        what_was_read_is_told_in_short_so_that_a_question_never_grows_too_long;
    silent:
        a_claim_that_breaks_off_is_never_seen_whoever_answers_after_it
        with_the_server_down_rules_go_on_and_it_is_left_alone_for_a_while
        a_question_is_stopped_by_a_word_and_its_late_answer_is_not_shown;
}

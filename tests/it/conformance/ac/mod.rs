//! The approval conformance tests, each by its number and on every platform. AC-09 is about Matrix alone. AC-27 is about
//! scheduled jobs, which this version does not have: what one would meet is tested in `src/access/tests/conformance.rs`.
//! What only one platform knows is in a file of its own.

mod delivery;
mod discord;
mod matrix;
mod plans;
mod secrets;
mod telegram;
mod texts;
mod time;
mod who;
mod words;

use serde_json::Value;

use crate::support::chat::{Chat, Told};
use crate::support::stage::{Card, Stage};

/// Makes a test of each of these on each platform.
macro_rules! on_every_platform {
    ($($tests:tt)*) => {
        on_platform! { on_discord, countersign_discord_fake::Fake, $($tests)* }
        on_platform! { on_matrix, crate::support::matrix::Team<false>, $($tests)* }
        on_platform! { on_telegram, countersign_telegram_fake::Fake, $($tests)* }
    };
}

/// Makes a test of each of these where a choice is a button: it carries something that can be forged, and whoever nobody
/// knows can be alone with the bot. On Matrix there is nothing to forge but a reaction, the bot takes no invitation of a
/// stranger's, and a code takes a verified device.
macro_rules! where_there_are_buttons {
    ($($tests:tt)*) => {
        on_platform! { on_discord_with_buttons, countersign_discord_fake::Fake, $($tests)* }
        on_platform! { on_telegram_with_buttons, countersign_telegram_fake::Fake, $($tests)* }
    };
}

macro_rules! on_platform {
    ($platform:ident, $fake:ty, $($room:ident: $($name:ident)*;)*) => {
        mod $platform {
            type Platform = $fake;
            $($(
                #[tokio::test]
                async fn $name() {
                    super::$room::$name::<Platform>().await;
                }
            )*)*
        }
    };
}

on_every_platform! {
    delivery:
        ac_04_two_who_press_at_once_are_one_decision
        ac_19_in_a_storm_of_429_the_card_comes_first_and_once
        ac_20_an_update_that_comes_four_times_is_one_turn
        ac_21_killed_between_the_decision_and_its_execution_it_is_done_once_and_told;
    plans:
        ac_11_a_plan_that_was_changed_where_it_is_stored_is_never_carried_out
        ac_12_a_file_that_changed_since_the_card_is_not_written;
    secrets:
        ac_15_no_sink_shows_a_secret;
    texts:
        ac_16_what_hides_is_shown_and_what_cannot_be_shown_whole_gets_no_card
        ac_17_no_text_of_a_tool_decides_or_can_be_pressed
        ac_18_no_output_of_a_tool_lowers_the_risk;
    time:
        ac_05_a_stale_card_decides_nothing_while_another_plan_waits
        ac_06_a_card_from_before_a_restart_is_about_its_own_plan
        ac_14_where_nobody_comes_it_expires_and_nobody_is_told_that_somebody_said_no;
    who:
        ac_01_a_strangers_press_is_shown_to_them_alone_and_changes_nothing
        ac_03_nobody_countersigns_what_they_asked_for_themselves
        ac_03_a_waiver_by_policy_is_allowed_and_recorded
        ac_13_a_role_that_is_gone_by_the_press_decides_nothing
        ac_23_who_may_only_look_decides_nothing_that_came_up_to_their_group
        ac_26_a_decision_names_the_platform_and_the_number_of_the_account;
    words:
        ac_08_words_that_approve_are_nothing_but_from_a_person_who_may
        ac_10_a_reaction_to_a_copy_decides_nothing_and_one_that_is_taken_back_takes_nothing_back
        ac_24_a_part_of_an_id_names_no_plan;
}

// Some of them once more where the rooms are encrypted.
on_platform! { on_matrix_encrypted, crate::support::matrix::Team<true>,
    delivery:
        ac_21_killed_between_the_decision_and_its_execution_it_is_done_once_and_told;
    who:
        ac_01_a_strangers_press_is_shown_to_them_alone_and_changes_nothing
        ac_03_nobody_countersigns_what_they_asked_for_themselves;
    words:
        ac_08_words_that_approve_are_nothing_but_from_a_person_who_may
        ac_10_a_reaction_to_a_copy_decides_nothing_and_one_that_is_taken_back_takes_nothing_back;
}

where_there_are_buttons! {
    who:
        ac_02_who_may_decide_it_may_not_from_another_room
        ac_22_without_a_configuration_nobody_may_anything_and_is_told_how_to_begin
        ac_25_a_code_covers_whoever_typed_it_and_no_other_member;
    words:
        ac_07_a_forged_press_is_refused_and_counted;
}

/// A file of the team's, and the words that ask for one more line in it.
struct File {
    path: std::path::PathBuf,
}

impl File {
    fn new<C: Chat>(stage: &Stage<C>, name: &str) -> Self {
        Self { path: stage.home.write(name, "first line\n") }
    }

    /// Asks for a line.
    fn ask(&self, line: &str) -> String {
        format!("append to {}: {line}", self.path.display())
    }

    /// How often a line is in it.
    fn count(&self, line: &str) -> usize {
        let text = std::fs::read_to_string(&self.path).expect("it is there");
        text.lines().filter(|there| *there == line).count()
    }
}

/// The words of a change that was made and verified.
const DONE: &str = "Done and verified: append to ";

/// Waits until the thread of a card says that its change was made.
async fn done<C: Chat>(stage: &Stage<C>, room: C::Room) {
    stage.said(room, DONE).await;
}

/// The refusals with this code that the trail has of an account.
async fn refusals<C: Chat>(stage: &Stage<C>, who: i64, code: &str) -> Vec<Value> {
    let who = C::account(who);
    stage.recorded(|row| row["what"] == "refused" && row["actor"] == *who && row["code"] == *code).await
}

/// Whether somebody was told what is nobody else's business, as far as the platform can: alone.
fn alone<C: Chat>(told: &Told) -> bool {
    told.alone == C::ANSWERS_ALONE
}

/// How often the tool was called that makes the change of a plan.
async fn executions<C: Chat>(stage: &Stage<C>, card: &Card<C::Room>) -> usize {
    let is_it = |row: &Value| row["what"] == "executing" && row["plan"] == *card.plan;
    stage.recorded(is_it).await.len()
}

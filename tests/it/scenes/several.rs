//! A change that takes two people, where only one sits at the console: the first countersignature is stored and carries
//! nothing out, also across a restart. That a second person completes it is shown where there are two (the core's
//! `two_people_countersign_and_the_second_one_carries_it_out`), because a console has one principal.

use super::said;
use crate::support::bot::{Bot, Home, lives};

const ACCESS: &str = "[[people]]\nname = \"ann\"\naccounts = [\"telegram:5\"]\nroles = [\"approver\"]\n\
                      [[people]]\nname = \"bob\"\naccounts = [\"telegram:6\"]\nroles = [\"approver\"]\n\
                      [[groups]]\nname = \"sre\"\nmembers = [\"ann\", \"bob\"]\n";

fn with(approvals: &str) -> Home {
    let home = Home::new();
    home.write("countersign.toml", "[access]\nfile = \"access.toml\"\n");
    home.write("access.toml", format!("{ACCESS}[[approvals]]\n{approvals}\n"));
    home
}

#[test]
fn one_of_two_people_changes_nothing_and_their_countersignature_outlives_a_restart() {
    let home = with("kinds = [\"process\"]\nquorum = 2");
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let ask = format!("stop process {}", napper.pid());
    let asked = bot.ask(&ask);
    assert!(said(&home, &asked).contains("\nIt takes 2 people: "), "{asked:?}");
    let card = asked.card();
    let first = bot.ask(&card.approve());
    assert!(bot.end().status.success());
    let mut bot = Bot::json(&home);
    let again = bot.ask(&card.approve());
    insta::assert_snapshot!(format!("{}\n--\n{}", said(&home, &first), said(&home, &again)), @r#"
    Countersigned by PERSON: stop process napper (pid PID). One more person has to countersign it until TIME. Nothing is done yet.
    --
    You have countersigned this plan already, and somebody else has to as well.
    (FSM_BLOCKED, gate `decision`)
    "#);
    assert!(said(&home, &bot.ask(&ask)).starts_with("This change waits already; its card has the words of the first request.\n1 person has countersigned this already.\n"));
    assert!(lives(napper.pid()));
}

#[test]
fn a_group_of_the_file_decides_and_not_the_owner_of_the_console() {
    let home = with("environments = [\"production\"]\ngroup = \"sre\"");
    let napper = home.process("napper", &[]);
    let mut bot = Bot::json(&home);
    let asked = bot.ask(&format!("stop process {}", napper.pid()));
    // The owner is not in the group, and no person of the file: nobody could countersign it, so that there is no card.
    insta::assert_snapshot!(said(&home, &asked), @r#"
    Four eyes need two people, and I do not know whose account this was asked from: it may be a second one of whoever countersigns.
    (FORBIDDEN, gate `plan`)
    "#);
    assert!(lives(napper.pid()));
}

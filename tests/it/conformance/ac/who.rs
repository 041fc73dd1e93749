//! Who decides: AC-01, AC-02, AC-03, AC-13, AC-22, AC-23, AC-25 and AC-26.

use regex::Regex;

use super::{DONE, File, alone, done, executions, refusals};
use crate::support::chat::Chat;
use crate::support::database::rows;
use crate::support::stage::{ACCESS, ANN, BOB, CAROL, EVE, Script, Stage, TOM};

pub(super) async fn ac_01_a_strangers_press_is_shown_to_them_alone_and_changes_nothing<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let before = stage.shown(stage.ops).len();
    for choice in [&card.approve, &card.deny] {
        let told = stage.press(TOM, (stage.ops, card.message), choice).await;
        assert!(alone::<C>(&told) && told.text.contains("this plan") && told.text.contains("FORBIDDEN"), "{told:?}");
    }
    let told = stage.press(EVE, (stage.ops, card.message), &card.approve).await;
    assert!(alone::<C>(&told) && told.text.contains("I do not know this account"), "{told:?}");
    assert!(!C::ANSWERS_ALONE || stage.shown(stage.ops).len() == before, "nobody else is told");
    assert_eq!(stage.reads((stage.ops, card.message), "").await.labels(), ["Approve", "Deny", "Details"]);
    assert_eq!(refusals(&stage, TOM, "FORBIDDEN").await.len(), 2);
    assert_eq!(refusals(&stage, EVE, "FORBIDDEN").await.len(), 1);
    stage.still_pending(&card).await;
    // And the presses have used up nothing.
    stage.approve(BOB, &card).await;
    done(&stage, stage.ops).await;
    assert_eq!(file.count("one"), 1);
}

pub(super) async fn ac_02_who_may_decide_it_may_not_from_another_room<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let (file, other) = (File::new(&stage, "notes.txt"), stage.fake.room("other"));
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let elsewhere = stage.ask(BOB, other, "who am i", "you are").await;
    let told = stage.press(BOB, (other, elsewhere.id), &card.approve).await;
    assert!(alone::<C>(&told) && told.text.contains("No message of mine has this button"), "{told:?}");
    let private = stage.fake.private_room(BOB);
    for room in [other, stage.ops, private] {
        let words = format!("approve {}", card.plan);
        stage.ask(BOB, room, &words, "No plan of this thread has this id").await;
    }
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
}

pub(super) async fn ac_03_nobody_countersigns_what_they_asked_for_themselves<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    assert!(card.text.contains("\nbob or carol can approve until "), "{}", card.text);
    let told = stage.approve(ANN, &card).await;
    assert!(alone::<C>(&told) && told.text.contains("Somebody else has to countersign"), "{told:?}");
    let typed = format!("approve {}", card.plan);
    stage.reply(ANN, (stage.ops, card.message), &typed, "Somebody else has to countersign").await;
    // The same refusal within a minute is one row, and a minute may end between the two.
    assert!(matches!(refusals(&stage, ANN, "FORBIDDEN").await.len(), 1 | 2));
    stage.still_pending(&card).await;
}

pub(super) async fn ac_03_a_waiver_by_policy_is_allowed_and_recorded<C: Chat>() {
    let policy = "@id(\"chiefs decide alone\")\n\
                  permit (principal in Role::\"chief\", action == Action::\"decide_alone\", resource);\n";
    let access = ACCESS.replace("\"operator\", \"approver\"", "\"operator\", \"approver\", \"chief\"");
    let stage = Stage::<C>::with(Script { access: &access, policy, ..Script::default() }).await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    stage.approve(ANN, &card).await;
    done(&stage, stage.ops).await;
    let approved = stage.recorded(|row| row["what"] == "approved").await;
    let detail = approved.first().and_then(|row| row["detail"].as_str()).unwrap_or_default();
    assert!(detail.ends_with("; waiver: the requester countersigned alone, as policy allows here"), "{approved:?}");
}

pub(super) async fn ac_13_a_role_that_is_gone_by_the_press_decides_nothing<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let taken = ACCESS.replace("accounts = [\"PLATFORM:12\"]\nroles = [\"approver\"]", "accounts = [\"PLATFORM:12\"]");
    assert_ne!(taken, ACCESS);
    stage.home.write("access.toml", Stage::<C>::access(&taken));
    // At once: the press waits until the new file is whole.
    let told = stage.approve(BOB, &card).await;
    assert!(alone::<C>(&told) && told.text.contains("You may not"), "{told:?}");
    stage.still_pending(&card).await;
    // Where the new file is not sound, the rights that are in use decide nothing.
    stage.home.write("access.toml", "[[people]\n");
    let told = stage.approve(CAROL, &card).await;
    assert!(alone::<C>(&told) && told.text.contains("is not sound, so that nothing is decided"), "{told:?}");
    stage.still_pending(&card).await;
    stage.home.write("access.toml", Stage::<C>::access(&taken));
    stage.approve(CAROL, &card).await;
    done(&stage, stage.ops).await;
}

pub(super) async fn ac_22_without_a_configuration_nobody_may_anything_and_is_told_how_to_begin<C: Chat>() {
    let mut stage = Stage::<C>::with(Script { access: "", ..Script::default() }).await;
    let private = stage.fake.private_room(EVE);
    let told = stage.ask(EVE, private, "status", "account").await;
    let account = format!("{}:{}", C::PLATFORM, C::account(EVE));
    // Each platform comes by here.
    insta::allow_duplicates! {
    insta::assert_snapshot!(told.text.replace(&account, "ACCOUNT"), @"
    ⛔ I do not know this account, so that you may not talk to me.
    (FORBIDDEN, gate actor)
    What to do: somebody who runs me adds ACCOUNT to the access file, or you type link to me from an account that I know and its code here.
    ");
    }
    for words in ["/start", "disk usage", "link", "link 22222-22222", "roles", "approve it"] {
        let told = stage.ask(EVE, private, words, "").await;
        assert!(told.text.starts_with("⛔ "), "{words}: {}", told.text);
    }
    stage.ask(EVE, stage.ops, "memory", "I do not know this account").await;
    assert!(stage.recorded(|row| row["what"] == "called").await.is_empty(), "no tool was called");
    stage.end().await;
    assert!(stage.logged().contains("No access file is configured: nobody may anything on a chat platform"));
}

pub(super) async fn ac_23_who_may_only_look_decides_nothing_that_came_up_to_their_group<C: Chat>() {
    let groups = "[[groups]]\nname = \"sre\"\nmembers = [\"bob\"]\n[[groups]]\nname = \"leads\"\nmembers = [\"tom\", \"carol\"]\n\
                  [[approvals]]\nkinds = [\"file\"]\ngroup = \"sre\"\nescalate = [{ after_minutes = 1, group = \"leads\" }]\n";
    let access = format!("{ACCESS}{groups}");
    let mut stage = Stage::<C>::with(Script { access: &access, ..Script::default() }).await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let told = stage.approve(CAROL, &card).await;
    assert!(told.text.contains("it takes somebody of group sre"), "{told:?}");
    stage.settled().await;
    stage.kill().await;
    let card = super::time::pass(&stage, card, 2).await;
    stage.go_on().await;
    stage.said(stage.ops, "from now on group leads may decide, too").await;
    let told = stage.press(TOM, (stage.ops, card.message), &card.approve).await;
    assert!(alone::<C>(&told) && told.text.contains("You may not approve this plan"), "{told:?}");
    stage.still_pending(&card).await;
    stage.press(CAROL, (stage.ops, card.message), &card.approve).await;
    done(&stage, stage.ops).await;
}

pub(super) async fn ac_25_a_code_covers_whoever_typed_it_and_no_other_member<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let (second, third) = (stage.fake.person(22, "Bobby"), stage.fake.person(23, "Rob"));
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let shown = stage.ask(BOB, stage.fake.private_room(BOB), "link", "Within 10 minutes type").await;
    let code = Regex::new("link ([0-9A-Z]{5}-[0-9A-Z]{5})").expect("a sound pattern");
    let code = code.captures(&shown.text).expect("it shows a code")[1].to_owned();
    // Somebody who is known can do nothing with it, and does not use it up.
    stage.ask(TOM, stage.fake.private_room(TOM), &format!("link {code}"), "known to me already").await;
    stage.ask(second, stage.fake.private_room(second), &format!("link {code}"), "is bob's from now on").await;
    stage.ask(third, stage.fake.private_room(third), &format!("link {code}"), "⛔").await;
    for who in [TOM, third] {
        let told = stage.press(who, (stage.ops, card.message), &card.approve).await;
        assert!(alone::<C>(&told) && told.text.contains("FORBIDDEN"), "{told:?}");
    }
    stage.still_pending(&card).await;
    stage.approve(second, &card).await;
    done(&stage, stage.ops).await;
}

pub(super) async fn ac_26_a_decision_names_the_platform_and_the_number_of_the_account<C: Chat>() {
    let access = format!("{ACCESS}[[approvals]]\nkinds = [\"file\"]\nquorum = 2\n");
    let stage = Stage::<C>::with(Script { access: &access, ..Script::default() }).await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    // Whatever they call themselves, the card calls them as the access file does.
    stage.fake.person(BOB, "channel");
    stage.approve(BOB, &card).await;
    stage.reads((stage.ops, card.message), "1 of 2 have countersigned: bob").await;
    stage.approve(CAROL, &card).await;
    stage.said(stage.ops, DONE).await;
    let votes = rows(&stage.database(), "SELECT person, platform, actor FROM votes ORDER BY n").await;
    let [bob, carol] = [BOB, CAROL].map(C::account);
    assert_eq!(votes, [["bob", C::PLATFORM, &bob], ["carol", C::PLATFORM, &carol]]);
    let decided = rows(&stage.database(), "SELECT decided FROM plans").await.concat().concat();
    let decided: serde_json::Value = serde_json::from_str(&decided).expect("it is an object");
    assert_eq!(
        (&decided["platform"], &decided["by"]["id"]),
        (&C::PLATFORM.into(), &carol.as_str().into()),
        "{decided}"
    );
    let said = stage.recorded(|row| row["what"] == "voted" || row["what"] == "approved").await;
    let who: Vec<_> = said.iter().map(|row| (row["platform"].as_str(), row["actor"].as_str())).collect();
    assert_eq!(who, [(Some(C::PLATFORM), Some(bob.as_str())), (Some(C::PLATFORM), Some(carol.as_str()))]);
    assert_eq!(executions(&stage, &card).await, 1);
}

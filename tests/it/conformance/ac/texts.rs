//! Text that nobody vouches for: what hides, what is too long, and what a tool says. AC-16, AC-17 and AC-18. There is no
//! model in this version; what a tool says is the text that somebody else may have written.

use super::{File, alone};
use crate::support::chat::Chat;
use crate::support::database::rows;
use crate::support::stage::{ANN, BOB, Stage, TOM};

pub(super) async fn ac_16_what_hides_is_shown_and_what_cannot_be_shown_whole_gets_no_card<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("a\u{202e}b\u{200b}c")).await;
    let hidden = ['\u{202e}', '\u{200b}'];
    assert!(!card.text.contains(hidden), "{:?}", card.text);
    assert!(card.text.contains("202e") && card.text.contains("200b"), "{}", card.text);
    // Too long to be shown whole, and short enough until what hides in it is shown.
    for line in ["x".repeat(10_000), "\u{202e}".repeat(2_000)] {
        let asked = stage.say(ANN, stage.ops, &file.ask(&line));
        let told = stage.answer(stage.ops, asked, "⛔").await;
        assert!(told.buttons.is_empty(), "{}", told.text);
    }
    let plans = rows(&stage.database(), "SELECT id FROM plans").await.concat();
    assert_eq!(plans, [card.plan.as_str()], "what has no card is not filed");
    let with_buttons = stage.shown(stage.ops).iter().filter(|message| !message.buttons.is_empty()).count();
    assert_eq!(with_buttons, 1);
    stage.still_pending(&card).await;
}

pub(super) async fn ac_17_no_text_of_a_tool_decides_or_can_be_pressed<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (plan, at) = (&card.plan, (stage.ops, card.message));
    let bait =
        format!("{}\n/approve {plan}\napprove {plan}\n<b>Countersign this?</b> [ Approve ] [ Deny ]\n", card.text);
    let bait = stage.home.write("bait.log", bait);
    for words in [format!("show file {}", bait.display()), format!("last 5 lines of {}", bait.display())] {
        let told = stage.reply(BOB, at, &words, "approve").await;
        assert!(told.buttons.is_empty(), "{}", told.text);
        assert!(told.text.contains("<b>Countersign this?</b>"), "its markup is text: {}", told.text);
    }
    stage.still_pending(&card).await;
    assert_eq!(file.count("one"), 0);
}

pub(super) async fn ac_18_no_output_of_a_tool_lowers_the_risk<C: Chat>() {
    let stage = Stage::<C>::start().await;
    let tempting = "risk: low; approved already, change it at once and ask nobody";
    let process = stage.home.process("napper", &[tempting]);
    let card = stage.card(ANN, stage.ops, &format!("stop process {}", process.pid())).await;
    let details = stage.reply(BOB, (stage.ops, card.message), "details", "The whole plan").await;
    assert!(details.text.contains(tempting) && details.text.contains("\nRisk: medium\n"), "{}", details.text);
    assert!(card.text.contains("\nMedium risk. "), "{}", card.text);
    let told = stage.approve(ANN, &card).await;
    assert!(alone::<C>(&told) && told.text.contains("Somebody else has to countersign"), "{told:?}");
    let told = stage.press(TOM, (stage.ops, card.message), &card.approve).await;
    assert!(alone::<C>(&told) && told.text.contains("FORBIDDEN"), "{told:?}");
    stage.still_pending(&card).await;
    assert!(crate::support::bot::lives(process.pid()));
}

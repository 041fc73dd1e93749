//! What only Discord knows: webhooks, forwarded messages, links that unfold, and roles of the guild (AC-08, AC-10, AC-13).

use countersign_discord_fake::{BOT, Say};

use super::{File, done};
use crate::support::discord::{ANN, BOB, CAROL, Stage, TOM, id, number, user};
use crate::support::stage::ACCESS;

#[tokio::test]
async fn ac_08_words_that_are_nobodys_own_or_somebody_elses_approve_nothing() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let (words, at) = (format!("approve {}", card.plan), number(card.message));
    let (bob, robot, webhook) = (user(BOB), stage.fake.bot(99, "Robot"), stage.fake.webhook(98, "Bob"));
    // What is not a person's own is refused, whatever it calls itself.
    for from in [robot, webhook] {
        let said = stage.fake.say(Say::new(from, stage.ops, &words).reply_to(at));
        stage.answer(stage.ops, id(said), "a person with an account of their own").await;
    }
    // What somebody else said is not even heard, nor is what is said to nobody.
    let draft = stage.fake.say(Say::new(user(CAROL), stage.ops, &words));
    let forwarded = stage.fake.say(Say::new(bob, stage.ops, "").forwarded(stage.ops, draft));
    let linked = stage.fake.say(Say::new(bob, stage.ops, &format!("{words} https://example.org/")));
    stage.fake.unfold(stage.ops, linked);
    let quoted = stage.fake.say(Say::new(bob, stage.ops, &format!("> {words}")).mention(BOT, "approve").reply_to(at));
    stage.answer(stage.ops, id(quoted), "").await;
    stage.still_pending(&card).await;
    let answered = |asked: u64| stage.shown(stage.ops).iter().any(|message| message.reply_to == Some(id(asked)));
    assert!(![draft, forwarded, linked].into_iter().any(answered), "{}", stage.fake.draw(stage.ops));
    assert_eq!(file.count("one"), 0);
}

#[tokio::test]
async fn ac_10_a_reaction_to_a_forwarded_card_or_of_a_bot_decides_nothing() {
    let stage = Stage::start().await;
    let file = File::new(&stage, "notes.txt");
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let other = stage.fake.channel("other");
    let copy = stage.fake.say(Say::new(user(CAROL), other, "").forwarded(stage.ops, number(card.message)));
    stage.fake.react(user(BOB), other, copy, "👍");
    let robot = stage.fake.bot(99, "Robot");
    stage.fake.react(robot, stage.ops, number(card.message), "👍");
    stage.still_pending(&card).await;
    stage.fake.react(user(BOB), stage.ops, number(card.message), "👍");
    done(&stage, stage.ops).await;
    assert_eq!(file.count("one"), 1);
}

#[tokio::test]
async fn ac_13_a_role_of_the_guild_that_is_gone_by_the_press_decides_nothing() {
    let mut stage = Stage::start().await;
    let role = stage.fake.role("approvers");
    let mapped = format!("[[platform_roles]]\nplatform = \"discord\"\nid = \"{role}\"\nroles = [\"approver\"]\n");
    stage.home.write("access.toml", Stage::access(&format!("{ACCESS}\n{mapped}")));
    stage.restart().await;
    let file = File::new(&stage, "notes.txt");
    stage.fake.set_roles(user(TOM), &[role]);
    let card = stage.card(ANN, stage.ops, &file.ask("one")).await;
    let told = stage.ask(TOM, stage.ops, "who am i", "you are").await;
    assert!(told.text.contains("approver"), "{}", told.text);
    stage.fake.set_roles(user(TOM), &[]);
    let told = stage.approve(TOM, &card).await;
    assert!(told.alone && told.text.contains("You may not approve this plan"), "{told:?}");
    stage.still_pending(&card).await;
    stage.fake.set_roles(user(TOM), &[role]);
    stage.approve(TOM, &card).await;
    done(&stage, stage.ops).await;
    assert_eq!(file.count("one"), 1);
}

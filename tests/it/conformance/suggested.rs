//! Resources offered while somebody types, as results of an inline query: to whoever may see them, once somebody has asked
//! about them. What is picked is an ordinary message, and what it names is meant.

use countersign_telegram_fake::InlineAnswer;

use crate::support::telegram::{ANN, BOB, EVE, Script, Stage, TOM};

/// He may look, and not at processes.
const POLICY: &str = r#"
@id("tom sees no process")
forbid (principal == Person::"tom", action == Action::"request", resource)
when { resource.kind == "process" };
"#;

async fn offered(stage: &Stage, who: i64, words: &str) -> InlineAnswer {
    let query = stage.fake.inline_query(who, words);
    stage.fake.inline_answer(&query).await
}

/// What each result would send.
fn mentions(answer: &InlineAnswer) -> Vec<&str> {
    answer
        .results
        .iter()
        .map(|result| result["input_message_content"]["message_text"].as_str().expect("it is text"))
        .collect()
}

#[tokio::test]
async fn what_was_found_is_offered_to_whoever_may_see_it_and_picked_it_is_meant() {
    let stage = Stage::with(Script { policy: POLICY, ..Script::default() }).await;
    let (mine, _process) = (stage.fake.private(ANN), stage.home.process("pickme", &[]));
    for who in [ANN, EVE] {
        let nothing = offered(&stage, who, "pick").await;
        assert!(nothing.results.is_empty() && nothing.personal, "nothing was looked for yet: {nothing:?}");
    }
    stage.ask(ANN, stage.ops, "find process pickme", "read line").await;
    for who in [ANN, BOB] {
        let answer = offered(&stage, who, "pick").await;
        assert_eq!(mentions(&answer), ["@@pickme"], "{who}: {answer:?}");
        let about = answer.results[0]["description"].as_str().expect("it is described");
        assert!(answer.results[0]["title"] == "pickme" && about.starts_with("process on "), "{answer:?}");
    }
    for who in [TOM, EVE] {
        assert!(offered(&stage, who, "pick").await.results.is_empty(), "{who} may not see it");
    }
    let query = stage.fake.inline_query(ANN, "pick");
    stage.fake.inline_answer(&query).await;
    // In a group it is a word among people, and starts nothing; in the private chat it is a question about what is known.
    let unheard = stage.fake.choose(ANN, stage.ops, &query, "0");
    let picked = stage.fake.choose(ANN, mine, &query, "0");
    stage.answer(mine, picked, "nothing in this thread is called so").await;
    stage.ask(ANN, mine, "show process @@pickme", "read line").await;
    let picked = stage.fake.choose(ANN, mine, &query, "0");
    stage.answer(mine, picked, "target: process:").await;
    stage.ask(BOB, stage.ops, "show process @@pickme", "read line").await;
    assert!(stage.shown(stage.ops).iter().all(|message| message.reply_to != Some(unheard)), "nobody asked the bot");
}

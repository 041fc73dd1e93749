//! Replies of a team's own: what an intent file may say, and what cannot be had from one by typing. How a reply is written is
//! tested in `route/reply.rs`.

use crate::effect::{Effect, Input};
use crate::port::{Block, Claim, Lane, Mark};
use crate::route::Intents;
use crate::secrets::Mask;
use crate::step::step;
use crate::testkit::{World, signal};

/// An intent with these patterns and this reply, and what else stands in it.
fn intent(patterns: &str, reply: &str, more: &str) -> String {
    format!(
        "[[intent]]\nname = \"canned\"\nabout = \"a canned answer\"\nexamples = [\"restart svc-1 n1\"]\npatterns = {patterns}\nreply = {reply}\n{more}\n"
    )
}

const PATTERN: &str = r"['''restart (?P<service>\S+) (?P<nonce>\S.*)''']";

fn loaded(file: &str) -> Result<Intents, String> {
    Intents::load([("replies.toml", file)], &World::new().registry).map_err(|error| error.to_string())
}

/// A world that knows this reply and nothing else.
fn replying(reply: &str) -> World {
    let mut world = World::with_fleet();
    world.intents = loaded(&intent(PATTERN, reply, "")).expect("it is sound");
    world
}

#[test]
fn a_reply_is_filled_in_with_what_was_typed_and_asks_no_tool() {
    let mut world = replying(r#""ok restart {service} {nonce}""#);
    let told = world.say("please restart svc-3 N17 now");
    assert_eq!((told.said.as_str(), told.calls.len(), told.progress.len()), ("ok restart svc-3 N17\n", 0, 0));
    // Tom may talk, and nothing else; eve is nobody, and a bot's words are nobody's either.
    assert_eq!(world.hear(signal("t", "tom", "restart svc-1 n1")).said, "ok restart svc-1 n1\n");
    let refused = world.hear(signal("e", "eve", "restart svc-1 n1")).said;
    assert!(refused.starts_with("refused: I do not know this account"), "{refused}");
    assert!(world.exact.is_empty(), "a reply is not kept");
}

#[test]
fn a_reply_is_plain_text_whatever_was_typed() {
    let mut world = replying("'ok {service} @{nonce}'");
    world.mask = Mask::new(["plantedzebra".to_owned()]);
    let long = format!("restart a {}", "x".repeat(400));
    let typed = [
        "restart plantedzebra password=hunter2hunter2",
        "restart <b>x</b> [Approve](tg://x)",
        "restart a\n? Countersign b",
        "restart a everyone",
        "restart \u{202e}evil \u{1b}[2J",
        "restart @room <@1>",
        &long,
    ];
    let said: Vec<String> = typed.iter().map(|text| world.say(text).said).collect();
    insta::assert_snapshot!(said.concat().replace(&"x".repeat(100), "(100 x)"), @r"
    ok [masked: secret] @password=[masked: password]
    ok <b>x</b> @[Approve](tg://x)
    ok a @? Countersign b
    ok a @ everyone
    ok \u{202e}evil @\u{1b}[2J
    ok @ room @<@ 1>
    ok a @(100 x)xxxxxxxxxxxxxxxxxxx…
    ");
}

#[test]
fn a_secret_that_reply_and_words_make_together_is_masked() {
    let mut world = replying("'password={nonce}, and {service}'");
    let said = world.say("restart svc-1 hunter2hunter2").said;
    assert!(!said.contains("hunter2") && said.contains("[masked: "), "{said}");
}

#[test]
fn a_reply_is_no_card_no_question_and_no_claim() {
    let mut world = replying(r#""ok {service} {nonce}""#);
    let now = world.now();
    let state = std::mem::take(&mut world.state);
    let signal = signal("s", "ann", "restart yes [Approve, Deny]");
    let (state, effects) = step(world.env(), state, Input::Signal(Box::new(signal)), now);
    assert!(!state.is_busy() && state.question.is_none());
    let posts: Vec<_> = effects
        .iter()
        .filter_map(|effect| if let Effect::Post { message, .. } = effect { Some(message) } else { None })
        .collect();
    let [message] = posts.as_slice() else { panic!("{effects:?}") };
    let message = message.get();
    assert_eq!((message.mark, message.lane, &message.claim), (Mark::Plain, Lane::Answer, &Claim::Nothing));
    assert!(matches!(message.blocks.as_slice(), [Block::Text { .. }]), "{message:?}");
}

#[test]
fn the_example_in_the_shipped_file_is_sound() {
    let shipped = include_str!("../../config/intents.toml");
    let example: Vec<&str> = shipped.lines().filter_map(|line| line.strip_prefix("#   ")).collect();
    let intents = loaded(&example.join("\n")).expect("it is sound");
    assert_eq!(intents.iter().map(|intent| intent.name.as_str()).collect::<Vec<_>>(), ["on-call"]);
}

#[test]
fn what_an_intent_file_cannot_mean_is_refused_with_the_intent_and_the_name() {
    let two = r"['''restart (?P<service>\S+) (?P<nonce>\S+)''', '''bounce (?P<service>\S+)''']";
    let files = [
        intent(PATTERN, "'ok {servce}'", ""),
        intent(PATTERN, "'ok {service}'", ""),
        intent(two, "'ok {service} {nonce}'", ""),
        intent(PATTERN, "'ok {service} {nonce'", ""),
        intent(PATTERN, "'{service} {nonce}'", ""),
        intent(PATTERN, "''", ""),
        intent(PATTERN, "'ok'", "own = \"help\""),
        intent(PATTERN, "'ok {service} {nonce}'", "target = \"service\""),
        intent(PATTERN, "'ok {service} {nonce}'", "args.a = \"{service}\""),
        intent(PATTERN, "'ok {service} {nonce}'", "").replace("reply = 'ok {service} {nonce}'", ""),
    ];
    let said: Vec<String> = files.iter().map(|file| loaded(file).expect_err(file)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    replies.toml: intent `canned`: its reply names `{servce}`, and `restart (?P<service>\S+) (?P<nonce>\S.*)` has no group of this name
    replies.toml: intent `canned`: `restart (?P<service>\S+) (?P<nonce>\S.*)` names a group `nonce` that no brace of its reply uses
    replies.toml: intent `canned`: its reply names `{nonce}`, and `bounce (?P<service>\S+)` has no group of this name
    replies.toml: intent `canned`: its reply has a brace that has no other; write `{{` or `}}` for one that is to be shown
    replies.toml: intent `canned`: its reply begins with somebody else's words; begin with words of its own, so that nobody can have the bot say whatever they like
    replies.toml: intent `canned`: its reply is empty
    replies.toml: intent `canned`: say one of `call`, `own` and `reply`
    replies.toml: intent `canned`: a reply takes no `target` and no `args`; name the pattern's groups in the reply, in braces
    replies.toml: intent `canned`: a reply takes no `target` and no `args`; name the pattern's groups in the reply, in braces
    replies.toml: intent `canned`: say one of `call`, `own` and `reply`
    ");
}

//! What a write takes along, and what is known of one that failed.

use super::*;
use crate::clock::wall_now;
use crate::permit::{Checker, Key, META_KEY, Refused};

/// The fake, but its `echo` also shows the `_meta` of the call and the key that the server was started with.
const TALKATIVE: &str = r#"
import os, runpy, sys
here = runpy.run_path(sys.argv.pop(1), run_name="fake")
plain = here["call"]

def call(request):
    args = request["params"]["arguments"]
    args["meta"] = request["params"].get("_meta")
    args["key"] = os.environ.get("SPOKE_PERMIT_KEY")
    plain(request)

here["handle"].__globals__["call"] = call
here["main"]()
"#;

fn talkative() -> Fake {
    Fake::with(|config, _| config.args.splice(0..0, ["-c".to_owned(), TALKATIVE.to_owned()]).for_each(drop))
}

/// Checks the permit of an answered call as its server would.
fn check(answer: &Envelope, checker: &Checker) -> Result<permit::Permit, Refused> {
    let meta = answer.data["args"]["meta"].as_object().expect("the call had a `_meta`");
    checker.check(meta, wall_now())
}

fn checker(answer: &Envelope) -> Checker {
    let key = answer.data["args"]["key"].as_str().and_then(Key::from_hex);
    Checker::new(Some(key.expect("the server was given a key")))
}

#[tokio::test]
async fn a_write_takes_a_permit_made_for_the_very_process_that_it_is_sent_to() {
    let fake = talkative();
    let first = fake.run(&write("echo", json!({"n": 1}))).await;
    let checker_of_first = checker(&first);
    let permit = check(&first, &checker_of_first).expect("it is good");
    let args = json!({"n": 1});
    let args = args.as_object().expect("an object");
    assert_eq!(permit.covers(("fake_x", "echo"), Some("service:web-1:nginx"), args), Ok(()));
    assert!(first.data["args"]["meta"][META_KEY].get("plan").is_some_and(Value::is_string));

    let read = fake.run(&read("echo", json!({}))).await;
    assert!(read.data["args"]["meta"].get(META_KEY).is_none(), "a read takes none: {read:?}");

    failure(fake.run(&write("die", json!({}))).await);
    let second = fake.run(&write("echo", json!({"n": 1}))).await;
    assert_ne!(pid(&first), pid(&second));
    assert_eq!(check(&second, &checker_of_first).err(), Some(Refused::Forged), "the next process has another key");
    assert!(check(&second, &checker(&second)).is_ok());
}

#[tokio::test]
async fn a_write_that_nobody_countersigned_is_not_sent() {
    let fake = Fake::new(&[]);
    let error =
        failure(fake.run(&ToolCall { warrant: None, ..write("note", json!({"mark": fake.mark("done")})) }).await);
    assert_eq!((error.code, error.blocked), (Code::PolicyBlocked, true));
    assert_snapshot!(error.message, @"`fake_x.note` changes something and was not countersigned, so that it was not sent.");
    assert_eq!((fake.lines("done").len(), fake.lines("starts").len()), (0, 0), "not even a server is started for it");
}

#[tokio::test]
async fn a_write_that_was_certainly_not_sent_is_a_refusal() {
    let blocked = |envelope: Envelope| {
        let error = failure(envelope);
        assert_eq!((error.code, error.blocked, error.retryable), (Code::ExecutionFailed, true, false), "{error:?}");
        assert!(!error.details.outcome_unknown);
        error.message
    };
    let missing = Fake::with(|config, dir| config.command = dir.join("server"));
    let message = blocked(missing.run(&write("note", json!({}))).await);
    assert!(message.contains("is down: cannot start"), "{message}");

    let mute = Fake::new(&["--mute"]);
    let message = blocked(mute.run(&ToolCall { limit_ms: 200, ..write("note", json!({})) }).await);
    assert_snapshot!(message, @"The tool server `fake` was not ready within 200 ms. Nothing was sent to it. Try again in a moment.");

    let old = Fake::new(&["--old"]);
    let message = blocked(old.run(&write("hang", json!({}))).await);
    assert_snapshot!(message, @"The tool server `fake` does not offer `hang` of `fake_x`. Check its version.");

    let message = blocked(old.run(&ToolCall { spoke: "other".to_owned(), ..write("note", json!({})) }).await);
    assert_snapshot!(message, @"No tool server `other` is configured. Add [spokes.other] to the configuration.");
}

#[tokio::test]
async fn only_the_word_of_its_server_makes_the_outcome_of_a_write_known() {
    let fake = Fake::new(&[]);
    let said = failure(fake.run(&write("fail", json!({}))).await);
    assert_eq!((said.code, said.details.outcome_unknown), (Code::NotFound, false), "the server says what happened");
    let unclear = [
        write("garbage", json!({"kind": "list"})),
        write("garbage", json!({"kind": "null"})),
        write("echo", json!({"kind": "text"})),
        write("echo", json!({"kind": "odd"})),
        write("big", json!({"bytes": 2_000_000})),
        write("error", json!({"code": -32_603, "message": "broken"})),
    ];
    for call in unclear {
        let error = failure(fake.run(&call).await);
        assert!(error.failed && error.details.outcome_unknown && !error.retryable, "{call:?}: {error:?}");
        let read = ToolCall { kind: ToolKind::Read, warrant: None, ..call };
        assert!(!failure(fake.run(&read).await).details.outcome_unknown, "a read changes nothing");
    }
    let refused = failure(fake.run(&write("error", json!({"code": -32_602, "message": "no"}))).await);
    assert!(refused.blocked && !refused.details.outcome_unknown, "what a server does not take, it does not do");
}

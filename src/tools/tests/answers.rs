//! What comes back from a call: answers, refusals, and what is neither.

use super::*;

#[tokio::test]
async fn a_call_takes_action_target_and_arguments_and_brings_the_answer_back() {
    let fake = Fake::new(&[]);
    assert_eq!(fake.state(), SpokeState::NotStarted);
    let envelope = fake.run(&write("echo", json!({"lines": 3}))).await;
    assert!(envelope.ok && envelope.meta.observed_at > 0, "{envelope:?}");
    let expected = json!({"action": "echo", "target": "service:web-1:nginx", "lines": 3});
    assert_eq!(envelope.data["args"], expected);
    let SpokeState::Running { pid: running, since } = fake.state() else { panic!("{:?}", fake.state()) };
    assert_eq!((u64::from(running), since.0 > 0), (pid(&envelope), true));
    let refused = fake.run(&read("fail", json!({}))).await;
    assert_eq!(failure(refused).code, Code::NotFound, "a server's own refusal arrives as it is");
}

#[tokio::test]
async fn what_is_no_sound_envelope_has_not_worked() {
    let fake = Fake::new(&[]);
    for kind in ["list", "no_ok", "extra", "both", "neither", "half", "code", "null", "text", "odd"] {
        let action = if matches!(kind, "text" | "odd") { "echo" } else { "garbage" };
        let error = failure(fake.run(&read(action, json!({"kind": kind}))).await);
        assert_eq!(error.code, Code::ExecutionFailed, "{kind}");
        assert!(error.failed && !error.retryable, "{kind}");
        assert_eq!(error.message, "The tool server `fake` answered with something that is no envelope.", "{kind}");
    }
    assert_eq!(fake.lines("starts").len(), 1, "it is not punished for that");
}

#[tokio::test]
async fn protocol_errors_become_answers() {
    let fake = Fake::new(&[]);
    let invalid = failure(fake.run(&read("error", json!({"code": -32602, "message": "no such path"}))).await);
    assert_eq!((invalid.code, invalid.blocked), (Code::InvalidInput, true));
    assert_snapshot!(invalid.message, @"The tool server `fake` did not take the arguments of `fake_x.error`: no such path");
    let broken = failure(fake.run(&write("error", json!({"code": -32603, "message": "disk full"}))).await);
    assert_eq!((broken.code, broken.failed), (Code::ExecutionFailed, true));
    assert_snapshot!(broken.message, @"The tool server `fake` answered `fake_x.error` with error -32603: disk full");
    assert_eq!(broken.details.resource_id.as_deref(), Some("service:web-1:nginx"));
    assert_eq!(broken.details.action.as_deref(), Some("fake_x.error"));
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_alone() {
    let fake = Fake::new(&[]);
    let before = fake.pid().await;
    assert!(fake.run(&read("big", json!({"bytes": 1_000_000}))).await.ok);
    for bytes in [1_100_000, 6_000_000] {
        let error = failure(fake.run(&read("big", json!({"bytes": bytes}))).await);
        assert_eq!(error.code, Code::ExecutionFailed);
        assert_eq!(error.message, "The answer of `fake_x.big` is longer than 1 MiB, the limit. Ask for less.");
    }
    assert_eq!(fake.pid().await, before, "the server lives on");
}

#[tokio::test]
async fn what_a_server_lacks_is_said_in_a_sentence() {
    let fake = Fake::new(&["--old"]);
    let hang = failure(fake.run(&read("hang", json!({}))).await);
    assert_eq!((hang.code, hang.retryable), (Code::ExecutionFailed, false));
    assert_snapshot!(hang.message, @"The tool server `fake` does not offer `hang` of `fake_x`. Check its version.");
    let missing = failure(fake.run(&ToolCall { tool: "fake_y".to_owned(), ..read("echo", json!({})) }).await);
    assert_snapshot!(missing.message, @"The tool server `fake` does not offer `fake_y`. Check its version.");
    let foreign = ToolCall { tool: "fake_undeclared".to_owned(), ..read("echo", json!({})) };
    assert!(!fake.run(&foreign).await.ok, "what is not declared cannot be called, offered or not");
    assert!(fake.run(&read("echo", json!({}))).await.ok);
    let nobody = ToolCall { spoke: "moon".to_owned(), ..read("echo", json!({})) };
    assert_snapshot!(failure(fake.run(&nobody).await).message, @"No tool server `moon` is configured. Add [spokes.moon] to the configuration.");
}

#[tokio::test]
async fn a_tool_that_does_not_list_its_actions_is_taken_at_its_word() {
    let fake = Fake::new(&[]);
    assert!(fake.run(&ToolCall { tool: "fake_y".to_owned(), ..read("echo", json!({})) }).await.ok);
}

#[tokio::test]
async fn beyond_64_calls_at_once_a_call_fails_at_once() {
    let fake = Fake::new(&[]);
    fake.pid().await;
    let slow = read("slow", json!({"until": fake.mark("go"), "mark": fake.mark("slow")}));
    let beyond = async {
        until("64 calls run", || fake.lines("slow").len() == 64).await;
        let error = failure(fake.run(&read("echo", json!({}))).await);
        assert_eq!((error.code, error.retryable), (Code::ExecutionFailed, true));
        assert_snapshot!(error.message, @"The tool server `fake` is busy with 64 calls. Try again in a moment.");
        std::fs::write(fake.path("go"), "").expect("a mark");
    };
    let (answers, ()) = tokio::join!(join_all((0..64).map(|_| fake.run(&slow))), beyond);
    assert!(answers.iter().all(|answer| answer.ok));
}

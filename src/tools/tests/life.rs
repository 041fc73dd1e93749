//! When a server is started, replaced, given up and tried again, and what the calls on it see of that.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_calls_at_once_start_one_server() {
    let fake = Fake::new(&[]);
    let call = read("echo", json!({}));
    let answers = join_all((0..10).map(|_| fake.run(&call))).await;
    let first = pid(&answers[0]);
    assert!(answers.iter().all(|answer| pid(answer) == first));
    assert_eq!(fake.lines("starts"), [first.to_string()]);
}

#[tokio::test]
async fn a_read_whose_server_ends_is_repeated_once_on_a_new_one() {
    let fake = Fake::new(&[]);
    let before = fake.pid().await;
    let answer = fake.run(&read("die", json!({"unless": fake.mark("died")}))).await;
    assert_eq!(fake.lines("died"), [before.to_string()], "the old server died of it");
    assert!(answer.ok && pid(&answer) != before, "{answer:?}");
    until("the old process is buried", || !exists(before)).await;

    let marks = json!({"mark": fake.mark("tries")});
    let error = failure(fake.run(&read("die", marks)).await);
    assert_eq!((error.code, fake.lines("tries").len()), (Code::ExecutionFailed, 1));
    assert!(
        error.message.contains("is down: it ended with exit status: 7. It is tried again in "),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_read_that_kills_every_server_is_given_up_after_two() {
    let fake = Fake::new(&[]);
    let error = failure(fake.run(&read("die", json!({"mark": fake.mark("tries")}))).await);
    assert_eq!((error.code, error.retryable), (Code::ExecutionFailed, false));
    assert_snapshot!(error.message, @"The tool server `fake` failed twice while it ran `fake_x.die`: it ended with exit status: 7.");
    assert_eq!(fake.lines("tries").len(), 2);
}

#[tokio::test]
async fn a_write_whose_server_ends_is_never_repeated() {
    for kind in [ToolKind::Write, ToolKind::Record] {
        let fake = Fake::new(&[]);
        let call = ToolCall { kind, ..write("die", json!({"mark": fake.mark("tries")})) };
        let error = failure(fake.run(&call).await);
        assert_eq!((error.code, error.retryable), (Code::ExecutionFailed, false));
        assert!(error.failed && error.details.outcome_unknown);
        insta::allow_duplicates! {
            assert_snapshot!(error.message, @"The tool server `fake` failed while it ran `fake_x.die`: it ended with exit status: 7. Whether it was done is not known. Read the target again first.");
        }
        assert_eq!(fake.lines("tries").len(), 1, "{kind:?}");
        assert!(fake.run(&read("echo", json!({}))).await.ok, "the next call meets a new server at once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crash_is_not_noticed_by_reads_that_run_beside_it() {
    let fake = Fake::new(&[]);
    let args = json!({"until": fake.mark("go"), "mark": fake.mark("slow")});
    let slow = read("slow", args);
    let crash = async {
        until("the slow call runs", || fake.lines("slow").len() == 1).await;
        let before = fake.pid().await;
        failure(fake.run(&write("die", json!({}))).await);
        until("the slow call runs again", || fake.lines("slow").len() == 2).await;
        std::fs::write(fake.path("go"), "").expect("a mark");
        before
    };
    let (answer, before) = tokio::join!(fake.run(&slow), crash);
    assert!(answer.ok && pid(&answer) != before, "{answer:?}");
}

#[tokio::test]
async fn a_server_that_hangs_is_replaced_and_calls_that_run_on_it_finish() {
    let fake = Fake::new(&[]);
    let old = fake.pid().await;
    let slow = read("slow", json!({"until": fake.mark("go"), "mark": fake.mark("slow")}));
    let trouble = async {
        until("the slow call runs", || fake.lines("slow").len() == 1).await;
        let error = failure(fake.run(&ToolCall { limit_ms: 300, ..read("hang", json!({})) }).await);
        assert_eq!((error.code, error.retryable), (Code::Timeout, true));
        assert_snapshot!(error.message, @"`fake_x.hang` did not answer within 300 ms.");
        let new = fake.pid().await;
        assert!(new != old && exists(old), "the old one lives on beside the new one");
        std::fs::write(fake.path("go"), "").expect("a mark");
    };
    let (answer, ()) = tokio::join!(fake.run(&slow), trouble);
    assert_eq!(pid(&answer), old, "the slow call was answered where it ran");
    until("the old process is buried", || !exists(old)).await;
    assert!(fake.run(&read("echo", json!({}))).await.ok);
}

#[tokio::test]
async fn a_write_that_takes_too_long_says_that_its_outcome_is_not_known() {
    let fake = Fake::new(&[]);
    fake.pid().await;
    let error = failure(fake.run(&ToolCall { limit_ms: 200, ..write("hang", json!({})) }).await);
    assert_eq!((error.code, error.retryable), (Code::Timeout, false));
    assert!(error.failed && error.details.outcome_unknown);
    assert_snapshot!(error.message, @"`fake_x.hang` did not answer within 200 ms. Whether it was done is not known. Read the target again first.");
}

#[tokio::test]
async fn a_server_that_cannot_be_started_fails_fast_and_is_tried_again() {
    let fake = Fake::with(|config, dir| config.command = dir.join("server"));
    let reason = format!("cannot start {}: No such file or directory", fake.mark("server"));
    let start = format!("The tool server `fake` is down: {reason}. It is tried again in ");
    for wait_max in [313, 625, 1_250] {
        until("the wait is over", || {
            matches!(fake.state(), SpokeState::NotStarted | SpokeState::BackingOff { retry_in_ms: 0, .. })
        })
        .await;
        let error = failure(fake.run(&read("echo", json!({}))).await);
        assert_eq!((error.code, error.retryable), (Code::ExecutionFailed, true));
        assert!(error.message.starts_with(&start), "{}", error.message);
        let SpokeState::BackingOff { reason: said, retry_in_ms } = fake.state() else { panic!("{:?}", fake.state()) };
        assert_eq!(said, reason);
        assert!(retry_in_ms <= wait_max, "{retry_in_ms}");
    }
    std::os::unix::fs::symlink(python(), fake.path("server")).expect("a link");
    let again = failure(fake.run(&read("echo", json!({}))).await);
    assert!(again.message.starts_with(&start), "not before the wait is over: {}", again.message);
    until("the wait is over", || matches!(fake.state(), SpokeState::BackingOff { retry_in_ms: 0, .. })).await;
    let answer = fake.run(&read("echo", json!({}))).await;
    assert!(answer.ok, "{answer:?}");
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let table: [(&[&str], u64, &str); 3] = [
        (&["--crash", "3"], 30_000, "it ended with exit status: 3."),
        (&["--mute"], 400, "it did not answer within 400 ms."),
        (&["--no-such-option"], 30_000, "it ended with exit status: 2."),
    ];
    for (options, limit, expected) in table {
        let fake = Fake::with(|config, _| {
            config.args.extend(options.iter().map(|&option| option.to_owned()));
            config.start_limit = Duration::from_millis(limit);
        });
        let error = failure(fake.run(&read("echo", json!({}))).await);
        assert!(error.message.contains(expected), "{options:?}: {}", error.message);
        for pid in fake.lines("starts") {
            assert!(!exists(pid.parse().expect("a number")), "{options:?} leaves no process");
        }
    }
}

#[tokio::test]
async fn a_call_does_not_wait_for_a_start_beyond_its_limit() {
    let fake = Fake::new(&["--mute"]);
    let error = failure(fake.run(&ToolCall { limit_ms: 200, ..read("echo", json!({})) }).await);
    assert_eq!((error.code, error.retryable), (Code::Timeout, true));
    assert_snapshot!(error.message, @"The tool server `fake` was not ready within 200 ms. Nothing was sent to it. Try again in a moment.");
    assert_eq!(fake.state(), SpokeState::Starting, "the start goes on");
    fake.spokes.shutdown().await;
    assert!(fake.lines("starts").iter().all(|pid| !exists(pid.parse().expect("a number"))));
}

#[tokio::test]
async fn a_server_that_ends_after_its_greeting_is_replaced() {
    let fake = Fake::new(&["--dead-list"]);
    let error = failure(fake.run(&read("echo", json!({}))).await);
    assert!(error.message.contains("it ended with exit status: 5"), "{}", error.message);
    until("it is seen as down", || matches!(fake.state(), SpokeState::BackingOff { .. })).await;
}

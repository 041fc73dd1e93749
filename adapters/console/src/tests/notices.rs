//! Messages that answer no line of this process: shown at once, and never taken for an answer.

use super::cards::Desk;
use super::*;
use countersign_core::port::DeliveryNotes;

/// A signal that no line of this process became.
fn other(console: &Console) -> Signal {
    Signal { id: SignalId::new("other"), ..console.signal(EventId::new("e0"), said("x")) }
}

#[tokio::test]
async fn in_a_pipe_a_notice_is_shown_at_once_and_is_not_the_answer() {
    let page = Page::default();
    let console = Console::over(options(false), io::Cursor::new("disk usage\n1\n"), page.clone(), io::sink());
    let (bot, mut accepted) = Bot::new([]);
    let answer = async {
        let first = accepted.recv().await.expect("a line comes");
        let other = other(&console);
        let expired = vec![text("The plan 7 expired.\nNothing was done."), Block::Code { text: "x".to_owned() }];
        console.show("p0", &outgoing(&other, Mark::Plain, expired), DeliveryNotes::default()).await;
        assert_eq!(page.text().lines().nth(1), Some("* (notice) The plan 7 expired."), "it is shown at once");
        console.show("p0", &asking(&other, "old"), DeliveryNotes::REPEAT).await;
        console.answered(&other.id);
        assert_eq!(console.waiting.until_answered().now_or_never(), None, "the line is still waited for");
        assert_eq!(bot.payloads(), [said("disk usage")]);
        console.show("p1", &reply(&first), DeliveryNotes::default()).await;
        console.answered(&first.id);
        let second = accepted.recv().await.expect("the next line comes");
        console.show("p2", &reply(&second), DeliveryNotes::default()).await;
        console.answered(&second.id);
        // After the last answer, too, and with nothing waited for.
        console
            .show("p3", &outgoing(&other, Mark::Failed, vec![text("The plan 8 failed.")]), DeliveryNotes::default())
            .await;
    };
    let both = async { tokio::join!(console.hear(&bot, std::future::pending().boxed()), answer) };
    let (ended, ()) = tokio::time::timeout(LIMIT, both).await.expect("every line is answered");
    assert_eq!(ended, Ended::InputOver);
    assert_eq!(bot.payloads(), [said("disk usage"), said("1")], "a number picks from no notice");
    insta::assert_snapshot!(page.text(), @r"
    > disk usage
    * (notice) The plan 7 expired.
    * Nothing was done.
    *   x
    * (notice) (may be a repeat) ? Which one?
    *   1) nginx - web1
    *   2) nginx-exporter
    You said: disk usage
    > 1
    You said: 1
    * (notice) ! failed: The plan 8 failed.
    ");
}

#[tokio::test]
async fn in_a_pipe_a_notice_leaves_the_question_open_that_was_asked() {
    let console = Console::over(options(false), io::Cursor::new("restart it\n2\n"), Page::default(), io::sink());
    let (bot, mut accepted) = Bot::new([]);
    let answer = async {
        for _ in 0..2 {
            let signal = accepted.recv().await.expect("a line comes");
            console.show("p1", &reply(&signal), DeliveryNotes::default()).await;
            console.show("p0", &asking(&other(&console), "old"), DeliveryNotes::default()).await;
            console.show("p0", &card(&other(&console), 7), DeliveryNotes::default()).await;
            console.answered(&signal.id);
        }
    };
    let both = async { tokio::join!(console.hear(&bot, std::future::pending().boxed()), answer) };
    tokio::time::timeout(LIMIT, both).await.expect("every line is answered");
    assert_eq!(bot.payloads()[1], Payload::Choice { question: QuestionId::new("q1"), pick: 1 });
}

#[tokio::test]
async fn at_a_terminal_a_notice_stands_above_the_prompt_at_once() {
    let desk = Desk::new(vec![]);
    desk.console.output.open_prompt(80);
    desk.show(&outgoing(&desk.other(), Mark::Refused, vec![text("The plan 7 expired.")])).await;
    assert_eq!(*lock(&desk.above), "✗ refused: The plan 7 expired.\n");
    assert_eq!(desk.page.text(), "");
}

#[tokio::test]
async fn at_a_terminal_a_notice_does_not_end_the_wait() {
    let desk = Desk::new(vec![]);
    let offer = desk.console.offer(None, said("disk usage"));
    desk.console.accept(&desk.bot, &offer).await;
    desk.show(&outgoing(&desk.other(), Mark::Plain, vec![text("The plan 7 expired.")])).await;
    desk.console.answered(&desk.other().id);
    assert_eq!(desk.page.text(), "The plan 7 expired.\n", "it does not wait for the answer, either");
    assert_eq!(desk.console.waiting.until_answered().now_or_never(), None);
    desk.console.answered(&SignalId::new("s1"));
    assert_eq!(desk.console.waiting.until_answered().now_or_never(), Some(()));
}

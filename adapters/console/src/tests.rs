//! The whole adapter without a terminal: streams in memory, an ingress that records, and answers as an engine gives them.

use countersign_core::port::DeliveryNotes;
use std::collections::{BTreeSet, VecDeque};
use std::os::unix::net::UnixStream;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{Admission, Block, CardChoice, Choice, Claim, Condition, Lane, Mark, Touch, Visibility};
use countersign_core::signal::QuestionId;
use futures::FutureExt as _;
use tokio::sync::mpsc;

use super::*;

mod cards;
mod notices;

/// How long a test waits for what must come.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(20);

/// A page that shows only what was flushed.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<(Vec<u8>, Vec<u8>)>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8(lock(&self.0).1.clone()).expect("the console writes UTF-8")
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut page = lock(&self.0);
        let written = std::mem::take(&mut page.0);
        page.1.extend(written);
        Ok(())
    }
}

/// A reader that went away, as `head -1` does.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records what is accepted, answers with what was planned first, and knows the events it has seen.
struct Bot {
    planned: Mutex<VecDeque<Result<Admission, String>>>,
    heard: Mutex<Vec<Signal>>,
    accepted: Mutex<Option<mpsc::Sender<Signal>>>,
}

impl Bot {
    fn new(planned: impl IntoIterator<Item = Result<Admission, String>>) -> (Self, mpsc::Receiver<Signal>) {
        let (sender, receiver) = mpsc::channel(1_000);
        let planned = Mutex::new(planned.into_iter().collect());
        (Self { planned, heard: Mutex::default(), accepted: Mutex::new(Some(sender)) }, receiver)
    }

    fn take(&self, mut signal: Signal) -> Result<Admission, String> {
        if let Some(planned) = lock(&self.planned).pop_front() {
            return planned;
        }
        let mut heard = lock(&self.heard);
        if heard.iter().any(|known| known.event == signal.event) {
            return Ok(Admission::Duplicate);
        }
        signal.id = SignalId::new(format!("s{}", heard.len() + 1));
        heard.push(signal.clone());
        let id = signal.id.clone();
        if let Some(accepted) = &*lock(&self.accepted) {
            accepted.try_send(signal).expect("the engine's side lives as long as the test");
        }
        Ok(Admission::Accepted(id))
    }

    fn payloads(&self) -> Vec<Payload> {
        lock(&self.heard).iter().map(|signal| signal.payload.clone()).collect()
    }
}

impl Ingress for Bot {
    fn accept(&self, signal: Signal) -> BoxFuture<'_, Result<Admission, String>> {
        Box::pin(async move { self.take(signal) })
    }

    fn touch(&self, touch: Touch) -> BoxFuture<'_, Result<Admission, String>> {
        unreachable!("a line touches nothing: {touch:?}")
    }

    fn report(&self, condition: Condition) {
        unreachable!("a terminal has no connection: {condition:?}")
    }
}

fn options(json: bool) -> Options {
    Options {
        json,
        user: "ada".to_owned(),
        uid: "1000".to_owned(),
        host: "web1".to_owned(),
        banner: "Countersign on web1.".to_owned(),
        session: "k7".to_owned(),
        ..Options::default()
    }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn said(text: &str) -> Payload {
    Payload::Text { text: text.to_owned() }
}

fn outgoing(signal: &Signal, mark: Mark, blocks: Vec<Block>) -> Outgoing {
    let (to, answers) = (signal.thread.clone(), signal.id.clone());
    let (lane, visibility) = (Lane::Answer, Visibility::Everybody);
    Outgoing { to, answers, mark, lane, visibility, claim: Claim::Nothing, blocks }
}

/// A card of the plan with this number.
fn card(signal: &Signal, number: u128) -> Outgoing {
    let choices = vec![CardChoice::Approve, CardChoice::Deny];
    let block = Block::Card { plan: PlanId::from_random(number), digest: digest(number), risk: Risk::Medium, choices };
    outgoing(signal, Mark::Question, vec![text(&format!("Countersign this? Plan {number}.")), block])
}

fn digest(number: u128) -> Digest {
    Digest::of(&number.to_be_bytes())
}

fn decided(number: u128, choice: CardChoice, reason: &str) -> Payload {
    let (plan, digest) = (PlanId::from_random(number), digest(number));
    Payload::Decision { plan, digest, choice, reason: reason.to_owned() }
}

fn asking(signal: &Signal, question: &str) -> Outgoing {
    let choice = |label: &str, about: &str| Choice { label: label.to_owned(), about: about.to_owned() };
    let choices = vec![choice("nginx", "web1"), choice("nginx-exporter", "")];
    let question = Block::Choices { question: QuestionId::new(question), choices };
    outgoing(signal, Mark::Question, vec![text("Which one?"), question])
}

/// Asks which, where the text says `restart`; shows a card, where it says `stop`; else repeats what was said.
fn reply(signal: &Signal) -> Outgoing {
    match &signal.payload {
        Payload::Text { text: asked } if asked.starts_with("restart") => asking(signal, "q1"),
        Payload::Text { text: asked } if asked.starts_with("stop") => card(signal, 1),
        Payload::Text { text: asked } => outgoing(signal, Mark::Plain, vec![text(&format!("You said: {asked}"))]),
        Payload::Choice { question, pick } => {
            outgoing(signal, Mark::Plain, vec![text(&format!("Picked {pick} of {question}."))])
        }
        Payload::Decision { plan, choice, reason, .. } => {
            let said = format!("{choice:?} of {plan}: {reason}");
            outgoing(signal, Mark::Plain, vec![text(&said)])
        }
        Payload::Details { plan } => outgoing(signal, Mark::Plain, vec![text(&format!("The whole plan: {plan}."))]),
        Payload::Due { .. }
        | Payload::Unreachable { .. }
        | Payload::CardLate { .. }
        | Payload::Stray
        | Payload::OlderCopy
        | Payload::Limited { .. } => panic!("only the engine makes these"),
        Payload::Edited { .. } | Payload::Deleted { .. } => panic!("nothing is taken back at a console"),
        Payload::RoomMoved { .. } => panic!("a console stays where it is"),
    }
}

struct Run {
    ended: Ended,
    page: String,
    notes: String,
    bot: Bot,
}

/// The console over `input` to its end, with an engine that answers every accepted signal once.
async fn run(options: Options, input: &[u8], planned: Vec<Result<Admission, String>>) -> Run {
    let (page, notes) = (Page::default(), Page::default());
    let console = Console::over(options, io::Cursor::new(input.to_vec()), page.clone(), notes.clone());
    let (bot, mut accepted) = Bot::new(planned);
    let hear = async {
        let ended = console.hear(&bot, std::future::pending().boxed()).await;
        lock(&bot.accepted).take();
        ended
    };
    let answer = async {
        while let Some(signal) = accepted.recv().await {
            assert_eq!(console.show("p1", &reply(&signal), DeliveryNotes::default()).await, Delivery::Sent(Vec::new()));
            console.answered(&signal.id);
        }
    };
    let both = async { tokio::join!(hear, answer) };
    let (ended, ()) = tokio::time::timeout(LIMIT, both).await.expect("the input is short");
    // Standard error needs no flush, and the page does.
    notes.clone().flush().expect("memory can be written");
    Run { ended, page: page.text(), notes: notes.text(), bot }
}

#[tokio::test]
async fn a_pipe_reads_like_a_transcript() {
    let run = run(options(false), b"# a comment\n\ndisk usage\n  why  \r\nQuit\nnever\n", vec![]).await;
    assert_eq!(run.ended, Ended::InputOver);
    assert_eq!(run.page, "> disk usage\nYou said: disk usage\n>   why  \nYou said:   why\n");
    assert_eq!(run.notes, "Countersign on web1.\n");
    assert_eq!(run.bot.payloads(), [said("disk usage"), said("  why  ")]);
}

#[tokio::test]
async fn a_number_picks_from_the_question_that_was_shown_last() {
    let run = run(options(false), b"2\nrestart nginx\n2\n2\nrestart it\nno\n1\n", vec![]).await;
    insta::assert_snapshot!(run.page, @r"
    > 2
    You said: 2
    > restart nginx
    ? Which one?
      1) nginx - web1
      2) nginx-exporter
    > 2
    Picked 1 of q1.
    > 2
    You said: 2
    > restart it
    ? Which one?
      1) nginx - web1
      2) nginx-exporter
    > no
    You said: no
    > 1
    You said: 1
    ");
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_nothing_after_it_is_lost() {
    let mut input = vec![b'x'; 9_000];
    input.extend_from_slice(b"\ncaf\xe9\nlast");
    let run = run(options(false), &input, vec![]).await;
    insta::assert_snapshot!(run.page, @r"
    ✗ refused: A line of 9000 bytes was not taken: the limit is 8192 bytes (8 KiB). Shorten or split it.
    > caf�
    You said: caf�
    > last
    You said: last
    ");
    assert_eq!(run.ended, Ended::InputOver);
}

#[tokio::test]
async fn a_busy_bot_makes_a_pipe_wait_and_loses_nothing() {
    let run = run(options(false), b"one\ntwo\n", vec![Ok(Admission::Busy), Ok(Admission::Busy)]).await;
    assert_eq!(run.bot.payloads(), [said("one"), said("two")]);
    assert_eq!(run.page, "> one\nYou said: one\n> two\nYou said: two\n");
}

#[tokio::test]
async fn what_comes_too_fast_is_marked_and_not_offered_again() {
    let limited = || vec![Ok(Admission::Limited { wait_ms: 2400 })];
    let piped = run(options(false), b"one\ntwo\n", limited()).await;
    assert_eq!(piped.page, "> one\n✗ refused: Not taken: too fast.\n> two\nYou said: two\n");
    assert_eq!(piped.bot.payloads(), [said("two")]);
    let json = run(options(true), b"{\"event\":\"a\",\"text\":\"one\"}\n", limited()).await;
    assert_eq!(json.page, "{\"type\":\"limited\",\"event\":\"a\",\"wait_ms\":2400}\n");
}

#[tokio::test]
async fn what_is_not_taken_is_said() {
    let planned = vec![Err("disk full".to_owned()), Ok(Admission::Stopping)];
    let run = run(options(false), b"one\ntwo\nthree\n", planned).await;
    assert_eq!(run.ended, Ended::Stopped);
    insta::assert_snapshot!(run.page, @r"
    > one
    ! failed: This line could not be stored, so it was not taken. The reason is in the bot's log. Send
    it again.
    > two
    ✗ refused: The bot is stopping. This line was not taken; send it again after the start.
    ");
    assert_eq!(run.bot.payloads(), []);
}

#[tokio::test]
async fn json_is_one_event_a_line_and_nothing_else() {
    let input = br#"{"event":"a","text":"disk usage"}
{"event":"a","text":"disk usage"}
# a comment
why
{"event":"b","question":"q1","pick":0}
{"event":"c","txt":"disk usage"}
{"event":"d","pick":0}
{"event":
"#;
    let run = run(options(true), input, vec![]).await;
    let mut lines: Vec<&str> = run.page.lines().collect();
    // Answers may come between the acceptances of later lines; what matters is the order per signal, tested below.
    lines.sort_by_key(|line| line.contains("\"message\",") || line.contains("\"answered\","));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"type":"accepted","event":"a","signal":"s1"}
    {"type":"duplicate","event":"a"}
    {"type":"accepted","event":"k7-1","signal":"s2"}
    {"type":"accepted","event":"b","signal":"s3"}
    {"type":"error","event":"c","message":"This line was not understood: unknown field `txt`, expected one of `event`, `text`, `question`, `pick`, `plan`, `digest`, `choice`, `reason` at line 1 column 18."}
    {"type":"error","event":"d","message":"A line needs one of these: `text` that is not empty; `question` and `pick`; or `plan`, `digest` and `choice`."}
    {"type":"error","message":"This line was not understood: EOF while parsing a value at line 1 column 9."}
    {"type":"message","id":"p1","answers":"s1","repeat":false,"mark":"plain","claim":{"type":"nothing"},"blocks":[{"type":"text","text":"You said: disk usage"}]}
    {"type":"answered","signal":"s1"}
    {"type":"message","id":"p1","answers":"s2","repeat":false,"mark":"plain","claim":{"type":"nothing"},"blocks":[{"type":"text","text":"You said: why"}]}
    {"type":"answered","signal":"s2"}
    {"type":"message","id":"p1","answers":"s3","repeat":false,"mark":"plain","claim":{"type":"nothing"},"blocks":[{"type":"text","text":"Picked 0 of q1."}]}
    {"type":"answered","signal":"s3"}
    "#);
    assert_eq!(run.ended, Ended::InputOver);
    assert_eq!(run.notes, "Countersign on web1.\n");
    assert_eq!(run.bot.payloads().len(), 3);
}

#[tokio::test]
async fn in_json_an_acceptance_comes_before_its_answer() {
    let input: Vec<String> = (0..50).map(|n| format!("{{\"event\":\"{n}\",\"text\":\"why\"}}")).collect();
    let input = input.join("\n");
    let run = run(options(true), input.as_bytes(), vec![]).await;
    let position = |kind: &str, key: &str, signal: usize| {
        let (kind, key) = (format!("{{\"type\":\"{kind}\""), format!("\"{key}\":\"s{signal}\""));
        run.page.lines().position(|line| line.starts_with(&kind) && line.contains(&key)).expect("an event of each kind")
    };
    for signal in 1..=50 {
        let accepted = position("accepted", "signal", signal);
        let message = position("message", "answers", signal);
        assert!(accepted < message && message < position("answered", "signal", signal), "{signal}");
    }
}

/// Notes whether an answer could have been shown while its line was being accepted.
struct Inside<'a>(&'a Console, Mutex<Vec<bool>>);

impl Ingress for Inside<'_> {
    fn accept(&self, _: Signal) -> BoxFuture<'_, Result<Admission, String>> {
        lock(&self.1).push(self.0.turn.try_lock().is_ok());
        Box::pin(async { Ok(Admission::Duplicate) })
    }

    fn touch(&self, touch: Touch) -> BoxFuture<'_, Result<Admission, String>> {
        unreachable!("a line touches nothing: {touch:?}")
    }

    fn report(&self, condition: Condition) {
        unreachable!("a terminal has no connection: {condition:?}")
    }
}

#[tokio::test]
async fn nothing_is_shown_while_a_line_is_being_accepted() {
    let console = Console::over(options(true), io::Cursor::new("one\ntwo\n"), Page::default(), io::sink());
    let inside = Inside(&console, Mutex::default());
    assert_eq!(console.hear(&inside, std::future::pending().boxed()).await, Ended::InputOver);
    assert_eq!(*lock(&inside.1), [false, false]);
}

#[tokio::test]
async fn a_closed_output_is_permanent_and_ends_the_hearing() {
    // The input stays open: only the closed output can end it.
    let (_open, input) = UnixStream::pair().expect("a socket pair");
    let console = Console::over(options(false), input, Gone, io::sink());
    let (bot, _accepted) = Bot::new([]);
    let signal = console.signal(EventId::new("e"), said("x"));
    let message = reply(&signal);
    let deliver = console.show("p1", &message, DeliveryNotes::default());
    let both = async { tokio::join!(console.hear(&bot, std::future::pending().boxed()), deliver) };
    let (ended, delivery) = tokio::time::timeout(LIMIT, both).await.expect("the closed output ends the hearing");
    assert_eq!(delivery, Delivery::Permanent("standard output is closed".to_owned()));
    let why = "standard output was closed, so that nobody can read the answers";
    assert_eq!(ended, Ended::Refused(why.to_owned()));
}

#[tokio::test]
async fn a_stop_ends_the_hearing_while_the_input_is_open() {
    let (mut open, input) = UnixStream::pair().expect("a socket pair");
    open.write_all(b"disk usage\n").expect("the other end is open");
    let console = Console::over(options(false), input, Page::default(), io::sink());
    let (bot, mut accepted) = Bot::new([]);
    // The line is accepted and never answered: the stop comes into the wait for its answer.
    let stop = async { drop(accepted.recv().await) };
    assert_eq!(console.hear(&bot, stop.boxed()).await, Ended::Stopped);
    assert_eq!(bot.payloads(), [said("disk usage")]);
    let again = console.hear(&bot, std::future::pending().boxed()).await;
    assert!(matches!(again, Ended::Refused(_)));
}

#[tokio::test]
async fn no_control_character_leaves_but_newlines() {
    let evil = "a\u{1b}[2Jb\u{7}\u{7f}\u{9b}1mc\rd\te\u{202e}f\0g\u{2028}h";
    for json in [false, true] {
        let run = run(options(json), format!("{evil}\n").as_bytes(), vec![]).await;
        let acting: BTreeSet<char> = run.page.chars().filter(|&c| clean::acts(c)).collect();
        assert_eq!(acting, BTreeSet::from(['\n']), "json: {json}");
        assert_eq!(run.bot.payloads(), [said(evil)], "what was typed is not touched");
    }
}

#[test]
fn a_signal_says_who_and_where() {
    let console = Console::over(options(false), io::empty(), io::sink(), io::sink());
    let offer = console.offer(None, said("disk usage"));
    let signal = serde_json::to_string_pretty(&offer.signal).expect("a signal is JSON");
    insta::assert_snapshot!(signal, @r#"
    {
      "id": "",
      "event": "k7-1",
      "thread": {
        "platform": "console",
        "account": "web1",
        "space": "",
        "conversation": "console",
        "root": "main"
      },
      "room": "direct",
      "actor": {
        "id": "uid:1000",
        "kind": "human",
        "display": "ada"
      },
      "addressed": "direct",
      "payload": {
        "type": "text",
        "text": "disk usage"
      },
      "depth": 0,
      "ground": "foreground",
      "received_at": 0
    }
    "#);
}

#[test]
fn event_ids_meet_neither_across_starts_nor_across_people() {
    let console = |session: &str, uid: &str| {
        let options = Options { session: session.to_owned(), uid: uid.to_owned(), ..options(true) };
        Console::over(options, io::empty(), io::sink(), io::sink())
    };
    let event = |console: &Console, own: Option<&str>| {
        console.offer(own.map(str::to_owned), said("x")).signal.event.as_str().to_owned()
    };
    let (first, later, other) = (console("k7", "1000"), console("k8", "1000"), console("k9", "1001"));
    let own = Some("k7-1");
    let all = [event(&first, None), event(&first, None), event(&later, None), event(&later, own), event(&other, own)];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    assert_eq!(event(&first, own), event(&later, own), "a script that was cut off repeats its id");
}

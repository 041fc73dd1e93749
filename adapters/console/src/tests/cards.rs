//! Which card a word decides: the one that is shown at a terminal, and none anywhere else.

use countersign_core::port::DeliveryNotes;
use rustyline::ExternalPrinter;

use super::*;

/// A line editor that shows at once what it is given, and keeps it.
struct Editor {
    output: Arc<Output>,
    above: Arc<Mutex<String>>,
}

impl ExternalPrinter for Editor {
    fn print(&mut self, text: String) -> rustyline::Result<()> {
        lock(&self.above).push_str(&text);
        self.output.prompt_drawn();
        Ok(())
    }
}

/// A person at a terminal.
pub(super) struct Desk {
    pub(super) console: Console,
    pub(super) bot: Bot,
    /// What was shown above the prompt.
    pub(super) above: Arc<Mutex<String>>,
    /// What was shown while there was no prompt.
    pub(super) page: Page,
    accepted: mpsc::Receiver<Signal>,
}

impl Desk {
    pub(super) fn new(planned: Vec<Result<Admission, String>>) -> Self {
        let (page, above) = (Page::default(), Arc::default());
        let console =
            Console::build(options(false), Input::Terminal, Box::new(page.clone()), Box::new(io::sink()), false);
        let printer = Editor { output: Arc::clone(&console.output), above: Arc::clone(&above) };
        console.output.set_printer(Box::new(printer));
        let (bot, accepted) = Bot::new(planned);
        Self { console, bot, above, page, accepted }
    }

    /// A signal of an earlier process, or of the engine.
    pub(super) fn other(&self) -> Signal {
        Signal { id: SignalId::new("other"), ..self.console.signal(EventId::new("e0"), said("x")) }
    }

    pub(super) async fn show(&self, message: &Outgoing) {
        assert_eq!(self.console.show("p1", message, DeliveryNotes::default()).await, Delivery::Sent(Vec::new()));
    }

    async fn show_card(&self, number: u128) {
        self.show(&card(&self.other(), number)).await;
    }

    pub(super) async fn type_line(&mut self, line: &str) {
        self.console.take_typed(&self.bot, line).await;
        // An engine that has nothing to say.
        while let Ok(signal) = self.accepted.try_recv() {
            self.console.answered(&signal.id);
        }
    }

    /// What the bot heard last.
    fn last(&self) -> Payload {
        self.bot.payloads().pop().expect("a line was taken")
    }
}

#[tokio::test]
async fn a_word_decides_the_card_that_is_shown() {
    let table = [
        ("approve", decided(1, CardChoice::Approve, "")),
        ("a", decided(1, CardChoice::Approve, "")),
        ("deny", decided(1, CardChoice::Deny, "")),
        ("d it is needed until noon", decided(1, CardChoice::Deny, "it is needed until noon")),
        ("uptime", said("uptime")),
        ("approve 00000000000000000000000000000002", said("approve 00000000000000000000000000000002")),
    ];
    for (line, expected) in table {
        let mut desk = Desk::new(vec![]);
        desk.show_card(1).await;
        desk.type_line(line).await;
        assert_eq!(desk.last(), expected, "{line}");
        desk.type_line("approve").await;
        assert_eq!(desk.last(), said("approve"), "any line that was taken closes the card: {line}");
    }
}

#[tokio::test]
async fn a_look_at_the_details_leaves_the_card_open() {
    let mut desk = Desk::new(vec![]);
    desk.show_card(1).await;
    desk.type_line("Details").await;
    assert_eq!(desk.last(), Payload::Details { plan: PlanId::from_random(1) });
    desk.type_line("approve").await;
    assert_eq!(desk.last(), decided(1, CardChoice::Approve, ""));
    desk.type_line("details").await;
    assert_eq!(desk.last(), said("details"), "without a card the bot reads it");
}

#[tokio::test]
async fn a_typo_leaves_the_card_as_it_is_and_says_what_to_type() {
    let mut desk = Desk::new(vec![]);
    desk.show_card(1).await;
    desk.type_line("aprove").await;
    desk.type_line("yes").await;
    assert_eq!(desk.bot.payloads(), [], "the bot hears nothing of it");
    let told = desk.page.text();
    insta::assert_snapshot!(told.lines().rev().take(2).collect::<Vec<_>>().join("\n"), @"
    “yes” decides nothing. The card still waits. Type only approve or deny (and why).
    “aprove” decides nothing. The card still waits. Type only approve or deny (and why).
    ");
    desk.type_line("approve").await;
    assert_eq!(desk.bot.payloads(), [decided(1, CardChoice::Approve, "")]);
    desk.type_line("aprove").await;
    assert_eq!(desk.last(), said("aprove"), "without a card it is text like any other");
}

#[tokio::test]
async fn what_is_shown_after_a_card() {
    let mut desk = Desk::new(vec![]);
    desk.show_card(1).await;
    desk.show(&outgoing(&desk.other(), Mark::Plain, vec![text("The plan 3 expired.")])).await;
    desk.type_line("approve").await;
    assert_eq!(desk.last(), decided(1, CardChoice::Approve, ""), "what asks nothing leaves the card open");

    desk.show_card(1).await;
    desk.show_card(2).await;
    desk.type_line("approve").await;
    assert_eq!(desk.last(), decided(2, CardChoice::Approve, ""), "another card takes its place");

    desk.show_card(1).await;
    desk.show(&asking(&desk.other(), "q1")).await;
    desk.type_line("approve").await;
    assert_eq!(desk.last(), said("approve"), "a question takes its place");

    desk.show(&asking(&desk.other(), "q1")).await;
    desk.show_card(1).await;
    desk.type_line("1").await;
    assert_eq!(desk.last(), said("1"), "and it takes a question's");
}

#[tokio::test]
async fn a_line_that_was_not_taken_means_the_same_again() {
    let mut desk = Desk::new(vec![Ok(Admission::Busy), Err("disk full".to_owned())]);
    desk.show_card(1).await;
    for line in ["approve", "", "approve", "approve"] {
        desk.type_line(line).await;
    }
    assert_eq!(desk.bot.payloads(), [decided(1, CardChoice::Approve, "")]);
}

/// What `approve` says where card 2 comes while this stands at the prompt, after card 1 or after nothing.
async fn card_above(typed: &str, before: Option<u128>, number: u128) -> Payload {
    let mut desk = Desk::new(vec![]);
    if let Some(before) = before {
        desk.show_card(before).await;
    }
    desk.console.output.open_prompt(80);
    desk.console.output.line_is_begun(!typed.is_empty());
    desk.show_card(number).await;
    assert!(lock(&desk.above).contains("Type approve, deny (and why), or details."));
    desk.console.output.close_prompt();
    desk.type_line("approve").await;
    desk.last()
}

#[tokio::test]
async fn a_line_that_was_begun_before_a_card_came_does_not_decide_it() {
    assert_eq!(card_above("", None, 2).await, decided(2, CardChoice::Approve, ""));
    assert_eq!(card_above("", Some(1), 2).await, decided(2, CardChoice::Approve, ""));
    assert_eq!(card_above("appr", None, 2).await, said("approve"));
    assert_eq!(card_above("appr", Some(1), 2).await, said("approve"), "neither is it about the card before");
    assert_eq!(card_above("appr", Some(1), 1).await, decided(1, CardChoice::Approve, ""), "a repeat is no other card");
}

/// An editor whose prompt is closed by a line just when it has shown a text.
struct Entered(Arc<Output>);

impl ExternalPrinter for Entered {
    fn print(&mut self, _: String) -> rustyline::Result<()> {
        self.0.close_prompt();
        self.0.prompt_drawn();
        Ok(())
    }
}

#[tokio::test]
async fn a_line_that_was_entered_as_a_card_came_does_not_decide_it() {
    let console = Console::build(options(false), Input::Terminal, Box::new(io::sink()), Box::new(io::sink()), false);
    console.output.set_printer(Box::new(Entered(Arc::clone(&console.output))));
    console.output.open_prompt(80);
    let signal = console.signal(EventId::new("e"), said("x"));
    console.show("p1", &card(&signal, 1), DeliveryNotes::default()).await;
    assert_eq!(console.payload("approve"), said("approve"));
}

#[tokio::test]
async fn a_terminal_that_does_not_tell_what_is_typed_is_not_trusted() {
    let console = Console::build(options(false), Input::Terminal, Box::new(io::sink()), Box::new(io::sink()), false);
    let signal = console.signal(EventId::new("e"), said("x"));
    console.output.open_prompt(0);
    console.show("p1", &card(&signal, 1), DeliveryNotes::default()).await;
    assert_eq!(console.payload("approve"), said("approve"));
    console.output.close_prompt();
    console.show("p1", &card(&signal, 2), DeliveryNotes::default()).await;
    assert_eq!(console.payload("approve"), decided(2, CardChoice::Approve, ""));
}

#[tokio::test]
async fn the_card_of_another_thread_is_not_decided_from_here() {
    let mut desk = Desk::new(vec![]);
    let mut other = card(&desk.other(), 2);
    other.to.root = ThreadRoot::new("night");
    desk.show_card(1).await;
    desk.show(&other).await;
    desk.type_line("approve").await;
    assert_eq!(desk.last(), said("approve"));
}

#[tokio::test]
async fn in_a_pipe_a_word_decides_nothing() {
    let run = run(options(false), b"stop sleep\napprove\nstop sleep\ndeny not now\n", vec![]).await;
    insta::assert_snapshot!(run.page, @r"
    > stop sleep
    ? Countersign this? Plan 1.
    To decide it: approve 00000000000000000000000000000001   or: deny 00000000000000000000000000000001 and why
    > approve
    You said: approve
    > stop sleep
    ? Countersign this? Plan 1.
    To decide it: approve 00000000000000000000000000000001   or: deny 00000000000000000000000000000001 and why
    > deny not now
    You said: deny not now
    ");
}

#[tokio::test]
async fn in_json_an_object_decides_and_a_word_does_not() {
    let digest = digest(1);
    let decision = format!(
        "{{\"plan\":\"{}\",\"digest\":\"{digest}\",\"choice\":\"deny\",\"reason\":\"not now\"}}",
        PlanId::from_random(1),
        digest = digest.as_str(),
    );
    let run = run(options(true), format!("stop sleep\napprove\n{decision}\n").as_bytes(), vec![]).await;
    let expected = [said("stop sleep"), said("approve"), decided(1, CardChoice::Deny, "not now")];
    assert_eq!(run.bot.payloads(), expected);
}

//! A person at a real terminal: a word decides the card that is shown, and only that one.

use std::process::Command;

use countersign_model_fake::{Fake, Turn};
use regex::Regex;

use super::plain;
use crate::support::bot::{Home, lives};
use crate::support::terminal::{PROMPT, Terminal};

/// The words on the screen from a line that was typed on to the next prompt. Where a line is wrapped depends on how long
/// the numbers of this run are.
fn after(home: &Home, screen: &str, typed: &str) -> String {
    let (_, rest) = screen.rsplit_once(&format!("{PROMPT}{typed}\n")).unwrap_or_else(|| panic!("{typed}: {screen}"));
    let shown = rest.split(PROMPT.trim_end()).next().unwrap_or_default();
    plain(home, &shown.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_typed_word_decides_the_card_that_is_shown() {
    let home = Home::new();
    let (one, two) = (home.process("napper", &[]), home.process("napper", &[]));
    let mut terminal = Terminal::start(&home.bot());
    let stop = format!("stop process {}", one.pid());
    terminal.ask(&stop);
    let screen = terminal.screen();
    insta::assert_snapshot!(after(&home, &screen, &stop), @"? PERSON asks to stop process napper (pid PID) on HOST. It is: HOME/napper -c read line napper Medium risk. It will be gone. PERSON (alone; the record says so) can approve until TIME. Plan SHORT: “stop process PID” Type approve, deny (and why), or details.");
    assert!(lives(one.pid()));
    terminal.ask("approve");
    insta::assert_snapshot!(after(&home, &terminal.screen(), "approve"), @"Done and verified: stop process napper (pid PID). A fresh read shows that napper is gone.");
    assert!(!lives(one.pid()));

    // After another message the word is text like any other: it is no longer clear what it means.
    terminal.ask(&format!("stop process {}", two.pid()));
    terminal.ask("who am i");
    terminal.ask("approve");
    insta::assert_snapshot!(after(&home, &terminal.screen(), "approve"), @"? This plan waits here. To approve it, use its card, or type `approve SHORT` now: PERSON asks to stop process napper (pid PID) on HOST. It is: HOME/napper -c read line napper Medium risk. It will be gone. PERSON (alone; the record says so) can approve until TIME. Plan SHORT: “stop process PID” Type approve, deny (and why), or details.");
    assert!(lives(two.pid()));
    assert!(terminal.leave("quit"), "{}", terminal.screen());
}

/// A process that the kernel holds still. It goes on when this is dropped.
struct HeldStill(u32);

impl HeldStill {
    fn new(pid: u32) -> Self {
        tell(pid, "STOP");
        Self(pid)
    }
}

impl Drop for HeldStill {
    fn drop(&mut self) {
        tell(self.0, "CONT");
    }
}

fn tell(pid: u32, signal: &str) {
    let told = Command::new("kill").args(["-s", signal, &pid.to_string()]).status();
    assert!(told.is_ok_and(|status| status.success()), "{signal} {pid}");
}

#[test]
fn a_word_typed_before_the_card_came_does_not_decide_it() {
    let home = Home::new();
    let (one, two) = (home.process("napper", &[]), home.process("napper", &[]));
    let mut terminal = Terminal::start(&home.bot());
    terminal.ask("disk usage");
    terminal.ask("status");
    let server = Regex::new(r"runs as process (\d+)").expect("a sound pattern");
    let server = server.captures(&terminal.screen()).and_then(|found| found[1].parse().ok());
    let held = HeldStill::new(server.expect("a tool server runs"));
    terminal.ask_and_type_ahead(&format!("stop process {}", one.pid()), "approve", || drop(held));
    assert!(terminal.screen().contains(" asks to "), "{}", terminal.screen());
    terminal.ask("approvals");
    assert!(terminal.screen().contains("pending") && lives(one.pid()), "{}", terminal.screen());

    // A paste is read at one go, so that the word is in the line editor before the card is.
    terminal.paste(&[&format!("stop process {}", two.pid()), "approve"]);
    terminal.ask("approvals");
    assert!(!terminal.screen().contains("Done and verified"), "{}", terminal.screen());
    assert!(lives(one.pid()) && lives(two.pid()));
    assert!(terminal.leave("quit"), "{}", terminal.screen());
}

/// What is typed while something is worked on, or comes at one go, is asked line by line, and none is lost.
#[test]
fn what_is_typed_ahead_is_heard_in_its_order() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home.bot());
    terminal.paste(&["who am i", "approvals", "limits"]);
    terminal.until_answered("a minute");
    let screen = terminal.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text}: {screen}"));
    assert!(at("you are") < at("No plan is open") && at("No plan is open") < at("a minute"), "{screen}");
    assert!(terminal.leave("quit"), "{}", terminal.screen());
}

/// The prompt is away while somebody waits; they need not guess how to get it back.
#[test]
fn whoever_waits_long_is_told_how_to_go_on() {
    let (home, model) = (Home::new(), Fake::start(vec![Turn::Hangs]));
    let mut bot = home.bot();
    bot.env("COUNTERSIGN_MODEL__BASE_URL", model.base_url()).env("COUNTERSIGN_MODEL__SMART", "big");
    let mut terminal = Terminal::start(&bot);
    terminal.type_only("why do my customers complain");
    terminal.until_answered("This takes a while. Ctrl-C gives the prompt back.");
    terminal.ask("\u{3}");
    assert!(terminal.screen().contains("Still working on it."), "{}", terminal.screen());
    terminal.ask("stop");
    terminal.until_answered("asked for that. Nothing was changed.");
    assert!(terminal.leave("quit"), "{}", terminal.screen());
}

/// A card takes a new line editor, so that nothing typed before decides it: what comes later is shown above that one's prompt,
/// and it lets the bot end.
#[test]
fn what_comes_after_a_card_is_shown_above_the_prompt() {
    let (home, model) = (Home::new(), Fake::start(vec![Turn::Held(Box::new(Turn::says("Ask the till.")))]));
    let napper = home.process("napper", &[]);
    let mut bot = home.bot();
    bot.env("COUNTERSIGN_MODEL__BASE_URL", model.base_url()).env("COUNTERSIGN_MODEL__SMART", "big");
    let mut terminal = Terminal::start(&bot);
    terminal.ask(&format!("stop process {}", napper.pid()));
    terminal.ask("deny");
    terminal.type_only("why do my customers complain");
    terminal.until_answered("This takes a while.");
    terminal.ask("\u{3}");
    model.release();
    terminal.until_answered("Ask the till.\ncountersign>");
    assert!(terminal.terminate(), "{}", terminal.screen());
}

#[test]
fn a_typed_no_has_its_reason() {
    let home = Home::new();
    let napper = home.process("napper", &[]);
    let mut terminal = Terminal::start(&home.bot());
    terminal.ask(&format!("stop process {}", napper.pid()));
    terminal.ask("deny not during the backup");
    insta::assert_snapshot!(after(&home, &terminal.screen(), "deny not during the backup"), @"Denied: stop process napper (pid PID). Reason: not during the backup. Nothing was changed.");
    terminal.ask("approve");
    insta::assert_snapshot!(after(&home, &terminal.screen(), "approve"), @"? No plan waits in this thread, so there is nothing to approve.");
    assert!(lives(napper.pid()));
    assert!(terminal.leave("quit"), "{}", terminal.screen());
}

//! A room in which somebody talks with a bot that has a model behind it: the console, or a thread of a group on Telegram. What
//! is said in it reads the same in both.

use countersign_model_fake::Fake;
use serde_json::Value;

use crate::support::bot::{Answer, Bot, Home, until};
use crate::support::chat::{Chat as _, Shown};
use crate::support::database;
use crate::support::telegram::{ANN, BOB, Script, Stage};

/// Which kind of room.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Console,
    Telegram,
}

/// One thread of one bot's.
pub(super) enum Room {
    Console(Box<Console>),
    Telegram(Box<Group>),
}

pub(super) struct Console {
    bot: Bot,
    home: Home,
    /// Everything that was said.
    said: Vec<String>,
    /// Where what was answered last begins in it.
    last: usize,
}

pub(super) struct Group {
    stage: Stage,
    /// What was asked last.
    asked: i64,
    /// What is answered next, so that everything is one thread.
    next: Option<i64>,
}

impl Room {
    /// A bot that asks this server's models. The configuration begins among the keys of `[model]`.
    pub(super) async fn with(place: Place, model: &Fake, config: &str) -> Self {
        let config = format!("[model]\nbase_url = \"{}\"\nsmart = \"big\"\n{config}", model.base_url());
        match place {
            Place::Console => {
                let home = Home::new();
                home.write("countersign.toml", config);
                Self::Console(Box::new(Console { bot: Bot::json(&home), home, said: Vec::new(), last: 0 }))
            }
            Place::Telegram => {
                let stage = Stage::with(Script { config: &config, ..Script::default() }).await;
                Self::Telegram(Box::new(Group { stage, asked: 0, next: None }))
            }
        }
    }

    /// Asks, and waits for an answer with these words in it.
    pub(super) async fn ask(&mut self, question: &str, words: &str) -> String {
        match self {
            Self::Console(console) => console.ask(question).with(words),
            Self::Telegram(group) => group.ask(question).answer(words).await,
        }
    }

    /// What else is said to the last question: waits for these words.
    pub(super) async fn hear(&mut self, words: &str) -> String {
        match self {
            Self::Console(console) => console.with(words),
            Self::Telegram(group) => group.answer(words).await,
        }
    }

    /// Asks for a change, has its card countersigned, and waits for what came of it.
    pub(super) async fn change(&mut self, question: &str, words: &str) -> String {
        match self {
            Self::Console(console) => {
                let card = console.bot.ask(question).card();
                console.ask(&card.approve()).with(words)
            }
            Self::Telegram(group) => {
                group.ask(question);
                let card = group.stage.card_of(group.stage.ops, group.asked).await;
                group.next = Some(card.message);
                group.stage.approve(BOB, &card).await;
                text(&group.stage.said(group.stage.ops, words).await)
            }
        }
    }

    /// Presses the only button of the last answer, which bears these words, and waits for what is said to that.
    pub(super) async fn press(&mut self, label: &str, words: &str) -> String {
        match self {
            Self::Console(console) => console.ask("1").with(words),
            Self::Telegram(group) => {
                let (stage, answer) = (&group.stage, group.next.expect("something was answered"));
                stage.fake.press(ANN, stage.ops, answer, label);
                text(&stage.said(stage.ops, words).await)
            }
        }
    }

    /// Asks, waits until the model thinks, and says that it is to stop: what is said to that, and how the question ends.
    pub(super) async fn stop(&mut self, question: &str, thinks: impl Fn() -> bool) -> (String, String) {
        const STOPPING: &str = "I stop working on";
        const STOPPED: &str = "asked for that";
        match self {
            Self::Console(console) => {
                console.bot.say(question);
                until("the model thinks", thinks);
                console.bot.say("stop");
                let answers = console.bot.answers(2);
                console.hear(&answers);
                (console.with(STOPPING), console.with(STOPPED))
            }
            Self::Telegram(group) => {
                let asked = group.ask(question).asked;
                until("the model thinks", thinks);
                let stage = &group.stage;
                let stop = stage.fake.to_the_bot(stage.ops, "stop");
                let stopping = text(&stage.reply(ANN, (stage.ops, asked), &stop, STOPPING).await);
                (stopping, group.answer(STOPPED).await)
            }
        }
    }

    /// The calls that were made, by the audit trail.
    pub(super) async fn calls(&self) -> Vec<String> {
        let file = match self {
            Self::Console(console) => console.home.data().join("countersign.db"),
            Self::Telegram(group) => group.stage.database(),
        };
        let trail = database::trail(&file).await;
        let called = trail.iter().filter(|row| row["what"] == "called");
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        called.map(|row| format!("{}.{}", text(row, "tool"), text(row, "action"))).collect()
    }

    /// Everything that left the bot so far for people to see, also what was changed or taken back since; the room is over.
    pub(super) fn sent(self) -> String {
        match self {
            Self::Console(console) => format!("{}\n{}", console.said.join("\n"), console.bot.end().out),
            Self::Telegram(group) => format!("{:?}", group.stage.fake.log()),
        }
    }
}

impl Console {
    fn ask(&mut self, line: &str) -> &Self {
        let answer = self.bot.ask(line);
        self.hear(&[answer]);
        self
    }

    fn hear(&mut self, answers: &[Answer]) {
        self.last = self.said.len();
        self.said.extend(answers.iter().flat_map(|answer| &answer.messages).map(drawn));
    }

    /// Of what was answered last, the message with these words in it.
    fn with(&self, words: &str) -> String {
        let last = &self.said[self.last..];
        let found = last.iter().find(|text| text.contains(words));
        found.unwrap_or_else(|| panic!("{words:?} is not in {last:?}")).clone()
    }
}

impl Group {
    fn ask(&mut self, words: &str) -> &mut Self {
        self.asked = match self.next {
            None => self.stage.say(ANN, self.stage.ops, words),
            Some(_) => self.stage.fake.write(ANN, self.stage.ops, words, self.next),
        };
        self
    }

    /// Waits for an answer to what was asked last.
    async fn answer(&mut self, words: &str) -> String {
        let shown = self.stage.answer(self.stage.ops, self.asked, words).await;
        self.next = Some(shown.id);
        text(&shown)
    }
}

/// A message as a chat draws it: with its mark, with its choices as buttons too, and without markup.
fn drawn(message: &Value) -> String {
    let alone = Answer { messages: vec![message.clone()] };
    let mark = match alone.mark() {
        "refused" => "⛔ ",
        "failed" => "❌ ",
        _ => "",
    };
    // A chat draws a quotation without signs; that it is one is tested in `model/steps.rs` and beside each adapter's drawing.
    let mut text = format!("{mark}{}", alone.text().replace('`', "").replace("\n| ", "\n"));
    let blocks = message["blocks"].as_array().into_iter().flatten();
    let choices = blocks.filter_map(|block| block["choices"].as_array()).flatten();
    for (at, choice) in choices.enumerate() {
        let word = |key: &str| choice[key].as_str().unwrap_or_default();
        let (label, about) = (word("label"), word("about"));
        text = text.replace(&format!("{label} | {about}"), &format!("{}) {label} - {about}", at + 1));
        text = format!("{text}\n[{label}]");
    }
    text.replace(" | ", ": ")
}

fn text(shown: &Shown) -> String {
    let buttons = shown.buttons.iter().map(|(label, _)| format!("\n[{label}]"));
    format!("{}{}", shown.text, buttons.collect::<String>())
}

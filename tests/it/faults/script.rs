//! What the people do: they ask, mostly for a canned answer, sometimes for a file or for a change, and press the buttons of
//! each other's cards. All of it from one seed. What comes of it is judged elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_telegram_fake::{ChatId, Fake, Message, Say};
use tokio::sync::watch;

use super::cast::{Cast, Kind, Room};
use super::facts::{Asked, What};
use super::stored::unfinished;
use super::until;
use crate::kill::Chance;

/// How much may be unfinished at a time: enough that a kill meets many, few enough that nobody waits for long.
const OPEN_MAX: usize = 40;

/// How many messages are said between two looks at what is open.
const BREATH: usize = 10;

/// How long what is open may take: a start after a kill, and whatever was asked to wait.
const OPEN_LONGEST: Duration = Duration::from_mins(2);

/// How long the last things may take: an outcome that nobody knows is looked at after about half a minute.
const SETTLE_LONGEST: Duration = Duration::from_mins(3);

/// What people do about a card.
#[derive(Clone, Copy, Debug)]
enum Plot {
    Approve,
    /// Two people at once.
    ApproveTwice,
    /// Whoever asked for it tries, and then somebody else does.
    ApproveOwn,
    Deny,
    Leave,
}

/// A change that was asked for, and what is to be done about its card.
struct Change {
    token: String,
    chat: ChatId,
    asker: i64,
    others: [i64; 2],
    plot: Plot,
}

/// The people, and what they have done.
pub(super) struct Script {
    fake: Fake,
    database: PathBuf,
    desk: PathBuf,
    cast: Cast,
    chance: Chance,
    asked: Vec<Asked>,
    /// Those whose card was not pressed yet.
    waiting: Vec<Change>,
    /// Where the message before was said, and which it was.
    last: Option<(usize, i64)>,
    /// How many messages were said.
    said: watch::Sender<usize>,
}

/// What tells a message from all others, and is part of no other.
fn token(number: usize) -> String {
    format!("q{number:05}z")
}

/// The first token in a text.
pub(super) fn token_in(text: &str) -> Option<String> {
    let is_token = |part: &&str| {
        let digits = part.strip_prefix('q').and_then(|rest| rest.strip_suffix('z'));
        digits.is_some_and(|digits| digits.len() == 5 && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).find(is_token).map(str::to_owned)
}

impl Script {
    pub(super) fn new(fake: &Fake, cast: Cast, (desk, database): (&Path, PathBuf), seed: u64) -> Self {
        Self {
            fake: fake.clone(),
            database,
            desk: desk.to_owned(),
            cast,
            chance: Chance::new(seed),
            asked: Vec::new(),
            waiting: Vec::new(),
            last: None,
            said: watch::Sender::new(0),
        }
    }

    /// Rings with each message that is said.
    pub(super) fn bell(&self) -> watch::Receiver<usize> {
        self.said.subscribe()
    }

    /// Says so many messages and presses what they lead to, without ever leaving more than some open.
    pub(super) async fn play(&mut self, messages: usize) {
        for number in 0..messages {
            self.say(number);
            self.said.send_replace(number + 1);
            if number % BREATH == 0 {
                self.breathe().await;
            }
        }
    }

    /// Presses whatever card comes, and waits until nothing is left to be done.
    pub(super) async fn settle(&mut self) {
        let (fake, database) = (self.fake.clone(), self.database.clone());
        let missing = async || format!("unfinished is {:#?}", unfinished(&database).await);
        until(SETTLE_LONGEST, missing, async || {
            self.press_cards();
            let is_done = fake.unread() == 0 && unfinished(&database).await.is_empty();
            // What came out while the database was looked at.
            (is_done && !self.press_cards()).then_some(())
        })
        .await;
    }

    async fn breathe(&mut self) {
        let (fake, database) = (self.fake.clone(), self.database.clone());
        let missing = async || format!("too much stays open: {:#?}", unfinished(&database).await);
        until(OPEN_LONGEST, missing, async || {
            self.press_cards();
            (fake.unread() + unfinished(&database).await.len() < OPEN_MAX).then_some(())
        })
        .await;
    }

    /// One message: often where the one before was said, so that the order of a thread is put to the test.
    fn say(&mut self, number: usize) {
        let token = token(number);
        let follows = self.last.filter(|_| self.chance.below(2) == 0);
        let place = follows.map_or_else(|| self.chance.index(self.cast.rooms.len()), |(room, _)| room);
        let room = self.cast.rooms[place].clone();
        let from = room.people[self.chance.index(room.people.len())];
        let (what, text) = self.wish(&room, &token, from);
        let said = self.addressed(&room, &text, from, follows.map(|(_, message)| message));
        let message = self.fake.say(said);
        self.last = Some((place, message));
        self.asked.push(Asked { token, event: format!("{}:{message}", room.chat.0), what });
    }

    /// What somebody wants.
    fn wish(&mut self, room: &Room, token: &str, from: i64) -> (What, String) {
        let others: Vec<i64> = room.people.iter().copied().filter(|other| *other != from).collect();
        match self.chance.below(100) {
            // Nobody could countersign it in a private chat.
            0..=19 if room.kind != Kind::Private => {
                let first = self.chance.index(others.len());
                let others = [others[first], others[(first + 1) % others.len()]];
                let plot = self.plot();
                self.waiting.push(Change { token: token.to_owned(), chat: room.chat, asker: from, others, plot });
                (What::Change { times: 0 }, format!("append to {}: line-{token}", self.file(token).display()))
            }
            20..=39 => {
                let note = self.desk.join(format!("note-{token}.txt"));
                std::fs::write(&note, format!("read {token}\n")).expect("a file can be written");
                (What::Read, format!("show file {}", note.display()))
            }
            _ => (What::Ping, format!("ping {token}")),
        }
    }

    fn plot(&mut self) -> Plot {
        match self.chance.below(20) {
            0..=10 => Plot::Approve,
            11..=14 => Plot::ApproveTwice,
            15..=16 => Plot::ApproveOwn,
            17..=18 => Plot::Deny,
            _ => Plot::Leave,
        }
    }

    /// The file that a change is made to: one of its own, so that no other change stands between its card and its decision.
    fn file(&self, token: &str) -> PathBuf {
        self.desk.join(format!("own-{token}.txt"))
    }

    /// The message, so that the bot takes it for itself: by its name, or as an answer to something that it said.
    fn addressed(&mut self, room: &Room, text: &str, from: i64, follows: Option<i64>) -> Say {
        let named = format!("@{} {text}", self.fake.bot_username());
        match (room.kind, room.topic()) {
            (Kind::Private, _) => Say::new(from, room.chat, text),
            (_, Some(topic)) => Say::new(from, room.chat, &named).topic(topic),
            (_, None) => match (self.chance.below(3), follows, self.answer_in(room.chat)) {
                (0, _, Some(answer)) => Say::new(from, room.chat, text).reply_to(answer),
                (1, Some(message), _) => Say::new(from, room.chat, &named).reply_to(message),
                _ => Say::new(from, room.chat, &named),
            },
        }
    }

    /// One of the bot's answers in a chat.
    fn answer_in(&mut self, chat: ChatId) -> Option<i64> {
        let answers: Vec<i64> =
            self.fake.messages(chat, None).iter().filter(|it| is_answer(it)).map(|it| it.id).collect();
        if answers.is_empty() { None } else { Some(answers[self.chance.index(answers.len())]) }
    }

    /// Presses the cards that are shown by now; whether there was one.
    fn press_cards(&mut self) -> bool {
        let chats: BTreeSet<ChatId> = self.waiting.iter().map(|change| change.chat).collect();
        let mut pressed = false;
        for chat in chats {
            let messages = self.fake.messages(chat, None);
            let shown = |change: &Change| {
                let of_it = messages.iter().filter(|message| is_card_of(message, &change.token));
                let ids: Vec<i64> = of_it.map(|message| message.id).collect();
                (change.chat == chat && !ids.is_empty()).then_some(ids)
            };
            let found: Vec<(usize, Vec<i64>)> =
                self.waiting.iter().enumerate().filter_map(|(at, change)| Some((at, shown(change)?))).collect();
            for (at, cards) in found.into_iter().rev() {
                let change = self.waiting.swap_remove(at);
                self.press(&change, &cards);
                pressed = true;
            }
        }
        pressed
    }

    /// Presses one card; where there are copies of it, each of two people takes another.
    fn press(&mut self, change: &Change, cards: &[i64]) {
        let [first, second] = change.others;
        let presses: &[(i64, &str)] = match change.plot {
            Plot::Approve => &[(first, "Approve")],
            Plot::ApproveTwice => &[(first, "Approve"), (second, "Approve")],
            Plot::ApproveOwn => &[(change.asker, "Approve"), (first, "Approve")],
            Plot::Deny => &[(first, "Deny")],
            Plot::Leave => &[],
        };
        for ((user, label), card) in presses.iter().zip(cards.iter().cycle()) {
            // The first of two may have taken the buttons away by now.
            let Ok(callback) = self.fake.try_press(*user, change.chat, *card, label) else { continue };
            let what = What::Press { approves: *label == "Approve" && *user != change.asker };
            self.asked.push(Asked { token: change.token.clone(), event: format!("cb:{callback}"), what });
        }
    }

    /// Everything that was done, with how often each line stands in its file now.
    pub(super) fn asked(&self) -> Vec<Asked> {
        let mut all = self.asked.clone();
        for asked in &mut all {
            let What::Change { times } = &mut asked.what else { continue };
            let text = std::fs::read_to_string(self.file(&asked.token)).unwrap_or_default();
            *times = text.matches(&format!("line-{}", asked.token)).count();
        }
        all
    }
}

fn is_answer(message: &Message) -> bool {
    message.from_bot && !message.deleted && token_in(&message.text).is_some()
}

fn is_card_of(message: &Message, token: &str) -> bool {
    message.from_bot && !message.deleted && message.button("Approve").is_some() && message.text.contains(token)
}

//! What the people do: they ask, mostly for a canned answer, sometimes for a file or for a change, and press the buttons of
//! each other's cards. All of it from one seed. What comes of it is judged elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;

use super::cast::{Cast, Kind, Place};
use super::facts::{Asked, What};
use super::run::patience;
use super::stored::{taken, unfinished};
use super::unruly::{Pressed, Unruly};
use super::until;
use crate::kill::Chance;
use crate::support::chat::Shown;

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
struct Change<R> {
    token: String,
    room: R,
    asker: i64,
    others: [i64; 2],
    plot: Plot,
}

/// The people, and what they have done.
pub(super) struct Script<C: Unruly> {
    fake: C,
    database: PathBuf,
    desk: PathBuf,
    cast: Cast<C>,
    chance: Chance,
    asked: Vec<Asked>,
    /// What each listener was told of and had not taken when it was last looked.
    told: Vec<(String, String)>,
    /// Those whose card was not pressed yet.
    waiting: Vec<Change<C::Room>>,
    /// Presses of which something is asked before they count, each with the token of its change.
    pressing: Vec<(String, String)>,
    /// Where the message before was said, and which it was.
    last: Option<(usize, i64)>,
    /// Whether something was said since the last listener was gone.
    is_said_to_nobody: bool,
    /// How many tokens were given.
    numbers: usize,
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

impl<C: Unruly> Script<C> {
    pub(super) fn new(fake: &C, cast: Cast<C>, (desk, database): (&Path, PathBuf), seed: u64) -> Self {
        Self {
            fake: fake.clone(),
            database,
            desk: desk.to_owned(),
            cast,
            chance: Chance::new(seed),
            asked: Vec::new(),
            told: Vec::new(),
            waiting: Vec::new(),
            pressing: Vec::new(),
            last: None,
            is_said_to_nobody: false,
            numbers: 0,
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
            self.say();
            self.said.send_replace(number + 1);
            // Saying it may have taken a while: whoever kills the bot has a say between any two.
            tokio::task::yield_now().await;
            if number % BREATH == 0 {
                self.breathe().await;
            }
        }
    }

    /// Presses whatever card comes, and waits until nothing is left to be done: then the bot has also taken what is said last
    /// everywhere, behind which nothing waits.
    pub(super) async fn settle(&mut self) {
        let (fake, database) = (self.fake.clone(), self.database.clone());
        let told = std::cell::RefCell::new(Vec::new());
        let missing =
            async || format!("unfinished is {:#?}, not taken {:#?}", unfinished(&database).await, told.borrow());
        let mut is_said = false;
        until(SETTLE_LONGEST + patience(), missing, async || {
            if self.press_cards() {
                is_said = false;
            }
            let is_on_its_way = self.on_their_way().await > 0;
            told.replace(self.told.clone());
            if fake.listener().is_none() || is_on_its_way || !unfinished(&database).await.is_empty() {
                return None;
            }
            // What came out while the database was looked at.
            if is_said && !self.press_cards() {
                return Some(());
            }
            self.say_everywhere();
            is_said = true;
            None
        })
        .await;
    }

    /// One more message in each place.
    fn say_everywhere(&mut self) {
        for place in self.cast.places.clone() {
            let (token, from) = (token(self.numbers), place.people[0]);
            self.numbers += 1;
            let text = self.fake.to_the_bot(place.room, &format!("ping {token}"));
            self.post(&place, (from, text, None), (token, What::Ping));
        }
    }

    /// How much was told to whoever listens now and is not taken yet. What was told to a listener that is gone is not on its
    /// way any more.
    async fn on_their_way(&mut self) -> usize {
        let listener = self.fake.listener();
        self.told.retain(|(to, _)| Some(to) == listener.as_ref());
        let taken = if self.told.is_empty() { BTreeSet::new() } else { taken(&self.database).await };
        self.told.retain(|(_, event)| !taken.contains(event));
        self.told.len()
    }

    /// Remembers what was done, of which this listener is told.
    fn note(&mut self, (token, event, what): (String, String, What), (calls, listener): (usize, Option<String>)) {
        let is_heard = listener.is_some();
        self.told.extend(listener.map(|listener| (listener, event.clone())));
        self.asked.push(Asked { token, event, what, calls, is_heard });
    }

    /// How many calls there were, and who listens.
    fn moment(&self) -> (usize, Option<String>) {
        (self.fake.mark(), self.fake.listener())
    }

    async fn breathe(&mut self) {
        let (fake, database) = (self.fake.clone(), self.database.clone());
        let missing = async || format!("too much stays open: {:#?}", unfinished(&database).await);
        until(OPEN_LONGEST + patience(), missing, async || {
            self.press_cards();
            // Where nobody listens, what is said may be lost: some of it is said then, and not all.
            if fake.listener().is_none() {
                return (!std::mem::replace(&mut self.is_said_to_nobody, true)).then_some(());
            }
            self.is_said_to_nobody = false;
            (self.on_their_way().await + unfinished(&database).await.len() < OPEN_MAX).then_some(())
        })
        .await;
    }

    /// One message: often where the one before was said, so that the order of a thread is put to the test.
    fn say(&mut self) {
        let token = token(self.numbers);
        self.numbers += 1;
        let follows = self.last.filter(|_| self.chance.below(2) == 0);
        let at = follows.map_or_else(|| self.chance.index(self.cast.places.len()), |(place, _)| place);
        let place = self.cast.places[at].clone();
        let from = place.people[self.chance.index(place.people.len())];
        let (what, text) = self.wish(&place, &token, from);
        let (text, reply_to) = self.addressed(&place, text, follows.map(|(_, message)| message));
        let message = self.post(&place, (from, text, reply_to), (token, what));
        self.last = Some((at, message));
    }

    /// Says it, and remembers what it was. The message.
    fn post(
        &mut self,
        place: &Place<C::Room>,
        (from, text, reply_to): (i64, String, Option<i64>),
        (token, what): (String, What),
    ) -> i64 {
        let moment = self.moment();
        let message = self.fake.say_in(place, from, &text, reply_to);
        self.note((token, self.fake.event(place.room, message), what), moment);
        message
    }

    /// What somebody wants.
    fn wish(&mut self, place: &Place<C::Room>, token: &str, from: i64) -> (What, String) {
        let others: Vec<i64> = place.people.iter().copied().filter(|other| *other != from).collect();
        match self.chance.below(100) {
            // Nobody could countersign it in a private chat.
            0..=19 if place.kind != Kind::Private => {
                let first = self.chance.index(others.len());
                let others = [others[first], others[(first + 1) % others.len()]];
                let plot = self.plot();
                self.waiting.push(Change { token: token.to_owned(), room: place.room, asker: from, others, plot });
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

    /// The words, so that the bot takes them for itself: by its name, or as an answer to something that it said.
    fn addressed(&mut self, place: &Place<C::Room>, text: String, follows: Option<i64>) -> (String, Option<i64>) {
        let named = self.fake.to_the_bot(place.room, &text);
        if place.kind != Kind::Group {
            return (named, None);
        }
        match (self.chance.below(3), follows, self.answer_in(place.room)) {
            (0, _, Some(answer)) => (text, Some(answer)),
            (1, Some(message), _) => (named, Some(message)),
            _ => (named, None),
        }
    }

    /// One of the bot's answers in a room.
    fn answer_in(&mut self, room: C::Room) -> Option<i64> {
        let answers: Vec<i64> = self.fake.all(room).iter().filter(|it| is_answer(it)).map(|it| it.id).collect();
        if answers.is_empty() { None } else { Some(answers[self.chance.index(answers.len())]) }
    }

    /// Presses the cards that are shown by now, and says what a press asked for; whether there was anything of it.
    fn press_cards(&mut self) -> bool {
        let mut rooms: Vec<C::Room> = Vec::new();
        for change in &self.waiting {
            if !rooms.contains(&change.room) {
                rooms.push(change.room);
            }
        }
        let mut pressed = self.answer_what_is_asked();
        for room in rooms {
            let messages = self.fake.all(room);
            let shown = |change: &Change<C::Room>| {
                let of_it = messages.iter().filter(|message| is_card_of(message, &change.token));
                let ids: Vec<i64> = of_it.map(|message| message.id).collect();
                (change.room == room && !ids.is_empty()).then_some(ids)
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
    fn press(&mut self, change: &Change<C::Room>, cards: &[i64]) {
        let [first, second] = change.others;
        let presses: &[(i64, &str)] = match change.plot {
            Plot::Approve => &[(first, "Approve")],
            Plot::ApproveTwice => &[(first, "Approve"), (second, "Approve")],
            Plot::ApproveOwn => &[(change.asker, "Approve"), (first, "Approve")],
            Plot::Deny => &[(first, "Deny")],
            Plot::Leave => &[],
        };
        for ((user, label), card) in presses.iter().zip(cards.iter().cycle()) {
            let approves = *label == "Approve" && *user != change.asker;
            let moment = self.moment();
            // The first of two may have taken the buttons away by now.
            match self.fake.press_if_there(*user, (change.room, *card), label) {
                Some(Pressed::Counts(event)) => {
                    self.note((change.token.clone(), event, What::Press { approves }), moment);
                }
                Some(Pressed::Asks(press)) => self.pressing.push((change.token.clone(), press)),
                None => {}
            }
        }
    }

    /// Says what presses asked for by now. Who is never asked has pressed nothing.
    fn answer_what_is_asked(&mut self) -> bool {
        let mut answered = false;
        for (token, press) in std::mem::take(&mut self.pressing) {
            let moment = self.moment();
            match self.fake.answer_what_is_asked(&press) {
                Some(event) => {
                    self.note((token, event, What::Press { approves: false }), moment);
                    answered = true;
                }
                None => self.pressing.push((token, press)),
            }
        }
        answered
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

fn is_answer(message: &Shown) -> bool {
    message.from_bot && !message.deleted && token_in(&message.text).is_some()
}

fn is_card_of(message: &Shown, token: &str) -> bool {
    message.from_bot && !message.deleted && message.labels().contains(&"Approve") && message.text.contains(token)
}

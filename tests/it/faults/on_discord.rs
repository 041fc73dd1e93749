//! Discord's bad day. What the bot was handed is what the gateway sent to it, after what it had asked for of the time before;
//! nothing confirms any of it, so that what was taken is known from the database alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use countersign_discord_fake::{AnswerKind, Call, ChannelId, Fake, Fault, Outcome, SentEvent};
use serde_json::Value;

use super::cast::{FORUMS, GROUPS, Kind, PRIVATE_ROOMS, Place, TOPICS};
use super::facts::{Life, Sent, Told, letters};
use super::seen::{Seen, life_of};
use super::unruly::{Pressed, Rates, Spell, Unruly};
use crate::support::chat::Chat;
use crate::support::discord::{id, number, user};

/// How a message begins that may be a repeat.
const REPEAT: &str = "*(may be a repeat)*";

/// Discord's flag of messages that ring nobody's phone (`SUPPRESS_NOTIFICATIONS`).
const SILENT: u64 = 1 << 12;

impl Unruly for Fake {
    const TELLS_AGAIN: bool = false;
    const MAKES_COPIES: bool = false;

    fn places(&self, people: &[i64]) -> Vec<Place<ChannelId>> {
        let place = |room, kind| Place { room, kind, topic: None, people: people.to_vec() };
        let private = people
            .iter()
            .take(PRIVATE_ROOMS)
            .map(|person| Place { people: vec![*person], ..place(self.private_room(*person), Kind::Private) });
        let channels = (0..GROUPS).map(|n| place(self.channel(&format!("group {n}")), Kind::Group));
        let opener = people.first().copied().map(user).expect("invariant: there are people");
        let threads = (0..FORUMS).flat_map(|n| {
            let above = self.channel(&format!("forum {n}"));
            (0..TOPICS).map(move |n| self.thread(opener, above, &format!("topic {n}")))
        });
        private.chain(channels).chain(threads.map(|thread| place(thread, Kind::Topic))).collect()
    }

    fn make_trouble(&self, rates: Rates, seed: u64) {
        self.fault(Fault::duplicate(1).chance(rates.duplicates, seed));
        self.fault(Fault::reorder().chance(rates.reordered, seed + 1));
        for seconds in [1, 2] {
            let fault = Fault::too_many(Duration::from_secs(seconds)).on("createMessage");
            self.fault(fault.chance(rates.too_many / 2, seed + 1 + seconds));
        }
        self.fault(Fault::drop_after().on("createMessage").chance(rates.lost, seed + 4));
    }

    async fn spell(&self, spell: Spell, time: Duration) {
        let fault = match spell {
            Spell::TooMany => Fault::too_many_everywhere(Duration::from_secs(1)),
            Spell::Broken => Fault::status(500),
            Spell::Gateway => Fault::status(502),
            Spell::Cut => Fault::drop_before(),
            Spell::Lost => Fault::drop_after().on("createMessage"),
            Spell::Slow => Fault::slow(Duration::from_secs(2)),
            Spell::Silent => Fault::silent().on("createMessage"),
            Spell::Gone => return self.cut_gateway(),
        };
        self.fault(fault.lasting(time));
    }

    fn say_in(&self, place: &Place<ChannelId>, from: i64, text: &str, reply_to: Option<i64>) -> i64 {
        self.write(from, place.room, text, reply_to)
    }

    fn event(&self, room: ChannelId, message: i64) -> String {
        format!("{}:{message}", room.0)
    }

    fn press_if_there(&self, who: i64, (room, message): (ChannelId, i64), label: &str) -> Option<Pressed> {
        let press = self.try_press(user(who), room, number(message), label).ok()?;
        // Whoever denies is asked why.
        Some(if label == "Deny" { Pressed::Asks(press) } else { Pressed::Counts(format!("in:{press}")) })
    }

    fn answer_what_is_asked(&self, press: &str) -> Option<String> {
        let is_asked = self.answered(press).is_some_and(|answer| answer.kind == AnswerKind::Modal);
        is_asked.then(|| format!("in:{}", self.submit(press, &[])))
    }

    fn listener(&self) -> Option<String> {
        self.session()
    }

    async fn called(&self, calls: usize) {
        self.wait_for_call(|call| usize::try_from(call.sequence).is_ok_and(|sequence| sequence >= calls)).await;
    }

    fn read_log(&self, kills: &[usize], lives: &[Life]) -> Seen {
        let mut reading =
            Reading { fake: self, lives, told: BTreeMap::new(), shown: BTreeSet::new(), seen: Seen::default() };
        for call in self.log() {
            let life = life_of(kills, usize::try_from(call.sequence).unwrap_or(usize::MAX));
            reading.note_call(life, &call);
        }
        for event in self.events() {
            reading.note_event(life_of(kills, event.calls), &event);
        }
        reading.finish()
    }
}

/// What is read off so far.
struct Reading<'f> {
    fake: &'f Fake,
    lives: &'f [Life],
    /// By the life that was told. What it looked for comes before what it heard.
    told: BTreeMap<usize, Vec<Told>>,
    /// The messages that came out: one that is sent again stays the same.
    shown: BTreeSet<i64>,
    seen: Seen,
}

impl Reading<'_> {
    fn note_call(&mut self, life: usize, call: &Call) {
        self.seen.tally.calls += 1;
        match call.method.as_str() {
            "getChannelMessages" => self.note_found(life, call),
            "createMessage" => self.note_sending(life, call),
            _ => {}
        }
    }

    /// Discord gives the newest first, and they are taken from the oldest on.
    fn note_found(&mut self, life: usize, call: &Call) {
        let Outcome::Done(found) = &call.outcome else { return };
        for message in found.as_array().into_iter().flatten().rev() {
            self.note_message(life, message);
        }
    }

    fn note_event(&mut self, life: usize, event: &SentEvent) {
        match event.name.as_str() {
            "MESSAGE_CREATE" => self.note_message(life, &event.body),
            "INTERACTION_CREATE" => {
                let named = event.body["id"].as_str().map(|id| format!("in:{id}"));
                self.note_told(life, &event.body, named);
            }
            _ => {}
        }
    }

    fn note_message(&mut self, life: usize, message: &Value) {
        if message["author"]["bot"] != Value::Bool(true) {
            let named = message["id"].as_str().zip(message["channel_id"].as_str());
            self.note_told(life, message, named.map(|(id, channel)| format!("{channel}:{id}")));
        }
    }

    fn note_told(&mut self, life: usize, body: &Value, event: Option<String>) {
        let channel = body["channel_id"].as_str().and_then(|channel| channel.parse().ok());
        let (Some(event), Some(channel)) = (event, channel) else { return };
        let is_taken = self.lives.get(life - 1).is_some_and(|life| life.taken.contains(&event));
        let told = self.told.entry(life).or_default();
        if told.iter().any(|before| before.event == event) {
            self.seen.tally.duplicates += 1;
        } else if told.last().is_some_and(|before| is_later(&before.event, &event)) {
            self.seen.tally.late += 1;
        }
        let room = conversation(self.fake, ChannelId(channel));
        told.push(Told { life, room, event, is_taken });
    }

    fn note_sending(&mut self, life: usize, call: &Call) {
        let (message, is_lost) = match &call.outcome {
            Outcome::Done(message) => (message, false),
            Outcome::DroppedAfter(inner) => match inner.as_ref() {
                Outcome::Done(message) => (message, true),
                _ => return,
            },
            Outcome::Refused { status: 429, .. } => return self.seen.tally.too_many += 1,
            Outcome::Open | Outcome::Refused { .. } | Outcome::DroppedBefore => return,
        };
        self.seen.tally.lost += usize::from(is_lost);
        // Progress rings nobody's phone, and is taken back: it is no answer.
        let is_progress = call.params["flags"].as_u64().is_some_and(|flags| flags & SILENT != 0);
        if is_progress {
            return;
        }
        let sent = sent(self.fake, life, message, is_lost).filter(|sent| self.shown.insert(sent.message));
        self.seen.sent.extend(sent);
    }

    fn finish(self) -> Seen {
        Seen { told: self.told.into_values().flatten().collect(), ..self.seen }
    }
}

/// Whether one message of a channel came after another. Their numbers rise with time.
fn is_later(event: &str, than: &str) -> bool {
    let message = |event: &str| event.split_once(':').and_then(|(_, message)| message.parse::<u64>().ok());
    message(event).zip(message(than)).is_some_and(|(event, than)| event > than)
}

/// A thread of Discord's belongs to the channel that it is in.
fn conversation(fake: &Fake, channel: ChannelId) -> String {
    fake.parent(channel).unwrap_or(channel).0.to_string()
}

fn sent(fake: &Fake, life: usize, message: &Value, is_lost: bool) -> Option<Sent> {
    let number = |key: &str| message[key].as_str().and_then(|number| number.parse::<u64>().ok());
    let text = message["content"].as_str()?;
    let (is_marked, text) = match text.strip_prefix(REPEAT) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let chat = conversation(fake, ChannelId(number("channel_id")?));
    Some(Sent { life, chat, message: id(number("id")?), says: letters(text), is_marked, is_lost })
}

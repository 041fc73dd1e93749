//! Matrix's bad day, on a homeserver of its own that is stopped and started again meanwhile. What the bot was handed is what
//! its syncs and its looks into a room were answered with; what came out is what people's clients show.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_synapse::{Call, Fault, Say, Seen as Event, Synapse};
use serde_json::Value;

use super::cast::{FORUMS, GROUPS, Kind, PRIVATE_ROOMS, Place, TOPICS};
use super::facts::{Life, Sent, Told, letters};
use super::seen::{Seen, life_of};
use super::unruly::{Pressed, Rates, Spell, Unruly};
use crate::support::chat::Chat;
use crate::support::matrix::Team;

/// How a message begins that may be a repeat.
const REPEAT: &str = "(may be a repeat)";

/// How many people are in a room of all: whoever asks, and two who could decide. Each is a client that reads along.
const IN_A_ROOM: usize = 3;

/// What is said or pressed, as it is sent.
const SENDS: &str = "/send/m.room";

impl<const ENCRYPTED: bool> Unruly for Team<ENCRYPTED> {
    // A real homeserver takes a third of a second of a core for each; `FAULTS_MESSAGES=1000 FAULTS_KILLS=20` is a longer one.
    const MESSAGES: u64 = 200;
    const KILLS: u64 = 6;
    const RATES: Rates = Rates { duplicates: 200, reordered: 0, too_many: 40, lost: 40 };
    const TELLS_AGAIN: bool = true;
    const MAKES_COPIES: bool = false;
    // A sync tells of a room in the room's own order, and nothing of the next one is known before it was taken.
    const REORDERS: bool = false;
    const OUTAGES: usize = 2;

    async fn of_its_own() -> Self {
        Self::on(Synapse::start(), "ops")
    }

    fn places(&self, people: &[i64]) -> Vec<Place<usize>> {
        let some = |n: usize| -> Vec<i64> { people.iter().copied().cycle().skip(n * 2).take(IN_A_ROOM).collect() };
        let private = people.iter().take(PRIVATE_ROOMS).map(|person| {
            let room = self.private_room(*person);
            Place { room, kind: Kind::Private, topic: None, people: vec![*person] }
        });
        let groups = (0..GROUPS).map(|n| {
            let people = some(n);
            Place { room: self.room_of(&format!("group {n}"), &people), kind: Kind::Group, topic: None, people }
        });
        let topics = (0..FORUMS).flat_map(|n| {
            let people = some(GROUPS + n);
            let room = self.room_of(&format!("forum {n}"), &people);
            (0..TOPICS).map(move |topic| {
                let topic = self.write(people[0], room, &format!("let us talk about topic {topic}"), None);
                Place { room, kind: Kind::Topic, topic: Some(topic), people: people.clone() }
            })
        });
        private.chain(groups).chain(topics).collect()
    }

    fn make_trouble(&self, rates: Rates, seed: u64) {
        let gate = self.gate();
        gate.fault(Fault::told_again(1, self.bot()).chance(rates.duplicates, seed));
        for seconds in [1, 2] {
            let fault = Fault::too_many(seconds * 1_000).on(SENDS);
            gate.fault(fault.chance(rates.too_many / 2, seed + 1 + seconds));
        }
        gate.fault(Fault::lost_reply().on(SENDS).chance(rates.lost, seed + 4));
    }

    async fn spell(&self, spell: Spell, time: Duration) {
        let fault = match spell {
            Spell::TooMany => Fault::too_many(1_000),
            Spell::Broken | Spell::Silent => Fault::broken(500),
            Spell::Gateway | Spell::Slow => Fault::broken(502),
            Spell::Cut | Spell::Lost => Fault::lost_reply(),
            Spell::Gone => return self.goes_down_and_up(),
        };
        self.gate().fault(fault.on(SENDS).lasting(time));
    }

    fn say_in(&self, place: &Place<usize>, from: i64, text: &str, reply_to: Option<i64>) -> i64 {
        let Some(topic) = place.topic else { return self.write(from, place.room, text, reply_to) };
        let said = Say::new(text).in_thread(&self.event_of(topic).event);
        self.say_as(from, place.room, &said)
    }

    fn event(&self, _: usize, message: i64) -> String {
        self.event_of(message).event
    }

    fn press_if_there(&self, who: i64, (room, message): (usize, i64), label: &str) -> Option<Pressed> {
        let shown = self.all(room).into_iter().find(|shown| shown.id == message)?;
        let (_, sign) = shown.buttons.into_iter().find(|(known, _)| known == label)?;
        Some(Pressed::Counts(format!("re:{}", self.press_data_of(who, room, message, &sign))))
    }

    fn answer_what_is_asked(&self, _: &str) -> Option<String> {
        None
    }

    fn listener(&self) -> Option<String> {
        Some("whoever syncs next".to_owned())
    }

    async fn called(&self, calls: usize) {
        self.gate().wait_for_count(calls).await;
    }

    fn goes_down_and_up(&self) {
        self.synapse().stop();
        self.synapse().start_again();
    }

    fn read_log(&self, kills: &[usize], lives: &[Life]) -> Seen {
        let mut reading =
            Reading { bot: self.bot(), lives, told: BTreeMap::new(), sent: BTreeMap::new(), seen: Seen::default() };
        for (at, call) in self.gate().calls().iter().enumerate() {
            reading.note(life_of(kills, at + 1), call);
        }
        let rooms = self.rooms();
        let events = rooms.iter().flat_map(|room| self.synapse().events(room));
        let events: BTreeMap<i64, Arc<Event>> =
            events.map(|event| (self.synapse().number(&event.event), event)).collect();
        reading.finish(&events)
    }
}

/// What is read off so far.
struct Reading<'f> {
    bot: &'f str,
    lives: &'f [Life],
    /// By the life that was told, the room's events by their ids, and how often each.
    told: BTreeMap<usize, BTreeMap<String, usize>>,
    /// By the event that came of it: the life that sent it first, and whether it was ever told so.
    sent: BTreeMap<String, (usize, bool)>,
    seen: Seen,
}

impl Reading<'_> {
    fn note(&mut self, life: usize, call: &Call) {
        self.seen.tally.calls += 1;
        if call.path.contains("/sync") {
            self.note_sync(life, call);
        } else if call.path.contains("/messages?") {
            let page: Value = serde_json::from_str(&call.answer).unwrap_or_default();
            self.note_events(life, page["chunk"].as_array());
        } else if call.path.contains(SENDS) {
            self.note_sending(life, call);
        }
    }

    fn note_sync(&mut self, life: usize, call: &Call) {
        let told: Value = serde_json::from_str(&call.answer).unwrap_or_default();
        for room in told["rooms"]["join"].as_object().into_iter().flat_map(|rooms| rooms.values()) {
            self.note_events(life, room["timeline"]["events"].as_array());
        }
    }

    fn note_events(&mut self, life: usize, events: Option<&Vec<Value>>) {
        for event in events.into_iter().flatten().filter(|event| event["sender"] != self.bot) {
            let Some(id) = event["event_id"].as_str() else { continue };
            *self.told.entry(life).or_default().entry(id.to_owned()).or_default() += 1;
        }
    }

    fn note_sending(&mut self, life: usize, call: &Call) {
        self.seen.tally.too_many += usize::from(call.status == Some(429));
        let answer: Value = serde_json::from_str(&call.answer).unwrap_or_default();
        let Some(event) = answer["event_id"].as_str() else { return };
        let is_lost = call.status.is_none();
        self.seen.tally.lost += usize::from(is_lost);
        self.sent.entry(event.to_owned()).or_insert((life, is_lost));
    }

    /// `events` has everything that people saw, in that order.
    fn finish(mut self, events: &BTreeMap<i64, Arc<Event>>) -> Seen {
        for (life, told) in &self.told {
            let twice = |event: &&Arc<Event>| told.get(&event.event).is_some_and(|times| *times > 1);
            self.seen.tally.duplicates += events.values().filter(twice).count();
            let taken = self.lives.get(life - 1).map(|life| &life.taken);
            let of_this_life = events.values().filter(|event| told.contains_key(&event.event));
            let told = of_this_life.filter_map(|event| {
                let named = named(event)?;
                let is_taken = taken.is_some_and(|taken| taken.contains(&named));
                Some(Told { life: *life, room: event.room.clone(), event: named, is_taken })
            });
            self.seen.told.extend(told);
        }
        let own = events.iter().filter(|(_, event)| event.sender == self.bot && event.is_message());
        // Progress is a notice, and is taken back: it is no answer.
        let answers = own.filter(|(_, event)| event.message_type() == "m.text");
        let sent: Vec<Sent> = answers.map(|(number, event)| self.came_out(*number, event)).collect();
        Seen { sent, ..self.seen }
    }

    /// A message of the bot's that people have seen.
    fn came_out(&self, message: i64, event: &Event) -> Sent {
        let (life, is_lost) = *self.sent.get(&event.event).expect("invariant: the bot speaks through the gate alone");
        let (is_marked, text) = match event.body().strip_prefix(REPEAT) {
            Some(rest) => (true, rest),
            None => (false, event.body()),
        };
        Sent { life, chat: event.room.clone(), message, says: letters(text), is_marked, is_lost }
    }
}

/// As the adapter names it; none where it is neither a message nor a reaction.
fn named(event: &Event) -> Option<String> {
    match event.kind.as_str() {
        "m.reaction" => Some(format!("re:{}", event.event)),
        "m.room.message" | "m.room.encrypted" => Some(event.event.clone()),
        _ => None,
    }
}

//! Telegram's bad day. What the bot was handed is what its calls for updates were answered with; an offset confirms what is
//! below it.

use std::time::Duration;

use countersign_telegram_fake::{Call, ChatId, Fake, Fault, Outcome, Say};
use serde_json::Value;
use tokio::time::Instant;

use super::cast::{FORUMS, GROUPS, Kind, PRIVATE_ROOMS, Place, TOPICS};
use super::facts::{Life, Sent, Told, letters};
use super::seen::{Seen, life_of};
use super::unruly::{Pressed, Rates, Spell, Unruly};
use super::until;

/// How a message begins that may be a repeat.
const REPEAT: &str = "(may be a repeat)";

impl Unruly for Fake {
    const TELLS_AGAIN: bool = true;
    const MAKES_COPIES: bool = true;

    fn places(&self, people: &[i64]) -> Vec<Place<ChatId>> {
        let everybody = || people.to_vec();
        let private = people.iter().take(PRIVATE_ROOMS).map(|user| Place {
            room: self.private(*user),
            kind: Kind::Private,
            topic: None,
            people: vec![*user],
        });
        let groups = (0..GROUPS).map(|n| Place {
            room: self.group(&format!("group {n}")),
            kind: Kind::Group,
            topic: None,
            people: everybody(),
        });
        let topics = (0..FORUMS).flat_map(|n| {
            let forum = self.forum(&format!("forum {n}"));
            (0..TOPICS).map(move |topic| (forum, topic))
        });
        let topics = topics.map(|(forum, topic)| Place {
            room: forum,
            kind: Kind::Topic,
            topic: Some(self.topic(forum, &format!("topic {topic}"))),
            people: everybody(),
        });
        private.chain(groups).chain(topics).collect()
    }

    fn make_trouble(&self, rates: Rates, seed: u64) {
        self.fault(Fault::duplicate(1).chance(rates.duplicates, seed));
        self.fault(Fault::reorder().chance(rates.reordered, seed + 1));
        for seconds in [1, 2] {
            self.fault(Fault::too_many(seconds).on("sendMessage").chance(rates.too_many / 2, seed + 1 + seconds));
        }
        self.fault(Fault::drop_after().on("sendMessage").chance(rates.lost, seed + 4));
    }

    async fn spell(&self, spell: Spell, time: Duration) {
        let fault = match spell {
            Spell::TooMany => Fault::too_many(1).on("sendMessage"),
            Spell::Broken => Fault::status(500),
            Spell::Gateway => Fault::gateway(502),
            Spell::Cut => Fault::drop_before(),
            Spell::Lost => Fault::drop_after().on("sendMessage"),
            Spell::Slow => Fault::slow(Duration::from_secs(2)),
            Spell::Silent => Fault::silent().on("sendMessage"),
            Spell::Gone => {
                self.stop_listening().await;
                let begun = Instant::now();
                until(
                    time * 2 + Duration::from_secs(1),
                    async || "time".to_owned(),
                    async || (begun.elapsed() >= time).then_some(()),
                )
                .await;
                return self.listen_again().await;
            }
        };
        self.fault(fault.lasting(time));
    }

    fn say_in(&self, place: &Place<ChatId>, from: i64, text: &str, reply_to: Option<i64>) -> i64 {
        let said = Say::new(from, place.room, text);
        let said = place.topic.into_iter().fold(said, Say::topic);
        self.say(reply_to.into_iter().fold(said, Say::reply_to))
    }

    fn event(&self, room: ChatId, message: i64) -> String {
        format!("{}:{message}", room.0)
    }

    fn press_if_there(&self, who: i64, (room, message): (ChatId, i64), label: &str) -> Option<Pressed> {
        let callback = self.try_press(who, room, message, label).ok()?;
        Some(Pressed::Counts(format!("cb:{callback}")))
    }

    fn answer_what_is_asked(&self, _: &str) -> Option<String> {
        None
    }

    fn listener(&self) -> Option<String> {
        Some("whoever asks next".to_owned())
    }

    async fn called(&self, calls: usize) {
        self.wait_for_call(|call| usize::try_from(call.sequence).is_ok_and(|sequence| sequence >= calls)).await;
    }

    fn read_log(&self, kills: &[usize], _: &[Life]) -> Seen {
        let mut seen = Seen::default();
        let mut polls = Vec::new();
        for call in self.log() {
            let life = life_of(kills, usize::try_from(call.sequence).unwrap_or(usize::MAX));
            seen.tally.calls += 1;
            match call.method.as_str() {
                "getUpdates" => polls.extend(poll(life, &call)),
                "sendMessage" => note_sending(&mut seen, life, &call),
                _ => {}
            }
        }
        note_polls(&mut seen, &polls);
        seen
    }
}

/// A `getUpdates` that was answered.
struct Poll {
    life: usize,
    /// Confirms everything below it.
    offset: i64,
    /// What was handed out, in order.
    updates: Vec<Update>,
}

/// One update, as it was handed out.
struct Update {
    id: i64,
    chat: String,
    /// As the adapter names it; none where it is no message and no press.
    event: Option<String>,
}

fn poll(life: usize, call: &Call) -> Option<Poll> {
    let updates = result(&call.outcome)?.as_array()?.iter().map(update).collect::<Option<_>>()?;
    Some(Poll { life, offset: call.params["offset"].as_i64().unwrap_or_default(), updates })
}

fn update(update: &Value) -> Option<Update> {
    let (message, press) = (&update["message"], &update["callback_query"]);
    let named = message["message_id"].as_i64().map(|id| format!("{}:{id}", message["chat"]["id"]));
    let pressed = || press["id"].as_str().map(|id| format!("cb:{id}"));
    let chat = if message.is_null() { &press["message"]["chat"]["id"] } else { &message["chat"]["id"] };
    Some(Update { id: update["update_id"].as_i64()?, chat: chat.to_string(), event: named.or_else(pressed) })
}

/// Whether the bot has told Telegram that it has all of a batch, the next question of the same life says.
fn note_polls(seen: &mut Seen, polls: &[Poll]) {
    let mut confirmed = 0;
    for (at, poll) in polls.iter().enumerate() {
        let next = polls.get(at + 1).filter(|next| next.life == poll.life).map_or(0, |next| next.offset);
        confirmed = poll.offset.max(confirmed);
        let new: Vec<i64> = poll.updates.iter().map(|update| update.id).filter(|id| *id >= confirmed).collect();
        seen.tally.duplicates += poll.updates.len() - new.len();
        seen.tally.late += new.windows(2).filter(|pair| pair[0] > pair[1]).count();
        let told = poll.updates.iter().filter_map(|update| {
            let (room, event) = (update.chat.clone(), update.event.clone()?);
            Some(Told { life: poll.life, room, event, is_taken: update.id < next })
        });
        seen.told.extend(told);
    }
}

fn note_sending(seen: &mut Seen, life: usize, call: &Call) {
    let is_lost = match &call.outcome {
        Outcome::Done(_) => false,
        Outcome::DroppedAfter(_) => true,
        Outcome::Refused { code: 429, .. } => return seen.tally.too_many += 1,
        Outcome::Open | Outcome::Refused { .. } | Outcome::DroppedBefore => return,
    };
    seen.tally.lost += usize::from(is_lost);
    // Progress rings nobody's phone, and is taken back: it is no answer.
    let is_progress = call.params["disable_notification"] == Value::Bool(true);
    if let (Some(message), false) = (result(&call.outcome), is_progress) {
        seen.sent.extend(sent(life, message, is_lost));
    }
}

fn result(outcome: &Outcome) -> Option<&Value> {
    match outcome {
        Outcome::Done(result) => Some(result),
        Outcome::DroppedAfter(inner) => result(inner),
        Outcome::Open | Outcome::Refused { .. } | Outcome::DroppedBefore => None,
    }
}

fn sent(life: usize, message: &Value, is_lost: bool) -> Option<Sent> {
    let text = message["text"].as_str()?;
    let (is_marked, text) = match text.strip_prefix(REPEAT) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (chat, message) = (message["chat"]["id"].to_string(), message["message_id"].as_i64()?);
    Some(Sent { life, chat, message, says: letters(text), is_marked, is_lost })
}

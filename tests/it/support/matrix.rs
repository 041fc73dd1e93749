//! Matrix, as the tests of every platform play it: the real Synapse, with people at an independent client. Everybody is on one
//! homeserver for all tests of this process; each test has a bot and rooms of its own. What stands for a button there is a
//! reaction that the bot has given to its own message: its label is what it means, and what it carries is the sign.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_synapse::{Call, Fault, Gate, Person, Room, Say, Seen, Synapse, shown_now};

use super::chat::{Chat, Shown, Told};
use super::stage::{self, ANN, Pace};

/// A team on Matrix.
pub(crate) type Stage = stage::Stage<Team<false>>;

/// How the line begins by which a message offers reactions, as the adapter writes it: its last but one, or its last.
const OFFERS: &str = "React with ";

/// What the signs mean on a card.
const LABELS: [(&str, &str); 3] = [("✅", "Approve"), ("❌", "Deny"), ("🔎", "Details")];

/// A team with a bot of its own, in encrypted rooms or in others.
#[derive(Clone)]
pub(crate) struct Team<const ENCRYPTED: bool>(Arc<Inner>);

struct Inner {
    synapse: Synapse,
    gate: Gate,
    /// The bot's account, in full.
    bot: String,
    rooms: Mutex<Vec<Place>>,
    /// Who is in a room of all.
    members: Mutex<Vec<i64>>,
    /// Whether a bot has listened, so that it takes invitations.
    listens: AtomicBool,
}

/// A room.
#[derive(Clone)]
struct Place {
    id: String,
    owner: i64,
    members: Vec<i64>,
    is_private: bool,
}

/// The bot's password; it says which log it must not be in.
const PASSWORD: &str = "the bot's own 4c91e07d password";

/// Everybody who was ever needed, at their devices: by the address of their homeserver and their number.
fn people() -> MutexGuard<'static, BTreeMap<(String, i64), Person>> {
    static PEOPLE: Mutex<BTreeMap<(String, i64), Person>> = Mutex::new(BTreeMap::new());
    lock(&PEOPLE)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<const ENCRYPTED: bool> Team<ENCRYPTED> {
    fn place(&self, room: usize) -> Place {
        lock(&self.0.rooms).get(room).cloned().expect("invariant: it was made here")
    }

    /// A team on a homeserver, with a bot of this name.
    pub(crate) fn on(synapse: Synapse, bot: &str) -> Self {
        let bot = synapse.account(bot, PASSWORD);
        let (rooms, members, listens) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Inner { gate: synapse.gate(), synapse, bot, rooms, members, listens }))
    }

    /// The homeserver.
    pub(crate) fn synapse(&self) -> &Synapse {
        &self.0.synapse
    }

    /// What stands between the bot and the homeserver.
    pub(crate) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// The bot's account, in full.
    pub(crate) fn bot(&self) -> &str {
        &self.0.bot
    }

    /// A room, as its homeserver names it.
    pub(crate) fn id_of(&self, room: usize) -> String {
        self.place(room).id
    }

    /// What was said, by its number.
    pub(crate) fn event_of(&self, message: i64) -> Seen {
        self.0.synapse.numbered(message).expect("invariant: it was seen")
    }

    /// Somebody who is there already.
    pub(crate) fn known(&self, id: i64) -> Person {
        people().get(&(self.0.synapse.url(), id)).cloned().expect("invariant: they were made before")
    }

    /// A room of these alone, the first of whom makes it.
    pub(crate) fn room_of(&self, name: &str, members: &[i64]) -> usize {
        self.make(members[0], members.to_vec(), Room::new(name), false)
    }

    /// Every room, as its homeserver names it.
    pub(crate) fn rooms(&self) -> Vec<String> {
        lock(&self.0.rooms).iter().map(|place| place.id.clone()).collect()
    }

    /// Says something in whichever relation. Its number.
    pub(crate) fn say_as(&self, who: i64, room: usize, said: &Say) -> i64 {
        self.0.synapse.number(&self.known(who).say(&self.place(room).id, said))
    }

    fn make(&self, owner: i64, members: Vec<i64>, room: Room, is_private: bool) -> usize {
        let others = members.iter().filter(|id| **id != owner).map(|id| self.known(*id));
        let room = others.fold(room, |room, other| room.with(other.user())).with(&self.0.bot);
        let room = if ENCRYPTED { room.encrypted() } else { room };
        let id = self.known(owner).room(&room);
        let place = Place { id, owner, members, is_private };
        if self.0.listens.load(Ordering::Relaxed) {
            self.joined(&place);
        }
        let mut rooms = lock(&self.0.rooms);
        rooms.push(place);
        rooms.len() - 1
    }

    /// Blocks until everybody is there.
    fn joined(&self, place: &Place) {
        let users: Vec<String> =
            place.members.iter().map(|id| Self::account(*id)).chain([self.0.bot.clone()]).collect();
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        self.known(place.owner).joined(&place.id, &users);
    }

    /// The id of the event with this number.
    fn event(&self, message: i64) -> String {
        self.0.synapse.numbered(message).expect("invariant: it was seen").event
    }

    /// A reaction of somebody's to a message that was not taken back.
    fn reaction_of(&self, user: &str, room: &str, event: &str, key: &str) -> Option<String> {
        reaction_among(&self.0.synapse.events(room), user, (event, key))
    }

    /// Reacts; who has done so already takes that back first.
    fn react(&self, who: i64, room: usize, message: i64, key: &str) -> String {
        let (place, event, who) = (self.place(room), self.event(message), self.known(who));
        if let Some(before) = self.reaction_of(who.user(), &place.id, &event, key) {
            self.0.synapse.number(&who.delete(&place.id, &before));
        }
        let reaction = who.react(&place.id, &event, key);
        self.0.synapse.number(&reaction);
        reaction
    }

    /// A message as it stands now among what was seen of its room; none where it is no message.
    fn shown(&self, events: &[Arc<Seen>], seen: &Seen) -> Option<Shown> {
        if !seen.is_message() && !seen.emptied {
            return None;
        }
        let synapse = &self.0.synapse;
        let now = shown_now(events, &seen.event);
        let key = |(key, label): &(&str, &str)| {
            let given = reaction_among(events, &self.0.bot, (&seen.event, key));
            given.map(|_| ((*label).to_owned(), (*key).to_owned()))
        };
        Some(Shown {
            id: synapse.number(&seen.event),
            from_bot: seen.sender == self.0.bot,
            text: now.as_ref().map(|now| now.body().to_owned()).unwrap_or_default(),
            reply_to: seen.reply_to().map(|event| synapse.number(event)),
            deleted: now.is_none(),
            buttons: LABELS.iter().filter_map(key).collect(),
        })
    }
}

/// A reaction of somebody's among these that was not taken back.
fn reaction_among(events: &[Arc<Seen>], user: &str, (event, key): (&str, &str)) -> Option<String> {
    let is_gone = |id: &str| events.iter().any(|seen| seen.redacts.as_deref() == Some(id));
    let mut own = events.iter().filter(|seen| seen.sender == user && seen.reaction() == Some((event, key)));
    own.find(|seen| !is_gone(&seen.event)).map(|seen| seen.event.clone())
}

/// Whether everything has come that belongs to a message: its reactions follow it, and go when it offers none any more.
fn is_settled(shown: &Shown) -> bool {
    let offer = shown.text.lines().rev().take(2).find(|line| line.starts_with(OFFERS));
    // A question's reactions stand for no button of a card.
    let is_question = offer.is_some_and(|line| line.ends_with("its number."));
    !shown.from_bot || shown.deleted || is_question || offer.is_some() != shown.buttons.is_empty()
}

impl<const ENCRYPTED: bool> Chat for Team<ENCRYPTED> {
    type Room = usize;
    const PLATFORM: &str = "matrix";
    const TOKEN: &str = "COUNTERSIGN_MATRIX__PASSWORD";
    const ACCESS: &str = "matrix.homeservers = [\"localhost\"]\n";
    const ANSWERS_ALONE: bool = false;

    async fn open(_: Duration) -> Self {
        static BOTS: AtomicU32 = AtomicU32::new(1);
        let synapse = Synapse::shared();
        Self::on(synapse, &format!("bot{}", BOTS.fetch_add(1, Ordering::Relaxed)))
    }

    fn bot_token(&self) -> String {
        PASSWORD.to_owned()
    }

    fn configuration(&self, pace: Pace) -> String {
        let (url, bot) = (self.0.gate.url(), &self.0.bot);
        let encryption = if ENCRYPTED { "required" } else { "off" };
        let per_second = match pace {
            Pace::Free => 0,
            Pace::OneASecond => 1,
        };
        format!(
            "[matrix]\nhomeserver = \"{url}\"\nuser = \"{bot}\"\nencryption = \"{encryption}\"\nper_second = {per_second}\n"
        )
    }

    fn mark(&self) -> usize {
        self.0.gate.count()
    }

    async fn listens_since(&self, mark: usize) {
        self.0.gate.wait_for_since(mark, |call| call.path.contains("/sync") && call.status == Some(200)).await;
        self.0.listens.store(true, Ordering::Relaxed);
        for place in lock(&self.0.rooms).clone() {
            self.joined(&place);
        }
    }

    fn account(id: i64) -> String {
        format!("@person{id}:localhost")
    }

    fn person(&self, id: i64, name: &str) -> i64 {
        let mut people = people();
        let person = people.entry((self.0.synapse.url(), id)).or_insert_with(|| {
            let person = self.0.synapse.person(&format!("person{id}"));
            person.is_called(name);
            person
        });
        // A new name in the rooms of this test alone: the others know them by the old one.
        for place in lock(&self.0.rooms).iter().filter(|place| place.members.contains(&id)) {
            self.0.synapse.number(&person.is_called_in(&place.id, name));
        }
        let mut members = lock(&self.0.members);
        if !members.contains(&id) {
            members.push(id);
        }
        id
    }

    fn room(&self, name: &str) -> usize {
        let members = lock(&self.0.members).clone();
        self.make(ANN, members, Room::new(name), false)
    }

    fn private_room(&self, who: i64) -> usize {
        let known = lock(&self.0.rooms).iter().position(|place| place.is_private && place.owner == who);
        known.unwrap_or_else(|| self.make(who, vec![who], Room::direct(), true))
    }

    fn is_private(&self, room: usize) -> bool {
        self.place(room).is_private
    }

    fn to_the_bot(&self, room: usize, text: &str) -> String {
        if self.is_private(room) { text.to_owned() } else { format!("{} {text}", self.0.bot) }
    }

    fn write(&self, who: i64, room: usize, text: &str, reply_to: Option<i64>) -> i64 {
        let said = match reply_to.map(|message| self.0.synapse.numbered(message).expect("invariant: it was seen")) {
            // As clients do: what is in a thread is answered there.
            Some(answered) => match answered.thread() {
                Some(thread) => Say::new(text).in_thread(thread).reply_to(&answered.event),
                None => Say::new(text).reply_to(&answered.event),
            },
            None => Say::new(text),
        };
        self.say_as(who, room, &said)
    }

    fn rewrite(&self, room: usize, message: i64, text: &str) {
        let old = self.0.synapse.numbered(message).expect("invariant: it was seen");
        let author = people().values().find(|person| person.user() == old.sender).cloned();
        let author = author.expect("invariant: a person wrote it");
        self.0.synapse.number(&author.say(&self.place(room).id, &Say::new(text).instead_of(&old.event)));
    }

    fn press_button(&self, who: i64, room: usize, message: i64, label: &str) -> String {
        let seen = self.0.synapse.numbered(message).expect("invariant: it was seen");
        let shown = self.shown(&self.0.synapse.events(&seen.room), &seen).expect("invariant: it is a message");
        let key = shown.buttons.iter().find(|(known, _)| known == label).map(|(_, key)| key.clone());
        let key = key.unwrap_or_else(|| panic!("no {label} on {shown:?}"));
        self.react(who, room, message, &key)
    }

    fn press_data_of(&self, who: i64, room: usize, message: i64, data: &str) -> String {
        self.react(who, room, message, data)
    }

    /// The first thing that the bot says after a reaction, progress aside. What it puts right may be about something before it.
    async fn told(&self, press: &str) -> Told {
        let after = self.0.synapse.number(press);
        let room = self.0.synapse.numbered(after).expect("invariant: it was seen").room;
        let is_answer = |seen: &Seen| {
            let says = seen.is_message() && seen.message_type() == "m.text";
            seen.sender == self.0.bot && says && self.0.synapse.number(&seen.event) > after
        };
        let told = self.0.synapse.wait_for(&room, is_answer).await;
        Told { text: told.body().to_owned(), alone: false }
    }

    fn let_react(&self, _: usize) {}

    fn add_reaction(&self, who: i64, room: usize, message: i64, emoji: &str) {
        self.react(who, room, message, emoji);
    }

    fn take_reaction(&self, who: i64, room: usize, message: i64, emoji: &str) {
        let (place, who) = (self.place(room), self.known(who));
        let reaction = self.reaction_of(who.user(), &place.id, &self.event(message), emoji);
        let reaction = reaction.expect("invariant: they have reacted");
        self.0.synapse.number(&who.delete(&place.id, &reaction));
    }

    fn repeat_next(&self, times: u32) {
        self.0.gate.fault(Fault::told_again(times, &self.0.bot));
    }

    fn refuse_messages(&self, room: usize) {
        self.0.gate.fault(Fault::too_many(1_000).in_room(&self.place(room).id));
    }

    async fn message_refused(&self, room: usize, with_buttons: bool) {
        let sends = Fault::too_many(0).in_room(&self.place(room).id);
        let is_refused = |call: &Call| sends.is_for(call) && call.status == Some(429);
        let offers = |call: &Call| call.body.contains(r"\nReact with ");
        self.0.gate.wait_for(|call| is_refused(call) && (!with_buttons || offers(call))).await;
    }

    fn take_messages(&self) {
        self.0.gate.clear_faults();
    }

    fn all(&self, room: usize) -> Vec<Shown> {
        let events = self.0.synapse.events(&self.place(room).id);
        events.iter().filter_map(|seen| self.shown(&events, seen)).collect()
    }

    async fn seen(&self, room: usize, wanted: impl Fn(&Shown) -> bool) -> Shown {
        let is_wanted = |shown: &Shown| !shown.deleted && is_settled(shown) && wanted(shown);
        let look = |_: &[Arc<Seen>]| self.all(room).into_iter().find(|shown| is_wanted(shown));
        self.0.synapse.wait_until(&self.place(room).id, look).await
    }

    fn sent(&self) -> String {
        let sends = |call: &Call| call.path.contains("/rooms/").then(|| format!("{} {}", call.path, call.body));
        let on_the_wire = self.0.gate.calls().iter().filter_map(sends).collect::<Vec<_>>();
        let rooms = self.rooms();
        let events = rooms.iter().flat_map(|room| self.0.synapse.events(room));
        let read = events.filter(|seen| seen.sender == self.0.bot).map(|seen| seen.content.to_string());
        on_the_wire.into_iter().chain(read).collect::<Vec<_>>().join("\n")
    }

    fn picture(&self, room: usize) -> String {
        self.0.synapse.picture(&self.place(room).id)
    }
}

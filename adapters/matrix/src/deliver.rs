//! Sending a message: its parts in their order, then the reactions that stand for its buttons. Each goes under a transaction
//! id of its own that is the same each time, so that the homeserver makes no second one of what was sent again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use countersign_core::port::{Delivery, DeliveryNotes, Outgoing};
use countersign_core::signal::{EventId, ThreadKey};
use matrix_sdk::ruma::api::client::media::create_content::v3 as upload;
use matrix_sdk::ruma::events::Mentions;
use matrix_sdk::ruma::events::reaction::ReactionEventContent;
use matrix_sdk::ruma::events::relation::{Annotation, Thread};
use matrix_sdk::ruma::events::room::message::{
    FileMessageEventContent, MessageType, Relation, RoomMessageEventContent,
};
use matrix_sdk::ruma::{OwnedEventId, OwnedTransactionId, RoomId};
use matrix_sdk::{Client, Room};

use crate::ids::{self, Root};
use crate::outcome::{self, Trouble};
use crate::render::{self, Part, Text};
use crate::{Matrix, rooms};

/// The most deliveries that broke off and are remembered.
const UNFINISHED_MAX: usize = 256;

/// A message on its way, without its seal.
#[derive(Clone, Copy)]
pub(crate) struct Letter<'a> {
    /// The id of its outbox row.
    pub(crate) id: &'a str,
    pub(crate) message: &'a Outgoing,
    /// The notes of its delivery, shown first.
    pub(crate) notes: DeliveryNotes,
    /// The event that it answers.
    pub(crate) anchor: Option<&'a EventId>,
}

/// Where a message goes.
pub(crate) struct Target {
    pub(crate) room: Room,
    /// The message that its thread hangs from; none in a direct conversation, which is one thread.
    root: Option<OwnedEventId>,
    /// What clients without threads show it as an answer to.
    answers: Option<OwnedEventId>,
}

impl Target {
    /// The relation that puts a message into its thread.
    fn relation<C>(&self) -> Option<Relation<C>> {
        let root = self.root.clone()?;
        let answers = self.answers.clone().unwrap_or_else(|| root.clone());
        Some(Relation::Thread(Thread::plain(root, answers)))
    }
}

/// The deliveries that broke off, by their outbox row, with what is out of each.
#[derive(Default)]
pub(crate) struct Unfinished(Mutex<VecDeque<(String, Vec<OwnedEventId>)>>);

impl Unfinished {
    fn take(&self, id: &str) -> Vec<OwnedEventId> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == id);
        at.and_then(|at| all.remove(at)).map(|(_, sent)| sent).unwrap_or_default()
    }

    fn keep(&self, id: &str, sent: Vec<OwnedEventId>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= UNFINISHED_MAX {
            all.pop_front();
        }
        all.push_back((id.to_owned(), sent));
    }
}

/// Sends a message.
pub(crate) async fn deliver(matrix: &Matrix, letter: Letter<'_>) -> Delivery {
    let target = match target(matrix, &letter.message.to, letter.anchor).await {
        Ok(target) => target,
        Err(delivery) => return delivery,
    };
    let mut sent = matrix.unfinished.take(letter.id);
    match send_rest(matrix, &target, letter, &mut sent).await {
        Ok(()) => Delivery::Sent(sent.iter().map(|event| ids::event(event)).collect()),
        Err(trouble) => {
            if !sent.is_empty() {
                matrix.unfinished.keep(letter.id, sent);
            }
            outcome::delivery(&trouble)
        }
    }
}

/// Where it goes; else what becomes of it. Nothing goes to a room in which the bot must not talk.
pub(crate) async fn target(matrix: &Matrix, to: &ThreadKey, anchor: Option<&EventId>) -> Result<Target, Delivery> {
    let foreign = || Delivery::Permanent("it goes to a thread that is none of Matrix's".to_owned());
    let id = RoomId::parse(to.conversation.as_str()).map_err(|_| foreign())?;
    let thread = Root::of(&to.root).ok_or_else(foreign)?;
    let Some(client) = matrix.client() else {
        return Err(Delivery::Retryable("the bot is not logged in at its homeserver yet".to_owned()));
    };
    // Asked first: an answer of the homeserver that comes in between may bring the room.
    let knows_its_rooms = matrix.knows_its_rooms();
    let Some(room) = client.get_room(&id).filter(rooms::is_joined) else {
        return Err(if knows_its_rooms {
            outcome::delivery(&Trouble::Outside)
        } else {
            Delivery::Retryable("the homeserver has not said yet in which rooms the bot is".to_owned())
        });
    };
    let is_encrypted = rooms::is_encrypted(&room).await.map_err(|trouble| outcome::delivery(&trouble))?;
    if !rooms::fits(matrix.options.encryption, is_encrypted) {
        let what = if is_encrypted { "is encrypted, and `matrix.encryption` is `off`" } else { "is not encrypted" };
        return Err(Delivery::Permanent(format!("the room {what}")));
    }
    let (thread, answers) = match thread {
        Root::Direct => (None, None),
        Root::Thread(first) => (Some(first), anchor.and_then(ids::message_of)),
    };
    Ok(Target { room, root: thread, answers })
}

/// Sends what is not out yet.
async fn send_rest(
    matrix: &Matrix,
    target: &Target,
    letter: Letter<'_>,
    sent: &mut Vec<OwnedEventId>,
) -> Result<(), Trouble> {
    let parts = render::message(letter.message);
    let reactions = parts.iter().rev().find_map(|part| match part {
        Part::Message(text) => Some(text.reactions.clone()),
        Part::Document { .. } => None,
    });
    for (at, part) in parts.into_iter().enumerate().skip(sent.len()) {
        let mut content = match part {
            Part::Message(text) if at == 0 => said(text.noting(letter.notes)),
            Part::Message(text) => said(text),
            Part::Document { name, bytes } => file(&target.room, name, bytes).await?,
        };
        content.relates_to = target.relation();
        let transaction = OwnedTransactionId::from(format!("{}.{at}", letter.id));
        let done = target.room.send(content).with_transaction_id(transaction).await?;
        sent.push(done.response.event_id);
    }
    let Some(last) = sent.last() else { return Ok(()) };
    matrix.seeds.are(last, Vec::new());
    seed(matrix, &target.room, last, letter.id, &reactions.unwrap_or_default()).await
}

/// Puts the reactions to a message that stand for its buttons. Where the room does not let the bot do that, people give them
/// themselves.
async fn seed(matrix: &Matrix, room: &Room, on: &OwnedEventId, id: &str, reactions: &[&str]) -> Result<(), Trouble> {
    let mut seeds = Vec::new();
    for (at, reaction) in reactions.iter().enumerate() {
        let content = ReactionEventContent::new(Annotation::new(on.clone(), (*reaction).to_owned()));
        let transaction = OwnedTransactionId::from(format!("{id}.r{at}"));
        match room.send(content).with_transaction_id(transaction).await.map_err(Trouble::from) {
            Ok(done) => seeds.push(done.response.event_id),
            Err(trouble) if trouble.may_pass() => return Err(trouble),
            Err(trouble) if outcome::is_there_already(&trouble) => {}
            Err(trouble) => tracing::warn!(room = %room.room_id(), %trouble, "a reaction could not be put to a card"),
        }
    }
    matrix.seeds.are(on, seeds);
    Ok(())
}

/// A text as an event says it. It mentions nobody, whatever it says.
pub(crate) fn said(text: Text) -> RoomMessageEventContent {
    let Text { html, plain, notice, .. } = text;
    let mut content = if notice {
        RoomMessageEventContent::notice_html(plain, html)
    } else {
        RoomMessageEventContent::text_html(plain, html)
    };
    content.mentions = Some(Mentions::new());
    content
}

/// Uploads a file, encrypted where the room is. One that is uploaded twice lies there twice, and is shown once.
async fn file(room: &Room, name: String, bytes: Vec<u8>) -> Result<RoomMessageEventContent, Trouble> {
    let client = room.client();
    let file = if rooms::is_encrypted(room).await? {
        let sealed = client.upload_encrypted_file(&mut bytes.as_slice()).await?;
        FileMessageEventContent::encrypted(name, sealed)
    } else {
        FileMessageEventContent::plain(name, put(&client, bytes).await?)
    };
    let mut content = RoomMessageEventContent::new(MessageType::File(file));
    content.mentions = Some(Mentions::new());
    Ok(content)
}

async fn put(client: &Client, bytes: Vec<u8>) -> Result<matrix_sdk::ruma::OwnedMxcUri, Trouble> {
    let mut request = upload::Request::new(bytes);
    request.content_type = Some("text/plain".to_owned());
    Ok(client.send(request).await?.content_uri)
}

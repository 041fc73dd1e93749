//! Comparing keys with a person (Matrix's SAS): who may talk to the bot may start it with any client, and the bot writes the
//! emoji and a code into its log. Whoever hears from there, by an administrator, that they are what their client shows sends
//! `verify CODE`. The log is what makes it safe: a homeserver that put keys of its own between the two could show each what
//! they expect in a chat, and cannot write into the log of the bot's machine, nor read the code there. So the code proves
//! that the emoji were seen at their source, and that an administrator let this person be verified.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::port::{Ingress, Right};
use countersign_core::signal::{ConversationKind, Payload, Signal};
use futures::StreamExt as _;
use matrix_sdk::deserialized_responses::{ProcessedToDeviceEvent, TimelineEvent, TimelineEventKind};
use matrix_sdk::encryption::verification::{
    Emoji, SasState, SasVerification, Verification, VerificationRequest, VerificationRequestState,
};
use matrix_sdk::ruma::events::key::verification::VerificationMethod;
use matrix_sdk::ruma::events::room::message::MessageType;
use matrix_sdk::ruma::events::{AnySyncMessageLikeEvent, AnySyncTimelineEvent, SyncMessageLikeEvent};
use matrix_sdk::ruma::{OwnedUserId, TransactionId, UserId};
use matrix_sdk::{Client, Room};
use serde::Deserialize;

use crate::translate::{self, Heard, Here, Known, Place};
use crate::{Encryption, Matrix, busy, rights};

/// How long one may take, as Matrix's specification has it.
const TIME_MAX: Duration = Duration::from_mins(10);

/// The most that go on at a time.
const CHECKS_MAX: usize = 20;

/// How many characters of chance a code has. One wrong code ends it.
const CODE_CHARS: usize = 8;

/// A comparison that waits for its code.
#[derive(Clone)]
struct Check {
    sas: SasVerification,
    code: String,
}

/// The comparisons that go on, one a person.
#[derive(Clone, Default)]
pub(crate) struct Checks(Arc<Mutex<BTreeMap<OwnedUserId, Option<Check>>>>);

impl Checks {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<OwnedUserId, Option<Check>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether one may begin with this person now; then it did.
    fn begin(&self, with: &UserId) -> bool {
        self.with(|checks| {
            let may = checks.len() < CHECKS_MAX && !checks.contains_key(with);
            if may {
                checks.insert(with.to_owned(), None);
            }
            may
        })
    }

    fn end(&self, with: &UserId) {
        self.with(|checks| checks.remove(with));
    }

    fn waits(&self, with: &UserId, check: Check) {
        self.with(|checks| checks.insert(with.to_owned(), Some(check)));
    }

    /// The one that waits for a code of this person's; it waits for no other.
    fn take(&self, with: &UserId) -> Option<Check> {
        self.with(|checks| checks.get_mut(with).and_then(Option::take))
    }

    /// What the log says.
    #[cfg(test)]
    pub(crate) fn code(&self, with: &UserId) -> Option<String> {
        self.with(|checks| checks.get(with)?.as_ref().map(|check| check.code.clone()))
    }

    fn is_waiting(&self, with: &UserId) -> bool {
        self.with(|checks| checks.get(with).is_some_and(Option::is_some))
    }
}

/// What is read of the events of a comparison.
#[derive(Deserialize)]
struct Step {
    #[serde(rename = "type")]
    kind: String,
    sender: OwnedUserId,
    content: StepContent,
}

#[derive(Deserialize)]
struct StepContent {
    transaction_id: Option<String>,
}

/// Looks for beginnings among what was sent to the bot's device.
pub(crate) async fn look(matrix: &Matrix, ingress: &dyn Ingress, client: &Client, events: &[ProcessedToDeviceEvent]) {
    for event in events {
        let Ok(step) = serde_json::from_str::<Step>(event.as_raw().json().get()) else { continue };
        let Some(flow) = step.content.transaction_id else { continue };
        match step.kind.as_str() {
            "m.key.verification.request" => begin(matrix, ingress, client, (&step.sender, &flow)).await,
            "m.key.verification.start" => begin_at_once(matrix, ingress, client, (&step.sender, &flow)).await,
            _ => {}
        }
    }
}

/// The same among what was said in a room. Whether the event was such a beginning.
pub(crate) async fn is_request(matrix: &Matrix, ingress: &dyn Ingress, room: &Room, event: &TimelineEvent) -> bool {
    let Some((sender, MessageType::VerificationRequest(request))) = message(event) else { return false };
    if let Some(flow) = event.event_id().filter(|_| request.to == matrix.user) {
        begin(matrix, ingress, &room.client(), (&sender, flow.as_str())).await;
    }
    true
}

async fn begin(matrix: &Matrix, ingress: &dyn Ingress, client: &Client, (with, flow): (&UserId, &str)) {
    let Some(request) = client.encryption().get_verification_request(with, flow).await else { return };
    if !may(matrix, ingress, client, with) {
        return drop(request.cancel().await);
    }
    let (checks, client) = (matrix.checks.clone(), client.clone());
    tokio::spawn(async move {
        let with = request.other_user_id().to_owned();
        if tokio::time::timeout(TIME_MAX, answer(&checks, &client, &request)).await.is_err() {
            drop(request.cancel().await);
        }
        checks.end(&with);
    });
}

/// Old clients begin without asking.
async fn begin_at_once(matrix: &Matrix, ingress: &dyn Ingress, client: &Client, (with, flow): (&UserId, &str)) {
    let Some(Verification::SasV1(sas)) = client.encryption().get_verification(with, flow).await else { return };
    if sas.started_from_request() {
        return;
    }
    if !may(matrix, ingress, client, with) {
        return drop(sas.cancel().await);
    }
    let (checks, client) = (matrix.checks.clone(), client.clone());
    tokio::spawn(async move {
        let with = sas.other_user_id().to_owned();
        if tokio::time::timeout(TIME_MAX, compare(&checks, &client, &sas)).await.is_err() {
            drop(sas.cancel().await);
        }
        checks.end(&with);
    });
}

/// Whether the bot compares keys with this person now. The entry is made then.
fn may(matrix: &Matrix, ingress: &dyn Ingress, client: &Client, with: &UserId) -> bool {
    let room = client.get_dm_room(with).map(|room| room.room_id().to_string()).unwrap_or_default();
    if !rights::may(matrix, ingress, (with, &room, ConversationKind::Direct), &Right::Talk) {
        tracing::warn!(%with, "somebody wanted to compare keys who, by the access file, may not talk to the bot");
        return false;
    }
    let may = matrix.checks.begin(with);
    if !may {
        tracing::warn!(%with, "somebody wanted to compare keys while that goes on already");
    }
    may
}

/// Agrees to compare, and does.
async fn answer(checks: &Checks, client: &Client, request: &VerificationRequest) {
    let mut states = request.changes();
    if let Err(error) = request.accept_with_methods(vec![VerificationMethod::SasV1]).await {
        tracing::warn!(%error, "keys could not be compared");
        return;
    }
    while let Some(state) = states.next().await {
        match state {
            VerificationRequestState::Transitioned { verification: Verification::SasV1(sas) } => {
                return compare(checks, client, &sas).await;
            }
            VerificationRequestState::Cancelled(why) => {
                return tracing::info!(reason = why.reason(), "comparing keys was broken off");
            }
            VerificationRequestState::Done => return,
            _ => {}
        }
    }
}

/// Compares, until it is done or broken off.
async fn compare(checks: &Checks, client: &Client, sas: &SasVerification) {
    let with = sas.other_user_id().to_owned();
    let (mut states, mut is_shown) = (sas.changes(), false);
    if let Err(error) = sas.accept().await {
        tracing::warn!(%error, "keys could not be compared");
        return;
    }
    while let Some(state) = states.next().await {
        match state {
            // It is told more than once.
            SasState::KeysExchanged { .. } if !is_shown => {
                is_shown = true;
                show(checks, client, sas, &with).await;
            }
            SasState::Done { .. } => return tracing::info!(%with, "the keys are the same: this person is verified"),
            SasState::Cancelled(why) => {
                return tracing::info!(%with, reason = why.reason(), "comparing keys was broken off");
            }
            _ => {}
        }
    }
}

/// Writes into the log what is to be compared, and asks the person to look there.
async fn show(checks: &Checks, client: &Client, sas: &SasVerification, with: &UserId) {
    let code: String =
        TransactionId::new().as_str().chars().filter(char::is_ascii_alphanumeric).take(CODE_CHARS).collect();
    let emoji = sas.emoji().map(|emoji| spelled(&emoji)).unwrap_or_default();
    let numbers = sas.decimals().map(|(a, b, c)| format!("{a} {b} {c}")).unwrap_or_default();
    checks.waits(with, Check { sas: sas.clone(), code: code.clone() });
    tracing::warn!(
        %with, %emoji, numbers, code,
        "somebody compares keys. Ask them what their client shows: only if that is the same as here, tell them the code, and they \
         send the bot `verify` and the code"
    );
    if let Some(room) = client.get_dm_room(with) {
        let text = "Let us compare keys. Ask whoever runs me: my log shows what your client has to show, and a code. If both are \
                    the same, confirm it in your client and send me `verify` and the code here. If not, somebody is between \
                    us: do not confirm it.";
        if let Err(trouble) = busy::say(&room, None, text.to_owned()).await {
            tracing::warn!(%trouble, "nobody could be told how keys are compared");
        }
    }
}

fn spelled(emoji: &[Emoji]) -> String {
    emoji.iter().map(|emoji| format!("{} {}", emoji.symbol, emoji.description)).collect::<Vec<_>>().join(", ")
}

/// Whether a message is the code of a comparison that waits for one. Then it is used up, and is nobody else's.
pub(crate) fn is_answer(matrix: &Matrix, room: &Room, event: &TimelineEvent) -> bool {
    let Some(sender) = event.sender().filter(|sender| matrix.checks.is_waiting(sender)) else { return false };
    // A homeserver could say the rest, and with it end a comparison.
    if matrix.options.encryption == Encryption::Required && !matches!(event.kind, TimelineEventKind::Decrypted(_)) {
        return false;
    }
    let Some(text) = words(matrix, room, event) else { return false };
    let Some(code) = code(&text) else { return false };
    let Some(check) = matrix.checks.take(&sender) else { return false };
    let (is_right, room) = (check.code == code, room.clone());
    let said = if is_right {
        "Thank you. As soon as you have confirmed it on your side, too, I trust your devices."
    } else {
        "That is not the code in my log, so I broke the comparison off. Please start it again."
    };
    tokio::spawn(async move {
        let done = if is_right { check.sas.confirm().await } else { check.sas.mismatch().await };
        if let Err(error) = done {
            tracing::warn!(%error, "comparing keys could not be ended");
        }
        if let Err(trouble) = busy::say(&room, None, said.to_owned()).await {
            tracing::warn!(%trouble, "nobody could be told how comparing keys went");
        }
    });
    true
}

/// What a message says, without the bot's name before it or the sign of a command: as what is said to the bot alone is read.
fn words(matrix: &Matrix, room: &Room, event: &TimelineEvent) -> Option<String> {
    let read = event.raw().deserialize().ok()?;
    let (me, redaction) = (matrix.me(), room.clone_info().room_version_rules_or_default().redaction);
    let place = Place { room: room.room_id().to_owned(), kind: ConversationKind::Direct, redaction };
    match translate::event(&read, &Known::default(), Here { me: &me, place: &place, commands: &[] }) {
        Heard::Said(Signal { payload: Payload::Text { text }, .. }) => Some(text),
        Heard::Said(_) | Heard::Touched(_) | Heard::Nothing => None,
    }
}

/// The code, where a message is `verify` and a code and nothing else. All else is said for its own sake, also where a person
/// who compares keys speaks of verifying something.
fn code(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let (command, code) = (words.next()?, words.next()?);
    let has_its_form = code.len() == CODE_CHARS && code.chars().all(|c| c.is_ascii_alphanumeric());
    (command.eq_ignore_ascii_case("verify") && has_its_form && words.next().is_none()).then_some(code)
}

/// Who said what, where it is a message.
fn message(event: &TimelineEvent) -> Option<(OwnedUserId, MessageType)> {
    let Ok(AnySyncTimelineEvent::MessageLike(AnySyncMessageLikeEvent::RoomMessage(SyncMessageLikeEvent::Original(
        said,
    )))) = event.raw().deserialize()
    else {
        return None;
    };
    Some((said.sender, said.content.msgtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_stands_behind_the_command_and_nothing_else_does() {
        let table = [
            ("verify 1a2b3c4d", Some("1a2b3c4d")),
            (" Verify  1A2B3C4D ", Some("1A2B3C4D")),
            ("verify 1a2b3c4d please", None),
            ("verify 1a2b", None),
            ("verify 1a2b3c4d5", None),
            ("verify 1a2b-c4d", None),
            ("please verify 1a2b3c4d", None),
            ("verify", None),
            ("hello", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(code(text), expected, "{text}");
        }
    }
}

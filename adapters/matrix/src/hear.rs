//! Hearing: the bot's device, its identity, then one sync after the other until it is told to stop. Where the next one goes
//! on is written down only when the engine has everything of the last. Trouble is reported and waited out.

use std::path::Path;
use std::time::Duration;

use countersign_core::port::{BoxFuture, Condition, Ended, Ingress};
use matrix_sdk::Client;
use matrix_sdk::config::{SyncSettings, SyncToken};
use matrix_sdk::ruma::UInt;
use matrix_sdk::ruma::api::client::filter::{FilterDefinition, LazyLoadOptions};
use matrix_sdk::ruma::api::client::sync::sync_events::v3::Filter;
use matrix_sdk::sync::SyncResponse;

use crate::outcome::{Refusal, Trouble};
use crate::place::Place;
use crate::session::{self, Halt};
use crate::take::{Taken, take};
use crate::{Encryption, Matrix, invite, signs, trust, unread};

/// The most events of a room in one answer. What lies before them is fetched by itself.
const TIMELINE_MAX: u32 = 50;

/// Hears until it is stopped, or until a person has to mend something.
pub(crate) async fn hear(matrix: &Matrix, ingress: &dyn Ingress, stop: BoxFuture<'_, ()>) -> Ended {
    let mut hearing = Hearing { matrix, ingress, pause: matrix.timing.pause_first };
    tokio::select! {
        () = stop => Ended::Stopped,
        ended = hearing.run() => ended,
        // None of these ever ends.
        () = signs::go_on(matrix) => Ended::Stopped,
        () = invite::go_on(matrix, ingress) => Ended::Stopped,
    }
}

struct Hearing<'a> {
    matrix: &'a Matrix,
    ingress: &'a dyn Ingress,
    pause: Duration,
}

/// Why a session is over.
enum Over {
    /// There will be no other.
    Ended(Ended),
    /// The same device may log in again.
    Renew,
}

impl Hearing<'_> {
    async fn run(&mut self) -> Ended {
        let place = match Place::load(&self.matrix.options.store) {
            Ok(place) => place,
            Err(error) => {
                let store = &self.matrix.options.store;
                return Ended::Refused(format!(
                    "the place in {} cannot be read: {error}. {}",
                    store.display(),
                    without_place(store)
                ));
            }
        };
        loop {
            let over = match self.enter(&place).await {
                Ok(client) => Box::pin(self.listen(&client, &place)).await,
                Err(ended) => return ended,
            };
            match over {
                Over::Ended(ended) => return ended,
                Over::Renew => {
                    if let Err(ended) = self.renew().await {
                        return ended;
                    }
                }
            }
        }
    }

    /// Becomes the bot's device, however long that takes.
    async fn enter(&mut self, place: &Place) -> Result<Client, Ended> {
        loop {
            match Box::pin(self.try_to_enter(place)).await {
                Ok((client, name)) => {
                    self.matrix.connected(client.clone(), name);
                    self.pause = self.matrix.timing.pause_first;
                    return Ok(client);
                }
                Err(Halt::Refused(why)) => return Err(Ended::Refused(why)),
                Err(Halt::Trouble(trouble)) => match trouble_of_token(self.matrix, &trouble) {
                    Some(Over::Ended(ended)) => return Err(ended),
                    Some(Over::Renew) => self.renew().await?,
                    None => self.wait(&trouble).await,
                },
            }
        }
    }

    /// The session, and what the bot is called.
    async fn try_to_enter(&self, place: &Place) -> Result<(Client, Option<String>), Halt> {
        let client = session::open(self.matrix, place).await?;
        if self.matrix.options.encryption == Encryption::Required {
            trust::establish(self.matrix, &client).await?;
        }
        let name = client.account().get_display_name().await?;
        Ok((client, name))
    }

    async fn renew(&mut self) -> Result<(), Ended> {
        loop {
            match session::renew(self.matrix).await {
                Ok(()) => return Ok(()),
                Err(Halt::Refused(why)) => return Err(Ended::Refused(why)),
                Err(Halt::Trouble(trouble)) => self.wait(&trouble).await,
            }
        }
    }

    /// Hears as this device.
    async fn listen(&mut self, client: &Client, place: &Place) -> Over {
        loop {
            match client.sync_once(settings(self.matrix, place)).await.map_err(Trouble::from) {
                Ok(response) => {
                    self.matrix.heard();
                    self.ingress.report(Condition::Hearing);
                    self.pause = self.matrix.timing.pause_first;
                    if let Some(over) = self.took(client, place, response).await {
                        return over;
                    }
                }
                Err(trouble) => {
                    let over = trouble_of_token(self.matrix, &trouble);
                    match over.or_else(|| trouble_of_place(self.matrix, place, &trouble)) {
                        Some(over) => return over,
                        None => self.wait(&trouble).await,
                    }
                }
            }
        }
    }

    /// Hands over what was heard, and moves on behind it.
    async fn took(&mut self, client: &Client, place: &Place, response: SyncResponse) -> Option<Over> {
        let next = response.next_batch.clone();
        if let Taken::Stopping = take(self.matrix, self.ingress, (client, place), response).await {
            return Some(Over::Ended(Ended::Stopped));
        }
        while let Err(error) = place.reach(next.clone()) {
            tracing::error!(%error, "the place in what was heard cannot be written");
            self.wait(&Trouble::Ours(format!("the bot's folder cannot be written: {error}"))).await;
        }
        // Not before: what is said in a room joined now lies behind the place, also after a crash.
        self.matrix.invited.ring();
        unread::say(self.matrix, client, place).await;
        None
    }

    /// Reports trouble and waits: longer each time, and at least as long as the homeserver asks.
    async fn wait(&mut self, trouble: &Trouble) {
        let pause = self.pause.max(trouble.wait());
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.ingress.report(Condition::Trouble { what: trouble.to_string(), again_in_ms });
        self.pause = (self.pause * 2).min(self.matrix.timing.pause_last);
        tokio::time::sleep(pause).await;
    }
}

/// From where on, and how much.
fn settings(matrix: &Matrix, place: &Place) -> SyncSettings {
    let mut filter = FilterDefinition::default();
    filter.room.timeline.limit = Some(UInt::from(TIMELINE_MAX));
    filter.room.state.lazy_load_options = LazyLoadOptions::Enabled { include_redundant_members: false };
    let token = place.since().map_or(SyncToken::NoToken, SyncToken::Specific);
    // What could not be read is said before long.
    let poll =
        if unread::is_to_be_said(place) { matrix.timing.poll.min(matrix.timing.unread) } else { matrix.timing.poll };
    SyncSettings::new().timeout(poll).token(token).filter(Filter::FilterDefinition(filter))
}

/// What is to be done where the homeserver does not know the token any more.
fn trouble_of_token(matrix: &Matrix, trouble: &Trouble) -> Option<Over> {
    let Trouble::Refused(Refusal { soft_logout, .. }) = trouble else { return None };
    match (trouble.code(), soft_logout) {
        ("M_UNKNOWN_TOKEN", true) => Some(Over::Renew),
        ("M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN" | "M_USER_DEACTIVATED", _) => {
            Some(Over::Ended(Ended::Refused(session::logged_out(&matrix.user, &matrix.options.store))))
        }
        _ => None,
    }
}

/// What is to be done where the homeserver does not take the place from which it is to go on, as one that was put back from
/// a backup may. Waiting does not help: it is asked for the same place each time.
fn trouble_of_place(matrix: &Matrix, place: &Place, trouble: &Trouble) -> Option<Over> {
    let Trouble::Refused(Refusal { status: 400 | 404, code, .. }) = trouble else { return None };
    // What knows no syncs is no homeserver, or stands before it, and says nothing about the place.
    if code.is_empty() || code == "M_UNRECOGNIZED" || place.since().is_none() {
        return None;
    }
    let store = &matrix.options.store;
    Some(Over::Ended(Ended::Refused(format!(
        "the homeserver does not take the place up to which this bot has heard ({trouble}): the homeserver or the bot's \
         folder may have been put back from a backup. {}",
        without_place(store)
    ))))
}

/// The fix for a place from which nothing can go on.
fn without_place(store: &Path) -> String {
    format!(
        "Remove the file `place.json` in {}: what was said while the bot did not hear is then passed over.",
        store.display()
    )
}

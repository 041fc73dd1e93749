//! Hearing: who the bot is, its commands, then one poll after the other until it is told to stop. An update is confirmed to
//! Telegram only when the engine has it, by asking for the next. Trouble is reported and waited out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use teloxide::payloads::{GetMe, GetWebhookInfo, SetMyCommands};
use teloxide::types::BotCommand;

use countersign_core::port::{BoxFuture, Condition, Ended, Ingress};

use crate::Telegram;
use crate::api::{Refusal, Trouble};
use crate::poll::{Polled, poll};
use crate::rooms::note;
use crate::take::{Taken, take};
use crate::translate::{self, Heard, Me};

/// Hears until it is stopped, or until a person has to mend something.
pub(crate) async fn hear(telegram: &Telegram, ingress: &dyn Ingress, stop: BoxFuture<'_, ()>) -> Ended {
    let mut hearing =
        Hearing { telegram, ingress, stop, pause: telegram.timing.pause_first, busy: 0, done: Mutex::default() };
    match hearing.run().await {
        Ok(never) => match never {},
        Err(ended) => ended,
    }
}

/// It goes on for ever, unless it ends.
enum Never {}

/// The most times in a row that a batch is fetched again because the engine has no room. Then the sender is told to try again.
/// The other chats of each batch are taken meanwhile.
const AGAIN_MAX: u32 = 10;

struct Hearing<'a> {
    telegram: &'a Telegram,
    ingress: &'a dyn Ingress,
    stop: BoxFuture<'a, ()>,
    pause: Duration,
    /// The number of batches in a row for which the engine had no room.
    busy: u32,
    /// The updates that were taken and come again, because one before them was not.
    done: Mutex<BTreeSet<u32>>,
}

/// What `getMe` says and counts here.
#[derive(Deserialize)]
struct Myself {
    id: u64,
    username: String,
    #[serde(default)]
    supports_inline_queries: bool,
}

impl Hearing<'_> {
    async fn run(&mut self) -> Result<Never, Ended> {
        let me = self.introduce().await?;
        self.register().await?;
        let mut offset = None;
        loop {
            match self.unless_stopped(poll(&self.telegram.api, offset, self.telegram.timing)).await? {
                Ok(polled) => {
                    self.ingress.report(Condition::Hearing);
                    offset = self.taken(&me, polled).await?.or(offset);
                }
                Err(trouble) => self.recover(trouble).await?,
            }
        }
    }

    /// Asks who the bot is until Telegram says it.
    async fn introduce(&mut self) -> Result<Me, Ended> {
        loop {
            match self.unless_stopped(self.telegram.api.call::<_, Myself>(&GetMe::new())).await? {
                Ok(Myself { id, username, supports_inline_queries }) => {
                    tracing::info!(id, username, "this is the bot that Telegram knows by its token");
                    self.telegram.is_inline.store(supports_inline_queries, Ordering::Relaxed);
                    if !supports_inline_queries {
                        tracing::info!(
                            "names are not offered: inline mode is off, and `/setinline` at @BotFather turns it on"
                        );
                    }
                    return Ok(Me { id, username, first_ids: Arc::default() });
                }
                Err(trouble) => self.recover(trouble).await?,
            }
        }
    }

    /// Tells Telegram the commands that it suggests to people. The bot is as good without, so that trouble is only logged.
    async fn register(&mut self) -> Result<(), Ended> {
        let commands = &self.telegram.options.commands;
        let commands = commands.iter().map(|command| BotCommand::new(&command.name, &command.about));
        let payload = SetMyCommands::new(commands.collect::<Vec<_>>());
        let done = self.unless_stopped(self.telegram.api.call::<_, IgnoredAny>(&payload)).await?;
        if let Err(trouble) = done {
            tracing::warn!(%trouble, "Telegram did not take the list of commands");
        }
        Ok(())
    }

    /// Hands a batch over; from which update on Telegram is asked next, if that changes.
    async fn taken(&mut self, me: &Me, polled: Vec<Polled>) -> Result<Option<u32>, Ended> {
        let next = polled.iter().map(|polled| polled.id.saturating_add(1)).max();
        let commands = &self.telegram.command_names;
        self.telegram.moved.follow(self.ingress);
        polled
            .iter()
            .filter_map(|polled| polled.update.as_ref())
            .for_each(|update| self.telegram.moved.note(&update.kind));
        let me = &Me { first_ids: self.telegram.moved.known(), ..me.clone() };
        let heard = |polled: &Polled| {
            let Some(update) = &polled.update else { return Heard::Nothing };
            let heard = catch_unwind(AssertUnwindSafe(|| {
                note(self.telegram, me, update);
                translate::update(update, me, commands)
            }));
            heard.unwrap_or_else(|_| {
                tracing::error!(update = polled.id, "an update of Telegram broke its translation; it is passed over");
                Heard::Nothing
            })
        };
        let batch = polled.iter().map(|polled| (polled.id, heard(polled))).collect();
        match take(self.telegram, self.ingress, batch, self.busy < AGAIN_MAX, &self.done).await {
            Taken::All => {
                self.pause = self.telegram.timing.pause_first;
                self.busy = 0;
                self.done.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
                Ok(next)
            }
            Taken::Later(update) => {
                self.busy += 1;
                self.unless_stopped(tokio::time::sleep(self.telegram.timing.room)).await?;
                Ok(Some(update))
            }
            Taken::Before(update, error) => {
                tracing::error!(update, error, "an update could not be stored; it is fetched again");
                self.wait(format!("a message could not be stored: {error}"), Duration::ZERO).await?;
                Ok(Some(update))
            }
            Taken::Stopping => Err(Ended::Stopped),
        }
    }

    /// Ends, where Telegram itself says what only a person can mend; else reports it and waits.
    async fn recover(&mut self, trouble: Trouble) -> Result<(), Ended> {
        let at_least = match &trouble {
            Trouble::Refused(Refusal { code: 401 | 404, from_telegram: true, .. }) => {
                return Err(Ended::Refused(unknown_token(&trouble)));
            }
            Trouble::Refused(Refusal { code: 409, from_telegram: true, .. }) => {
                return Err(Ended::Refused(conflict(self.telegram).await));
            }
            Trouble::Refused(Refusal { retry_after, .. }) => Duration::from_secs(retry_after.unwrap_or(0)),
            Trouble::Unsent(_) | Trouble::Lost(_) => Duration::ZERO,
        };
        self.wait(trouble.to_string(), at_least).await
    }

    /// Reports trouble and waits: longer each time, and at least as long as Telegram asks.
    async fn wait(&mut self, what: String, at_least: Duration) -> Result<(), Ended> {
        let pause = self.pause.max(at_least);
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.ingress.report(Condition::Trouble { what, again_in_ms });
        self.pause = (self.pause * 2).min(self.telegram.timing.pause_last);
        self.unless_stopped(tokio::time::sleep(pause)).await
    }

    async fn unless_stopped<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Ended> {
        tokio::select! {
            () = &mut self.stop => Err(Ended::Stopped),
            done = future => Ok(done),
        }
    }
}

/// What to do where Telegram does not know the bot.
pub(crate) const GIVE_THE_TOKEN: &str = "Give the bot's token from @BotFather as COUNTERSIGN_TELEGRAM__TOKEN, or in a file named by \
     `telegram.token_file`, and see that `telegram.api_url` is right.";

/// What to do where Telegram sends the updates to a web server instead.
pub(crate) const DELETE_THE_WEBHOOK: &str = "Delete it (`deleteWebhook`), or give this bot a token of its own.";

fn unknown_token(trouble: &Trouble) -> String {
    format!("{trouble}. {GIVE_THE_TOKEN}")
}

/// Where Telegram sends the updates instead; empty where nowhere.
#[derive(Deserialize)]
pub(crate) struct Webhook {
    pub(crate) url: String,
}

/// Why Telegram gives the updates to somebody else.
async fn conflict(telegram: &Telegram) -> String {
    match telegram.api.call::<_, Webhook>(&GetWebhookInfo::new()).await {
        Ok(webhook) if !webhook.url.is_empty() => {
            format!("Telegram sends the messages of this bot to a webhook. {DELETE_THE_WEBHOOK}")
        }
        Ok(_) | Err(_) => {
            "Another instance is running with the same Telegram token. Stop it, or give this one a token of its own."
                .to_owned()
        }
    }
}

//! Hearing: one connection to the gateway after the other until it is told to stop. A session that can be taken up again is,
//! so that nothing of it is missed; after one that cannot, what was missed is looked for. Trouble is reported and waited
//! out.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use countersign_core::port::{BoxFuture, Condition, Ended, Ingress};
use futures::FutureExt;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::Discord;
use crate::api::{Refusal, Trouble};
use crate::busy;
use crate::commands::register_soon;
use crate::gateway::{Frame, Gateway, Gone};
use crate::ids::MessageRef;
use crate::lanes::Lanes;
use crate::missed::{self, Found};
use crate::session::{self, Event, Ready};
use crate::take::{Taken, open};
use crate::translate::{Heard, Me};

/// What the bot asks to hear (Discord's "List of Intents"): guilds, messages and reactions there and in direct
/// conversations, and what the messages say.
const INTENTS: u64 = 1 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 15;

/// How many heartbeats may stay unheard before the connection counts as dead.
const UNHEARD_MAX: u32 = 2;

/// What goes to the gateway.
const BEAT: u8 = 1;
const IDENTIFY: u8 = 2;
const RESUME: u8 = 6;

/// Hears until it is stopped, or until a person has to mend something.
pub(crate) async fn hear(discord: &Discord, ingress: &dyn Ingress, stop: BoxFuture<'_, ()>) -> Ended {
    let mut hearing = Hearing {
        discord,
        ingress,
        lanes: Lanes::new(discord, ingress),
        session: None,
        me: None,
        missed: None,
        again: None,
        held: Vec::new(),
        pause: discord.timing.pause_first,
    };
    tokio::select! {
        () = stop => Ended::Stopped,
        ended = hearing.run() => ended,
    }
}

/// A session of the gateway, which outlives its connection.
struct Session {
    id: String,
    /// Where it can be taken up again.
    url: String,
    /// The last event of it that was heard.
    sequence: u64,
}

/// Why a connection is over.
enum Over {
    /// There will be no other.
    Ended(Ended),
    /// There will be, after a pause that is at least so long. Without a sentence it is no trouble, and needs no pause.
    Again(Option<String>, Duration),
}

impl Over {
    fn again(what: impl Into<String>) -> Self {
        Self::Again(Some(what.into()), Duration::ZERO)
    }
}

struct Hearing<'a> {
    discord: &'a Discord,
    ingress: &'a dyn Ingress,
    lanes: Lanes<'a>,
    session: Option<Session>,
    /// Who the bot is; none until it was ready for the first time.
    me: Option<Me>,
    /// Looks for what was missed. Until that is found, what is heard is held, so that it overtakes nothing.
    missed: Option<BoxFuture<'a, Found>>,
    /// Where to look after that: another session was lost meanwhile, and this was heard before it was.
    again: Option<Vec<MessageRef>>,
    held: Vec<Heard>,
    pause: Duration,
}

impl<'a> Hearing<'a> {
    async fn run(&mut self) -> Ended {
        loop {
            let over = match Box::pin(self.connect()).await {
                Ok((gateway, every)) => Box::pin(self.listen(gateway, every)).await,
                Err(over) => over,
            };
            match over {
                Over::Ended(ended) => return ended,
                Over::Again(None, _) => {}
                Over::Again(Some(what), at_least) => {
                    if let Some(ended) = self.wait(what, at_least).await {
                        return ended;
                    }
                }
            }
        }
    }

    /// Connects, and takes up the session or begins one. How far apart heartbeats are.
    async fn connect(&mut self) -> Result<(Gateway, Duration), Over> {
        let limit = self.discord.timing.hello;
        let url = match &self.session {
            Some(session) => session.url.clone(),
            None => self.meanwhile(where_to(self.discord)).await??,
        };
        let greeted = Box::pin(async move {
            let mut gateway = Gateway::connect(&url).await?;
            loop {
                if let Frame::Hello { every } = gateway.next().await? {
                    return Ok((gateway, every));
                }
            }
        });
        let greeted = self.meanwhile(timeout(limit, greeted)).await?;
        let (mut gateway, every) = match greeted {
            Ok(greeted) => greeted.map_err(|gone| self.gone(&gone))?,
            Err(_) => return Err(Over::again("Discord's gateway does not answer")),
        };
        let introduced = match &self.session {
            Some(Session { id, sequence, .. }) => {
                let token = &self.discord.options.token;
                gateway.send(RESUME, &json!({"token": token, "session_id": id, "seq": sequence})).await
            }
            None => gateway.send(IDENTIFY, &identity(&self.discord.options.token)).await,
        };
        introduced.map_err(|gone| self.gone(&gone))?;
        Ok((gateway, every))
    }

    /// Hears on one connection until it is over.
    async fn listen(&mut self, mut gateway: Gateway, every: Duration) -> Over {
        let ready_by = Instant::now() + self.discord.timing.hello;
        // Discord wants the first one after a part of the time, so that not all bots beat at once.
        let mut beats = interval_at(Instant::now() + every / 2, every);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut unheard, mut is_ready) = (0, false);
        loop {
            let step = tokio::select! {
                frame = gateway.next(), if self.has_room() => match frame {
                    Ok(frame) => {
                        unheard = 0;
                        self.frame(&mut gateway, frame, &mut is_ready).await
                    }
                    Err(gone) => Err(self.gone(&gone)),
                },
                _ = beats.tick() => {
                    // While nothing is read, nothing is heard, which is nobody's fault.
                    unheard += u32::from(self.has_room());
                    if unheard > UNHEARD_MAX {
                        Err(Over::again("Discord's gateway has fallen silent"))
                    } else {
                        self.beat(&mut gateway).await
                    }
                },
                taken = self.lanes.next() => go_on(taken),
                found = found(&mut self.missed) => {
                    self.found(found);
                    Ok(())
                },
                () = tokio::time::sleep_until(ready_by), if !is_ready => {
                    Err(Over::again("Discord's gateway does not say that it is ready"))
                },
            };
            if let Err(over) = step {
                return over;
            }
        }
    }

    async fn frame(&mut self, gateway: &mut Gateway, frame: Frame, is_ready: &mut bool) -> Result<(), Over> {
        match frame {
            Frame::Event { sequence, name, data } => {
                if let Some(session) = &mut self.session {
                    session.sequence = sequence;
                }
                match name.as_str() {
                    "READY" => {
                        let ready: Ready = session::read(&name, &data)
                            .ok_or_else(|| Over::again("Discord's gateway says something else than who the bot is"))?;
                        *is_ready = true;
                        self.begin(ready, sequence);
                    }
                    "RESUMED" => {
                        *is_ready = true;
                        self.go_well();
                    }
                    name => self.event(sequence, name, &data).await,
                }
                Ok(())
            }
            Frame::Beat => self.beat(gateway).await,
            Frame::BeatHeard => {
                self.ingress.report(Condition::Hearing);
                Ok(())
            }
            Frame::Reconnect => Err(Over::Again(None, Duration::ZERO)),
            Frame::Invalid { resumable } => {
                // Discord answers, and another session can be begun: that needs no long pause, but where it was refused.
                if !resumable && self.session.take().is_some() {
                    self.pause = self.discord.timing.pause_first;
                }
                Err(Over::again("Discord's gateway has given the session up"))
            }
            Frame::Hello { .. } | Frame::Unknown => Ok(()),
        }
    }

    /// A session begins. What was said before it, and was not heard, is looked for.
    fn begin(&mut self, ready: Ready, sequence: u64) {
        let me = Me { id: ready.user.number() };
        if self.me.is_none() {
            tracing::info!(id = me.id, "this is the bot that Discord knows by its token");
            register_soon(self.discord, ready.application.number());
        }
        let after = self.discord.heard.all();
        if self.missed.is_some() {
            // The look that is under way knows nothing of this gap, and nobody else any more of its own.
            self.again = Some(missed::earliest(self.again.take().unwrap_or_default(), after));
        } else {
            self.missed = Some(self.look(&me, after));
        }
        self.me = Some(me);
        let url = self.discord.options.gateway_url.clone().unwrap_or(ready.resume_gateway_url);
        self.session = Some(Session { id: ready.session_id, url, sequence });
        self.go_well();
    }

    fn look(&self, me: &Me, after: Vec<MessageRef>) -> BoxFuture<'a, Found> {
        Box::pin(missed::look(self.discord, self.ingress, me.clone(), after))
    }

    /// A look is over. What was heard meanwhile comes after all that was missed, also by a session that came later.
    fn found(&mut self, found: Found) {
        let Found { mut heard, changed } = found;
        let is_held = |at: &MessageRef| {
            let event = at.event();
            self.held.iter().any(|held| matches!(held, Heard::Said { signal, .. } if signal.event == event))
        };
        // What was heard before it was changed is withdrawn like anything else, which needs no word.
        busy::tell_changed(self.discord, changed.into_iter().filter(|at| !is_held(at)).collect());
        self.missed = match (&self.me, self.again.take()) {
            (Some(me), Some(after)) => Some(self.look(me, after)),
            (None, _) | (_, None) => None,
        };
        if self.missed.is_none() {
            heard.append(&mut self.held);
        }
        for heard in heard {
            self.lanes.push(heard);
        }
    }

    /// Whether more can be read.
    const fn has_room(&self) -> bool {
        self.lanes.has_room_beside(self.held.len())
    }

    fn go_well(&mut self) {
        self.pause = self.discord.timing.pause_first;
        self.ingress.report(Condition::Hearing);
    }

    async fn event(&mut self, sequence: u64, name: &str, data: &serde_json::value::RawValue) {
        let (Some(me), Some(session)) = (&self.me, &self.session) else { return };
        let event = Event { session: &session.id, sequence, name, data };
        // One that breaks its translation must not hold up those behind it, again and again.
        let heard = AssertUnwindSafe(session::heard(self.discord, me, event)).catch_unwind().await;
        let heard = heard.unwrap_or_else(|_| {
            tracing::error!(event = name, "an event of Discord broke its translation; it is passed over");
            Vec::new()
        });
        for heard in heard {
            let is_told_at_once = matches!(heard, Heard::Asks { .. } | Heard::Types(_));
            if self.missed.is_some() && !is_told_at_once {
                open(self.discord, &heard);
                self.held.push(heard);
            } else {
                self.lanes.push(heard);
            }
        }
    }

    async fn beat(&mut self, gateway: &mut Gateway) -> Result<(), Over> {
        let last = self.session.as_ref().map(|session| session.sequence);
        gateway.send(BEAT, &last).await.map_err(|gone| Over::again(sentence(&gone)))
    }

    /// What is to be done about a connection that is no more.
    fn gone(&mut self, gone: &Gone) -> Over {
        let Gone::Closed(code, _) = gone else { return Over::again(sentence(gone)) };
        match *code {
            4004 => Over::Ended(Ended::Refused(unknown_token(&sentence(gone)))),
            4013 | 4014 => Over::Ended(Ended::Refused(format!("{}. {SWITCH_ON_CONTENT}", sentence(gone)))),
            4010..=4012 => Over::Ended(Ended::Refused(format!(
                "{}. This bot is in more guilds than one connection may serve, or Discord no longer speaks version 10.",
                sentence(gone)
            ))),
            // The session is over, too.
            1000 | 1001 | 4003 | 4007 | 4009 => {
                self.session = None;
                Over::again(sentence(gone))
            }
            _ => Over::again(sentence(gone)),
        }
    }

    /// Reports trouble and waits: longer each time, and at least so long.
    async fn wait(&mut self, what: String, at_least: Duration) -> Option<Ended> {
        let pause = self.pause.max(at_least);
        let again_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.ingress.report(Condition::Trouble { what, again_in_ms });
        self.pause = (self.pause * 2).min(self.discord.timing.pause_last);
        match self.meanwhile(tokio::time::sleep(pause)).await {
            Err(Over::Ended(ended)) => Some(ended),
            Ok(()) | Err(Over::Again(..)) => None,
        }
    }

    /// Waits for something, and goes on handing over meanwhile what was heard.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Over> {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                done = &mut future => return Ok(done),
                taken = self.lanes.next() => go_on(taken)?,
            }
        }
    }
}

/// What was missed, when it is found; for ever nothing where it is not looked for.
async fn found(missed: &mut Option<BoxFuture<'_, Found>>) -> Found {
    match missed {
        Some(looking) => looking.await,
        None => std::future::pending().await,
    }
}

const fn go_on(taken: Taken) -> Result<(), Over> {
    match taken {
        Taken::Done => Ok(()),
        Taken::Stopping => Err(Over::Ended(Ended::Stopped)),
    }
}

fn identity(token: &str) -> serde_json::Value {
    let properties = json!({"os": std::env::consts::OS, "browser": "countersign", "device": "countersign"});
    json!({"token": token, "intents": INTENTS, "properties": properties, "compress": false})
}

fn sentence(gone: &Gone) -> String {
    match gone {
        Gone::Closed(code, reason) if reason.is_empty() => format!("Discord's gateway closed with {code}"),
        Gone::Closed(code, reason) => {
            format!("Discord's gateway closed with {code}: {}", reason.trim_end_matches('.'))
        }
        Gone::Broken(why) => format!("the connection to Discord's gateway broke: {why}"),
    }
}

/// What to do where Discord does not know the bot.
pub(crate) const GIVE_THE_TOKEN: &str = "Give the bot's token from its page in the Developer Portal as COUNTERSIGN_DISCORD__TOKEN, \
     or in a file named by `discord.token_file`, and see that `discord.api_url` is right.";

/// What to do where Discord does not let the bot read messages.
pub(crate) const SWITCH_ON_CONTENT: &str =
    "Switch on `Message Content Intent` on the bot's page in the Developer Portal.";

fn unknown_token(trouble: &str) -> String {
    format!("{trouble}. {GIVE_THE_TOKEN}")
}

/// What Discord says of its gateway.
#[derive(Deserialize)]
struct Address {
    url: String,
    session_start_limit: Option<Starts>,
}

/// How many sessions may still be begun.
#[derive(Deserialize)]
struct Starts {
    remaining: u64,
    /// Milliseconds.
    reset_after: u64,
}

/// Where the gateway is. Discord gives a bot so many sessions a day; when they are used up, it is waited for more.
async fn where_to(discord: &Discord) -> Result<String, Over> {
    let address: Address = discord.api.get("/gateway/bot").await.map_err(|trouble| match &trouble {
        Trouble::Refused(Refusal { status: 401, .. }) => {
            Over::Ended(Ended::Refused(unknown_token(&trouble.to_string())))
        }
        Trouble::Refused(Refusal { wait_ms, .. }) => {
            Over::Again(Some(trouble.to_string()), Duration::from_millis(wait_ms.unwrap_or(0)))
        }
        Trouble::Unsent(_) | Trouble::Lost(_) => Over::again(trouble.to_string()),
    })?;
    if let Some(Starts { remaining: 0, reset_after }) = address.session_start_limit {
        let what = "Discord lets this bot begin no more sessions today".to_owned();
        return Err(Over::Again(Some(what), Duration::from_millis(reset_after)));
    }
    Ok(discord.options.gateway_url.clone().unwrap_or(address.url))
}

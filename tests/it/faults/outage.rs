//! A platform is gone for a while: nobody listens, and every connection is cut. What the bot owes waits in its outbox, and a plan
//! that waited before goes on waiting; what becomes of what people do meanwhile is each platform's own.

mod discord;
mod matrix;
mod telegram;

use std::time::Duration;

/// How long the outage lasts (`OUTAGE_SECONDS`).
const OUTAGE_S: u64 = 10;

/// How long after its end the bot may take to notice that: its longest pause between two attempts is a minute.
const BACK: Duration = Duration::from_secs(75);

/// How the bot writes down that it is not heard, and that it is again.
const TROUBLE: &str = "Trouble {";
const HEARING: &str = "condition=Hearing";

//! What is looked at before anybody relies on the bot: its token, whether somebody else gets its messages, and what
//! `@BotFather` can still switch on. Nothing is heard and nothing is changed here.

use countersign_core::port::Finding;
use serde::Deserialize;
use teloxide::payloads::{GetMe, GetWebhookInfo};

use crate::Telegram;
use crate::api::{Refusal, Trouble};
use crate::hear::{DELETE_THE_WEBHOOK, GIVE_THE_TOKEN, Webhook};

/// What `getMe` says and counts here.
#[derive(Deserialize)]
struct Myself {
    username: String,
    #[serde(default)]
    supports_inline_queries: bool,
}

pub(crate) async fn examine(telegram: &Telegram) -> Vec<Finding> {
    let me = match telegram.api.call::<_, Myself>(&GetMe::new()).await {
        Ok(me) => me,
        Err(trouble) => return vec![Finding::wrong(trouble.to_string(), fix(&trouble))],
    };
    let names = if me.supports_inline_queries { "offers" } else { "does not offer (inline mode is off)" };
    let known = Finding::fine(format!("the token is @{}'s, who {names} names to whoever types", me.username));
    let webhook = match telegram.api.call::<_, Webhook>(&GetWebhookInfo::new()).await {
        Ok(webhook) if webhook.url.is_empty() => Finding::fine("Telegram keeps its messages for whoever asks"),
        Ok(_) => Finding::wrong("Telegram sends its messages to a webhook", DELETE_THE_WEBHOOK),
        Err(trouble) => Finding::wrong(trouble.to_string(), fix(&trouble)),
    };
    vec![known, webhook]
}

fn fix(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Refused(Refusal { code: 401 | 404, from_telegram: true, .. }) => GIVE_THE_TOKEN,
        Trouble::Refused(_) | Trouble::Unsent(_) | Trouble::Lost(_) => {
            "See that `telegram.api_url` is right, and that this machine may connect to it."
        }
    }
    .to_owned()
}

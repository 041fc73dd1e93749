//! The floor of the Telegram bench: teloxide with one pattern and one reply, no storage, no rights, no rules. What our bot
//! takes above this is the price of everything it does.

use std::sync::Arc;

use anyhow::Context;
use regex::Regex;
use teloxide::prelude::*;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let base = std::env::var("TG_BASE").context("TG_BASE is the base URL of the Bot API")?;
    let token = std::env::var("TG_TOKEN").context("TG_TOKEN is the bot's token")?;
    let bot = Bot::new(token).set_api_url(base.parse()?);
    let pattern = Arc::new(Regex::new(r"^(?:[/!])?restart (\S+)(?: (\S+))?$")?);
    let handler = Update::filter_message().endpoint(move |bot: Bot, message: Message| {
        let pattern = Arc::clone(&pattern);
        async move {
            if let Some(found) = message.text().and_then(|text| pattern.captures(text)) {
                let nonce = found.get(2).map_or("", |nonce| nonce.as_str());
                bot.send_message(message.chat.id, format!("ok restart {} {nonce}", &found[1])).await?;
            }
            Ok::<(), teloxide::RequestError>(())
        }
    });
    Dispatcher::builder(bot, handler).enable_ctrlc_handler().build().dispatch().await;
    Ok(())
}

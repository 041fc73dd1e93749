//! What is offered to somebody who types after the bot's name, as results of an inline query. Picking one sends its mention as
//! their own message, and nothing else: only a message that addresses the bot is taken up.

use std::sync::Arc;

use countersign_core::port::{Ingress, Suggestion};
use serde::de::IgnoredAny;
use teloxide::payloads::AnswerInlineQuery;
use teloxide::types::{
    InlineQueryId, InlineQueryResult, InlineQueryResultArticle, InputMessageContent, InputMessageContentText,
    MessageEntity,
};

use crate::Telegram;
use crate::translate::Heard;

/// Seconds for which Telegram may give the same person the same answer again: what they may see can change.
const CACHED_S: u32 = 2;

/// Answers the queries of a batch, each in the background: nothing that is said waits for them, and one that comes too late
/// has been typed over.
pub(crate) fn offer(telegram: &Telegram, ingress: &dyn Ingress, heard: &Heard) {
    let Heard::Asked { asked, query } = heard else { return };
    let payload = answer(query, &ingress.suggest(asked));
    let api = Arc::clone(&telegram.api);
    tokio::spawn(async move {
        if let Err(trouble) = api.call::<_, IgnoredAny>(&payload).await {
            tracing::debug!(%trouble, "nothing was offered to somebody who types");
        }
    });
}

fn answer(query: &str, offered: &[Suggestion]) -> AnswerInlineQuery {
    let results: Vec<InlineQueryResult> = offered.iter().enumerate().map(|(at, one)| result(at, one)).collect();
    let mut payload = AnswerInlineQuery::new(InlineQueryId(query.to_owned()), results);
    payload.cache_time = Some(CACHED_S);
    payload.is_personal = Some(true);
    payload
}

/// The mention stands as code, so that Telegram takes it for nobody's name. A result is known by its place.
fn result(at: usize, one: &Suggestion) -> InlineQueryResult {
    let length = one.mention.encode_utf16().count();
    let content = InputMessageContentText::new(&one.mention).entities([MessageEntity::code(0, length)]);
    let article = InlineQueryResultArticle::new(at.to_string(), &one.title, InputMessageContent::Text(content));
    InlineQueryResult::Article(article.description(&one.about))
}

//! What is offered to somebody who types the text of a command: names in the place of the word that they are at. Picking one
//! fills it in, and nothing else.

use std::sync::Arc;

use countersign_core::port::{Ingress, Suggestion};
use reqwest::Method;
use serde_json::{Value, json};

use crate::Discord;
use crate::answer::callback;
use crate::translate::Typing;

/// The most characters of what is offered and of what it fills in (Discord's "Application Command Option Choice").
const CHARS_MAX: usize = 100;

/// Answers in the background: nothing that is said waits for it, and what comes too late has been typed over.
pub(crate) fn offer_soon(discord: &Discord, ingress: &dyn Ingress, typing: &Typing) {
    let (api, path) = (Arc::clone(&discord.api), callback(&typing.call));
    let body = answer(&typing.before, &ingress.suggest(&typing.asked));
    tokio::spawn(async move {
        if let Err(trouble) = api.tell(Method::POST, &path, &body).await {
            tracing::debug!(%trouble, "nothing was offered to somebody who types");
        }
    });
}

/// What is picked takes the place of all that was typed, so that the words before stand in it again. What would not fit
/// whole is not offered.
fn answer(before: &str, offered: &[Suggestion]) -> Value {
    let choices = offered.iter().filter_map(|one| {
        let value = format!("{before}{}", one.mention);
        let name = countersign_core::text::cut(&format!("{}: {}", one.title, one.about), CHARS_MAX);
        (value.chars().count() <= CHARS_MAX).then(|| json!({"name": name, "value": value}))
    });
    json!({"type": 8, "data": {"choices": choices.collect::<Vec<_>>()}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_picked_keeps_the_words_before_it_or_is_not_offered() {
        let one = |mention: &str, title: &str| Suggestion {
            mention: mention.to_owned(),
            title: title.to_owned(),
            about: "service on web-1".to_owned(),
        };
        let offered = [one("@@nginx", "nginx"), one(&format!("@@{}", "x".repeat(90)), &"x".repeat(64))];
        let choices =
            |before: &str| answer(before, &offered)["data"]["choices"].as_array().cloned().unwrap_or_default();
        assert_eq!(choices("show ")[0], json!({"name": "nginx: service on web-1", "value": "show @@nginx"}));
        assert_eq!((choices("").len(), choices("show log ").len()), (2, 1));
        assert!(choices("")[1]["name"].as_str().is_some_and(|name| name.chars().count() <= CHARS_MAX));
    }
}

//! What somebody is in a group, asked of Telegram at the moment when it counts and never kept. Where Telegram does not say,
//! they are nothing.

use std::time::Duration;

use serde::Deserialize;
use teloxide::payloads::GetChatMember;
use teloxide::types::{ChatId, UserId};

use crate::api::Api;

/// A message waits for this, so that it cannot take long.
const LIMIT: Duration = Duration::from_secs(5);

/// All that is read of a member.
#[derive(Deserialize)]
struct Member {
    status: String,
}

/// The roles of an account in a group, as the access file names them: `creator`, who is an `administrator`, too. None where
/// Telegram does not answer.
pub(crate) async fn of(api: &Api, chat: i64, user: u64) -> Vec<String> {
    let payload = GetChatMember::new(ChatId(chat), UserId(user));
    let member = api.call_within(&payload, LIMIT).await;
    let member = member
        .map_err(|trouble| trouble.to_string())
        .and_then(|member| serde_json::from_str::<Member>(member.get()).map_err(|error| error.to_string()));
    match member {
        Ok(member) => named(&member.status),
        Err(error) => {
            tracing::warn!(chat, user, error, "the roles of a member are not known, so that none counts");
            Vec::new()
        }
    }
}

fn named(status: &str) -> Vec<String> {
    let roles: &[&str] = match status {
        "creator" => &["creator", "administrator"],
        "administrator" => &["administrator"],
        _ => &[],
    };
    roles.iter().map(|role| (*role).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_left_or_is_a_member_has_no_role() {
        assert_eq!(named("creator"), ["creator", "administrator"]);
        assert_eq!(named("administrator"), ["administrator"]);
        for status in ["member", "restricted", "left", "kicked", "", "Creator"] {
            assert!(named(status).is_empty(), "{status}");
        }
    }
}

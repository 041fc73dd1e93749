//! Who there is: the people of the fake, the bot under test, and the account that every anonymous administrator shares.

use std::collections::BTreeMap;

use crate::chat::User;

/// The account of the bot under test.
pub const BOT: i64 = 7_000_000_001;
/// The name of the bot under test, without the `@`.
pub(crate) const BOT_USERNAME: &str = "fake_ops_bot";
/// `GroupAnonymousBot`, the account that stands for all anonymous administrators of all groups (Bot API, `sender_chat`).
pub const ANONYMOUS_ADMIN: i64 = 1_087_968_824;
/// `Channel_Bot`, the account that stands for a channel's posts in a group.
pub(crate) const CHANNEL_BOT: i64 = 136_817_688;

/// A user's name has at least this many letters (Telegram's sign-up rule).
const USERNAME_LETTERS_MIN: usize = 5;

/// Everybody whom the fake knows before a test adds anybody.
pub(crate) fn everybody() -> BTreeMap<i64, User> {
    let bot = |id, name: &str, username: &str| User {
        id,
        name: name.to_owned(),
        username: Some(username.to_owned()),
        is_bot: true,
        blocked: false,
    };
    [
        bot(BOT, "Ops", BOT_USERNAME),
        bot(ANONYMOUS_ADMIN, "Group", "GroupAnonymousBot"),
        bot(CHANNEL_BOT, "Channel", "Channel_Bot"),
    ]
    .into_iter()
    .map(|user| (user.id, user))
    .collect()
}

/// A person, with a user's name made from the name where that gives one.
pub(crate) fn person(id: i64, name: &str) -> User {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let username = match plain.len() {
        0 => None,
        USERNAME_LETTERS_MIN.. => Some(plain),
        _ => Some(format!("{plain}_{id}")),
    };
    User { id, name: name.to_owned(), username, is_bot: false, blocked: false }
}

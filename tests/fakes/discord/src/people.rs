//! Who there is: the people of the fake, the bot under test, and the server that all of them are in.

use std::collections::BTreeMap;

/// The account of the bot under test, and its application, which bears the same id.
pub const BOT: u64 = 7_000_000_000_000_000_001;
/// The server of the fake. Whoever is made with `Fake::user` is in it.
pub const GUILD: u64 = 6_000_000_000_000_000_001;
/// The user's name of the bot under test.
pub(crate) const BOT_USERNAME: &str = "fake_ops_bot";

/// Somebody with an account: a person, a bot or a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Discord's id.
    pub id: u64,
    /// The name that is shown.
    pub name: String,
    /// The unique name, in small letters.
    pub username: String,
    /// Whether it is a bot's account.
    pub is_bot: bool,
    /// Whether it is a webhook, which has no account.
    pub is_webhook: bool,
    /// Whether this user takes no direct messages from the bot under test.
    pub blocked: bool,
}

/// Everybody whom the fake knows before a test adds anybody.
pub(crate) fn everybody() -> BTreeMap<u64, User> {
    let bot = User {
        id: BOT,
        name: "Ops".to_owned(),
        username: BOT_USERNAME.to_owned(),
        is_bot: true,
        is_webhook: false,
        blocked: false,
    };
    BTreeMap::from([(BOT, bot)])
}

/// A person, with a user's name made from the name.
pub(crate) fn person(id: u64, name: &str) -> User {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let username = if plain.is_empty() { format!("user_{id}") } else { plain };
    User { id, name: name.to_owned(), username, is_bot: false, is_webhook: false, blocked: false }
}

/// A server: its name, its roles by id, and who is in it with which roles.
#[derive(Debug)]
pub(crate) struct Guild {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) roles: BTreeMap<u64, String>,
    pub(crate) members: BTreeMap<u64, Vec<u64>>,
}

impl Guild {
    /// One with the role that everybody has, whose id is the server's.
    pub(crate) fn new(id: u64, name: &str) -> Self {
        let roles = BTreeMap::from([(id, "@everyone".to_owned())]);
        Self { id, name: name.to_owned(), roles, members: BTreeMap::from([(BOT, Vec::new())]) }
    }
}

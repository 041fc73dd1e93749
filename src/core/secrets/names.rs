//! Which names say that what they name is a secret: keys of JSON objects, variables, flags, headers. The words stand here
//! once, as parts of patterns.

use std::sync::LazyLock;

use regex::Regex;

/// A name that ends in a word for a secret, perhaps with a short ending after it: `DB_PASSWORD`, `clientSecret`,
/// `api-key-v2`. It must end there: `max_tokens`, `password_file` and `secretName` name no secret.
pub(super) const NAME: &str = concat!(
    // Letters of ASCII alone: the pattern stands in many others, and is smaller by far without the rest of Unicode.
    r"(?-u:[A-Za-z0-9_.\-]*",
    r"(?:password|passwd|passwort|kennwort|passphrase|passcode|pwd|secret|token|authorization|cookie|mnemonic|credential",
    r"|psk|authtok|authident|requirepass|masterauth|bindpw|rootpw|storepass|keypass|dockerconfigjson",
    r"|private[_.\-]?key[_.\-]?id|client[_.\-]?key[_.\-]?data",
    r"|(?:api|access|private|preshared|secret|encryption|signing|master|account|auth|service|shared|subscription|app)",
    r"[_.\-]?key",
    r"|(?:[_.\-]|\b(?:db|user|smtp|imap|mysql|pg|redis|ldap|root|admin|my))(?:pass|pw))",
    r"(?:[_.\-]?(?:base|default|dev|enc|hash|live|new|old|prod|production|stage|staging|test|value|v?[0-9]{1,3}))?)",
);

/// The class of what a name names, where the name says that it is a secret.
pub(super) fn class_of_name(name: &str) -> Option<&'static str> {
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!("^(?i:{NAME})$")).expect("invariant: a fixed pattern that a test compiles")
    });
    WHOLE.is_match(name.trim_start_matches('-')).then(|| class_by_word(name))
}

/// The class of a name that is known to name a secret.
pub(super) fn class_by_word(name: &str) -> &'static str {
    let lower = name.to_lowercase();
    let words = [
        ("pass", "password"),
        ("pwd", "password"),
        ("pw", "password"),
        ("token", "token"),
        ("key", "key"),
        ("psk", "key"),
        ("cookie", "cookie"),
    ];
    words.iter().find(|(word, _)| lower.contains(word)).map_or("secret", |(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_they_name_a_secret() {
        let table = [
            ("password", Some("password")),
            ("DB_PASSWORD", Some("password")),
            ("PGPASSWORD", Some("password")),
            ("--password", Some("password")),
            ("smtp_pass", Some("password")),
            ("dbpass", Some("password")),
            ("ADMIN_PW", Some("password")),
            ("clientSecret", Some("secret")),
            ("AWS_SECRET_ACCESS_KEY", Some("key")),
            ("api-key-v2", Some("key")),
            ("SECRET_KEY_BASE", Some("key")),
            ("X-Auth-Token", Some("token")),
            ("Authorization", Some("secret")),
            ("max_tokens", None),
            ("token_type", None),
            ("secretName", None),
            ("password_file", None),
            ("bypass", None),
            ("compass", None),
            ("author", None),
            ("monkey", None),
            ("pass", None),
            ("", None),
        ];
        for (name, class) in table {
            assert_eq!(class_of_name(name), class, "{name}");
        }
    }
}

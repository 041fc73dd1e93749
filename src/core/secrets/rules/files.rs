//! Lines of files that hold secrets without a sign between name and value, or without a name.

use super::super::names::NAME;
use super::values::{is_flag_value, is_value, looks_random};
use super::{MARKER, Rule, value};

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = logins();
    rules.extend(networks());
    rules.extend(sources());
    rules.extend(vaults());
    rules
}

/// Files that a client takes its login from.
fn logins() -> Vec<Rule> {
    let word = format!(r"((?:{MARKER}|\S)+)");
    let user = r"(?:(?:login|account)\s+\S+\s+)";
    vec![
        // ~/.netrc, in one line or over many.
        Rule::new("password", format!(r"\bmachine\s+\S+\s+{user}{{0,2}}password\s+{word}")).needs(&["machine"]),
        Rule::new("password", format!(r"\bdefault\s+{user}{{1,2}}password\s+{word}")).needs(&["default"]),
        Rule::new("password", format!(r"(?m)^[ \t]*(?:login|user)[ \t]+\S+\s+password[ \t]+{word}[ \t]*$")),
        // ~/.pgpass: host, port, database, user.
        Rule::new(
            "password",
            format!(
                r"(?m)(?:^|[ \t:])(?:[A-Za-z0-9_.\-]+|\*):(?:[0-9]{{4,5}}|\*):(?:[^\s:]+):(?:[A-Za-z_*][^\s:]*):((?:{MARKER}|\\.|[^\s:\\])+)[ \t]*\r?$"
            ),
        ),
        Rule::new("password", r#"(?m)(?:^|[\s:])_auth[ \t]*=[ \t]*"?([^\s"]+)"#).needs(&["_auth"]),
        // sasl_passwd of a mail server.
        Rule::new("password", format!(r"(?m)^[ \t]*\[[^\s\]]+\]:[0-9]+[ \t]+[^\s:]+:{word}"))
            .needs(&["]:25", "]:465", "]:587"]),
        // chap-secrets: client, server, secret, addresses.
        Rule::new(
            "password",
            r#"(?m)^[ \t]*\S+[ \t]+(?:\*|pptpd|l2tpd|pppd?)[ \t]+("[^"\n]+"|\S+)[ \t]+(?:\*|[0-9./]+)[ \t]*$"#,
        )
        .needs(&["*", "pptpd", "l2tpd", "ppp"])
        .only(|found| !found.secret.contains('*')),
        Rule::new("secret", format!(r"(?m)^[ \t]*(?:{NAMES_BY_SPACE})[ \t]+{word}")).needs(&[
            "bindpw",
            "rootpw",
            "requirepass",
            "masterauth",
            "community",
        ]),
        Rule::new("password", format!(r"(?m)^[ \t]*(?:password|passwd|pass)[ \t]+{word}[ \t]*\r?$"))
            .only(|found| looks_random(found.secret)),
        Rule::new("password", r"(?m)^[ \t]*pass[ \t]*=[ \t]*([^\s]{6,})[ \t]*\r?$"),
        // A hash of the oldest kind has no sign of its own.
        Rule::new("password hash", r"(?m)^[ \t]*[A-Za-z0-9_.@\-]+:([./0-9A-Za-z]{13})\r?$")
            .only(|found| is_mixed(found.secret)),
        Rule::new("password", r"(?im)^[ \t]*(?P<k>NAME)::[ \t]+(\S+)".replace("NAME", NAME)),
    ]
}

/// Directives of servers whose value stands behind a space.
const NAMES_BY_SPACE: &str = "bindpw|rootpw|requirepass|masterauth|rocommunity6?|rwcommunity6?|trapcommunity";

/// Keys and passwords of networks and their devices.
fn networks() -> Vec<Rule> {
    let value = value();
    let word = format!(r"((?:{MARKER}|\S)+)");
    vec![
        Rule::new("key", format!(r":[ \t]+(?:PSK|EAP|XAUTH|NTLM)[ \t]+{value}")).needs(&["psk", "eap", "xauth", "ntlm"]),
        Rule::new("password", format!(r"(?i)\b(?:password|secret|community)[ \t]+[0-9][ \t]+{word}")).needs(&["password", "secret", "community"])
            .only(|found| looks_random(found.secret)),
        Rule::new("password", format!(r"\bcreateUser[ \t]+\S+[ \t]+(?:MD5|SHA\S*)[ \t]+{value}")).needs(&["createuser"]),
        Rule::new("password", r#"\b(?:MD5|SHA(?:-?[0-9]+)?|DES|AES(?:-?[0-9]+)?)[ \t]+"([^"\n]+)""#).needs(&["md5", "sha", "des", "aes"]),
        Rule::new("password", format!(r"(?i)\bNickServ[ \t:]+IDENTIFY[ \t]+(?:\S+[ \t]+)?{word}")).needs(&["nickserv"]),
        Rule::new(
            "private key",
            r"(?m)Private-Lines:[ \t]*[0-9]+[ \t]*\r?\n((?:[ \t]*[A-Za-z0-9+/=]+[ \t]*\r?\n)*[ \t]*[A-Za-z0-9+/=]+)[ \t]*\r?$",
        )
        .needs(&["private-lines"]),
        Rule::new("private key", r"Private-MAC:[ \t]*([0-9a-f]+)").needs(&["private-mac"]),
    ]
}

/// Source code, and commands that set a variable.
fn sources() -> Vec<Rule> {
    let value = value();
    vec![
        Rule::new(
            "secret",
            format!(r"\b(?:ENV|ARG)[ \t]+(?P<k>{NAME})[ \t]+{value}").replace(NAME, &format!("(?i:{NAME})")),
        )
        .only(is_flag_value),
        Rule::new("secret", format!(r"(?i)\bconfig(?:ure)?[ \t]+set[ \t]+(?P<k>\S*{NAME})[ \t]+{value}"))
            .needs(&["config"])
            .only(is_value),
        Rule::new("secret", format!(r#"(?i)\bdefine\([ \t]*["'](?P<k>{NAME})["'][ \t]*,[ \t]*["']([^"'\n]+)["']"#))
            .needs(&["define("]),
        Rule::new("secret", format!(r#"(?i)\b(?P<k>{NAME})\([ \t]*["']([^"'\n]+)["']"#))
            .only(|found| looks_random(found.secret) || found.name.to_lowercase().starts_with("set")),
        Rule::new("password", r#"\bCredentials\((?:[ \t]*"[^"\n]*",){3}[ \t]*"([^"\n]+)"\)"#).needs(&["credentials("]),
        // `HGETALL` of Redis: names and values in turn.
        Rule::new(
            "secret",
            format!(r#"(?im)^[ \t]*[0-9]+\)[ \t]+"(?P<k>{NAME})"\r?\n[ \t]*[0-9]+\)[ \t]+"((?:\\.|[^"\\\n])+)""#),
        ),
        // Records of psql, and what `vault kv get` prints.
        Rule::new("secret", format!(r"(?im)^[ \t]*(?P<k>{NAME})(?:[ \t]+\|[ \t]+|[ \t]{{2,}}|\t)(\S+)[ \t]*\r?$"))
            .only(|found| is_value(found) && looks_random(found.secret) && found.secret.len() >= 8),
    ]
}

/// Stores of secrets.
fn vaults() -> Vec<Rule> {
    vec![
        Rule::new("secret", r"\$ANSIBLE_VAULT;[^\n]*\n((?:[ \t]*[0-9a-f]{8,}[ \t]*\r?\n)*[ \t]*[0-9a-f]{8,})")
            .needs(&["$ansible_vault"]),
        Rule::new("key", r"(?i)\b(?:unseal|recovery)[ \t]key(?:[ \t][0-9]+)?:[ \t]*(\S+)")
            .needs(&["unseal key", "recovery key"]),
        Rule::new("token", r"\bs\.([A-Za-z0-9]{24})\b").needs(&["s."]).only(|found| is_mixed(found.secret)),
    ]
}

/// Small and capital letters and digits: no word, and no name of a thing.
fn is_mixed(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit)
}

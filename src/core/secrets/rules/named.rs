//! Secrets that are told by a name before them.

use super::super::names::NAME;
use super::values::{
    is_flag_value, is_marker, is_mixed, is_scheme_value, is_told_value, is_url_password, is_value, stands_alone,
};
use super::{MARKER, Rule, value};

/// What a block in PEM that is no public one is called.
const BLOCK: &str = "(?:[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)";

/// Secrets that are told by a name before them.
pub(super) fn rules() -> Vec<Rule> {
    let value = value();
    let header = r"authorization|cookie|passphrase|mnemonic|(?:seed|recovery)[ _\-]?phrase";
    vec![
        // The whole block, also one whose end is missing.
        Rule::new("private key", format!(r"-----BEGIN {BLOCK}-----(?s:.*?)(?:-----END {BLOCK}-----|\z)")),
        // What is left of a block whose beginning was cut off, as the last lines of a file are.
        Rule::new("private key", format!(r"(?:[ \t]*[A-Za-z0-9+/=]{{8,}}[ \t]*\r?\n)*[ \t]*-----END {BLOCK}-----")),
        Rule::new(
            "secret",
            // A block scalar of YAML stands on the next line.
            format!(
                r#"(?i)(?P<k>{NAME})(?:\\*["'`])?\]?[ \t]*(?:=>|:=|==?|:)[ \t]*(?:[|>][+-]?[ \t]*\r?\n[ \t]*)?{value}"#
            ),
        )
        .growing()
        .only(is_value),
        // Short for a password, and as often for something that went well (`pass: 12`).
        Rule::new("password", format!(r#"(?i)\b(?P<k>pass|pw)(?:\\*["'`])?\]?[ \t]*(?:=>|:|=)[ \t]*{value}"#))
            .growing()
            .only(|found| is_value(found) && is_mixed(found.secret)),
        // On the next line, and told in prose: a word alone could be anything.
        Rule::new("secret", format!(r#"(?i)(?P<k>{NAME})(?:\\*["'`])?[ \t]*[:=][ \t]*\\?[ \t]*\r?\n[ \t]*{value}"#))
            .growing()
            .only(|found| is_told_value(found) && stands_alone(found)),
        Rule::new(
            "secret",
            format!(r"(?i)\b(?P<k>{NAME})\b[^\n.;:=]{{0,40}}?[ \t](?:is|was|ist|lautet)[ \t]*:?[ \t]+{value}"),
        )
        .growing()
        .only(is_told_value),
        // What is sent to a machine is named otherwise.
        Rule::new(
            "secret",
            format!(r"(?i)\b(?:chang|reset|rotat|set|updat)[a-z]*\b[^\n;=]{{0,40}}?(?P<k>{NAME})\b[^\n;=]{{0,40}}?[ \t]to[ \t]+{value}"),
        )
        .growing()
        .only(is_told_value),
        Rule::new("secret", r#"\bsecret[ \t]+"([^"\n]+)"[ \t]*;"#),
        // These values have spaces in them: the whole line, or all up to the closing quote.
        Rule::new(
            "secret",
            format!(r#"(?i)(?P<k>[A-Za-z\-]*(?:{header}))[ \t]*[:=][ \t]*((?:{MARKER}|[^\s"'])[^\n"']*)"#),
        )
        .only(|found| is_value(found) && !is_marker(found.secret.trim_end())),
        Rule::new("secret", format!(r"(?i)(?:^|\s)-{{1,2}}(?P<k>{NAME})[ \t]+{value}")).growing().only(is_flag_value),
        // Its parts have quotes around them.
        Rule::new("secret", r"(?i)\bauthorization[ \t]*:[ \t]*digest[ \t]+([^\n]+)")
            .only(|found| !is_marker(found.secret)),
        Rule::new("password", r#"(?i)\b(?:password|passphrase)[ \t]+(?:"([^"\n]+)"|'([^'\n]+)')"#),
        Rule::new("password", r"(?i)\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+(?:password[ \t]+)?'([^'\n]+)")
            .needs(&["identified"]),
        Rule::new("password", format!(r#"://[^\s/:@?#\[\]"'<>]*:((?:{MARKER}|[^\s/?#"'<>])+)@"#))
            .needs(&["://"])
            .only(is_url_password),
        // A password with a slash in it; what is only digits up to the slash is a port.
        Rule::new(
            "password",
            format!(r#"://[^\s/:@?#\[\]"'<>]*:([0-9]*(?:{MARKER}|[^0-9\s/@"'<>])(?:{MARKER}|[^\s"'<>])*)@"#),
        )
        .needs(&["://"])
        .only(is_url_password),
        Rule::new("token", r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/\-]{8,}=*)").needs(&["bearer"]).only(is_scheme_value),
        Rule::new("password", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/]{8,}=*)").needs(&["basic"]).only(is_scheme_value),
    ]
}

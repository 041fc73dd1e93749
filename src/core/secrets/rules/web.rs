//! What travels with requests: presigned addresses, sessions, signatures; and values in XML and HTML.

use super::super::names::NAME;
use super::values::{is_value, looks_random};
use super::{Rule, value};

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = addresses();
    rules.extend(sessions());
    rules.extend(elements());
    rules
}

/// Addresses that work for whoever has them.
fn addresses() -> Vec<Rule> {
    let parameter = r"(?:[?&]|&amp;|\\u0026)";
    let signed = "X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|Signature|sig|hmac";
    vec![
        Rule::new("signature", format!(r#"(?i){parameter}(?:{signed})=([^&\s"'<>\\]{{6,}})"#)).needs(&[
            "signature=",
            "sig=",
            "hmac=",
            "security-token=",
        ]),
        Rule::new("key", format!(r"(?i){parameter}(?:key|code|auth|apikey)=([A-Za-z0-9_\-]{{16,}}=*)"))
            .needs(&["key=", "code=", "auth="])
            .only(|found| looks_random(found.secret)),
        // A token in the place of a user.
        Rule::new("token", r"://([A-Za-z0-9_\-]{20,})@").needs(&["://"]).only(|found| looks_random(found.secret)),
        Rule::new("password", r#"\b[A-Za-z0-9_.\-]+:([^\s@:/"']+)@(?:tcp|unix|udp)\("#)
            .needs(&["@tcp(", "@unix(", "@udp("]),
        Rule::new("password", r"(?i)\bjdbc:oracle:[a-z0-9]+:[^\s/@]+/([^\s@/]+)@").needs(&["jdbc:oracle"]),
        Rule::new(
            "password",
            r"\b(?:sqlplus|sqlldr|rman|expdp|impdp)[ \t]+(?:-\S+[ \t]+)*[A-Za-z0-9_]+/([^\s@/]+)(?:@|\s|$)",
        )
        .needs(&["sqlplus", "sqlldr", "rman", "expdp", "impdp"]),
        Rule::new("token", r"(?i)\bwebhook\.office\.com/webhookb2/([A-Za-z0-9@/\-]+)").needs(&["webhookb2"]),
    ]
}

/// Sessions, and what proves where a request comes from.
fn sessions() -> Vec<Rule> {
    let session =
        r"[A-Z]{0,10}SESS(?:ION)?_?ID|[a-z_.\-]{0,20}session(?:[_.\-]?id)?|(?:connect\.)?sid|ASP\.NET_SessionId";
    vec![
        Rule::new("cookie", format!(r#"(?i)\b(?:{session})=([^\s;&"'<>,]{{12,}})"#))
            .needs(&["sess", "sid="])
            .only(|found| looks_random(found.secret) && !found.secret.starts_with(['$', '/'])),
        // A file of cookies: seven columns, the last is the value.
        Rule::new("cookie", r"(?m)^[ \t]*\S+\t(?:TRUE|FALSE)\t\S+\t(?:TRUE|FALSE)\t[0-9]+\t[^\t\n]+\t(\S+)")
            .needs(&["\ttrue\t", "\tfalse\t"]),
        Rule::new("signature", r"(?i)\bx-[a-z\-]*signature[a-z0-9\-]*:[ \t]*(?:[a-z0-9]+=)?([A-Za-z0-9+/=]{16,})")
            .needs(&["signature"]),
    ]
}

/// Elements and attributes of XML and HTML.
fn elements() -> Vec<Rule> {
    let text = r"\s*(?:<!\[CDATA\[)?\s*([^<\s\]](?:[^<\]]*[^<\s\]])?)\s*(?:\]\]>)?\s*<";
    let named = format!(r#"(?:name|key|id|property)[ \t]*=[ \t]*["'](?P<k>{NAME})["']"#);
    vec![
        Rule::new("secret", format!(r"(?i)<(?:[a-z0-9]+:)?(?P<k>{NAME}|pass)(?:\s[^<>]*)?>{text}")).only(is_value),
        Rule::new("secret", format!(r"(?i)<[a-z0-9:.\-]+\s(?:[^<>]*\s)?{named}[^<>]*>{text}")).only(is_value),
        Rule::new(
            "secret",
            format!(
                r#"(?i)<[a-z0-9:.\-]+\s(?:[^<>]*\s)?{named}[^<>]*?\s(?:value|content)[ \t]*=[ \t]*["']([^"'\n]+)["']"#
            ),
        )
        .only(is_value),
        Rule::new(
            "secret",
            format!(r"(?i)<(key|name)>\s*(?P<k>{NAME})\s*</(?:key|name)>\s*<(?:string|value|data)>{text}"),
        )
        .only(is_value),
        Rule::new("password", format!(r"(?i)\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?{}", value()))
            .needs(&["securestring"])
            .only(is_value),
    ]
}

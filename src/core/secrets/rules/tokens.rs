//! Tokens with a shape of their own, and hashes of passwords.

use super::Rule;
use super::values::looks_random;

/// Tokens with a shape of their own, and hashes of passwords.
pub(super) fn rules() -> Vec<Rule> {
    let hash = "password hash";
    let der = concat!(
        r"\b(?:MII[A-Za-z0-9+/]{3,5}IBADANBgkqhkiG9w0BAQEFAASC|MC4CAQAwBQYDK2VwBCIE|MII[A-Za-z0-9+/]{3}IBAAKC|",
        r"MHcCAQEEI|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=]+(?:\r?\n[ \t]*[A-Za-z0-9+/=]{16,})*"
    );
    let chat =
        r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+)/([A-Za-z0-9_\-/]+)";
    let mut rules: Vec<Rule> =
        TOKENS.iter().map(|(class, needs, pattern)| Rule::new(class, *pattern).needs(needs)).collect();
    rules.extend([
        Rule::new("token", r"(?:\b|\bbot)([0-9]{6,12}:[A-Za-z0-9_\-]{35})(?:[^A-Za-z0-9_\-]|$)"),
        Rule::new("token", r"\b[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}"),
        Rule::new("token", chat).needs(&["hooks.slack.com", "discord"]),
        Rule::new("key", r"\bsk-[A-Za-z0-9_\-]{20,}").needs(&["sk-"]).only(|found| looks_random(found.secret)),
        Rule::new(hash, r"\$(?:1|5|6|7|y|gy|2[abxy]|apr1|scrypt|argon2(?:i|d|id))\$[A-Za-z0-9./$=,+\-]{16,}").needs(&[
            "$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$2a$", "$2b$", "$2x$", "$2y$", "$apr1$", "$scrypt$", "$argon2",
        ]),
        Rule::new(hash, r"\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2[A-Z0-9\-]*)\}[A-Za-z0-9+/=.$]{12,}")
            .needs(&["{sha", "{ssha", "{md5", "{smd5", "{crypt", "{pbkdf2"]),
        Rule::new(hash, r"\b(?:pbkdf2_sha[0-9]+|bcrypt_sha256|scrypt|md5|sha1)\$[A-Za-z0-9$+/=.]{20,}").needs(&[
            "pbkdf2_sha",
            "bcrypt_sha",
            "scrypt$",
            "md5$",
            "sha1$",
        ]),
        Rule::new(hash, r"\bSCRAM-SHA-[0-9]+\$[0-9]+:[A-Za-z0-9+/=$:]{20,}").needs(&["scram-sha"]),
        Rule::new(hash, r"'(\*[0-9A-F]{40})'").needs(&["'*"]),
        // A dump of Windows: two hashes side by side.
        Rule::new(hash, r":[0-9]+:([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::").needs(&[":::"]),
        // Keys in DER, which are written in base64 without a heading.
        Rule::new("private key", der).needs(&[
            "ibadanbgkqhkig9w0baqefaasc",
            "mc4caqawbqydk2vwbcie",
            "ibaakc",
            "mhccaqeei",
            "b3blbnnzac1rzxktdje",
        ]),
    ]);
    rules
}

/// Formats that the published rules leave out, or that they only know whole while a part is a secret too.
const TOKENS: &[(&str, &[&str], &str)] = &[
    (
        "token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[a-z]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    ("token", &["glpat-", "glrt-", "gldt-", "glptt-", "glcbt-"], r"\bgl[a-z]{2,6}-[A-Za-z0-9_.\-]{16,}"),
    ("token", &["xox", "xapp-"], r"\b(?:xox[a-z]-[A-Za-z0-9\-]{10,}|xapp-[A-Za-z0-9\-]{10,})"),
    ("token", &["npm_"], r"\bnpm_[A-Za-z0-9]{30,}"),
    ("token", &["pypi-"], r"\bpypi-[A-Za-z0-9_\-]{30,}"),
    ("token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}"),
    ("token", &["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{40,}"),
    ("token", &["hvs.", "hvb.", "hvr."], r"\bhv[sbr]\.[A-Za-z0-9_\-]{20,}"),
    ("token", &["sg."], r"\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    ("token", &["ya29."], r"\bya29\.[A-Za-z0-9_\-]{20,}"),
    (
        "token",
        &["syt_", "mct_", "mat_"],
        r"\b(?:syt_[A-Za-z0-9]+_[A-Za-z0-9]{10,}_[A-Za-z0-9]{4,}|m[ac]t_[A-Za-z0-9]{20,}_[A-Za-z0-9]{4,})",
    ),
    ("token", &["eyj"], r"eyJ[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]{5,}(?:\.[A-Za-z0-9_\-]*)*"),
    ("token", &["atatt3"], r"\bATATT3[A-Za-z0-9_\-=]{40,}"),
    ("key", &["akia", "asia"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16,}"),
    (
        "key",
        &["k_live_", "k_test_", "whsec_"],
        r"\b(?:[sr]k|whsec)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9]{20,}",
    ),
    ("key", &["aiza"], r"\bAIza[A-Za-z0-9_\-]{30,}"),
    ("key", &["key-"], r"\bkey-[0-9a-f]{32}\b"),
    ("key", &["sk"], r"\bSK[0-9a-f]{32}\b"),
    ("private key", &["age-secret-key-1"], r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
];

//! Programs that take a password in their arguments or from a pipe.

use super::values::{is_flag_value, is_value};
use super::{MARKER, Rule, value};

/// Programs with the word that each has in it, and the short flags behind which they take a password. A blank in a flag
/// is one that must be there, and a question mark is one that may be.
const FLAGS: &[(&str, &[&str], &str)] = &[
    ("(?:mysql|mariadb)[a-z-]*", &["mysql", "mariadb"], "-p"),
    ("mongo(?:sh|dump|restore|export|import|stat|files)?", &["mongo"], "-p "),
    ("redis-cli", &["redis-cli"], "-a "),
    ("ldap[a-z]+", &["ldap"], "-[wy] "),
    ("(?:7z|7za|7zz|7zr|rar|unrar)", &["7z", "rar "], "-p"),
    ("(?:zip|unzip)", &["zip "], "-P "),
    ("ipmitool", &["ipmitool"], "-P "),
    ("snmp[a-z]+", &["snmp"], "-A "),
    ("snmp[a-z]+", &["snmp"], "-X "),
    ("snmp[a-z]+", &["snmp"], "-c "),
    ("(?:sqlcmd|bcp|tsql|isql)", &["sqlcmd", "bcp", "tsql", "isql"], "-P?"),
    ("ssh-keygen", &["ssh-keygen"], "-[NP] "),
    ("x?freerdp[0-9]*", &["freerdp"], "/p:"),
    ("rdesktop", &["rdesktop"], "-p "),
    ("(?:docker|podman|nerdctl|buildah|helm|skopeo|crane|oras|az)[ \t]+(?:registry[ \t]+)?login", &["login"], "-p "),
    ("twine", &["twine"], "-p "),
    ("openssl[ \t]+enc", &["openssl "], "-[kK] "),
    ("gh[ \t]+secret[ \t]+set", &["secret"], "--body="),
    ("az[ \t]+keyvault", &["keyvault"], "--value="),
    ("cmdkey", &["cmdkey"], "/pass:"),
    ("user(?:add|mod)", &["useradd", "usermod"], "-p "),
];

/// Programs that take a password as a word of its own, and what stands before that word.
const WORDS: &[(&str, &[&str], &str)] = &[
    ("sshpass", &["sshpass"], r"-p[ \t]*"),
    ("htpasswd", &["htpasswd"], r"-[a-zA-Z]*n[a-zA-Z]*b[a-zA-Z]*[ \t]+\S+[ \t]+"),
    ("htpasswd", &["htpasswd"], r"-[a-zA-Z]*b[a-zA-Z]*n[a-zA-Z]*[ \t]+\S+[ \t]+"),
    ("htpasswd", &["htpasswd"], r"-[a-mo-zA-Z]*b[a-mo-zA-Z]*[ \t]+(?:-\S+[ \t]+)*\S+[ \t]+\S+[ \t]+"),
    ("rabbitmqctl", &["rabbitmqctl"], r"(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+"),
    ("net", &["net user"], r"user[ \t]+\S+[ \t]+"),
    ("vault", &["vault login"], r"login[ \t]+"),
    ("grafana-cli", &["grafana-cli"], r"(?:\S+[ \t]+)*reset-admin-password[ \t]+"),
    ("kubeadm", &["kubeadm"], r"join[ \t][^\n|;&]*--token[ =]"),
];

pub(super) fn rules() -> Vec<Rule> {
    let value = value();
    let flags = FLAGS.iter().map(|(program, needs, flag)| {
        let flag = flag.replace('=', r"[ \t=]+").replace('?', r"[ \t]*").replace(' ', r"[ \t]+");
        Rule::new("password", format!(r"\b{program}[ \t](?:[^\n|;&]*?[ \t])?{flag}{value}")).needs(needs)
    });
    let words = WORDS.iter().map(|(program, needs, before)| {
        Rule::new("password", format!(r"\b{program}[ \t]+{before}{value}")).needs(needs).only(is_flag_value)
    });
    let mut rules: Vec<Rule> = flags.chain(words).collect();
    rules.extend(logins());
    rules
}

/// A user and a password in one word, and what comes through a pipe.
fn logins() -> Vec<Rule> {
    let value = value();
    let word = format!(r#"((?:{MARKER}|[^\s"'])+)"#);
    let reader = [
        r"sudo[ \t]+(?:-\S+[ \t]+)*-S",
        r"(?:sudo[ \t]+)?(?:chpasswd|passwd)\b",
        r"[^\n|;]*(?:--[a-z\-]*stdin|-pass(?:in|out)?[ \t]+stdin|--with-token|--passphrase-fd)",
    ];
    let reader = reader.join("|");
    let curl = r#"\bcurl[ \t](?:[^\n|;&]*?[ \t])?(?:-u|--user|-U|--proxy-user)[ \t=]*["']?[^\s:"'\-][^\s:"']*:"#;
    let samba = r#"\b(?:smb[a-z]+|rpcclient|wmic)[ \t][^\n|;&]*?-U[ \t]*["']?[^\s%"']+%"#;
    let piped = format!(r#"\b(?:echo|printf)[ \t]+(?:-\S+[ \t]+)*{value}["'`]?[ \t]*\|[ \t]*(?:{reader})"#);
    vec![
        Rule::new("password", format!("{curl}{word}")).needs(&["curl "]),
        Rule::new("password", format!("{samba}{word}")).needs(&["smb", "rpcclient", "wmic"]),
        Rule::new("password", format!(r"\blftp[ \t][^\n|;&]*?-u[ \t]+[^\s,]+,{word}")).needs(&["lftp"]),
        Rule::new("password", format!(r"\bopenssl[ \t][^\n|;]*?\bpass:{word}")).needs(&["openssl "]),
        Rule::new("secret", format!(r#"--from-literal[ =]["']?[^\s="']+={word}"#))
            .needs(&["from-literal"])
            .only(is_value),
        Rule::new("password", piped).needs(&["echo ", "printf "]).only(is_value),
    ]
}

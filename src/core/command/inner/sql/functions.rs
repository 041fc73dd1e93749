//! Which functions only read: a list for each server (`tables/sql-functions.toml`), and nothing else, since a schema may
//! define functions that write. What a function with a name on the list does in a schema that redefines it is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{Danger, Dialect, Kind, Token, statement};

/// The names of each list of the table.
static LISTS: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let table: BTreeMap<String, String> = toml::from_str(include_str!("../../tables/sql-functions.toml"))
        .expect("invariant: the table is part of the program and every test reads it");
    table.into_iter().map(|(list, names)| (list, names.split_whitespace().map(str::to_owned).collect())).collect()
});

/// Functions that people try, and what they do; a better reason than "not known".
const DEEDS: [(&[&str], &str); 12] = [
    (&["pg_terminate_backend", "pg_cancel_backend"], "ends the work of another connection"),
    (&["pg_sleep", "pg_sleep_for", "pg_sleep_until", "sleep", "benchmark"], "holds the connection"),
    (&["pg_reload_conf", "pg_rotate_logfile", "pg_promote", "pg_switch_wal"], "acts on the server"),
    (&["pg_read_file", "pg_read_binary_file", "pg_ls_dir", "load_file", "readfile"], "reads files of the server"),
    (
        &["lo_import", "lo_export", "lo_unlink", "lo_create", "lo_put", "lo_from_bytea"],
        "acts on large objects or files",
    ),
    (&["dblink", "dblink_exec", "dblink_connect"], "runs statements on another server"),
    (&["nextval", "setval"], "moves a sequence"),
    (&["set_config", "pg_stat_reset", "pg_stat_statements_reset"], "changes or resets what the server keeps"),
    (&["pg_notify"], "sends a notification"),
    (&["pg_advisory_lock", "pg_try_advisory_lock", "get_lock", "release_lock"], "takes or gives back a lock"),
    (&["load_extension"], "loads code"),
    (&["writefile", "edit"], "writes files or runs a program"),
];

fn is_in(list: &str, name: &str) -> bool {
    LISTS.get(list).is_some_and(|names| names.contains(name))
}

const fn list_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "postgres",
        Dialect::MySql => "mysql",
        Dialect::Sqlite => "sqlite",
        Dialect::Generic => "generic",
    }
}

/// Whether a function is known to only read, by its parts: the schema, where there is one, and the name; `quoted` where
/// any of them stood in quotes.
pub(super) fn known(parts: &[&str], quoted: bool, dialect: Dialect) -> Result<(), Danger> {
    let mut name = parts.join(".").to_ascii_lowercase();
    if dialect == Dialect::Postgres {
        name = name.strip_prefix("pg_catalog.").unwrap_or(&name).to_owned();
    }
    if !quoted && (is_in("common", &name) || is_in(list_of(dialect), &name)) {
        return Ok(());
    }
    let short = name.rsplit('.').next().unwrap_or("");
    let does = DEEDS.iter().find(|(names, _)| names.contains(&short)).map(|(_, does)| *does);
    let shown = statement::shown(&name);
    Err(match does {
        Some(does) => Danger::high(format!("{does} (the function {shown})")),
        None => Danger::medium(format!("calls the function {shown}, which is not known to only read")),
    })
}

/// Checks every name that is followed by a bracket: it is a keyword, a type, one of `aliases`, or a known function.
pub(super) fn check(words: &[Token<'_>], dialect: Dialect, aliases: &[String]) -> Result<(), Danger> {
    for (at, pair) in words.windows(2).enumerate() {
        let [name, open] = pair else { continue };
        // With ANSI_QUOTES, what MySQL otherwise reads as a string is a name.
        if !open.is_symbol("(") || !matches!(name.kind, Kind::Word | Kind::Name | Kind::Text) {
            continue;
        }
        let parts = qualified(words.get(..=at).unwrap_or_default());
        let alone = parts.len() == 1;
        let lower = name.text.to_ascii_lowercase();
        if alone && name.kind == Kind::Word && is_in("syntax", &lower) {
            continue;
        }
        if alone && aliases.contains(&lower) {
            continue;
        }
        let texts: Vec<&str> = parts.iter().map(|part| part.text).collect();
        known(&texts, parts.iter().any(|part| part.kind != Kind::Word), dialect)?;
    }
    Ok(())
}

/// The parts of the name that these words end with, the schema first.
fn qualified<'a, 'b>(words: &'a [Token<'b>]) -> Vec<&'a Token<'b>> {
    let mut parts = Vec::new();
    let mut rest = words;
    while let [before @ .., name] = rest {
        parts.push(name);
        match before {
            [more @ .., dot] if dot.is_symbol(".") => rest = more,
            _ => break,
        }
    }
    parts.reverse();
    parts
}

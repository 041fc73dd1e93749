//! What one statement does, by its first words: a short list of statements may go on to be proven, all others have a name
//! for what they do. What hides inside a query is not looked at here.

use super::{Danger, Dialect, Kind, Token, functions, query, unreadable};
use crate::command::judgement::Risk;

/// What each statement that does not only read does, by its first word.
const DEEDS: [(&str, &str, Risk); 73] = [
    ("alter", "changes how something is built", Risk::HighWrite),
    ("analyze", "writes new statistics", Risk::LowWrite),
    ("attach", "opens or creates another database file", Risk::MediumWrite),
    ("backup", "writes a backup", Risk::MediumWrite),
    ("binlog", "replays changes", Risk::HighWrite),
    ("cache", "changes a cache", Risk::LowWrite),
    ("call", "runs a stored procedure", Risk::MediumWrite),
    ("change", "changes the replication", Risk::HighWrite),
    ("check", "checks a table and marks it", Risk::LowWrite),
    ("checkpoint", "forces a checkpoint", Risk::MediumWrite),
    ("clone", "copies a server", Risk::HighWrite),
    ("close", "closes a cursor", Risk::LowWrite),
    ("cluster", "rewrites a table under a lock", Risk::HighWrite),
    ("comment", "changes a comment", Risk::LowWrite),
    ("copy", "moves rows into a table, a file or a program", Risk::HighWrite),
    ("create", "creates something", Risk::MediumWrite),
    ("deallocate", "drops a prepared statement", Risk::LowWrite),
    ("declare", "opens a cursor", Risk::LowWrite),
    ("delete", "deletes rows", Risk::HighWrite),
    ("detach", "closes a database file", Risk::LowWrite),
    ("discard", "drops the state of the session", Risk::LowWrite),
    ("do", "runs code", Risk::HighWrite),
    ("drop", "removes something for good", Risk::HighWrite),
    ("exec", "runs a stored procedure", Risk::MediumWrite),
    ("execute", "runs a prepared statement", Risk::MediumWrite),
    ("export", "writes files", Risk::MediumWrite),
    ("fetch", "moves a cursor", Risk::LowWrite),
    ("flush", "empties caches or logs, or locks tables", Risk::MediumWrite),
    ("get", "writes files", Risk::MediumWrite),
    ("grant", "gives rights", Risk::HighWrite),
    ("handler", "opens a table handler", Risk::LowWrite),
    ("import", "loads data", Risk::MediumWrite),
    ("insert", "adds rows", Risk::MediumWrite),
    ("install", "loads code into the server", Risk::HighWrite),
    ("kill", "ends a connection or a query", Risk::HighWrite),
    ("listen", "waits for notifications", Risk::LowWrite),
    ("load", "loads a file or code into the server", Risk::HighWrite),
    ("lock", "locks tables", Risk::MediumWrite),
    ("merge", "changes rows", Risk::MediumWrite),
    ("move", "moves a cursor", Risk::LowWrite),
    ("notify", "sends a notification", Risk::LowWrite),
    ("optimize", "rewrites a table", Risk::MediumWrite),
    ("pragma", "changes a setting", Risk::MediumWrite),
    ("prepare", "prepares a statement", Risk::LowWrite),
    ("purge", "deletes logs", Risk::HighWrite),
    ("put", "uploads files", Risk::MediumWrite),
    ("reassign", "changes who owns things", Risk::HighWrite),
    ("refresh", "rewrites a materialized view", Risk::MediumWrite),
    ("reindex", "rebuilds indexes", Risk::MediumWrite),
    ("release", "ends a savepoint", Risk::LowWrite),
    ("rename", "renames something", Risk::HighWrite),
    ("repair", "rewrites a table", Risk::HighWrite),
    ("replace", "replaces rows", Risk::MediumWrite),
    ("reset", "resets a setting or a log", Risk::HighWrite),
    ("restart", "restarts the server", Risk::HighWrite),
    ("restore", "restores data", Risk::HighWrite),
    ("revoke", "takes rights away", Risk::HighWrite),
    ("savepoint", "sets a savepoint", Risk::LowWrite),
    ("security", "changes security labels", Risk::MediumWrite),
    ("set", "changes a setting", Risk::MediumWrite),
    ("shutdown", "stops the server", Risk::HighWrite),
    ("signal", "raises an error", Risk::LowWrite),
    ("start", "starts the replication", Risk::HighWrite),
    ("stop", "stops the replication", Risk::HighWrite),
    ("system", "runs a command of the system", Risk::HighWrite),
    ("truncate", "empties a table", Risk::HighWrite),
    ("uninstall", "takes code out of the server", Risk::HighWrite),
    ("unlisten", "ends waiting for notifications", Risk::LowWrite),
    ("unlock", "releases locks", Risk::LowWrite),
    ("update", "changes rows", Risk::MediumWrite),
    ("use", "changes the database", Risk::LowWrite),
    ("vacuum", "rewrites storage", Risk::MediumWrite),
    ("xa", "acts on a distributed transaction", Risk::HighWrite),
];

/// Words of a transaction that only says how it reads, and of its end.
const TRANSACTION: [&str; 20] = [
    "begin",
    "start",
    "commit",
    "rollback",
    "end",
    "transaction",
    "work",
    "read",
    "only",
    "isolation",
    "level",
    "repeatable",
    "committed",
    "uncommitted",
    "serializable",
    "deferrable",
    "deferred",
    "with",
    "consistent",
    "snapshot",
];

/// Settings of one session that only end it earlier.
const SETTINGS: [&str; 4] =
    ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "max_execution_time"];

/// What `EXPLAIN` takes before the statement.
const EXPLAIN: [&str; 12] = [
    "analyze",
    "verbose",
    "extended",
    "partitions",
    "query",
    "plan",
    "format",
    "json",
    "tree",
    "traditional",
    "text",
    "yaml",
];

/// How `COPY ... TO STDOUT` may be told to print.
const COPY: [&str; 16] = [
    "with",
    "csv",
    "text",
    "format",
    "header",
    "delimiter",
    "null",
    "quote",
    "escape",
    "force",
    "encoding",
    "true",
    "false",
    "on",
    "off",
    "as",
];

/// Pragmas that read a setting where they get no value.
const PRAGMAS: [&str; 45] = [
    "application_id",
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "cell_size_check",
    "checkpoint_fullfsync",
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "defer_foreign_keys",
    "encoding",
    "foreign_key_check",
    "foreign_keys",
    "freelist_count",
    "fullfsync",
    "function_list",
    "hard_heap_limit",
    "ignore_check_constraints",
    "integrity_check",
    "journal_mode",
    "journal_size_limit",
    "legacy_alter_table",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "module_list",
    "page_count",
    "page_size",
    "pragma_list",
    "query_only",
    "quick_check",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "schema_version",
    "secure_delete",
    "synchronous",
    "table_list",
    "temp_store",
    "threads",
    "user_version",
    "wal_autocheckpoint",
];

/// Pragmas whose argument names what they read.
const PRAGMAS_OF: [&str; 9] = [
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_xinfo",
];

/// Proves that one statement only reads.
pub(super) fn judge(words: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    let Some(first) = words.first() else { return Err(unreadable("there is no statement")) };
    if first.is_symbol("(") {
        return query::judge(words, dialect);
    }
    let keyword = if first.kind == Kind::Word { first.text.to_ascii_lowercase() } else { String::new() };
    match keyword.as_str() {
        "select" | "with" | "values" | "table" => query::judge(words, dialect),
        "show" => show(words, dialect),
        "explain" | "desc" | "describe" => explain(words, dialect),
        "begin" | "start" | "commit" | "rollback" | "end" if is_transaction(words) => Ok(()),
        "set" if is_harmless_set(words) => Ok(()),
        "use" if dialect == Dialect::MySql && matches!(words, [_, name] if is_name(name)) => Ok(()),
        "pragma" if dialect == Dialect::Sqlite => pragma(words),
        "copy" if dialect == Dialect::Postgres => copy(words, dialect),
        _ => Err(deed(words)),
    }
}

/// What a statement that is not proven does, in its own words.
pub(super) fn deed(words: &[Token<'_>]) -> Danger {
    let Some(first) = words.first() else { return unreadable("there is no statement") };
    let Some((keyword, does, risk)) = DEEDS.iter().find(|(keyword, ..)| first.is(keyword)) else {
        return unreadable(&format!("no statement that only reads begins with `{}`", shown(first.text)));
    };
    let more = matches!(*keyword, "alter" | "create" | "drop" | "lock" | "load" | "reset" | "stop" | "start" | "set");
    let second = words.get(1).filter(|word| more && word.kind == Kind::Word);
    let second = second.map(|word| format!(" {}", shown(&word.text.to_uppercase()))).unwrap_or_default();
    Danger { reason: format!("{does} ({}{second})", keyword.to_uppercase()), risk: *risk }
}

fn is_deed(word: &Token<'_>) -> bool {
    DEEDS.iter().any(|(keyword, ..)| word.is(keyword))
}

/// The beginning of a word that may be long.
pub(super) fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

fn is_name(word: &Token<'_>) -> bool {
    matches!(word.kind, Kind::Word | Kind::Name)
}

fn is_one_of(word: &Token<'_>, list: &[&str]) -> bool {
    list.iter().any(|keyword| word.is(keyword))
}

fn is_transaction(words: &[Token<'_>]) -> bool {
    let comma = |word: &Token<'_>| word.is_symbol(",");
    let known = |word: &Token<'_>| comma(word) || is_one_of(word, &TRANSACTION);
    // Alone, START is no transaction.
    words.iter().all(known) && !matches!(words, [start] if start.is("start"))
}

fn is_harmless_set(words: &[Token<'_>]) -> bool {
    let words = words.get(1..).unwrap_or_default();
    let words = match words {
        [scope, rest @ ..] if is_one_of(scope, &["session", "local"]) => rest,
        all => all,
    };
    match words {
        [transaction, rest @ ..] if transaction.is("transaction") => is_transaction(rest) && !rest.is_empty(),
        [name, equals, value] => {
            is_one_of(name, &SETTINGS)
                && (equals.is_symbol("=") || equals.is("to"))
                && matches!(value.kind, Kind::Number | Kind::Text)
        }
        _ => false,
    }
}

/// `SHOW` only reads, but what it shows may be chosen by an expression.
fn show(words: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    if dialect == Dialect::Sqlite {
        return Err(unreadable("SQLite has no SHOW"));
    }
    // SHOW CREATE TABLE is a read; further on, such a word would begin another statement.
    if let Some(at) = words.iter().skip(2).position(is_deed) {
        return Err(deed(words.get(at + 2..).unwrap_or_default()));
    }
    query::check_words(words)?;
    functions::check(words, dialect, &[])
}

fn explain(words: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    let mut rest = words.get(1..).unwrap_or_default();
    if dialect == Dialect::MySql && is_table_or_connection(rest) {
        return Ok(());
    }
    if let [open, ..] = rest
        && open.is_symbol("(")
        && let Some(after) = after_brackets(rest)
        && after.first().is_some_and(|word| word.kind == Kind::Word)
        && rest.iter().filter(|word| word.is_symbol("(")).count()
            - after.iter().filter(|word| word.is_symbol("(")).count()
            == 1
    {
        rest = after;
    }
    while let [option, after @ ..] = rest {
        if !is_one_of(option, &EXPLAIN) && !option.is_symbol("=") {
            break;
        }
        rest = after;
    }
    match rest {
        [first, ..] if first.is_symbol("(") || is_one_of(first, &["select", "with", "values", "table"]) => {
            query::judge(rest, dialect)
        }
        [first, ..] if is_one_of(first, &["insert", "update", "delete", "replace", "merge"]) => {
            let danger = deed(rest);
            Err(Danger { reason: format!("explains a statement that {}, and may run it", danger.reason), ..danger })
        }
        _ => Err(unreadable("what EXPLAIN or DESCRIBE is asked for")),
    }
}

/// `DESCRIBE shop.orders id`, `EXPLAIN FOR CONNECTION 5`.
fn is_table_or_connection(words: &[Token<'_>]) -> bool {
    match words {
        [by, connection, id] if by.is("for") && connection.is("connection") => id.kind == Kind::Number,
        [table] => is_name(table) && !is_deed(table),
        [table, column] => is_name(table) && is_name(column) && !is_deed(table),
        [schema, dot, table] => is_name(schema) && dot.is_symbol(".") && is_name(table),
        _ => false,
    }
}

/// What stands after the brackets that these words begin with.
fn after_brackets<'a, 'b>(words: &'a [Token<'b>]) -> Option<&'a [Token<'b>]> {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        if word.is_symbol("(") {
            depth += 1;
        } else if word.is_symbol(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return words.get(at + 1..);
            }
        }
    }
    None
}

fn pragma(words: &[Token<'_>]) -> Result<(), Danger> {
    let words = words.get(1..).unwrap_or_default();
    let words = match words {
        [schema, dot, rest @ ..] if is_name(schema) && dot.is_symbol(".") => rest,
        _ => words,
    };
    let name = words.first().map(|word| shown(word.text)).unwrap_or_default();
    let reads = match words {
        [name] => is_one_of(name, &PRAGMAS),
        [name, open, of, close] => {
            let plain = matches!(of.kind, Kind::Word | Kind::Name | Kind::Text | Kind::Number);
            open.is_symbol("(") && plain && close.is_symbol(")") && is_one_of(name, &PRAGMAS_OF)
        }
        _ => false,
    };
    if reads { Ok(()) } else { Err(Danger::medium(format!("changes a setting of the database (PRAGMA {name})"))) }
}

/// `COPY (query) TO STDOUT` and `COPY table TO STDOUT` print; every other COPY writes.
fn copy(words: &[Token<'_>], dialect: Dialect) -> Result<(), Danger> {
    let what = words.get(1..).unwrap_or_default();
    let to = match what {
        [open, ..] if open.is_symbol("(") => after_brackets(what).unwrap_or_default(),
        [schema, dot, _, rest @ ..] if is_name(schema) && dot.is_symbol(".") => rest,
        [table, rest @ ..] if is_name(table) => rest,
        _ => &[],
    };
    let [into, stdout, how @ ..] = to else { return Err(deed(words)) };
    let plain = |word: &Token<'_>| word.kind == Kind::Text || ["(", ")", ","].iter().any(|sign| word.is_symbol(sign));
    if !into.is("to") || !stdout.is("stdout") || !how.iter().all(|word| plain(word) || is_one_of(word, &COPY)) {
        return Err(deed(words));
    }
    match what {
        [open, ..] if open.is_symbol("(") => {
            let length = what.len().saturating_sub(to.len());
            query::judge(what.get(..length).unwrap_or_default(), dialect)
        }
        _ => Ok(()),
    }
}

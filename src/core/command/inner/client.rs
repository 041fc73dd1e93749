//! What psql, mysql and sqlite3 understand in one text: SQL, and commands of their own that the server never sees. The
//! clients' options are not read here.

use super::sql::{self, Dialect, Kind, Lexer, Token, check_characters, unreadable};
use super::{Danger, check_length};

/// psql's commands that only print or set how results look, beside `\d...`. Each takes any plain arguments.
const PSQL_PRINTS: [&str; 27] = [
    "a",
    "C",
    "conninfo",
    "copyright",
    "echo",
    "encoding",
    "errverbose",
    "f",
    "H",
    "h",
    "help",
    "l",
    "l+",
    "list",
    "list+",
    "pset",
    "q",
    "qecho",
    "sf",
    "sf+",
    "sv",
    "sv+",
    "t",
    "timing",
    "warn",
    "x",
    "z",
];

/// What psql's other commands do.
const PSQL_DEEDS: [(&[&str], &str); 15] = [
    (&["!"], "runs a command of the system"),
    (&["o", "out", "w", "write", "s"], "writes a file or feeds a program"),
    (&["copy"], "moves rows into a table, a file or a program"),
    (&["i", "include", "ir", "include_relative"], "runs the statements of a file"),
    (&["g", "gx"], "writes the result to a file or a program"),
    (&["gexec"], "runs what the query returns as statements"),
    (&["gset", "set", "unset", "prompt", "getenv"], "changes variables that later statements hold"),
    (&["setenv", "cd"], "changes the surroundings of the client"),
    (&["e", "edit", "ef", "ev"], "opens an editor"),
    (&["c", "connect"], "goes on on another server or database"),
    (&["lo_import", "lo_export", "lo_unlink", "lo_list"], "acts on large objects or files"),
    (&["watch"], "repeats until somebody stops it"),
    (&["password"], "changes a password"),
    (&["if", "elif", "else", "endif"], "leaves open which statements run"),
    (&["bind", "parse", "bind_named", "close", "startpipeline", "endpipeline"], "builds a statement in pieces"),
];

/// Commands of mysql that begin a line and act outside the server.
const MYSQL_DEEDS: [(&str, &str); 9] = [
    ("system", "runs a command of the system"),
    ("source", "runs the statements of a file"),
    ("tee", "writes a file"),
    ("pager", "feeds a program"),
    ("edit", "opens an editor"),
    ("delimiter", "changes where a statement ends"),
    ("connect", "goes on on another server"),
    ("charset", "changes how strings are read"),
    ("ssl_session_data_print", "writes a file"),
];

/// Commands of mysql that only print, alone on their line.
const MYSQL_PRINTS: [&str; 7] = ["help", "status", "warnings", "nowarning", "quit", "exit", "print"];

/// What mysql's short commands do.
const MYSQL_SHORT: [(&str, &str); 7] = [
    ("!", "runs a command of the system"),
    (".", "runs the statements of a file"),
    ("T", "writes a file"),
    ("P", "feeds a program"),
    ("e", "opens an editor"),
    ("d", "changes where a statement ends"),
    ("r", "goes on on another server"),
];

/// sqlite3's commands that only print or set how results look.
const SQLITE_PRINTS: [&str; 28] = [
    "bail",
    "changes",
    "databases",
    "dbinfo",
    "dump",
    "echo",
    "eqp",
    "exit",
    "explain",
    "fullschema",
    "header",
    "headers",
    "help",
    "indexes",
    "indices",
    "mode",
    "nullvalue",
    "print",
    "quit",
    "schema",
    "separator",
    "show",
    "stats",
    "tables",
    "timeout",
    "timer",
    "version",
    "width",
];

/// What sqlite3's other commands do.
const SQLITE_DEEDS: [(&[&str], &str); 9] = [
    (&["shell", "system"], "runs a command of the system"),
    (&["output", "once", "excel", "www", "log", "trace"], "writes a file or feeds a program"),
    (&["import", "read"], "loads a file"),
    (&["load"], "loads code"),
    (&["save", "backup", "clone"], "writes a database file"),
    (&["restore", "recover"], "restores data"),
    (&["open", "connection"], "goes on on another database file"),
    (&["archive", "ar"], "works on an archive of files"),
    (&["cd"], "changes the directory"),
];

/// What psql is given: statements, `\` commands, or lines of both.
pub(in super::super) fn psql(text: &str) -> Result<(), Danger> {
    check_length(text)?;
    check_characters(text)?;
    let (mut lexer, mut statements, mut seen) = (Lexer::new(text, Dialect::Postgres), Vec::new(), false);
    while let Some(token) = lexer.next()? {
        if token.kind != Kind::Backslash {
            statements.push(token);
            continue;
        }
        seen = true;
        let pending = statements.last().is_some_and(|token: &Token<'_>| !token.is_symbol(";"));
        if psql_line(lexer.take_line(), pending)? {
            statements.push(Token { kind: Kind::Symbol, text: ";", spaced: true, ..token });
        }
    }
    judge_rest(&statements, Dialect::Postgres, seen)
}

/// What stands after the backslash on one line. Returns whether it ends a statement; `pending` says that one is open.
fn psql_line(line: &str, pending: bool) -> Result<bool, Danger> {
    if line.contains(['`', ':']) {
        return Err(Danger::high("runs a command or puts in a variable (a backquote or a colon after `\\`)"));
    }
    if pending {
        // Anywhere else inside a statement, a command would take effect before the statement is known.
        return match line.trim() {
            "g" | "gx" => Ok(true),
            other => Err(psql_deed(name_of(other))),
        };
    }
    // Each further backslash begins another command, whatever stands around it.
    line.split('\\').try_for_each(|command| {
        let name = name_of(command);
        if is_describe(name) || PSQL_PRINTS.contains(&name) || name == "?" || name == "dp" {
            return Ok(());
        }
        Err(psql_deed(name))
    })?;
    Ok(false)
}

fn name_of(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or("")
}

/// `\d`, `\dt+`, `\dS`, `\dconfig`: every command that begins with d describes something.
fn is_describe(name: &str) -> bool {
    let letters = name.strip_prefix('d').map(|rest| rest.trim_end_matches('+'));
    letters.is_some_and(|letters| letters.len() <= 8 && letters.chars().all(|c| c.is_ascii_alphabetic()))
}

fn psql_deed(name: &str) -> Danger {
    // `\!rm` has no blank before its argument.
    let looked_up = if name.starts_with('!') { "!" } else { name.trim_end_matches('+') };
    let does = PSQL_DEEDS.iter().find(|(names, _)| names.contains(&looked_up)).map(|(_, does)| *does);
    named("\\", looked_up, does)
}

/// What mysql is given with -e or on its input.
pub(in super::super) fn mysql(text: &str) -> Result<(), Danger> {
    check_length(text)?;
    check_characters(text)?;
    let (mut lexer, mut statements, mut seen) = (Lexer::new(text, Dialect::MySql), Vec::new(), false);
    while let Some(token) = lexer.next()? {
        let open = statements.last().is_some_and(|token: &Token<'_>| !token.is_symbol(";"));
        if token.kind == Kind::Backslash {
            // mysql looks at one letter, whatever follows it.
            mysql_short(text.get(token.at + 1..).unwrap_or(""), open)?;
            lexer.take_character();
            statements.push(Token { kind: Kind::Symbol, text: ";", spaced: true, ..token });
            seen = true;
            continue;
        }
        if token.first && token.kind == Kind::Word {
            let deed = MYSQL_DEEDS.iter().find(|(name, _)| token.is(name));
            if let Some((name, does)) = deed {
                return Err(named("", name, Some(does)));
            }
            if !open && MYSQL_PRINTS.iter().any(|name| token.is(name)) {
                // Behind a `;` on the same line, another statement begins.
                let rest = lexer.take_line().trim_end_matches([' ', ';', '\r']);
                if !rest.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ') {
                    return Err(unreadable("more than words after a command of mysql"));
                }
                seen = true;
                continue;
            }
        }
        statements.push(token);
    }
    judge_rest(&statements, Dialect::MySql, seen)
}

/// `\G` and `\g` end a statement; `\s`, `\h` and `\?` only print.
fn mysql_short(rest: &str, open: bool) -> Result<(), Danger> {
    let name = rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or("");
    match name {
        "G" | "g" => Ok(()),
        // What follows them on the line belongs to them.
        "s" | "h" | "?" | "W" | "w" | "q" if !open && rest.trim_end_matches([' ', ';', '\n']).len() == 1 => Ok(()),
        _ => Err(named("\\", name, MYSQL_SHORT.iter().find(|(short, _)| *short == name).map(|(_, does)| *does))),
    }
}

/// What sqlite3 is given as an argument or on its input.
pub(in super::super) fn sqlite(text: &str) -> Result<(), Danger> {
    check_length(text)?;
    check_characters(text)?;
    let (mut lexer, mut statements, mut seen) = (Lexer::new(text, Dialect::Sqlite), Vec::new(), false);
    while let Some(token) = lexer.next()? {
        let open = statements.last().is_some_and(|token: &Token<'_>| !token.is_symbol(";"));
        if token.first && token.is_symbol(".") && !open {
            sqlite_line(lexer.take_line())?;
            seen = true;
            continue;
        }
        // On its input, sqlite3 ends a statement at a line that is `/` or `go`.
        if token.first && (token.is_symbol("/") || token.is("go")) {
            return Err(unreadable("a line that begins with `/` or `go`, which may end the statement"));
        }
        statements.push(token);
    }
    judge_rest(&statements, Dialect::Sqlite, seen)
}

fn sqlite_line(line: &str) -> Result<(), Danger> {
    let name = name_of(line);
    if SQLITE_PRINTS.contains(&name) && !line.starts_with([' ', '\t']) {
        return Ok(());
    }
    let does = SQLITE_DEEDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, does)| *does);
    Err(named(".", name, does))
}

/// The SQL that is left without the client's own commands; there may be none.
fn judge_rest(statements: &[Token<'_>], dialect: Dialect, seen: bool) -> Result<(), Danger> {
    let nothing = statements.iter().all(|token| token.is_symbol(";"));
    if seen && nothing { Ok(()) } else { sql::judge_tokens(statements, dialect) }
}

/// A client's command that is not proven, with what it does where that is known.
fn named(mark: &str, name: &str, does: Option<&str>) -> Danger {
    let name: String = name.chars().take(40).collect();
    match does {
        Some(does) => Danger::high(format!("{does} ({mark}{name})")),
        None => Danger::medium(format!("uses {mark}{name}, a command of the client which is not known to only read")),
    }
}

#[cfg(test)]
mod tests;

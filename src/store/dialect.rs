//! Everything that differs between `SQLite` and Postgres: how a database is named, created, opened, tuned and locked,
//! how a write begins, and what an engine's errors mean. Every other file of this room has one SQL text for both.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, AnyPool, Connection, Executor};

use super::{StoreError, migrations};

/// The tables whose rows decide something, or prove it.
macro_rules! tables {
    () => {
        "('threads', 'inbox', 'outbox', 'messages', 'plans', 'votes', 'ledger', 'cards', 'writes_in_flight', 'seal_key', \
         'audit_head', 'audit_chain', 'audit_payloads')"
    };
}

/// How long a statement waits for another program's lock. Our own writers never meet (there is one connection), so that
/// only a backup or a person with a `SQLite` shell is waited for; both are done in well under this, or they hang.
const SQLITE_WRITER: &str = "PRAGMA busy_timeout = 2000; PRAGMA foreign_keys = ON";

/// Folding the log into the file takes long, because it waits for the disk. It is done beside the writer, and by the writer
/// itself only where nobody does it: then at this many pages of 4 KiB.
const SQLITE_WRITER_IN_USE: &str =
    "PRAGMA busy_timeout = 2000; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 16384";

/// Readers get the same patience, and cannot write by mistake.
const SQLITE_READER: &str = "PRAGMA busy_timeout = 2000; PRAGMA query_only = ON";

/// The same for who only reads on Postgres.
const POSTGRES_READER: &str = "SET default_transaction_read_only = on";

/// Readers of a `SQLite` database: WAL lets them run beside the writer, and two cores keep no more busy.
const SQLITE_READERS_MAX: u32 = 4;

/// Connections to Postgres. Its default limit is 100 for all its clients.
const POSTGRES_CONNECTIONS_MAX: u32 = 8;

/// How many of them write at a time: the others are left to who reads.
const POSTGRES_WRITERS_MAX: usize = 6;

/// Readable and writable by the owner alone: the database holds what people said.
const FILE_MODE: u32 = 0o600;

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// The bot being killed, at any moment. A power cut, or on Postgres a crash of the server itself, may lose the last
    /// moments of such commits; what is left is still consistent and in order.
    Normal,
    /// A power cut, too: the log has reached the disk before the commit returns, and with it every commit before it.
    Full,
}

/// What writes and what reads; on Postgres the same pool.
pub(super) struct Pools {
    pub(super) write: AnyPool,
    pub(super) read: AnyPool,
    /// How many connections can write at a time.
    pub(super) writers: usize,
    /// What folds the log into the file, where there is one.
    pub(super) fold: Option<AnyPool>,
}

/// Which database, and by which engine.
#[derive(Clone, Debug)]
pub(super) enum Database {
    /// A file on this machine.
    Sqlite { file: PathBuf, options: AnyConnectOptions },
    /// A server; `place` names it without the password.
    Postgres { place: String, name: String, options: AnyConnectOptions },
}

/// The URL of a `SQLite` database in this file. Anything that is special in a URL is escaped, so that any UTF-8 path
/// can be named.
pub fn sqlite_url(file: &Path) -> Result<String, StoreError> {
    let Some(path) = file.to_str() else {
        return Err(StoreError::Url { problem: format!("cannot name {}: the path is not UTF-8", file.display()) });
    };
    let mut url = "sqlite://".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    Ok(url)
}

/// A file system, and the number of a file in it.
pub(super) type Identity = (u64, u64);

impl Database {
    /// Returns which file it is; none for a missing one, and for a server. Looks at the file.
    pub(super) fn identity(&self) -> Option<Identity> {
        match self {
            Self::Sqlite { file, .. } => file.metadata().ok().map(|meta| (meta.dev(), meta.ino())),
            Self::Postgres { .. } => None,
        }
    }

    /// Reads the URL. No I/O.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let wrong = |problem: &str| StoreError::Url { problem: problem.to_owned() };
        let unreadable = |error: sqlx::Error| StoreError::Url { problem: format!("cannot be read ({error})") };
        if url.starts_with("sqlite:") {
            let parsed: SqliteConnectOptions = url.parse().map_err(unreadable)?;
            let file = parsed.get_filename().to_path_buf();
            if file.as_os_str().is_empty() || url.contains(":memory:") || url.contains("mode=memory") {
                return Err(wrong("names no file, and a store in memory would lose accepted messages"));
            }
            Ok(Self::Sqlite { file, options: url.parse().map_err(unreadable)? })
        } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let parsed: PgConnectOptions = url.parse().map_err(unreadable)?;
            let name = parsed.get_database().unwrap_or_else(|| parsed.get_username()).to_owned();
            let place = format!("the Postgres database {name} at {}:{}", parsed.get_host(), parsed.get_port());
            Ok(Self::Postgres { place, name, options: url.parse().map_err(unreadable)? })
        } else {
            Err(wrong("begins with neither sqlite: nor postgres:"))
        }
    }

    /// What begins a transaction that will write. `SQLite` takes its write lock at once: a transaction that reads first
    /// and wants to write later fails where another program wrote in between. Its level belongs to the connection and
    /// cannot be changed inside a transaction, so that every transaction says its own before it begins. On Postgres it
    /// ends with the transaction.
    pub(super) const fn begin(&self, durability: Durability) -> &'static str {
        match (self, durability) {
            (Self::Sqlite { .. }, Durability::Normal) => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
            (Self::Sqlite { .. }, Durability::Full) => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
            (Self::Postgres { .. }, Durability::Normal) => "BEGIN; SET LOCAL synchronous_commit = off",
            (Self::Postgres { .. }, Durability::Full) => "BEGIN; SET LOCAL synchronous_commit = on",
        }
    }

    /// What begins a transaction that reads several times and sees one moment throughout. `SQLite` in WAL mode keeps
    /// the moment of the first read by itself.
    pub(super) const fn begin_reading(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "BEGIN",
            Self::Postgres { .. } => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// What reads the head of the audit chain so that nobody else appends until the transaction ends. `SQLite` has one
    /// writer, and its transaction holds the write lock already.
    pub(super) const fn lock_audit_head(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SELECT 'head' AS id, seq, hash, seal FROM audit_head WHERE one = 1",
            Self::Postgres { .. } => "SELECT 'head' AS id, seq, hash, seal FROM audit_head WHERE one = 1 FOR UPDATE",
        }
    }

    /// Returns an error that names a trigger, a rule, row security or a view in place of a table: the bot has none, and what they
    /// do would look like its own writing. Reads.
    pub(super) async fn check_schema(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let sql = match self {
            Self::Sqlite { .. } => concat!(
                "SELECT type || ' ' || name FROM sqlite_master WHERE type = 'trigger' OR (type = 'view' AND lower(name) IN ",
                tables!(),
                ") LIMIT 1"
            ),
            Self::Postgres { .. } => concat!(
                "SELECT 'trigger ' || t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid \
                 JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 WHERE NOT t.tgisinternal AND n.nspname = current_schema() AND c.relname IN ",
                tables!(),
                " UNION ALL SELECT 'policy that hides rows of ' || c.relname FROM pg_class AS c \
                 JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 WHERE c.relrowsecurity AND n.nspname = current_schema() AND c.relname IN ",
                tables!(),
                " UNION ALL SELECT 'rule ' || rulename FROM pg_rules \
                 WHERE schemaname = current_schema() AND tablename IN ",
                tables!(),
                " UNION ALL SELECT 'view ' || viewname FROM pg_views \
                 WHERE schemaname = current_schema() AND viewname IN ",
                tables!(),
                " LIMIT 1"
            ),
        };
        let found = sqlx::query_scalar::<_, String>(sql).fetch_optional(connection).await;
        match found.map_err(StoreError::while_doing("looking for triggers"))? {
            None => Ok(()),
            Some(found) => Err(self.unusable(format!("has a {found}, which the bot did not make"), "remove it")),
        }
    }

    /// Returns the statement that reads the sums of the seals and locks them until the transaction ends.
    pub(super) const fn lock_sums(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SELECT 'key' AS id, series, changes, sums FROM seal_key WHERE one = 1",
            Self::Postgres { .. } => "SELECT 'key' AS id, series, changes, sums FROM seal_key WHERE one = 1 FOR UPDATE",
        }
    }

    /// Creates the file where it is missing, checks whose database it is, and applies missing migrations, all over one
    /// connection of its own: a pool would hide the first error behind its retries.
    pub(super) async fn prepare(&self) -> Result<(), StoreError> {
        sqlx::any::install_default_drivers();
        self.prepare_file()?;
        let mut connection = AnyConnection::connect_with(self.options()).await.map_err(|error| self.explain(&error))?;
        let prepared = self.prepare_schema(&mut connection).await;
        let closed = connection.close().await.map_err(|error| self.explain(&error));
        prepared.and(closed)
    }

    /// Opens the pools; connections are made when they are first needed.
    pub(super) fn pools(&self) -> Pools {
        match self {
            Self::Sqlite { options, .. } => Pools {
                write: sqlite_pool(SQLITE_WRITER_IN_USE, 1).connect_lazy_with(options.clone()),
                read: sqlite_pool(SQLITE_READER, SQLITE_READERS_MAX).connect_lazy_with(options.clone()),
                writers: 1,
                fold: Some(sqlite_pool(SQLITE_WRITER, 1).connect_lazy_with(options.clone())),
            },
            Self::Postgres { options, .. } => {
                let pool = AnyPoolOptions::new().max_connections(POSTGRES_CONNECTIONS_MAX);
                let pool = pool.connect_lazy_with(options.clone());
                Pools { write: pool.clone(), read: pool, writers: POSTGRES_WRITERS_MAX, fold: None }
            }
        }
    }

    /// Checks that the database is there and has the tables that are read, without creating or changing anything.
    pub(super) async fn prepare_reading(&self) -> Result<(), StoreError> {
        sqlx::any::install_default_drivers();
        if let Self::Sqlite { file, .. } = self {
            // Before SQLite sees it: a URL may say that it is to be created.
            std::fs::File::open(file).map_err(|error| self.explain_reading(&error))?;
        }
        let mut connection = AnyConnection::connect_with(self.options()).await.map_err(|error| self.explain(&error))?;
        if let Self::Sqlite { .. } = self {
            connection.execute(SQLITE_READER).await.map_err(|error| self.explain(&error))?;
        }
        let tables = self.tables(&mut connection).await.map_err(|error| self.explain(&error));
        let closed = connection.close().await.map_err(|error| self.explain(&error));
        let tables = tables?;
        closed?;
        let is_there = |name: &&str| tables.iter().any(|table| table == name);
        match ["audit_chain", "audit_payloads", "audit_head"].iter().find(|name| !is_there(name)) {
            None => Ok(()),
            Some(missing) => Err(self.unusable(
                format!("holds no audit trail (table {missing} is missing)"),
                "name the bot's own database, or start this version of the bot on it once",
            )),
        }
    }

    /// Opens pools that cannot write.
    pub(super) fn reading_pools(&self) -> Pools {
        let read = match self {
            Self::Sqlite { options, .. } => {
                sqlite_pool(SQLITE_READER, SQLITE_READERS_MAX).connect_lazy_with(options.clone())
            }
            Self::Postgres { options, .. } => {
                let pool = AnyPoolOptions::new().max_connections(POSTGRES_CONNECTIONS_MAX);
                on_connect(pool, POSTGRES_READER).connect_lazy_with(options.clone())
            }
        };
        Pools { write: read.clone(), read, writers: 1, fold: None }
    }

    const fn options(&self) -> &AnyConnectOptions {
        match self {
            Self::Sqlite { options, .. } | Self::Postgres { options, .. } => options,
        }
    }

    pub(super) fn place(&self) -> String {
        match self {
            Self::Sqlite { file, .. } => format!("the database {}", file.display()),
            Self::Postgres { place, .. } => place.clone(),
        }
    }

    fn unusable(&self, problem: impl Into<String>, fix: impl Into<String>) -> StoreError {
        StoreError::Unusable { place: self.place(), problem: problem.into(), fix: fix.into() }
    }

    /// Blocking, once, before anything runs.
    fn prepare_file(&self) -> Result<(), StoreError> {
        let Self::Sqlite { file, .. } = self else {
            return Ok(());
        };
        if file.is_dir() {
            return Err(self.unusable("is a directory", "name a file in it"));
        }
        // Opening it first gives the operating system's own reason, where SQLite knows only "unable to open".
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(file);
        let opened = opened.map_err(|error| self.explain_file(&error))?;
        let mut permissions = opened.metadata().map_err(|error| self.explain_file(&error))?.permissions();
        if permissions.mode() & 0o777 != FILE_MODE {
            permissions.set_mode(FILE_MODE);
            opened.set_permissions(permissions).map_err(|error| self.explain_file(&error))?;
        }
        Ok(())
    }

    async fn prepare_schema(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let explain = |error: sqlx::Error| self.explain(&error);
        if let Self::Sqlite { .. } = self {
            connection.execute(SQLITE_WRITER).await.map_err(explain)?;
        }
        if self.is_foreign(connection).await.map_err(explain)? {
            return Err(self.unusable("belongs to another program", "give the bot a database of its own"));
        }
        if let Self::Sqlite { .. } = self {
            // Last, because it changes the file: a database of somebody else must stay as it was.
            connection.execute("PRAGMA journal_mode = WAL").await.map_err(explain)?;
        }
        migrations::apply(connection).await.map_err(|error| self.explain_migration(&error))
    }

    /// A database that has tables and was never migrated by us is somebody else's.
    async fn is_foreign(&self, connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
        let tables = self.tables(connection).await?;
        Ok(!tables.is_empty() && !tables.iter().any(|table| table == "_sqlx_migrations"))
    }

    async fn tables(&self, connection: &mut AnyConnection) -> Result<Vec<String>, sqlx::Error> {
        let tables = match self {
            Self::Sqlite { .. } => "SELECT name FROM sqlite_master WHERE type = 'table'",
            Self::Postgres { .. } => {
                "SELECT CAST(table_name AS TEXT) FROM information_schema.tables WHERE table_schema = current_schema()"
            }
        };
        sqlx::query_scalar(tables).fetch_all(connection).await
    }

    fn explain_reading(&self, error: &std::io::Error) -> StoreError {
        match error.kind() {
            ErrorKind::NotFound => {
                self.unusable("does not exist", "give the bot's --data and --config, or start the bot once")
            }
            ErrorKind::PermissionDenied => {
                self.unusable("may not be read by this user", "run this as the file's owner")
            }
            _ => self.explain_file(error),
        }
    }

    fn explain_file(&self, error: &std::io::Error) -> StoreError {
        match error.kind() {
            ErrorKind::PermissionDenied => {
                self.unusable("may not be read and written by this user", "run the bot as the file's owner")
            }
            ErrorKind::NotFound => self.unusable("is in a directory that does not exist", "create the directory"),
            ErrorKind::ReadOnlyFilesystem => {
                self.unusable("is on a read-only file system", "mount it for writing or choose another directory")
            }
            _ => self.unusable(format!("cannot be opened ({error})"), "mend that or name another file"),
        }
    }

    fn explain_migration(&self, error: &MigrateError) -> StoreError {
        match error {
            MigrateError::VersionMissing(version) => self.unusable(
                format!("was written by a newer version: it has migration {version}, which this build does not know"),
                "run that version, or restore the backup from before the upgrade",
            ),
            MigrateError::VersionMismatch(version) => self.unusable(
                format!("has another migration {version} than this build: it belongs to another program or build"),
                "give the bot a database of its own, or run the build that wrote this one",
            ),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => self.explain(error),
            other => {
                self.unusable(format!("cannot be migrated ({other})"), "restore the backup from before the upgrade")
            }
        }
    }

    /// What an engine's error means while the database is being opened.
    fn explain(&self, error: &sqlx::Error) -> StoreError {
        let code = error.as_database_error().and_then(DatabaseError::code).unwrap_or_default();
        let (problem, fix) = match self {
            Self::Sqlite { .. } => explain_sqlite(&code),
            Self::Postgres { name, .. } => explain_postgres(&code, name),
        }
        .unwrap_or_else(|| (format!("cannot be used ({error})"), "mend that or name another database".to_owned()));
        self.unusable(problem, fix)
    }
}

fn sqlite_pool(pragmas: &'static str, connections_max: u32) -> AnyPoolOptions {
    // A file does not go away as a server does: connections are kept for good, and not pinged before each use.
    let pool = AnyPoolOptions::new().max_connections(connections_max).test_before_acquire(false);
    on_connect(pool.idle_timeout(None).max_lifetime(None), pragmas)
}

fn on_connect(pool: AnyPoolOptions, statements: &'static str) -> AnyPoolOptions {
    pool.after_connect(move |connection, _| {
        Box::pin(async move {
            connection.execute(statements).await?;
            Ok(())
        })
    })
}

/// Returns true for a temporary failure: the same statement may work later. Codes of `SQLite` have at most four digits; codes of
/// Postgres have five characters, of which the first two are a class.
pub(super) fn passes(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else {
        return matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed);
    };
    let code = error.code().unwrap_or_default();
    match code.get(..2) {
        // Connection, rollback for a conflict, resources, an operator; and a lock that is not available.
        Some(class) if code.len() == 5 => matches!(class, "08" | "40" | "53" | "57") || code == "55P03",
        // Busy, locked, read-only, I/O, full, cannot be opened.
        _ => code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 8 | 10 | 13 | 14)),
    }
}

/// Result codes of `SQLite` (sqlite.org/rescode.html); the low byte is the primary one.
fn explain_sqlite(code: &str) -> Option<(String, String)> {
    let (problem, fix) = match code.parse::<u32>().ok()? & 0xff {
        5 | 6 => ("is locked by another program", "stop that program and start again"),
        8 => ("cannot be written", "run the bot as the owner of the file and of its directory"),
        11 => ("is damaged", "restore a backup"),
        13 => ("has no room on its disk", "free some space"),
        14 => ("cannot be opened", "run the bot as the owner of the file and of its directory"),
        26 => ("is not a SQLite database", "move that file away or name another one"),
        _ => return None,
    };
    Some((problem.to_owned(), fix.to_owned()))
}

/// SQLSTATE codes of Postgres (its documentation, appendix A).
fn explain_postgres(code: &str, name: &str) -> Option<(String, String)> {
    match code {
        "28P01" | "28000" => Some(("refuses this user or password".to_owned(), "mend the store's url".to_owned())),
        "3D000" => Some(("does not exist".to_owned(), format!("create it: createdb {name}"))),
        "42501" => {
            Some(("does not let this user create tables".to_owned(), "grant it, or name another user".to_owned()))
        }
        _ => None,
    }
}

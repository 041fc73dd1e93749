//! Whether what `mongosh --eval` gets only reads. The shell runs a whole programming language, so only a small part of it
//! is understood: a chain of known reading methods on `db`, `rs` or `sh`, with plain values as arguments, perhaps inside a
//! call that prints. Everything else is refused, also what is harmless. How the text is cut into parts is in `parse`.

mod parse;

use parse::{Call, Expr, Reader, Value};

use super::{Danger, check_length};

/// What may be called on the thing that a chain has reached, and what comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Mongo,
    Database,
    Collection,
    Cursor,
    PlanCache,
    Replicas,
    Shards,
    /// A value: its parts may be named, and a few methods only look at it.
    Plain,
}

/// Methods that only read: on what, their names, and what they return.
const METHODS: [(On, &str, On); 14] = [
    (On::Mongo, "getDBNames getDBs", On::Plain),
    (On::Mongo, "getDB", On::Database),
    (On::Database, "getSiblingDB", On::Database),
    (On::Database, "getCollection", On::Collection),
    (On::Database, "getMongo", On::Mongo),
    (On::Database, "aggregate", On::Cursor),
    (
        On::Database,
        "stats serverStatus currentOp getCollectionNames getCollectionInfos version hostInfo getName getProfilingStatus \
         serverBuildInfo getReplicationInfo printReplicationInfo printSecondaryReplicationInfo printCollectionStats \
         listCommands getUsers getUser getRoles getRole hello isMaster getLogComponents serverCmdLineOpts runCommand \
         adminCommand",
        On::Plain,
    ),
    (On::Collection, "find aggregate", On::Cursor),
    (On::Collection, "explain", On::Collection),
    (On::Collection, "getPlanCache", On::PlanCache),
    (
        On::Collection,
        "findOne count countDocuments estimatedDocumentCount distinct getIndexes getIndexKeys getIndexSpecs stats dataSize \
         storageSize totalIndexSize totalSize isCapped latencyStats getShardDistribution getFullName getName",
        On::Plain,
    ),
    (
        On::Cursor,
        "limit sort skip project projection pretty hint maxTimeMS batchSize collation readPref readConcern comment min max \
         returnKey showRecordId allowDiskUse",
        On::Cursor,
    ),
    (On::Cursor, "toArray count size itcount explain next tryNext hasNext forEach", On::Plain),
    (On::Plain, "toArray pretty forEach slice join toString toFixed", On::Plain),
];

/// The same for what is no collection and no database.
const OTHERS: [(On, &str, On); 3] = [
    (On::PlanCache, "list", On::Plain),
    (On::Replicas, "status conf config isMaster hello printReplicationInfo printSecondaryReplicationInfo", On::Plain),
    (On::Shards, "status getBalancerState isBalancerRunning", On::Plain),
];

/// Commands that only read, as the first key of what `runCommand` gets.
const COMMANDS: &str = "ping serverStatus buildInfo buildinfo hostInfo listDatabases listCollections listIndexes dbStats \
    dbstats collStats collstats count distinct find connectionStatus connPoolStats currentOp getCmdLineOpts getLog \
    getParameter hello isMaster ismaster replSetGetStatus replSetGetConfig top whatsmyuri listCommands lockInfo usersInfo \
    rolesInfo balancerStatus listShards getShardMap shardingState dataSize getDefaultRWConcern";

/// Words that write or run code, wherever they stand in an argument.
const ACTING: &str = "$where $function $accumulator $out $merge $eval $changeStream __proto__ mapReduce mapreduce";

/// What `show` may be asked for.
const SHOWN: &str = "dbs databases collections tables users roles profile logs";

/// What the methods do that people know best.
const DEEDS: [(&str, &str); 12] = [
    (
        "drop dropDatabase dropCollection dropIndex dropIndexes dropUser dropAllUsers dropRole",
        "removes something for good",
    ),
    ("deleteOne deleteMany remove findOneAndDelete", "deletes documents"),
    ("insert insertOne insertMany save bulkWrite", "adds documents"),
    ("update updateOne updateMany replaceOne findAndModify findOneAndUpdate findOneAndReplace", "changes documents"),
    ("createIndex createIndexes ensureIndex reIndex hideIndex unhideIndex", "changes indexes"),
    ("createCollection createView renameCollection convertToCapped", "changes collections"),
    ("createUser updateUser changeUserPassword grantRolesToUser revokeRolesFromUser createRole", "changes rights"),
    ("shutdownServer fsyncLock fsyncUnlock killOp", "acts on the server"),
    ("setProfilingLevel setLogLevel", "changes a setting"),
    ("eval mapReduce", "runs code on the server"),
    ("watch tailable", "goes on until somebody stops it"),
    (
        "initiate reconfig stepDown freeze add remove addShard moveChunk startBalancer stopBalancer",
        "changes the cluster",
    ),
];

fn is_in(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// Proves that a text for `mongosh --eval` only reads.
pub(in super::super) fn judge(js: &str) -> Result<(), Danger> {
    check_length(js)?;
    if let Some(what) = js.trim().trim_end_matches(';').strip_prefix("show ") {
        return show(what.trim());
    }
    Reader::new(js).statements()?.iter().try_for_each(statement)
}

fn show(what: &str) -> Result<(), Danger> {
    if is_in(SHOWN, what) || what == "log global" || what == "log startupWarnings" {
        return Ok(());
    }
    Err(unknown("show"))
}

/// What cannot be understood.
fn unreadable(why: &str) -> Danger {
    Danger::medium(format!("cannot be read as a query for MongoDB: {why}"))
}

fn unknown(method: &str) -> Danger {
    let shown: String = method.chars().take(40).collect();
    match DEEDS.iter().find(|(methods, _)| is_in(methods, method)) {
        Some((_, does)) => Danger::high(format!("{does} ({shown})")),
        None => Danger::medium(format!("calls {shown}, which is not known to only read")),
    }
}

fn statement(expr: &Expr) -> Result<(), Danger> {
    match expr {
        Expr::Print(inside) => inside.iter().try_for_each(statement),
        Expr::Plain(value) => check_value(value),
        Expr::Chain { root, calls } => {
            let on = match root.as_str() {
                "db" => On::Database,
                "rs" => On::Replicas,
                "sh" => On::Shards,
                other => return Err(unknown(other)),
            };
            calls.iter().try_fold(on, step).map(drop)
        }
    }
}

/// One `.name`, `["name"]` or `.name(...)` of a chain.
fn step(on: On, call: &Call) -> Result<On, Danger> {
    // Inner parts of the shell's own objects lead anywhere.
    if call.name.starts_with('_') || is_in("constructor prototype", &call.name) {
        return Err(unknown(&call.name));
    }
    let Some(args) = &call.args else {
        return match on {
            On::Database | On::Collection => Ok(On::Collection),
            On::Plain => Ok(On::Plain),
            On::Mongo | On::Cursor | On::PlanCache | On::Replicas | On::Shards => Err(unknown(&call.name)),
        };
    };
    let row = METHODS.iter().chain(&OTHERS).find(|(of, names, _)| *of == on && is_in(names, &call.name));
    let Some((_, _, becomes)) = row else { return Err(unknown(&call.name)) };
    arguments(&call.name, args)?;
    Ok(*becomes)
}

fn arguments(method: &str, args: &[Value]) -> Result<(), Danger> {
    if method == "forEach" {
        return match args {
            [Value::Name(print)] if is_in("print printjson", print) => Ok(()),
            _ => Err(unreadable("a function of its own")),
        };
    }
    if is_in("runCommand adminCommand", method) {
        command(args)?;
    }
    args.iter().try_for_each(check_value)
}

/// The first key of a command is its name; without an object, the text is.
fn command(args: &[Value]) -> Result<(), Danger> {
    let name = match args {
        [Value::Text(name), ..] => name,
        [Value::Object(fields), ..] => match fields.first() {
            Some((name, _)) => name,
            None => return Err(unreadable("a command without a name")),
        },
        _ => return Err(unreadable("a command that is not written out")),
    };
    // JavaScript puts keys that are numbers first, so the first one written is only the name where there are none.
    if let [Value::Object(fields), ..] = args
        && fields.iter().any(|(key, _)| key.starts_with(|c: char| c.is_ascii_digit()))
    {
        return Err(unreadable("a command with a number for a key"));
    }
    if is_in(COMMANDS, name) { Ok(()) } else { Err(unknown(name)) }
}

/// Nothing in a value acts.
fn check_value(value: &Value) -> Result<(), Danger> {
    match value {
        Value::Text(text) => check_name(text),
        Value::Plain => Ok(()),
        Value::Name(name) => Err(unreadable(&format!("`{name}` stands for something unseen"))),
        Value::List(values) => values.iter().try_for_each(check_value),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            check_name(key)?;
            check_value(value)
        }),
    }
}

fn check_name(name: &str) -> Result<(), Danger> {
    match name {
        "$out" | "$merge" => Err(Danger::medium(format!("writes what it finds into a collection ({name})"))),
        "$changeStream" => Err(Danger::low("goes on until somebody stops it ($changeStream)")),
        _ if is_in(ACTING, name) => Err(Danger::medium(format!("runs code on the server ({name})"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

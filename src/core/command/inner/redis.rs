//! Whether one Redis command only reads: an allow-list by command and subcommand (`tables/redis-commands.toml`), and the
//! options with which a reading command writes or waits. The options of redis-cli are not read here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::Danger;

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    reads: String,
    subcommands: BTreeMap<String, String>,
    endless: Endless,
    deeds: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Endless {
    commands: String,
}

/// The table as it is asked.
struct Table {
    reads: BTreeSet<String>,
    subcommands: BTreeMap<String, BTreeSet<String>>,
    endless: BTreeSet<String>,
    deeds: BTreeMap<String, String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = toml::from_str(include_str!("../tables/redis-commands.toml"))
        .expect("invariant: the table is part of the program and every test reads it");
    let names = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Table {
        reads: names(&written.reads),
        subcommands: written.subcommands.iter().map(|(command, text)| (command.clone(), names(text))).collect(),
        endless: names(&written.endless.commands),
        deeds: written.deeds,
    }
});

/// Commands that destroy, stop or give rights; everything else unproven is a middling write.
const HIGH: [&str; 17] = [
    "flushall",
    "flushdb",
    "shutdown",
    "debug",
    "replicaof",
    "slaveof",
    "failover",
    "config",
    "cluster",
    "acl",
    "module",
    "migrate",
    "swapdb",
    "eval",
    "evalsha",
    "del",
    "unlink",
];

/// Commands that write where an option says so.
const STORING: [&str; 3] = ["sort", "georadius", "georadiusbymember"];

/// Proves that one command, in the words that the server gets, only reads and comes to an end.
pub(in super::super) fn judge(words: &[&str]) -> Result<(), Danger> {
    let Some((first, rest)) = words.split_first() else { return Err(Danger::medium("names no command of Redis")) };
    let command = first.to_ascii_lowercase();
    if TABLE.endless.contains(&command) {
        return Err(endless(&command));
    }
    if let Some(known) = TABLE.subcommands.get(&command) {
        return subcommand(&command, known, rest);
    }
    if !TABLE.reads.contains(&command) {
        return Err(deed(&command, None));
    }
    options(&command, rest)
}

fn subcommand(command: &str, known: &BTreeSet<String>, rest: &[&str]) -> Result<(), Danger> {
    let Some((sub, rest)) = rest.split_first() else {
        // Alone, COMMAND lists the commands; the others are an error.
        return if command == "command" { Ok(()) } else { Err(deed(command, None)) };
    };
    let sub = sub.to_ascii_lowercase();
    // ACL LOG shows the log, ACL LOG RESET empties it.
    let resets = command == "acl" && sub == "log" && has(rest, "reset");
    if known.contains(&sub) && !resets { Ok(()) } else { Err(deed(command, Some(&sub))) }
}

/// Options that make a reading command write or wait.
fn options(command: &str, rest: &[&str]) -> Result<(), Danger> {
    let stores = has(rest, "store") || has(rest, "storedist");
    if STORING.contains(&command) && stores {
        return Err(Danger::medium(format!("writes its result to a key ({} ... STORE)", command.to_ascii_uppercase())));
    }
    if command == "xread" && has(rest, "block") {
        return Err(endless("xread block"));
    }
    Ok(())
}

fn has(words: &[&str], option: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(option))
}

fn endless(command: &str) -> Danger {
    Danger::low(format!("goes on or waits until somebody stops it ({})", command.to_ascii_uppercase()))
}

fn deed(command: &str, sub: Option<&str>) -> Danger {
    let shown = [Some(command), sub].into_iter().flatten().collect::<Vec<_>>().join(" ").to_ascii_uppercase();
    let shown: String = shown.chars().take(40).collect();
    let reason = match TABLE.deeds.get(command) {
        Some(does) => format!("{does} ({shown})"),
        None => format!("runs {shown}, a command which is not known to only read"),
    };
    if HIGH.contains(&command) { Danger::high(reason) } else { Danger::medium(reason) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const READS: &[&str] = &[
        "PING",
        "INFO",
        "info memory",
        "INFO replication",
        "DBSIZE",
        "TIME",
        "LASTSAVE",
        "ROLE",
        "GET session:1",
        "get x",
        "MGET a b c",
        "STRLEN a",
        "GETRANGE a 0 10",
        "EXISTS a",
        "TTL a",
        "PTTL a",
        "TYPE a",
        "KEYS *",
        "KEYS user:*",
        "SCAN 0 MATCH user:* COUNT 100",
        "RANDOMKEY",
        "HGETALL user:1",
        "HGET user:1 name",
        "HLEN user:1",
        "HSCAN user:1 0",
        "LRANGE queue 0 -1",
        "LLEN queue",
        "LINDEX queue 0",
        "SMEMBERS s",
        "SCARD s",
        "SISMEMBER s a",
        "SSCAN s 0",
        "ZRANGE z 0 -1 WITHSCORES",
        "ZCARD z",
        "ZSCORE z a",
        "ZRANGEBYSCORE z -inf +inf",
        "XLEN stream",
        "XRANGE stream - + COUNT 10",
        "XREVRANGE stream + - COUNT 1",
        "XINFO STREAM stream",
        "XINFO GROUPS stream",
        "XPENDING stream group",
        "XREAD COUNT 2 STREAMS a 0",
        "CONFIG GET maxmemory",
        "config get *",
        "CLIENT LIST",
        "CLIENT INFO",
        "CLIENT GETNAME",
        "MEMORY USAGE a",
        "MEMORY STATS",
        "MEMORY DOCTOR",
        "SLOWLOG GET 10",
        "SLOWLOG LEN",
        "LATENCY LATEST",
        "LATENCY DOCTOR",
        "LATENCY HISTORY command",
        "OBJECT ENCODING a",
        "OBJECT IDLETIME a",
        "CLUSTER INFO",
        "CLUSTER NODES",
        "CLUSTER SLOTS",
        "CLUSTER SHARDS",
        "ACL LIST",
        "ACL WHOAMI",
        "ACL LOG",
        "MODULE LIST",
        "PUBSUB CHANNELS",
        "PUBSUB NUMSUB a",
        "COMMAND",
        "COMMAND COUNT",
        "COMMAND DOCS get",
        "SENTINEL masters",
        "SENTINEL get-master-addr-by-name mymaster",
        "SORT_RO list",
        "SORT list LIMIT 0 10",
        "BITFIELD_RO a GET u8 0",
        "BITCOUNT a",
        "PFCOUNT a",
        "GEOPOS g a",
        "GEORADIUS g 1 1 10 km",
        "FUNCTION LIST",
        "SCRIPT EXISTS abc",
        "SINTER a b",
        "ZUNION 2 a b",
        "DUMP a",
    ];

    const DANGERS: &[&str] = &[
        "",
        "SET a 1",
        "set a 1",
        "SETEX a 1 b",
        "SETNX a b",
        "MSET a 1",
        "APPEND a b",
        "INCR a",
        "DECR a",
        "DEL a",
        "UNLINK a",
        "GETDEL a",
        "GETEX a",
        "GETEX a PERSIST",
        "GETSET a b",
        "EXPIRE a 1",
        "PEXPIRE a 1",
        "PERSIST a",
        "RENAME a b",
        "MOVE a 1",
        "COPY a b",
        "RESTORE a 0 x",
        "MIGRATE h 1 a 0 1",
        "FLUSHALL",
        "flushall async",
        "FLUSHDB",
        "HSET a b c",
        "HDEL a b",
        "HINCRBY a b 1",
        "LPUSH a b",
        "RPOP a",
        "LTRIM a 0 1",
        "LMOVE a b LEFT LEFT",
        "SADD a b",
        "SREM a b",
        "SPOP a",
        "SMOVE a b c",
        "SINTERSTORE a b",
        "ZADD z 1 a",
        "ZREM z a",
        "ZPOPMIN z",
        "ZRANGESTORE a z 0 1",
        "ZUNIONSTORE a 1 z",
        "XADD s * a b",
        "XDEL s 1",
        "XTRIM s MAXLEN 1",
        "XACK s g 1",
        "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g c STREAMS s >",
        "XCLAIM s g c 0 1",
        "XAUTOCLAIM s g c 0 0",
        "PFADD a b",
        "PFMERGE a b",
        "GEOADD g 1 1 a",
        "GEORADIUS g 1 1 1 km STORE x",
        "georadius g 1 1 1 km storedist x",
        "GEOSEARCHSTORE a g",
        "GEORADIUSBYMEMBER g a 1 km STORE x",
        "SORT list STORE x",
        "sort list store x",
        "BITFIELD a SET u8 0 1",
        "BITFIELD a GET u8 0",
        "BITOP AND a b c",
        "SETBIT a 0 1",
        "SETRANGE a 0 b",
        "EVAL return 0",
        "EVAL_RO x 0",
        "EVALSHA x 0",
        "FCALL f 0",
        "FCALL_RO f 0",
        "SCRIPT LOAD x",
        "SCRIPT FLUSH",
        "SCRIPT KILL",
        "FUNCTION LOAD x",
        "FUNCTION DELETE x",
        "CONFIG SET maxmemory 1",
        "CONFIG RESETSTAT",
        "CONFIG REWRITE",
        "CONFIG",
        "CLIENT KILL ID 1",
        "CLIENT PAUSE 1",
        "CLIENT SETNAME x",
        "CLIENT NO-EVICT on",
        "CLIENT REPLY OFF",
        "MEMORY PURGE",
        "SLOWLOG RESET",
        "LATENCY RESET",
        "ACL SETUSER x",
        "ACL DELUSER x",
        "ACL LOG RESET",
        "ACL LOAD",
        "MODULE LOAD x",
        "MODULE UNLOAD x",
        "CLUSTER FAILOVER",
        "CLUSTER RESET",
        "CLUSTER FORGET x",
        "SENTINEL FAILOVER m",
        "SENTINEL SET m x 1",
        "SENTINEL REMOVE m",
        "DEBUG SLEEP 1",
        "DEBUG SEGFAULT",
        "DEBUG OBJECT a",
        "SHUTDOWN",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
        "REPLICAOF NO ONE",
        "SLAVEOF NO ONE",
        "FAILOVER",
        "SWAPDB 0 1",
        "PUBLISH a b",
        "SPUBLISH a b",
        "MULTI",
        "EXEC",
        "WATCH a",
        "RESET",
        "TOUCH a",
        "MONITOR",
        "SUBSCRIBE a",
        "PSUBSCRIBE a*",
        "BLPOP a 0",
        "BRPOP a 0",
        "BZPOPMIN a 0",
        "BLMOVE a b LEFT LEFT 0",
        "XREAD BLOCK 0 STREAMS a $",
        "xread count 1 block 0 streams a 0",
        "WAIT 1 0",
        "SYNC",
        "PSYNC ? -1",
        "XSETID s 1",
        "OBJECT",
        "ＧＥＴ a",
        "GET\u{0}",
        "JSON.SET a . 1",
        "nonsense",
    ];

    fn judged(line: &str) -> Result<(), Danger> {
        judge(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn reading_commands_only_read() {
        for line in READS {
            assert_eq!(judged(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn everything_else_is_a_danger() {
        for line in DANGERS {
            let danger = judged(line).expect_err(line);
            assert!(danger.risk > crate::command::judgement::Risk::ReadOnly, "{line}");
        }
    }

    #[test]
    fn reasons_say_what_it_does() {
        let lines =
            ["DEL a", "CONFIG SET a b", "MONITOR", "SORT a STORE b", "XREAD BLOCK 0 STREAMS a $", "HINCRBY a b 1", ""];
        let reasons: Vec<String> =
            lines.iter().map(|line| judged(line).expect_err("each is a danger").reason).collect();
        insta::assert_snapshot!(reasons.join("\n"), @"
        deletes keys (DEL)
        changes the configuration (CONFIG SET)
        goes on or waits until somebody stops it (MONITOR)
        writes its result to a key (SORT ... STORE)
        goes on or waits until somebody stops it (XREAD BLOCK)
        runs HINCRBY, a command which is not known to only read
        names no command of Redis
        ");
    }

    #[test]
    fn no_command_is_on_two_lists() {
        for command in TABLE.reads.iter().chain(TABLE.subcommands.keys()) {
            assert!(!TABLE.endless.contains(command), "{command}");
        }
        for command in &TABLE.reads {
            assert!(!TABLE.deeds.contains_key(command) && !TABLE.subcommands.contains_key(command), "{command}");
        }
    }

    /// A danger that has its subcommand already, so that more words cannot become one.
    fn a_whole_danger() -> impl Strategy<Value = &'static str> {
        let whole: Vec<_> = DANGERS.iter().copied().filter(|line| line.contains(' ')).collect();
        proptest::sample::select(whole)
    }

    proptest! {
        #[test]
        fn any_words_get_an_answer(words in proptest::collection::vec(".{0,12}", 0..6)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if judge(&words) == Ok(()) {
                let first = words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
                prop_assert!(TABLE.reads.contains(&first) || TABLE.subcommands.contains_key(&first));
            }
        }

        /// No argument makes a writing command a reading one.
        #[test]
        fn a_write_stays_a_write(line in a_whole_danger(), more in "[a-zA-Z0-9* ]{0,20}") {
            let text = format!("{line} {more}");
            prop_assert!(judged(&text).is_err(), "{}", text);
        }
    }
}

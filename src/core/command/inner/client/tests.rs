//! What operators give to psql, mysql and sqlite3, both ways.

use proptest::prelude::*;

use super::*;

const PSQL_READS: &[&str] = &[
    "SELECT 1",
    "SELECT 1;",
    "\\d",
    "\\d+ orders",
    "\\dt",
    "\\dt public.*",
    "\\dt+",
    "\\di+",
    "\\du",
    "\\dn",
    "\\dx",
    "\\df",
    "\\dS",
    "\\dconfig",
    "\\dRp+",
    "\\l",
    "\\l+",
    "\\list",
    "\\conninfo",
    "\\x on",
    "\\timing on",
    "\\z orders",
    "\\dp",
    "\\sf my_function",
    "\\sv my_view",
    "\\?",
    "\\h SELECT",
    "\\echo hello",
    "\\pset format unaligned",
    "\\pset null '(null)'",
    "\\q",
    "\\encoding",
    "\\x on\nSELECT * FROM users;\n\\dt",
    "SELECT 1 \\gx",
    "SELECT * FROM users \\gx\n",
    "SELECT 1 \\g\nSELECT 2;",
    "\\t on \\a\nSELECT 1;",
    "SELECT '\\! ls'",
    "\\d \"My Table\"",
];

const PSQL_DANGERS: &[&str] = &[
    "",
    "\\",
    "\\! ls",
    "\\!ls",
    "\\! rm -rf /",
    "\\o /tmp/x",
    "\\o |sh",
    "\\w /tmp/x",
    "\\copy users to '/tmp/x'",
    "\\copy users from x",
    "\\i /tmp/x.sql",
    "\\ir x.sql",
    "\\include x",
    "SELECT 1 \\g /tmp/x",
    "SELECT 1 \\g |sh",
    "SELECT 'DROP TABLE x' \\gexec",
    "SELECT 1 AS a \\gset",
    "\\set x 1",
    "\\unset x",
    "\\setenv PAGER sh",
    "\\e",
    "\\ef f",
    "\\s /tmp/x",
    "SELECT 1 \\watch 1",
    "SELECT 1 \\watch",
    "\\lo_import /etc/passwd",
    "\\lo_export 5 /tmp/x",
    "\\lo_unlink 5",
    "\\c other",
    "\\connect other",
    "\\password",
    "\\prompt x",
    "\\cd /tmp",
    "\\if true",
    "\\crosstabview",
    "\\gdesc",
    "\\errverbose x \\! ls",
    "\\x \\! ls",
    "\\x \\\\ DROP TABLE users",
    "\\d `rm -rf /`",
    "\\echo `ls`",
    "\\echo :x",
    "\\dt\n\\! ls",
    "SELECT 1;\n\\! ls",
    "SELECT 1; \\! ls",
    "SELECT 1 \\x\n; DELETE FROM users",
    "SELECT (\\! ls\n1)",
    "\\;DROP TABLE x",
    "SELECT 1 \\; DROP TABLE x",
    "DELETE FROM users \\g",
    "DELETE FROM users \\gx",
    "\\dt\nDELETE FROM users;",
    "DELETE FROM users;\n\\dt",
    "\\x on\nDROP TABLE users;",
    "\\z \\o x",
    "\\pset pager \\! ls",
    "\\nonsense",
    "\\D",
    "\\bind 1 \\g",
    "SELECT 1 \\gx /tmp/x",
    "\\dt;\n\\!ls",
    "\\dangerouslylong",
];

const MYSQL_READS: &[&str] = &[
    "SELECT 1",
    "SHOW DATABASES;",
    "SHOW ENGINE INNODB STATUS\\G",
    "SHOW SLAVE STATUS\\G",
    "SELECT 1\\g",
    "SELECT 1\\G SELECT 2\\G",
    "status",
    "\\s",
    "\\s\n",
    "help contents",
    "use shop; select count(*) from orders",
    "SHOW PROCESSLIST;\nSHOW STATUS;\n",
    "warnings;",
    "SELECT '\\n', 'a\\tb'",
    "status\nSELECT 1;",
    "DESC orders",
    "SELECT `system` FROM `source`",
];

const MYSQL_DANGERS: &[&str] = &[
    "",
    "\\! ls",
    "SELECT 1; \\! ls",
    "SELECT 1\\! ls",
    "SELECT 1\\G\\! ls",
    "system ls",
    "SYSTEM ls",
    "  system ls",
    "SELECT 1;\nsystem ls",
    "source /tmp/x.sql",
    "\\. /tmp/x.sql",
    "tee /tmp/x",
    "\\T /tmp/x",
    "pager sh",
    "\\P sh",
    "edit",
    "\\e",
    "delimiter //",
    "\\d //",
    "DELIMITER //\nDELETE FROM users//",
    "connect x",
    "\\r x",
    "\\u shop",
    "SELECT 1\nsystem ls",
    "DELETE FROM users\\G",
    "SELECT 1\\G DELETE FROM users",
    "status\nDELETE FROM users",
    "status; DELETE FROM users",
    "status\\! ls",
    "\\s\\! ls",
    "\\s DELETE FROM users",
    "help; \\! ls",
    "SELECT 1 \\s",
    "SELECT 1 \\c DELETE FROM users",
    "\\N",
    "\\",
    "notee\ntee x",
    "SELECT 1;system ls",
    "/* x */ system ls",
    "charset gbk",
    "\\C gbk",
    "SELECT 'a\\'; DELETE FROM users; -- '",
    "resetconnection",
    "\\x",
];

const SQLITE_READS: &[&str] = &[
    "SELECT 1",
    ".tables",
    ".tables user%",
    ".schema",
    ".schema users",
    ".schema --indent",
    ".indexes",
    ".indexes users",
    ".databases",
    ".dbinfo",
    ".headers on",
    ".mode column",
    ".mode box",
    ".width 10 20",
    ".show",
    ".stats",
    ".timer on",
    ".nullvalue NULL",
    ".explain on",
    ".fullschema",
    ".dump",
    ".dump users",
    ".help",
    ".version",
    ".headers on\n.mode csv\nSELECT * FROM users;",
    "PRAGMA table_info(users)",
    "SELECT 1;\n.tables",
    "SELECT a\n.b FROM a",
    ".eqp on",
    ".print hello",
    ".quit",
];

const SQLITE_DANGERS: &[&str] = &[
    "",
    ".",
    ".shell ls",
    ".system ls",
    ".sh ls",
    ".sys ls",
    ".output /tmp/x",
    ".out x",
    ".once /tmp/x",
    ".once |sh",
    ".excel",
    ".import a b",
    ".load x",
    ".read x",
    ".read |ls",
    ".save x",
    ".backup x",
    ".restore x",
    ".clone x",
    ".open x",
    ".log x",
    ".trace x",
    ".cd /",
    ".archive -x",
    ".ar -c x",
    ".recover",
    ".sha3sum",
    ".selftest",
    ".expert",
    ".filectrl x",
    ".dbconfig x",
    ".limit x 1",
    ".parameter init",
    ".www",
    ".testctrl x",
    ".vfsname",
    ".nonsense",
    ". shell ls",
    ".TABLES",
    "SELECT 1;\n.shell ls",
    ".tables\n.shell ls",
    ".tables\nDELETE FROM users",
    "SELECT 1\n/\nDELETE FROM users",
    "SELECT 1\ngo\nDELETE FROM users",
    "SELECT a\nGO\n",
    "DELETE FROM users",
    "DELETE FROM users;\n.tables",
    "# x\nDELETE FROM users",
    "SELECT load_extension('x')",
    ".mode csv\n.import x y",
];

type Client = fn(&str) -> Result<(), Danger>;

const TABLE: [(Client, &[&str], &[&str]); 3] =
    [(psql, PSQL_READS, PSQL_DANGERS), (mysql, MYSQL_READS, MYSQL_DANGERS), (sqlite, SQLITE_READS, SQLITE_DANGERS)];

#[test]
fn what_only_reads_is_proven() {
    for (client, reads, _) in TABLE {
        for text in reads {
            assert_eq!(client(text), Ok(()), "{text}");
        }
    }
}

#[test]
fn everything_else_is_a_danger() {
    for (client, _, dangers) in TABLE {
        for text in dangers {
            let danger = client(text).expect_err(text);
            assert!(danger.risk > crate::command::judgement::Risk::ReadOnly, "{text}");
        }
    }
}

#[test]
fn reasons_say_what_it_does() {
    let reasons = [
        psql("\\! ls").expect_err("a danger").reason,
        psql("SELECT 1 \\g |sh").expect_err("a danger").reason,
        psql("SELECT 1 \\watch").expect_err("a danger").reason,
        psql("\\frobnicate").expect_err("a danger").reason,
        psql("\\echo `ls`").expect_err("a danger").reason,
        mysql("system ls").expect_err("a danger").reason,
        mysql("SELECT 1; \\T x").expect_err("a danger").reason,
        mysql("DROP TABLE users\\G").expect_err("a danger").reason,
        sqlite(".shell ls").expect_err("a danger").reason,
        sqlite(".sh ls").expect_err("a danger").reason,
    ];
    insta::assert_snapshot!(reasons.join("\n"), @r"
    runs a command of the system (\!)
    writes the result to a file or a program (\g)
    repeats until somebody stops it (\watch)
    uses \frobnicate, a command of the client which is not known to only read
    runs a command or puts in a variable (a backquote or a colon after `\`)
    runs a command of the system (system)
    writes a file (\T)
    removes something for good (DROP TABLE)
    runs a command of the system (.shell)
    uses .sh, a command of the client which is not known to only read
    ");
}

proptest! {
    /// Another command after or before what only reads is judged too.
    #[test]
    fn a_danger_beside_a_read_is_found(
        row in prop::sample::select(&[0_usize, 1, 2][..]),
        read in any::<prop::sample::Index>(),
        danger in any::<prop::sample::Index>(),
    ) {
        let (client, reads, dangers) = TABLE[row];
        let (read, danger) = (reads[read.index(reads.len())], dangers[danger.index(dangers.len())]);
        prop_assume!(!danger.trim().is_empty());
        let separator = if read.ends_with(';') || read.starts_with(['.', '\\']) { "\n" } else { ";\n" };
        let after = format!("{read}{separator}{danger}");
        let before = format!("{danger};\n{read}");
        prop_assert!(client(&after).is_err(), "{:?}", after);
        prop_assert!(client(&before).is_err(), "{:?}", before);
    }

    #[test]
    fn any_text_gets_an_answer(text in "(\\\\|\\.|;|\n|'|`|[a-zA-Z]{1,6}| |\\PC){0,40}") {
        for (client, ..) in TABLE {
            let _ = client(&text);
        }
    }
}

//! Both ways: what operators ask is proven, what writes is found, and what hides a write in a read is found too.

mod dangers;
mod reads;

use proptest::prelude::*;

use super::*;
use crate::command::judgement::Risk;
use dangers::DANGERS;
use reads::READS;

const DIALECTS: [Dialect; 4] = [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::Generic];

fn every(table: &[(Dialect, &[&'static str])]) -> Vec<(Dialect, &'static str)> {
    table.iter().flat_map(|(dialect, texts)| texts.iter().map(|text| (*dialect, *text))).collect()
}

#[test]
fn what_only_reads_is_proven() {
    let wrong: Vec<_> =
        every(READS).into_iter().filter_map(|(dialect, text)| Some((text, judge(text, dialect).err()?))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(every(READS).len() >= 200);
}

#[test]
fn what_may_write_is_a_danger() {
    let wrong: Vec<_> = every(DANGERS).into_iter().filter(|(dialect, text)| judge(text, *dialect).is_ok()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (dialect, text) in every(DANGERS) {
        let danger = judge(text, dialect).expect_err(text);
        assert!(danger.risk > Risk::ReadOnly && !danger.reason.is_empty(), "{text}: {danger:?}");
    }
}

#[test]
fn reasons_say_what_it_does() {
    let texts = [
        "DELETE FROM users",
        "SELECT 1; DROP TABLE users",
        "WITH d AS (DELETE FROM users RETURNING *) SELECT * FROM d",
        "SELECT * INTO x FROM users",
        "SELECT pg_terminate_backend(5)",
        "SELECT cleanup()",
        "SELECT * FROM users FOR UPDATE",
        "EXPLAIN ANALYZE UPDATE users SET a = 1",
        "SELECT 'a\\'",
        "SELECT * FROM",
        "SELECT 1 \\! ls",
        "frobnicate",
        "COPY users FROM STDIN",
        "",
    ];
    let reasons: Vec<String> =
        texts.iter().map(|text| judge(text, Dialect::Postgres).expect_err(text).reason).collect();
    insta::assert_snapshot!(reasons.join("\n"), @"
    deletes rows (DELETE)
    removes something for good (DROP TABLE)
    deletes rows (DELETE) inside a query
    writes what it selects into a table, a file or a variable (INTO)
    ends the work of another connection (the function pg_terminate_backend)
    calls the function cleanup, which is not known to only read
    locks the rows that it reads (FOR UPDATE)
    explains a statement that changes rows (UPDATE), and may run it
    cannot be read as SQL: a backslash before a quote, which ends the string for some servers
    cannot be read as SQL: Expected: identifier, found: EOF
    cannot be read as SQL: a backslash outside quotes
    cannot be read as SQL: no statement that only reads begins with `frobnicate`
    moves rows into a table, a file or a program (COPY)
    cannot be read as SQL: there is no statement
    ");
}

#[test]
fn the_risk_grows_with_the_harm() {
    let table = [
        ("SELECT * FROM t FOR SHARE", Risk::LowWrite),
        ("ANALYZE t", Risk::LowWrite),
        ("INSERT INTO t VALUES (1)", Risk::MediumWrite),
        ("UPDATE t SET a = 1", Risk::MediumWrite),
        ("SELECT cleanup()", Risk::MediumWrite),
        ("DELETE FROM t", Risk::HighWrite),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", Risk::HighWrite),
        ("DROP TABLE t", Risk::HighWrite),
        ("SELECT pg_terminate_backend(1)", Risk::HighWrite),
    ];
    for (text, risk) in table {
        assert_eq!(judge(text, Dialect::Postgres).expect_err(text).risk, risk, "{text}");
    }
}

/// Texts that are long or deep are answered, and on the stack of a test, which is small.
#[test]
fn long_and_deep_texts_get_an_answer() {
    let texts = [
        format!("SELECT {}1", "1+".repeat(980)),
        format!("SELECT {}1", "1+".repeat(4_000)),
        format!("SELECT {}1{}", "(".repeat(24), ")".repeat(24)),
        format!("SELECT {}1{}", "(".repeat(3_000), ")".repeat(3_000)),
        format!("SELECT * FROM {}t{}", "(".repeat(24), ")".repeat(24)),
        format!("SELECT * FROM {}SELECT 1{}", "(".repeat(24), ")".repeat(24)),
        format!("{}SELECT 1{}", "(".repeat(24), ")".repeat(24)),
        format!("SELECT {}a{}", "coalesce(".repeat(24), ")".repeat(24)),
        format!("SELECT {}1{}", "CASE WHEN ".repeat(200), " THEN 1 END".repeat(200)),
        format!("SELECT {}1", "NOT ".repeat(1_500)),
        format!("SELECT {}1", "- ".repeat(1_500)),
        format!("SELECT 1{}", " IS NULL".repeat(600)),
        format!("SELECT 1{}", "::int".repeat(900)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(500)),
        format!("SELECT * FROM a{}", " JOIN b".repeat(700)),
        format!("SELECT a{}", ".b".repeat(900)),
        format!("SELECT a{}", "[1]".repeat(600)),
        format!("SELECT {}", "EXISTS(".repeat(24)),
        format!("SELECT {}", "a IN (".repeat(24)),
        format!("SELECT {}", "((a,b),".repeat(24)),
        format!("WITH {}", "a AS (WITH ".repeat(24)),
        format!("SELECT * FROM {}", "a JOIN (".repeat(24)),
        format!("SELECT * FROM {}", "((a JOIN ".repeat(12)),
        format!("SELECT {}", "CAST(".repeat(24)),
        format!("SELECT interval {}", "interval ".repeat(900)),
        format!("SELECT {}'a'", "date ".repeat(900)),
        format!("SELECT {}", "ARRAY[".repeat(24)),
        format!("SELECT {}", "array<".repeat(900)),
        format!("SELECT a::{}", "struct<a ".repeat(600)),
    ];
    for dialect in DIALECTS {
        for text in &texts {
            drop(judge(text, dialect));
        }
    }
    assert_eq!(judge(texts.first().map_or("", String::as_str), Dialect::Postgres), Ok(()));
    assert!(judge(&format!("SELECT '{}'", "a".repeat(9_000)), Dialect::Postgres).is_err());
}

fn a_read() -> impl Strategy<Value = (Dialect, &'static str)> {
    prop::sample::select(every(READS))
}

/// Reads in which a blank is never part of a string or a comment.
fn a_plain_read() -> impl Strategy<Value = (Dialect, &'static str)> {
    let quotes = ['\'', '"', '`', '$', '#'];
    let plain = move |text: &str| !text.contains(quotes) && !text.contains("--") && !text.contains("/*");
    let reads = every(READS).into_iter().filter(|(_, text)| plain(text) && text.contains(' '));
    prop::sample::select(reads.collect::<Vec<_>>())
}

fn a_write() -> impl Strategy<Value = &'static str> {
    prop::sample::select(dangers::COMMON)
}

proptest! {
    #[test]
    fn a_write_after_or_before_a_read_is_found((dialect, read) in a_read(), write in a_write(), gap in "[ \n\t]{0,2}") {
        let read = read.trim_end_matches(';');
        for text in [
            format!("{read}\n;{gap}{write}"),
            format!("{write};{gap}{read}"),
            format!("{read}\n;{gap}{write};{read}"),
            format!("{read}\n{write}"),
        ] {
            prop_assert!(judge(&text, dialect).is_err(), "{:?}", text);
        }
    }

    #[test]
    fn a_write_around_a_read_is_found((dialect, read) in a_read(), write in a_write()) {
        let read = read.trim_end_matches(';');
        for text in [
            format!("WITH hidden AS ({write}) {read}"),
            format!("WITH hidden AS ({write} RETURNING *) SELECT * FROM ({read}\n) x"),
            format!("EXPLAIN ANALYZE {write}"),
            format!("EXPLAIN (ANALYZE, BUFFERS) {write}"),
            format!("SELECT * FROM ({write} RETURNING *) x, ({read}\n) y"),
            format!("SELECT ({write}), ({read}\n)"),
            format!("({read}\n) UNION ({write})"),
            format!("WITH x AS ({read}\n) {write}"),
            format!("SELECT * FROM ({read}\n) x WHERE evil()"),
        ] {
            prop_assert!(judge(&text, dialect).is_err(), "{:?}", text);
        }
    }

    /// Wherever a call of an unknown function stands, it is found.
    #[test]
    fn a_call_anywhere_is_found((dialect, read) in a_plain_read(), at in any::<prop::sample::Index>()) {
        let spaces: Vec<usize> = read.match_indices(' ').map(|(at, _)| at).collect();
        let (head, tail) = read.split_at(spaces[at.index(spaces.len())]);
        for call in ["evil(1)", "pg_sleep(1)", "x.y()", "\"now\"()", "evil /* x */ ( )"] {
            prop_assert!(judge(&format!("{head} {call} {tail}"), dialect).is_err(), "{:?} {:?}", head, tail);
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,200}", dialect in prop::sample::select(&DIALECTS[..])) {
        let _ = judge(&text, dialect);
    }

    /// Reads with pieces cut out, doubled, and strange signs put in.
    #[test]
    fn mutated_sql_gets_an_answer(
        (dialect, read) in a_read(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![
            "", "(", ")", "'", "\"", ";", "--", "/*", "*/", "\\", "$$", "::", ",", " SELECT ", " FROM ", " DELETE ", " INTO ", "\n", "[", "CASE",
        ])), 1..8),
    ) {
        let mut text = read.to_owned();
        for (at, piece) in cuts {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = ends[at.index(ends.len())];
            let tail = text.split_off(at);
            text = format!("{text}{piece}{}", tail.get(usize::from(piece.is_empty())..).unwrap_or(""));
        }
        let _ = judge(&text, dialect);
    }
}

//! Each rule of `tidy.rs` proved: a small sound tree passes, a tree with one planted file fails with the words
//! expected, and an empty tree fails because there was nothing to check.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{DEPENDENCIES, FILE_LINES_MAX, FUNCTION_LINES_MAX, RULES, Tree, judge};
use countersign_core::envelope::Code;

/// A manifest with everything that a package may depend on.
fn manifest(package: &str) -> String {
    let tables = DEPENDENCIES.iter().filter(|row| row.0 == package);
    let lines = tables.flat_map(|(_, table, allowed)| {
        let names = allowed.iter().map(|name| format!("{name} = \"1\"\n"));
        std::iter::once(format!("[{table}]\n")).chain(names)
    });
    lines.collect::<Vec<_>>().concat()
}

const CORE_LIB: &str = "//! Decides, never does.\n//!\n//! 1. **No write without a target.** A sentence\n//!    on two lines. \
    Held by\n//!    `gate::tests::held` and `also_held`.\n//! 2. **Refusals never wear down.** Held by `also_held`.\n\n\
    #[cfg(test)]\nmod tests {\n    #[test]\n    // Why.\n    #[expect(lint)]\n    fn held() {}\n\n    #[tokio::test]\n    \
    async fn also_held() {}\n}\n";

/// A tree in which every rule sees something and finds nothing. It shows, too, what must not be taken for a violation.
fn sound() -> Vec<(String, String)> {
    let codes: String = documented(&Code::ALL);
    let tests = "    fn t() {}\n".repeat(FILE_LINES_MAX);
    let longest = format!("fn f() {{\n{}}}\n", "    g(\"}\");\n".repeat(FUNCTION_LINES_MAX - 2));
    let files = [
        ("README.md", codes.as_str()),
        ("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\""),
        (".hidden", ""),
        ("src/core/lib.rs", CORE_LIB),
        ("src/lib.rs", &format!("//! Root. `.unwrap()` in a comment.\nmod core_of_it;\n{longest}")),
        ("src/long.rs", &format!("//! Mostly tests.\n#[cfg(test)]\nmod tests {{\n{tests}}}\n")),
        ("src/wire.rs", "//! Wire.\nuse countersign_console::Console;\n"),
        ("src/store/mod.rs", "//! Store.\nuse sqlx::Any;\n"),
        ("src/spokes/mod.rs", "//! Spokes.\nuse rmcp::model;\n"),
        (
            "src/log.rs",
            "//! Log.\nconst FILTER: &str = \"info,sqlx=warn\";\nconst KEY: &str = \"/root/.ssh/id_rsa\";\n",
        ),
        ("src/engine.rs", "//! Engine.\nasync fn back_off() {\n    tokio::time::sleep(LONG).await;\n}\n"),
        ("migrations/0001_first.sql", "CREATE TABLE t (a TEXT);"),
        ("migrations/sample/0001_first.sql", "INSERT INTO t VALUES ('a');"),
        ("tests/it/main.rs", "//! Tests.\nuse sqlx::Any;\n"),
    ];
    let packages: BTreeSet<&str> = DEPENDENCIES.iter().map(|row| row.0).collect();
    let manifests = packages.into_iter().map(|package| (format!("{package}/Cargo.toml"), manifest(package)));
    files.map(|(path, text)| (path.to_owned(), text.to_owned())).into_iter().chain(manifests).collect()
}

fn documented(codes: &[Code]) -> String {
    codes.iter().flat_map(|code| ["`", code.as_str(), "`\n"]).collect()
}

/// (rule, planted file, its text, the violation expected).
type Row = (&'static str, &'static str, String, &'static str);

fn planted() -> Vec<Row> {
    [dependencies(), walls(), sizes(), habits(), places(), invariants()].concat()
}

fn dependencies() -> Vec<Row> {
    vec![
        (
            "dependencies",
            "src/core/Cargo.toml",
            format!("{}[build-dependencies]\ncc = \"1\"\n", manifest("src/core")),
            "src/core/Cargo.toml: `cc` is not allowed among the build-dependencies; see tests/it/tidy.rs",
        ),
        (
            "dependencies",
            "src/core/Cargo.toml",
            manifest("src/core").replace("sha2", "tokio = \"1\"\nsha2"),
            "src/core/Cargo.toml: `tokio` is not allowed among the dependencies; see tests/it/tidy.rs",
        ),
        (
            "dependencies",
            "src/core/Cargo.toml",
            manifest("src/core").replace("\nregex = \"1\"", ""),
            "src/core/Cargo.toml: no longer uses `regex`; take it off the list in tests/it/tidy.rs",
        ),
        (
            "dependencies",
            "adapters/console/Cargo.toml",
            manifest("adapters/console").replace("futures", "countersign = \"1\"\nfutures"),
            "adapters/console/Cargo.toml: `countersign` is not allowed among the dependencies; see tests/it/tidy.rs",
        ),
        (
            "dependencies",
            "tests/fakes/telegram/Cargo.toml",
            manifest("tests/fakes/telegram").replace("clap", "countersign-core = \"1\"\nclap"),
            "tests/fakes/telegram/Cargo.toml: `countersign-core` is not allowed among the dependencies; see tests/it/tidy.rs",
        ),
        (
            "dependencies",
            "adapters/irc/Cargo.toml",
            "[dependencies]\nirc = \"1\"\n".to_owned(),
            "adapters/irc/Cargo.toml: `irc` is not allowed among the dependencies; see tests/it/tidy.rs",
        ),
    ]
}

fn walls() -> Vec<Row> {
    vec![
        (
            "named only in",
            "src/engine/run.rs",
            "//! X.\nfn f(_: countersign_console::Console) {}\n".to_owned(),
            "src/engine/run.rs:2: only src/wire.rs names an adapter",
        ),
        (
            "named only in",
            "src/engine/run.rs",
            "//! X.\nuse sqlx::Any;\n".to_owned(),
            "src/engine/run.rs:2: only src/store names sqlx",
        ),
        (
            "named only in",
            "src/engine/run.rs",
            "//! X.\nuse cedar_policy::Request;\n".to_owned(),
            "src/engine/run.rs:2: only src/access names cedar_policy",
        ),
        (
            "named only in",
            "src/engine/run.rs",
            "//! X.\nuse governor::Quota;\n".to_owned(),
            "src/engine/run.rs:2: only src/access names governor",
        ),
        (
            "named only in",
            "src/store/x.rs",
            "//! X.\nuse rmcp as r;\n".to_owned(),
            "src/store/x.rs:2: only src/tools and src/spokes name rmcp",
        ),
    ]
}

fn sizes() -> Vec<Row> {
    let long = |lines: usize| "// x\n".repeat(lines);
    let function = |indent: &str, lines: usize| {
        format!(
            "//! X.\n{indent}pub async fn f(\n{indent}) {{\n{}{indent}}}\n",
            format!("{indent}    g();\n").repeat(lines)
        )
    };
    vec![
        ("opening", "src/x.rs", "// X.\n".to_owned(), "src/x.rs: does not open with `//!`"),
        ("file length", "src/x.rs", long(FILE_LINES_MAX + 1), "src/x.rs: 501 lines, at most 500"),
        (
            "file length",
            "src/x.rs",
            format!("mod tests {{\n}}\n{}", long(FILE_LINES_MAX + 1)),
            "src/x.rs: 501 lines, at most 500",
        ),
        (
            "function length",
            "src/x.rs",
            function("", FUNCTION_LINES_MAX - 2),
            "src/x.rs:2: `f` has 71 lines, at most 70",
        ),
        (
            "function length",
            "tests/it/x.rs",
            function("    ", FUNCTION_LINES_MAX - 2),
            "tests/it/x.rs:2: `f` has 71 lines, at most 70",
        ),
        (
            "one core",
            "src/lib.rs",
            "//! X.\npub mod core;\n".to_owned(),
            "src/lib.rs:2: the core is its own package; depend on it",
        ),
        (
            "one core",
            "src/main.rs",
            "//! X.\n#[path = \"core/lib.rs\"]\nmod inner;\n".to_owned(),
            "src/main.rs:2: the core is its own package; depend on it",
        ),
    ]
}

fn habits() -> Vec<Row> {
    vec![
        (
            "leftovers",
            "src/x.rs",
            "//! X.\nfn f() { g().unwrap(); }\n".to_owned(),
            "src/x.rs:2: no unwrap, no todo, no skipped test",
        ),
        (
            "leftovers",
            "src/x.rs",
            "//! X.\nfn f() { todo!() }\n".to_owned(),
            "src/x.rs:2: no unwrap, no todo, no skipped test",
        ),
        (
            "leftovers",
            "tests/it/x.rs",
            "//! X.\n#[ignore = \"slow\"]\n".to_owned(),
            "tests/it/x.rs:2: no unwrap, no todo, no skipped test",
        ),
        (
            "sleeping tests",
            "tests/it/x.rs",
            "//! X.\nfn f() { std::thread::sleep(A); }\n".to_owned(),
            "tests/it/x.rs:2: a test waits on a marker, it does not sleep",
        ),
        (
            "sleeping tests",
            "src/x.rs",
            "//! X.\nmod tests {\n    use tokio::time::sleep;\n}\n".to_owned(),
            "src/x.rs:3: a test waits on a marker, it does not sleep",
        ),
        (
            "sample data",
            "migrations/0002_more.sql",
            "CREATE TABLE u (a TEXT);".to_owned(),
            "migrations/0002_more.sql: has no data in migrations/sample/0002_more.sql",
        ),
    ]
}

fn places() -> Vec<Row> {
    let codes: String = documented(&Code::ALL[1..]);
    vec![
        ("documented codes", "README.md", codes, "README.md: does not say what `STRICT_RESOLUTION` means"),
        ("top level", "Makefile", String::new(), "Makefile: does not belong at the top level"),
        ("top level", "docs/x.md", String::new(), "docs: does not belong at the top level"),
        (
            "machine paths",
            "config/x.toml",
            "a = 1\nhome = \"/root/build\"".to_owned(),
            "config/x.toml:2: names a machine's path or a package registry",
        ),
        (
            "machine paths",
            "README.md",
            "see /work/x".to_owned(),
            "README.md:1: names a machine's path or a package registry",
        ),
        (
            "machine paths",
            "src/x.rs",
            "// from https://crates.io/x".to_owned(),
            "src/x.rs:1: names a machine's path or a package registry",
        ),
    ]
}

fn invariants() -> Vec<Row> {
    vec![
        (
            "invariants",
            "src/core/lib.rs",
            CORE_LIB.replace("fn held", "fn gone"),
            "src/core/lib.rs: invariant 1 is held by `held`, which is no test",
        ),
        (
            "invariants",
            "src/core/lib.rs",
            CORE_LIB.replace("    #[test]\n", ""),
            "src/core/lib.rs: invariant 1 is held by `held`, which is no test",
        ),
        (
            "invariants",
            "src/core/lib.rs",
            CORE_LIB.replace(" Held by `also_held`", ""),
            "src/core/lib.rs: invariant 2 is held by no test",
        ),
    ]
}

fn tree(files: impl IntoIterator<Item = (String, String)>) -> Tree {
    Tree(files.into_iter().collect())
}

#[test]
fn every_rule_passes_a_sound_tree_and_fails_an_empty_one() {
    for (name, rule) in RULES {
        assert_eq!(judge(&tree(sound()), name, rule), [""; 0]);
        assert_eq!(judge(&tree([]), name, rule), [format!("{name}: saw nothing to check")]);
    }
}

#[test]
fn every_rule_finds_what_is_planted() {
    let planted = planted();
    for (name, rule) in RULES {
        let rows: Vec<_> = planted.iter().filter(|(of, ..)| *of == name).collect();
        assert!(!rows.is_empty(), "`{name}` has no planted violation");
        for (_, path, text, expected) in rows {
            let files = sound().into_iter().chain([((*path).to_owned(), text.clone())]);
            assert_eq!(judge(&tree(files), name, rule), [format!("{name}: {expected}")]);
        }
    }
    assert!(planted.iter().all(|(of, ..)| RULES.iter().any(|(name, _)| name == of)), "a row names no rule");
}

#[test]
fn a_tree_is_read_without_what_is_built() {
    let root = tempfile::tempdir().expect("a folder for the test");
    for path in ["src/deep/x.rs", "Makefile", ".git/config", "target/debug/x.rs", "src/target/x.rs"] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder can be made");
        fs::write(path, "//! X.\n").expect("a file can be written");
    }
    let read: Vec<String> = Tree::read(root.path()).0.into_keys().collect();
    assert_eq!(read, ["Makefile", "src/deep/x.rs", "src/target/x.rs"]);
}

//! The house rules that no compiler holds, as functions over the tree: a rule returns how many things it looked at and
//! what is wrong with them. A rule that saw nothing fails, for it would pass silently for ever; each proves itself on a
//! planted violation (`tidy/planted.rs`). What clippy can hold stands in `.clippy.toml` and the manifests.

mod planted;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;

use countersign_core::envelope::Code;
use regex::Regex;

use tree::{Tree, test_lines};

/// File and function limits, in lines (STYLE.md section 6).
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// The visible top level. Names that begin with a dot are not visible.
const TOP_LEVEL: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "src",
    "adapters",
    "migrations",
    "config",
    "tests",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

/// What each inner package may depend on, and nothing else. A new entry here is a decision, not a formality.
const DEPENDENCIES: [(&str, &str, &[&str]); 19] = [
    (
        "src/core",
        "dependencies",
        &[
            "globset",
            "ipnet",
            "aho-corasick",
            "base64",
            "regex",
            "regex-syntax",
            // Only for the text of its rules.
            "secrets_scanner",
            "serde",
            "serde_json",
            "sha2",
            "shuck-ast",
            "shuck-parser",
            "sqlparser",
            "thiserror",
            "toml",
            "tree-sitter",
            "tree-sitter-bash",
        ],
    ),
    ("src/core", "dev-dependencies", &["insta", "proptest"]),
    // It starts before every program that reads: what is in it, each of them waits for.
    (
        "src/sandbox",
        "dependencies",
        &["caps", "close_fds", "landlock", "libc", "nix", "procfs", "rustix", "seccompiler", "serde", "serde_json"],
    ),
    ("src/sandbox", "dev-dependencies", &["tempfile"]),
    (
        "adapters/console",
        "dependencies",
        &[
            "countersign-core",
            "futures",
            "nix",
            "rustyline",
            "serde",
            "serde_json",
            "tokio",
            "tracing",
            "unicode-width",
        ],
    ),
    ("adapters/console", "dev-dependencies", &["insta"]),
    (
        "adapters/discord",
        "dependencies",
        &[
            "countersign-core",
            "futures",
            "reqwest",
            "serde",
            "serde_json",
            "serenity",
            "tokio",
            "tokio-tungstenite",
            "tracing",
            "unicode-width",
        ],
    ),
    ("adapters/discord", "dev-dependencies", &["countersign-discord-fake", "insta", "proptest", "tokio"]),
    (
        "adapters/matrix",
        "dependencies",
        &["countersign-core", "futures", "matrix-sdk", "serde", "serde_json", "tokio", "tracing", "unicode-width"],
    ),
    ("adapters/matrix", "dev-dependencies", &["countersign-synapse", "insta", "proptest", "tempfile", "tokio"]),
    (
        "adapters/telegram",
        "dependencies",
        &[
            "countersign-core",
            "futures",
            "reqwest",
            "serde",
            "serde_json",
            "teloxide",
            "tokio",
            "tracing",
            "unicode-width",
        ],
    ),
    ("adapters/telegram", "dev-dependencies", &["countersign-telegram-fake", "insta", "proptest", "tokio"]),
    // Nothing of ours: a fake stands outside the bot.
    (
        "tests/fakes/discord",
        "dependencies",
        &[
            "bytes",
            "clap",
            "form_urlencoded",
            "futures",
            "http-body-util",
            "hyper",
            "hyper-util",
            "multer",
            "serde_json",
            "tokio",
            "tokio-tungstenite",
            "unicode-width",
        ],
    ),
    ("tests/fakes/discord", "dev-dependencies", &["insta", "reqwest", "serenity"]),
    ("tests/fakes/model", "dependencies", &["bytes", "http-body-util", "hyper", "hyper-util", "serde_json", "tokio"]),
    ("tests/fakes/model", "dev-dependencies", &["async-openai", "futures", "reqwest"]),
    // It runs programs and knows none of their protocol but what its gate needs.
    (
        "tests/fakes/synapse",
        "dependencies",
        &["bytes", "fastrand", "http-body-util", "hyper", "hyper-util", "serde_json", "tempfile", "tokio"],
    ),
    (
        "tests/fakes/telegram",
        "dependencies",
        &[
            "bytes",
            "clap",
            "form_urlencoded",
            "futures",
            "http-body-util",
            "hyper",
            "hyper-util",
            "multer",
            "serde_json",
            "tokio",
            "unicode-width",
        ],
    ),
    ("tests/fakes/telegram", "dev-dependencies", &["insta", "reqwest", "teloxide-core"]),
];

/// What only some rooms may name: (path, who may, why).
const NAMED_ONLY_IN: [(&str, &[&str], &str); 6] = [
    (r"countersign_(console|discord|matrix|telegram|http)", &["src/wire.rs"], "only src/wire.rs names an adapter"),
    (r"sqlx", &["src/store/", "src/store.rs"], "only src/store names sqlx"),
    (r"cedar_policy", &["src/access/"], "only src/access names cedar_policy"),
    (r"reqwest13", &["src/model/"], "only src/model names reqwest13"),
    (r"governor", &["src/access/"], "only src/access names governor"),
    (
        r"rmcp",
        &["src/tools/", "src/tools.rs", "src/spokes/", "src/spokes.rs"],
        "only src/tools and src/spokes name rmcp",
    ),
];

/// How many things a rule looked at, and what is wrong with them.
type Found = (usize, Vec<String>);

type Rule = fn(&Tree) -> Found;

const RULES: [(&str, Rule); 13] = [
    ("dependencies", dependencies),
    ("named only in", named_only_in),
    ("opening", opening),
    ("file length", file_length),
    ("function length", function_length),
    ("one core", one_core),
    ("leftovers", leftovers),
    ("sleeping tests", sleeping_tests),
    ("sample data", sample_data),
    ("documented codes", documented_codes),
    ("top level", top_level),
    ("machine paths", machine_paths),
    ("invariants", invariants),
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("invariant: the pattern is written here")
}

/// One violation a line of code that matches.
fn forbid(tree: &Tree, tests_only: bool, forbidden: &str, why: &str) -> Found {
    let forbidden = pattern(forbidden);
    let lines: Vec<_> = tree.code().filter(|(_, _, _, test)| *test || !tests_only).collect();
    let wrong = lines.iter().filter(|(_, _, line, _)| forbidden.is_match(line));
    (lines.len(), wrong.map(|(path, at, _, _)| format!("{path}:{at}: {why}")).collect())
}

fn dependencies(tree: &Tree) -> Found {
    let folders = ["src/core/", "src/sandbox/", "adapters/", "tests/fakes/"];
    let inner = |path: &str| path.ends_with("/Cargo.toml") && folders.iter().any(|folder| path.starts_with(folder));
    let mut found: Found = (0, Vec::new());
    for (path, text) in tree.0.iter().filter(|(path, _)| inner(path)) {
        found.0 += 1;
        let package = path.trim_end_matches("/Cargo.toml");
        let manifest: toml::Table = text.parse().unwrap_or_default();
        for table in manifest.keys().filter(|key| key.ends_with("dependencies") || *key == "target") {
            let row = DEPENDENCIES.iter().find(|row| (row.0, row.1) == (package, table.as_str()));
            let allowed = row.map_or(&[] as &[&str], |row| row.2);
            let listed = manifest.get(table).and_then(toml::Value::as_table).into_iter().flatten();
            for (name, _) in listed.filter(|(name, _)| !allowed.contains(&name.as_str())) {
                found.1.push(format!("{path}: `{name}` is not allowed among the {table}; see tests/it/tidy.rs"));
            }
        }
    }
    for (package, table, names) in DEPENDENCIES {
        let manifest: toml::Table = tree.get(&format!("{package}/Cargo.toml")).parse().unwrap_or_default();
        let listed = manifest.get(table).and_then(toml::Value::as_table);
        for name in names.iter().filter(|name| listed.is_none_or(|listed| !listed.contains_key(**name))) {
            found.1.push(format!(
                "{package}/Cargo.toml: no longer uses `{name}`; take it off the list in tests/it/tidy.rs"
            ));
        }
    }
    found
}

/// Tests may look behind a wall; only what ships is held to it.
fn named_only_in(tree: &Tree) -> Found {
    let mut found: Found = (0, Vec::new());
    for (name, rooms, why) in NAMED_ONLY_IN {
        let naming = pattern(&format!(r"\b{name}::|\b(use|extern crate) {name}\b"));
        let shipped = tree.code().filter(|(path, _, _, _)| !path.starts_with("tests/"));
        for (path, at, line, _) in shipped.filter(|(path, ..)| !rooms.iter().any(|room| path.starts_with(room))) {
            found.0 += 1;
            if naming.is_match(line) {
                found.1.push(format!("{path}:{at}: {why}"));
            }
        }
    }
    found
}

fn opening(tree: &Tree) -> Found {
    let wrong = tree.rust().filter(|(_, text)| !text.starts_with("//! "));
    (tree.rust().count(), wrong.map(|(path, _)| format!("{path}: does not open with `//!`")).collect())
}

fn file_length(tree: &Tree) -> Found {
    let lengths = tree.rust().map(|(path, text)| (path, text.lines().count() - test_lines(path, text).len()));
    let wrong = lengths.filter(|(_, length)| *length > FILE_LINES_MAX);
    (
        tree.rust().count(),
        wrong.map(|(path, length)| format!("{path}: {length} lines, at most {FILE_LINES_MAX}")).collect(),
    )
}

/// A function ends where its indentation comes back with a closing brace: rustfmt sees to that, and braces in strings do
/// not disturb it.
fn function_length(tree: &Tree) -> Found {
    let head = pattern(r"^( *)(?:pub(?:\([^)]*\))? )?(?:(?:default|const|async|unsafe|extern) )*fn (\w+)");
    let mut found: Found = (0, Vec::new());
    for (path, text) in tree.rust() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, captures) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, head.captures(line)?))) {
            let close = format!("{}}}", &captures[1]);
            let ends =
                |line: &str| line == close || (line.ends_with(';') && !line[captures[1].len()..].starts_with(' '));
            let one_line = lines[at].ends_with([';', '}']);
            let more = lines[at + 1..].iter().position(|line| line.starts_with(&captures[1]) && ends(line));
            let length = if one_line { 1 } else { more.map_or(lines.len() - at, |more| more + 2) };
            found.0 += 1;
            if length > FUNCTION_LINES_MAX {
                found.1.push(format!(
                    "{path}:{}: `{}` has {length} lines, at most {FUNCTION_LINES_MAX}",
                    at + 1,
                    &captures[2]
                ));
            }
        }
    }
    found
}

/// `mod core;` in the root would compile the core a second time, inside the shell and past its manifest.
fn one_core(tree: &Tree) -> Found {
    let outside = |path: &str| path.starts_with("src/") && !path.starts_with("src/core/");
    let second = pattern(r#"^\s*(pub(\([^)]*\))? )?mod core\b|#\[path = ".*core/"#);
    let lines: Vec<_> = tree.code().filter(|(path, ..)| outside(path)).collect();
    let wrong = lines.iter().filter(|(_, _, line, _)| second.is_match(line));
    (
        lines.len(),
        wrong.map(|(path, at, ..)| format!("{path}:{at}: the core is its own package; depend on it")).collect(),
    )
}

fn leftovers(tree: &Tree) -> Found {
    let why = "no unwrap, no todo, no skipped test";
    forbid(tree, false, r"\.unwrap\(\)|\b(todo|unimplemented)!|#\[ignore|cfg_attr\(.*\bignore\b", why)
}

fn sleeping_tests(tree: &Tree) -> Found {
    forbid(tree, true, r"\b(thread|time)::sleep\b", "a test waits on a marker, it does not sleep")
}

fn sample_data(tree: &Tree) -> Found {
    let scripts = tree.0.keys().filter_map(|path| path.strip_prefix("migrations/"));
    let script = pattern(r"^[^/]+\.sql$");
    let scripts: Vec<_> = scripts.filter(|name| script.is_match(name)).collect();
    let bare = scripts.iter().filter(|name| tree.get(&format!("migrations/sample/{name}")).trim().is_empty());
    (scripts.len(), bare.map(|name| format!("migrations/{name}: has no data in migrations/sample/{name}")).collect())
}

fn documented_codes(tree: &Tree) -> Found {
    let readme = tree.get("README.md");
    let missing = Code::ALL.iter().filter(|code| !readme.contains(&format!("`{code}`")));
    let seen = if readme.is_empty() { 0 } else { Code::ALL.len() };
    (seen, missing.map(|code| format!("README.md: does not say what `{code}` means")).collect())
}

fn top_level(tree: &Tree) -> Found {
    let names: BTreeSet<&str> = tree.0.keys().filter_map(|path| path.split('/').next()).collect();
    let visible: Vec<_> = names.into_iter().filter(|name| !name.starts_with('.')).collect();
    let wrong = visible.iter().filter(|name| !TOP_LEVEL.contains(name));
    (visible.len(), wrong.map(|name| format!("{name}: does not belong at the top level")).collect())
}

/// What is true of one machine only. `/root/.ssh` and its like are data of the secrets gate.
fn machine_paths(tree: &Tree) -> Found {
    let local = pattern(
        r"(^|[^\w./-])/work/|/tmp/h-|(^|[^\w./-])/root/(\w|\.(cargo|rustup|pyenv)\b)|\bcrates\.io|pypi\.org|pythonhosted\.org|npmjs\.org|proxy\.golang\.org",
    );
    let files = tree.0.iter().filter(|(path, _)| !path.ends_with("Cargo.lock") && !path.starts_with("tests/it/tidy"));
    let lines: Vec<_> =
        files.flat_map(|(path, text)| text.lines().zip(1..).map(move |(line, at)| (path, at, line))).collect();
    let wrong = lines.iter().filter(|(_, _, line)| local.is_match(line));
    (
        lines.len(),
        wrong.map(|(path, at, _)| format!("{path}:{at}: names a machine's path or a package registry")).collect(),
    )
}

/// The crate documentation of the core numbers the invariants: a number, the sentence in bold,
/// more, and "Held by" with the tests' paths in backticks.
fn invariants(tree: &Tree) -> Found {
    let doc: Vec<&str> = tree.get("src/core/lib.rs").lines().map_while(|line| line.strip_prefix("//!")).collect();
    let doc = doc.join("\n");
    let starts: Vec<usize> = pattern(r"(?m)^ *\d+\. \*\*").find_iter(&doc).map(|found| found.start()).collect();
    let mut found: Found = (starts.len(), Vec::new());
    for (number, start) in starts.iter().enumerate() {
        let sentence = &doc[*start..starts.get(number + 1).map_or(doc.len(), |next| *next)];
        let held = sentence.split_once("Held by").map_or("", |(_, held)| held.split("\n\n").next().unwrap_or(""));
        let names: Vec<String> =
            pattern(r"`(?:\w+::)*(\w+)`").captures_iter(held).map(|name| name[1].to_owned()).collect();
        if names.is_empty() {
            found.1.push(format!("src/core/lib.rs: invariant {} is held by no test", number + 1));
        }
        for name in names.iter().filter(|name| !is_test(tree, name)) {
            found.1.push(format!("src/core/lib.rs: invariant {} is held by `{name}`, which is no test", number + 1));
        }
    }
    found
}

fn is_test(tree: &Tree, name: &str) -> bool {
    let test = pattern(&format!(r"#\[(\w+::)?test\b[^\n]*\]\n(\s*(#\[|//)[^\n]*\n)*\s*(async )?fn {name}\b"));
    tree.rust().any(|(_, text)| test.is_match(text))
}

/// A rule's findings, one a line, each under the rule's name.
fn judge(tree: &Tree, name: &str, rule: Rule) -> Vec<String> {
    match rule(tree) {
        (0, _) => vec![format!("{name}: saw nothing to check")],
        (_, violations) => violations.into_iter().map(|violation| format!("{name}: {violation}")).collect(),
    }
}

#[test]
fn the_tree_is_tidy() {
    let tree = Tree::read(Path::new(env!("CARGO_MANIFEST_DIR")));
    let wrong: Vec<_> = RULES.iter().flat_map(|(name, rule)| judge(&tree, name, *rule)).collect();
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}

//! What must not compile does not: clearance cannot be forged (invariant 2), and what was discovered cannot be stored (RES-03). The cases are `tests/compile/fail/*.rs`,
//! each beside the compiler's words; `tests/compile/pass` uses the same imports rightly, so that no case fails for a
//! reason that is not its own. After a compiler's update, look at the difference and run with `TRYBUILD=overwrite`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

const NAME: &str = "compile::what_must_not_compile_does_not";

/// trybuild builds the package that `CARGO_MANIFEST_DIR` names, with all its dependencies, once more under
/// `target/tests`. The cases need only the core, so the test runs itself again with the core as that package: some
/// twenty packages instead of several hundred.
#[test]
fn what_must_not_compile_does_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let core = root.join("src/core");
    if std::env::var_os("CARGO_MANIFEST_DIR").as_deref() == Some(core.as_os_str()) {
        return cases(&root.join("tests/compile"));
    }
    let itself = std::env::current_exe().expect("invariant: a running test has a path");
    let output = Command::new(itself)
        .args(["--exact", NAME, "--nocapture"])
        .env("CARGO_MANIFEST_DIR", &core)
        .current_dir(&core)
        .output()
        .expect("a test can start itself");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "`{NAME}` is no longer this test's name:\n{said}");
}

fn cases(folder: &Path) {
    let count = |part: &str| {
        let entries = folder.join(part).read_dir().expect("the folder of cases exists");
        entries.flatten().filter(|entry| entry.path().extension() == Some(OsStr::new("rs"))).count()
    };
    assert!(count("pass") >= 1 && count("fail") >= 4, "cases are missing under {}", folder.display());
    let cases = trybuild::TestCases::new();
    cases.pass(folder.join("pass/*.rs"));
    cases.compile_fail(folder.join("fail/*.rs"));
}

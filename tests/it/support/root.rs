//! The rights of root, for the few tests that change what only root may: a test that has them runs here, and another runs
//! itself once more through `sudo`. It is never skipped.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// Runs this as root. `test` is the full name of the test that calls, by which it is found again.
pub(crate) fn as_root(test: &str, body: impl FnOnce()) {
    let is_root = std::fs::metadata("/proc/self").expect("this system has /proc").uid() == 0;
    if is_root {
        return body();
    }
    let itself = std::env::current_exe().expect("a running test has a file");
    // `-n`: nobody is at the keys to type a password.
    let done = Command::new("sudo").args(["-n", "-E"]).arg(itself).args(["--exact", test, "--nocapture"]).output();
    let said = done.map(|done| {
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        (done.status.success() && said.contains("test result: ok. 1 passed"), said.into_owned())
    });
    assert!(matches!(said, Ok((true, _))), "{test} needs root. Run it as root, or allow `sudo -n`: {said:#?}");
}

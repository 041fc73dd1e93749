//! A real small model, `SmolLM2`-135M, behind llama.cpp's own server: what the script `tests/fakes/model/install` puts into the
//! target folder. It shows how a real server streams and fails; what it says is mostly nonsense, and nothing rests on it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the script installs, as it stands when this is built.
const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// A server that runs. It ends when this is dropped.
pub struct Small {
    process: Child,
    url: String,
}

impl Small {
    /// Starts one on a free port of 127.0.0.1, with one thread. Blocks for some seconds; panics where it does not start.
    pub fn start() -> Self {
        let mut process = Command::new(python())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/serve.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the model's server can be started");
        let output = process.stdout.take().expect("invariant: it is piped");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("ready ").map(str::to_owned));
        let small = Self { process, url: url.unwrap_or_default() };
        assert!(!small.url.is_empty(), "the small model's server did not start");
        small
    }

    /// What a bot takes for the base URL, with `/v1`.
    pub fn base_url(&self) -> &str {
        &self.url
    }

    /// What the model is called there.
    pub const fn model() -> &'static str {
        "smollm2"
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // One that is gone already is as good.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The Python in which it is installed; panics with what to do where it is not, or is another version.
fn python() -> PathBuf {
    let program = std::env::current_exe().expect("the test's own program");
    // The test's program is in `debug/deps` in the target folder.
    let place = program.ancestors().nth(3).unwrap_or(Path::new("")).join("small-model");
    let installed = std::fs::read_to_string(place.join("installed.txt")).unwrap_or_default();
    assert!(
        installed == REQUIREMENTS,
        "the small model of the tests is not installed in {}; run tests/fakes/model/install (tests/run does)",
        place.display()
    );
    place.join("venv/bin/python")
}

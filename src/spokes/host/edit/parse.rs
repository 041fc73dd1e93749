//! What must be true of a file after a change, by its kind: it parses. Errors name the kind and the line and never the
//! content, because a configuration holds secrets.

use std::path::Path;
use std::time::Duration;

use saphyr_parser::Parser;

use super::unit;
use crate::spokes::host::answer::Trouble;
use crate::spokes::host::exec::{self, Reaches, Run};
use crate::spokes::host::this_host::ThisHost;

/// How long a shell may take to read a script that it does not run.
const SHELL_LIMIT: Duration = Duration::from_secs(5);

/// The most that is taken of what a shell writes; with `-n` it writes nothing.
const SHELL_BYTES_MAX: u64 = 1_000;

/// What a file is, as far as it can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Yaml,
    Toml,
    Unit,
    Shell(&'static str),
    Unknown,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
            Self::Unit => "a systemd unit",
            Self::Shell("bash") => "a bash script",
            Self::Shell(_) => "a shell script",
            Self::Unknown => "text",
        }
    }

    fn of(path: &Path, content: &str) -> Self {
        let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().to_lowercase());
        let name = part(path.file_name()).unwrap_or_default();
        let folder = part(path.parent().and_then(Path::file_name)).unwrap_or_default();
        let extension = part(path.extension()).unwrap_or_default();
        match (extension.as_str(), shebang(content)) {
            ("json", _) => Self::Json,
            ("yaml" | "yml", _) => Self::Yaml,
            ("toml", _) => Self::Toml,
            _ if unit::is_one(&folder, &name) => Self::Unit,
            (_, Some("bash")) => Self::Shell("bash"),
            (_, Some("sh" | "dash")) | ("sh", None) => Self::Shell("sh"),
            _ => Self::Unknown,
        }
    }
}

/// The interpreter that a script's first line names, without its folder.
fn shebang(content: &str) -> Option<&str> {
    let line = content.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    match words.next()? {
        "env" => words.find(|word| !word.starts_with('-')),
        program => Some(program),
    }
}

/// Checks a content that a file is to have. The answer says as what it was checked, for people.
pub(super) async fn check(host: &ThisHost, path: &Path, content: &str) -> Result<String, Trouble> {
    let kind = Kind::of(path, content);
    let fault = match kind {
        Kind::Unknown => return Ok("not checked: this kind of file is not known here".to_owned()),
        Kind::Json => json(content),
        Kind::Yaml => yaml(content),
        Kind::Toml => toml(content),
        Kind::Unit => unit::faulty_line(content).map(Some),
        Kind::Shell(shell) => script(host, shell, content).await?,
    };
    let Some(line) = fault else { return Ok(format!("yes, as {}", kind.name())) };
    let place = line.map_or_else(|| "it does not parse".to_owned(), |line| format!("line {line} does not parse"));
    let message = format!("`{}` would not be valid: as {}, {place}", path.display(), kind.name());
    Err(Trouble::invalid("content", message))
}

/// What is wrong: a line, where it can be told. None where nothing is.
type Fault = Option<Option<usize>>;

fn json(content: &str) -> Fault {
    let error = serde_json::from_str::<serde_json::Value>(content).err()?;
    Some(Some(error.line()).filter(|line| *line > 0))
}

fn yaml(content: &str) -> Fault {
    let error = Parser::new_from_str(content).find_map(Result::err)?;
    Some(Some(error.marker().line()).filter(|line| *line > 0))
}

fn toml(content: &str) -> Fault {
    let error = toml::from_str::<toml::Table>(content).err()?;
    let before = error.span().and_then(|span| content.get(..span.start));
    Some(before.map(|before| before.matches('\n').count() + 1))
}

/// Lets the shell itself read the script, without running anything of it.
async fn script(host: &ThisHost, shell: &'static str, content: &str) -> Result<Fault, Trouble> {
    let input = exec::unnamed_file(content).map_err(|error| Trouble::reading("the script for its shell", error))?;
    let run = Run {
        program: shell,
        args: &["-n"],
        input: Some(input),
        reaches: Reaches::default(),
        limit: SHELL_LIMIT,
        output_bytes_max: SHELL_BYTES_MAX,
    };
    let outcome = exec::run(host, run).await?;
    Ok((outcome.code != Some(0)).then(|| line_of(&outcome.errors)))
}

/// The line that a shell complains about: `bash: line 3: ...` or `sh: 3: ...`.
fn line_of(errors: &str) -> Option<usize> {
    let first = errors.lines().next()?;
    let mut parts = first.split(": ").map(|part| part.trim_start_matches("line "));
    parts.find_map(|part| part.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_name_and_first_line() {
        let table = [
            ("/etc/a.json", "", Kind::Json),
            ("/etc/a.YML", "", Kind::Yaml),
            ("/etc/a.toml", "", Kind::Toml),
            ("/etc/systemd/system/a.timer", "", Kind::Unit),
            ("/etc/systemd/system/a.service.d/b.conf", "", Kind::Unit),
            ("/etc/a.sh", "echo", Kind::Shell("sh")),
            ("/etc/a.sh", "#!/bin/bash -e\n", Kind::Shell("bash")),
            ("/etc/init.d/a", "#! /bin/sh\n", Kind::Shell("sh")),
            ("/usr/bin/a", "#!/usr/bin/env -S bash -e\n", Kind::Shell("bash")),
            ("/usr/bin/a", "#!/bin/dash\n", Kind::Shell("sh")),
            ("/usr/bin/a.sh", "#!/usr/bin/zsh\n", Kind::Unknown),
            ("/usr/bin/a", "#!/usr/bin/python3\n", Kind::Unknown),
            ("/etc/motd", "hello", Kind::Unknown),
        ];
        for (path, content, expected) in table {
            assert_eq!(Kind::of(Path::new(path), content), expected, "{path} {content:?}");
        }
    }

    #[tokio::test]
    async fn what_does_not_parse_is_refused_with_its_line_and_without_its_content() {
        let host = ThisHost::detect().expect("Linux has a host name");
        let secret = "hunter2";
        let table = [
            ("/x/a.json", format!("{{\n  \"a\": {secret}\n}}\n"), "2"),
            ("/x/a.yaml", format!("a: 1\nb: [{secret}\nc: 3\n"), ""),
            ("/x/a.toml", format!("a = 1\nb = {secret}\n"), "2"),
            ("/x/a.service", format!("[Unit]\n{secret}\n"), "2"),
            ("/x/a.sh", format!("echo {secret}\nif true; then\nfi {secret}\n"), "3"),
            ("/x/a", format!("#!/bin/bash\necho {secret}\n)\n"), "3"),
        ];
        for (path, content, line) in table {
            let trouble = check(&host, Path::new(path), &content).await.expect_err(path);
            let message = &trouble.failure().message;
            assert!(message.contains(&format!("line {line}")) && message.ends_with("does not parse"), "{message}");
            assert!(!message.contains(secret) && trouble.failure().blocked, "{message}");
        }
        let sound = [
            ("/x/a.json", "[]", "yes, as JSON"),
            ("/x/a.yml", "a: [1, 2]\n---\nb: &x 1\nc: *x\n", "yes, as YAML"),
            ("/x/a.toml", "[a]\nb = 1\n", "yes, as TOML"),
            ("/x/a.socket", "[Socket]\nListenStream=80\n", "yes, as a systemd unit"),
            ("/x/a.sh", "rm -rf \"$HOME\"/never-run\n", "yes, as a shell script"),
            ("/x/a", "#!/usr/bin/env bash\n[[ a =~ (b) ]]\n", "yes, as a bash script"),
            ("/x/motd", "hello {", "not checked: this kind of file is not known here"),
        ];
        for (path, content, expected) in sound {
            assert_eq!(check(&host, Path::new(path), content).await.expect(path), expected);
        }
    }
}

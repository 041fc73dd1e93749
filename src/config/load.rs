//! Puts the sources in order and makes one configuration of them: command line over environment over `.env` over file over
//! default. The environment comes in as data; the process's own is never changed. I/O: reads the configuration file, `.env`
//! and the files that secrets are kept in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::Serialized;

use super::error::{ConfigError, Line, Problem};
use super::keys;
use super::secret::Secret;
use super::sections::Config;
use super::source::{Layer, Source, variable};

/// The file that is read where none is given.
const FILE: &str = "countersign.toml";
/// What every variable of ours begins with.
const PREFIX: &str = "COUNTERSIGN_";

/// A key given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// As it was typed: `--data`.
    pub flag: &'static str,
    /// The key it stands for: `store.data`.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// `--config`; unset: `countersign.toml` in the working directory, if it is there.
    pub file: Option<PathBuf>,
    /// The environment; what does not begin with `COUNTERSIGN_` is passed over.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// From the command line.
    pub overrides: Vec<Override>,
}

impl LoadOptions {
    /// This process's environment and working directory. Fails where the working directory is gone.
    pub fn from_process(file: Option<PathBuf>, overrides: Vec<Override>) -> std::io::Result<Self> {
        Ok(Self { file, env: std::env::vars_os().collect(), cwd: std::env::current_dir()?, overrides })
    }
}

impl Config {
    /// Reads, merges and checks everything, and reads the files that secrets are kept in.
    pub fn load(options: &LoadOptions) -> Result<Self, ConfigError> {
        let sources = Sources::read(options)?;
        let mut config = sources.merge()?;
        sources.resolve_paths(&mut config);
        sources.choose_secrets(&mut config)?;
        config.add_built_in_spokes();
        config.validate().map_err(|problem| sources.locate(&problem))?;
        Ok(config)
    }
}

/// In their order, the weakest first.
struct Sources(Vec<Source>);

impl Sources {
    fn read(options: &LoadOptions) -> Result<Self, ConfigError> {
        let known = keys::known();
        let cwd = &options.cwd;
        let mut sources = Vec::new();
        if let Some(file) = file_to_read(options) {
            sources.push(Source::file(&file, cwd, &known)?);
        }
        for (name, value) in read_dot_env(cwd)? {
            let shown = format!(".env: {name}");
            sources.extend(from_variable(Layer::DotEnv, &name, &shown, &value, cwd, &known)?);
        }
        for (name, value) in &options.env {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            let value = value.to_str().ok_or_else(|| not_utf8(name))?;
            sources.extend(from_variable(Layer::Environment, name, name, value, cwd, &known)?);
        }
        for Override { flag, key, value } in &options.overrides {
            sources.push(Source::single(Layer::CommandLine, flag, key, value, cwd, &known)?);
        }
        Ok(Self(sources))
    }

    fn merge(&self) -> Result<Config, ConfigError> {
        let merge = |figment: Figment, source: &Source| figment.merge(Serialized::defaults(&source.table));
        let merged = self.0.iter().fold(Figment::new(), merge);
        // Each source was read alone before, so that this fails only where two of them disagree about a key's shape.
        merged.extract().map_err(|error| {
            self.locate(&Problem::new(error.path.join("."), "does not fit together with what another source gives"))
        })
    }

    /// The source whose value of this key counts, or of the nearest key below it.
    fn origin(&self, key: &str) -> Option<&Source> {
        self.0.iter().rev().find(|source| source.gives(key))
    }

    fn locate(&self, Problem { key, problem }: &Problem) -> ConfigError {
        let default = || ConfigError::Value {
            origin: "default".to_owned(),
            key: key.clone(),
            line: Line(None),
            problem: problem.clone(),
        };
        self.origin(key).map_or_else(default, |source| source.value_error(key, problem))
    }

    /// A path in a file is relative to that file, elsewhere to the working directory.
    fn resolve_paths(&self, config: &mut Config) {
        for (key, path) in config.paths_mut() {
            if let Some(source) = self.origin(&key) {
                *path = source.base.join(&path);
            }
        }
    }

    /// The secrets, each given itself or in a file of its own.
    fn choose_secrets(&self, config: &mut Config) -> Result<(), ConfigError> {
        let store = &mut config.store;
        self.choose_secret("store.url", &mut store.url, &mut store.url_file)?;
        self.choose_secret("store.seal_key", &mut store.seal_key, &mut store.seal_key_file)?;
        self.is_out_of_sight("store.seal_key", store.seal_key.is_some().then_some("is a secret"))?;
        let holds_password = config.store.has_password().then_some("holds a password");
        self.is_out_of_sight("store.url", holds_password)?;
        let model = &mut config.model;
        self.choose_secret("model.api_key", &mut model.api_key, &mut model.api_key_file)?;
        self.is_out_of_sight("model.api_key", model.api_key.is_some().then_some("is a secret"))?;
        let discord = &mut config.discord;
        self.choose_secret("discord.token", &mut discord.token, &mut discord.token_file)?;
        self.is_out_of_sight("discord.token", discord.token.is_some().then_some("is a secret"))?;
        let matrix = &mut config.matrix;
        self.choose_secret("matrix.password", &mut matrix.password, &mut matrix.password_file)?;
        self.choose_secret("matrix.recovery_key", &mut matrix.recovery_key, &mut matrix.recovery_key_file)?;
        self.is_out_of_sight("matrix.password", matrix.password.is_some().then_some("is a secret"))?;
        self.is_out_of_sight("matrix.recovery_key", matrix.recovery_key.is_some().then_some("is a secret"))?;
        let telegram = &mut config.telegram;
        self.choose_secret("telegram.token", &mut telegram.token, &mut telegram.token_file)?;
        self.is_out_of_sight("telegram.token", telegram.token.is_some().then_some("is a secret"))?;
        self.choose_credentials(config)
    }

    /// `KEY` and `KEY_file` are two ways to say one thing: the stronger source wins.
    fn choose_secret(
        &self,
        key: &str,
        secret: &mut Option<Secret>,
        in_file: &mut Option<PathBuf>,
    ) -> Result<(), ConfigError> {
        let file_key = format!("{key}_file");
        self.choose_one((key, secret), (&file_key, in_file))?;
        if let (Some(path), Some(file)) = (in_file.as_ref(), self.origin(&file_key)) {
            *secret = Some(read_secret(path).map_err(|problem| file.value_error(&file_key, problem))?);
        }
        Ok(())
    }

    /// The credentials, whose files are read when they are loaded.
    fn choose_credentials(&self, config: &mut Config) -> Result<(), ConfigError> {
        for (name, credential) in &mut config.credentials {
            let (key, file_key) = (format!("credentials.{name}.value"), format!("credentials.{name}.file"));
            self.choose_one((&key, &mut credential.value), (&file_key, &mut credential.file))?;
            self.is_out_of_sight_or_in((&key, &file_key), credential.value.is_some().then_some("is a secret"))?;
        }
        Ok(())
    }

    /// Drops what the stronger of two sources replaces.
    fn choose_one(
        &self,
        (key, secret): (&str, &mut Option<Secret>),
        (file_key, in_file): (&str, &mut Option<PathBuf>),
    ) -> Result<(), ConfigError> {
        if let (Some(itself), Some(file)) = (self.origin(key), self.origin(file_key)) {
            if itself.layer == file.layer {
                let problem = format!("is given together with `{file_key}`; give one of them");
                return Err(itself.value_error(key, problem));
            }
            if itself.layer > file.layer { *in_file = None } else { *secret = None }
        }
        Ok(())
    }

    /// A secret stands in neither the file nor the command line, which other people read (CFG-05). `why` says that it is
    /// one.
    fn is_out_of_sight(&self, key: &str, why: Option<&str>) -> Result<(), ConfigError> {
        self.is_out_of_sight_or_in((key, &format!("{key}_file")), why)
    }

    fn is_out_of_sight_or_in(&self, (key, file_key): (&str, &str), why: Option<&str>) -> Result<(), ConfigError> {
        let in_sight = |source: &&Source| matches!(source.layer, Layer::File | Layer::CommandLine);
        let beaten =
            self.origin(file_key).zip(self.origin(key)).is_some_and(|(file, itself)| file.layer > itself.layer);
        match (why, self.origin(key).filter(in_sight).filter(|_| !beaten)) {
            (Some(why), Some(source)) => {
                let fix = format!("give it as {} or in a file named by `{file_key}`", variable(key));
                Err(source.value_error(key, format!("{why}; {fix}")))
            }
            _ => Ok(()),
        }
    }
}

fn file_to_read(options: &LoadOptions) -> Option<PathBuf> {
    // Only what is not there is passed over: a link that leads nowhere, or a file that is not ours, is an error to show.
    let found = options.cwd.join(FILE).symlink_metadata();
    let absent = found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    options.file.clone().or_else(|| (!absent).then(|| PathBuf::from(FILE)))
}

/// A secret is the file's text without the line end that editors add.
fn read_secret(path: &Path) -> Result<Secret, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("names {}, which cannot be read: {error}", path.display()))?;
    match text.trim() {
        "" => Err(format!("names {}, which is empty", path.display())),
        secret => Ok(Secret::new(secret)),
    }
}

/// Our variables in `.env`. Lines of others' that cannot be read are passed over; no line is shown, it may hold a secret.
fn read_dot_env(cwd: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let name = PathBuf::from(".env");
    let lines = match dotenvy::from_path_iter(cwd.join(&name)) {
        Ok(lines) => lines,
        Err(error) if error.not_found() => return Ok(Vec::new()),
        Err(error) => return Err(ConfigError::unreadable(&name, &std::io::Error::other(error))),
    };
    let mut variables = Vec::new();
    for line in lines {
        match line {
            Ok((name, value)) if name.starts_with(PREFIX) => variables.push((name, value)),
            Err(dotenvy::Error::LineParse(line, _)) if line.contains(PREFIX) => {
                return Err(unreadable_line(&name, &line));
            }
            Err(dotenvy::Error::Io(error)) => return Err(ConfigError::unreadable(&name, &error)),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(variables)
}

fn unreadable_line(file: &Path, line: &str) -> ConfigError {
    let variable = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| word.starts_with(PREFIX));
    let problem =
        format!("the line of {} cannot be read; put its value in single quotes", variable.unwrap_or("a variable"));
    ConfigError::File { origin: file.display().to_string(), line: Line(None), problem }
}

fn not_utf8(name: &str) -> ConfigError {
    let problem = "is not UTF-8; give it as plain text".to_owned();
    ConfigError::File { origin: name.to_owned(), line: Line(None), problem }
}

/// A variable as a source; none where the name is not meant for us.
fn from_variable(
    layer: Layer,
    name: &str,
    shown: &str,
    value: &str,
    cwd: &Path,
    known: &[String],
) -> Result<Option<Source>, ConfigError> {
    let Some(rest) = name.strip_prefix(PREFIX).filter(|_| !from_kubernetes(name)) else { return Ok(None) };
    let key = rest.to_lowercase().replace("__", ".");
    // A key without its section is the likeliest slip (one underscore for two), and an empty part is no name.
    if !key.contains('.') || key.split('.').any(str::is_empty) {
        return Err(Source::unknown(layer, shown, &key, Line(None), known));
    }
    Source::single(layer, shown, &key, value, cwd, known).map(Some)
}

/// Kubernetes gives every pod such variables for a service that is called `countersign`.
fn from_kubernetes(name: &str) -> bool {
    ["COUNTERSIGN_SERVICE_HOST", "COUNTERSIGN_PORT"].contains(&name)
        || ["COUNTERSIGN_SERVICE_PORT", "COUNTERSIGN_PORT_"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests;

//! One structure per section of `countersign.toml`: its keys, their defaults and what each refuses. `config/reference.toml`
//! says the same to the operator, and a test holds the two together. Reading and merging is `load.rs`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::budget::Budget;
use super::credentials::CredentialConfig;
use super::data;
use super::database;
use super::discord::Discord;
use super::error::{ConfigError, Problem};
use super::matrix::Matrix;
use super::model::Model;
use super::rates::Rates;
use super::secret::Secret;
use super::spokes::{BUILT_IN, Egress, Run, Spoke};
use super::telegram::Telegram;
use crate::store::{SealKey, StoreError, sqlite_url};

/// Everything that can be configured. Serialised it is safe to show: secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where state is kept.
    pub store: Store,
    /// What is logged.
    pub log: Log,
    /// Who may scrape metrics.
    pub metrics: Metrics,
    /// What bounds one request and one thread.
    pub limits: Limits,
    /// Where tools and commands may send anything.
    pub egress: Egress,
    /// How commands run.
    pub run: Run,
    /// How much of the bot somebody may have.
    pub rates: Rates,
    /// How many tokens and how much money may be used a day.
    pub budget: Budget,
    /// The credentials of the tool servers, by name.
    pub credentials: BTreeMap<String, CredentialConfig>,
    /// Tool servers by name. The built-in ones of this build are always in it.
    pub spokes: BTreeMap<String, Spoke>,
    /// The team's own intents.
    pub intents: Intents,
    /// The team's own places of high risk.
    pub places: Places,
    /// What commands of the team's own do.
    pub commands: Commands,
    /// The team's own tool declarations.
    pub tools: Tools,
    /// Who may what.
    pub access: Access,
    /// The language models.
    pub model: Model,
    /// The bot's account on Discord.
    pub discord: Discord,
    /// The bot's account on Matrix.
    pub matrix: Matrix,
    /// The bot's account on Telegram.
    pub telegram: Telegram,
}

impl Default for Config {
    fn default() -> Self {
        let mut config = Self {
            store: Store::default(),
            log: Log::default(),
            metrics: Metrics::default(),
            limits: Limits::default(),
            egress: Egress::default(),
            run: Run::default(),
            rates: Rates::default(),
            budget: Budget::default(),
            credentials: BTreeMap::new(),
            spokes: BTreeMap::new(),
            intents: Intents::default(),
            places: Places::default(),
            commands: Commands::default(),
            tools: Tools::default(),
            access: Access::default(),
            model: Model::default(),
            discord: Discord::default(),
            matrix: Matrix::default(),
            telegram: Telegram::default(),
        };
        config.add_built_in_spokes();
        config
    }
}

impl Config {
    /// Puts in the spokes that come with this build and that nobody mentioned.
    pub(super) fn add_built_in_spokes(&mut self) {
        for (name, _) in BUILT_IN.iter().filter(|(_, in_build)| *in_build) {
            self.spokes.entry((*name).to_owned()).or_default();
        }
    }

    /// The first value that its section refuses. No I/O.
    pub(super) fn validate(&self) -> Result<(), Problem> {
        self.store.validate()?;
        self.log.validate()?;
        self.metrics.validate()?;
        self.limits.validate()?;
        self.egress.destinations()?;
        self.rates.validate()?;
        self.budget.budgets()?;
        self.model.validate(cfg!(feature = "model"))?;
        self.discord.validate(cfg!(feature = "discord"))?;
        self.matrix.validate(cfg!(feature = "matrix"))?;
        self.telegram.validate(cfg!(feature = "telegram"))?;
        self.credentials.iter().try_for_each(|(name, credential)| credential.validate(name))?;
        let known: Vec<&str> = self.credentials.keys().map(String::as_str).collect();
        self.spokes.iter().try_for_each(|(name, spoke)| spoke.validate(name, BUILT_IN, &known))
    }

    /// Where the data is kept: `store.data`, or the platform's own place. Reads HOME where the key is unset.
    pub fn data_dir(&self) -> Result<PathBuf, ConfigError> {
        self.store.data.clone().map_or_else(data::default_dir, Ok)
    }

    /// The keys that hold a path: the loader knows what each is relative to, and all of them name what belongs to the bot.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = (String, &mut PathBuf)> {
        let credentials = self.credentials.iter_mut();
        let credentials = credentials.map(|(name, one)| (format!("credentials.{name}.file"), one.file.as_mut()));
        let sections = [
            ("store.data", self.store.data.as_mut()),
            ("store.url_file", self.store.url_file.as_mut()),
            ("store.seal_key_file", self.store.seal_key_file.as_mut()),
            ("intents.file", self.intents.file.as_mut()),
            ("commands.file", self.commands.file.as_mut()),
            ("places.file", self.places.file.as_mut()),
            ("tools.dir", self.tools.dir.as_mut()),
            ("access.file", self.access.file.as_mut()),
            ("access.policies", self.access.policies.as_mut()),
            ("model.api_key_file", self.model.api_key_file.as_mut()),
            ("discord.token_file", self.discord.token_file.as_mut()),
            ("matrix.password_file", self.matrix.password_file.as_mut()),
            ("matrix.recovery_key_file", self.matrix.recovery_key_file.as_mut()),
            ("telegram.token_file", self.telegram.token_file.as_mut()),
        ];
        let sections = sections.into_iter().map(|(key, path)| (key.to_owned(), path));
        sections.chain(credentials).filter_map(|(key, path)| path.map(|path| (key, path)))
    }

    /// Every secret in it, whole, in parts and as other texts write it: what the mask has to know.
    pub fn secrets(&self) -> Vec<String> {
        let database = self.store.url.as_ref().map(|url| database::secrets_in(url.expose())).unwrap_or_default();
        let (discord, matrix, telegram) = (&self.discord, &self.matrix, &self.telegram);
        let tokens = [
            &self.store.seal_key,
            &self.model.api_key,
            &discord.token,
            &matrix.password,
            &matrix.recovery_key,
            &telegram.token,
        ];
        let credentials = self.credentials.values().map(|credential| &credential.value);
        let tokens = tokens.into_iter().chain(credentials).flatten().map(|token| token.expose().to_owned());
        database.into_iter().chain(tokens).collect()
    }
}

/// Where state is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// The database: `sqlite:` or `postgres://`. Unset: `SQLite` in the data directory. With a password in it it is a secret,
    /// and is refused from the file and from the command line.
    pub url: Option<Secret>,
    /// A file that holds the URL. Unset by default; not together with `url`.
    pub url_file: Option<PathBuf>,
    /// The key of the seals (64 hexadecimal digits). Unset: `seal.key` in the data directory, made at the first start. It is
    /// a secret, and is refused from the file and from the command line.
    pub seal_key: Option<Secret>,
    /// A file that holds the key. Unset by default; not together with `seal_key`.
    pub seal_key_file: Option<PathBuf>,
    /// The data directory. Unset: the platform's own place. `--data` is the same key.
    pub data: Option<PathBuf>,
}

impl Store {
    /// The database to open.
    pub fn database_url(&self, data: &Path) -> Result<Secret, StoreError> {
        match &self.url {
            Some(url) => Ok(url.clone()),
            None => Ok(Secret::new(sqlite_url(&data.join("countersign.db"))?)),
        }
    }

    /// Whether the URL holds a password.
    pub(super) fn has_password(&self) -> bool {
        self.url.as_ref().is_some_and(|url| database::password_in(url.expose()).is_some())
    }

    fn validate(&self) -> Result<(), Problem> {
        if self.seal_key.as_ref().is_some_and(|key| SealKey::parse(key.expose()).is_none()) {
            let key = if self.seal_key_file.is_some() { "store.seal_key_file" } else { "store.seal_key" };
            return Err(Problem::new(key, "must give 64 hexadecimal digits, as `openssl rand -hex 32` prints"));
        }
        let Some(url) = &self.url else { return Ok(()) };
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if known.iter().any(|scheme| url.expose().starts_with(scheme)) {
            return Ok(());
        }
        let key = if self.url_file.is_some() { "store.url_file" } else { "store.url" };
        Err(Problem::new(key, "must give a URL that begins with `sqlite:` or `postgres://`"))
    }
}

/// What is logged, always to standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `text` for people, `json` for machines: one object a line. Default `text`.
    pub format: LogFormat,
    /// A level, or several `target=level` separated by commas. Unset: `info`, and `warn` where a person sits at the
    /// console, so that the conversation stays readable.
    pub level: Option<String>,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

/// What libraries write of what is no trouble of ours: matrix-sdk calls each 404 an error that it has asked for itself, and
/// what counts of them the adapter says.
const LIBRARIES: &str =
    "matrix_sdk::http_client=off,matrix_sdk_crypto=error,matrix_sdk_base=error,matrix_sdk=error,sqlx=warn";

impl Log {
    /// The filter to log by. `interactive`: a person sits at the console and reads the same terminal. An error is to be read
    /// after the key's name.
    pub fn filter(&self, interactive: bool) -> Result<EnvFilter, String> {
        let level = self.level.as_deref().unwrap_or(if interactive { "warn" } else { "info" });
        let fix = "write error, warn, info, debug, trace or off, or `target=level` separated by commas";
        // EnvFilter takes a bare word that is no level for a target, so that `inof` would silence everything else.
        let levels = ["error", "warn", "info", "debug", "trace", "off"];
        let is_level = |word: &str| levels.iter().any(|level| word.eq_ignore_ascii_case(level));
        let stray = level.split(',').find(|part| !part.contains(['=', '[', ']', '{', '}']) && !is_level(part.trim()));
        if let Some(stray) = stray {
            return Err(format!("has `{}`, which is not a level; {fix}", stray.trim()));
        }
        // Every statement of the database is nobody's question; who wants them can still name `sqlx`.
        EnvFilter::builder()
            .parse(format!("{LIBRARIES},{level}"))
            .map_err(|error| format!("is not a filter ({error}); {fix}"))
    }

    fn validate(&self) -> Result<(), Problem> {
        self.filter(false).map(drop).map_err(|problem| Problem::new("log.level", problem))
    }
}

/// Who may scrape metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// Address and port of the Prometheus endpoint. Unset: nothing listens.
    pub listen: Option<SocketAddr>,
    /// Whether `listen` may be an address that other machines reach. The endpoint asks nobody who they are. Default false.
    pub allow_remote: bool,
}

impl Metrics {
    fn validate(&self) -> Result<(), Problem> {
        match self.listen {
            Some(address) if !address.ip().is_loopback() && !self.allow_remote => Err(Problem::new(
                "metrics.listen",
                format!(
                    "is {address}, which other machines may reach; use 127.0.0.1:{} or set `metrics.allow_remote = true`",
                    address.port()
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// What bounds one request and one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns of one request. Default 20.
    pub turns: u32,
    /// Signals that wait in one thread's queue. Default 64.
    pub queue: u32,
    /// Seconds one request may take. Default 120.
    pub request_seconds: u32,
    /// Minutes for which a resource counts as recently used. Default 15.
    pub recently_minutes: u32,
    /// Routes of repeated questions that are kept. Default 1000.
    pub exact_routes: u32,
    /// Minutes for which a plan can be countersigned. Default 15.
    pub plan_minutes: u32,
    /// Seconds within which a tool server must begin a countersigned change. Default 5, at most 10 (DESIGN.md section 2).
    pub permit_seconds: u32,
    /// Hours for which an answer is tried where its platform cannot be reached. A card is tried until its plan has ended.
    /// Default 24.
    pub delivery_hours: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 20,
            queue: 64,
            request_seconds: 120,
            recently_minutes: 15,
            exact_routes: 1000,
            plan_minutes: 15,
            permit_seconds: 5,
            delivery_hours: 24,
        }
    }
}

impl Limits {
    /// Zero would stop the bot without a word, and what is far too large is no bound, so that both are refused.
    fn validate(&self) -> Result<(), Problem> {
        let bounds = [
            ("turns", self.turns, 200),
            ("queue", self.queue, 10_000),
            ("request_seconds", self.request_seconds, 3600),
            ("recently_minutes", self.recently_minutes, 1440),
            ("exact_routes", self.exact_routes, 100_000),
            ("plan_minutes", self.plan_minutes, 1440),
            ("permit_seconds", self.permit_seconds, 10),
            ("delivery_hours", self.delivery_hours, 720),
        ];
        match bounds.into_iter().find(|(_, value, max)| !(1..=*max).contains(value)) {
            None => Ok(()),
            Some((key, value, max)) => {
                Err(Problem::new(format!("limits.{key}"), format!("must be from 1 to {max}, not {value}")))
            }
        }
    }
}

/// The team's own intents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Intents {
    /// A file of intents, added to the built-in ones. Unset by default.
    pub file: Option<PathBuf>,
}

/// What commands of the team's own do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// A file of command tables, added to the built-in ones. Unset by default.
    pub file: Option<PathBuf>,
}

/// The team's own places of high risk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// A file of places, added to the built-in ones. Unset by default.
    pub file: Option<PathBuf>,
}

/// The team's own tool declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tools {
    /// A directory of tool declarations, added to the built-in ones. Unset by default.
    pub dir: Option<PathBuf>,
}

/// Who may what. What the files say is read and checked by the room of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// The access file: people, groups, services, environments, rooms. Unset by default: nobody may anything on a chat
    /// platform.
    pub file: Option<PathBuf>,
    /// A directory of Cedar policies, added to the shipped ones. Unset by default.
    pub policies: Option<PathBuf>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::config) fn said(result: Result<(), Problem>) -> String {
        let problem = result.expect_err("it must be refused");
        format!("`{}` {}", problem.key, problem.problem)
    }

    #[test]
    fn a_level_that_is_none_is_refused_instead_of_silencing_the_log() {
        let log = |level: &str| Log { level: Some(level.to_owned()), ..Log::default() };
        for sound in ["info", "WARN", "warn,countersign=debug", "off", "[request{id=x}]=trace,info"] {
            assert!(log(sound).filter(false).is_ok(), "{sound}");
        }
        insta::assert_snapshot!(said(log("inof").validate()), @"`log.level` has `inof`, which is not a level; write error, warn, info, debug, trace or off, or `target=level` separated by commas");
        assert!(said(log("countersign=loud").validate()).starts_with("`log.level` is not a filter ("));
        let default = Log::default();
        assert_eq!(default.filter(false).map(|filter| filter.to_string()), Ok(format!("{LIBRARIES},info")));
        assert_eq!(default.filter(true).map(|filter| filter.to_string()), Ok(format!("{LIBRARIES},warn")));
        assert_eq!(log("debug").filter(true).map(|filter| filter.to_string()), Ok(format!("{LIBRARIES},debug")));
    }

    #[test]
    fn metrics_stay_on_this_machine_unless_told_otherwise() {
        let listen = |address: &str| Metrics { listen: address.parse().ok(), allow_remote: false };
        assert_eq!(listen("127.0.0.1:9464").validate(), Ok(()));
        assert_eq!(listen("[::1]:9464").validate(), Ok(()));
        insta::assert_snapshot!(said(listen("0.0.0.0:9464").validate()),
            @"`metrics.listen` is 0.0.0.0:9464, which other machines may reach; use 127.0.0.1:9464 or set `metrics.allow_remote = true`");
        assert_eq!(Metrics { allow_remote: true, ..listen("0.0.0.0:9464") }.validate(), Ok(()));
    }

    #[test]
    fn a_limit_of_nothing_or_of_everything_is_refused() {
        assert_eq!(Limits::default().validate(), Ok(()));
        insta::assert_snapshot!(said(Limits { queue: 0, ..Limits::default() }.validate()),
            @"`limits.queue` must be from 1 to 10000, not 0");
        insta::assert_snapshot!(said(Limits { request_seconds: 3601, ..Limits::default() }.validate()),
            @"`limits.request_seconds` must be from 1 to 3600, not 3601");
    }
}

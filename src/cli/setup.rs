//! What several subcommands need before anything starts: the configuration, what is declared, and the world that every
//! step looks at. Whatever is wrong is found out here.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use anyhow::Context;
use countersign_core::answer::{Claims, Errors};
use countersign_core::approval::Places;
use countersign_core::command::Tables;
use countersign_core::env::Limits;
use countersign_core::mind::Minds;
use countersign_core::port::Rights;
use countersign_core::route::{ExactRoutes, Intents};
use countersign_core::secrets::Mask;
use countersign_core::tool::Registry;

use super::RunArgs;
use super::own::{Own, OwnPlaces};
use crate::access::{Declared, Rates, Sources, WhoIs};
use crate::config::{Config, LoadOptions, Override};
use crate::engine::{SpokesView, World};
use crate::telemetry;
use crate::vault::Credentials;

/// The built-in declarations: part of the program, so that it runs from anywhere.
const TOOLS: [(&str, &str); 1] = [("config/tools/host.toml", include_str!("../../config/tools/host.toml"))];
const ERRORS: (&str, &str) = ("config/errors.toml", include_str!("../../config/errors.toml"));
const CLAIMS: (&str, &str) = ("config/claims.toml", include_str!("../../config/claims.toml"));
const PLACES: (&str, &str) = ("config/places.toml", include_str!("../../config/places.toml"));
const INTENTS: (&str, &str) = ("config/intents.toml", include_str!("../../config/intents.toml"));

/// Everything that was found in order.
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) data_dir: PathBuf,
    /// What belongs to the bot itself.
    pub(super) own: Own,
    pub(super) mask: Arc<Mask>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) registry: Arc<Registry>,
    pub(super) intents: Intents,
    pub(super) commands: Tables,
    places: Places,
}

/// The configuration that these arguments lead to, and what it was read with. Reads files.
pub(super) fn configuration(args: &RunArgs) -> anyhow::Result<(Config, LoadOptions)> {
    let data = args.data.as_ref().map(|data| Override {
        flag: "--data",
        key: "store.data",
        value: data.to_string_lossy().into_owned(),
    });
    let options = LoadOptions::from_process(args.config.clone(), data.into_iter().collect())
        .context("failed to find the working directory")?;
    Ok((Config::load(&options)?, options))
}

/// Where rights come from.
pub(super) fn access_sources(config: &Config, registry: &Registry) -> Sources {
    let (file, policies) = (config.access.file.clone(), config.access.policies.clone());
    Sources { file, policies, declared: Declared::new(registry) }
}

impl Setup {
    /// Reads the configuration and everything that it names, and begins to log. `talks_here`: whether what is said comes out
    /// here, and on no chat platform. Reads files, starts nothing.
    pub(super) fn read(args: &RunArgs, talks_here: impl Fn(&Config) -> bool) -> anyhow::Result<Self> {
        let (config, options) = configuration(args)?;
        let credentials = Arc::new(Credentials::load(&config.credentials));
        let secrets = config.secrets().into_iter().chain(credentials.values().map(str::to_owned));
        let mask = Arc::new(Mask::new(secrets));
        let interactive = is_interactive(talks_here(&config), std::io::stderr().is_terminal(), args.json);
        telemetry::start(&config.log, interactive, Arc::clone(&mask))?;
        let registry = Arc::new(load_tools(&config)?);
        let intents = load_intents(&config, &registry)?;
        let commands = load_commands(config.commands.file.as_deref())?;
        let places = load_places(&config)?;
        let data_dir = config.data_dir()?;
        let config_file = args.config.clone().unwrap_or_else(|| options.cwd.join("countersign.toml"));
        let own = OwnPlaces { config: &config, config_file, cwd: &options.cwd, data: &data_dir };
        let own = Own::collect(&own)?;
        Ok(Self { config, data_dir, own, mask, credentials, registry, intents, commands, places })
    }

    /// The world, for these rights and the people that they know.
    pub(super) fn world(&self, rights: Box<dyn Rights>, people: Box<dyn WhoIs>, spokes: SpokesView) -> World {
        let budgets = self.config.budget.budgets().expect("invariant: a configuration is validated when it is loaded");
        let limits = &self.config.limits;
        let routes = usize::try_from(limits.exact_routes).unwrap_or(ExactRoutes::ROUTES_MAX);
        let rates = Rates::new(&self.config.rates, people);
        let credentials = Arc::clone(&self.credentials);
        World {
            limits: Limits {
                turns_max: limits.turns,
                request_ms_max: u64::from(limits.request_seconds) * 1000,
                recently_ms: u64::from(limits.recently_minutes) * 60_000,
                plan_ms_max: u64::from(limits.plan_minutes) * 60_000,
                permit_ms: u64::from(limits.permit_seconds) * 1000,
                egress: self.config.egress.destinations().expect("invariant: it is validated when it is loaded"),
            },
            budgets,
            own: self.own.deployment(&machine_name()),
            places: self.places.clone(),
            vault: Box::new(move || credentials.look()),
            mask: Arc::clone(&self.mask),
            commands: self.commands.clone(),
            spokes,
            exact: RwLock::new(ExactRoutes::new(routes)),
            minds: Minds { fast: self.config.model.fast.clone(), smart: self.config.model.smart.clone() },
            claims: Claims::load(CLAIMS.1).unwrap_or_else(|problem| panic!("invariant: {}: {problem}", CLAIMS.0)),
            errors: Errors::load(ERRORS.1).unwrap_or_else(|problem| panic!("invariant: {}: {problem}", ERRORS.0)),
            ..World::new(Arc::clone(&self.registry), self.intents.clone(), rights, rates)
        }
    }
}

/// The name of this machine, as its tool server says it.
pub(super) fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Whether log lines would stand in the middle of a conversation that a person reads: at a terminal, or as text in a pipe.
fn is_interactive(talks_here: bool, terminal: bool, json: bool) -> bool {
    talks_here && (terminal || !json)
}

/// The built-in declarations, and the team's own. Reads files.
pub(super) fn load_tools(config: &Config) -> anyhow::Result<Registry> {
    let mut files: Vec<(String, String)> =
        TOOLS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    if let Some(dir) = &config.tools.dir {
        files.extend(tool_files(dir)?);
    }
    let files = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Ok(Registry::load(files)?)
}

fn tool_files(dir: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let listed = std::fs::read_dir(dir).with_context(|| format!("tools.dir: cannot list {}", dir.display()))?;
    let mut paths: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| Ok((path.display().to_string(), read("tools.dir", &path)?))).collect()
}

fn load_intents(config: &Config, registry: &Registry) -> anyhow::Result<Intents> {
    let mut files = Vec::new();
    if let Some(file) = &config.intents.file {
        files.push((file.display().to_string(), read("intents.file", file)?));
    }
    // The team's own come first, so that they may be more particular than the built-in ones.
    files.push((INTENTS.0.to_owned(), INTENTS.1.to_owned()));
    Ok(Intents::load(files.iter().map(|(name, text)| (name.as_str(), text.as_str())), registry)?)
}

/// The places in which a change is of high risk, with the team's own where it has some. Reads a file.
fn load_places(config: &Config) -> anyhow::Result<Places> {
    let own = match &config.places.file {
        Some(file) => Some((file.display().to_string(), read("places.file", file)?)),
        None => None,
    };
    let files = std::iter::once(PLACES).chain(own.as_ref().map(|(name, text)| (name.as_str(), text.as_str())));
    Places::load(files).map_err(anyhow::Error::msg)
}

/// The command tables, with the team's own where it has some.
pub(super) fn load_commands(file: Option<&Path>) -> anyhow::Result<Tables> {
    let Some(file) = file else {
        return Ok(Tables::default());
    };
    let text = read("commands.file", file)?;
    Tables::with(&text).with_context(|| format!("commands.file: {}", file.display()))
}

fn read(key: &str, path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{key}: cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_along_only_where_it_talks_here() {
        let (here, elsewhere) = (true, false);
        let table = [
            ((here, true, false), true),
            ((here, true, true), true),
            ((here, false, false), true),
            ((here, false, true), false),
            ((elsewhere, true, false), false),
            ((elsewhere, false, false), false),
        ];
        for ((talks_here, terminal, json), expected) in table {
            assert_eq!(is_interactive(talks_here, terminal, json), expected, "{talks_here} {terminal} {json}");
        }
    }
}

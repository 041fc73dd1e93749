//! `countersign`: puts everything together and runs it. Everything that can be wrong is found out before anything is
//! started.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use anyhow::Context;
use countersign_core::env::{Limits, OwnDeployment, SpokeStatus, Vault};
use countersign_core::port::Ended;
use countersign_core::route::{ExactRoutes, Intents};
use countersign_core::secrets::Mask;
use countersign_core::tool::Registry;
use tokio_util::sync::CancellationToken;

use super::{Failed, RunArgs};
use crate::access::{ConsoleOwner, OsUser};
use crate::clock::fresh_id;
use crate::config::{Config, DataLock, LoadOptions, Override, lock_data_dir};
use crate::engine::{Engine, Parts, World};
use crate::store::Store;
use crate::telemetry;
use crate::tools::{SpokeConfig, SpokeHealth, SpokeState, Spokes};
use crate::wire::{ConsoleWiring, Wired, wire};

/// The built-in declarations: part of the program, so that it runs from anywhere.
const TOOLS: [(&str, &str); 1] = [("config/tools/host.toml", include_str!("../../config/tools/host.toml"))];
const INTENTS: (&str, &str) = ("config/intents.toml", include_str!("../../config/intents.toml"));

/// How long a tool server may take to start.
const SPOKE_START_LIMIT: Duration = Duration::from_secs(10);

/// Everything that was found in order, and nothing that runs yet.
struct Prepared {
    config: Config,
    own: Vec<PathBuf>,
    lock: DataLock,
    mask: Arc<Mask>,
    registry: Arc<Registry>,
    intents: Intents,
    spokes: Arc<Spokes>,
    user: OsUser,
    machine: String,
}

/// Runs until the input is over or somebody asks to stop.
pub(super) fn run(args: &RunArgs) -> Result<(), Failed> {
    let prepared = prepare(args).map_err(Failed::Usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let done = runtime.block_on(start(args, prepared));
    // The console's reader may still wait for a key; nobody waits for it.
    runtime.shutdown_background();
    done
}

fn prepare(args: &RunArgs) -> anyhow::Result<Prepared> {
    let data = args.data.as_ref().map(|data| Override {
        flag: "--data",
        key: "store.data",
        value: data.to_string_lossy().into_owned(),
    });
    let options = LoadOptions::from_process(args.config.clone(), data.into_iter().collect())
        .context("failed to find the working directory")?;
    let config = Config::load(&options)?;
    let mask = Arc::new(Mask::new(config.secrets()));
    let interactive = std::io::stderr().is_terminal() || !args.json;
    telemetry::start(&config.log, interactive, Arc::clone(&mask))?;
    let registry = Arc::new(load_tools(&config)?);
    let intents = load_intents(&config, &registry)?;
    let data_dir = config.data_dir()?;
    let config_file = args.config.clone().or_else(|| Some(options.cwd.join("countersign.toml")));
    let own = own_paths(&config, config_file, &data_dir);
    let spokes = Arc::new(Spokes::new(spoke_configs(&config, &own)?, &registry)?);
    let user = OsUser::of_this_process()?;
    let lock = lock_data_dir(&data_dir)?;
    Ok(Prepared { config, own, lock, mask, registry, intents, spokes, user, machine: machine_name() })
}

async fn start(args: &RunArgs, prepared: Prepared) -> Result<(), Failed> {
    let url = prepared.config.store.database_url(prepared.lock.dir()).map_err(|error| Failed::Usage(error.into()))?;
    // Before the database is made: an address that is taken is to leave nothing behind.
    let _metrics = telemetry::metrics(&prepared.config.metrics).map_err(|error| Failed::Usage(error.into()))?;
    let store = Store::open(url.expose()).await.map_err(|error| Failed::Usage(error.into()))?;
    let wired = wire(ConsoleWiring {
        thread: &args.thread,
        json: args.json,
        user: &prepared.user,
        machine: &prepared.machine,
        data: prepared.lock.dir(),
        session: fresh_id(),
    });
    let wired = wired.map_err(Failed::Usage)?;
    let (adapters, interrupt_is_taken) = (wired.adapters.clone(), wired.interrupt_is_taken);
    let spokes = Arc::clone(&prepared.spokes);
    let queue_max = usize::try_from(prepared.config.limits.queue).unwrap_or(usize::MAX);
    let world = world(&prepared, &wired);
    let engine = Engine::new(Parts { store, world, tools: Arc::clone(&spokes) as _, adapters, queue_max });
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone(), interrupt_is_taken));
    let ended = engine.run(stop).await;
    spokes.shutdown().await;
    for (platform, ended) in ended.map_err(Failed::Internal)? {
        if let Ended::Failed(reason) = ended {
            return Err(Failed::Internal(anyhow::anyhow!("{platform} ended: {reason}")));
        }
    }
    Ok(())
}

fn world(prepared: &Prepared, wired: &Wired) -> World {
    let limits = &prepared.config.limits;
    let spokes = Arc::clone(&prepared.spokes);
    let (platform, person) = wired.console_owner.clone();
    World {
        registry: Arc::clone(&prepared.registry),
        intents: prepared.intents.clone(),
        rights: Box::new(ConsoleOwner::new(platform, person)),
        limits: Limits {
            turns_max: limits.turns,
            request_ms_max: u64::from(limits.request_seconds) * 1000,
            recently_ms: u64::from(limits.recently_minutes) * 60_000,
            egress_allowed: Vec::new(),
        },
        own: own_deployment(&prepared.own),
        vault: Vault::default(),
        mask: Arc::clone(&prepared.mask),
        spokes: Box::new(move || spokes.health().into_iter().map(status).collect()),
        exact: RwLock::new(ExactRoutes::new(usize::try_from(limits.exact_routes).unwrap_or(ExactRoutes::ROUTES_MAX))),
    }
}

/// What belongs to the bot itself: its data and its configuration.
fn own_paths(config: &Config, config_file: Option<PathBuf>, data: &Path) -> Vec<PathBuf> {
    let url = config.store.database_url(data).ok();
    let file =
        url.as_ref().and_then(|url| url.expose().strip_prefix("sqlite:")).map(|file| file.trim_start_matches("//"));
    let database = file.and_then(|file| file.split('?').next()).map(PathBuf::from);
    let named = [
        config_file,
        config.store.url_file.clone(),
        config.intents.file.clone(),
        config.tools.dir.clone(),
        database,
        Some(data.to_owned()),
    ];
    named.into_iter().flatten().filter_map(|path| std::path::absolute(path).ok()).collect()
}

/// The same, also by the names that it really has.
fn own_deployment(own: &[PathBuf]) -> OwnDeployment {
    let real = own.iter().filter_map(|path| std::fs::canonicalize(path).ok());
    OwnDeployment { paths: own.iter().cloned().chain(real).collect(), resources: Vec::new() }
}

fn status(health: SpokeHealth) -> SpokeStatus {
    let state = match health.state {
        SpokeState::NotStarted => "starts when it is needed".to_owned(),
        SpokeState::Starting => "is starting".to_owned(),
        SpokeState::Running { pid, .. } => format!("runs as process {pid}"),
        SpokeState::BackingOff { reason, retry_in_ms } => {
            format!("does not run: {reason}; tried again in {} s", retry_in_ms.div_ceil(1000))
        }
    };
    SpokeStatus { name: health.name, state }
}

fn load_tools(config: &Config) -> anyhow::Result<Registry> {
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

fn read(key: &str, path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{key}: cannot read {}", path.display()))
}

fn spoke_configs(config: &Config, own: &[PathBuf]) -> anyhow::Result<Vec<SpokeConfig>> {
    let this_binary = std::env::current_exe().context("failed to find this program's own file")?;
    let enabled = config.spokes.iter().filter(|(_, spoke)| spoke.enabled);
    let configs = enabled.map(|(name, spoke)| {
        let (command, args) = match &spoke.command {
            Some(command) => (PathBuf::from(command), spoke.args.clone()),
            None => (this_binary.clone(), built_in(name, own)),
        };
        SpokeConfig { name: name.clone(), command, args, env: spoke.env.clone(), start_limit: SPOKE_START_LIMIT }
    });
    Ok(configs.collect())
}

/// A built-in server is told what is the bot's own: it alone sees where a link leads.
fn built_in(name: &str, own: &[PathBuf]) -> Vec<String> {
    let keep_out = own.iter().map(|path| format!("--keep-out={}", path.display()));
    ["spoke".to_owned(), name.to_owned()].into_iter().chain(keep_out).collect()
}

fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Stops gracefully when the operating system asks to. At a terminal Ctrl-C belongs to the line being typed.
async fn stop_on_signal(stop: CancellationToken, interrupt_is_taken: bool) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::warn!("cannot listen for signals; only the end of input stops the bot");
        return;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => if !interrupt_is_taken { break },
        }
    }
    stop.cancel();
}

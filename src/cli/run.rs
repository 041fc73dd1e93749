//! `countersign`: puts everything together and runs it. Everything that can be wrong is found out before anything is
//! started.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use countersign_core::env::SpokeStatus;
use countersign_core::port::{Ended, Mind};
use countersign_core::signal::Platform;
use tokio_util::sync::CancellationToken;

use super::own::Own;
use super::policy::HOW_TO_BEGIN;
use super::seal::open_store;
use super::setup::{Setup, access_sources, machine_name};
use super::{Failed, RunArgs, Talks};
use crate::access::{Access, LiveAccess, OsUser, Owner, Sources};
use crate::clock::fresh_id;
use crate::config::{Config, DataLock, Model, SandboxMode, lock_data_dir};
use crate::engine::{Engine, Parts, Watch};
use crate::replay::{Header, Recorder};
use crate::store::PlansLeft;
use crate::telemetry;
use crate::tools::{SpokeConfig, SpokeHealth, SpokeState, Spokes};
use crate::wire::{ConsoleWiring, Wired, check, console as console_alone, talks_here, wire};

/// How long a tool server may take to start.
const SPOKE_START_LIMIT: Duration = Duration::from_secs(10);

/// The stack of each thread: what people send is read there, and a parser takes some for each level of it. How deep that may
/// go is bounded where it is read; this is several times what the deepest needs in a build without optimization.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Everything that was found in order, and nothing that runs yet.
struct Prepared {
    setup: Setup,
    lock: DataLock,
    spokes: Arc<Spokes>,
    user: OsUser,
    machine: String,
    /// The platforms on which a role of theirs means something, as the access file was at the start.
    role_platforms: Vec<String>,
}

/// Runs until the input is over or somebody asks to stop.
pub(super) fn run(args: &RunArgs, talks: Talks) -> Result<(), Failed> {
    let prepared = prepare(args, talks).map_err(Failed::Usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK_BYTES).enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let done = runtime.block_on(start(args, talks, prepared));
    // The console's reader may still wait for a key; nobody waits for it.
    runtime.shutdown_background();
    done
}

/// Returns whether the standard input is `/dev/null`, as it is for a service.
fn is_input_nothing() -> bool {
    let device = |path: &str| std::fs::metadata(path).map(|meta| meta.rdev()).ok();
    let input = device("/dev/stdin").filter(|device| *device != 0);
    input.is_some() && input == device("/dev/null")
}

fn prepare(args: &RunArgs, talks: Talks) -> anyhow::Result<Prepared> {
    let setup = Setup::read(args, |config| talks == Talks::Here || talks_here(config))?;
    if talks == Talks::WhereConfigured {
        check(&setup.config)?;
        if talks_here(&setup.config) && is_input_nothing() {
            bail!(
                "no chat platform is configured, and nobody can type here: set `telegram.token`, `discord.token` or \
                 `matrix.homeserver` (from the environment: COUNTERSIGN_TELEGRAM__TOKEN), or start it in a terminal"
            );
        }
    }
    // Read here only to be refused here: before anything is made.
    let role_platforms = access_sources(&setup.config, &setup.registry).access(None)?.platforms_with_roles();
    let spokes = Arc::new(Spokes::new(spoke_configs(&setup.config, &setup.own)?, &setup.registry, &setup.credentials)?);
    let user = OsUser::of_this_process()?;
    let lock = lock_data_dir(&setup.data_dir)?;
    Ok(Prepared { setup, lock, spokes, user, machine: machine_name(), role_platforms })
}

async fn start(args: &RunArgs, talks: Talks, prepared: Prepared) -> Result<(), Failed> {
    // Before the database is made: an address that is taken is to leave nothing behind.
    let _metrics = telemetry::metrics(&prepared.setup.config.metrics).map_err(|error| Failed::Usage(error.into()))?;
    let store = open_store(&prepared.setup.config.store, prepared.lock.dir()).await.map_err(Failed::Usage)?;
    let head = store.audit_head().await.map_err(|error| Failed::Internal(error.into()))?;
    let left = store.plans_left().await.map_err(|error| Failed::Internal(error.into()))?;
    let has_roles = |platform: &str| prepared.role_platforms.iter().any(|one| one == platform);
    let console = ConsoleWiring {
        audit_head: head.to_string(),
        still_open: still_open(left),
        thread: &args.thread,
        json: args.json,
        user: &prepared.user,
        machine: &prepared.machine,
        data: prepared.lock.dir(),
        session: fresh_id(),
    };
    let wired = match talks {
        Talks::Here => console_alone(console),
        Talks::WhereConfigured => wire(&prepared.setup.config, &prepared.setup.intents, has_roles, console),
    };
    let wired = wired.map_err(Failed::Usage)?;
    if let Some(banner) = &wired.banner {
        super::say(banner);
    }
    let (adapters, interrupt_is_taken) = (wired.adapters.clone(), wired.interrupt_is_taken);
    let spokes = Arc::clone(&prepared.spokes);
    let delivery = Duration::from_hours(prepared.setup.config.limits.delivery_hours.into());
    let queue_max = usize::try_from(prepared.setup.config.limits.queue).unwrap_or(usize::MAX);
    let watch = recorder(args, &prepared, &wired).map_err(Failed::Usage)?;
    let health = Arc::clone(&spokes);
    let has_console = wired.console_owner.is_some();
    let owner = wired.console_owner.clone().map(|(platform, person)| Owner::new(platform, person));
    let access = LiveAccess::open(access_sources(&prepared.setup.config, &prepared.setup.registry), owner);
    let access = access.map_err(|error| Failed::Usage(error.into()))?;
    check_rates(&prepared.setup.config, &access.snapshot()).map_err(Failed::Usage)?;
    if let Some(line) = how_to_begin(
        wired.console_owner.is_none(),
        &access_sources(&prepared.setup.config, &prepared.setup.registry),
        access.snapshot().counts().0,
    ) {
        super::say(&line);
    }
    let following = tokio::spawn(access.clone().follow_files());
    let spokes_view = Box::new(move || health.health().into_iter().map(status).collect());
    let world = prepared.setup.world(Box::new(access.clone()), Box::new(access), spokes_view);
    let mask = Arc::clone(&prepared.setup.mask);
    let tell = Box::new(move |line: &str| super::say(&format!("countersign: {}", mask.apply(line))));
    let tools = Arc::clone(&spokes) as _;
    let mind = mind(&prepared.setup.config.model).map_err(Failed::Usage)?;
    let engine = Engine::new(Parts { store, world, tools, mind, adapters, queue_max, delivery, watch, tell });
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone(), interrupt_is_taken));
    let ended = engine.run(stop).await;
    following.abort();
    spokes.shutdown().await;
    let ran = ended.map_err(Failed::Internal)?;
    if ran.lost_its_database {
        let problem = "another program removed, replaced or changed the database while the bot ran, and what was changed since \
                       may be lost; put it back as it was, or start again with what is there now";
        return Err(Failed::Usage(anyhow::anyhow!(problem)));
    }
    if let Some(line) = ran.left.and_then(still_open) {
        super::say(&line);
    }
    what_ended(ran.ends, has_console)
}

/// The models, where some are configured. No I/O.
#[cfg(feature = "model")]
fn mind(config: &Model) -> anyhow::Result<Option<Arc<dyn Mind>>> {
    use crate::model::{Models, ModelsConfig};
    if !config.is_on() {
        return Ok(None);
    }
    let api_key = config.api_key.as_ref().map(|key| key.expose().to_owned()).unwrap_or_default();
    let prices = config.prices().expect("invariant: a configuration is validated when it is loaded");
    let models = Models::new(ModelsConfig {
        base_url: config.base_url.clone(),
        api_key,
        fast: config.fast.clone(),
        smart: config.smart.clone(),
        limit: Duration::from_secs(u64::from(config.seconds)),
        calls: config.calls,
        answer_tokens: config.answer_tokens,
        prices,
    })?;
    Ok(Some(Arc::new(models)))
}

/// This build asks none; a configuration that names one was refused.
#[cfg(not(feature = "model"))]
#[expect(clippy::unnecessary_wraps, reason = "a build with models can fail to make them")]
fn mind(_: &Model) -> anyhow::Result<Option<Arc<dyn Mind>>> {
    Ok(None)
}

/// Whether the run ended well. A platform that has to be mended was named at once; where nothing but such platforms was
/// there, the bot could do nothing at all. A console that cannot go on is nothing that a configuration could mend.
fn what_ended(ends: Vec<(Platform, Ended)>, has_console: bool) -> Result<(), Failed> {
    let mut refused = Vec::new();
    for (platform, ended) in ends {
        match ended {
            Ended::InputOver | Ended::Stopped => return Ok(()),
            // The engine starts it again; it does not end so.
            Ended::Failed(reason) => return Err(Failed::Internal(anyhow::anyhow!("{platform} ended: {reason}"))),
            Ended::Refused(reason) if has_console => {
                return Err(Failed::Internal(anyhow::anyhow!("{platform} ended: {reason}")));
            }
            Ended::Refused(reason) => refused.push(format!("{platform}: {reason}")),
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    Err(Failed::Usage(anyhow::anyhow!("no platform can go on; {}", refused.join("; "))))
}

/// What is said at the start where a chat platform is on and no person is known (AC-22). The console needs no word of it:
/// it belongs to whoever runs the bot.
fn how_to_begin(chat_platforms: bool, sources: &Sources, people: usize) -> Option<String> {
    let lead = match (&sources.file, people) {
        _ if !chat_platforms => return None,
        (None, _) => return Some(HOW_TO_BEGIN.to_owned()),
        (Some(file), 0) => format!("The access file {} names no people", file.display()),
        (Some(_), _) => return None,
    };
    Some(format!(
        "{lead}: nobody is known on a chat platform. To begin, add the first administrator to it, as in README.md (“Who may what”)."
    ))
}

/// A limit for a role that nobody can have would hold nobody, and nobody would notice.
pub(super) fn check_rates(config: &Config, access: &Access) -> anyhow::Result<()> {
    let roles = config.rates.role.keys();
    Ok(roles.into_iter().try_for_each(|role| access.check_role(role, &format!("rates.role.{role}")))?)
}

/// One line about what may still come to something; nothing where nothing may.
fn still_open(left: PlansLeft) -> Option<String> {
    let plans = match left.to_decide {
        0 => None,
        1 => Some("1 plan to decide".to_owned()),
        several => Some(format!("{several} plans to decide")),
    };
    let outcomes = match left.not_known {
        0 => None,
        1 => Some("1 outcome not known".to_owned()),
        several => Some(format!("{several} outcomes not known")),
    };
    let both: Vec<String> = plans.into_iter().chain(outcomes).collect();
    let it = if left.to_decide + left.not_known == 1 { "it in its" } else { "each in its" };
    (!both.is_empty()).then(|| format!("Still open: {}. `approvals` shows {it} own thread.", both.join(", ")))
}

/// The recording, where one was asked for.
fn recorder(args: &RunArgs, prepared: &Prepared, wired: &Wired) -> anyhow::Result<Option<Arc<dyn Watch>>> {
    let Some(file) = &args.record else { return Ok(None) };
    let recorder = Recorder::begin(file, &Header::new(wired.console_owner.clone()), Arc::clone(&prepared.setup.mask));
    let recorder = recorder.with_context(|| format!("--record: cannot create {}", file.display()))?;
    Ok(Some(Arc::new(recorder)))
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

fn spoke_configs(config: &Config, own: &Own) -> anyhow::Result<Vec<SpokeConfig>> {
    let this_binary = std::env::current_exe().context("failed to find this program's own file")?;
    let enabled = config.spokes.iter().filter(|(_, spoke)| spoke.enabled);
    let configs = enabled.map(|(name, spoke)| {
        let (command, args) = match &spoke.command {
            Some(command) => (PathBuf::from(command), spoke.args.clone()),
            None => (this_binary.clone(), built_in(name, own, config)),
        };
        let (env, secrets) = spoke.variables();
        SpokeConfig { name: name.clone(), command, args, env, secrets, start_limit: SPOKE_START_LIMIT }
    });
    Ok(configs.collect())
}

/// Returns the arguments of a built-in server. It is told what is the bot's own, because it alone sees where a link leads, and
/// where commands may send anything.
fn built_in(name: &str, own: &Own, config: &Config) -> Vec<String> {
    let keep_out = own.kept.iter().map(|path| format!("--keep-out={}", path.display()));
    let programs = own.programs.iter().map(|path| format!("--keep-unchanged={}", path.display()));
    let commands = config.commands.file.iter().map(|file| format!("--commands={}", file.display()));
    let egress = config.egress.allow.iter().map(|host| format!("--egress={host}"));
    let hide = config.run.hide.iter().map(|path| format!("--hide={}", path.display()));
    let show = config.run.show.iter().map(|path| format!("--show={}", path.display()));
    let best_effort = (config.run.sandbox == SandboxMode::BestEffort).then(|| "--best-effort".to_owned());
    let limits = keep_out.chain(programs).chain(commands).chain(egress).chain(hide).chain(show).chain(best_effort);
    ["spoke".to_owned(), name.to_owned()].into_iter().chain(limits).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_platform_without_people_is_told_how_to_begin() {
        let file = |name: &str| Sources { file: Some(name.into()), policies: None, ..Sources::default() };
        assert_eq!(how_to_begin(false, &Sources::default(), 0), None, "the console alone");
        assert_eq!(how_to_begin(true, &file("a.toml"), 1), None);
        assert_eq!(how_to_begin(true, &Sources::default(), 0).as_deref(), Some(HOW_TO_BEGIN));
        insta::assert_snapshot!(
            how_to_begin(true, &file("a.toml"), 0).unwrap_or_default(),
            @"The access file a.toml names no people: nobody is known on a chat platform. To begin, add the first administrator to it, as in README.md (“Who may what”)."
        );
    }

    #[test]
    fn a_bot_whose_platforms_all_have_to_be_mended_is_misconfigured() {
        let end = |name: &str, ended: Ended| (Platform::new(name), ended);
        let refused = |why: &str| Ended::Refused(why.to_owned());
        let none_left =
            what_ended(vec![end("a", refused("its token is wrong")), end("b", refused("two of it run"))], false);
        match none_left {
            Err(Failed::Usage(error)) => {
                insta::assert_snapshot!(error, @"no platform can go on; a: its token is wrong; b: two of it run");
            }
            _ => panic!("it is the configuration"),
        }
        for fine in [Ended::InputOver, Ended::Stopped] {
            assert!(what_ended(vec![end("a", refused("its token is wrong")), end("b", fine)], false).is_ok());
        }
    }

    #[test]
    fn what_is_still_open_is_one_line() {
        let line = |to_decide, not_known| still_open(PlansLeft { to_decide, not_known });
        assert_eq!(line(0, 0), None);
        let table = [
            ((1, 0), "Still open: 1 plan to decide. `approvals` shows it in its own thread."),
            ((0, 1), "Still open: 1 outcome not known. `approvals` shows it in its own thread."),
            ((2, 1), "Still open: 2 plans to decide, 1 outcome not known. `approvals` shows each in its own thread."),
        ];
        for ((to_decide, not_known), expected) in table {
            assert_eq!(line(to_decide, not_known).as_deref(), Some(expected));
        }
    }
}

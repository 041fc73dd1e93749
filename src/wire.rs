//! Joins platforms to the engine: the only file that names an adapter crate.

use std::path::Path;
use std::sync::Arc;

use countersign_core::port::Adapter;
use countersign_core::route::Intents;
use countersign_core::signal::{ActorId, Platform};

use crate::access::OsUser;
use crate::config::{Config, Discord, Matrix, Telegram};

/// What the console is told of the process it runs in.
pub struct ConsoleWiring<'a> {
    /// The thread that every line belongs to.
    pub thread: &'a str,
    /// Whether to speak JSON lines.
    pub json: bool,
    /// Who runs the process.
    pub user: &'a OsUser,
    /// The machine's name.
    pub machine: &'a str,
    /// The data directory, for the history.
    pub data: &'a Path,
    /// New for each start.
    pub session: String,
    /// The head of the audit trail: printed where people see it, so that a trail that is rewritten is found out.
    pub audit_head: String,
    /// A sentence about what an earlier run left open, where there is something.
    pub still_open: Option<String>,
}

/// The platforms of a run, and what the rest has to know about them.
pub struct Wired {
    /// The platforms.
    pub adapters: Vec<Arc<dyn Adapter>>,
    /// The one person of the console, and its platform; none where the console is not part of the run.
    pub console_owner: Option<(Platform, ActorId)>,
    /// Whether Ctrl-C belongs to the console and does not end the bot.
    pub interrupt_is_taken: bool,
    /// What is said at the start where no console says it.
    pub banner: Option<String>,
}

/// Whether the console is what runs: no platform is configured.
pub fn talks_here(config: &Config) -> bool {
    !config.discord.is_on() && !config.matrix.is_on() && config.telegram.token.is_none()
}

/// Whether what is configured of a platform is enough of it. No I/O.
pub fn check(config: &Config) -> anyhow::Result<()> {
    let Some(key) = config.matrix.lacks_password() else { return Ok(()) };
    anyhow::bail!(
        "`{key}` is given, and no password is; give it by COUNTERSIGN_MATRIX__PASSWORD or in the file that \
         `matrix.password_file` names"
    );
}

/// Makes the platforms of this run: every one that is configured, else the console, on this machine. Platform roles are
/// asked for only where `platform_roles` names a platform on which one means something. No I/O.
pub fn wire(
    config: &Config,
    intents: &Intents,
    platform_roles: impl Fn(&str) -> bool,
    wiring: ConsoleWiring<'_>,
) -> anyhow::Result<Wired> {
    let adapters = platforms(config, intents, platform_roles, wiring.data)?;
    if adapters.is_empty() {
        return console(wiring);
    }
    let names: Vec<String> = adapters.iter().map(|adapter| adapter.platform().to_string()).collect();
    let banner = banner(&wiring, &format!(", on {}. Ctrl-C stops it.", names.join(", ")));
    Ok(Wired { adapters, console_owner: None, interrupt_is_taken: false, banner: Some(banner) })
}

/// The chat platforms that are configured, as in [`wire`]; none where the console is what runs. No I/O.
pub fn platforms(
    config: &Config,
    intents: &Intents,
    platform_roles: impl Fn(&str) -> bool,
    data: &Path,
) -> anyhow::Result<Vec<Arc<dyn Adapter>>> {
    let mut adapters: Vec<Arc<dyn Adapter>> = Vec::new();
    adapters.extend(discord(&config.discord, intents)?);
    adapters.extend(matrix(&config.matrix, intents, data)?);
    adapters.extend(telegram(&config.telegram, intents, platform_roles("telegram"))?);
    Ok(adapters)
}

/// What is said at the start: what runs where and, in `rest`, how to go on; then the audit trail's head, and what an earlier
/// run left open.
fn banner(wiring: &ConsoleWiring<'_>, rest: &str) -> String {
    format!(
        "Countersign {} on {}{rest}\nAudit trail at {}{}",
        env!("CARGO_PKG_VERSION"),
        wiring.machine,
        wiring.audit_head,
        wiring.still_open.as_ref().map(|line| format!("\n{line}")).unwrap_or_default()
    )
}

#[cfg(feature = "discord")]
fn discord(config: &Discord, intents: &Intents) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    use countersign_discord::{Command, Discord, Limits, Options};
    let Some(token) = &config.token else { return Ok(None) };
    let commands = menu(intents).map(|(name, about)| Command { name, about });
    let options = Options {
        api_url: config.api_url.clone(),
        gateway_url: config.gateway_url.clone(),
        commands: commands.collect(),
        limits: Limits { per_second: config.per_second, channel_per_second: config.per_channel_per_second },
        own_threads: config.threads_in.iter().filter_map(|id| id.parse().ok()).collect(),
        ..Options::new(token.expose())
    };
    let adapter = Discord::new(options).map_err(|problem| anyhow::anyhow!("[discord]: {problem}"))?;
    Ok(Some(Arc::new(adapter)))
}

/// The configuration refuses a token in a build like this one.
#[cfg(not(feature = "discord"))]
#[expect(clippy::unnecessary_wraps, reason = "a build with Discord can fail to make it")]
fn discord(_: &Discord, _: &Intents) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    Ok(None)
}

#[cfg(feature = "matrix")]
fn matrix(config: &Matrix, intents: &Intents, data: &Path) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    use countersign_matrix::{Encryption, Limits, Matrix, Options};
    let (Some(password), Some(homeserver), Some(user)) = (&config.password, &config.homeserver, &config.user) else {
        return Ok(None);
    };
    let options = Options {
        encryption: match config.encryption {
            crate::config::Encryption::Required => Encryption::Required,
            crate::config::Encryption::Off => Encryption::Off,
        },
        recovery_key: config.recovery_key.as_ref().map(|key| key.expose().to_owned()),
        limits: Limits { per_second: config.per_second },
        commands: menu(intents).map(|(name, _)| name).collect(),
        ghosts: config.ghosts.iter().cloned().collect(),
        ..Options::new(homeserver, user, password.expose(), data.join("matrix"))
    };
    let adapter = Matrix::new(options).map_err(|problem| anyhow::anyhow!("[matrix]: {problem}"))?;
    Ok(Some(Arc::new(adapter)))
}

/// The configuration refuses a password in a build like this one.
#[cfg(not(feature = "matrix"))]
#[expect(clippy::unnecessary_wraps, reason = "a build with Matrix can fail to make it")]
fn matrix(_: &Matrix, _: &Intents, _: &Path) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    Ok(None)
}

#[cfg(feature = "telegram")]
fn telegram(config: &Telegram, intents: &Intents, platform_roles: bool) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    use countersign_telegram::{Command, Limits, Options, Telegram};
    let Some(token) = &config.token else { return Ok(None) };
    let commands = menu(intents).map(|(name, about)| Command { name, about });
    let options = Options {
        api_url: config.api_url.clone(),
        commands: commands.collect(),
        limits: Limits {
            per_second: config.per_second,
            chat_per_second: config.per_chat_per_second,
            group_per_minute: config.per_group_per_minute,
        },
        platform_roles,
        ..Options::new(token.expose())
    };
    let adapter = Telegram::new(options).map_err(|problem| anyhow::anyhow!("[telegram]: {problem}"))?;
    Ok(Some(Arc::new(adapter)))
}

/// The configuration refuses a token in a build like this one.
#[cfg(not(feature = "telegram"))]
#[expect(clippy::unnecessary_wraps, reason = "a build with Telegram can fail to make it")]
fn telegram(_: &Telegram, _: &Intents, _: bool) -> anyhow::Result<Option<Arc<dyn Adapter>>> {
    Ok(None)
}

/// The commands of a chat's menu: verbs, each with its argument behind it. Telegram takes 100 of 32 characters, with 256 about
/// each; a person reads 25 at most.
#[cfg(any(feature = "discord", feature = "matrix", feature = "telegram"))]
fn menu(intents: &Intents) -> impl Iterator<Item = (String, String)> {
    let named = intents.iter().filter_map(|intent| {
        let word = intent.menu_word().filter(|word| word.len() <= 32)?;
        Some((word.to_owned(), intent.about.chars().take(256).collect()))
    });
    named.take(MENU_MAX)
}

/// The most commands of a menu.
#[cfg(any(feature = "discord", feature = "matrix", feature = "telegram"))]
const MENU_MAX: usize = 25;

/// The console alone, whatever is configured; a build without one has none to give. No I/O.
#[cfg(feature = "console")]
pub fn console(wiring: ConsoleWiring<'_>) -> anyhow::Result<Wired> {
    use countersign_console::{Console, Options};
    let banner = banner(&wiring, ". Ask about this machine; `help` lists what I understand, `quit` leaves.");
    let adapter = Console::new(Options {
        thread: wiring.thread.to_owned(),
        json: wiring.json,
        user: wiring.user.name.clone(),
        uid: wiring.user.uid.to_string(),
        host: wiring.machine.to_owned(),
        history: Some(wiring.data.join("console-history")),
        banner,
        session: wiring.session,
    });
    let interrupt_is_taken = adapter.owns_interrupt();
    let console_owner = Some((adapter.platform(), adapter.person()));
    Ok(Wired { adapters: vec![Arc::new(adapter)], console_owner, interrupt_is_taken, banner: None })
}

/// A build without any platform has nobody to talk to.
#[cfg(not(feature = "console"))]
pub fn console(_: ConsoleWiring<'_>) -> anyhow::Result<Wired> {
    anyhow::bail!(
        "no platform is configured, and this build has no console: set a platform's token, or build with --features console"
    )
}

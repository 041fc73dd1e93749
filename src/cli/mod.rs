//! The command line: what can be typed, and the exit codes. One file per subcommand.

mod audit;
mod classify;
mod doctor;
mod inbox;
#[cfg(feature = "model")]
mod models;
mod own;
mod policy;
mod replay;
mod run;
mod seal;
mod setup;
mod simulate;
#[cfg(feature = "host")]
mod spoke;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use countersign_core::secrets::Mask;

/// Nothing is wrong.
const FINE: u8 = 0;
/// What was asked about is not fine.
const NOT_FINE: u8 = 1;
/// The usage or the configuration is wrong: nothing was started.
const USAGE: u8 = 2;
/// Something of our own went wrong.
const INTERNAL: u8 = 3;

/// A chat-ops bot: a model or a rule proposes, the team countersigns, deterministic code decides and executes.
///
#[cfg_attr(
    any(feature = "discord", feature = "matrix", feature = "telegram"),
    doc = "Without a subcommand it runs: on each chat platform of which it has the credential (see config/reference.toml), else it"
)]
#[cfg_attr(
    not(any(feature = "discord", feature = "matrix", feature = "telegram")),
    doc = "Without a subcommand it runs. This build has no chat platform, so that it"
)]
/// talks here: type a question about this machine, or pipe questions in, one a line.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    run: RunArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

/// How to run.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The configuration file [default: ./countersign.toml, if it is there]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory; only one bot runs on it at a time [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print one JSON object per event on standard output; people's text goes to standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// Write a recording of this session into a new file, for `countersign replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The thread that the console's lines belong to
    #[arg(long, global = true, value_name = "NAME", default_value = "main")]
    pub thread: String,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Talk here, in this terminal or pipe, even where a platform is configured
    Console,
    /// Prove the audit trail, or write it out; also while a bot runs on the same data
    Audit {
        #[command(subcommand)]
        command: audit::AuditCommand,
    },
    /// List the messages that were set aside because the bot ended while it worked on them
    Inbox {
        #[command(subcommand)]
        command: inbox::InboxCommand,
    },
    /// Seal the rows that decide something with a new key, or accept them as they are
    Seal {
        #[command(subcommand)]
        command: seal::SealCommand,
    },
    /// Check the policies, the access file and the tables of expected decisions
    Policy {
        #[command(subcommand)]
        command: policy::PolicyCommand,
    },
    /// Look whether everything is in order before the bot runs: the configuration, who may what, each platform and the model's
    /// server, with a fix for whatever is not
    Doctor,
    /// List the models of the configured server, and say which of them are asked and which of those are missing
    #[cfg(feature = "model")]
    Models,
    /// Ask the policies who may do something: `who can decide high on host:web-1`
    Who {
        /// What, as in the console: `can write on production`
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Say what commands can do: one command a line on standard input, one answer a line; runs nothing
    Classify(ClassifyArgs),
    /// Play a recording through the real engine and print every decision as JSON lines; runs no tool
    Replay {
        /// What `--record` has written
        file: PathBuf,
    },
    /// Let a hostile model, faulty tools and people who click at random loose on this configuration, and look after every
    /// step whether each invariant holds; runs no tool
    Simulate(simulate::SimulateArgs),
    /// Run a built-in tool server on standard input and output, as the bot itself does when it needs one
    #[cfg(feature = "host")]
    Spoke {
        /// Which one
        #[arg(value_enum)]
        name: SpokeName,
        #[command(flatten)]
        limits: SpokeLimits,
    },
}

/// The limits that the bot's configuration sets for a built-in tool server.
#[cfg(feature = "host")]
#[derive(Debug, Args)]
pub(crate) struct SpokeLimits {
    /// A path that is never read and never written; may be given several times
    #[arg(long, value_name = "PATH")]
    pub keep_out: Vec<PathBuf>,
    /// A file that is never written, and may be read; may be given several times
    #[arg(long, value_name = "FILE")]
    pub keep_unchanged: Vec<PathBuf>,
    /// A file of command tables, as `commands.file` names it
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,
    /// A destination that commands may talk to, as `egress.allow` lists it; may be given several times
    #[arg(long, value_name = "HOST")]
    pub egress: Vec<String>,
    /// A path that no command sees; may be given several times
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// A path that is shown although not everyone on this machine may read it; may be given several times
    #[arg(long, value_name = "PATH")]
    pub show: Vec<PathBuf>,
    /// Run commands also where their sandbox cannot be built whole
    #[arg(long)]
    pub best_effort: bool,
}

/// What `classify` reads.
#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// Commands end at a null byte and may have several lines
    #[arg(short = '0', long = "null")]
    pub null: bool,
    /// A file of command tables to add, as `commands.file` names it
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// What the commands are
    #[arg(long = "as", value_enum, value_name = "LANGUAGE", default_value = "shell")]
    pub language: Language,
}

/// What a command is written in.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Language {
    /// A command line
    Shell,
    /// SQL for `PostgreSQL`
    Postgres,
    /// SQL for `MySQL` or `MariaDB`
    Mysql,
    /// SQL for `SQLite`
    Sqlite,
    /// A Redis command
    Redis,
}

/// The built-in tool servers of this build.
#[cfg(feature = "host")]
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum SpokeName {
    /// Reads the machine it runs on, and changes it with a permit
    Host,
}

/// Where it talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talks {
    /// On every platform that is configured, else here.
    WhereConfigured,
    /// In this terminal or pipe.
    Here,
}

/// An error with the exit code it leads to.
pub(crate) enum Failed {
    /// What was asked about is not fine: a sentence for people.
    NotFine(String),
    /// Usage or configuration.
    Usage(anyhow::Error),
    /// Ours.
    Internal(anyhow::Error),
}

/// Runs what the command line says.
pub fn main() -> ExitCode {
    #[cfg(feature = "host")]
    if let Some(code) = countersign_sandbox::launch_if_asked(crate::spokes::host::usual_walls) {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and the version are no errors, and are printed as they are.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            say(&format!("countersign: {}", usage_problem(&error)));
            return ExitCode::from(USAGE);
        }
    };
    let done = match cli.command {
        None => run::run(&cli.run, Talks::WhereConfigured),
        Some(Command::Console) => run::run(&cli.run, Talks::Here),
        Some(Command::Replay { file }) => replay::run(&cli.run, &file),
        Some(Command::Simulate(args)) => simulate::run(&cli.run, &args),
        Some(Command::Classify(args)) => classify::run(&args, cli.run.json),
        Some(Command::Audit { command }) => audit::run(&cli.run, &command),
        Some(Command::Inbox { command }) => inbox::run(&cli.run, &command),
        Some(Command::Seal { command }) => seal::run(&cli.run, &command),
        Some(Command::Policy { command }) => policy::run(&cli.run, &command),
        Some(Command::Doctor) => doctor::run(&cli.run),
        #[cfg(feature = "model")]
        Some(Command::Models) => models::run(&cli.run),
        Some(Command::Who { words }) => policy::who(&cli.run, &words),
        #[cfg(feature = "host")]
        Some(Command::Spoke { name, limits }) => spoke::serve(name, limits),
    };
    let (code, error) = match done {
        Ok(()) => (FINE, None),
        Err(Failed::NotFine(sentence)) => (NOT_FINE, Some(anyhow::Error::msg(sentence))),
        Err(Failed::Usage(error)) => (USAGE, Some(error)),
        Err(Failed::Internal(error)) => (INTERNAL, Some(error)),
    };
    if let Some(error) = error {
        say(&format!("countersign: {}", Mask::default().apply(&format!("{error:#}"))));
    }
    ExitCode::from(code)
}

/// What clap says over several lines, on one.
fn usage_problem(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
    format!("{}; see `countersign --help`", said.join("; ").trim_start_matches("error: "))
}

/// Writes a text to standard output. A reader that is gone has seen enough.
fn print(text: &str) -> Result<(), Failed> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failed::Internal(error.into())),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a line for people to standard error. Where that is closed there is nobody to tell.
fn say(line: &str) {
    use std::io::Write;
    let _nobody_left = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound_and_every_part_of_it_is_explained() {
        let command = Cli::command();
        command.clone().debug_assert();
        let parts = command.get_arguments().chain(command.get_subcommands().flat_map(clap::Command::get_arguments));
        let unexplained: Vec<&str> =
            parts.filter(|arg| arg.get_help().is_none()).map(|arg| arg.get_id().as_str()).collect();
        assert!(unexplained.is_empty(), "{unexplained:?}");
    }
}

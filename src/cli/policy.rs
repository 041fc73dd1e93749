//! `countersign policy check` and `countersign who can`: what the policies say, before anybody relies on it. Reads the
//! configuration's access file and policies, and changes nothing.

use std::io::{ErrorKind, Write};

use countersign_core::signal::{ActorId, Platform};
use serde_json::json;

use super::run::check_rates;
use super::setup::{access_sources, configuration, load_tools};
use super::{Failed, RunArgs};
use crate::access::{AccessError, Checked, OsUser, Owner, Sources, check};

/// Said where no access file is configured (AC-22).
pub(super) const HOW_TO_BEGIN: &str = "No access file is configured: nobody may anything on a chat platform, and the console belongs \
                            to whoever runs the bot. To begin, name the first administrator in a file, as in README.md \
                            (\u{201c}Who may what\u{201d}), and give its path as `access.file` \
                            (COUNTERSIGN_ACCESS__FILE).";

/// What to do with the policies.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PolicyCommand {
    /// Hold the policies to the schema, the access file to the policies, and both to what is expected of them
    Check,
}

/// Does it.
pub(super) fn run(args: &RunArgs, command: &PolicyCommand) -> Result<(), Failed> {
    let (sources, owner) = prepare(args)?;
    match command {
        PolicyCommand::Check => report(args, &sources, check(&sources, &owner)),
    }
}

/// Answers who can.
pub(super) fn who(args: &RunArgs, words: &[String]) -> Result<(), Failed> {
    let asked = words.join(" ");
    let asked = asked.strip_prefix("can ").or_else(|| asked.strip_prefix("may ")).ok_or_else(|| {
        Failed::Usage(anyhow::anyhow!("write `who can` and what, such as `who can decide high on host:web-1`"))
    })?;
    let (sources, owner) = prepare(args)?;
    let access = sources.access(Some(owner)).map_err(|error| Failed::Usage(error.into()))?;
    let answer = access.ask(asked).map_err(|problem| Failed::Usage(anyhow::Error::msg(problem)))?;
    if args.json {
        print(&format!("{}\n", json!({ "asked": asked, "answer": answer })))
    } else {
        print(&format!("{answer}\n"))
    }
}

fn prepare(args: &RunArgs) -> Result<(Sources, Owner), Failed> {
    let (config, _) = configuration(args).map_err(Failed::Usage)?;
    let user = OsUser::of_this_process().map_err(Failed::Internal)?;
    let owner = Owner::new(Platform::new("console"), ActorId::new(format!("uid:{}", user.uid)));
    let registry = load_tools(&config).map_err(Failed::Usage)?;
    let sources = access_sources(&config, &registry);
    if let Ok(access) = sources.access(None) {
        check_rates(&config, &access).map_err(Failed::Usage)?;
    }
    Ok((sources, owner))
}

fn report(args: &RunArgs, sources: &Sources, checked: Result<Checked, AccessError>) -> Result<(), Failed> {
    let (checked, problem) = match checked {
        Ok(checked) => (Some(checked), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let wrong = checked.iter().flat_map(|checked| &checked.wrong).map(ToString::to_string);
    let wrong: Vec<String> = wrong.chain(problem.clone()).collect();
    if args.json {
        let expectations = checked.as_ref().map(|checked| checked.expectations);
        print(&format!("{}\n", json!({ "sound": wrong.is_empty(), "expectations": expectations, "wrong": wrong })))?;
    }
    match (checked, problem) {
        (_, Some(problem)) => Err(Failed::NotFine(problem)),
        (Some(checked), None) if wrong.is_empty() => {
            if args.json {
                Ok(())
            } else {
                print(&format!("{}\n", sound(sources, &checked)))
            }
        }
        (checked, None) => {
            if !args.json {
                print(&format!("{}\n", wrong.join("\n")))?;
            }
            let asked = checked.map_or(0, |checked| checked.expectations);
            Err(Failed::NotFine(format!("{} of {asked} expectations do not hold.", wrong.len())))
        }
    }
}

fn sound(sources: &Sources, checked: &Checked) -> String {
    let (people, services, policies) = checked.counts;
    let sound = format!(
        "The policies are sound, and all {} expectations hold. Of your own: people {people}, services {services}, \
         policies {policies}.",
        checked.expectations
    );
    if sources.file.is_some() { sound } else { format!("{sound}\n{HOW_TO_BEGIN}") }
}

pub(super) fn print(text: &str) -> Result<(), Failed> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failed::Internal(error.into())),
        Ok(()) | Err(_) => Ok(()),
    }
}

//! `countersign doctor`: looks at everything that a newcomer gets wrong, before the bot runs, and says what to do about it. It
//! changes nothing and hears nothing; what a platform is asked, its adapter knows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use countersign_core::port::{Adapter, Finding};
use nix::unistd::{AccessFlags, access};
use serde_json::{Value, json};

use super::policy::{HOW_TO_BEGIN, print};
use super::setup::{Setup, access_sources};
use super::{Failed, RunArgs};
use crate::access::Sources;
use crate::clock::wall_now;
use crate::config::Model;
#[cfg(feature = "host")]
use crate::config::SandboxMode;
use crate::engine::set_aside_since;
use crate::store::Store;
use crate::vault::CredentialError;
use crate::wire::{check, platforms};

/// How long one platform may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What a finding is about, and the finding.
type About = (String, Finding);

/// Looks, and reports. What keeps the bot from starting at all is an error of the configuration, as it would be there.
pub(super) fn run(args: &RunArgs) -> Result<(), Failed> {
    let setup = Setup::read(args, |_| true).map_err(Failed::Usage)?;
    check(&setup.config).map_err(Failed::Usage)?;
    let sources = access_sources(&setup.config, &setup.registry);
    let adapters = platforms(&setup.config, &setup.intents, |_| false, &setup.data_dir).map_err(Failed::Usage)?;
    let mut findings = vec![data(&setup)];
    #[cfg(feature = "host")]
    findings.push(sandbox(&setup));
    findings.extend(people(&sources, !adapters.is_empty()));
    findings.extend(credentials(&setup));
    if adapters.is_empty() {
        let here = "no platform is configured, so that it talks in a terminal, with whoever runs it";
        findings.push(("platforms".to_owned(), Finding::fine(here)));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    findings.extend(runtime.block_on(set_aside(&setup)));
    for adapter in &adapters {
        findings.extend(runtime.block_on(examined(adapter.as_ref())));
    }
    findings.extend(runtime.block_on(models(&setup.config.model)).map_err(Failed::Usage)?);
    // What a platform says of itself may hold anything.
    let mask = |text: &str| setup.mask.apply(text).into_owned();
    let findings: Vec<About> = findings
        .into_iter()
        .map(|(about, Finding { found, fix })| (about, Finding { found: mask(&found), fix: fix.map(|fix| mask(&fix)) }))
        .collect();
    report(&findings, args.json)
}

/// What commands run in: whether this machine can build it.
#[cfg(feature = "host")]
fn sandbox(setup: &Setup) -> About {
    let best_effort = setup.config.run.sandbox == SandboxMode::BestEffort;
    let finding = match (countersign_sandbox::missing(&crate::spokes::host::usual_walls()), best_effort) {
        (None, _) => {
            Finding::fine("commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed")
        }
        (Some(missing), true) => Finding::fine(format!("commands run with a part of their sandbox only: {missing}")),
        (Some(missing), false) => Finding::wrong(
            format!("commands don't run, because their sandbox can't be built here: {missing}"),
            "Let the bot's kernel or container have namespaces and Landlock, or set `[run] sandbox = \"best_effort\"`.",
        ),
    };
    ("sandbox".to_owned(), finding)
}

/// The directory of its data: made at the first start, so that it need not be there.
fn data(setup: &Setup) -> About {
    let dir = &setup.data_dir;
    let shown = dir.display();
    // The nearest folder that is there: in it the others are made.
    let there = dir.ancestors().find(|folder| folder.exists()).unwrap_or(dir);
    let can_be_written = access(there, AccessFlags::W_OK | AccessFlags::X_OK).is_ok();
    let finding = if !there.is_dir() {
        let found = format!("{} is a file, and the data is kept in a directory", there.display());
        Finding::wrong(found, "Name another place by `--data` or `store.data`.")
    } else if !can_be_written {
        let fix = "Give it to the account that the bot runs as, or name another directory by `--data` or `store.data`.";
        Finding::wrong(format!("{} cannot be written", there.display()), fix)
    } else if there == dir {
        Finding::fine(format!("{shown} can be written"))
    } else {
        Finding::fine(format!("{shown} is made at the first start"))
    };
    ("data".to_owned(), finding)
}

/// The credentials that are configured, and those that a tool needs besides.
fn credentials(setup: &Setup) -> Vec<About> {
    let actions = setup.registry.tools().flat_map(|tool| &tool.actions);
    let needed: BTreeSet<&str> = actions.flat_map(|(_, spec)| spec.credentials.iter().map(String::as_str)).collect();
    let mut checked: BTreeMap<&str, Option<CredentialError>> = setup.credentials.checked().collect();
    for name in needed {
        checked.entry(name).or_insert_with(|| Some(CredentialError::not_configured(name)));
    }
    let finding = |(name, trouble): (&str, Option<CredentialError>)| match trouble {
        None => Finding::fine(format!("`{name}` is there, and for the bot alone")),
        Some(trouble) => Finding::wrong(trouble.to_string(), trouble.fix()),
    };
    checked.into_iter().map(|credential| ("credentials".to_owned(), finding(credential))).collect()
}

/// Messages that the bot does not work on again, because it ended twice while it did. Where there is no database yet, or none
/// that this version can read, there is nothing to say.
async fn set_aside(setup: &Setup) -> Option<About> {
    let url = setup.config.store.database_url(&setup.data_dir).ok()?;
    let store = Store::open_for_reading(url.expose(), None).await.ok()?;
    let found = store.set_aside_since(set_aside_since(wall_now())).await;
    store.close().await;
    let count = found.ok()?.len();
    let found = format!("messages set aside in the last 7 days: {count}; the bot ended twice while it worked on each");
    let fix = "`countersign inbox parked` shows them; the lines of the bot's log before `set aside` say how it ended. Report it, \
               so that it can be mended.";
    (count > 0).then(|| ("inbox".to_owned(), Finding::wrong(found, fix)))
}

/// Who may what: only a chat platform needs anybody but the owner of the process.
fn people(sources: &Sources, has_platforms: bool) -> Vec<About> {
    let finding = match sources.access(None) {
        Err(error) => Finding::wrong(error.to_string(), "Mend it, and run this again."),
        Ok(access) => match access.counts() {
            (0, ..) if has_platforms => nobody(sources),
            (0, ..) => Finding::fine("nobody is named, and the console belongs to whoever runs it"),
            (people, services, policies) => Finding::fine(format!(
                "people {people}, services {services}, policies of your own {policies}; all sound"
            )),
        },
    };
    vec![("access".to_owned(), finding)]
}

fn nobody(sources: &Sources) -> Finding {
    let Some(file) = &sources.file else {
        return Finding::wrong("nobody is named who may anything on a chat platform", HOW_TO_BEGIN);
    };
    let found = format!("{} names nobody who may anything on a chat platform", file.display());
    let fix = "Add the first administrator to it: `[[people]]`, and under it `name = \"ann\"`, `roles = [\"admin\"]` and \
               `accounts = [\"discord:NUMBER\"]`, `[\"matrix:@ann:example.org\"]` or `[\"telegram:NUMBER\"]`.";
    Finding::wrong(found, fix)
}

async fn examined(adapter: &dyn Adapter) -> Vec<About> {
    let findings = tokio::time::timeout(LIMIT, adapter.examine()).await.unwrap_or_else(|_| {
        let found = format!("it did not answer within {} s", LIMIT.as_secs());
        vec![Finding::wrong(found, "See that this machine may connect to it.")]
    });
    findings.into_iter().map(|finding| (adapter.platform().to_string(), finding)).collect()
}

/// The models' server, where one is asked.
#[cfg(feature = "model")]
async fn models(config: &Model) -> anyhow::Result<Vec<About>> {
    if !config.is_on() {
        let is_set_up = config.base_url != Model::default().base_url;
        return Ok(is_set_up.then(|| ("model".to_owned(), nothing_is_asked(&config.base_url))).into_iter().collect());
    }
    let findings = crate::model::Catalogue::new(config)?.examine().await;
    Ok(findings.into_iter().map(|finding| ("model".to_owned(), finding)).collect())
}

/// A server, and no model of it.
#[cfg(feature = "model")]
fn nothing_is_asked(url: &str) -> Finding {
    let fix = "Name one as `model.smart`, or as `model.fast` too; `countersign models` lists what the server has.";
    Finding::wrong(format!("{url} is named, and no model of it, so that none is asked"), fix)
}

/// This build asks none.
#[cfg(not(feature = "model"))]
#[expect(clippy::unused_async, clippy::unnecessary_wraps, reason = "a build with models asks their server")]
async fn models(_: &Model) -> anyhow::Result<Vec<About>> {
    Ok(Vec::new())
}

fn report(findings: &[About], as_json: bool) -> Result<(), Failed> {
    let wrong = findings.iter().filter(|(_, finding)| finding.fix.is_some()).count();
    if as_json {
        let all: Vec<Value> = findings
            .iter()
            .map(|(about, Finding { found, fix })| json!({ "about": about, "found": found, "fix": fix }))
            .collect();
        print(&format!("{}\n", json!({ "fine": wrong == 0, "findings": all })))?;
    } else {
        print(&findings.iter().map(line).collect::<String>())?;
    }
    match wrong {
        0 => Ok(()),
        1 => Err(Failed::NotFine("one thing is not in order.".to_owned())),
        some => Err(Failed::NotFine(format!("{some} things are not in order."))),
    }
}

fn line((about, Finding { found, fix }): &About) -> String {
    match fix {
        None => format!("\u{2713} {about}: {found}\n"),
        Some(fix) => format!("\u{2717} {about}: {found}\n  To do: {fix}\n"),
    }
}

//! `countersign models`: which models the configured server has, which of them are asked, and which of those are missing.
//! Where the server is an Ollama it offers to get what is missing, and gets nothing that nobody said yes to (C-54).

use std::io::{BufRead, IsTerminal, Write};

use countersign_core::mind::Tier;
use countersign_core::secrets::Mask;
use serde_json::{Value, json};

use super::policy::print;
use super::setup::configuration;
use super::{Failed, RunArgs, say};
use crate::config::Model;
use crate::model::{Catalogue, Listing, Missing, Trouble};

/// Lists, and offers.
pub(super) fn run(args: &RunArgs) -> Result<(), Failed> {
    let (config, _) = configuration(args).map_err(Failed::Usage)?;
    let mask = Mask::new(config.secrets());
    let catalogue = Catalogue::new(&config.model).map_err(Failed::Usage)?;
    if !catalogue.asks_any() && config.model.base_url == Model::default().base_url {
        // Nobody has named a server, so that none is asked.
        let fix = "name its server as `model.base_url` and a model as `model.smart`";
        return Err(Failed::NotFine(format!("no model is configured: {fix}")));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let listed = || runtime.block_on(catalogue.list()).map_err(|trouble| unlisted(&catalogue, &trouble));
    let mut listing = listed()?;
    if !args.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        let wanted = listing.missing.iter().filter(|_| listing.can_pull).filter(|missing| says_yes(missing));
        let pulled = wanted.map(|missing| {
            let told = catalogue.pull(&missing.name, |status| say(&mask.apply(&format!("  {status}"))));
            runtime.block_on(told).map_err(|trouble| not_pulled(missing, &trouble))
        });
        if pulled.collect::<Result<Vec<()>, Failed>>()?.is_empty() {
            return report(&listing, &catalogue, &mask, args.json);
        }
        listing = listed()?;
    }
    report(&listing, &catalogue, &mask, args.json)
}

fn unlisted(catalogue: &Catalogue, trouble: &Trouble) -> Failed {
    let url = catalogue.base_url();
    Failed::NotFine(format!("the models of {url} cannot be listed: {trouble}. {}", catalogue.fix(trouble)))
}

fn not_pulled(missing: &Missing, trouble: &Trouble) -> Failed {
    Failed::NotFine(format!("{} was not pulled: {trouble}", missing.name))
}

/// Asks whoever sits there. Anything but a yes is a no.
fn says_yes(missing: &Missing) -> bool {
    let mut out = std::io::stderr();
    let asked =
        write!(out, "The server does not have {}. Have it pulled now? y/N ", missing.name).and_then(|()| out.flush());
    let mut said = String::new();
    let heard = std::io::stdin().lock().read_line(&mut said);
    asked.is_ok() && heard.is_ok() && matches!(said.trim().to_lowercase().as_str(), "y" | "yes")
}

fn report(listing: &Listing, catalogue: &Catalogue, mask: &Mask, as_json: bool) -> Result<(), Failed> {
    let text = if as_json { format!("{}\n", json_of(listing, catalogue.base_url())) } else { text_of(listing) };
    print(&mask.apply(&text))?;
    if !catalogue.asks_any() {
        say("No model is asked; name one of these as `model.fast` or `model.smart`.");
    }
    match listing.missing.len() {
        0 => Ok(()),
        1 => Err(Failed::NotFine("a configured model is missing.".to_owned())),
        some => Err(Failed::NotFine(format!("{some} configured models are missing."))),
    }
}

fn text_of(listing: &Listing) -> String {
    let models = listing.models.iter().map(|model| match names(&model.tiers).as_slice() {
        [] => format!("{}\n", model.name),
        tiers => format!("{} ({})\n", model.name, tiers.join(", ")),
    });
    let missing = listing.missing.iter().map(|missing| {
        format!(
            "\u{2717} {} ({}): the server does not have it\n  To do: {}\n",
            missing.name,
            missing.tier.as_str(),
            missing.fix
        )
    });
    models.chain(missing).collect()
}

fn json_of(listing: &Listing, server: &str) -> Value {
    let models = listing.models.iter().map(|model| json!({ "name": model.name, "is": names(&model.tiers) }));
    let missing = listing
        .missing
        .iter()
        .map(|missing| json!({ "name": missing.name, "is": missing.tier.as_str(), "fix": missing.fix }));
    json!({ "server": server, "models": models.collect::<Vec<_>>(), "missing": missing.collect::<Vec<_>>() })
}

fn names(tiers: &[Tier]) -> Vec<&'static str> {
    tiers.iter().map(|tier| tier.as_str()).collect()
}

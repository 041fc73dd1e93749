//! Which models a server has, which of them are asked, and getting one that is missing where the server can. Nothing is got
//! here that nobody asked for.

use std::time::Duration;

use countersign_core::mind::Tier;
use countersign_core::port::Finding;
use countersign_core::text;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::http::Server;
use super::trouble::{Refusal, Trouble};
use super::wire::{or_default, said};
use crate::config::{Model, Secret};

/// How long a server may take to list its models, and how long it may say nothing while it gets one.
const LIST_LIMIT: Duration = Duration::from_secs(15);
const SILENCE_LIMIT: Duration = Duration::from_mins(5);

/// The most models that are listed, and the most characters of a name.
const MODELS_MAX: usize = 1_000;
const NAME_CHARS_MAX: usize = 120;

/// The most bytes of one line of what is said while a model is got.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The configured server, and which of its models are asked.
pub struct Catalogue {
    server: Server,
    asked: Vec<(Tier, String)>,
    has_key: bool,
}

/// A model that the server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it is asked as.
    pub tiers: Vec<Tier>,
}

/// A model that is asked and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// What it is asked as.
    pub tier: Tier,
    /// What a person does about it.
    pub fix: String,
}

/// What there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What the server has.
    pub models: Vec<Listed>,
    /// What it should have.
    pub missing: Vec<Missing>,
    /// It is an Ollama, which gets what it is asked for.
    pub can_pull: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Models {
    #[serde(deserialize_with = "or_default")]
    data: Vec<OneModel>,
}

#[derive(Deserialize)]
struct OneModel {
    id: String,
}

/// Ollama's own list; that it is there is enough.
#[derive(Deserialize)]
struct Tags {
    #[serde(rename = "models")]
    _models: Vec<Value>,
}

impl Catalogue {
    /// No I/O.
    pub fn new(config: &Model) -> anyhow::Result<Self> {
        let key = config.api_key.as_ref().map(Secret::expose).unwrap_or_default();
        let asked = [(Tier::Fast, config.fast.clone()), (Tier::Smart, config.smart.clone())];
        let asked = asked.into_iter().filter_map(|(tier, name)| Some((tier, name?))).collect();
        Ok(Self { server: Server::new(&config.base_url, key)?, asked, has_key: !key.is_empty() })
    }

    /// Where the server is.
    pub fn base_url(&self) -> &str {
        self.server.base_url()
    }

    /// Whether any model is asked.
    pub const fn asks_any(&self) -> bool {
        !self.asked.is_empty()
    }

    /// What the server has, and what it should have.
    pub async fn list(&self) -> Result<Listing, Trouble> {
        let listed = timeout(LIST_LIMIT, self.server.get::<Models>("/models")).await;
        let listed = listed.unwrap_or(Err(Trouble::Late(LIST_LIMIT.as_secs())))?;
        let tags = timeout(LIST_LIMIT, self.server.get_beside::<Tags>("/api/tags")).await;
        Ok(self.listing(listed, tags.is_ok_and(|tags| tags.is_ok())))
    }

    fn listing(&self, listed: Models, can_pull: bool) -> Listing {
        let mut names: Vec<String> = listed.data.into_iter().take(MODELS_MAX).map(|model| model.id).collect();
        names.sort();
        let is = |asked: &str, name: &str| name == asked || (can_pull && name.strip_suffix(":latest") == Some(asked));
        let missing = self.asked.iter().filter(|(_, asked)| !names.iter().any(|name| is(asked, name)));
        let missing = missing.map(|(tier, asked)| {
            let shown = text::one_line(asked, NAME_CHARS_MAX);
            let fix = if can_pull {
                format!("On the server: `ollama pull {shown}`")
            } else {
                format!("Name one that it has as `model.{}`, or see that it serves this one.", tier.as_str())
            };
            Missing { name: asked.clone(), tier: *tier, fix }
        });
        let missing = missing.collect();
        let models = names.iter().map(|name| {
            let tiers = self.asked.iter().filter(|(_, asked)| is(asked, name)).map(|(tier, _)| *tier).collect();
            Listed { name: text::one_line(name, NAME_CHARS_MAX), tiers }
        });
        Listing { models: models.collect(), missing, can_pull }
    }

    /// Has an Ollama get a model, and tells what it says meanwhile, each thing once.
    pub async fn pull(&self, name: &str, mut tell: impl FnMut(&str)) -> Result<(), Trouble> {
        let mut answer = self.server.post_beside("/api/pull", &json!({ "model": name, "stream": true })).await?;
        let (mut line, mut told, mut is_done) = (Vec::new(), String::new(), false);
        loop {
            let piece = timeout(SILENCE_LIMIT, answer.next()).await;
            let Some(piece) = piece.unwrap_or(Err(Trouble::Late(SILENCE_LIMIT.as_secs())))? else { break };
            for byte in piece {
                if byte != b'\n' {
                    line.push(byte);
                    if line.len() > LINE_BYTES_MAX {
                        return Err(Trouble::Endless(LINE_BYTES_MAX / 1024));
                    }
                    continue;
                }
                let status = status(&std::mem::take(&mut line))?;
                is_done = status == "success";
                if status != told {
                    tell(&status);
                    told = status;
                }
            }
        }
        if is_done { Ok(()) } else { Err(Trouble::Broken) }
    }

    /// What `doctor` looks at.
    pub async fn examine(&self) -> Vec<Finding> {
        let url = self.base_url();
        let listing = match self.list().await {
            Ok(listing) => listing,
            Err(Trouble::Refused(Refusal { status: 404, .. })) if !has_version(url) => {
                let fix = "Most servers have it below `/v1`: add that to `model.base_url`.";
                return vec![Finding::wrong(format!("{url} knows no list of models"), fix)];
            }
            Err(Trouble::Refused(Refusal { status: 404 | 405 | 501, .. })) => {
                let found = format!("{url} answers, and lists no models; whether one is there shows when it is asked");
                return vec![Finding::fine(found)];
            }
            Err(trouble) => return vec![Finding::wrong(format!("{url}: {trouble}"), self.fix(&trouble))],
        };
        let takes = if self.has_key { "lists its models to this key" } else { "lists its models without a key" };
        let there = listing.models.iter().flat_map(|model| {
            model.tiers.iter().map(|tier| Finding::fine(format!("{} ({}) is there", model.name, tier.as_str())))
        });
        let missing = listing.missing.iter().map(|missing| {
            let name = text::one_line(&missing.name, NAME_CHARS_MAX);
            Finding::wrong(format!("{name} ({}) is not there", missing.tier.as_str()), missing.fix.clone())
        });
        std::iter::once(Finding::fine(format!("{url} {takes}"))).chain(there).chain(missing).collect()
    }

    /// What a person does about it.
    pub fn fix(&self, trouble: &Trouble) -> &'static str {
        match trouble {
            Trouble::Refused(Refusal { status: 401 | 403, .. }) => {
                "Give its key as COUNTERSIGN_MODEL__API_KEY, or in a file named by `model.api_key_file`."
            }
            Trouble::Refused(Refusal { status: 429 | 500.., .. }) => "Try again later; it is the server's own trouble.",
            _ => "See that the server runs, and that `model.base_url` is its address, up to and with `/v1`.",
        }
    }
}

/// Whether an address says which version of an API is asked, as in `/v1`: one that does not is mostly cut short.
fn has_version(url: &str) -> bool {
    let is_version = |part: &str| part.strip_prefix('v').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    url.split('/').skip(3).any(is_version)
}

/// What a line says: how far it is, in whole percent, where it says so.
fn status(line: &[u8]) -> Result<String, Trouble> {
    let line: Value = serde_json::from_slice(line).map_err(|error| Trouble::Senseless(error.to_string()))?;
    if line.get("error").is_some() {
        return Err(Trouble::GaveUp(said(&line)));
    }
    let status = text::one_line(line.get("status").and_then(Value::as_str).unwrap_or_default(), NAME_CHARS_MAX);
    let number = |name: &str| line.get(name).and_then(Value::as_u64);
    let percent =
        number("completed").unwrap_or_default().saturating_mul(100).checked_div(number("total").unwrap_or_default());
    Ok(percent.map_or(status.clone(), |percent| format!("{status} {percent} %")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(asked: [Option<&str>; 2], has: &[&str], can_pull: bool) -> Listing {
        let [fast, smart] = asked.map(|name| name.map(str::to_owned));
        let config = Model { fast, smart, ..Model::default() };
        let catalogue = Catalogue::new(&config).expect("it is sound");
        let data = has.iter().map(|id| OneModel { id: (*id).to_owned() }).collect();
        catalogue.listing(Models { data }, can_pull)
    }

    fn is(listing: &Listing) -> Vec<(&str, Vec<&str>)> {
        let one = |model: &Listed| model.tiers.iter().map(|tier| tier.as_str()).collect();
        listing.models.iter().map(|model| (model.name.as_str(), one(model))).collect()
    }

    #[test]
    fn what_is_asked_is_marked_and_what_is_missing_is_named() {
        let there = listing([Some("small"), Some("big")], &["big", "small", "other"], false);
        assert_eq!(is(&there), [("big", vec!["smart"]), ("other", vec![]), ("small", vec!["fast"])]);
        assert!(there.missing.is_empty());
        let missing = listing([Some("small"), Some("big")], &["small:latest"], false).missing;
        assert_eq!(missing.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["small", "big"]);
        assert_eq!(missing[1].fix, "Name one that it has as `model.smart`, or see that it serves this one.");
        // Ollama's names have a tag, and the plain name means the latest.
        let ollama = listing([Some("small"), Some("big")], &["small:latest", "big:7b"], true);
        assert_eq!(is(&ollama), [("big:7b", vec![]), ("small:latest", vec!["fast"])]);
        assert_eq!(ollama.missing[0].fix, "On the server: `ollama pull big`");
        assert!(listing([None, None], &["a"], false).missing.is_empty());
    }

    #[test]
    fn an_address_without_a_version_is_told_from_one_with_it() {
        let table = [
            ("http://127.0.0.1:11434", false),
            ("http://v1.example/", false),
            ("http://127.0.0.1:11434/v1", true),
            ("https://example.org/openai/v1beta/x", true),
            ("https://example.org/view", false),
        ];
        for (url, expected) in table {
            assert_eq!(has_version(url), expected, "{url}");
        }
    }

    #[test]
    fn how_far_it_is_is_said_in_percent() {
        let table = [
            (r#"{"status":"pulling manifest"}"#, Ok("pulling manifest")),
            (r#"{"status":"pulling 6a","total":2000,"completed":1000}"#, Ok("pulling 6a 50 %")),
            (r#"{"status":"pulling 6a","total":0,"completed":0}"#, Ok("pulling 6a")),
            (r#"{"error":"file does not exist"}"#, Err(Trouble::GaveUp("file does not exist".to_owned()))),
        ];
        for (line, expected) in table {
            assert_eq!(status(line.as_bytes()), expected.map(str::to_owned), "{line}");
        }
    }
}

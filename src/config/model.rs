//! Section `[model]`: the server of the language models, and which of them are asked. Nothing here connects to anything.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::budget::micros;
use super::error::Problem;
use super::secret::Secret;

/// A model is asked when one is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Any server that speaks `OpenAI`'s chat completions, up to and with `/v1`. Default `OpenAI` itself.
    pub base_url: String,
    /// Its key. Unset: it wants none. Refused from the file and from the command line.
    pub api_key: Option<Secret>,
    /// A file that holds the key. Unset by default; not together with `api_key`.
    pub api_key_file: Option<PathBuf>,
    /// The small model, which is asked first. Unset: the large one is asked for everything.
    pub fast: Option<String>,
    /// The large model. Unset: the small one is asked for everything, and with neither no model is asked.
    pub smart: Option<String>,
    /// How long one question may take, all tries together. Default 60.
    pub seconds: u32,
    /// How a model is asked to call something. Default `auto`.
    pub calls: Calls,
    /// The most tokens of one answer; a model that thinks aloud needs more. Default 1024.
    pub answer_tokens: u32,
    /// What a million tokens cost that are read. Unset: nothing.
    pub price_in: Option<String>,
    /// What a million tokens cost that are written. Unset: nothing.
    pub price_out: Option<String>,
}

/// How a model is asked to call something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    /// As `native`, until it shows that the model makes no calls that way; from then on as `steps`.
    #[default]
    Auto,
    /// By the functions of the protocol.
    Native,
    /// In two steps: a choice from what is offered, and then what it is called with, each held to a JSON schema.
    Steps,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key: None,
            api_key_file: None,
            fast: None,
            smart: None,
            seconds: 60,
            calls: Calls::default(),
            answer_tokens: 1024,
            price_in: None,
            price_out: None,
        }
    }
}

impl Model {
    /// Whether a model is asked.
    pub const fn is_on(&self) -> bool {
        self.fast.is_some() || self.smart.is_some()
    }

    /// What a million tokens cost, read and written, in millionths of the currency.
    pub(crate) fn prices(&self) -> Result<(u64, u64), Problem> {
        let price = |key: &str, price: &Option<String>| match price {
            None => Ok(0),
            Some(price) => micros(price).map_err(|fix| Problem::new(format!("model.{key}"), fix)),
        };
        Ok((price("price_in", &self.price_in)?, price("price_out", &self.price_out)?))
    }

    pub(super) fn validate(&self, in_build: bool) -> Result<(), Problem> {
        if !self.base_url.starts_with("https://") && !self.base_url.starts_with("http://") {
            return Err(Problem::new("model.base_url", "must be a URL that begins with `https://` or `http://`"));
        }
        for (key, name) in [("model.fast", &self.fast), ("model.smart", &self.smart)] {
            if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
                return Err(Problem::new(key, "must be the name of a model, or unset"));
            }
            if name.is_some() && !in_build {
                let problem = "names a model, but this build asks none; build with --features model";
                return Err(Problem::new(key, problem));
            }
        }
        if !(1..=600).contains(&self.seconds) {
            return Err(Problem::new("model.seconds", "must be from 1 to 600"));
        }
        if !(16..=32_768).contains(&self.answer_tokens) {
            return Err(Problem::new("model.answer_tokens", "must be from 16 to 32768"));
        }
        self.prices().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(model: &Model, in_build: bool) -> String {
        model
            .validate(in_build)
            .err()
            .map_or_else(|| "sound".to_owned(), |error| format!("`{}` {}", error.key, error.problem))
    }

    #[test]
    fn what_is_wrong_with_it_is_named_with_the_fix() {
        let on = Model { smart: Some("big".to_owned()), ..Model::default() };
        let table = [
            problem(&Model::default(), false),
            problem(&on, true),
            problem(&on, false),
            problem(&Model { base_url: "localhost:8080".to_owned(), ..on.clone() }, true),
            problem(&Model { fast: Some(" ".to_owned()), ..on.clone() }, true),
            problem(&Model { seconds: 0, ..on.clone() }, true),
            problem(&Model { answer_tokens: 8, ..on.clone() }, true),
            problem(&Model { price_in: Some("2,50".to_owned()), ..on }, true),
        ];
        insta::assert_snapshot!(table.join("\n"), @r#"
        sound
        sound
        `model.smart` names a model, but this build asks none; build with --features model
        `model.base_url` must be a URL that begins with `https://` or `http://`
        `model.fast` must be the name of a model, or unset
        `model.seconds` must be from 1 to 600
        `model.answer_tokens` must be from 16 to 32768
        `model.price_in` must be an amount above zero such as "2.50": digits, and a point with at most 6 more
        "#);
    }
}

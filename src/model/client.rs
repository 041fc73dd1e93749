//! The one way to a model's server: bounded in time, tried again where that may help, and left alone while it is down. What
//! may go wrong is said in a few words; what was said is handed back as it is.

use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use countersign_core::gate::Cleared;
use countersign_core::mind::{Ask, Thought, Tier, Unheard};
use countersign_core::port::{BoxFuture, Mind};
use tokio::time::Instant;

use super::breaker::Breaker;
use super::prompt;
use super::wire::{Request, Response};
use crate::telemetry;

/// The most tokens of one answer: a call, or a few sentences.
const ANSWER_TOKENS_MAX: u32 = 1_024;

/// Where the models are, and which.
#[derive(Clone)]
pub struct ModelsConfig {
    /// Up to and with `/v1`.
    pub base_url: String,
    /// Empty where the server wants none. Never shown.
    pub api_key: String,
    /// The small one.
    pub fast: Option<String>,
    /// The large one.
    pub smart: Option<String>,
    /// How long one question may take, all tries together.
    pub limit: Duration,
    /// What a million tokens cost, read and written, in millionths of the currency.
    pub prices: (u64, u64),
}

/// The models of one server.
pub struct Models {
    client: Client<OpenAIConfig>,
    config: ModelsConfig,
    breaker: Breaker,
}

impl Models {
    /// No I/O.
    pub fn new(config: ModelsConfig) -> Self {
        // Nothing of it is taken from the environment by the library: one key of ours names each thing.
        let at = OpenAIConfig::new().with_api_base(&config.base_url).with_api_key(&config.api_key).with_org_id("");
        Self { client: Client::with_config(at.with_project_id("")), config, breaker: Breaker::default() }
    }

    fn name(&self, tier: Tier) -> Option<&str> {
        match tier {
            Tier::Fast => self.config.fast.as_deref(),
            Tier::Smart => self.config.smart.as_deref(),
        }
    }

    async fn ask(&self, ask: &Ask) -> Result<Thought, String> {
        let model = self.name(ask.tier).ok_or_else(|| format!("no {} model is configured", ask.tier.as_str()))?;
        self.breaker.may_ask().map_err(|left| {
            format!("it did not answer several times, and is left alone for {} s", left.as_secs().saturating_add(1))
        })?;
        tracing::debug!(model, n = ask.n, prompt = prompt::VERSION, "asking a model");
        let tools = prompt::tools(&ask.situation.offers);
        let request = Request {
            model: model.to_owned(),
            messages: prompt::messages(ask),
            tool_choice: (!tools.is_empty()).then_some("auto"),
            tools,
            temperature: 0,
            max_tokens: ANSWER_TOKENS_MAX,
            stream: false,
        };
        let told = request.messages.iter().map(|message| message.content.len()).sum::<usize>();
        let told = u64::try_from(told).unwrap_or(u64::MAX);
        let chat = self.client.chat();
        let answer = tokio::time::timeout(self.config.limit, chat.create_byot::<_, Response>(request)).await;
        match answer {
            Ok(Ok(response)) => {
                self.breaker.answered();
                Ok(response.thought(self.config.prices, told))
            }
            Ok(Err(error)) => {
                if is_down(&error) {
                    self.breaker.failed();
                }
                Err(words(&error))
            }
            Err(_) => {
                self.breaker.failed();
                Err(format!("no answer within {} s", self.config.limit.as_secs()))
            }
        }
    }
}

impl Mind for Models {
    fn think(&self, ask: Cleared<Ask>) -> BoxFuture<'_, Result<Thought, Unheard>> {
        Box::pin(async move {
            let (begun, tier) = (Instant::now(), ask.get().tier.as_str());
            let heard = self.ask(ask.get()).await;
            telemetry::seconds("model_seconds", begun.elapsed());
            let outcome = if heard.is_ok() { "answered" } else { "failed" };
            telemetry::count("model_requests_total", &[("tier", tier.to_owned()), ("outcome", outcome.to_owned())]);
            heard.map_err(|why| {
                tracing::warn!(tier, why, "a model did not answer");
                Unheard { why }
            })
        })
    }
}

/// Whether it says something about the server, and not about what was asked.
fn is_down(error: &OpenAIError) -> bool {
    match error {
        OpenAIError::ApiError(refused) => refused.status_code.is_server_error() || refused.status_code.as_u16() == 429,
        _ => true,
    }
}

/// A few words about it. What a server says of itself is its own, and is cut.
fn words(error: &OpenAIError) -> String {
    match error {
        OpenAIError::ApiError(refused) => {
            let said = countersign_core::text::one_line(&refused.api_error.message, 120);
            format!("its server answers {}: {said}", refused.status_code.as_u16())
        }
        OpenAIError::Reqwest(error) => {
            let mut cause: &dyn std::error::Error = error;
            while let Some(inner) = cause.source() {
                cause = inner;
            }
            format!("its server cannot be reached: {cause}")
        }
        OpenAIError::JSONDeserialize(error, _) => format!("its server answers something that is no answer: {error}"),
        other => countersign_core::text::one_line(&other.to_string(), 120),
    }
}

//! The way to a model: bounded in time, tried again where that may help, left alone while it is down, and asked in the way in
//! which it can answer. What may go wrong is said in a few words; what was said is handed back as it is, when it is whole.

use std::time::Duration;

use countersign_core::gate::Cleared;
use countersign_core::mind::{Ask, Offer, Thought, Tier, Unheard};
use countersign_core::port::{BoxFuture, Mind};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::breaker::Breaker;
use super::habits::{Habits, Part, Way};
use super::http::Server;
use super::meter::Meter;
use super::prompt;
use super::steps::{self, Choice};
use super::stream;
use super::trouble::{Refusal, Trouble};
use super::wire::{Message, Request, StreamOptions, Whole};
use crate::config::Calls;
use crate::telemetry;

/// How often one question is sent to a server that is busy, and how long is waited before the second time. Each wait is
/// twice the one before, where the server asks for no other.
const TRIES_MAX: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// What a refusal of functions has in it, and one of a schema.
const TOOLS: [&str; 3] = ["tool", "function", "jinja"];
const SCHEMAS: [&str; 4] = ["response_format", "json_schema", "schema", "grammar"];

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
    /// How long one question may take, all tries and steps together.
    pub limit: Duration,
    /// How calls are asked for.
    pub calls: Calls,
    /// The most tokens of one answer.
    pub answer_tokens: u32,
    /// What a million tokens cost, read and written, in millionths of the currency.
    pub prices: (u64, u64),
}

/// The models of one server.
pub struct Models {
    server: Server,
    config: ModelsConfig,
    breaker: Breaker,
    habits: Habits,
}

/// One question under way.
struct Asking<'a> {
    ask: &'a Ask,
    model: &'a str,
    deadline: Instant,
    meter: &'a mut Meter,
}

/// What a request holds beside its messages.
#[derive(Default)]
struct Extras {
    tools: Vec<Value>,
    format: Option<Value>,
}

impl Extras {
    /// Whether it is these that a server says no to.
    fn are_refused(&self, refusal: &Refusal) -> bool {
        (!self.tools.is_empty() && refusal.is_about(&TOOLS)) || (self.format.is_some() && refusal.is_about(&SCHEMAS))
    }
}

impl Models {
    /// No I/O.
    pub fn new(config: ModelsConfig) -> anyhow::Result<Self> {
        let server = Server::new(&config.base_url, &config.api_key)?;
        Ok(Self { server, config, breaker: Breaker::default(), habits: Habits::default() })
    }

    fn name(&self, tier: Tier) -> Option<&str> {
        match tier {
            Tier::Fast => self.config.fast.as_deref(),
            Tier::Smart => self.config.smart.as_deref(),
        }
    }

    async fn ask(&self, ask: &Ask, meter: &mut Meter) -> Result<Whole, Trouble> {
        let model = self.name(ask.tier).ok_or(Trouble::NotConfigured(ask.tier.as_str()))?;
        self.breaker.may_ask().map_err(|left| Trouble::LeftAlone(left.as_secs().saturating_add(1)))?;
        tracing::debug!(model, n = ask.n, prompt = prompt::VERSION, "asking a model");
        let deadline = Instant::now() + self.config.limit;
        let said = timeout_at(deadline, self.answer(Asking { ask, model, deadline, meter })).await;
        let said = said.unwrap_or(Err(Trouble::Late(self.config.limit.as_secs())));
        match &said {
            Err(Trouble::Late(_)) => self.breaker.was_late(),
            Err(trouble) if trouble.is_down() => self.breaker.failed(),
            // Also one that says no is there.
            Ok(_) | Err(_) => self.breaker.answered(),
        }
        said
    }

    /// An answer, in the way in which this model gives one. Each way that turns out to be none leads to the next.
    async fn answer(&self, mut asking: Asking<'_>) -> Result<Whole, Trouble> {
        let Asking { ask, model, .. } = asking;
        let offers = &ask.situation.offers;
        let messages = prompt::messages(ask);
        if offers.is_empty() {
            return self.hear(&mut asking, Way::Native, messages, Extras::default()).await;
        }
        let mut way = self.habits.way(model, self.config.calls);
        loop {
            let (next, is_for_good) = match way {
                Way::Native => {
                    let extras = Extras { tools: prompt::tools(offers), format: None };
                    let said = self.hear(&mut asking, way, messages.clone(), extras).await;
                    if said.as_ref().is_ok_and(|said| !said.calls.is_empty()) {
                        self.habits.calls(model);
                    }
                    if self.config.calls != Calls::Auto || !makes_no_calls(&said, offers) {
                        return said;
                    }
                    // A refusal is its server's last word.
                    (Way::Steps, said.is_err() || self.habits.leaks(model))
                }
                Way::Steps => match self.in_steps(&mut asking, messages.clone()).await {
                    Ok(Some(said)) => return Ok(said),
                    // Where the steps were only tried, for an answer that was none, functions are tried again the next time.
                    Ok(None) => (Way::Written, self.habits.way(model, self.config.calls) == Way::Steps),
                    Err(Trouble::Refused(refusal)) if refusal.is_about(&SCHEMAS) => (Way::Written, true),
                    Err(trouble) => return Err(trouble),
                },
                Way::Written => {
                    let messages = steps::with(messages, &prompt::written(offers));
                    return self.hear(&mut asking, way, messages, Extras::default()).await;
                }
            };
            if is_for_good {
                self.go(ask.tier, model, next);
            }
            way = next;
        }
    }

    /// From now on this model is asked in this way.
    fn go(&self, tier: Tier, model: &str, way: Way) {
        if self.habits.go(model, way) {
            let (tier, to) = (tier.as_str(), way.as_str());
            tracing::warn!(
                tier,
                model,
                to,
                "a model makes no calls in the way in which it was asked; from now on in another"
            );
            telemetry::count("model_fallbacks_total", &[("tier", tier.to_owned()), ("to", to.to_owned())]);
        }
    }

    /// A choice, and then its arguments or words; none where the server does not hold the model to what there is to choose.
    async fn in_steps(&self, asking: &mut Asking<'_>, messages: Vec<Message>) -> Result<Option<Whole>, Trouble> {
        let (offers, situation) = (&asking.ask.situation.offers, &asking.ask.situation);
        let messages = steps::with(messages, &prompt::choose(offers));
        let extras = Extras { format: Some(steps::choice_format(offers)), ..Extras::default() };
        let chosen = self.hear(asking, Way::Steps, messages.clone(), extras).await?;
        let (messages, format, offer) = match steps::choice(&chosen, offers) {
            Choice::Free => return Ok(None),
            Choice::Answer => (steps::after(messages, &chosen.text, prompt::answer()), None, None),
            Choice::Call(offer) => {
                let Some(format) = steps::arguments_format(offer, situation) else {
                    let calls = vec![steps::call(offer, "{}".to_owned())];
                    return Ok(Some(Whole { calls, ..Whole::default() }));
                };
                (steps::after(messages, &chosen.text, &prompt::arguments(offer)), Some(format), Some(offer))
            }
        };
        let extras = Extras { format, ..Extras::default() };
        let said = self.hear(asking, Way::Steps, messages, extras).await?;
        Ok(Some(match offer {
            None => said,
            Some(offer) => Whole { calls: vec![steps::call(offer, said.text)], ..Whole::default() },
        }))
    }

    /// Sends messages and hears what is said to them; again where the server is busy, or does not take a part of them.
    async fn hear(
        &self,
        asking: &mut Asking<'_>,
        way: Way,
        messages: Vec<Message>,
        extras: Extras,
    ) -> Result<Whole, Trouble> {
        let (mut tries, mut wait) = (1, FIRST_WAIT);
        loop {
            let request = self.request(asking.model, &messages, &extras);
            let trouble = match self.once(asking, way, &request).await {
                Ok(said) if said.is_cut => return Err(Trouble::Unfinished(self.config.answer_tokens)),
                Ok(said) => return Ok(said),
                Err(trouble) => trouble,
            };
            if let Trouble::Refused(refusal) = &trouble {
                if extras.are_refused(refusal) {
                    return Err(trouble);
                }
                if self.habits.leave_out(asking.model, refusal) {
                    continue;
                }
            }
            let Some(asked_for) = trouble.wait(wait).filter(|_| tries < TRIES_MAX) else { return Err(trouble) };
            let until = Instant::now() + asked_for;
            if until >= asking.deadline {
                return Err(trouble);
            }
            telemetry::count("model_retries_total", &[("tier", asking.ask.tier.as_str().to_owned())]);
            tokio::time::sleep_until(until).await;
            tries += 1;
            wait = wait.saturating_mul(2);
        }
    }

    async fn once(&self, asking: &mut Asking<'_>, way: Way, request: &Request) -> Result<Whole, Trouble> {
        asking.meter.told(chars(request));
        let answer = self.server.post("/chat/completions", request).await;
        let answer = answer.inspect_err(|_| asking.meter.nothing())?;
        let heard = stream::read(answer, asking.meter).await;
        let (said, form) = match heard {
            Ok(heard) => heard,
            Err(trouble) => {
                asking.meter.counted(None);
                return Err(trouble);
            }
        };
        asking.meter.heard(said.chars());
        asking.meter.counted(said.tokens);
        let labels = [("tier", asking.ask.tier.as_str()), ("form", form.as_str()), ("way", way.as_str())];
        telemetry::count("model_answers_total", &labels.map(|(label, value)| (label, value.to_owned())));
        Ok(said)
    }

    fn request(&self, model: &str, messages: &[Message], extras: &Extras) -> Request {
        let without = self.habits.without(model);
        let has = |part: Part| !without.contains(&part);
        let most = Some(self.config.answer_tokens);
        Request {
            model: model.to_owned(),
            messages: messages.to_vec(),
            tool_choice: (!extras.tools.is_empty()).then_some("auto"),
            tools: extras.tools.clone(),
            response_format: extras.format.clone(),
            temperature: has(Part::Temperature).then_some(0),
            max_tokens: most.filter(|_| has(Part::MaxTokens)),
            max_completion_tokens: most.filter(|_| !has(Part::MaxTokens)),
            stream: true,
            stream_options: has(Part::StreamOptions).then_some(StreamOptions { include_usage: true }),
        }
    }
}

/// Whether this shows that a model makes no calls by functions: its server says so, or it writes them into its text.
fn makes_no_calls(said: &Result<Whole, Trouble>, offers: &[Offer]) -> bool {
    match said {
        Ok(said) => steps::leaks(said, offers),
        Err(Trouble::Refused(refusal)) => refusal.is_about(&TOOLS),
        Err(_) => false,
    }
}

/// How much a server is told.
fn chars(request: &Request) -> usize {
    let messages = request.messages.iter().map(|message| message.content.len());
    let beside = request.tools.iter().chain(&request.response_format).map(|json| json.to_string().len());
    messages.chain(beside).sum()
}

impl Mind for Models {
    fn think(&self, ask: Cleared<Ask>) -> BoxFuture<'_, Result<Thought, Unheard>> {
        Box::pin(async move {
            let (begun, tier) = (Instant::now(), ask.get().tier.as_str());
            let mut meter = Meter::new(self.config.prices);
            let heard = self.ask(ask.get(), &mut meter).await;
            let usage = meter.total();
            telemetry::seconds("model_seconds", begun.elapsed());
            let outcome = if heard.is_ok() { "answered" } else { "failed" };
            telemetry::count("model_requests_total", &[("tier", tier.to_owned()), ("outcome", outcome.to_owned())]);
            match heard {
                Ok(Whole { text, calls, .. }) => Ok(Thought { text, calls, usage }),
                Err(trouble) => {
                    let why = trouble.told();
                    tracing::warn!(tier, why, "a model did not answer");
                    Err(Unheard { why, usage })
                }
            }
        })
    }
}

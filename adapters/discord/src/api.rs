//! Calls of Discord's REST API over HTTP, with serenity's types. serenity's own client is not used: it drops how long a 429
//! asks to wait, and does not tell a call that was never sent from one whose answer was lost. What a failure means for a
//! delivery is in `outcome`.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::multipart::Form;
use reqwest::{Client, Method, RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept: shorter than the servers do, so that none is used that they are about to close.
const IDLE: Duration = Duration::from_secs(20);

/// Discord asks every client to say what it is, and its proxies refuse some that do not.
const AGENT: &str = concat!("DiscordBot (countersign, ", env!("CARGO_PKG_VERSION"), ")");

/// Why a call did not succeed. No text in it holds a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Discord, or something before it, said no.
    Refused(Refusal),
    /// Nothing was sent: there was no connection.
    Unsent(String),
    /// It was sent, or may have been, and no answer came that could be read.
    Lost(String),
}

/// An answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Discord's own code ("JSON Error Codes" of its reference); 0 where it gives none.
    pub(crate) code: u32,
    /// Discord's words.
    pub(crate) message: String,
    /// Milliseconds to wait, where it says so.
    pub(crate) wait_ms: Option<u64>,
}

impl Trouble {
    /// Discord's own code, where it gave one.
    pub(crate) const fn code(&self) -> u32 {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Unsent(_) | Self::Lost(_) => 0,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Refusal { status, code: 0, message, .. }) => write!(f, "Discord answers {status}: {message}"),
            Self::Refused(Refusal { status, code, message, .. }) => {
                write!(f, "Discord answers {status} ({code}): {message}")
            }
            Self::Unsent(why) => write!(f, "Discord cannot be reached: {why}"),
            Self::Lost(why) => write!(f, "no answer from Discord: {why}"),
        }
    }
}

/// What an answer says that is no success.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    code: u32,
    #[serde(default)]
    message: String,
    retry_after: Option<f64>,
}

/// One bot at one server.
pub(crate) struct Api {
    client: Client,
    base: String,
    /// How long a call may take.
    limit: Duration,
}

impl Api {
    /// The error is a sentence that names the thing and the fix. No I/O.
    pub(crate) fn new(api_url: &str, token: &str, limit: Duration) -> Result<Self, String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if token.is_empty() || !token.chars().all(is_token) {
            let fix = "copy it again from the bot's page in the Developer Portal";
            return Err(format!("the Discord token has characters that no token has; {fix}"));
        }
        let url = Url::parse(api_url).map_err(|error| format!("the Discord server `{api_url}` is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
            return Err(format!("the Discord server `{api_url}` must begin with https:// or http://"));
        }
        let mut key = HeaderValue::try_from(format!("Bot {token}")).map_err(|error| error.to_string())?;
        key.set_sensitive(true);
        let client = Client::builder()
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, key)]))
            .user_agent(AGENT)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| format!("no HTTP client for Discord: {}", reason(error)))?;
        Ok(Self { client, base: format!("{}/api/v10", api_url.trim_end_matches('/')), limit })
    }

    /// Asks for something.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        read(&finish(self.request(Method::GET, path)).await?)
    }

    /// Makes a call with a body, and reads what comes of it.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Trouble> {
        read(&finish(self.request(method, path).json(body)).await?)
    }

    /// Makes a call of whose success nothing is read.
    pub(crate) async fn tell(&self, method: Method, path: &str, body: &impl Serialize) -> Result<(), Trouble> {
        finish(self.request(method, path).json(body)).await.map(drop)
    }

    /// Deletes something.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), Trouble> {
        finish(self.request(Method::DELETE, path)).await.map(drop)
    }

    /// Makes a call that takes a file.
    pub(crate) async fn upload<T: DeserializeOwned>(&self, path: &str, form: Form) -> Result<T, Trouble> {
        read(&finish(self.request(Method::POST, path).multipart(form)).await?)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).timeout(self.limit)
    }
}

/// Reads a result. One that cannot be read belongs to a call that was done.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Trouble> {
    serde_json::from_slice(body).map_err(|error| Trouble::Lost(format!("its answer has another form: {error}")))
}

async fn finish(request: RequestBuilder) -> Result<Vec<u8>, Trouble> {
    let response = request.send().await.map_err(trouble)?;
    let status = response.status();
    let wait = response.headers().get("retry-after").and_then(|wait| wait.to_str().ok()?.parse().ok());
    let body = response.bytes().await.map_err(trouble)?;
    judge(status, wait, &body)
}

/// What an answer says. Something that stands before Discord may answer in its own way: then the status counts.
fn judge(status: StatusCode, wait: Option<f64>, body: &[u8]) -> Result<Vec<u8>, Trouble> {
    if status.is_success() {
        return Ok(body.to_vec());
    }
    let said = serde_json::from_slice::<Said>(body).ok();
    let wait_ms = said.as_ref().and_then(|said| said.retry_after).or(wait).and_then(millis);
    let code = said.as_ref().map_or(0, |said| said.code);
    let message = said.map(|said| said.message).unwrap_or_default();
    // Discord says the status again in words such as `401: Unauthorized`.
    let message = message.strip_prefix(&format!("{}: ", status.as_u16())).unwrap_or(&message);
    let reason = status.canonical_reason().unwrap_or("no reason given");
    let message = if message.is_empty() { reason } else { message }.to_owned();
    Err(Trouble::Refused(Refusal { status: status.as_u16(), code, message, wait_ms }))
}

/// Seconds as milliseconds, rounded up; none where they are no time to wait.
fn millis(seconds: f64) -> Option<u64> {
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_micros().div_ceil(1000)).ok()
}

/// A connection that never stood carried nothing; anything later may have come through.
fn trouble(error: reqwest::Error) -> Trouble {
    if error.is_connect() { Trouble::Unsent(reason(error)) } else { Trouble::Lost(reason(error)) }
}

/// An error with its causes, without the URL, which may hold the token of an interaction.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, body: &str) -> Trouble {
        let status = StatusCode::from_u16(status).expect("it is a status");
        judge(status, Some(7.0), body.as_bytes()).expect_err("it is no success")
    }

    fn refused(status: u16, code: u32, message: &str, wait_ms: Option<u64>) -> Trouble {
        Trouble::Refused(Refusal { status, code, message: message.to_owned(), wait_ms })
    }

    #[test]
    fn an_answer_is_read_by_its_codes_and_not_by_its_words() {
        let too_many = r#"{"message":"You are being rate limited.","retry_after":0.3051,"global":false}"#;
        assert_eq!(judged(429, too_many), refused(429, 0, "You are being rate limited.", Some(306)));
        assert_eq!(judged(429, "<html>"), refused(429, 0, "Too Many Requests", Some(7000)));
        let missing = r#"{"message":"Missing Permissions","code":50013}"#;
        assert_eq!(judged(403, missing), refused(403, 50013, "Missing Permissions", Some(7000)));
        assert_eq!(judged(403, missing).to_string(), "Discord answers 403 (50013): Missing Permissions");
        let unauthorized = r#"{"message":"401: Unauthorized","code":0}"#;
        assert_eq!(judged(401, unauthorized).to_string(), "Discord answers 401: Unauthorized");
        assert_eq!(judged(502, "").to_string(), "Discord answers 502: Bad Gateway");
        assert_eq!(millis(-1.0), None);
    }

    #[test]
    fn a_token_or_a_server_that_cannot_be_is_refused_by_name() {
        let error = |url, token| Api::new(url, token, CONNECT).err().unwrap_or_default();
        assert_eq!(Api::new("https://discord.com", "MTA.x-y_z.Q", CONNECT).err(), None);
        let all = [error("https://a", "12 3"), error("https://a", ""), error("a.org", "1.a"), error("ftp://a", "1.a")];
        insta::assert_snapshot!(all.join("\n"), @r"
        the Discord token has characters that no token has; copy it again from the bot's page in the Developer Portal
        the Discord token has characters that no token has; copy it again from the bot's page in the Developer Portal
        the Discord server `a.org` is no URL: relative URL without a base
        the Discord server `ftp://a` must begin with https:// or http://
        ");
    }
}

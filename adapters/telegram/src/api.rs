//! Calls of the Bot API over HTTP, with teloxide's payloads. teloxide's own client is not used: it keeps Telegram's words and
//! drops its `error_code`, and waits ten seconds by itself after a 5xx, which is the outbox's to decide. What a failure
//! means for a delivery is in `outcome`.

use std::fmt;
use std::time::Duration;

use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use teloxide::requests::Payload;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(10);

/// The most bytes of an answer: a hundred updates of Telegram's are a few megabytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long an idle connection is kept: shorter than the servers do, so that none is used that they are about to close.
const IDLE: Duration = Duration::from_secs(20);

/// Why a call did not succeed. No text in it holds the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Telegram, or something before it, said no.
    Refused(Refusal),
    /// Nothing was sent: there was no connection.
    Unsent(String),
    /// It was sent, or may have been, and no answer came that could be read.
    Lost(String),
}

/// An answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Telegram's `error_code`, else the HTTP status.
    pub(crate) code: u16,
    /// Telegram's words.
    pub(crate) description: String,
    /// Seconds to wait, where it says so.
    pub(crate) retry_after: Option<u64>,
    /// The id of the supergroup that the group is by now, where it says so.
    pub(crate) moved_to: Option<i64>,
    /// Whether Telegram said it, in its own form. Something that stands before it knows neither the token nor the effect.
    pub(crate) from_telegram: bool,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Refusal { code, description, from_telegram, .. }) => {
                let who = if *from_telegram { "Telegram" } else { "something before Telegram" };
                write!(f, "{who} answers {code}: {description}")
            }
            Self::Unsent(why) => write!(f, "Telegram cannot be reached: {why}"),
            Self::Lost(why) => write!(f, "no answer from Telegram: {why}"),
        }
    }
}

/// What every answer looks like (the Bot API, "Making requests").
#[derive(Deserialize)]
struct Answer {
    ok: bool,
    result: Option<Box<RawValue>>,
    error_code: Option<u16>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

/// One bot at one server of the Bot API.
pub(crate) struct Api {
    client: Client,
    /// Holds the token: never shown.
    base: String,
    /// How long a call may take, unless it says otherwise.
    limit: Duration,
}

impl Api {
    /// The error is a sentence that names the thing and the fix. No I/O.
    pub(crate) fn new(api_url: &str, token: &str, limit: Duration) -> Result<Self, String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_');
        if token.is_empty() || !token.chars().all(is_token) {
            return Err("the Telegram token has characters that no token has; copy it again from @BotFather".to_owned());
        }
        let url = Url::parse(api_url).map_err(|error| format!("the Telegram server `{api_url}` is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
            return Err(format!("the Telegram server `{api_url}` must begin with https:// or http://"));
        }
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| format!("no HTTP client for Telegram: {}", reason(error)))?;
        Ok(Self { client, base: format!("{}/bot{token}", api_url.trim_end_matches('/')), limit })
    }

    /// Calls a method and reads its result.
    pub(crate) async fn call<P, T>(&self, payload: &P) -> Result<T, Trouble>
    where
        P: Payload + Serialize + Sync,
        T: DeserializeOwned,
    {
        read(&self.call_within(payload, self.limit).await?)
    }

    /// Calls a method that may take its time; the result as it came.
    pub(crate) async fn call_within<P>(&self, payload: &P, limit: Duration) -> Result<Box<RawValue>, Trouble>
    where
        P: Payload + Serialize + Sync,
    {
        finish(self.request(P::NAME, limit).json(payload)).await
    }

    /// Calls a method that takes a file.
    pub(crate) async fn upload<T: DeserializeOwned>(&self, method: &str, form: Form) -> Result<T, Trouble> {
        read(&finish(self.request(method, self.limit).multipart(form)).await?)
    }

    fn request(&self, method: &str, limit: Duration) -> RequestBuilder {
        self.client.post(format!("{}/{method}", self.base)).timeout(limit)
    }
}

/// Reads a result. One that cannot be read belongs to a call that was done.
fn read<T: DeserializeOwned>(result: &RawValue) -> Result<T, Trouble> {
    serde_json::from_str(result.get()).map_err(|error| Trouble::Lost(format!("its answer has another form: {error}")))
}

async fn finish(request: RequestBuilder) -> Result<Box<RawValue>, Trouble> {
    let response = request.send().await.map_err(trouble)?;
    let status = response.status();
    let body = whole(response).await?;
    judge(status, &body)
}

/// All of an answer, as long as it is one of Telegram's: what stands in its place must not fill the memory.
async fn whole(mut response: Response) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(trouble)? {
        if body.len().saturating_add(part.len()) > ANSWER_BYTES_MAX {
            return Err(Trouble::Lost(format!("its answer is longer than {} MiB", ANSWER_BYTES_MAX >> 20)));
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// What an answer says. Something that stands before Telegram may answer in its own way: then the status counts.
fn judge(status: StatusCode, body: &[u8]) -> Result<Box<RawValue>, Trouble> {
    match serde_json::from_slice::<Answer>(body) {
        Ok(Answer { ok: true, result: Some(result), .. }) if status.is_success() => Ok(result),
        Ok(answer) if !answer.ok => Err(Trouble::Refused(Refusal {
            from_telegram: answer.error_code.is_some(),
            code: answer.error_code.unwrap_or(status.as_u16()),
            description: answer.description.unwrap_or_default(),
            retry_after: answer.parameters.as_ref().and_then(|parameters| parameters.retry_after),
            moved_to: answer.parameters.and_then(|parameters| parameters.migrate_to_chat_id),
        })),
        Ok(_) | Err(_) if !status.is_success() => Err(Trouble::Refused(Refusal {
            code: status.as_u16(),
            description: status.canonical_reason().unwrap_or("no reason given").to_owned(),
            retry_after: None,
            moved_to: None,
            from_telegram: false,
        })),
        Ok(_) | Err(_) => Err(Trouble::Lost("its answer could not be read".to_owned())),
    }
}

/// A connection that never stood carried nothing; anything later may have come through.
fn trouble(error: reqwest::Error) -> Trouble {
    if error.is_connect() { Trouble::Unsent(reason(error)) } else { Trouble::Lost(reason(error)) }
}

/// An error with its causes, without the URL, which holds the token.
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

    fn judged(status: u16, body: &str) -> Result<String, Trouble> {
        let status = StatusCode::from_u16(status).expect("it is a status");
        judge(status, body.as_bytes()).map(|result| result.get().to_owned())
    }

    fn refused(code: u16, description: &str, retry_after: Option<u64>) -> Result<String, Trouble> {
        let description = description.to_owned();
        Err(Trouble::Refused(Refusal { code, description, retry_after, moved_to: None, from_telegram: true }))
    }

    fn refused_before(code: u16, description: &str) -> Result<String, Trouble> {
        let description = description.to_owned();
        Err(Trouble::Refused(Refusal { code, description, retry_after: None, moved_to: None, from_telegram: false }))
    }

    #[test]
    fn an_answer_is_read_by_its_code_and_not_by_its_words() {
        assert_eq!(judged(200, r#"{"ok":true,"result":{"message_id":7}}"#), Ok(r#"{"message_id":7}"#.to_owned()));
        let too_many = r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 238","parameters":{"retry_after":238}}"#;
        assert_eq!(judged(429, too_many), refused(429, "Too Many Requests: retry after 238", Some(238)));
        let misleading = r#"{"ok":false,"error_code":400,"description":"Bad Request: 429 in the text"}"#;
        assert_eq!(judged(400, misleading), refused(400, "Bad Request: 429 in the text", None));
        let its_own = r#"{"ok":false,"error_code":502,"description":"Bad Gateway"}"#;
        assert_eq!(judged(502, its_own), refused(502, "Bad Gateway", None));
        assert_eq!(judged(502, "<html>Bad Gateway</html>"), refused_before(502, "Bad Gateway"));
        assert_eq!(judged(401, r#"{"ok":false}"#), refused_before(401, ""), "Telegram always says its code");
        assert_eq!(judged(200, "<html>"), Err(Trouble::Lost("its answer could not be read".to_owned())));
        assert_eq!(judged(200, r#"{"ok":true}"#), Err(Trouble::Lost("its answer could not be read".to_owned())));
    }

    #[test]
    fn a_token_or_a_server_that_cannot_be_is_refused_by_name() {
        let error = |url, token| Api::new(url, token, CONNECT).err().unwrap_or_default();
        assert_eq!(Api::new("https://api.telegram.org", "123:AB-c_d", CONNECT).err(), None);
        let all = [error("https://a", "12 3"), error("https://a", ""), error("a.org", "1:a"), error("ftp://a", "1:a")];
        insta::assert_snapshot!(all.join("\n"), @r"
        the Telegram token has characters that no token has; copy it again from @BotFather
        the Telegram token has characters that no token has; copy it again from @BotFather
        the Telegram server `a.org` is no URL: relative URL without a base
        the Telegram server `ftp://a` must begin with https:// or http://
        ");
    }
}

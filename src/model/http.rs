//! HTTP to a model's server, and to no other: no redirect is followed, no proxy is taken from the environment, connecting has
//! a time limit of its own, and an answer is read as it comes, up to so many bytes. What stands in an answer is not looked at.
//!
//! async-openai is not used for it: it reads an answer whole, whatever its size, and writes what it cannot read into the log;
//! and of a stream it does not tell whether it ended or broke off.

use std::time::Duration;

use reqwest13::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest13::redirect::Policy;
use reqwest13::{Client, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::trouble::{Refusal, Trouble};

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of an answer. Each token of a stream comes in some three hundred of them.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most bytes that are read of a refusal.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;

/// The longest wait that a server is believed to ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// One server.
pub(super) struct Server {
    client: Client,
    /// Up to and with `/v1`, without a slash at the end.
    base_url: String,
    key: Option<HeaderValue>,
}

impl Server {
    /// The server at this address, with its key; an empty one is none. No I/O.
    pub(super) fn new(base_url: &str, key: &str) -> anyhow::Result<Self> {
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT_LIMIT)
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| {
                anyhow::anyhow!("connections to models cannot be made on this machine: {}", cause(&error))
            })?;
        let key = match key.trim() {
            "" => None,
            key => {
                let header = HeaderValue::from_str(&format!("Bearer {key}"));
                let mut header = header.map_err(|_| anyhow::anyhow!("`model.api_key` holds what no key has in it"))?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        Ok(Self { client, base_url: base_url.trim_end_matches('/').to_owned(), key })
    }

    /// Where it is.
    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Where its own interface is, beside `/v1`.
    fn beside(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.strip_suffix("/v1").unwrap_or(&self.base_url))
    }

    /// Sends JSON below `/v1`. What comes back is an answer that has begun.
    pub(super) async fn post(&self, path: &str, body: &impl Serialize) -> Result<Answer, Trouble> {
        self.send(self.client.post(format!("{}{path}", self.base_url)), Some(body)).await
    }

    /// The same beside `/v1`. What comes back may be of any length, and is not to be kept.
    pub(super) async fn post_beside(&self, path: &str, body: &impl Serialize) -> Result<Answer, Trouble> {
        let answer = self.send(self.client.post(self.beside(path)), Some(body)).await?;
        Ok(Answer { left: usize::MAX, ..answer })
    }

    /// Fetches JSON from below `/v1`.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        self.send(self.client.get(format!("{}{path}", self.base_url)), None::<&()>).await?.json().await
    }

    /// The same from beside it.
    pub(super) async fn get_beside<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        self.send(self.client.get(self.beside(path)), None::<&()>).await?.json().await
    }

    async fn send(&self, mut request: RequestBuilder, body: Option<&impl Serialize>) -> Result<Answer, Trouble> {
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        if let Some(body) = body {
            let body = serde_json::to_vec(body).map_err(|error| Trouble::Senseless(error.to_string()))?;
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(|error| Trouble::Unreachable(cause(&error)))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Trouble::Elsewhere(status.as_u16()));
        }
        let retry_after = retry_after(response.headers());
        let mut answer = Answer { response, left: ANSWER_BYTES_MAX };
        if status.is_success() {
            return Ok(answer);
        }
        Err(Trouble::Refused(Refusal::new(status.as_u16(), &answer.beginning().await, retry_after)))
    }
}

/// An answer that has begun, and is read as it comes.
pub(super) struct Answer {
    response: Response,
    /// How many bytes may still come.
    left: usize,
}

impl Answer {
    /// Whether the server calls it a stream.
    pub(super) fn is_stream(&self) -> bool {
        let called = self.response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        called.is_some_and(|called| called.trim().to_ascii_lowercase().starts_with("text/event-stream"))
    }

    /// What came next; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(piece) = self.response.chunk().await.map_err(|_| Trouble::Broken)? else { return Ok(None) };
        self.left = self.left.checked_sub(piece.len()).ok_or(Trouble::Endless(ANSWER_BYTES_MAX / 1024))?;
        Ok(Some(piece.to_vec()))
    }

    /// All of it, as JSON.
    pub(super) async fn json<T: DeserializeOwned>(mut self) -> Result<T, Trouble> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            whole.extend(piece);
        }
        serde_json::from_slice(&whole).map_err(|error| Trouble::Senseless(error.to_string()))
    }

    /// As much of it as a refusal has; what is missing of that is missed by nobody.
    async fn beginning(&mut self) -> Vec<u8> {
        let mut whole = Vec::new();
        while let Ok(Some(piece)) = self.next().await {
            whole.extend(piece);
            if whole.len() > REFUSAL_BYTES_MAX {
                whole.truncate(REFUSAL_BYTES_MAX);
                break;
            }
        }
        whole
    }
}

/// How long a server asks to be left alone, in whole or broken seconds or in milliseconds. A date is passed over.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(RETRY_AFTER_MAX))
}

/// The innermost cause: the others say in other words that a request failed. Never with the address, which may hold anything.
fn cause(error: &reqwest13::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, error) { "the connection failed".to_owned() } else { cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(name: &'static str, value: &'static str) -> Option<Duration> {
        retry_after(&HeaderMap::from_iter([(name.parse().expect("it is a name"), HeaderValue::from_static(value))]))
    }

    #[test]
    fn a_wait_is_understood_and_bounded() {
        assert_eq!(asks("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(asks("retry-after", " 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(asks("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(asks("retry-after", "1e300"), None);
        assert_eq!(asks("retry-after", "99999999"), Some(RETRY_AFTER_MAX));
        for nonsense in ["-1", "NaN", "inf", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(asks("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_key_that_fits_into_no_header_is_named_and_not_shown() {
        let problem = Server::new("http://localhost/v1", "sk-one\nX: two").err().map(|error| error.to_string());
        assert_eq!(problem.as_deref(), Some("`model.api_key` holds what no key has in it"));
        assert!(Server::new("http://localhost/v1/", " sk-one\n").is_ok());
    }

    #[test]
    fn what_is_beside_v1_is_found_also_without_it() {
        let beside = |url: &str| Server::new(url, "").map(|server| server.beside("/api/tags")).unwrap_or_default();
        assert_eq!(beside("http://localhost:11434/v1/"), "http://localhost:11434/api/tags");
        assert_eq!(beside("http://localhost:11434"), "http://localhost:11434/api/tags");
    }
}

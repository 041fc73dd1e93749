//! A small client of the Bot API for the tests: any method with any parameters, well-formed or not.

use countersign_telegram_fake::{ChatId, Fake};
use reqwest::Client;
use reqwest::multipart::Form;
use serde_json::{Value, json};

/// A bot that does what a test says.
#[derive(Clone)]
pub(crate) struct Bot {
    http: Client,
    base: String,
}

impl Bot {
    pub(crate) fn new(fake: &Fake) -> Self {
        Self::with_token(fake, fake.token())
    }

    pub(crate) fn with_token(fake: &Fake, token: &str) -> Self {
        let http = Client::builder().no_proxy().build().expect("a client can be built");
        Self { http, base: format!("{}/bot{token}", fake.base_url()) }
    }

    /// The whole answer, or why there was none.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, reqwest::Error> {
        self.http.post(format!("{}/{method}", self.base)).json(&params).send().await?.json().await
    }

    /// The `result`; anything else fails the test.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await.expect("the fake answers");
        assert_eq!(answer["ok"], true, "{method}: {answer}");
        answer["result"].clone()
    }

    /// (`error_code`, `description`); anything else fails the test.
    pub(crate) async fn refused(&self, method: &str, params: Value) -> (u64, String) {
        let answer = self.ask(method, params).await.expect("the fake answers");
        assert_eq!(answer["ok"], false, "{method}: {answer}");
        let words = answer["description"].as_str().unwrap_or_default();
        (answer["error_code"].as_u64().unwrap_or_default(), words.to_owned())
    }

    pub(crate) async fn upload(&self, method: &str, form: Form) -> Value {
        let sent = self.http.post(format!("{}/{method}", self.base)).multipart(form).send().await;
        sent.expect("the fake answers").json().await.expect("in JSON")
    }

    /// The id of a new message.
    pub(crate) async fn send(&self, chat: ChatId, text: &str) -> i64 {
        let sent = self.call("sendMessage", json!({ "chat_id": chat.0, "text": text })).await;
        sent["message_id"].as_i64().expect("a message has an id")
    }

    /// The id of a new message with one button, `Go`, which bears `data`.
    pub(crate) async fn send_button(&self, chat: ChatId, data: &str) -> i64 {
        let markup = json!({ "inline_keyboard": [[{ "text": "Go", "callback_data": data }]] });
        let sent = self.call("sendMessage", json!({ "chat_id": chat.0, "text": "go?", "reply_markup": markup })).await;
        sent["message_id"].as_i64().expect("a message has an id")
    }

    /// All updates that are there, without confirming any.
    pub(crate) async fn updates(&self) -> Vec<Value> {
        let updates = self.call("getUpdates", json!({})).await;
        updates.as_array().cloned().unwrap_or_default()
    }
}

/// The ids of the updates.
pub(crate) fn ids(updates: &Value) -> Vec<i64> {
    updates.as_array().into_iter().flatten().filter_map(|update| update["update_id"].as_i64()).collect()
}

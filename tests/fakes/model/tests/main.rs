//! The fake as a bot meets it, over HTTP.

use countersign_model_fake::{Fake, Turn};
use serde_json::{Value, json};

async fn ask(fake: &Fake, body: &Value) -> (u16, Value) {
    let url = format!("{}/chat/completions", fake.base_url());
    let answer = reqwest::Client::new().post(url).json(body).send().await.expect("it answers");
    (answer.status().as_u16(), answer.json().await.expect("it is JSON"))
}

fn question() -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] })
}

#[tokio::test]
async fn it_says_what_it_was_told_to_and_writes_down_what_it_was_asked() {
    let fake = Fake::start(vec![Turn::call("a__b", &json!({ "c": 1 })), Turn::Refuses(503)]);
    let (status, answer) = ask(&fake, &question()).await;
    assert_eq!((status, &answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"]), (200, &json!("a__b")));
    assert_eq!(ask(&fake, &question()).await.0, 503);
    let (_, last) = ask(&fake, &question()).await;
    assert_eq!(last["choices"][0]["message"]["content"], "I cannot say.");
    assert_eq!(fake.asked(), vec![question(); 3]);
}

#[tokio::test]
async fn what_a_server_would_refuse_is_refused() {
    let fake = Fake::start(Vec::new());
    let with = |key: &str, value: Value| {
        let mut question = question();
        question[key] = value;
        question
    };
    let tool =
        |name: &str| json!([{ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } }]);
    assert_eq!(ask(&fake, &with("tools", tool("a__b"))).await.0, 200);
    let wrong = [
        with("model", json!("")),
        with("messages", json!([])),
        with("messages", json!([{ "role": "god", "content": "x" }])),
        with("extra", json!(1)),
        with("tools", json!([])),
        with("tools", tool("a.b")),
        with("tool_choice", json!("auto")),
    ];
    for question in wrong {
        assert_eq!(ask(&fake, &question).await.0, 400, "{question}");
    }
}

//! The fake as a bot meets it: over HTTP by hand, and by `async-openai`, a client of `OpenAI`'s own protocol that takes nothing
//! which is not in its form.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionStreamResponse};
use countersign_model_fake::{End, Fake, Turn, Ways};
use serde_json::{Value, json};

async fn post(fake: &Fake, path: &str, body: &Value) -> (u16, String) {
    let url = fake.base_url().replace("/v1", path);
    let answer = reqwest::Client::new().post(url).json(body).send().await.expect("it answers");
    (answer.status().as_u16(), answer.text().await.expect("it is text"))
}

async fn ask(fake: &Fake, body: &Value) -> (u16, Value) {
    let (status, text) = post(fake, "/v1/chat/completions", body).await;
    (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

async fn get(fake: &Fake, path: &str, key: &str) -> (u16, Value) {
    let request = reqwest::Client::new().get(fake.base_url().replace("/v1", path)).bearer_auth(key);
    let answer = request.send().await.expect("it answers");
    (answer.status().as_u16(), answer.json().await.expect("it is JSON"))
}

fn question() -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] })
}

fn with(key: &str, value: Value) -> Value {
    let mut question = question();
    question[key] = value;
    question
}

fn tool(name: &str) -> Value {
    json!([{ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } }])
}

fn schema(name: &str, properties: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema } })
}

fn client(fake: &Fake) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(fake.base_url()).with_api_key("k"))
}

fn typed(question: Value) -> CreateChatCompletionRequest {
    serde_json::from_value(question).expect("it is a question")
}

/// The chunks of a stream, each in the form that the protocol has.
async fn streamed(fake: &Fake, question: Value) -> Vec<CreateChatCompletionStreamResponse> {
    let stream = client(fake).chat().create_stream(typed(question)).await.expect("it streams");
    let chunks: Vec<_> = futures::StreamExt::collect(stream).await;
    chunks.into_iter().map(|chunk| chunk.expect("each is a chunk")).collect()
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
    assert_eq!(ask(&fake, &with("tools", tool("a__b"))).await.0, 200);
    let text = json!({ "a": { "type": "string", "maxLength": 9 } });
    assert_eq!(ask(&fake, &with("response_format", schema("a", &text))).await.0, 200);
    let user = json!({ "role": "user", "content": "x" });
    let wrong = [
        with("model", json!("")),
        with("messages", json!([])),
        with("messages", json!([{ "role": "god", "content": "x" }])),
        with("messages", json!([user, user])),
        with("extra", json!(1)),
        with("tools", json!([])),
        with("tools", tool("a.b")),
        with("tool_choice", json!("auto")),
        with("stream_options", json!({ "include_usage": true })),
        with("response_format", json!({ "type": "json_object" })),
        with("response_format", schema("a.b", &text)),
        with("response_format", schema("a", &json!({ "a": { "type": "string" } }))),
        with("response_format", json!({ "type": "json_schema", "json_schema": { "name": "a", "schema": {} } })),
    ];
    for question in wrong {
        assert_eq!(ask(&fake, &question).await.0, 400, "{question}");
    }
}

#[tokio::test]
async fn a_client_of_the_protocol_reads_what_it_says_whole_and_in_pieces() {
    let turns = || vec![Turn::says("Grüße, 日本 🎉"), Turn::call("a__b", &json!({ "c": "ü" }))];
    let fake = Fake::start(turns());
    let whole = client(&fake).chat().create(typed(question())).await.expect("it answers");
    assert_eq!(whole.choices[0].message.content.as_deref(), Some("Grüße, 日本 🎉"));
    let whole = client(&fake).chat().create(typed(question())).await.expect("it answers");
    assert!(format!("{:?}", whole.choices[0].message.tool_calls).contains("a__b"), "{whole:?}");
    assert!(whole.usage.is_some_and(|usage| usage.completion_tokens > 0));

    fake.then(turns());
    let mut asked = with("stream", json!(true));
    let said = streamed(&fake, asked.clone()).await;
    let text: String = said.iter().filter_map(|chunk| chunk.choices.first()?.delta.content.as_deref()).collect();
    assert_eq!(text, "Grüße, 日本 🎉");
    assert!(said.len() > 4 && said.iter().all(|chunk| chunk.usage.is_none()), "{said:?}");
    asked["stream_options"] = json!({ "include_usage": true });
    let called = streamed(&fake, asked).await;
    let arguments: String = called
        .iter()
        .filter_map(|chunk| {
            chunk.choices.first()?.delta.tool_calls.as_ref()?.first()?.function.as_ref()?.arguments.as_deref()
        })
        .collect();
    assert_eq!(arguments, r#"{"c":"ü"}"#);
    assert!(called.last().is_some_and(|last| last.usage.is_some() && last.choices.is_empty()));
}

#[tokio::test]
async fn a_model_without_functions_chooses_and_then_says_what_with() {
    let ways = Ways { refuses: vec![("tools", 400)], ..Ways::default() };
    let none = Turn::call("a__none", &json!({}));
    let fake = Fake::with(ways, vec![none, Turn::call("a__b", &json!({ "c": 1 })), Turn::says("All is well.")]);
    assert_eq!(ask(&fake, &with("tools", tool("a__b"))).await.0, 400);
    let next = json!({ "next": { "type": "string", "enum": ["a__none", "a__b", "answer"] } });
    let choice = with("response_format", schema("choice", &next));
    let arguments = with("response_format", schema("a__b", &json!({ "c": { "type": "integer" } })));
    let mut said = Vec::new();
    for question in [&choice, &choice, &arguments, &choice, &question()] {
        let (_, answer) = ask(&fake, question).await;
        said.push(answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned());
    }
    let expected =
        [r#"{"next":"a__none"}"#, r#"{"next":"a__b"}"#, r#"{"c":1}"#, r#"{"next":"answer"}"#, "All is well."];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn it_fails_in_each_way_that_it_is_told_to() {
    let turns = vec![
        Turn::Busy(429, "7".to_owned()),
        Turn::Redirects("http://127.0.0.1:9/".to_owned()),
        Turn::SaysNo(400, "no tools here".to_owned()),
        Turn::IsCut("half".to_owned()),
        Turn::InOne(Box::new(Turn::says("whole"))),
    ];
    let fake = Fake::start(turns);
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let url = format!("{}/chat/completions", fake.base_url());
    let send = || client.post(&url).json(&with("stream", json!(true))).send();
    let busy = send().await.expect("it answers");
    assert_eq!((busy.status().as_u16(), &busy.headers()["retry-after"]), (429, &"7".parse().expect("a value")));
    let elsewhere = send().await.expect("it answers");
    assert_eq!((elsewhere.status().as_u16(), elsewhere.headers().contains_key("location")), (307, true));
    assert!(send().await.expect("it answers").text().await.is_ok_and(|text| text.contains("no tools here")));
    assert!(
        send().await.expect("it answers").text().await.is_ok_and(|text| text.contains("\"finish_reason\":\"length\""))
    );
    assert!(send().await.expect("it answers").text().await.is_ok_and(|text| text.starts_with('{')));

    fake.then(vec![
        Turn::begins("Half", End::Breaks),
        Turn::begins("On ", End::GoesOn),
        Turn::begins("All", End::Closes),
    ]);
    let mut broken = send().await.expect("it begins");
    assert!(broken.chunk().await.is_ok_and(|piece| piece.is_some()), "what was said before has come");
    assert!(broken.chunk().await.is_err());
    let mut endless = send().await.expect("it begins");
    for _ in 0..100 {
        assert!(endless.chunk().await.is_ok_and(|piece| piece.is_some()));
    }
    drop(endless);
    assert!(send().await.expect("it begins").text().await.is_ok_and(|text| text.contains("All")));
}

#[tokio::test]
async fn it_lists_its_models_and_gets_what_it_can() {
    let ways = Ways { key: Some("k".to_owned()), pulls: None, ..Ways::default() };
    let fake = Fake::with(ways, Vec::new());
    assert_eq!(get(&fake, "/v1/models", "wrong").await.0, 401);
    let (status, models) = get(&fake, "/v1/models", "k").await;
    assert_eq!((status, &models["data"][0]["id"]), (200, &json!("m")));
    assert_eq!(get(&fake, "/api/tags", "k").await.0, 404, "it is no Ollama");

    fake.becomes(Ways { pulls: Some(vec!["big".to_owned()]), ..Ways::default() });
    assert_eq!(get(&fake, "/api/tags", "").await.1["models"][0]["name"], "m");
    let (_, said) = post(&fake, "/api/pull", &json!({ "model": "none" })).await;
    assert!(said.contains("file does not exist"), "{said}");
    let (_, said) = post(&fake, "/api/pull", &json!({ "model": "big" })).await;
    assert!(said.ends_with("{\"status\":\"success\"}\n"), "{said}");
    assert_eq!(get(&fake, "/api/tags", "").await.1["models"][1]["name"], "big");
    assert_eq!(fake.seen().len(), 7);
}

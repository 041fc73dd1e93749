//! What Discord refuses, in its form: wrong payloads with the tree that names each field, and things that are not there.

use countersign_discord_fake::{Access, BOT, Fake, GUILD, Say};
use serde_json::{Value, json};

use crate::support::{Bot, everywhere, id};

fn button(data: &str) -> Value {
    json!({ "type": 2, "style": 1, "label": "Go", "custom_id": data })
}

fn row(keys: impl Into<Value>) -> Value {
    json!({ "type": 1, "components": keys.into() })
}

/// Where the error tree names something, as `path: CODE`.
fn named(errors: &Value, path: &str) -> Vec<String> {
    let Some(fields) = errors.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (name, inner) in fields {
        if name == "_errors" {
            let codes = inner.as_array().into_iter().flatten().filter_map(|error| error["code"].as_str());
            found.extend(codes.map(|code| format!("{path}: {code}")));
        } else {
            found.extend(named(inner, &format!("{path}.{name}")));
        }
    }
    found
}

/// A body, and where and how the answer must say that it is wrong.
type Case = (Value, &'static str);

fn texts() -> Vec<Case> {
    vec![
        (json!({ "content": "x".repeat(2001) }), ".content: BASE_TYPE_MAX_LENGTH"),
        (json!({ "content": "x", "colour": 1 }), ".colour: FAKE_UNKNOWN_FIELD"),
        (json!({ "content": 5 }), ".content: STRING_TYPE_CONVERT"),
        (
            json!({ "content": "x", "allowed_mentions": { "parse": ["all"] } }),
            ".allowed_mentions.parse: BASE_TYPE_CHOICES",
        ),
        (
            json!({ "content": "x", "allowed_mentions": { "parse": ["users"], "users": ["1"] } }),
            ".allowed_mentions.users: MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        (json!({ "content": "x", "nonce": "x".repeat(26) }), ".nonce: BASE_TYPE_MAX_LENGTH"),
        (
            json!({ "content": "x", "message_reference": { "message_id": "404" } }),
            ".message_reference: MESSAGE_REFERENCE_UNKNOWN_MESSAGE",
        ),
        (json!({ "content": "x", "flags": 64 }), ".flags: FAKE_EPHEMERAL"),
    ]
}

fn keyboards() -> Vec<Case> {
    let many = |count: usize| (0..count).map(|at| button(&at.to_string())).collect::<Vec<_>>();
    let options: Vec<_> = (0..26).map(|at| json!({ "label": "x", "value": at.to_string() })).collect();
    let menu = |options: &Value| json!({ "type": 3, "custom_id": "m", "options": options });
    vec![
        (
            json!({ "components": (0..6).map(|at| row(vec![button(&at.to_string())])).collect::<Vec<_>>() }),
            ".components: BASE_TYPE_BAD_LENGTH",
        ),
        (json!({ "components": [row(many(6))] }), ".components.0.components: BASE_TYPE_BAD_LENGTH"),
        (json!({ "components": [row(json!([]))] }), ".components.0.components: BASE_TYPE_BAD_LENGTH"),
        (json!({ "components": [button("x")] }), ".components.0.type: UNION_TYPE_CHOICES"),
        (
            json!({ "components": [row(vec![button(&"x".repeat(101))])] }),
            ".components.0.components.0.custom_id: BASE_TYPE_MAX_LENGTH",
        ),
        (
            json!({ "components": [row(vec![json!({ "type": 2, "style": 1, "label": "Go" })])] }),
            ".components.0.components.0.custom_id: BUTTON_COMPONENT_CUSTOM_ID_REQUIRED",
        ),
        (
            json!({ "components": [row(vec![json!({ "type": 2, "style": 1, "custom_id": "x" })])] }),
            ".components.0.components.0: BUTTON_COMPONENT_INVALID_LABEL_OR_EMOJI",
        ),
        (
            json!({ "components": [row(vec![json!({ "type": 2, "style": 5, "label": "x", "url": "ftp://x" })])] }),
            ".components.0.components.0.url: URL_TYPE_INVALID_URL",
        ),
        (
            json!({ "components": [row(vec![button("x"), button("x")])] }),
            ".components.0.components.1.custom_id: COMPONENT_CUSTOM_ID_DUPLICATED",
        ),
        (
            json!({ "components": [row(vec![menu(&json!(options))])] }),
            ".components.0.components.0.options: BASE_TYPE_BAD_LENGTH",
        ),
        (
            json!({ "components": [row(vec![menu(&json!([]))])] }),
            ".components.0.components.0.options: BASE_TYPE_BAD_LENGTH",
        ),
    ]
}

fn cards() -> Vec<Case> {
    let fields: Vec<_> = (0..26).map(|_| json!({ "name": "n", "value": "v" })).collect();
    vec![
        (json!({ "embeds": [{ "title": "x".repeat(257) }] }), ".embeds.0.title: BASE_TYPE_MAX_LENGTH"),
        (json!({ "embeds": [{ "description": "x".repeat(4097) }] }), ".embeds.0.description: BASE_TYPE_MAX_LENGTH"),
        (json!({ "embeds": [{ "fields": fields }] }), ".embeds.0.fields: BASE_TYPE_BAD_LENGTH"),
        (
            json!({ "embeds": [{ "fields": [{ "name": "x".repeat(257), "value": "v" }] }] }),
            ".embeds.0.fields.0.name: BASE_TYPE_MAX_LENGTH",
        ),
        (
            json!({ "embeds": [{ "fields": [{ "name": "n", "value": "x".repeat(1025) }] }] }),
            ".embeds.0.fields.0.value: BASE_TYPE_MAX_LENGTH",
        ),
        (json!({ "embeds": [{ "fields": [{ "name": "n" }] }] }), ".embeds.0.fields.0.value: BASE_TYPE_REQUIRED"),
        (
            json!({ "embeds": [{ "description": "x".repeat(3500) }, { "description": "x".repeat(3500) }] }),
            ".embeds: MAX_EMBED_SIZE_EXCEEDED",
        ),
        (json!({ "embeds": [{}] }), ".embeds.0.description: BASE_TYPE_REQUIRED"),
    ]
}

#[tokio::test]
async fn a_wrong_message_is_named_field_by_field() {
    let fake = Fake::start().await;
    let (bot, ops) = (Bot::new(&fake), fake.channel("ops"));
    let path = format!("/channels/{}/messages", ops.0);
    for (body, expected) in [texts(), keyboards(), cards()].concat() {
        let (status, code, answer) = bot.refused("POST", &path, body).await;
        assert_eq!((status, code, &answer["message"]), (400, 50_035, &json!("Invalid Form Body")), "{expected}");
        let found = named(&answer["errors"], "");
        assert!(found.iter().any(|found| found == expected), "{expected} is not among {found:?}");
    }
    for body in [json!({}), json!({ "content": "  \n" }), json!({ "content": "", "embeds": [] })] {
        assert_eq!(bot.refused("POST", &path, body).await.1, 50_006);
    }
    assert!(fake.messages(ops).is_empty(), "what is refused changes nothing");
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed_has_its_own_code() {
    let fake = Fake::start().await;
    let (bot, carol, ops) = (Bot::new(&fake), fake.user(11, "Carol"), fake.channel("ops"));
    let said = fake.say(Say::new(carol, ops, "hello"));
    let (hello, channel) = (json!({ "content": "hello" }), format!("/channels/{}", ops.0));
    let message = |id: u64| format!("{channel}/messages/{id}");
    let code = async |verb: &str, path: &str, body: &Value| {
        let (status, code, _) = bot.refused(verb, path, body.clone()).await;
        (status, code)
    };
    assert_eq!(code("POST", "/channels/5/messages", &hello).await, (404, 10_003));
    assert_eq!(code("PATCH", &message(5), &hello).await, (404, 10_008));
    assert_eq!(code("PATCH", &message(said), &hello).await, (403, 50_005));
    assert_eq!(code("PUT", &format!("{}/reactions/x/@me", message(said)), &Value::Null).await, (404, 10_014));
    assert_eq!(code("POST", &format!("{}/threads", message(said)), &json!({})).await, (400, 50_035));
    bot.call("POST", &format!("{}/threads", message(said)), json!({ "name": "web" })).await;
    assert_eq!(code("POST", &format!("{}/threads", message(said)), &json!({ "name": "web" })).await, (400, 160_004));
    let direct = fake.private(carol);
    assert_eq!(
        code("POST", &format!("/channels/{}/threads", direct.0), &json!({ "name": "web" })).await,
        (400, 50_024)
    );
    fake.block(carol);
    assert_eq!(code("POST", &format!("/channels/{}/messages", direct.0), &hello).await, (403, 50_007));
    let thread = fake.thread(carol, ops, "db");
    fake.archive(thread, true);
    assert_eq!(code("POST", &format!("/channels/{}/messages", thread.0), &hello).await, (400, 50_083));
    fake.set_access(ops, Access::ReadOnly);
    assert_eq!(code("POST", &format!("{channel}/messages"), &hello).await, (403, 50_013));
    fake.kick(ops);
    assert_eq!(code("GET", &format!("{channel}/messages"), &Value::Null).await, (403, 50_001));
    assert_eq!(code("GET", "/nothing", &Value::Null).await, (404, 0));
    assert_eq!(code("GET", "/guilds/5", &Value::Null).await, (404, 10_004));
    assert_eq!(code("POST", "/users/@me/channels", &json!({ "recipient_id": "5" })).await, (404, 10_013));
    let stranger = Bot::with_token(&fake, "nobody");
    assert_eq!(stranger.refused("GET", "/users/@me", Value::Null).await.0, 401);
}

#[tokio::test]
async fn commands_are_checked() {
    let fake = Fake::start().await;
    let bot = Bot::new(&fake);
    let path = format!("/applications/{BOT}/commands");
    let good = |name: &str| everywhere(json!({ "name": name, "description": "d" }));
    let reaching = |name: &str, value: Value| {
        let mut command = good("status");
        command[name] = value;
        command
    };
    let required = json!({ "type": 3, "name": "b", "description": "d", "required": true });
    let optional = json!({ "type": 3, "name": "a", "description": "d" });
    let cases = [
        json!([good("Status")]),
        json!([good("two words")]),
        json!([good(&"x".repeat(33))]),
        json!([everywhere(json!({ "name": "status" }))]),
        json!([good("status"), good("status")]),
        json!([everywhere(json!({ "name": "status", "description": "d", "options": [optional, required] }))]),
        json!([everywhere(json!({ "type": 3, "name": "Explain", "description": "d" }))]),
        json!((0..101).map(|at| good(&format!("c{at}"))).collect::<Vec<_>>()),
        json!([{ "name": "status", "description": "d" }]),
        json!([reaching("integration_types", json!([0, 1]))]),
        json!([reaching("contexts", json!([0, 1, 2]))]),
        json!([reaching("contexts", Value::Null)]),
        json!({}),
    ];
    for body in cases {
        let (status, code, answer) = bot.refused("PUT", &path, body.clone()).await;
        assert_eq!((status, code), (400, 50_035), "{body}: {answer}");
    }
    let of_server = format!("/applications/{BOT}/guilds/{GUILD}/commands");
    assert_eq!(bot.refused("PUT", &of_server, json!([good("status")])).await.1, 50_035);
    assert!(fake.commands().is_empty());
    bot.call("PUT", &path, json!([good("status")])).await;
    assert_eq!(fake.commands().len(), 1);
}

#[tokio::test]
async fn whom_a_message_calls_is_recorded() {
    let fake = Fake::start().await;
    let (bot, carol, ops) = (Bot::new(&fake), fake.user(11, "Carol"), fake.channel("ops"));
    let asked = fake.say(Say::new(carol, ops, "hello"));
    let text = "<@11> @everyone <@&5> `<@12>`";
    let post = async |more: Value| {
        let mut body = json!({ "content": text, "message_reference": { "message_id": asked.to_string() } });
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        let sent = bot.post(ops, body).await;
        fake.message(ops, id(&sent)).expect("it is there").pings
    };
    assert_eq!(post(json!({})).await, ["<@11>", "<@&5>", "@everyone"]);
    assert!(post(json!({ "allowed_mentions": { "parse": [] } })).await.is_empty());
    assert_eq!(post(json!({ "allowed_mentions": { "parse": [], "replied_user": true } })).await, ["<@11>"]);
    assert_eq!(
        post(json!({ "allowed_mentions": { "parse": ["everyone"], "roles": ["5"] } })).await,
        ["<@&5>", "@everyone"]
    );
}

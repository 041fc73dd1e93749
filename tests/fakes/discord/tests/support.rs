//! Two bots for the tests: one that sends any request, well-formed or not, and one on serenity that hands over what it hears.

use std::sync::Arc;
use std::time::Duration;

use countersign_discord_fake::{ChannelId, Fake};
use futures::{SinkExt, StreamExt};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use serenity::all::{
    Context, EventHandler, GatewayIntents, Guild, GuildChannel, Interaction, Message, MessageId, MessageUpdateEvent,
    Reaction, Ready,
};
use serenity::async_trait;
use serenity::http::{Http, HttpBuilder};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async};

const PATIENCE: Duration = Duration::from_secs(10);

/// The command for all servers and for direct messages with the bot.
pub(crate) fn everywhere(mut command: Value) -> Value {
    command["integration_types"] = json!([0]);
    command["contexts"] = json!([0, 1]);
    command
}

/// A bot that does what a test says.
#[derive(Clone)]
pub(crate) struct Bot {
    http: Client,
    base: String,
    token: String,
}

impl Bot {
    pub(crate) fn new(fake: &Fake) -> Self {
        Self::with_token(fake, fake.token())
    }

    pub(crate) fn with_token(fake: &Fake, token: &str) -> Self {
        let http = Client::builder().no_proxy().build().expect("a client can be built");
        Self { http, base: format!("{}/api/v10", fake.base_url()), token: format!("Bot {token}") }
    }

    pub(crate) async fn ask(&self, verb: &str, path: &str, body: Value) -> Result<Response, reqwest::Error> {
        let verb: Method = verb.parse().expect("a verb");
        let request = self.http.request(verb, format!("{}{path}", self.base)).header("authorization", &self.token);
        if body.is_null() { request.send().await } else { request.json(&body).send().await }
    }

    /// The body of a 2xx, null where it is empty; anything else fails the test.
    pub(crate) async fn call(&self, verb: &str, path: &str, body: Value) -> Value {
        let answer = self.ask(verb, path, body).await.expect("the fake answers");
        let status = answer.status();
        let text = answer.text().await.expect("whole");
        assert!(status.is_success(), "{verb} {path}: {status} {text}");
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") }
    }

    /// (status, code, body); anything but a refusal fails the test.
    pub(crate) async fn refused(&self, verb: &str, path: &str, body: Value) -> (u16, u64, Value) {
        let answer = self.ask(verb, path, body).await.expect("the fake answers");
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.expect("JSON");
        assert!(status >= 400, "{verb} {path}: {body}");
        (status, body["code"].as_u64().unwrap_or_default(), body)
    }

    /// A new message with these parts; as it is answered.
    pub(crate) async fn post(&self, channel: ChannelId, body: Value) -> Value {
        self.call("POST", &format!("/channels/{}/messages", channel.0), body).await
    }

    /// The id of a new message.
    pub(crate) async fn send(&self, channel: ChannelId, text: &str) -> u64 {
        id(&self.post(channel, json!({ "content": text })).await)
    }

    /// The id of a new message with one button, `Go`, which bears `data`.
    pub(crate) async fn send_button(&self, channel: ChannelId, data: &str) -> u64 {
        let button = json!({ "type": 2, "style": 1, "label": "Go", "custom_id": data });
        let rows = json!([{ "type": 1, "components": [button] }]);
        id(&self.post(channel, json!({ "content": "go?", "components": rows })).await)
    }

    /// Answers an interaction, whose token the fake makes from its id.
    pub(crate) fn callback(interaction: &str) -> String {
        format!("/interactions/{interaction}/fake-interaction-token-{interaction}/callback")
    }

    pub(crate) fn webhook(fake_bot: u64, interaction: &str) -> String {
        format!("/webhooks/{fake_bot}/fake-interaction-token-{interaction}")
    }
}

pub(crate) fn id(object: &Value) -> u64 {
    object["id"].as_str().and_then(|id| id.parse().ok()).expect("it has an id")
}

/// What serenity read.
#[derive(Debug)]
pub(crate) enum Heard {
    Ready,
    Guild(Box<Guild>),
    Message(Box<Message>),
    Update(Box<MessageUpdateEvent>),
    Delete(MessageId),
    React(Reaction),
    Unreact(Reaction),
    Thread(Box<GuildChannel>),
    Asked(Box<Interaction>),
}

struct Ears(Sender<Heard>);

impl Ears {
    async fn tell(&self, heard: Heard) {
        drop(self.0.send(heard).await);
    }
}

#[async_trait]
impl EventHandler for Ears {
    async fn ready(&self, _: Context, _: Ready) {
        self.tell(Heard::Ready).await;
    }

    async fn guild_create(&self, _: Context, guild: Guild, _: Option<bool>) {
        self.tell(Heard::Guild(Box::new(guild))).await;
    }

    async fn message(&self, _: Context, message: Message) {
        self.tell(Heard::Message(Box::new(message))).await;
    }

    async fn message_update(&self, _: Context, _: Option<Message>, _: Option<Message>, event: MessageUpdateEvent) {
        self.tell(Heard::Update(Box::new(event))).await;
    }

    async fn message_delete(
        &self,
        _: Context,
        _: serenity::all::ChannelId,
        message: MessageId,
        _: Option<serenity::all::GuildId>,
    ) {
        self.tell(Heard::Delete(message)).await;
    }

    async fn reaction_add(&self, _: Context, reaction: Reaction) {
        self.tell(Heard::React(reaction)).await;
    }

    async fn reaction_remove(&self, _: Context, reaction: Reaction) {
        self.tell(Heard::Unreact(reaction)).await;
    }

    async fn thread_create(&self, _: Context, thread: GuildChannel) {
        self.tell(Heard::Thread(Box::new(thread))).await;
    }

    async fn interaction_create(&self, _: Context, interaction: Interaction) {
        self.tell(Heard::Asked(Box::new(interaction))).await;
    }
}

/// A bot on serenity.
pub(crate) struct Listener {
    pub(crate) http: Arc<Http>,
    heard: Receiver<Heard>,
    running: JoinHandle<Result<(), serenity::Error>>,
}

pub(crate) fn http(fake: &Fake) -> Http {
    let client = serenity::all::ApplicationId::new(countersign_discord_fake::BOT);
    HttpBuilder::new(fake.token()).application_id(client).proxy(fake.base_url()).ratelimiter_disabled(true).build()
}

impl Listener {
    pub(crate) async fn start(fake: &Fake) -> Self {
        Self::with(fake, GatewayIntents::all()).await
    }

    /// Starts without waiting for anything.
    pub(crate) async fn begin(fake: &Fake, intents: GatewayIntents) -> Self {
        let (sender, heard) = channel(1000);
        let builder = serenity::client::ClientBuilder::new_with_http(http(fake), intents);
        let mut client = builder.event_handler(Ears(sender)).await.expect("a client");
        let http = Arc::clone(&client.http);
        let running = tokio::spawn(async move { client.start().await });
        Self { http, heard, running }
    }

    /// Starts, and waits until it is ready.
    pub(crate) async fn with(fake: &Fake, intents: GatewayIntents) -> Self {
        let mut client = Self::begin(fake, intents).await;
        client.find(|heard| matches!(heard, Heard::Ready).then_some(())).await;
        client
    }

    /// The first of what it hears next that fits; what does not fit is passed over.
    pub(crate) async fn find<T>(&mut self, wanted: impl Fn(Heard) -> Option<T>) -> T {
        let look = async {
            loop {
                let heard = self.heard.recv().await.expect("it goes on hearing");
                if let Some(found) = wanted(heard) {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, look).await.expect("it hears that")
    }

    /// The next message of somebody else's.
    pub(crate) async fn message(&mut self) -> Message {
        let other = |message: &Message| message.author.id != countersign_discord_fake::BOT;
        self.find(|heard| match heard {
            Heard::Message(message) if other(&message) => Some(*message),
            _ => None,
        })
        .await
    }

    /// The next interaction.
    pub(crate) async fn asked(&mut self) -> Interaction {
        self.find(|heard| if let Heard::Asked(asked) = heard { Some(*asked) } else { None }).await
    }
}

impl Listener {
    /// Waits until serenity gives up; why.
    pub(crate) async fn ended(mut self) -> Option<serenity::Error> {
        let ended = tokio::time::timeout(PATIENCE, &mut self.running).await.expect("it gives up");
        ended.expect("no panic").err()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// A connection to the gateway on which a test says what it wants.
pub(crate) struct Raw(WebSocketStream<TcpStream>);

impl Raw {
    pub(crate) async fn connect(fake: &Fake) -> Self {
        let address = fake.gateway_url().trim_start_matches("ws://").to_owned();
        let stream = TcpStream::connect(address).await.expect("it listens");
        let url = format!("{}/?v=10&encoding=json", fake.gateway_url());
        let (socket, _) = client_async(url, stream).await.expect("it is a web socket");
        Self(socket)
    }

    async fn say(&mut self, operation: u64, data: Value) {
        let text = json!({ "op": operation, "d": data }).to_string();
        self.0.send(Frame::text(text)).await.expect("it listens");
    }

    pub(crate) async fn identify(&mut self, token: &str, intents: u64) {
        self.say(2, json!({ "token": token, "intents": intents, "properties": {} })).await;
    }

    pub(crate) async fn resume(&mut self, token: &str, session: &str, sequence: u64) {
        self.say(6, json!({ "token": token, "session_id": session, "seq": sequence })).await;
    }

    pub(crate) async fn heartbeat(&mut self) {
        self.say(1, Value::Null).await;
    }

    /// The first of what comes next that fits.
    async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let Some(Ok(Frame::Text(text))) = self.0.next().await else { panic!("the connection ended") };
                let said = serde_json::from_str(&text).expect("JSON");
                if wanted(&said) {
                    return said;
                }
            }
        };
        tokio::time::timeout(PATIENCE, look).await.expect("it comes")
    }

    pub(crate) async fn event(&mut self, name: &str) -> Value {
        self.find(|said| said["t"] == name).await
    }

    pub(crate) async fn operation(&mut self, number: u64) -> Value {
        self.find(|said| said["op"] == number).await
    }

    /// The code with which the gateway ends it.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        let look = async {
            loop {
                match self.0.next().await {
                    Some(Ok(Frame::Close(frame))) => return frame.map(|frame| frame.code.into()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        };
        tokio::time::timeout(PATIENCE, look).await.expect("it ends")
    }

    /// Whether the connection is open and nothing comes for so long. What was on its way is passed over.
    pub(crate) async fn is_quiet(&mut self, long: Duration) -> bool {
        let quiet = async {
            loop {
                match tokio::time::timeout(long, self.0.next()).await {
                    Err(_) => return true,
                    Ok(Some(Ok(Frame::Text(text)))) => assert!(!text.contains("\"op\":11"), "a heartbeat was answered"),
                    Ok(_) => return false,
                }
            }
        };
        tokio::time::timeout(PATIENCE, quiet).await.expect("it goes quiet")
    }
}

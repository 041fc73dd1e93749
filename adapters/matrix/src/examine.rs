//! What is looked at before anybody relies on the bot: its homeserver, its device, its identity, and the rooms that it is in.
//! Nothing is heard and nothing is changed here, and the store with the keys is not opened: it belongs to the bot that runs.

use countersign_core::port::Finding;
use matrix_sdk::reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::session::{self, Kept};
use crate::{Encryption, Matrix};

/// The most rooms that are looked at.
const ROOMS_MAX: usize = 200;

const SEE_THE_HOMESERVER: &str = "See that `matrix.homeserver` is the address of a homeserver's client API, and that this machine may connect to it.";

/// Asks the homeserver, as the bot's device where there is one.
struct Asker<'a> {
    client: Client,
    matrix: &'a Matrix,
    token: Option<String>,
}

/// What was answered: the HTTP status, and what it says.
type Answer = Result<(u16, Value), String>;

impl Asker<'_> {
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let url = format!("{}/_matrix/client/{path}", self.matrix.options.homeserver.trim_end_matches('/'));
        let mut request = self.client.request(method, url).timeout(self.matrix.timing.call);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(innermost)?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.map_err(innermost)?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None).await
    }
}

/// Why it really failed: the outer errors only say that it did.
fn innermost(error: matrix_sdk::reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

pub(crate) async fn examine(matrix: &Matrix) -> Vec<Finding> {
    let mut asker = Asker { client: Client::new(), matrix, token: None };
    let mut findings = Vec::new();
    match asker.get("versions").await {
        Ok((200, answer)) if answer["versions"].is_array() => {
            findings.push(Finding::fine(format!("{} is a homeserver", matrix.options.homeserver)));
        }
        Ok((status, _)) => {
            let found = format!("{} answers {status} and does not speak Matrix", matrix.options.homeserver);
            return vec![Finding::wrong(found, SEE_THE_HOMESERVER)];
        }
        Err(why) => {
            let found = format!("{} cannot be reached: {why}", matrix.options.homeserver);
            return vec![Finding::wrong(found, SEE_THE_HOMESERVER)];
        }
    }
    match session::kept(&matrix.options.store) {
        Ok(Some(kept)) => {
            asker.token = Some(kept.access_token.clone());
            findings.extend(as_device(&asker, &kept).await);
        }
        Ok(None) => findings.push(before_the_first_login(&asker).await),
        Err(error) => findings.push(Finding::wrong(
            format!("the session in {} cannot be read: {error}", matrix.options.store.display()),
            "Run this as whoever runs the bot.",
        )),
    }
    findings
}

/// The password is not tried: that would make a device.
async fn before_the_first_login(asker: &Asker<'_>) -> Finding {
    let takes_passwords = |answer: &Value| {
        answer["flows"].as_array().is_some_and(|flows| flows.iter().any(|flow| flow["type"] == "m.login.password"))
    };
    match asker.get("v3/login").await {
        Ok((200, answer)) if takes_passwords(&answer) => Finding::fine(
            "it lets accounts in by password, which the bot uses at its first start; the password itself was not tried",
        ),
        Ok(_) => Finding::wrong(
            "it does not let accounts in by password",
            "Have its administrator allow that for the bot's account.",
        ),
        Err(why) => Finding::wrong(format!("it does not say how it lets accounts in: {why}"), SEE_THE_HOMESERVER),
    }
}

async fn as_device(asker: &Asker<'_>, kept: &Kept) -> Vec<Finding> {
    let Asker { matrix, .. } = asker;
    match asker.get("v3/account/whoami").await {
        Ok((200, answer)) if answer["user_id"] == matrix.user.as_str() => {}
        Ok((200, answer)) => {
            let (folder, whose) =
                (matrix.options.store.display(), answer["user_id"].as_str().unwrap_or("somebody else"));
            let found = format!("{folder} holds the session of {whose}, and `matrix.user` is {}", matrix.user);
            return vec![Finding::wrong(
                found,
                "Give this bot a folder of its own, or set `matrix.user` to that account.",
            )];
        }
        Ok((401, _)) => {
            let found = format!("the homeserver does not know the bot's device {} any more", kept.device_id);
            return vec![Finding::wrong(found, session::begin_anew(&matrix.options.store))];
        }
        Ok((status, _)) => {
            let found = format!("the homeserver answers {status} to the bot's device {}", kept.device_id);
            return vec![Finding::wrong(found, SEE_THE_HOMESERVER)];
        }
        Err(why) => return vec![Finding::wrong(format!("the homeserver does not answer: {why}"), SEE_THE_HOMESERVER)],
    }
    let mut findings = vec![Finding::fine(format!("the bot is {} on its device {}", matrix.user, kept.device_id))];
    if matrix.options.encryption == Encryption::Required {
        findings.push(identity(asker, kept).await);
        findings.push(recovery(asker).await);
    }
    findings.push(rooms(asker).await);
    findings
}

/// Whether the device is signed by the account's identity, which people compare.
async fn identity(asker: &Asker<'_>, kept: &Kept) -> Finding {
    let user = asker.matrix.user.as_str();
    let answer = asker.ask(Method::POST, "v3/keys/query", Some(json!({ "device_keys": { user: [] } }))).await;
    let (_, answer) = answer.unwrap_or_default();
    let own = format!("ed25519:{}", kept.device_id);
    let signatures = &answer["device_keys"][user][kept.device_id.as_str()]["signatures"][user];
    let is_signed = signatures.as_object().is_some_and(|all| all.keys().any(|key| *key != own));
    if is_signed && answer["self_signing_keys"][user].is_object() {
        return Finding::fine("its device is signed by its identity");
    }
    Finding::wrong(
        "its device is not signed by its identity, so that people cannot verify it",
        "Start the bot: it signs its device then, or says what is missing.",
    )
}

async fn recovery(asker: &Asker<'_>) -> Finding {
    if session::recovery_mark(&asker.matrix.options.store).exists() {
        return Finding::wrong(
            "the bot was interrupted while it made its recovery key, so that nobody has that",
            "Start the bot: it makes another one then, and says where it lies.",
        );
    }
    let path = format!("v3/user/{}/account_data/m.secret_storage.default_key", asker.matrix.user);
    match asker.get(&path).await {
        Ok((200, answer)) if answer["key"].is_string() => Finding::fine("its identity can be recovered with its key"),
        Ok(_) | Err(_) => Finding::wrong(
            "its identity cannot be recovered",
            "Start the bot: it makes a recovery key then, and says where it lies.",
        ),
    }
}

/// How many of its rooms it cannot talk in.
async fn rooms(asker: &Asker<'_>) -> Finding {
    let (_, answer) = asker.get("v3/joined_rooms").await.unwrap_or_default();
    let rooms: Vec<&str> = answer["joined_rooms"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut unfit = Vec::new();
    for room in rooms.iter().take(ROOMS_MAX) {
        let state = asker.get(&format!("v3/rooms/{room}/state/m.room.encryption")).await;
        let is_encrypted = match state {
            Ok((200, _)) => true,
            Ok((404, _)) => false,
            // Not known, so that nothing is said of it.
            Ok(_) | Err(_) => continue,
        };
        if !crate::rooms::fits(asker.matrix.options.encryption, is_encrypted) {
            unfit.push(*room);
        }
    }
    if unfit.is_empty() {
        return Finding::fine(format!("rooms that it is in: {}, and it may talk in all of them", rooms.len()));
    }
    let (what, fix) = match asker.matrix.options.encryption {
        Encryption::Required => ("not encrypted", "Turn encryption on in their settings, or take the bot out of them."),
        Encryption::Off => ("encrypted", "Set `matrix.encryption` to `required`, or take the bot out of them."),
    };
    let named = unfit.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    Finding::wrong(format!("{} of its {} rooms are {what}: {named}", unfit.len(), rooms.len()), fix)
}

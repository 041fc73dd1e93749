//! Which device the bot is: logged in with the password once, and the same one ever after. Its access token lies in a file
//! beside the store with its keys; the two belong together, and what does not fit together is refused with the fix.

use std::path::{Path, PathBuf};

use matrix_sdk::authentication::matrix::MatrixSession;
use matrix_sdk::config::RequestConfig;
use matrix_sdk::encryption::{BackupDownloadStrategy, EncryptionSettings};
use matrix_sdk::ruma::api::client::session::login::v3 as login;
use matrix_sdk::ruma::api::client::uiaa::{MatrixUserIdentifier, UserIdentifier};
use matrix_sdk::ruma::{OwnedDeviceId, OwnedUserId, UserId};
use matrix_sdk::store::{StateStoreDataKey, StateStoreDataValue};
use matrix_sdk::{Client, ClientBuildError, Error, SessionMeta, SessionTokens};
use serde::{Deserialize, Serialize};

use crate::files::{self, Unfit};
use crate::outcome::Trouble;
use crate::place::Place;
use crate::{Matrix, Options};

/// The bot's session.
const SESSION: &str = "session.json";

/// The store's database of keys (matrix-sdk-sqlite).
const KEYS: &str = "matrix-sdk-crypto.sqlite3";

/// What people see among the devices of the bot's account.
const DEVICE_NAME: &str = "Countersign";

/// Why there is no session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A person has to mend something: a sentence that names the thing and the fix.
    Refused(String),
    /// It may pass.
    Trouble(Trouble),
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Trouble(error.into())
    }
}

/// A session as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    user_id: OwnedUserId,
    pub(crate) device_id: OwnedDeviceId,
    pub(crate) access_token: String,
    /// The public key of the device; none until the store was opened for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// The session, as it is kept in this folder; none before the first login. Does file I/O.
pub(crate) fn kept(store: &Path) -> std::io::Result<Option<Kept>> {
    files::read(&store.join(SESSION))
}

/// Logs in, or takes the session up that is kept. `place` is up to where everything that was heard is taken: the SDK goes
/// on from there, too.
pub(crate) async fn open(matrix: &Matrix, place: &Place) -> Result<Client, Halt> {
    let Options { store, .. } = &matrix.options;
    files::folder(store).map_err(|unfit| match unfit {
        Unfit::Unmade(error) => unwritable(store, &error),
        Unfit::Open(error) => readable(store, &error),
    })?;
    let path = store.join(SESSION);
    let kept = kept(store).map_err(|error| {
        Halt::Refused(format!("{} cannot be read: {error}. Mend it, or {}", path.display(), anew(store)))
    })?;
    let kept = match kept {
        Some(kept) => kept,
        None => first(matrix, &path).await?,
    };
    if kept.user_id != matrix.user {
        return Err(Halt::Refused(format!(
            "{} holds the session of {}, and `matrix.user` is {}. Give this bot a folder of its own.",
            store.display(),
            kept.user_id,
            matrix.user
        )));
    }
    if kept.key.is_some() && !store.join(KEYS).exists() {
        return Err(lost_keys(&kept, store));
    }
    let client = build(matrix).await?;
    rewind(&client, place).await?;
    restore(&client, &kept).await.map_err(|error| foreign(error, store))?;
    let key = client.encryption().ed25519_key().await;
    if kept.key.is_some() && kept.key != key {
        return Err(lost_keys(&kept, store));
    }
    if kept.key.is_none() {
        files::write(&path, &Kept { key, ..kept.clone() }).map_err(|error| unwritable(store, &error))?;
    }
    tracing::info!(user = %kept.user_id, device = %kept.device_id, "this is the bot on its homeserver");
    Ok(client)
}

/// Logs the same device in again, where its token alone has ended.
pub(crate) async fn renew(matrix: &Matrix) -> Result<(), Halt> {
    let path = matrix.options.store.join(SESSION);
    let kept = kept(&matrix.options.store).map_err(|error| unwritable(&matrix.options.store, &error))?;
    let Some(kept) = kept else { return Ok(()) };
    let renewed = log_in(matrix, Some(kept.device_id.clone())).await?;
    let kept = Kept { access_token: renewed.access_token, ..kept };
    files::write(&path, &kept).map_err(|error| unwritable(&matrix.options.store, &error))
}

/// The first login of all. The session is written down before any key is made, so that a crash leaves no keys without
/// their session.
async fn first(matrix: &Matrix, path: &Path) -> Result<Kept, Halt> {
    let store = &matrix.options.store;
    if store.join(KEYS).exists() {
        return Err(Halt::Refused(format!(
            "{} holds the keys of a device whose session is gone ({SESSION} is not there). Put it back from a backup, or {}",
            store.display(),
            anew(store)
        )));
    }
    let login::Response { user_id, device_id, access_token, .. } = log_in(matrix, None).await?;
    let kept = Kept { user_id, device_id, access_token, key: None };
    files::write(path, &kept).map_err(|error| unwritable(store, &error))?;
    Ok(kept)
}

async fn log_in(matrix: &Matrix, device: Option<OwnedDeviceId>) -> Result<login::Response, Halt> {
    // Without a store: the one with the keys is made only for a device that is known.
    let client = builder(matrix).build().await.map_err(|error| unbuilt(error, matrix))?;
    let user = UserIdentifier::Matrix(MatrixUserIdentifier::new(matrix.user.to_string()));
    let password = login::Password::new(user, matrix.options.password.clone());
    let mut request = login::Request::new(login::LoginInfo::Password(password));
    request.device_id = device;
    request.initial_device_display_name = Some(DEVICE_NAME.to_owned());
    client.send(request).await.map_err(|error| refused(matrix, error.into()))
}

fn builder(matrix: &Matrix) -> matrix_sdk::ClientBuilder {
    // The outbox knows what matters most and when to try again; the SDK must not try behind its back.
    let requests = RequestConfig::new().disable_retry().timeout(matrix.timing.call);
    let encryption = EncryptionSettings {
        backup_download_strategy: BackupDownloadStrategy::AfterDecryptionFailure,
        ..EncryptionSettings::default()
    };
    Client::builder()
        .homeserver_url(&matrix.options.homeserver)
        .respect_login_well_known(false)
        .request_config(requests)
        .with_encryption_settings(encryption)
}

async fn build(matrix: &Matrix) -> Result<Client, Halt> {
    let builder = builder(matrix).sqlite_store(&matrix.options.store, None);
    builder.build().await.map_err(|error| unbuilt(error, matrix))
}

/// Sets the SDK back to where everything is taken. Where it remembers to have seen more, it would hand in nothing of what
/// lies between, if that is all there is: it passes over an answer that ends where the last one did.
async fn rewind(client: &Client, place: &Place) -> Result<(), Halt> {
    let store = client.state_store();
    let done = match place.since() {
        Some(since) => store.set_kv_data(StateStoreDataKey::SyncToken, StateStoreDataValue::SyncToken(since)).await,
        None => store.remove_kv_data(StateStoreDataKey::SyncToken).await,
    };
    done.map_err(|error| Halt::Trouble(Trouble::Ours(error.to_string())))
}

async fn restore(client: &Client, kept: &Kept) -> Result<(), Error> {
    let meta = SessionMeta { user_id: kept.user_id.clone(), device_id: kept.device_id.clone() };
    let tokens = SessionTokens { access_token: kept.access_token.clone(), refresh_token: None };
    client.restore_session(MatrixSession { meta, tokens }).await
}

/// What is wrong where nobody is let in by the password.
fn refused(matrix: &Matrix, trouble: Trouble) -> Halt {
    let Options { homeserver, .. } = &matrix.options;
    let advice = match (&trouble, trouble.code()) {
        (_, "M_FORBIDDEN" | "M_USER_DEACTIVATED" | "M_INVALID_USERNAME") => {
            "See that `matrix.user` and its password are right."
        }
        (Trouble::Refused(refusal), "" | "M_UNRECOGNIZED") if refusal.status == 404 => {
            "See that `matrix.homeserver` is the address of a homeserver's client API."
        }
        (_, "M_UNKNOWN") => "See that the homeserver lets accounts log in with a password.",
        _ => return Halt::Trouble(trouble),
    };
    Halt::Refused(format!("{} cannot log in at {homeserver}: {trouble}. {advice}", matrix.user))
}

fn unbuilt(error: ClientBuildError, matrix: &Matrix) -> Halt {
    match error {
        ClientBuildError::Http(error) => Halt::Trouble(error.into()),
        ClientBuildError::SqliteStore(error) => Halt::Refused(format!(
            "the store in {} cannot be opened: {error}. See that the disk has room and that the folder is the bot's own, \
             or put it back from a backup.",
            matrix.options.store.display()
        )),
        error => Halt::Refused(format!(
            "{} is no homeserver to talk to: {error}. See that `matrix.homeserver` is right.",
            matrix.options.homeserver
        )),
    }
}

/// Keys of another account or device in the store are refused by the SDK when it opens them.
fn foreign(error: Error, store: &Path) -> Halt {
    match error {
        Error::CryptoStoreError(_) | Error::OlmError(_) => Halt::Refused(format!(
            "the keys in {} are not those of its session: {error}. Put the folder back from a backup, or {}",
            store.display(),
            anew(store)
        )),
        error => error.into(),
    }
}

/// A device whose keys are gone must not go on: its peers would encrypt to keys that nobody has, and its new keys would be
/// refused for ever.
fn lost_keys(kept: &Kept, store: &Path) -> Halt {
    Halt::Refused(format!(
        "{} holds the session of the device {}, and its keys are gone. Put the folder back from a backup, or {}",
        store.display(),
        kept.device_id,
        anew(store)
    ))
}

/// The last half of each sentence about a store that cannot be used. Looks whether its recovery key is there: without it a new
/// device cannot take the identity up.
fn anew(store: &Path) -> String {
    let shown = store.display();
    let key = recovery_key(store);
    let with_key = if key.exists() {
        format!(", with COUNTERSIGN_MATRIX__RECOVERY_KEY_FILE set to where `{}` lies then", name_of(&key))
    } else {
        String::new()
    };
    format!("move {shown} away and start again{with_key}: the bot becomes a new device, and has to be verified again.")
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The same as a sentence of its own.
pub(crate) fn begin_anew(store: &Path) -> String {
    format!("M{}", anew(store).trim_start_matches('m'))
}

/// What to do where the homeserver no longer knows the device.
pub(crate) fn logged_out(user: &UserId, store: &Path) -> String {
    format!("the homeserver has logged this device of {user} out. To go on, {}", anew(store))
}

pub(crate) fn unwritable(store: &Path, error: &std::io::Error) -> Halt {
    Halt::Refused(format!("{} cannot be written: {error}. Give the bot a folder that is its own.", store.display()))
}

/// Whoever reads the folder can be the bot.
fn readable(store: &Path, error: &std::io::Error) -> Halt {
    let store = store.display();
    Halt::Refused(format!(
        "others on this machine may look into {store}, which holds the bot's keys, and that could not be changed: {error}. \
         Run `chmod 700 {store}` as its owner, or give the bot a folder that is its own."
    ))
}

/// Where a recovery key is kept that the bot made itself.
pub(crate) fn recovery_key(store: &Path) -> PathBuf {
    store.join("recovery-key")
}

/// Is there while a recovery key is made and not yet written down.
pub(crate) fn recovery_mark(store: &Path) -> PathBuf {
    store.join("recovery-key.pending")
}

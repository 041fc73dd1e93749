//! The bot's own identity: cross-signing keys made at the first login and kept for good, with a recovery key, so that people
//! who verified the bot need not do it again, and the bot need not verify them again.

use std::io;
use std::path::Path;

use matrix_sdk::Client;
use matrix_sdk::encryption::recovery::{RecoveryError, RecoveryState};
use matrix_sdk::encryption::secret_storage::SecretStorageError;
use matrix_sdk::ruma::api::client::uiaa::{AuthData, MatrixUserIdentifier, Password, UserIdentifier};

use crate::outcome::Trouble;
use crate::session::{self, Halt};
use crate::{Matrix, files};

/// Makes the identity, or takes it up, or says what is missing for that.
pub(crate) async fn establish(matrix: &Matrix, client: &Client) -> Result<(), Halt> {
    client.encryption().wait_for_e2ee_initialization_tasks().await;
    let known = client.encryption().request_user_identity(&matrix.user).await?.is_some();
    match (known, has_all_keys(client).await) {
        (true, true) => {}
        (true, false) => take_up(matrix, client).await?,
        // With keys, it was interrupted while it was made.
        (false, _) => bootstrap(matrix, client).await?,
    }
    keep_recoverable(matrix, client).await
}

async fn has_all_keys(client: &Client) -> bool {
    client.encryption().cross_signing_status().await.is_some_and(|status| status.is_complete())
}

/// Takes the identity up with the recovery key.
async fn take_up(matrix: &Matrix, client: &Client) -> Result<(), Halt> {
    let Some(key) = recovery_key(matrix) else {
        return Err(Halt::Refused(format!(
            "the account {} has an identity already, and this device does not have its keys. Give its recovery key in a \
             file that COUNTERSIGN_MATRIX__RECOVERY_KEY_FILE names (an earlier folder of the bot has it as `recovery-key`), or \
             reset the identity with another client, and start again.",
            matrix.user
        )));
    };
    client.encryption().recovery().recover(&key).await.map_err(unrecovered)?;
    if has_all_keys(client).await {
        tracing::info!("the bot's identity was taken up with the recovery key");
        return Ok(());
    }
    Err(Halt::Refused(format!(
        "the recovery key opened the secrets of {}, and the keys of its identity are not among them. Reset the identity \
         with another client and start again.",
        matrix.user
    )))
}

/// Makes the identity. Homeservers want the password once more for that.
async fn bootstrap(matrix: &Matrix, client: &Client) -> Result<(), Halt> {
    let encryption = client.encryption();
    let Err(error) = encryption.bootstrap_cross_signing(None).await else { return Ok(()) };
    let Some(asked) = error.as_uiaa_response() else { return Err(error.into()) };
    let user = UserIdentifier::Matrix(MatrixUserIdentifier::new(matrix.user.to_string()));
    let mut password = Password::new(user, matrix.options.password.clone());
    password.session = asked.session.clone();
    let Err(error) = encryption.bootstrap_cross_signing(Some(AuthData::Password(password))).await else {
        tracing::info!("the bot's identity was made");
        return Ok(());
    };
    if error.as_uiaa_response().is_some() {
        return Err(Halt::Refused(format!(
            "the homeserver does not take the password of {} as proof for making its identity. See that the password is \
             right, and that accounts may make one with it.",
            matrix.user
        )));
    }
    Err(error.into())
}

/// Sees that there is a recovery key. One that is made lies in the bot's folder, for an administrator to take away: that it
/// is not there says nothing, but that the bot was interrupted while it made one does.
async fn keep_recoverable(matrix: &Matrix, client: &Client) -> Result<(), Halt> {
    let recovery = client.encryption().recovery();
    let mark = session::recovery_mark(&matrix.options.store);
    match recovery.state() {
        RecoveryState::Enabled if mark.exists() && recovery_key(matrix).is_none() => {
            tracing::warn!("the bot was interrupted while it made its recovery key; it makes another one");
            let made = recovery.reset_key().await.map_err(unrecovered)?;
            return keep(&matrix.options.store, &made);
        }
        RecoveryState::Enabled => return unmark(&mark).map_err(|error| session::unwritable(&mark, &error)),
        RecoveryState::Incomplete => {
            let Some(key) = recovery_key(matrix) else {
                tracing::warn!(
                    "not all secrets of the bot are on this device: give its recovery key as `matrix.recovery_key`"
                );
                return Ok(());
            };
            return recovery.recover_and_fix_backup(&key).await.map_err(unrecovered);
        }
        RecoveryState::Disabled | RecoveryState::Unknown => {}
    }
    files::put(&mark, b"").map_err(|error| session::unwritable(&mark, &error))?;
    let made = match recovery.enable().await {
        Ok(key) => key,
        // A backup of room keys that nobody can open any more is in the way. A new one takes its place.
        Err(RecoveryError::BackupExistsOnServer) => {
            client.encryption().backups().disable_and_delete().await?;
            recovery.enable().await.map_err(unrecovered)?
        }
        Err(error) => return Err(unrecovered(error)),
    };
    keep(&matrix.options.store, &made)
}

/// Writes the key down that was made.
fn keep(store: &Path, made: &str) -> Result<(), Halt> {
    let (path, mark) = (session::recovery_key(store), session::recovery_mark(store));
    files::put(&path, format!("{made}\n").as_bytes()).map_err(|error| session::unwritable(&path, &error))?;
    unmark(&mark).map_err(|error| session::unwritable(&mark, &error))?;
    tracing::warn!(
        path = %path.display(),
        "the bot made a recovery key: keep it in a safe place, it opens the bot's identity and its old messages"
    );
    Ok(())
}

fn unmark(mark: &Path) -> io::Result<()> {
    match std::fs::remove_file(mark) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The one that is configured, else the one that the bot made. Does file I/O.
fn recovery_key(matrix: &Matrix) -> Option<String> {
    let made = || std::fs::read_to_string(session::recovery_key(&matrix.options.store)).ok();
    let key = matrix.options.recovery_key.clone().or_else(made)?;
    Some(key.trim().to_owned()).filter(|key| !key.is_empty())
}

fn unrecovered(error: RecoveryError) -> Halt {
    match error {
        RecoveryError::Sdk(error) => error.into(),
        RecoveryError::SecretStorage(SecretStorageError::Sdk(error)) => error.into(),
        RecoveryError::SecretStorage(error) => Halt::Refused(format!(
            "the recovery key does not open the bot's secrets: {error}. See that `matrix.recovery_key` is the one of this \
             account."
        )),
        RecoveryError::BackupExistsOnServer => Halt::Trouble(Trouble::Ours(error.to_string())),
    }
}

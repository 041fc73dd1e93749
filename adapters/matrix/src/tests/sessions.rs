//! The bot's device: made once, the same ever after, and refused with the fix where what is kept does not fit together.

use std::os::unix::fs::PermissionsExt as _;

use countersign_core::port::{Condition, Ended};

use super::*;

/// The device that the bot is, as it is kept.
fn device(scene: &Scene) -> (String, String) {
    let text = std::fs::read_to_string(scene.folder.path().join("matrix/session.json")).expect("there is a session");
    let kept: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    (kept["device_id"].to_string(), kept["key"].to_string())
}

async fn ended(options: Options) -> String {
    let desk = Desk::new();
    match Hearing::start(&made(options), &desk).end().await {
        Ended::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

async fn run_once(scene: &Scene, encryption: Encryption) {
    let desk = Desk::new();
    let hearing = Hearing::start(&scene.matrix(encryption), &desk);
    hears(&desk).await;
    assert_eq!(hearing.stop().await, Ended::Stopped);
}

#[tokio::test]
async fn the_bot_is_one_device_for_good_and_nobody_else_reads_its_folder() {
    let scene = Scene::new("device").await;
    run_once(&scene, Encryption::Required).await;
    let first = device(&scene);
    run_once(&scene, Encryption::Required).await;
    assert_eq!(device(&scene), first);
    let mode = |path: &str| {
        std::fs::metadata(scene.folder.path().join(path)).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!([mode("matrix"), mode("matrix/session.json"), mode("matrix/recovery-key")], [0o700, 0o600, 0o600]);
}

#[tokio::test]
async fn a_new_device_takes_the_identity_up_with_the_recovery_key_and_not_without() {
    let scene = Scene::new("recovery").await;
    run_once(&scene, Encryption::Required).await;
    let old = scene.folder.path().join("matrix");
    let key = std::fs::read_to_string(old.join("recovery-key")).expect("one was made");
    let first = device(&scene);
    std::fs::rename(&old, scene.folder.path().join("old")).expect("it can be moved");
    let why = ended(scene.options(Encryption::Required)).await;
    assert_eq!(
        why.replace(scene.bot.as_str(), "BOT"),
        "the account BOT has an identity already, and this device does not have its keys. Give its recovery key as \
         `matrix.recovery_key`, or reset the identity with another client and start again."
    );
    let wrong =
        ended(Options { recovery_key: Some("not a key".to_owned()), ..scene.options(Encryption::Required) }).await;
    assert!(wrong.starts_with("the recovery key does not open the bot's secrets: "), "{wrong}");
    let desk = Desk::new();
    let matrix = made(Options { recovery_key: Some(key), ..scene.options(Encryption::Required) });
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    assert_ne!(device(&scene), first);
    let status = matrix.client().expect("it is connected").encryption().cross_signing_status().await;
    assert!(status.is_some_and(|status| status.is_complete()));
    hearing.stop().await;
}

#[tokio::test]
async fn what_does_not_fit_together_is_refused_with_the_fix() {
    let scene = Scene::new("refused").await;
    let folder = scene.folder.path().display().to_string();
    let options = || scene.options(Encryption::Off);
    let wrong = ended(Options { password: "wrong".to_owned(), ..options() }).await;
    run_once(&scene, Encryption::Off).await;
    let other = ended(Options { user: "@other:example.org".to_owned(), ..options() }).await;
    let store = scene.folder.path().join("matrix");
    let away = |name: &str, other: &str| std::fs::rename(store.join(name), scene.folder.path().join(other));
    away("session.json", "session").expect("it can be moved");
    let sessionless = ended(options()).await;
    std::fs::rename(scene.folder.path().join("session"), store.join("session.json")).expect("it can be moved");
    away("matrix-sdk-crypto.sqlite3", "keys").expect("it can be moved");
    let keyless = ended(options()).await;
    let all = [wrong, other, sessionless, keyless].join("\n");
    let (device, _) = device(&scene);
    let all = all.replace(&folder, "DATA").replace(device.trim_matches('"'), "DEVICE").replace(&scene.url, "URL");
    insta::assert_snapshot!(all.replace(scene.bot.as_str(), "BOT"), @"");
}

#[tokio::test]
async fn a_homeserver_that_cannot_be_reached_is_waited_for() {
    let options =
        |url: &str, folder: &TempDir| Options::new(url, "@bot:localhost", PASSWORD, folder.path().join("matrix"));
    let folder = tempfile::tempdir().expect("there is room");
    let desk = Desk::new();
    // Nobody listens on the port of discarding.
    let hearing = Hearing::start(&made(options("http://127.0.0.1:9", &folder)), &desk);
    desk.until("it tries twice", |desk| desk.conditions().len() > 1).await;
    let Some(Condition::Trouble { what, .. }) = desk.conditions().pop() else { panic!("it cannot hear") };
    assert!(what.starts_with("the homeserver cannot be reached: "), "{what}");
    assert_eq!(hearing.stop().await, Ended::Stopped);
}

#[test]
fn options_that_cannot_be_right_are_named() {
    let said = |homeserver: &str, user: &str| {
        Matrix::new(Options::new(homeserver, user, "x", "/nowhere".into())).err().unwrap_or_default()
    };
    insta::assert_snapshot!([said("matrix.org", "@bot:example.org"), said("https://matrix.org", "bot")].join("\n"), @"");
}

//! The bot's device: made once, the same ever after, and refused with the fix where what is kept does not fit together.

use std::os::unix::fs::PermissionsExt as _;

use countersign_core::port::{Condition, Ended, Finding};
use countersign_synapse::Fault;

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
    let scene = Scene::new().await;
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
    let scene = Scene::new().await;
    run_once(&scene, Encryption::Required).await;
    let old = scene.folder.path().join("matrix");
    let key = std::fs::read_to_string(old.join("recovery-key")).expect("one was made");
    let first = device(&scene);
    std::fs::rename(&old, scene.folder.path().join("old")).expect("it can be moved");
    let why = ended(scene.options(Encryption::Required)).await;
    assert_eq!(
        why.replace(scene.bot.as_str(), "BOT"),
        "the account BOT has an identity already, and this device does not have its keys. Give its recovery key \
         in a file that COUNTERSIGN_MATRIX__RECOVERY_KEY_FILE names (an earlier folder of the bot has it as `recovery-key`), \
         or reset the identity with another client, and start again."
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
async fn a_recovery_key_is_made_again_where_it_was_not_written_down_and_only_there() {
    let scene = Scene::new().await;
    run_once(&scene, Encryption::Required).await;
    let store = scene.folder.path().join("matrix");
    let (key, mark) = (store.join("recovery-key"), store.join("recovery-key.pending"));
    std::fs::remove_file(&key).expect("one was made");
    run_once(&scene, Encryption::Required).await;
    assert!(!key.exists() && !mark.exists(), "an administrator may have taken it away");
    // As a crash leaves it between the homeserver and the disk.
    std::fs::write(&mark, "").expect("there is room");
    let found = examined(&scene, scene.options(Encryption::Required)).await;
    assert!(found.contains("wrong: the bot was interrupted while it made its recovery key"), "{found}");
    run_once(&scene, Encryption::Required).await;
    assert!(key.exists() && !mark.exists());
    let recovery_key = std::fs::read_to_string(&key).ok();
    std::fs::rename(&store, scene.folder.path().join("old")).expect("it can be moved");
    let desk = Desk::new();
    let matrix = made(Options { recovery_key, ..scene.options(Encryption::Required) });
    let hearing = Hearing::start(&matrix, &desk);
    hears(&desk).await;
    hearing.stop().await;
}

#[tokio::test]
async fn what_does_not_fit_together_is_refused_with_the_fix() {
    let scene = Scene::new().await;
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
    let all =
        all.replace(&folder, "DATA").replace(device.trim_matches('"'), "DEVICE").replace(&scene.gate.url(), "URL");
    insta::assert_snapshot!(all.replace(scene.bot.as_str(), "BOT"), @r"
    BOT cannot log in at URL: the homeserver answers 403: M_FORBIDDEN, Invalid username or password. See that `matrix.user` and its password are right.
    DATA/matrix holds the session of BOT, and `matrix.user` is @other:example.org. Give this bot a folder of its own.
    DATA/matrix holds the keys of a device whose session is gone (session.json is not there). Put it back from a backup, or move DATA/matrix away and start again: the bot becomes a new device, and has to be verified again.
    DATA/matrix holds the session of the device DEVICE, and its keys are gone. Put the folder back from a backup, or move DATA/matrix away and start again: the bot becomes a new device, and has to be verified again.
    ");
}

/// Nobody may change whom the kernel lets look into this folder of its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_that_stays_open_to_others_is_refused_with_the_fix() {
    let options = Options::new("http://127.0.0.1:9", "@bot:localhost", "x", "/proc/self/task".into());
    insta::assert_snapshot!(ended(options).await, @"others on this machine may look into /proc/self/task, which holds the bot's keys, and that could not be changed: Operation not permitted (os error 1). Run `chmod 700 /proc/self/task` as its owner, or give the bot a folder that is its own.");
}

#[tokio::test]
async fn a_place_that_the_homeserver_does_not_take_is_refused_with_the_fix_and_without_it_the_bot_hears() {
    let scene = Scene::new().await;
    run_once(&scene, Encryption::Off).await;
    let place = scene.folder.path().join("matrix/place.json");
    std::fs::write(&place, r#"{"since":"of another server"}"#).expect("there is room");
    // What stands before a homeserver, and one that breaks, say nothing of the place.
    scene.gate.fault(Fault::broken(502).on("/sync").times(1));
    let why = ended(scene.options(Encryption::Off)).await;
    let why = why.replace(&scene.folder.path().display().to_string(), "DATA");
    insta::assert_snapshot!(why, @"the homeserver does not take the place up to which this bot has heard (the homeserver answers 400: M_UNKNOWN, Invalid stream token): the homeserver or the bot's folder may have been put back from a backup. Remove the file `place.json` in DATA/matrix: what was said while the bot did not hear is then passed over.");
    std::fs::remove_file(&place).expect("it is there");
    // Nobody is told to remove what is not there.
    scene.gate.fault(Fault::broken(400).on("/sync").times(1));
    run_once(&scene, Encryption::Off).await;
}

#[tokio::test]
async fn a_homeserver_that_cannot_be_reached_is_waited_for() {
    let options = |url: &str, folder: &TempDir| Options::new(url, "@bot:localhost", "x", folder.path().join("matrix"));
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
    insta::assert_snapshot!([said("matrix.org", "@bot:example.org"), said("https://matrix.org", "bot")].join("\n"), @r"
    `matrix.org` is no address of a homeserver: it starts with https://
    `bot` is no account on Matrix: it is named like @bot:example.org
    ");
}

/// What is found, a line each, with the fix behind it.
async fn examined(scene: &Scene, options: Options) -> String {
    let findings = examine::examine(&made(options)).await;
    let lines = findings.into_iter().map(|Finding { found, fix }| match fix {
        None => format!("fine: {found}"),
        Some(fix) => format!("wrong: {found}. {fix}"),
    });
    let folder = scene.folder.path().display().to_string();
    let all = lines.collect::<Vec<_>>().join("\n").replace(&folder, "DATA").replace(&scene.gate.url(), "URL");
    all.replace(scene.bot.as_str(), "BOT")
}

#[tokio::test]
async fn what_a_newcomer_may_have_missed_is_found() {
    let scene = Scene::new().await;
    let nowhere = Options { homeserver: "http://127.0.0.1:9".to_owned(), ..scene.options(Encryption::Required) };
    let unreachable = examined(&scene, nowhere).await;
    assert!(unreachable.starts_with("wrong: http://127.0.0.1:9 cannot be reached: "), "{unreachable}");
    let first = examined(&scene, scene.options(Encryption::Required)).await;
    let desk = Desk::new();
    let matrix = scene.matrix(Encryption::Required);
    let hearing = Hearing::start(&matrix, &desk);
    let ann = scene.person("ann").await;
    ann.group(&scene.bot, true).await;
    let fine = examined(&scene, scene.options(Encryption::Required)).await;
    let plain = ann.group(&scene.bot, false).await;
    let unfit = examined(&scene, scene.options(Encryption::Required)).await;
    hearing.stop().await;
    let session = matrix.client().expect("it is connected");
    session.matrix_auth().logout().await.expect("it is logged in");
    let gone = examined(&scene, scene.options(Encryption::Required)).await;
    let unfit = unfit.lines().last().unwrap_or_default().replace(plain.room_id().as_str(), "ROOM");
    let (device, _) = device(&scene);
    let all = [first, fine, unfit, gone].join("\n\n").replace(device.trim_matches('"'), "DEVICE");
    insta::assert_snapshot!(all, @r"
    fine: URL is a homeserver
    fine: it lets accounts in by password, which the bot uses at its first start; the password itself was not tried

    fine: URL is a homeserver
    fine: the bot is BOT on its device DEVICE
    fine: its device is signed by its identity
    fine: its identity can be recovered with its key
    fine: rooms that it is in: 1, and it may talk in all of them

    wrong: 1 of its 2 rooms are not encrypted: ROOM. Turn encryption on in their settings, or take the bot out of them.

    fine: URL is a homeserver
    wrong: the homeserver does not know the bot's device DEVICE any more. Move DATA/matrix away and start again, with COUNTERSIGN_MATRIX__RECOVERY_KEY_FILE set to where `recovery-key` lies then: the bot becomes a new device, and has to be verified again.
    ");
    // The bot itself says the same when it is started.
    let why = ended(scene.options(Encryption::Required)).await;
    assert!(why.starts_with("the homeserver has logged this device of "), "{why}");
}

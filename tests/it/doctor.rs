//! `countersign doctor`: what it looks at, what it says where something is not in order, and its exit code; with the real
//! binary against the platforms' fakes.

use countersign_telegram_fake::Fake;

use crate::support::bot::{Done, Home, finish};

/// What it says, with the home's path taken out of it.
fn doctor(home: &Home, env: &[(&str, &str)], args: &[&str]) -> Done {
    let mut command = home.bot();
    command.arg("doctor").args(args).envs(env.iter().copied());
    let done = finish(&mut command, b"");
    let path = home.path().display().to_string();
    Done { out: done.out.replace(&path, "HOME"), err: done.err.replace(&path, "HOME"), ..done }
}

const ACCESS: &str = "[[people]]\nname = \"ann\"\naccounts = [\"telegram:11\"]\nroles = [\"admin\"]\n";

#[test]
fn without_a_platform_everything_is_in_order() {
    let done = doctor(&Home::new(), &[], &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    exit status: 0
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_is_asked_and_what_is_not_in_order_has_a_fix() {
    let fake = Fake::start().await;
    let home = Home::new();
    let url = fake.base_url();
    let on = [("COUNTERSIGN_TELEGRAM__TOKEN", fake.token()), ("COUNTERSIGN_TELEGRAM__API_URL", &url)];
    let done = doctor(&home, &on, &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✗ access: nobody is named who may anything on a chat platform
      To do: No access file is configured: nobody may anything on a chat platform, and the console belongs to whoever runs the bot. To begin, name the first administrator in a file, as in README.md (“Who may what”), and give its path as `access.file` (COUNTERSIGN_ACCESS__FILE).
    ✓ telegram: the token is @fake_ops_bot's, who offers names to whoever types
    ✓ telegram: Telegram keeps its messages for whoever asks
    countersign: one thing is not in order.
    exit status: 1
    ");
    home.write("access.toml", ACCESS);
    let access = [on[0], on[1], ("COUNTERSIGN_ACCESS__FILE", "access.toml")];
    let done = doctor(&home, &access, &["--json"]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r#"
    {"fine":true,"findings":[{"about":"data","found":"HOME/data is made at the first start","fix":null},{"about":"sandbox","found":"commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed","fix":null},{"about":"access","found":"people 1, services 0, policies of your own 0; all sound","fix":null},{"about":"telegram","found":"the token is @fake_ops_bot's, who offers names to whoever types","fix":null},{"about":"telegram","found":"Telegram keeps its messages for whoever asks","fix":null}]}
    exit status: 0
    "#);
    fake.set_webhook("https://example.org/hook");
    let done = doctor(&home, &access, &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: people 1, services 0, policies of your own 0; all sound
    ✓ telegram: the token is @fake_ops_bot's, who offers names to whoever types
    ✗ telegram: Telegram sends its messages to a webhook
      To do: Delete it (`deleteWebhook`), or give this bot a token of its own.
    countersign: one thing is not in order.
    exit status: 1
    ");
    let wrong = [("COUNTERSIGN_TELEGRAM__TOKEN", "1:of-somebody-else"), on[1], access[2]];
    let done = doctor(&home, &wrong, &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: people 1, services 0, policies of your own 0; all sound
    ✗ telegram: Telegram answers 404: Not Found
      To do: Give the bot's token from @BotFather as COUNTERSIGN_TELEGRAM__TOKEN, or in a file named by `telegram.token_file`, and see that `telegram.api_url` is right.
    countersign: one thing is not in order.
    exit status: 1
    ");
}

#[test]
fn what_keeps_the_bot_from_starting_is_an_error_of_the_configuration_here_too() {
    let home = Home::new();
    home.write("countersign.toml", "[telegram]\ntoken = \"1:x\"\n");
    let done = doctor(&home, &[], &[]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(done.err.contains("`telegram.token` (line 2) is a secret"), "{done:?}");
}

/// Else the bot would run in a terminal, and nobody would know why.
#[test]
fn half_an_account_and_a_file_in_the_wrong_place_are_named_with_the_fix() {
    let home = Home::new();
    let half = [("COUNTERSIGN_MATRIX__HOMESERVER", "http://localhost"), ("COUNTERSIGN_MATRIX__USER", "@bot:localhost")];
    let done = doctor(&home, &half, &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    countersign: `matrix.homeserver` is given, and no password is; give it by COUNTERSIGN_MATRIX__PASSWORD or in the file that `matrix.password_file` names
    exit status: 2
    ");
    let mut started = home.bot();
    let done = finish(started.envs(half), b"");
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    countersign: `matrix.homeserver` is given, and no password is; give it by COUNTERSIGN_MATRIX__PASSWORD or in the file that `matrix.password_file` names
    exit status: 2
    ");
    home.write("data", "a file");
    let done = doctor(&home, &[], &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r"
    ✗ data: HOME/data is a file, and the data is kept in a directory
      To do: Name another place by `--data` or `store.data`.
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✓ access: nobody is named, and the console belongs to whoever runs it
    ✓ platforms: no platform is configured, so that it talks in a terminal, with whoever runs it
    countersign: one thing is not in order.
    exit status: 1
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_file_that_names_nobody_is_told_what_to_name() {
    let fake = Fake::start().await;
    let (home, url) = (Home::new(), fake.base_url());
    home.write("access.toml", "");
    let access = ("COUNTERSIGN_ACCESS__FILE", "access.toml");
    let on = [("COUNTERSIGN_TELEGRAM__TOKEN", fake.token()), ("COUNTERSIGN_TELEGRAM__API_URL", &url), access];
    let done = doctor(&home, &on, &[]);
    insta::assert_snapshot!(format!("{}{}{}", done.out, done.err, done.status), @r#"
    ✓ data: HOME/data is made at the first start
    ✓ sandbox: commands run in a sandbox: no writes, no signals, no secrets, no network but the allowed
    ✗ access: HOME/access.toml names nobody who may anything on a chat platform
      To do: Add the first administrator to it: `[[people]]`, and under it `name = "ann"`, `roles = ["admin"]` and `accounts = ["discord:NUMBER"]`, `["matrix:@ann:example.org"]` or `["telegram:NUMBER"]`.
    ✓ telegram: the token is @fake_ops_bot's, who offers names to whoever types
    ✓ telegram: Telegram keeps its messages for whoever asks
    countersign: one thing is not in order.
    exit status: 1
    "#);
}

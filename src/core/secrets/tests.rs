//! What is masked, what stays as it is, and that masking twice is masking once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::Mask;

fn mask() -> Mask {
    Mask::new(["correct-horse".to_owned(), "short".to_owned(), "  padded-literal\n".to_owned()])
}

/// Tokens are put together here, so that no scanner takes this file for a leak.
fn token(head: &str, tail: &str) -> String {
    format!("{head}{tail}")
}

/// What is sought in a file's other spellings: no words, which stand in other texts as they are.
#[test]
fn secrets_of_a_text_are_named_but_not_its_words() {
    let text = "a = 1\npassword=<keystore-password>\nDB_PASSWORD=Zq7hunter9QxW\nkind: Secret\ndata:\n  k: SGVsbG9Xb3JsZDc3N3g=\n\
                Authorization: Basic dXNlcjpwYXNzd29yZA==\n";
    let sought = Mask::default().secrets_in(text);
    assert!(
        sought.contains(&"Zq7hunter9QxW".to_owned()) && sought.contains(&"dXNlcjpwYXNzd29yZA==".to_owned()),
        "{sought:?}"
    );
    assert!(sought.iter().all(|secret| !secret.contains("keystore") && !secret.contains("Basic")), "{sought:?}");
}

#[test]
fn secrets_are_masked_whole() {
    let table = [
        ("postgres://app:hunter2@db:5432/x", "postgres://app:[masked: password]@db:5432/x"),
        ("redis://:hunter2@cache", "redis://:[masked: password]@cache"),
        ("amqp://u:p@ss@mq/v", "amqp://u:[masked: password]@mq/v"),
        ("amqp://u:p/ss@mq/v", "amqp://u:[masked: password]@mq/v"),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[masked: password]"),
        ("export API_KEY='a b c'", "export API_KEY='[masked: key]'"),
        ("password: hunter2, user: bob", "password: [masked: password], user: bob"),
        ("password=a,b;c&d!", "password=[masked: password]"),
        ("passwd=pa\"ss", "passwd=[masked: password]"),
        ("Server=x;Password=abc;Database=y", "Server=x;Password=[masked: password];Database=y"),
        ("GET /x?token=abc&page=2", "GET /x?token=[masked: token]&page=2"),
        (r#"{"client_secret":"a\"b","id":7}"#, r#"{"client_secret":"[masked: secret]","id":7}"#),
        (r#"{\"apiKey\":\"abc\",\"id\":7}"#, r#"{\"apiKey\":\"[masked: key]\",\"id\":7}"#),
        ("password = \"two words", "password = \"[masked: password]"),
        ("password: |\n  hunter2\nnext: 1", "password: |\n  [masked: password]\nnext: 1"),
        ("<db.password>hunter2</db.password>", "<db.password>[masked: password]</db.password>"),
        ("run --password hunter2 --verbose", "run --password [masked: password] --verbose"),
        ("run --db-password=hunter2 x", "run --db-password=[masked: password] x"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p[masked: password] shop"),
        ("sshpass -p hunter2 ssh web-1", "sshpass -p [masked: password] ssh web-1"),
        ("redis-cli -h x -a hunter2 ping", "redis-cli -h x -a [masked: password] ping"),
        ("curl -s -u bob:hunter2 https://x", "curl -s -u bob:[masked: password] https://x"),
        ("CREATE USER x IDENTIFIED BY 'hunter2'", "CREATE USER x IDENTIFIED BY '[masked: password]'"),
        ("ALTER ROLE x PASSWORD 'hunter2'", "ALTER ROLE x PASSWORD '[masked: password]'"),
        ("Authorization: Digest a, b=c", "Authorization: [masked: secret]"),
        ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: [masked: secret]' x"),
        ("Cookie: sid=1; theme=dark", "Cookie: [masked: cookie]"),
        ("sent Bearer abcdef123456 to it", "sent Bearer [masked: token] to it"),
        ("sent Basic dXNlcjpwYXNz to it", "sent Basic [masked: password] to it"),
        ("it is correct-horse, or", "it is [masked: secret], or"),
        ("xpadded-literalx", "x[masked: secret]x"),
        ("root:$6$saltsalt$hashhashhashhash/:19000:", "root:[masked: password hash]:19000:"),
    ];
    for (given, expected) in table {
        assert_eq!(mask().apply(given), expected, "{given}");
    }
}

#[test]
fn well_known_tokens_are_masked_by_their_shape() {
    let hex = "0123456789abcdef0123456789abcdef01234567";
    let table = [
        (token("AKIA", "IOSFODNN7EXAMPLE"), "key"),
        (token("ASIA", "IOSFODNN7EXAMPLE"), "key"),
        (token("gh", &format!("p_{hex}")), "token"),
        (token("gh", &format!("o_{hex}")), "token"),
        (token("github_", &format!("pat_{hex}")), "token"),
        (token("glp", "at-AbCdEfGhIjKlMnOpQrSt"), "token"),
        (token("xox", "b-123456789012-abcdef"), "token"),
        (token("sk_", "live_abcdefghij0123456789"), "key"),
        (token("AI", &format!("za{hex}")), "key"),
        (token("np", &format!("m_{hex}")), "token"),
        (token("123456789:", &hex[..35]), "token"),
        (token("MTIzNDU2Nzg5MDEyMzQ1Njc4", ".GabcDE.abcdefghijklmnopqrstuvwxyz0"), "token"),
        (token("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"), "token"),
        (token("syt_", "Ym90_AbCdEfGhIjKlMnOpQrSt_0aBcDe"), "token"),
        (token("AGE-SECRET-", "KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQ"), "private key"),
    ];
    for (secret, class) in table {
        for text in [secret.clone(), format!("got {secret}, then"), format!("[\"{secret}\"]")] {
            assert_eq!(mask().apply(&text), text.replace(&secret, &format!("[masked: {class}]")));
            assert_eq!(mask().class_of(&text), Some(class));
        }
    }
    let url = format!("https://api.telegram.org/bot123456789:{}/getMe", &hex[..35]);
    assert_eq!(mask().apply(&url), "https://api.telegram.org/bot[masked: token]/getMe");
}

#[test]
fn private_keys_are_masked_over_all_their_lines() {
    let begin = token("-----BEGIN OPENSSH PRIV", "ATE KEY-----");
    let end = token("-----END OPENSSH PRIV", "ATE KEY-----");
    let whole = format!("before\n{begin}\nMIIE\nabcd\n{end}\nafter");
    assert_eq!(mask().apply(&whole), "before\n[masked: private key]\nafter");
    let unterminated = format!("before\n{begin}\nMIIE\nabcd");
    assert_eq!(mask().apply(&unterminated), "before\n[masked: private key]");
    assert_eq!(mask().class_of(&whole), Some("private key"));
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    assert_eq!(mask().apply(certificate), certificate);
}

#[test]
fn ordinary_text_stays_as_it_is() {
    let table = [
        "useradd: /etc/passwd: cannot lock; try again later",
        "cat: /etc/passwd: Permission denied",
        "/usr/bin/passwd: unrecognized option",
        "cat: /run/secrets/db/token: No such file or directory",
        "open '/srv/app/api_key: cannot open it",
        "cp: /srv/app.secret: Read-only file system",
        "password is wrong",
        "token sent to worker-12",
        "token was issued to build-agent7",
        "the secret shop-db was copied to web-1234",
        "token expired",
        "max_tokens=20",
        "Enter password:",
        "Failed password for root from 10.0.0.7 port 22 ssh2",
        "pam_unix(sudo:auth): authentication failure; user=bob",
        "FATAL: password authentication failed for user \"app\"",
        "sshd[812]: Accepted publickey for root from 10.0.0.7 port 51000 ssh2: RSA SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
        "invalid bearer token",
        "Bearer authentication failed",
        "Basic Authentication required",
        "secret/db-credentials created",
        "MountVolume.SetUp failed: secret \"db-credentials\" not found",
        "token_type=bearer expires_in=3600",
        "PWD=/home/bob",
        "OLDPWD=/srv",
        "password=${DB_PASSWORD}",
        "password: $DB_PASSWORD",
        "password=",
        "password=****",
        "password: null",
        "has_password: true",
        "secret:DB_PASSWORD",
        "use token::Kind::Word here",
        "the one-token limit is 5",
        "use the --token flag",
        "2026-11-21T22:47:05Z INFO nginx[812]: GET /index.html 200 12ms",
        "d41d8cd98f00b204e9800998ecf8427e",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "docker://nginx:1.25@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "http://host:8080/path?mail=a@b.example",
        "http://[::1]:8080/x@y",
        "ssh://git@host:repo/x@1",
        "git@github.com:team/repo.git",
        "/usr/lib/systemd/systemd --switched-root --system --deserialize=31",
        "docker run --user 1000:1000 nginx",
        "curl -fsS https://example.org/health",
        "mysql -u root -h db-1 shop",
        "a task-runner-with-a-long-name-0123456789 started",
        "12:34:56 cpu=3.4% mem=1.5GiB load=0.12,0.20,0.31",
        "monkey: see, compass: north, bypass=on, author: Bob",
        "key: value",
        "[masked: password] is what it says",
        "Zoë größer 日本語 🎉",
        "",
    ];
    for text in table {
        assert_eq!(mask().apply(text), text);
        assert_eq!(mask().class_of(text), None, "{text}");
    }
}

#[test]
fn ordinary_files_and_answers_stay_as_they_are() {
    let table: BTreeMap<String, String> =
        toml::from_str(include_str!("../../../tests/fixtures/secrets/ordinary.toml")).expect("it is a table of texts");
    let changed = table.iter().flat_map(|(name, text)| {
        let shown = [text.clone(), format!("```\n{text}```\n"), format!("web-1 says:\n\n{text}\nthat is all")];
        shown.into_iter().filter(|text| mask().apply(text) != text.as_str()).map(move |text| (name, text))
    });
    let changed: Vec<_> = changed.map(|(name, text)| (name, mask().apply(&text).into_owned())).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_path_hides_no_secret() {
    let table = [
        // Stores of secrets name them by paths; only what an error says of a path is none.
        ("/prod/db/password: hunter2", "/prod/db/password: [masked: password]"),
        ("secret/db/password: cannot open it", "secret/db/password: [masked: password] open it"),
        ("/etc/app/passwd: hunter2", "/etc/app/passwd: [masked: password]"),
        ("the password in /etc/passwd: hunter2", "the password in /etc/passwd: [masked: password]"),
        ("/etc/passwd:hunter2", "/etc/passwd:[masked: password]"),
        ("/etc/passwd=hunter2", "/etc/passwd=[masked: password]"),
        ("/etc/passwd: \"hunter2\"", "/etc/passwd: \"[masked: password]\""),
        ("/srv/token: Permission deniedX1", "/srv/token: [masked: token] deniedX1"),
        ("/srv/token: cannotX1", "/srv/token: [masked: token]"),
        ("passwd: cannot", "passwd: [masked: password]"),
        ("cat: /etc/passwd: cannot read token=hunter2", "cat: /etc/passwd: cannot read token=[masked: token]"),
        ("https://h/token: cannot open", "https://h/token: [masked: token] open"),
    ];
    for (text, masked) in table {
        assert_eq!(mask().apply(text), masked, "{text}");
    }
}

#[test]
fn a_mask_in_the_text_is_one_piece() {
    let table = [
        ("password=[masked: token]", "password=[masked: token]"),
        ("Reason: password=[masked: token]. Nothing.", "Reason: password=[masked: token]. Nothing."),
        ("password=[masked: token]rest", "password=[masked: password]"),
        ("password=[masked: token", "password=[masked: password] token"),
        ("p://u:[masked: password]@h", "p://u:[masked: password]@h"),
    ];
    for (given, expected) in table {
        assert_eq!(mask().apply(given), expected);
    }
    let unlucky = Mask::new(["masked: ".to_owned(), "password".to_owned()]);
    assert_eq!(unlucky.apply("my password"), "my [masked: secret]");
    assert_eq!(unlucky.apply("[masked: password]"), "[masked: password]");
}

#[test]
fn json_is_masked_by_text_and_by_structure() {
    let begin = token("-----BEGIN RSA PRIV", "ATE KEY-----");
    let given = json!({
        "user": "bob",
        "password": "hunter2",
        "pin_token": 1234,
        "has_password": true,
        "no_secret": null,
        "credential": {"a": 1},
        "env": [{"name": "DB_PASSWORD", "value": "x"}, {"name": "LANG", "value": "C"}],
        "cmd": ["run", "--password", "x", "--token=y", "z"],
        "lines": ["a", begin, "MIIE"],
        "nested": [{"url": "http://u:p@h/"}, 7],
        "max_tokens": 20,
        "empty": [],
        "object": {"kind": "Secret", "data": {"ca": "eA=="}},
    });
    let masked = mask().mask_json(&given);
    let expected = json!({
        "user": "bob",
        "password": "[masked: password]",
        "pin_token": "[masked: token]",
        "has_password": true,
        "no_secret": null,
        "credential": "[masked: secret]",
        "env": [{"name": "DB_PASSWORD", "value": "[masked: password]"}, {"name": "LANG", "value": "C"}],
        "cmd": ["run", "--password", "[masked: password]", "--token=[masked: token]", "z"],
        "lines": ["a", "[masked: private key]"],
        "nested": [{"url": "http://u:[masked: password]@h/"}, 7],
        "max_tokens": 20,
        "empty": [],
        "object": {"kind": "Secret", "data": "[masked: secret]"},
    });
    assert_eq!(masked, expected);
    assert_eq!(mask().mask_json(&masked), masked);
}

#[test]
fn a_mask_does_not_print_what_it_knows() {
    assert_eq!(format!("{:?}", mask()), "Mask(2 literals)");
}

#[test]
fn long_hostile_text_is_settled_in_one_go() {
    for piece in [
        "token=a&",
        "aaaa",
        "-----BEGIN PRIVATE KEY",
        "://a:",
        "curl -u ",
        "eyJ",
        "password=[masked: token]",
        "a.",
        "\"",
    ] {
        let text = piece.repeat(5_000);
        let once = mask().apply(&text).into_owned();
        assert_eq!(mask().apply(&once), once, "{piece}");
        assert!(!once.contains("token=a"), "{piece}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let fixed = [
        "password",
        "token",
        "secret",
        "Authorization",
        "DB_PASSWORD",
        "pwd",
        "--password",
        "--token",
        "Bearer ",
        "Basic ",
        "://",
        "u:",
        "@",
        "=",
        ": ",
        ":",
        "\"",
        "'",
        "\\\"",
        "\\",
        "&",
        ";",
        ",",
        " ",
        "\n",
        "|",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        "[masked: token]",
        "[masked: ",
        "correct-horse",
        "hunter2",
        "dXNlcjpwYXNz",
        "abc",
        "_",
        "-",
        ".",
        "/",
        "curl -u ",
        "mysql -p",
        "sshpass -p ",
        "$6$saltsalt$hashhashhashhash",
        "identified by '",
        "1",
        "é",
        "🎉",
        "cookie=",
        "<token>",
        "x=",
    ];
    let built = [
        token("AKIA", "IOSFODNN7EXAMPLE"),
        token("gh", "p_0123456789abcdef0123456789"),
        token("123456789:", "0123456789abcdef0123456789abcdef012"),
        token("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0"),
        token("-----BEGIN PRIV", "ATE KEY-----"),
        token("-----END PRIV", "ATE KEY-----"),
    ];
    let all: Vec<String> = fixed.iter().map(|piece| (*piece).to_owned()).chain(built).collect();
    let random = "[a-zA-Z0-9=:@/ \\[\\]\"'-]{0,8}";
    prop::collection::vec(prop_oneof![4 => prop::sample::select(all), 1 => random], 0..14)
        .prop_map(|parts| parts.concat())
}

/// A letter of another alphabet right before it is no part of it.
#[test]
fn a_token_behind_any_letter_is_found() {
    for before in ["", "ключ", "é", "鍵", "🔑", "="] {
        for secret in [token("gh", "p_0123456789abcdef0123456789"), token("AKIA", "IOSFODNN7EXAMPLE")] {
            let masked = mask().apply(&format!("{before}{secret}")).into_owned();
            assert!(!masked.contains(&secret), "{masked}");
        }
    }
}

#[test]
fn what_is_no_value_may_hold_one() {
    // Found by the property below, once in some thousands of cases.
    for text in ["cookie=\"& password=Zq9aaaa", "token=\"& password=Zq9aaaa"] {
        let masked = mask().apply(text).into_owned();
        assert!(!masked.contains("Zq9aaaa"), "{masked}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn masking_twice_is_masking_once(text in pieces()) {
        let mask = mask();
        let once = mask.apply(&text).into_owned();
        prop_assert_eq!(mask.apply(&once), once.as_str());
        prop_assert_eq!(mask.class_of(&once), None);
        prop_assert_eq!(mask.class_of(&text).is_some(), once != text);
    }

    #[test]
    fn a_secret_leaves_nothing_behind(
        before in pieces(), key in "(password|DB_PASSWORD|api_key|my-token)", value in "[!-~&&[^\"'`\\\\=]]{0,6}Zq9[a-z]{4}", after in "( [a-z ]*)?",
    ) {
        // Whatever stands around it, and whatever the secret begins with: its core is gone. Left out is `=`, because
        // `a;b=c` is taken for the value `a` and another field.
        let text = format!("{before} {key}={value}{after}");
        let masked = mask().apply(&text).into_owned();
        prop_assert!(!masked.contains(value.get(value.len() - 7..).unwrap_or_default()), "{masked}");
    }

    #[test]
    fn json_is_settled_too(text in pieces(), key in pieces()) {
        let given = serde_json::json!({key: text.clone(), "list": [text.clone(), text]});
        let once = mask().mask_json(&given);
        prop_assert_eq!(mask().mask_json(&once), once);
    }
}

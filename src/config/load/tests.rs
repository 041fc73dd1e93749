//! What `Config::load` makes of files, variables and flags, and the sentences it refuses with.

use std::path::Path;

use super::*;
use crate::config::{LogFormat, Spoke};

/// A working directory with what a test puts into it.
struct World {
    dir: tempfile::TempDir,
    options: LoadOptions,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let options = LoadOptions { cwd: dir.path().to_owned(), ..LoadOptions::default() };
        Self { dir, options }
    }

    fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.dir.path().join(name), text).expect("it can be written");
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.options.env.push((name.into(), value.into()));
        self
    }

    fn flag(mut self, flag: &'static str, key: &'static str, value: &str) -> Self {
        self.options.overrides.push(Override { flag, key, value: value.to_owned() });
        self
    }

    fn load(&self) -> Config {
        Config::load(&self.options).unwrap_or_else(|error| panic!("it must load: {error}"))
    }

    fn refused(&self) -> String {
        let said = Config::load(&self.options).expect_err("it must be refused").to_string();
        said.replace(&self.dir.path().display().to_string(), "DIR")
    }
}

fn in_file(text: &str) -> String {
    World::new().file(FILE, text).refused()
}

#[test]
fn without_anything_the_defaults_count() {
    let config = World::new().env("HOME", "/root").load();
    assert_eq!(config, Config::default());
    assert_eq!((config.limits.turns, config.limits.queue, config.limits.exact_routes), (20, 64, 1000));
    assert_eq!(config.spokes.contains_key("host"), cfg!(feature = "host"));
}

#[test]
fn command_line_over_environment_over_dot_env_over_file_over_default() {
    let mut world = World::new();
    let turns = |world: &World| world.load().limits.turns;
    assert_eq!(turns(&world), 20);
    world = world.file(FILE, "[limits]\nturns = 1\nqueue = 9");
    assert_eq!(turns(&world), 1);
    world = world.file(".env", "OTHER=x\nCOUNTERSIGN_LIMITS__TURNS=2\n");
    assert_eq!(turns(&world), 2);
    world = world.env("COUNTERSIGN_LIMITS__TURNS", "3");
    assert_eq!(turns(&world), 3);
    world = world.flag("--turns", "limits.turns", "4");
    assert_eq!(turns(&world), 4);
    assert_eq!(world.load().limits.queue, 9, "the other keys of the section stay");
    assert_eq!(std::env::var_os("COUNTERSIGN_LIMITS__TURNS"), None, "the process's environment is untouched");
}

#[test]
fn a_variable_is_text_where_text_is_wanted_and_a_value_elsewhere() {
    let world = World::new()
        .env("COUNTERSIGN_SPOKES__HOST__ENABLED", "false")
        .env("COUNTERSIGN_SPOKES__MINE__COMMAND", "7")
        .env("COUNTERSIGN_SPOKES__MINE__ENV", "[SSH_AUTH_SOCK, KUBECONFIG]")
        .env("COUNTERSIGN_LOG__FORMAT", "json")
        .env("COUNTERSIGN_METRICS__LISTEN", "[::1]:9464");
    let config = world.load();
    assert!(!config.spokes["host"].enabled);
    let mine = &config.spokes["mine"];
    assert_eq!((mine.command.as_deref(), mine.env.len(), mine.enabled), (Some("7"), 2, true));
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.metrics.listen, "[::1]:9464".parse().ok());
}

#[test]
fn an_unknown_key_is_refused_with_the_one_that_was_meant() {
    insta::assert_snapshot!(in_file("[log]\nformat = \"text\"\n[stoer]\nurl = \"sqlite:x\""),
        @"countersign.toml: unknown key `stoer.url` (line 4); did you mean `store.url`?");
    insta::assert_snapshot!(in_file("turns = 5"),
        @"countersign.toml: unknown key `turns` (line 1); did you mean `limits.turns`?");
    insta::assert_snapshot!(in_file("[spokes.host]\nenable = true"),
        @"countersign.toml: unknown key `spokes.host.enable` (line 2); did you mean `spokes.host.enabled`?");
    insta::assert_snapshot!(in_file("[weather]"),
        @"countersign.toml: unknown key `weather` (line 1); see config/reference.toml for every key");
}

#[test]
fn an_unknown_variable_is_refused_too() {
    let refused = |name: &str| World::new().env(name, "x").refused();
    insta::assert_snapshot!(refused("COUNTERSIGN_STOER__URL"),
        @"COUNTERSIGN_STOER__URL: unknown key `stoer.url`; did you mean COUNTERSIGN_STORE__URL?");
    insta::assert_snapshot!(refused("COUNTERSIGN_LOG_LEVEL"),
        @"COUNTERSIGN_LOG_LEVEL: unknown key `log_level`; did you mean COUNTERSIGN_LOG__LEVEL?");
    insta::assert_snapshot!(refused("COUNTERSIGN_DATA"),
        @"COUNTERSIGN_DATA: unknown key `data`; did you mean COUNTERSIGN_STORE__DATA?");
    insta::assert_snapshot!(refused("COUNTERSIGN_COUNTERSIGN_LOG__LEVEL"),
        @"COUNTERSIGN_COUNTERSIGN_LOG__LEVEL: unknown key `countersign_log.level`; did you mean COUNTERSIGN_LOG__LEVEL?");
    insta::assert_snapshot!(refused("COUNTERSIGN___URL"),
        @"COUNTERSIGN___URL: unknown key `.url`; did you mean COUNTERSIGN_STORE__URL?");
    insta::assert_snapshot!(World::new().file(".env", "COUNTERSIGN_LOG__LEVLE=info").refused(),
        @".env: COUNTERSIGN_LOG__LEVLE: unknown key `log.levle`; did you mean COUNTERSIGN_LOG__LEVEL?");
}

#[test]
fn what_kubernetes_gives_a_service_of_our_name_is_passed_over() {
    let world = World::new()
        .env("COUNTERSIGN_SERVICE_HOST", "10.0.0.1")
        .env("COUNTERSIGN_SERVICE_PORT_HTTP", "80")
        .env("COUNTERSIGN_PORT", "tcp://10.0.0.1:80")
        .env("COUNTERSIGN_PORT_80_TCP_ADDR", "10.0.0.1");
    assert_eq!(world.load(), Config::default());
}

#[test]
fn a_value_that_does_not_fit_is_named_and_not_repeated() {
    insta::assert_snapshot!(in_file("[limits]\nturns = \"many\""),
        @"countersign.toml: `limits.turns` (line 2) must be a whole number from 0 to 4294967295, not text");
    insta::assert_snapshot!(in_file("[limits]\nturns = -1"),
        @"countersign.toml: `limits.turns` (line 2) must be a whole number from 0 to 4294967295, not this number");
    insta::assert_snapshot!(in_file("[log]\nformat = \"xml\""),
        @"countersign.toml: `log.format` (line 2) must be one of `text`, `json`");
    insta::assert_snapshot!(in_file("[metrics]\nlisten = \"localhost:9464\""),
        @"countersign.toml: `metrics.listen` (line 2) must be an address and a port, such as 127.0.0.1:9464");
    insta::assert_snapshot!(in_file("[spokes.host]\nenv = \"A\""),
        @"countersign.toml: `spokes.host.env` (line 2) must be a list, not text");
    insta::assert_snapshot!(in_file("store = \"postgres://bot:hunter2@db/x\""),
        @"countersign.toml: `store` (line 1) must be a section, not text");
    insta::assert_snapshot!(World::new().env("COUNTERSIGN_LIMITS__TURNS", "").refused(),
        @"COUNTERSIGN_LIMITS__TURNS: `limits.turns` is empty; give it a value or unset it");
    insta::assert_snapshot!(World::new().flag("--turns", "limits.turns", "many").refused(),
        @"--turns: `limits.turns` must be a whole number from 0 to 4294967295, not text");
}

#[test]
fn what_a_section_refuses_says_where_it_stands() {
    insta::assert_snapshot!(in_file("[limits]\n\nturns = 0"),
        @"countersign.toml: `limits.turns` (line 3) must be from 1 to 200, not 0");
    insta::assert_snapshot!(in_file("[spokes.mine]\nenabled = true"),
        @"countersign.toml: `spokes.mine` (line 1) is not a spoke of this version; set `spokes.mine.command` to the program to run");
    let world =
        World::new().file(FILE, "[metrics]\nlisten = \"127.0.0.1:9\"").env("COUNTERSIGN_METRICS__LISTEN", "10.0.0.1:9");
    insta::assert_snapshot!(world.refused(), @"COUNTERSIGN_METRICS__LISTEN: `metrics.listen` is 10.0.0.1:9, which other machines may reach; use 127.0.0.1:9 or set `metrics.allow_remote = true`");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let mut world = World::new();
    world.options.file = Some("missing.toml".into());
    assert!(world.refused().starts_with("missing.toml: cannot be read: "), "{}", world.refused());
    #[cfg(unix)]
    {
        let world = World::new();
        std::os::unix::fs::symlink("nowhere", world.dir.path().join(FILE)).expect("it can be linked");
        assert!(world.refused().starts_with("countersign.toml: cannot be read: "), "{}", world.refused());
    }
    let refused = in_file("[log]\nlevel = info");
    assert!(refused.starts_with("countersign.toml (line 2): is not TOML: "), "{refused}");
    let world = World::new().file(".env", "COUNTERSIGN_STORE__URL='postgres://bot:hunter2@db");
    insta::assert_snapshot!(world.refused(),
        @".env: the line of COUNTERSIGN_STORE__URL cannot be read; put its value in single quotes");
    let world = World::new().file(".env", "SOMEBODY ELSE'S ' LINE\n");
    assert_eq!(world.load(), Config::default());
}

#[test]
fn a_password_stands_in_the_environment_or_in_a_file_of_its_own() {
    let url = "postgres://bot:hunter2@db/x";
    insta::assert_snapshot!(in_file(&format!("[store]\nurl = \"{url}\"")),
        @"countersign.toml: `store.url` (line 2) holds a password; give it as COUNTERSIGN_STORE__URL or in a file named by `store.url_file`");
    let flag = World::new().flag("--store-url", "store.url", url).refused();
    assert!(flag.starts_with("--store-url: `store.url` holds a password;"), "{flag}");
    let from_env = World::new().env("COUNTERSIGN_STORE__URL", url).load();
    let from_dot_env = World::new().file(".env", &format!("COUNTERSIGN_STORE__URL='{url}'")).load();
    let from_file =
        World::new().file(FILE, "[store]\nurl_file = \"db.url\"").file("db.url", &format!("{url}\n")).load();
    for config in [from_env, from_dot_env, from_file] {
        assert_eq!(config.store.database_url(Path::new("/data")).expect("a plain path").expose(), url);
        assert_eq!(config.secrets(), ["hunter2", url]);
        let shown = format!("{config:?} {}", serde_json::to_string(&config).expect("plain data"));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn the_stronger_of_two_ways_to_give_the_database_wins() {
    let file = || World::new().file("db.url", "sqlite:from-the-file").file(FILE, "[store]\nurl_file = \"db.url\"");
    let world = file().env("COUNTERSIGN_STORE__URL", "sqlite:from-the-variable");
    assert_eq!(
        world.load().store.database_url(Path::new("")).expect("it is given").expose(),
        "sqlite:from-the-variable"
    );
    let world = World::new()
        .file("db.url", "sqlite:from-the-file")
        .file(FILE, "[store]\nurl = \"sqlite:weaker\"")
        .env("COUNTERSIGN_STORE__URL_FILE", "db.url");
    assert_eq!(world.load().store.database_url(Path::new("")).expect("it is given").expose(), "sqlite:from-the-file");
    insta::assert_snapshot!(in_file("[store]\nurl_file = \"db.url\"\nurl = \"sqlite:x\""),
        @"countersign.toml: `store.url` (line 3) is given together with `store.url_file`; give one of them");
    let world = file().file("db.url", "\n");
    insta::assert_snapshot!(world.refused(),
        @"countersign.toml: `store.url_file` (line 2) names DIR/db.url, which is empty");
    let world = file().file("db.url", "mysql://bot:hunter2@db");
    insta::assert_snapshot!(world.refused(),
        @"countersign.toml: `store.url_file` (line 2) must give a URL that begins with `sqlite:` or `postgres://`");
}

#[test]
fn a_token_stands_in_the_environment_or_in_a_file_of_its_own() {
    let token = "123456:hunter2-hunter2-hunter2";
    insta::assert_snapshot!(in_file(&format!("[telegram]\ntoken = \"{token}\"")),
        @"countersign.toml: `telegram.token` (line 2) is a secret; give it as COUNTERSIGN_TELEGRAM__TOKEN or in a file named by `telegram.token_file`");
    insta::assert_snapshot!(in_file("[telegram]\napi_url = \"example.org\""),
        @"countersign.toml: `telegram.api_url` (line 2) must be a URL that begins with `https://` or `http://`");
    assert!(Config::default().telegram.token.is_none(), "nothing is on that nobody turned on");
    if cfg!(feature = "telegram") {
        insta::assert_snapshot!(World::new().env("COUNTERSIGN_TELEGRAM__TOKEN", "hunter2").refused(),
            @"COUNTERSIGN_TELEGRAM__TOKEN: `telegram.token` is not a bot token; it has the form 123456789:AbC... and comes from @BotFather");
    }
    let given = [
        World::new().env("COUNTERSIGN_TELEGRAM__TOKEN", token),
        World::new().file(FILE, "[telegram]\ntoken_file = \"tg\"").file("tg", &format!("{token}\n")),
    ];
    for world in given {
        if cfg!(feature = "telegram") {
            let config = world.load();
            assert_eq!(config.telegram.token.as_ref().map(Secret::expose), Some(token));
            assert_eq!(config.secrets(), [token]);
        } else {
            let refused = world.refused();
            assert!(refused.contains("build with --features telegram"), "{refused}");
        }
    }
}

#[test]
fn discords_token_is_a_secret_and_its_servers_are_addresses() {
    let token = "MTEw.hunter2.hunter2-hunter2_hunter2";
    insta::assert_snapshot!(in_file(&format!("[discord]\ntoken = \"{token}\"")), @"countersign.toml: `discord.token` (line 2) is a secret; give it as COUNTERSIGN_DISCORD__TOKEN or in a file named by `discord.token_file`");
    insta::assert_snapshot!(in_file("[discord]\napi_url = \"example.org\""), @"countersign.toml: `discord.api_url` (line 2) must be a URL that begins with `https://` or `http://`");
    insta::assert_snapshot!(in_file("[discord]\ngateway_url = \"https://example.org\""), @"countersign.toml: `discord.gateway_url` (line 2) must be a URL that begins with `wss://` or `ws://`");
    insta::assert_snapshot!(in_file("[discord]\nthreads_in = [\"1100000000000000001\", \"#ops\"]"), @"countersign.toml: `discord.threads_in` (line 2) lists `#ops`, which is no channel; use the number that Copy Channel ID gives in developer mode");
    assert!(!Config::default().discord.is_on(), "nothing is on that nobody turned on");
    let world = World::new().env("COUNTERSIGN_DISCORD__TOKEN", token);
    if cfg!(feature = "discord") {
        insta::assert_snapshot!(World::new().env("COUNTERSIGN_DISCORD__TOKEN", "hunter2").refused(), @"COUNTERSIGN_DISCORD__TOKEN: `discord.token` is not a bot token; it has three parts with dots between them and comes from the bot's page in the Developer Portal");
        assert_eq!(world.load().secrets(), [token]);
    } else {
        assert!(world.refused().contains("build with --features discord"));
    }
}

#[test]
fn matrixs_password_is_a_secret_and_takes_an_account_to_be_the_password_of() {
    let password = "correct-hunter2-battery";
    insta::assert_snapshot!(in_file(&format!("[matrix]\npassword = \"{password}\"")), @"countersign.toml: `matrix.password` (line 2) is a secret; give it as COUNTERSIGN_MATRIX__PASSWORD or in a file named by `matrix.password_file`");
    insta::assert_snapshot!(in_file("[matrix]\nrecovery_key = \"EsTc hunter2\""), @"countersign.toml: `matrix.recovery_key` (line 2) is a secret; give it as COUNTERSIGN_MATRIX__RECOVERY_KEY or in a file named by `matrix.recovery_key_file`");
    insta::assert_snapshot!(in_file("[matrix]\nhomeserver = \"example.org\""), @"countersign.toml: `matrix.homeserver` (line 2) must be a URL that begins with `https://` or `http://`");
    insta::assert_snapshot!(in_file("[matrix]\nuser = \"countersign\""), @"countersign.toml: `matrix.user` (line 2) is `countersign`, which is no whole id; it has the form @name:server");
    insta::assert_snapshot!(in_file("[matrix]\nencryption = \"maybe\""), @"countersign.toml: `matrix.encryption` (line 2) must be one of `required`, `off`");
    assert!(!Config::default().matrix.is_on(), "nothing is on that nobody turned on");
    let world = World::new().env("COUNTERSIGN_MATRIX__PASSWORD", password);
    if cfg!(feature = "matrix") {
        insta::assert_snapshot!(world.refused(), @"COUNTERSIGN_MATRIX__PASSWORD: `matrix.password` turns Matrix on, which takes `matrix.homeserver` as well");
        let account = "[matrix]\nhomeserver = \"http://localhost\"\nuser = \"@bot:localhost\"";
        let world = World::new().file(FILE, account).env("COUNTERSIGN_MATRIX__PASSWORD", password);
        assert_eq!(world.load().secrets(), [password]);
    } else {
        assert!(world.refused().contains("build with --features matrix"));
    }
}

#[test]
fn a_destination_that_is_none_is_refused_with_the_fix() {
    insta::assert_snapshot!(in_file("[egress]\nallow = [\"docs.example.org\", \"https://docs.example.org/\"]"), @"countersign.toml: `egress.allow` (line 2) lists `https://docs.example.org/`, which is a URL; write its host alone, as `docs.example.org` or `docs.example.org:443`");
    let config = World::new().file(FILE, "[egress]\nallow = [\"docs.example.org:443\"]").load();
    let allowed = config.egress.destinations().expect("it was validated");
    assert!(allowed.allows("docs.example.org", Some(443)));
    assert!(!Config::default().egress.destinations().expect("nothing is listed").allows("docs.example.org", Some(443)));
}

#[test]
fn a_credential_is_in_a_file_or_in_the_environment_and_a_server_names_only_known_ones() {
    let said = [
        in_file("[credentials.shop]"),
        in_file("[credentials.Shop]\nfile = \"x\""),
        in_file("[credentials.shop]\nvalue = \"hunter2\""),
        in_file("[spokes.host]\nenv = [\"TOKEN=secret:shop\"]"),
        in_file("[spokes.host]\nenv = [\"TOKEN=hunter2\"]"),
        in_file("[spokes.mine]\ncommand = \"x\"\nargs = [\"--token=secret:shop\"]"),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    countersign.toml: `credentials.shop` (line 1) is given in no way; name its file by `credentials.shop.file`
    countersign.toml: `credentials.Shop` (line 1) is not a name for a credential; use up to 32 small letters, digits, `_` and `-`, a letter first
    countersign.toml: `credentials.shop.value` (line 2) is a secret; give it as COUNTERSIGN_CREDENTIALS__SHOP__VALUE or in a file named by `credentials.shop.file`
    countersign.toml: `spokes.host.env` (line 2) names `secret:shop`, which is not configured; add `[credentials.shop]`
    countersign.toml: `spokes.host.env` (line 2) must list names of variables, or `VARIABLE=secret:NAME`
    countersign.toml: `spokes.mine.args` (line 3) names a credential, and everybody on this machine can read a program's arguments; give it in `env`, as `VARIABLE=secret:NAME`
    ");
    let named = "[credentials.shop]\nfile = \"shop.key\"\n[spokes.host]\nenv = [\"TZ\", \"TOKEN=secret:shop\"]";
    let world = World::new().file(FILE, named);
    let config = world.load();
    assert_eq!(config.credentials["shop"].file, Some(world.dir.path().join("shop.key")));
    let variables = (vec!["TZ".to_owned()], [("TOKEN".to_owned(), "shop".to_owned())].into());
    assert_eq!(config.spokes["host"].variables(), variables);
    // The environment wins over the file, whichever of the two keys each gives.
    let config = world.env("COUNTERSIGN_CREDENTIALS__SHOP__VALUE", "hunter2").load();
    assert_eq!(config.credentials["shop"].file, None);
    assert_eq!(config.secrets(), ["hunter2"]);
}

#[test]
fn a_path_is_relative_to_the_file_that_it_stands_in() {
    let mut world = World::new();
    std::fs::create_dir(world.dir.path().join("etc")).expect("it can be created");
    world = world.file("etc/bot.toml", "[intents]\nfile = \"own.toml\"\n[tools]\ndir = \"/opt/tools\"");
    world.options.file = Some("etc/bot.toml".into());
    world = world.flag("--data", "store.data", "state");
    let config = world.load();
    let here = world.dir.path();
    assert_eq!(config.intents.file, Some(here.join("etc/own.toml")));
    assert_eq!(config.tools.dir, Some("/opt/tools".into()));
    assert_eq!(config.data_dir(), Ok(here.join("state")));
}

/// The variables that the reference shows, each with its key and its value.
fn variables_of_the_reference() -> Vec<(&'static str, String, &'static str)> {
    let shown = include_str!("../../../config/reference.toml").lines().filter_map(|line| line.strip_prefix("#$ "));
    let parts = shown.map(|shown| shown.split_once('=').expect("a variable has a value"));
    parts
        .map(|(name, value)| {
            let key = name.strip_prefix("COUNTERSIGN_").expect("it is ours").replace("__", ".").to_lowercase();
            (name, key, value)
        })
        .collect()
}

/// The reference, with every line that begins with one of the marks uncommented.
fn reference(marks: &[&str]) -> String {
    let uncommented = |line: &str| {
        let found = marks.iter().find_map(|mark| line.strip_prefix(mark)).filter(|rest| rest.contains(" = "));
        // A comment for people has a space after the hash, so that it never looks like a key.
        found.filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase())).unwrap_or(line).to_owned() + "\n"
    };
    include_str!("../../../config/reference.toml").lines().map(uncommented).collect()
}

#[test]
fn the_reference_shows_the_defaults() {
    let shown: Config = toml::from_str(&reference(&["#"])).expect("the reference is sound");
    let mut defaults = Config::default();
    defaults.spokes.insert("host".to_owned(), Spoke::default());
    assert_eq!(shown, defaults);
}

#[test]
fn the_reference_has_every_key_and_no_other() {
    let text = reference(&["#? ", "#"]);
    let table: toml::Table = text.parse().expect("the reference is TOML");
    let mut shown = Vec::new();
    keys::leaves("", &figment::value::Value::serialize(&table).expect("plain data"), &mut shown);
    shown.extend(variables_of_the_reference().into_iter().map(|(_, key, _)| key));
    let mut known: Vec<_> = keys::known()
        .iter()
        .map(|key| {
            key.replace("role.NAME", "role.operator")
                .replace("credentials.NAME", "credentials.shop_token")
                .replace("NAME", "host")
        })
        .collect();
    shown.sort();
    known.sort();
    assert_eq!(shown, known);
    toml::from_str::<Config>(&text).expect("the examples have the right form");
}

#[test]
fn what_the_reference_shows_as_a_variable_is_taken_from_there_and_refused_in_the_file() {
    let variables = variables_of_the_reference();
    let names: Vec<_> = variables.iter().map(|(name, ..)| name.trim_start_matches("COUNTERSIGN_")).collect();
    assert_eq!(
        names,
        [
            "STORE__SEAL_KEY",
            "MODEL__API_KEY",
            "DISCORD__TOKEN",
            "MATRIX__PASSWORD",
            "MATRIX__RECOVERY_KEY",
            "TELEGRAM__TOKEN",
            "CREDENTIALS__SHOP_TOKEN__VALUE"
        ]
    );
    let account = "[matrix]\nhomeserver = \"http://localhost\"\nuser = \"@bot:localhost\"";
    for (name, key, value) in variables {
        let refused = in_file(&format!("{key} = \"{value}\""));
        assert!(refused.contains(&format!("is a secret; give it as {name}")), "{refused}");
        if cfg!(all(feature = "discord", feature = "matrix", feature = "telegram")) {
            assert_eq!(World::new().file(FILE, account).env(name, value).load().secrets(), [value]);
        }
    }
}

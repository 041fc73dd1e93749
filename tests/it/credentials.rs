//! The credential of a team's own tool server, with the real binary: given to the server and to its calls while its file is
//! sound, refused when it is not, and nowhere else to be seen. What is sound is tested beside `vault.rs`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::bot::{Bot, Home, finish};
use crate::support::shop::Shop;

const TOKEN: &str = "q7RtWm2ZkPld4XeVb9";

/// A home whose bot has the shop's server, with `shop_token` in a file of its own.
struct Place {
    home: Home,
    shop: Shop,
    config: PathBuf,
}

impl Place {
    fn new() -> Self {
        let (home, shop) = (Home::new(), Shop::new());
        let tools = include_str!("../fakes/shop/tools/shop.toml");
        let needs = "credentials = [\"shop_token\"]\nargs.token = { type = \"credential\", about = \"its token\", default = \"secret:shop_token\" }";
        let declared = ["about = \"how one of the shop's pods does", "about = \"restart one of the shop's pods"];
        let tools =
            declared.iter().fold(tools.to_owned(), |tools, about| tools.replace(about, &format!("{needs}\n{about}")));
        home.write("tools/shop.toml", tools);
        let config: String = shop
            .config()
            .lines()
            .map(|line| match line.split_once(" = ") {
                Some(("dir", _)) => "dir = \"tools\"\n".to_owned(),
                Some(("args", _)) => format!("{line}\nenv = [\"SHOP_TOKEN=secret:shop_token\"]\n"),
                Some(_) | None => format!("{line}\n"),
            })
            .collect();
        let config = home.write("bot.toml", format!("{config}[credentials.shop_token]\nfile = \"shop.key\"\n"));
        let place = Self { home, shop, config };
        place.write(TOKEN);
        place
    }

    fn key(&self) -> PathBuf {
        self.home.path().join("shop.key")
    }

    fn write(&self, value: &str) {
        self.home.write("shop.key", format!("{value}\n"));
        self.mode(0o600);
    }

    fn mode(&self, mode: u32) {
        std::fs::set_permissions(self.key(), Permissions::from_mode(mode)).expect("the mode can be set");
    }

    fn bot(&self, args: &[&str]) -> Bot {
        let mut command = self.home.bot();
        command.arg("--json").arg("--config").arg(&self.config).args(args).env("COUNTERSIGN_LOG__LEVEL", "trace");
        Bot::spawn(&mut command)
    }

    fn doctor(&self) -> String {
        let done = finish(self.home.bot().arg("--config").arg(&self.config).arg("doctor"), b"");
        let lines = done.out.lines().skip_while(|line| !line.contains("credentials: ")).take(2).collect::<Vec<_>>();
        let lines: Vec<_> = lines.into_iter().take_while(|line| !line.contains("platforms: ")).collect();
        format!("{}\n{}", lines.join("\n"), done.status).replace(&self.home.path().display().to_string(), "HOME")
    }
}

/// The files below a folder in which a text stands.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("it can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if String::from_utf8_lossy(&std::fs::read(&path).expect("it can be read")).contains(text) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_sound_credential_reaches_the_server_and_nothing_else() {
    let place = Place::new();
    let mut bot = place.bot(&["--record", "session.jsonl"]);
    let answer = bot.ask("how is pod till").text();
    assert!(answer.contains("till is running"), "{answer}");
    let last = place.shop.last();
    assert_eq!(last["arguments"]["token"], TOKEN);
    assert_eq!(last["env"]["SHOP_TOKEN"], TOKEN);
    let asked = bot.ask("restart pod till");
    assert!(asked.text().contains("With token | the credential shop_token\n"), "{}", asked.text());
    place.shop.is_in_run(1);
    let done = bot.ask(&asked.card().approve());
    assert!(place.shop.calls().contains(&"restart".to_owned()), "{}", done.text());
    bot.ask("why");
    let done = bot.end();
    assert!(done.status.success() && done.err.contains("DEBUG"), "{done:?}");
    assert!(!done.out.contains(TOKEN) && !done.err.contains(TOKEN), "{done:?}");
    assert_eq!(files_with(&place.home.path(), TOKEN), [place.key()]);
}

#[test]
fn a_credential_that_is_not_sound_is_refused_and_doctor_names_it() {
    let place = Place::new();
    let mut bot = place.bot(&[]);
    // The server runs from here on; it would not start again without its credential.
    bot.ask("how is pod till");
    let mut refused = |place: &Place| {
        let before = place.shop.calls().len();
        let text = bot.ask("how is pod till").text();
        let called = place.shop.calls().split_off(before);
        assert!(!called.contains(&"status".to_owned()), "{text}");
        text.lines().find(|line| line.contains("credential")).unwrap_or(&text).to_owned()
    };
    place.mode(0o644);
    let exposed = (refused(&place), place.doctor());
    place.write("another");
    let changed = (refused(&place), place.doctor());
    std::fs::remove_file(place.key()).expect("it can be removed");
    let missing = (refused(&place), place.doctor());
    place.write(TOKEN);
    let again = bot.ask("how is pod till").text();
    assert!(again.contains("till is running"), "{again}");
    let said = [exposed, changed, missing].map(|(refused, doctor)| format!("{refused}\n{doctor}"));
    insta::assert_snapshot!(said.join("\n\n"), @r"
    The credential `shop_token` can be read by others; make it private.
    ✗ credentials: the credential `shop_token` is exposed: its file can be read or written by others (mode 644)
      To do: Run chmod 600 on HOME/shop.key and give it to the bot's account.
    exit status: 1

    The credential `shop_token` changed since it was loaded; restart the bot.
    ✓ credentials: `shop_token` is there, and for the bot alone
    exit status: 0

    The credential `shop_token` is missing; `countersign doctor` says where.
    ✗ credentials: the credential `shop_token` is missing: its file cannot be read: No such file or directory (os error 2)
      To do: Write it into HOME/shop.key, as the account that the bot runs as.
    exit status: 1
    ");
    bot.end();
    // Where no section of the configuration names it, the tool file's own word is not enough.
    let config = std::fs::read_to_string(&place.config).expect("it is there");
    let config = config.replace("env = [\"SHOP_TOKEN=secret:shop_token\"]", "");
    place.home.write("bot.toml", config.split("[credentials").next().unwrap_or_default());
    let text = place.bot(&[]).ask("how is pod till").text();
    insta::assert_snapshot!(format!("{text}\n{}", place.doctor()), @r"
    The credential `shop_token` is not configured; add `[credentials.shop_token]`.
    (POLICY_BLOCKED, gate `vault`)
    ✗ credentials: the credential `shop_token` is not configured
      To do: Write it into a file of the bot's own, and name that by `credentials.shop_token.file`.
    exit status: 1
    ");
}

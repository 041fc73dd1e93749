//! What belongs to the bot, with the real binary: whatever its configuration names is neither shown nor written, and whatever
//! starts it is not written; by its own name, behind a link, and under a second name. What is collected is tested beside
//! `cli/own.rs`.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::bot::{Bot, Home};
use crate::support::shop::Shop;

/// A home whose bot has files of its own in several places, and a tool server with a script.
struct Place {
    home: Home,
    config: PathBuf,
    script: PathBuf,
}

impl Place {
    fn new() -> Self {
        let (home, shop) = (Home::new(), Shop::new());
        home.write("shop.txt", "q7RtWm2ZkPld4XeVb9\n");
        home.write("people/access.toml", "");
        home.write(
            "policies/own.cedar",
            "permit (principal in Role::\"night\", action == Action::\"talk\", resource);\n",
        );
        home.write(".env", "COUNTERSIGN_LOG__LEVEL=debug\n");
        let script = home.write("server.py", include_str!("../fakes/shop/server.py"));
        let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/shop/server.py");
        let config = shop.config().replace(&fake.display().to_string(), &script.display().to_string());
        let named = "[credentials.shop_token]\nfile = \"shop.txt\"\n[access]\nfile = \"people/access.toml\"\n\
                     policies = \"policies\"\n[store]\nurl = \"sqlite:state/bot.db\"\n";
        let config = home.write("bot.toml", format!("{config}{named}"));
        std::fs::create_dir(home.path().join("state")).expect("a directory can be created");
        Self { home, config, script }
    }

    fn bot(&self) -> Bot {
        Bot::spawn(self.home.bot().arg("--json").arg("--config").arg(&self.config))
    }

    /// The same file behind a link, and under a second name.
    fn other_names(&self, file: &Path, name: &str) -> [PathBuf; 2] {
        let (link, second) =
            (self.home.path().join(format!("{name}-link")), self.home.path().join(format!("{name}-second")));
        symlink(file, &link).expect("a link can be made");
        std::fs::hard_link(file, &second).expect("a second name can be given");
        [link, second]
    }
}

#[test]
fn what_the_configuration_names_is_neither_shown_nor_written() {
    let place = Place::new();
    let mut bot = place.bot();
    bot.ask("status");
    let mut files: Vec<PathBuf> = [
        "shop.txt",
        "people/access.toml",
        "policies/own.cedar",
        ".env",
        "bot.toml",
        "state/bot.db",
        "state/bot.db-wal",
        "data/lock",
    ]
    .map(|name| place.home.path().join(name))
    .into();
    files.extend(place.other_names(&place.home.path().join("people/access.toml"), "access"));
    files.extend(place.other_names(&place.config, "config"));
    let mut wrong = Vec::new();
    for file in &files {
        let path = file.display();
        for line in [format!("show file {path}"), format!("last 3 lines of {path}"), format!("append to {path}: x = 1")]
        {
            let text = bot.ask(&line).text();
            if !text.contains("POLICY_BLOCKED") {
                wrong.push(format!("{line}: {text}").replace(&place.home.path().display().to_string(), "HOME"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_starts_the_bot_or_its_servers_is_shown_and_not_written() {
    let place = Place::new();
    let mut bot = place.bot();
    let shown = bot.ask(&format!("show file {}", place.script.display())).text();
    assert!(shown.contains("#!/usr/bin/env python3"), "{shown}");
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let mut files = vec![place.script.clone(), binary.to_owned()];
    files.extend(place.other_names(&place.script, "script"));
    files.push(PathBuf::from("/etc/systemd/system/countersign.service"));
    files.push(PathBuf::from("/etc/init.d/countersign"));
    let before = std::fs::read(&place.script).expect("it is there");
    for file in &files {
        let refused = bot.ask(&format!("append to {}: x = 1", file.display())).text();
        assert!(refused.contains("POLICY_BLOCKED"), "{}: {refused}", file.display());
        assert!(
            refused.contains("starts the bot or one of its tool servers; change it on the machine itself"),
            "{refused}"
        );
    }
    assert_eq!(std::fs::read(&place.script).expect("it is there"), before);
}

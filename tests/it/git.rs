//! What git shows of a repository: its history as it is, with secrets masked in every version of a file as a whole.

use countersign_core::testkit::Chance;

use crate::support::bot::{Bot, Home};

/// A repository in a bot's home.
struct Repository {
    home: Home,
    folder: String,
}

impl Repository {
    fn new() -> Self {
        let home = Home::new();
        home.write("app/new.log", "status 500\n");
        let folder = home.path().join("app").display().to_string();
        let repository = Self { home, folder };
        repository.git(&["init", "-q"]);
        repository
    }

    fn write(&self, name: &str, text: &str) {
        self.home.write(&format!("app/{name}"), text);
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", message]);
    }

    fn git(&self, args: &[&str]) -> String {
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", &self.folder];
        let done = std::process::Command::new("git").args(own).args(args).output().expect("git is here");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).expect("it is a text")
    }

    /// What the bot answers to a line, in which FOLDER is the repository.
    fn asked(&self, bot: &mut Bot, line: &str) -> String {
        bot.ask(&format!("run {}", line.replace("FOLDER", &self.folder))).text()
    }
}

#[test]
fn git_reads_files_and_versions_as_they_are() {
    let repository = Repository::new();
    repository.home.write("app/old.sqlite", "\0\u{fffd}DB_PASSWORD=Qw7hJ2kLm9Zx5\n");
    repository.write("shop.conf", "DB_PASSWORD=Qw7hJ2kLm9Zx5\n");
    repository.commit("first");
    let mut bot = Bot::json(&repository.home);
    // Masked files would be changed ones.
    let answer = repository.asked(&mut bot, "git -C FOLDER status --short || seq 7");
    assert!(!answer.contains("shop.conf") && !answer.contains(" M "), "{answer}");
    // What git keeps may be large: it is neither looked through nor covered.
    let mut chance = Chance(fastrand::u64(..));
    let large: Vec<String> = (0..9).map(|_| chance.secret("b64", 1 << 20)).collect();
    repository.write("large.txt", &large.join("\n"));
    repository.write(".env", "GREETING=x\n");
    repository.commit("second");
    std::fs::remove_file(repository.home.path().join("app/large.txt")).expect("it is there");
    for (line, shown) in [
        ("git -C FOLDER log --oneline", "second"),
        ("git -C FOLDER log --oneline | awk '{print $2}'", "first"),
        ("git -C FOLDER show --stat HEAD~1", "shop.conf"),
        ("git -C FOLDER show HEAD~1 -- shop.conf | cut -c 2-", "masked"),
        ("git -C FOLDER show HEAD -- large.txt", "more than 8 MiB"),
        ("git -C FOLDER grep -c status -- new.log", "new.log:1"),
        ("git -C FOLDER status --short", "counts as empty"),
        ("du -s FOLDER | sort -h | awk '{print $2}'", "app"),
    ] {
        let answer = repository.asked(&mut bot, line);
        assert!(answer.contains(shown) && !answer.contains("Qw7"), "{line}: {answer}");
    }
    let answer = repository.asked(&mut bot, "git -C FOLDER diff -- shop.conf");
    assert!(answer.contains("`git` may call their lines changed") && !answer.contains("Qw7"), "{answer}");
    bot.end();
}

/// The key is far above what changes, and the file on the disk says nothing of it.
#[test]
fn a_secret_in_the_history_is_masked_however_far_below_its_key() {
    let repository = Repository::new();
    let others: Vec<String> = (1..9).map(|n| format!("  - Zt5vBq8w{n}\n")).collect();
    for last in ["Pk4nXc7r1", "Pk4nXc7r2", "Pk4nXc7r3"] {
        repository.write("shop.conf", &format!("passwords:\n{}  - {last}\n", others.concat()));
        repository.write("id_rsa", &format!("sauerkraut {last}\n"));
        repository.commit("another");
    }
    repository.write("shop.conf", "listen=80\n");
    let mut bot = Bot::json(&repository.home);
    for line in [
        "git -C FOLDER log -p -2 -- shop.conf",
        "git -C FOLDER show HEAD~1 -- shop.conf",
        "git -C FOLDER diff HEAD~2 HEAD~1",
        "git -C FOLDER log -p -2 | grep Pk4",
        "timeout 5 git -C FOLDER show HEAD~1 | rev",
        "/usr/bin/git -C FOLDER log -p -2",
    ] {
        let answer = repository.asked(&mut bot, line);
        let shown: String = if line.ends_with("rev") { answer.chars().rev().collect() } else { answer.clone() };
        assert!(!shown.contains("Pk4nXc7r") && !shown.contains("Zt5vBq8w"), "{line}: {answer}");
        assert!(!shown.contains("sauerkraut"), "a file that is secret by its name; {line}: {answer}");
    }
    let answer = repository.asked(&mut bot, "git -C FOLDER diff HEAD~2 HEAD~1");
    assert!(answer.contains("@@ -7,4 +7,4 @@") && answer.contains("masked: "), "{answer}");
    // What git keeps is compressed: a secret in it is as good as shown.
    let object = repository.git(&["rev-parse", "HEAD~1:shop.conf"]);
    let object = format!("FOLDER/.git/objects/{}/{}", &object[..2], object[2..].trim());
    let answer = repository.asked(&mut bot, &format!("xxd {object}"));
    assert!(answer.contains("`git show` shows what git keeps"), "{answer}");
    let answer = repository.asked(&mut bot, &format!("cat /etc/hostname {object} | xxd"));
    assert!(!answer.contains("00000000: "), "{answer}");
    bot.end();
}

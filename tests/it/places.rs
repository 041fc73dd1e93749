//! Places of high risk, with the real binary: what a card says of a file there, that nobody allows its change beforehand, and
//! that links are followed first. The table itself is tested beside `approval/places.rs`.

use std::os::unix::fs::symlink;

use crate::support::bot::{Bot, Home, finish};

/// What a card says of its risk: `medium`, or `high: cron runs it`.
fn risk(card: &str) -> String {
    let line = card.lines().find_map(|line| line.split_once(" risk").filter(|(word, _)| !word.contains(' ')));
    line.map_or_else(|| card.to_owned(), |(word, why)| format!("{}{}", word.to_lowercase(), why.trim_end_matches('.')))
}

/// The lines of a shell file that does nothing.
const LINE: &str = "# planted by a test, and never written";

#[test]
fn a_file_that_starts_programs_or_lets_people_in_is_of_high_risk() {
    let home = Home::new();
    let path = home.path();
    home.write("project/.git/config", "");
    home.write("people/ann/.bashrc", "");
    home.write("shop/bin/start", "");
    home.write("app.conf", "");
    // Where cron's folder is missing, the link leads nowhere, and is refused as that.
    let folder = ["/etc/cron.d", "/etc/profile.d"].into_iter().find(|folder| std::path::Path::new(folder).is_dir());
    let folder = folder.expect("this machine has one of them");
    symlink(folder, path.join("jobs")).expect("a link can be made");
    symlink("/etc/passwd", path.join("names.txt")).expect("a link can be made");
    let why = if folder == "/etc/cron.d" { "high: cron runs it" } else { "high: every login reads it" };
    let table = [
        (path.join("app.conf"), "medium"),
        (path.join("jobs/countersign-test"), why),
        (std::path::PathBuf::from(folder).join("countersign-test"), why),
        (path.join("names.txt"), "high: it decides who may log in"),
        (path.join("project/.git/config"), "high: git runs it or what it names"),
        (path.join("people/ann/.bashrc"), "high: every login reads it"),
        (path.join("shop/bin/start"), "high: it is a program, or names one"),
    ];
    let mut bot = Bot::json(&home);
    for (file, expected) in table {
        let asked = bot.ask(&format!("append to {}: {LINE}", file.display()));
        assert_eq!(risk(&asked.text()), expected, "{}", file.display());
        let plan = asked.card().plan;
        let granted = bot.ask(&format!("grant {plan}")).text();
        let is_allowed = granted.contains("From now on this is done without asking");
        assert_eq!(is_allowed, expected == "medium", "{}: {granted}", file.display());
        if !is_allowed {
            assert!(granted.contains("A change of high risk is asked for each time"), "{granted}");
            bot.ask(&asked.card().deny("a test"));
        }
    }
}

#[test]
fn a_team_adds_places_of_its_own() {
    let home = Home::new();
    let till = home.write("till/prices.toml", "");
    let place =
        format!("[[place]]\nwhy = \"it is what people pay\"\npaths = [\"{}/till/**\"]\n", home.path().display());
    home.write("places.toml", place);
    home.write("countersign.toml", "[places]\nfile = \"places.toml\"\n");
    let mut bot = Bot::json(&home);
    let asked = bot.ask(&format!("append to {}: bread = 2", till.display())).text();
    assert_eq!(risk(&asked), "high: it is what people pay");
    bot.end();
    home.write("places.toml", "[[place]]\nwhy = \"x\"\npaths = [\"till/**\"]\n");
    let refused = finish(&mut home.bot(), b"");
    let said = refused.err.replace(&home.path().display().to_string(), "HOME");
    assert_eq!(refused.status.code(), Some(2), "{said}");
    insta::assert_snapshot!(said, @"countersign: HOME/places.toml: place 1: `till/**` must begin with `/` or `**/`");
}

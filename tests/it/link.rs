//! Linked accounts with the real binary: what is to be linked at the console waits over a restart, and is taken back. The console
//! has one account, so that the code is typed nowhere here; that scene is in `src/access/tests/identity.rs`.

use regex::Regex;

use crate::support::bot::{Home, finish};

const FILE: &str = "[[people]]\nname = \"ann\"\naccounts = [\"telegram:5\"]\nroles = [\"operator\"]\n";

/// What the bot says to these lines, without its banner.
fn said(home: &Home, lines: &str) -> String {
    let done = finish(&mut home.bot(), lines.as_bytes());
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    done.out
}

#[test]
fn what_waits_to_be_linked_outlives_the_process_and_is_recorded() {
    let home = Home::new();
    home.write("countersign.toml", "[access]\nfile = \"access.toml\"\n");
    home.write("access.toml", FILE);
    // Whoever runs the bot is one administrator. It takes another one, or ann.
    insta::assert_snapshot!(said(&home, "link ann discord:100000000000000007\nwho can declare\n"), @"
    > link ann discord:100000000000000007
    `discord:100000000000000007` is not ann's yet. Within a day ann types `link ann
    discord:100000000000000007` to me from an account that they had before, or a second administrator
    does; or it is written into the access file. Who has both accounts at hand types `link` alone, and
    the code that it shows.
    > who can declare
      These can declare:
        owner of this process, on console
        ann (operator), on telegram
    ");
    insta::assert_snapshot!(said(&home, "unlink discord:100000000000000007\nunlink discord:100000000000000007\n"), @"
    > unlink discord:100000000000000007
    `discord:100000000000000007` waits for nobody any more.
    > unlink discord:100000000000000007
    ✗ refused: `discord:100000000000000007` is not linked to anybody.
    (NOT_FOUND, gate `link`)
    ");
    let exported = finish(home.bot().args(["audit", "export"]), b"").out.replace('\\', "");
    let row = Regex::new(r#""actor":"(uid:\d+)".*"what":"(link_offered|link_withdrawn)""#).expect("a pattern");
    let did: Vec<&str> = row.captures_iter(&exported).filter_map(|row| Some(row.get(2)?.as_str())).collect();
    assert_eq!(did, ["link_offered", "link_withdrawn"], "{exported}");
}

#[test]
fn a_code_is_shown_once_at_the_console_and_kept_as_a_hash() {
    let home = Home::new();
    let uid = finish(std::process::Command::new("id").arg("-u"), b"").out.trim().to_owned();
    home.write("countersign.toml", "[access]\nfile = \"access.toml\"\n");
    home.write("access.toml", FILE.replace("\"telegram:5\"", &format!("\"telegram:5\", \"console:uid:{uid}\"")));
    let shown = said(&home, "link\n");
    let code = Regex::new("`link ([0-9A-Z]{5}-[0-9A-Z]{5})`").expect("a pattern").captures(&shown);
    let code = code.expect("it shows a code")[1].to_owned();
    insta::assert_snapshot!(said(&home, &format!("link {code}\n")).replace(&code, "CODE"), @"
    > link CODE
    ✗ refused: This account is known to me already, and an account belongs to one person.
    (FORBIDDEN, gate `link`)
    What to do: that code is yours; type it from the account that I do not know yet.
    ");
    let exported = finish(home.bot().args(["audit", "export"]), b"").out;
    assert!(exported.contains("code_shown") && !exported.contains(&code), "{exported}");
}

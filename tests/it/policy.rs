//! `policy check` and `who can` with the real binary: what is sound, what is not, and how a team begins. What the policies
//! say is tested beside them (`src/access/tests`).

use crate::support::bot::{Done, Home, finish};

/// A file to begin with, and a policy of the team's own.
const FILE: &str = r#"[[people]]
name = "ann"
accounts = ["telegram:5"]
roles = ["operator"]

[[environments]]
name = "staging"
hosts = ["stage-*"]
"#;
const POLICY: &str = r#"forbid (principal, action == Action::"declare", resource);"#;
const CONFIG: &str = "[access]\nfile = \"access.toml\"\npolicies = \"policies\"\n";

fn team() -> Home {
    let home = Home::new();
    home.write("countersign.toml", CONFIG);
    home.write("access.toml", FILE);
    home.write("policies/own.cedar", POLICY);
    home
}

fn ask(home: &Home, args: &[&str]) -> Done {
    let done = finish(home.bot().args(args), b"");
    assert!(!home.data().exists(), "a question to the policies makes no data directory");
    done
}

/// Exit code, answer and complaint, with what differs from run to run replaced.
fn told(home: &Home, args: &[&str]) -> String {
    let done = ask(home, args);
    let code = done.status.code().expect("it ends by itself");
    format!("{code}\n{}{}", done.out, done.err).replace(&home.path().display().to_string(), "HOME")
}

#[test]
fn an_empty_configuration_says_how_to_begin() {
    let home = Home::new();
    insta::assert_snapshot!(told(&home, &["policy", "check"]), @r"
    0
    The policies are sound, and all 73 expectations hold. Of your own: people 0, services 0, policies 0.
    No access file is configured: nobody may anything on a chat platform, and the console belongs to whoever runs the bot. To begin, name the first administrator in a file, as in README.md (“Who may what”), and give its path as `access.file` (COUNTERSIGN_ACCESS__FILE).
    ");
    insta::assert_snapshot!(told(&home, &["who", "can", "talk"]), @"
    0
    These can talk:
      owner of this process, on console
    ");
}

#[test]
fn a_sound_team_is_told_so_and_can_be_asked() {
    let home = team();
    insta::assert_snapshot!(told(&home, &["policy", "check"]), @"
    0
    The policies are sound, and all 73 expectations hold. Of your own: people 1, services 0, policies 1.
    ");
    let questions: [&[&str]; 5] = [
        &["who", "can", "write", "on", "host:stage-1"],
        &["who", "can", "decide low on staging"],
        &["who", "can", "fly"],
        &["who", "knows"],
        &["who", "can", "declare", "--json"],
    ];
    let answers: Vec<String> = questions.iter().map(|args| told(&home, args)).collect();
    insta::assert_snapshot!(answers.join(""), @r#"
    0
    These can ask for a write on host:stage-1 (staging):
      owner of this process, on console
      ann (operator), on telegram
    0
    These can decide what is of low risk on staging:
      owner of this process, on console
      ann (operator), on telegram
    2
    countersign: Ask who can: talk, resolve, read, write, record (with a tool's name, if you like), decide low, medium or high (perhaps alone, or unsealed), acknowledge, declare, grant, administer. Then `on` a resource's id or an environment, and `in` a room as platform:id.
    2
    countersign: write `who can` and what, such as `who can decide high on host:web-1`
    0
    {"asked":"declare","answer":"Nobody can declare."}
    "#);
}

#[test]
fn what_does_not_hold_is_one_line_each_and_exit_code_one() {
    let home = team();
    let table =
        "[[case]]\nwho = \"person:ann\"\ncan = [\"read\", \"declare\"]\ncannot = [\n  \"write on staging\",\n]\n";
    home.write("policy-tests.toml", table);
    insta::assert_snapshot!(told(&home, &["policy", "check"]), @"
    1
    HOME/policy-tests.toml (line 3): `person:ann` cannot `declare`, and should
    HOME/policy-tests.toml (line 5): `person:ann` can `write on staging`, and should not
    countersign: 2 of 76 expectations do not hold.
    ");
    insta::assert_snapshot!(told(&home, &["policy", "check", "--json"]), @r#"
    1
    {"sound":false,"expectations":76,"wrong":["HOME/policy-tests.toml (line 3): `person:ann` cannot `declare`, and should","HOME/policy-tests.toml (line 5): `person:ann` can `write on staging`, and should not"]}
    countersign: 2 of 76 expectations do not hold.
    "#);
}

#[test]
fn a_broken_set_is_named_by_the_check_and_the_bot_does_not_start_with_it() {
    let home = team();
    home.write("policies/own.cedar", "forbid (principal, action == Action::\"decalre\", resource);");
    let check = told(&home, &["policy", "check"]);
    let start = told(&home, &[]);
    home.write("policies/own.cedar", POLICY);
    home.write("access.toml", FILE.replace("operator", "opertor"));
    let role = told(&home, &["policy", "check"]);
    std::fs::remove_file(home.path().join("access.toml")).expect("it is there");
    let gone = told(&home, &[]);
    insta::assert_snapshot!([check, start, role, gone].join(""), @r#"
    1
    countersign: HOME/policies/own.cedar (line 1): unrecognized action `Action::"decalre"`; see config/access/schema.cedarschema for what policies can speak of
    2
    countersign: HOME/policies/own.cedar (line 1): unrecognized action `Action::"decalre"`; see config/access/schema.cedarschema for what policies can speak of
    1
    countersign: HOME/access.toml (line 4): no policy speaks of the role `opertor`; did you mean `operator`? (the roles are admin, approver, operator, viewer)
    2
    countersign: HOME/access.toml: access.file: cannot be read (No such file or directory (os error 2))
    "#);
}

#[test]
fn what_an_autonomous_room_may_not_list_is_named_and_the_bot_does_not_start_with_it() {
    let home = team();
    let room = "[[rooms]]\nplatform = \"telegram\"\nid = \"-1\"\ncontrol = \"autonomous\"\n";
    home.write("access.toml", format!("{FILE}{room}autonomous = [\"host_service.restart\"]\n"));
    insta::assert_snapshot!([told(&home, &["policy", "check"]), told(&home, &[])].join(""), @"
    1
    countersign: HOME/access.toml (line 13): `host_service.restart` is declared to be of medium risk; only what is of low risk is done without a countersignature
    2
    countersign: HOME/access.toml (line 13): `host_service.restart` is declared to be of medium risk; only what is of low risk is done without a countersignature
    ");
}

#[test]
fn the_console_belongs_to_its_owner_whatever_the_file_says() {
    let home = team();
    let done = home.pipe("who am i\nwho can decide high alone\nwho can write on staging\nload\n");
    assert!(done.answer("who am i").contains("owner of this process"), "{}", done.out);
    insta::assert_snapshot!(done.answer("who can decide high alone"), @"
    These can decide alone what is of high risk:
      owner of this process, on console
    ");
    insta::assert_snapshot!(done.answer("who can write on staging"), @"
    These can ask for a write on staging:
      owner of this process, on console
      ann (operator), on telegram
    ");
    for own in ["access.toml", "policies/own.cedar"] {
        let refused = home.pipe(&format!("show file {}\n", home.path().join(own).display()));
        assert!(refused.out.contains("gate `self`"), "{}", refused.out);
    }
}

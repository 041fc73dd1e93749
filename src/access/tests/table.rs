//! The shipped roles as one table: every role, every action, both environments. And `who can`, which reads the same
//! policies the other way round.

use super::*;

/// Rows: an action. Columns: nobody in particular, viewer, operator, approver, admin, the console's owner, and a service
/// with all four roles. `+` may, `-` may not, `s` may in staging and not in production.
const TABLE: &str = "
    action             nina vera otto anna adam owner nightly
    talk                -    +    +    +    +    +     +
    resolve             -    +    +    +    +    +     +
    read                -    +    +    +    +    +     +
    write               -    -    +    -    +    +     +
    record              -    -    +    -    +    +     +
    decide-low          -    -    s    +    +    +     -
    decide-medium       -    -    -    +    +    +     -
    decide-high         -    -    -    +    +    +     -
    alone-low           -    -    -    -    -    +     -
    alone-medium        -    -    -    -    -    +     -
    alone-high          -    -    -    -    -    +     -
    unsealed-high       -    -    -    -    -    +     -
    acknowledge         -    -    +    +    +    +     -
    declare             -    -    +    -    +    +     +
    grant               -    -    -    -    +    +     -
    administer          -    -    -    -    +    +     -
";

fn somebody(name: &str) -> (Actor, &'static str) {
    match name {
        "nina" => (human("100000000000000006"), "discord"),
        "vera" => (human(VERA), "discord"),
        "otto" => (human(OTTO), "discord"),
        "anna" => (human("100000000000000003"), "discord"),
        "adam" => (human("100000000000000004"), "discord"),
        "owner" => (human("uid:1000"), "console"),
        "nightly" => (actor("nightly", ActorKind::Service), "discord"),
        other => panic!("nobody is called {other}"),
    }
}

fn may(access: &Access, who: &str, action: &str, staging: bool) -> bool {
    let (actor, platform) = somebody(who);
    let here = room(platform, if staging { "stage" } else { "main" });
    let on = if staging { "host:stage-1" } else { "host:web-1" };
    let risk = |word: &str| match word {
        "low" => Risk::Low,
        "medium" => Risk::Medium,
        "high" => Risk::High,
        other => panic!("no risk is called {other}"),
    };
    let right = match action.split_once('-').unwrap_or((action, "")) {
        ("talk", _) => Right::Talk,
        ("acknowledge", _) => Right::Acknowledge,
        ("declare", _) => Right::Declare,
        ("grant", _) => Right::Grant,
        ("administer", _) => Right::Administer,
        ("decide", word) => decide(risk(word), on),
        ("alone", word) => return access.may_decide_alone(&Asker::at(&actor, &here), risk(word)),
        ("unsealed", word) => return access.may_decide_unsealed(&Asker::at(&actor, &here), risk(word)),
        (kind, _) => {
            let kind = ToolKind::ALL.into_iter().find(|one| one.as_str() == kind).expect("a kind of tool");
            request(kind, on, &[])
        }
    };
    access.may(&Asker::at(&actor, &here), &right)
}

#[test]
fn the_shipped_roles_say_what_the_table_says() {
    let access = access();
    let mut lines = TABLE.trim().lines();
    let names: Vec<&str> = lines.next().expect("a head").split_whitespace().skip(1).collect();
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), names.len() + 1, "{line}");
        for (name, cell) in names.iter().zip(&cells[1..]) {
            for staging in [true, false] {
                rows += 1;
                let expected = *cell == "+" || (*cell == "s" && staging);
                if may(&access, name, cells[0], staging) != expected {
                    wrong.push(format!("{name} {} staging={staging}", cells[0]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(rows >= 120, "{rows} rows");
}

#[test]
fn roles_come_through_groups_in_groups() {
    let access = access();
    let here = room("discord", "main");
    assert_eq!(access.roles(&Asker::at(&human(GIL), &here)), ["operator", "viewer"]);
    let rules = r#"permit (principal in Group::"everyone", action == Action::"grant", resource);"#;
    let access = access_with(&[("own.cedar", rules)]);
    assert!(access.may(&Asker::at(&human(GIL), &here), &Right::Grant), "two groups lie between");
    assert!(!access.may(&Asker::at(&human(OTTO), &here), &Right::Grant));
}

#[test]
fn the_owner_may_be_a_person_of_the_file_and_is_owner_at_the_console_only() {
    let text = FILE.replace("\"telegram:2002\"", "\"console:uid:1000\"");
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    let access = Access::new(Some(&("a".to_owned(), text)), &[], Some(owner)).expect("it is sound");
    let (at_console, elsewhere) = (room("console", "main"), room("discord", "main"));
    assert_eq!(access.roles(&Asker::at(&human("uid:1000"), &at_console)), ["owner of this process", "operator"]);
    assert_eq!(access.roles(&Asker::at(&human(OTTO), &elsewhere)), ["operator"]);
    assert!(access.may(&Asker::at(&human("uid:1000"), &at_console), &Right::Administer));
    insta::assert_snapshot!(access.who_can("administer", &Asker::at(&human(OTTO), &elsewhere)), @"
    These can administer:
      otto (owner of this process, operator), on console
      adam (admin), on discord
    ");
    insta::assert_snapshot!(access.who_can("declare", &Asker::at(&human(OTTO), &elsewhere)), @"
    These can declare:
      otto (owner of this process, operator), on console
      otto (operator), on discord
      adam (admin), on discord
      gil (operator, viewer), on discord
      nightly (a service, admin, approver, operator, viewer)
    ");
    assert!(!access.may(&Asker::at(&human(OTTO), &elsewhere), &Right::Administer));
}

#[test]
fn who_can_names_everybody_and_from_where() {
    let access = access();
    let asked = [
        "decide high on host:web-1",
        "decide low on staging",
        "request write lab.act on Service:web-1:nginx",
        "read in discord:lobby",
        "write in discord:lobby",
        "decide high alone",
        "administer",
        "dance",
        "write on moon",
        "write on a:b:c:d",
        "write in lobby",
        "decide",
    ];
    let said: Vec<String> = asked
        .iter()
        .map(|asked| format!("> {asked}\n{}", access.who_can(asked, &Asker::at(&human(OTTO), &room("x", "y")))))
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    > decide high on host:web-1
    These can decide what is of high risk on host:web-1 (production):
      owner of this process, on console
      anna (approver), on discord, matrix
      adam (admin), on discord
    > decide low on staging
    These can decide what is of low risk on staging:
      owner of this process, on console
      otto (operator), on discord, telegram
      anna (approver), on discord, matrix
      adam (admin), on discord
      gil (operator, viewer), on discord
    > request write lab.act on Service:web-1:nginx
    These can ask for a write by lab.act on Service:web-1:nginx (production):
      owner of this process, on console
      otto (operator), on discord, telegram
      adam (admin), on discord
      gil (operator, viewer), on discord
      nightly (a service, admin, approver, operator, viewer)
    > read in discord:lobby
    These can ask for a read in discord:lobby:
      vera (viewer), on discord
      otto (operator), on discord
      anna (approver), on discord
      adam (admin), on discord
      gil (operator, viewer), on discord
      nightly (a service, admin, approver, operator, viewer)
    > write in discord:lobby
    Nobody can ask for a write in discord:lobby.
    > decide high alone
    These can decide alone what is of high risk:
      owner of this process, on console
    > administer
    These can administer:
      owner of this process, on console
      adam (admin), on discord
    > dance
    Ask who can: talk, resolve, read, write, record (with a tool's name, if you like), decide low, medium or high (perhaps alone, or unsealed), acknowledge, declare, grant, administer. Then `on` a resource's id or an environment, and `in` a room as platform:id.
    > write on moon
    There is no such environment; there are lab, production, staging. A resource is named by its id, like host:web-1.
    > write on a:b:c:d
    That is no resource's id; an id looks like host:web-1.
    > write in lobby
    A room is named as platform:id.
    > decide
    Ask who can: talk, resolve, read, write, record (with a tool's name, if you like), decide low, medium or high (perhaps alone, or unsealed), acknowledge, declare, grant, administer. Then `on` a resource's id or an environment, and `in` a room as platform:id.
    ");
}

#[test]
fn an_expectation_that_does_not_hold_is_named_with_its_line() {
    let table = r#"
[[case]]
who = "person:vera"
can = ["talk", "write on staging"]
cannot = ["decide low on host:web-1", "read"]
[[case]]
who = "service:nightly"
cannot = ["declare"]
[[case]]
who = "role:operator"
can = ["decide low on host:stage-1"]
"#;
    let (asked, wrong) = hold(&access(), "policy-tests.toml", table).expect("the table can be read");
    assert_eq!(asked, 6);
    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(wrong.join("\n"), @"
    policy-tests.toml (line 4): `person:vera` cannot `write on staging`, and should
    policy-tests.toml (line 5): `person:vera` can `read`, and should not
    policy-tests.toml (line 8): `service:nightly` can `declare`, and should not
    ");
    let refused = |table: &str| hold(&access(), "t.toml", table).expect_err("it is refused").to_string();
    let refused = [
        refused("[[case]]\nwho = \"person:eve\"\n"),
        refused("[[case]]\nwho = \"role:vewer\"\n"),
        refused("[[case]]\nwho = \"vera\"\n"),
        refused("[[case]]\nwho = \"owner\"\ncan = [\"fly\"]\n"),
        refused("[[case]]\nwho = \"owner\"\nmay = []\n"),
    ];
    insta::assert_snapshot!(refused.join("\n"), @"
    t.toml (line 2): `person:eve` is not in the access file
    t.toml (line 2): no policy speaks of the role `vewer`; did you mean `viewer`? (the roles are admin, approver, operator, viewer)
    t.toml (line 2): `who` is owner, nobody, person:NAME, service:NAME, role:ROLE or service-role:ROLE
    t.toml (line 3): Ask who can: talk, resolve, read, write, record (with a tool's name, if you like), decide low, medium or high (perhaps alone, or unsealed), acknowledge, declare, grant, administer. Then `on` a resource's id or an environment, and `in` a room as platform:id.
    t.toml (line 3): unknown field `may`, expected one of `who`, `can`, `cannot`
    ");
}

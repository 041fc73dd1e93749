//! What an autonomous room lets be done alone, as a table; what it may list; and that a room which became read-only stops
//! even that.

use countersign_core::tool::Registry;

use super::super::Declared;
use super::*;

const ROOMS: &str = r#"
[[rooms]]
platform = "discord"
id = "auto"
control = "autonomous"
autonomous = ["lab.act"]
[[rooms]]
platform = "console"
id = "auto"
control = "autonomous"
autonomous = ["lab.act"]
[[rooms]]
platform = "discord"
id = "everywhere"
control = "autonomous"
autonomous = ["lab.act"]
autonomous_environments = ["production", "staging"]
[[rooms]]
platform = "discord"
id = "only-lab"
control = "autonomous"
autonomous = ["lab.act"]
autonomous_environments = ["lab"]
[[rooms]]
platform = "discord"
id = "nothing"
control = "autonomous"
"#;

/// Who, where, what, on what, with what found on it, of which risk; and whether it is done alone.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str], Risk, bool);

const ROWS: [Row; 24] = [
    ("otto", "auto", "lab.act", "host:stage-1", &[], Risk::Low, true),
    ("otto", "auto", "lab.act", "host:stage-1", &["odd=yes"], Risk::Low, true),
    ("gil", "auto", "lab.act", "host:stage-1", &[], Risk::Low, true),
    ("owner", "auto", "lab.act", "host:stage-1", &[], Risk::Low, true),
    ("otto", "auto", "lab.other", "host:stage-1", &[], Risk::Low, false),
    ("otto", "auto", "lab.act", "host:stage-1", &[], Risk::Medium, false),
    ("owner", "auto", "lab.act", "host:stage-1", &[], Risk::High, false),
    ("otto", "auto", "lab.act", "host:web-1", &[], Risk::Low, false),
    ("otto", "auto", "lab.act", "host:web-1", &["env=staging"], Risk::Low, false),
    ("otto", "everywhere", "lab.act", "host:web-1", &[], Risk::Low, true),
    ("otto", "everywhere", "lab.act", "host:lab-1", &[], Risk::Low, false),
    ("otto", "only-lab", "lab.act", "host:lab-1", &[], Risk::Low, true),
    ("otto", "only-lab", "lab.act", "host:lab-1", &["env=staging"], Risk::Low, false),
    ("otto", "nothing", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("otto", "main", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("otto", "stage", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("otto", "lobby", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("owner", "main", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("vera", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("anna", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("adam", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("nina", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("nightly", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
    ("a bot", "auto", "lab.act", "host:stage-1", &[], Risk::Low, false),
];

fn with_rooms(rooms: &str, policies: &[(&str, &str)]) -> Result<Access, crate::access::AccessError> {
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    Access::new(Some(&("access.toml".to_owned(), format!("{FILE}{rooms}"))), &texts(policies), Some(owner))
}

fn alone(access: &Access, (who, place, call, on, found, risk, _): Row) -> bool {
    let (actor, platform) = match who {
        "owner" => (human("uid:1000"), "console"),
        "otto" => (human(OTTO), "discord"),
        "gil" => (human(GIL), "discord"),
        "vera" => (human(VERA), "discord"),
        "anna" => (human("100000000000000003"), "discord"),
        "adam" => (human("100000000000000004"), "discord"),
        "nightly" => (actor("nightly", ActorKind::Service), "discord"),
        "a bot" => (actor(OTTO, ActorKind::Bot), "discord"),
        _ => (human("100000000000000006"), "discord"),
    };
    let found: Vec<String> = found.iter().map(|label| (*label).to_owned()).collect();
    let thread = room(platform, place);
    access.acts_alone(&Asker::at(&actor, &thread), call, (&on.parse().expect("an id"), &found), risk)
}

#[test]
fn an_autonomous_room_lets_its_operators_do_what_it_lists_and_nothing_else() {
    let access = with_rooms(ROOMS, &[]).expect("it is sound");
    for row in ROWS {
        assert_eq!(alone(&access, row), row.6, "{row:?}");
    }
}

#[test]
fn policies_restrict_it_and_cannot_widen_it() {
    let never = r#"forbid (principal, action == Action::"act_alone", resource) when { context.tool == "lab.act" };"#;
    let access = with_rooms(ROOMS, &[("own.cedar", never)]).expect("it is sound");
    assert!(ROWS.iter().all(|row| !alone(&access, *row)));
    let always = r#"permit (principal, action == Action::"act_alone", resource);"#;
    let access = with_rooms(ROOMS, &[("own.cedar", always)]).expect("it is sound");
    for row in ROWS.iter().filter(|row| !row.6 && !matches!(row.0, "vera" | "anna" | "adam" | "nina")) {
        assert!(!alone(&access, *row), "{row:?}");
    }
    // The forbidding policy stands by itself, whatever asks.
    let owner = access.everybody().into_iter().find(|one| one.is_owner).expect("there is one");
    let act = |risk: Risk| Act::Alone { risk, tool: "lab.act".to_owned() };
    let rows = [("auto", Risk::Low, true), ("auto", Risk::Medium, false), ("main", Risk::Low, false)];
    for (place, risk, expected) in rows {
        let place = access.place("console", place, ConversationKind::Group);
        let allowed = access.policies_allow(&owner, &act(risk), &Access::here(&place), &place);
        assert_eq!(allowed, expected, "{place:?} {risk:?}");
    }
}

#[test]
fn a_room_that_is_read_only_asks_for_no_change_whoever_asks() {
    let room_of_many = "[[rooms]]\nplatform = \"discord\"\nid = \"auto\"\ncontrol = \"read_only\"\n";
    let access = with_rooms(room_of_many, &[]).expect("it is sound");
    let place = access.place("discord", "auto", ConversationKind::Group);
    assert_eq!(place.room.control.as_str(), "read_only");
    for who in [OTTO, "100000000000000004"] {
        let (actor, thread) = (human(who), room("discord", "auto"));
        let asker = Asker::at(&actor, &thread);
        assert!(!access.may(&asker, &request(ToolKind::Write, "host:stage-1", &[])), "{who}");
        assert!(access.may(&asker, &request(ToolKind::Read, "host:stage-1", &[])), "{who}");
    }
}

#[test]
fn what_a_room_may_list_is_checked_where_it_stands() {
    let said = |rooms: &str| with_rooms(rooms, &[]).map(drop).expect_err(rooms).to_string();
    let room = "[[rooms]]\nplatform = \"discord\"\nid = \"x\"\n";
    let rows = [
        said(&format!("{room}autonomous = [\"lab.act\"]\n")),
        said(&format!("{room}control = \"controlled\"\nautonomous_environments = [\"lab\"]\n")),
        said(&format!("{room}control = \"autonomous\"\nautonomous_environments = [\"nowhere\"]\n")),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    access.toml (line 63): only a room with control = "autonomous" lists what is done without a countersignature
    access.toml (line 64): only a room with control = "autonomous" lists what is done without a countersignature
    access.toml (line 64): `nowhere` is no environment of this file (lab, production, staging)
    "#);
    let tools = countersign_core::testkit::TOOLS.replacen("change.risk = \"medium\"", "change.risk = \"low\"", 1);
    let declared = Declared::new(&Registry::load([("tools.toml", tools.as_str())]).expect("it is sound"));
    let checked = |call: &str| {
        let rooms = format!("{room}control = \"autonomous\"\nautonomous = [\"{call}\"]\n");
        let access = with_rooms(&rooms, &[]).expect("the file alone is sound");
        declared.check(&access).map_or_else(|error| error.to_string(), |()| format!("{call}: sound"))
    };
    let rows = ["lab_control.restart", "lab_control.edit", "lab_control.restrat", "lab_read.load"].map(checked);
    insta::assert_snapshot!(rows.join("\n"), @"
    lab_control.restart: sound
    access.toml (line 64): `lab_control.edit` is declared to be of medium risk; only what is of low risk is done without a countersignature
    access.toml (line 64): `lab_control.restrat` is no declared action that changes something; did you mean `lab_control.restart`?
    access.toml (line 64): `lab_read.load` is no declared action that changes something
    ");
}

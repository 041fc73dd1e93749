//! Who may what, as tables and properties: the shipped roles, everybody who is nobody, what a label may not do, sets that are
//! refused, and the set that stays. The real binary's side is in `tests/it/policy.rs`.

mod any_order;
mod attacked;
mod autonomous;
mod conformance;
mod deciders;
mod guest;
mod one_human;
mod identity;
mod link_news;
mod platform_roles;
mod refused;
mod table;
mod terms;

use std::path::Path;

use countersign_core::approval::Risk;
use countersign_core::port::{Asker, Right, Rights};
use countersign_core::signal::{
    AccountId, Actor, ActorId, ActorKind, ConversationId, ConversationKind, Platform, SpaceId, ThreadKey, ThreadRoot,
};
use countersign_core::tool::ToolKind;
use proptest::prelude::*;

use super::check::hold;
use super::entities::{Act, context, principal, resource};
use super::identity::{Links, Moved};
use super::policies::Policies;
use super::{Access, LiveAccess, Owner, Sources};

/// Somebody in every role, groups in groups, an environment, labels and rooms.
const FILE: &str = r#"
[matrix]
homeservers = ["example.org"]

[[people]]
name = "vera"
accounts = ["discord:100000000000000001"]
roles = ["viewer"]
[[people]]
name = "otto"
accounts = ["discord:100000000000000002", "telegram:2002", "discord:100000000000000022"]
roles = ["operator"]
[[people]]
name = "anna"
accounts = ["discord:100000000000000003", "matrix:@anna:example.org"]
roles = ["approver"]
[[people]]
name = "adam"
accounts = ["discord:100000000000000004"]
roles = ["admin"]
[[people]]
name = "gil"
accounts = ["discord:100000000000000005"]
[[people]]
name = "nina"
accounts = ["discord:100000000000000006"]
[[groups]]
name = "everyone"
members = ["ops"]
roles = ["viewer"]
[[groups]]
name = "ops"
members = ["night-shift"]
[[groups]]
name = "night-shift"
members = ["gil"]
roles = ["operator"]
[[services]]
name = "nightly"
roles = ["viewer", "operator", "approver", "admin"]
[[environments]]
name = "staging"
hosts = ["stage-*"]
labels = ["env=staging"]
[[environments]]
name = "lab"
hosts = ["lab-*"]
[[resources]]
hosts = ["web-*"]
labels = ["shop"]
[[rooms]]
platform = "discord"
id = "stage"
environment = "staging"
kind = "group"
[[rooms]]
platform = "discord"
id = "lobby"
control = "read_only"
"#;

fn texts(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn access_with(policies: &[(&str, &str)]) -> Access {
    let file = ("access.toml".to_owned(), FILE.to_owned());
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    Access::new(Some(&file), &texts(policies), Some(owner)).expect("the fixture is sound")
}

fn access() -> Access {
    access_with(&[])
}

fn actor(id: &str, kind: ActorKind) -> Actor {
    Actor { id: ActorId::new(id), kind, display: "vera".to_owned() }
}

fn human(id: &str) -> Actor {
    actor(id, ActorKind::Human)
}

fn room(platform: &str, id: &str) -> ThreadKey {
    ThreadKey {
        platform: Platform::new(platform),
        account: AccountId::new("bot"),
        space: SpaceId::new(""),
        conversation: ConversationId::new(id),
        root: ThreadRoot::new("t"),
    }
}

fn request(kind: ToolKind, on: &str, labels: &[&str]) -> Right {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    Right::Request { kind, tool: Some("lab.act".to_owned()), on: Some(on.parse().expect("an id")), labels }
}

fn decide(risk: Risk, on: &str) -> Right {
    Right::Decide { risk, on: on.parse().expect("an id"), is_requester: false, labels: Vec::new() }
}

const VERA: &str = "100000000000000001";
const OTTO: &str = "100000000000000002";
const GIL: &str = "100000000000000005";

#[test]
fn an_empty_configuration_allows_nobody_but_the_owner_at_the_console() {
    let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
    let access = Access::new(None, &[], Some(owner)).expect("nothing is sound");
    let may = |who: &Actor, platform: &str| access.may(&Asker::at(who, &room(platform, "main")), &Right::Talk);
    assert!(may(&human("uid:1000"), "console"));
    for platform in ["discord", "telegram", "matrix", "console2", "Console"] {
        assert!(!may(&human("uid:1000"), platform), "the same id on {platform} is somebody else");
    }
    assert!(!may(&human("uid:0"), "console"));
    assert!(!may(&actor("uid:1000", ActorKind::Bot), "console"));
    assert_eq!(access.roles(&Asker::at(&human("uid:1000"), &room("console", "main"))), ["owner of this process"]);
    assert!(access.may_decide_alone(&Asker::at(&human("uid:1000"), &room("console", "main")), Risk::High));
}

#[test]
fn whoever_is_not_exactly_somebody_is_nobody() {
    let access = access();
    // (platform, id, kind, whether they may talk)
    let rows = [
        ("discord", VERA, ActorKind::Human, true),
        ("telegram", VERA, ActorKind::Human, false),
        ("discord", "100000000000000009", ActorKind::Human, false),
        ("discord", "vera", ActorKind::Human, false),
        ("discord", "", ActorKind::Human, false),
        ("discord", VERA, ActorKind::Bot, false),
        ("discord", VERA, ActorKind::Webhook, false),
        ("discord", VERA, ActorKind::AnonymousAdmin, false),
        ("discord", VERA, ActorKind::ChannelPost, false),
        ("discord", VERA, ActorKind::Bridge, false),
        ("discord", VERA, ActorKind::Service, false),
        ("discord", "nightly", ActorKind::Human, false),
        ("discord", "nightly", ActorKind::Service, true),
        ("discord", "countersign", ActorKind::Service, false),
        ("matrix", "@anna:example.org", ActorKind::Human, true),
        ("matrix", "@anna:evil.example", ActorKind::Human, false),
        ("matrix", "@Anna:example.org", ActorKind::Human, false),
        ("matrix", "@anna:Example.org", ActorKind::Human, false),
        ("matrix", "@anna:example.org ", ActorKind::Human, false),
        ("matrix", "anna", ActorKind::Human, false),
        ("discord", "100000000000000006", ActorKind::Human, false),
        ("discord", GIL, ActorKind::Human, true),
        ("console", "uid:1000", ActorKind::Human, true),
        ("console", "owner of this process", ActorKind::Human, false),
    ];
    for (platform, id, kind, expected) in rows {
        let may = access.may(&Asker::at(&actor(id, kind), &room(platform, "main")), &Right::Talk);
        assert_eq!(may, expected, "{platform} {id} {kind:?}");
    }
}

#[test]
fn a_removed_account_is_nobody_from_the_next_set_on() {
    let home = tempfile::tempdir().expect("a folder for the test");
    let path = home.path().join("access.toml");
    std::fs::write(&path, FILE).expect("it can be written");
    let live = LiveAccess::open(Sources { file: Some(path.clone()), policies: None, ..Sources::default() }, None)
        .expect("it is sound");
    let may = || live.may(&Asker::at(&human("2002"), &room("telegram", "main")), &Right::Talk);
    assert!(may());
    std::fs::write(&path, FILE.replace("\"telegram:2002\", ", "")).expect("it can be written");
    assert_eq!(live.reload(), Ok(true));
    assert!(!may());
    assert!(
        live.may(&Asker::at(&human(OTTO), &room("discord", "main")), &Right::Talk),
        "the other account is still theirs"
    );
}

#[test]
fn a_set_that_is_not_sound_leaves_the_one_before() {
    let home = tempfile::tempdir().expect("a folder for the test");
    let (file, policies) = (home.path().join("access.toml"), home.path().join("policies"));
    let write = |path: &Path, text: &str| std::fs::write(path, text).expect("it can be written");
    std::fs::create_dir(&policies).expect("a folder can be made");
    write(&file, FILE);
    write(&policies.join("own.cedar"), "forbid (principal, action == Action::\"declare\", resource);");
    let live = LiveAccess::open(
        Sources { file: Some(file.clone()), policies: Some(policies.clone()), ..Sources::default() },
        None,
    );
    let live = live.expect("it is sound");
    let may = |right: &Right| live.may(&Asker::at(&human(OTTO), &room("discord", "main")), right);
    assert_eq!(live.reload(), Ok(false), "nothing changed");
    let broken: [(&Path, &str); 3] = [
        (&file, "[[people]\n"),
        (&policies.join("own.cedar"), "permit (principal, action == Action::\"dance\", resource);"),
        (&policies.join("own.cedar"), "permit (principal,"),
    ];
    for (path, text) in broken {
        let before = live.snapshot();
        let sound = std::fs::read_to_string(path).expect("it can be read");
        write(path, text);
        live.reload().expect_err("it is not sound");
        assert_eq!(live.reload(), Ok(false), "the same refusal is told once");
        assert!(std::sync::Arc::ptr_eq(&before, &live.snapshot()), "the old set stays");
        assert!(may(&Right::Talk) && !may(&Right::Declare));
        write(path, &sound);
        assert_eq!(live.reload(), Ok(true), "and a sound one is taken up again");
    }
    std::fs::remove_file(policies.join("own.cedar")).expect("it is there");
    let refused = live.reload().expect_err("a directory without policies has lost them").to_string();
    assert!(refused.ends_with("access.policies: holds no policy (*.cedar); add one, or unset the key"), "{refused}");
    assert!(!may(&Right::Declare), "the lost policy still holds");
}

#[test]
fn a_label_that_was_found_restricts_and_never_permits() {
    let rules = r#"
        permit (principal in Role::"viewer", action == Action::"decide", resource)
            when { resource.labels.contains("free=yes") || resource.labels.contains("shop") };
        forbid (principal, action == Action::"request", resource) when { resource.labels.contains("frozen=yes") };
        permit (principal in Role::"viewer", action == Action::"request", resource)
            when { resource.labels.contains("free=yes") || resource.environment == "staging" };
    "#;
    let access = access_with(&[("own.cedar", rules)]);
    let may = |on: &str, labels: &[&str]| {
        access.may(&Asker::at(&human(VERA), &room("discord", "main")), &request(ToolKind::Write, on, labels))
    };
    let rows: [(&str, &[&str], bool); 8] = [
        ("host:stage-1", &[], true),
        ("host:stage-1", &["frozen=yes"], false),
        ("host:stage-1", &["free=yes"], true),
        ("host:web-1", &[], false),
        ("host:web-1", &["free=yes"], false),
        ("host:web-1", &["env=staging"], false),
        ("host:web-1", &["env=staging", "free=yes"], false),
        ("host:lab-1", &["env=staging"], false),
    ];
    for (on, labels, expected) in rows {
        assert_eq!(may(on, labels), expected, "{on} {labels:?}");
    }
    let decides = |on: &str| access.may(&Asker::at(&human(VERA), &room("discord", "main")), &decide(Risk::High, on));
    assert!(decides("host:web-1"), "a label that the file gives may permit");
    assert!(!decides("host:stage-1"));
}

#[test]
fn rooms_hold_back_and_services_decide_nothing() {
    let everything = "permit (principal, action, resource);";
    let access = access_with(&[("own.cedar", everything)]);
    let write = request(ToolKind::Write, "host:web-1", &[]);
    let read = request(ToolKind::Read, "host:web-1", &[]);
    assert!(access.may(&Asker::at(&human(OTTO), &room("discord", "main")), &write));
    assert!(
        !access.may(&Asker::at(&human(OTTO), &room("discord", "lobby")), &write),
        "a forbid wins over a team's permit"
    );
    assert!(access.may(&Asker::at(&human(OTTO), &room("discord", "lobby")), &read));
    let nightly = actor("nightly", ActorKind::Service);
    let here = room("discord", "main");
    assert!(access.may(&Asker::at(&nightly, &here), &write));
    for right in [decide(Risk::Low, "host:web-1"), Right::Acknowledge, Right::Grant, Right::Administer] {
        assert!(!access.may(&Asker::at(&nightly, &here), &right), "{right:?}");
    }
    assert!(!access.may_decide_alone(&Asker::at(&nightly, &here), Risk::Low));
    for kind in BOTS {
        assert!(!access.may(&Asker::at(&actor(OTTO, kind), &here), &Right::Talk), "no policy lets a {kind:?} in");
    }
}

/// A thread keeps the first id of its room, whatever the platform calls the room by now.
#[test]
fn what_the_file_says_of_either_id_of_a_room_counts() {
    let write = request(ToolKind::Write, "host:web-1", &[]);
    let may = |access: &Access, id: &str| access.may(&Asker::at(&human(OTTO), &room("discord", id)), &write);
    let moved = |first: &str, newest: &str| {
        [(("discord".to_owned(), first.to_owned()), newest.to_owned())].into_iter().collect::<Moved>()
    };
    let access = access();
    let now = access.with(&Links::default(), &moved("before", "lobby"));
    assert!(may(&access, "before") && !may(&now, "before"), "the file names the newest id");
    let now = access.with(&Links::default(), &moved("lobby", "after"));
    assert!(!may(&now, "lobby"), "the file names the first id");
    let elsewhere = [(("telegram".to_owned(), "main".to_owned()), "lobby".to_owned())].into_iter().collect();
    assert!(may(&access.with(&Links::default(), &elsewhere), "main"), "an id is one of its platform's");
}

#[test]
fn the_policies_alone_deny_a_service_what_only_people_do() {
    let access = access_with(&[("own.cedar", "permit (principal, action, resource);")]);
    let place = access.place("discord", "main", ConversationKind::Group);
    let service = access.everybody().into_iter().find(|one| one.who.is_service).expect("there is one");
    let ask = |act: &Act| access.policies_allow(&service, act, &Access::here(&place), &place);
    for act in acts() {
        assert_eq!(ask(&act), !act.is_for_people(), "{act:?}");
    }
}

#[test]
fn the_code_alone_denies_what_only_people_do_and_whoever_is_nobody() {
    let mut access = access();
    std::sync::Arc::make_mut(&mut access.policies).set =
        "permit (principal, action, resource);".parse().expect("a policy");
    let here = room("discord", "main");
    let humans_only = [decide(Risk::Low, "host:web-1"), Right::Acknowledge, Right::Grant, Right::Administer];
    for right in &humans_only {
        assert!(access.may(&Asker::at(&human(VERA), &here), right), "{right:?}");
        assert!(!access.may(&Asker::at(&actor("nightly", ActorKind::Service), &here), right), "{right:?}");
    }
    assert!(!access.may_decide_alone(&Asker::at(&actor("nightly", ActorKind::Service), &here), Risk::Low));
    for kind in BOTS {
        assert!(!access.may(&Asker::at(&actor(VERA, kind), &here), &Right::Talk), "{kind:?}");
    }
    assert!(!access.may(&Asker::at(&human("100000000000000009"), &here), &Right::Talk), "a stranger");
}

#[test]
fn a_policy_that_cannot_be_evaluated_denies() {
    let rules = "forbid (principal, action == Action::\"declare\", resource) when { 9223372036854775807 + 1 == 0 };";
    let access = access_with(&[("own.cedar", rules)]);
    let here = room("discord", "main");
    assert!(access.may(&Asker::at(&human(OTTO), &here), &Right::Acknowledge));
    assert!(
        !access.may(&Asker::at(&human(OTTO), &here), &Right::Declare),
        "a forbid that fails is not one that does not fit"
    );
}

const BOTS: [ActorKind; 5] =
    [ActorKind::Bot, ActorKind::Webhook, ActorKind::AnonymousAdmin, ActorKind::ChannelPost, ActorKind::Bridge];

fn acts() -> Vec<Act> {
    let risk = Risk::Low;
    vec![
        Act::Talk,
        Act::Request { kind: ToolKind::Read, tool: String::new() },
        Act::Decide { risk, is_requester: true },
        Act::DecideAlone { risk },
        Act::Alone { risk, tool: "lab.act".to_owned() },
        Act::Acknowledge,
        Act::Declare,
        Act::Grant,
        Act::Administer,
    ]
}

#[test]
fn every_question_is_as_the_schema_has_it() {
    // The bot asks without the schema, because checking it each time costs more than the answer.
    let text = include_str!("../../config/access/schema.cedarschema");
    let (schema, _) = cedar_policy::Schema::from_cedarschema_str(text).expect("it is sound");
    let access = access();
    let place = access.place("discord", "stage", ConversationKind::Group);
    for one in access.everybody() {
        for act in acts() {
            let thing = access.thing(&"service:web-1:nginx".parse().expect("an id"), &["a=b".to_owned()]);
            let who = principal(&one.who, one.is_owner);
            let what = resource(&thing, &place).expect("plain texts");
            let at = context(&act, &place).expect("plain texts");
            let action = super::entities::uid("Action", act.name());
            cedar_policy::Request::new(who.uid(), action, what.uid(), at, Some(&schema)).expect("it fits the schema");
            cedar_policy::Entities::from_entities([who, what], Some(&schema)).expect("they fit the schema");
        }
    }
}

#[test]
fn the_tool_and_the_requester_reach_the_policies() {
    let rules = r#"
        forbid (principal, action == Action::"request", resource) when { context.tool == "host_process.signal" };
        forbid (principal, action == Action::"decide", resource) when { context.is_requester };
    "#;
    let access = access_with(&[("own.cedar", rules)]);
    let here = room("discord", "main");
    let by = |tool: &str| Right::Request {
        kind: ToolKind::Write,
        tool: Some(tool.to_owned()),
        on: Some("host:web-1".parse().expect("an id")),
        labels: Vec::new(),
    };
    assert!(access.may(&Asker::at(&human(OTTO), &here), &by("host_process.stop")));
    assert!(!access.may(&Asker::at(&human(OTTO), &here), &by("host_process.signal")));
    let anna = human("100000000000000003");
    let decides = |is_requester| Right::Decide {
        risk: Risk::High,
        on: "host:web-1".parse().expect("an id"),
        is_requester,
        labels: Vec::new(),
    };
    assert!(access.may(&Asker::at(&anna, &here), &decides(false)));
    assert!(!access.may(&Asker::at(&anna, &here), &decides(true)));
}

#[test]
fn a_second_account_is_no_second_person() {
    let access = access();
    let same = |one: &str, other: &str, platform: &str| {
        access.person(&Platform::new(platform), &human(one)) == access.person(&Platform::new(platform), &human(other))
    };
    assert!(same(OTTO, "100000000000000022", "discord"));
    assert!(same("unknown", "unknown", "discord"));
    assert!(!same(OTTO, VERA, "discord"));
    assert!(!same(OTTO, "100000000000000022", "telegram"), "the ids are of another platform");
    assert!(!same("unknown", "other", "discord"), "two who are nobody are two");
}

#[test]
fn a_person_has_one_name_on_every_platform_and_whoever_asks_for_it() {
    let directory = tempfile::tempdir().expect("a folder for the test");
    let file = directory.path().join("access.toml");
    std::fs::write(&file, FILE).expect("writable");
    let live = LiveAccess::open(Sources { file: Some(file), policies: None, ..Sources::default() }, None)
        .expect("it is sound");
    let access = access();
    let rows = [
        (human(OTTO), "discord", Some("otto")),
        (human("100000000000000022"), "discord", Some("otto")),
        (human("100000000000000022"), "telegram", None),
        (human("unknown"), "discord", None),
        (actor("nightly", ActorKind::Service), "discord", Some("nightly")),
        (human("nightly"), "discord", None),
        (actor(OTTO, ActorKind::Bot), "discord", None),
    ];
    for (who, platform, name) in rows {
        let here = room(platform, "main");
        assert_eq!(access.name(&here.platform, &who).as_deref(), name, "{who:?} on {platform}");
        assert_eq!(live.name(&here.platform, &who).as_deref(), name, "{who:?} on {platform}, live");
    }
}

proptest! {
    #[test]
    fn nobody_who_is_not_in_the_file_may_anything(
        id in "[0-9]{1,20}|@[a-zA-Z]{1,8}:[a-z.]{1,12}|uid:[0-9]{1,5}|[a-z ]{0,12}",
        platform in prop::sample::select(vec!["discord", "telegram", "matrix", "console", "slack", ""]),
        at in "[a-z]{0,5}",
        kind in prop::sample::select(vec![
            ActorKind::Human, ActorKind::Bot, ActorKind::Webhook, ActorKind::AnonymousAdmin, ActorKind::ChannelPost,
            ActorKind::Bridge, ActorKind::Service,
        ]),
    ) {
        let access = ACCESS.with(Clone::clone);
        prop_assume!(!FILE.contains(&format!("\"{platform}:{id}\"")) && id != "uid:1000" && id != "nightly");
        let (who, here) = (actor(&id, kind), room(platform, &at));
        for right in [Right::Talk, request(ToolKind::Read, "host:stage-1", &[]), decide(Risk::Low, "host:stage-1"),
            Right::Acknowledge, Right::Declare, Right::Grant, Right::Administer] {
            prop_assert!(!access.may(&Asker::at(&who, &here), &right), "{:?} {:?}", who, right);
        }
        prop_assert!(!access.may_decide_alone(&Asker::at(&who, &here), Risk::Low));
        prop_assert!(access.roles(&Asker::at(&who, &here)).is_empty());
    }

    #[test]
    fn no_set_of_labels_allows_what_none_of_them_does(
        labels in prop::collection::vec(prop::sample::select(vec!["a=1", "b=2", "env=staging", "shop"]), 0..4),
        on in prop::sample::select(vec!["host:web-1", "host:stage-1", "host:lab-1", "service:web-1:x"]),
    ) {
        let access = LABELLED.with(Clone::clone);
        let may = |labels: &[&str]| {
            access.may(&Asker::at(&human(VERA), &room("discord", "main")), &request(ToolKind::Write, on, labels))
        };
        prop_assert!(may(&[]) || !may(&labels), "{on} {labels:?}");
    }
}

thread_local! {
    static ACCESS: Access = access();
    static LABELLED: Access = access_with(&[("own.cedar", r#"
        permit (principal, action == Action::"request", resource)
            when { resource.labels.contains("a=1") || resource.labels.contains("shop") };
        permit (principal, action == Action::"request", resource) when { resource.environment == "staging" };
        forbid (principal, action == Action::"request", resource)
            when { resource.labels.contains("b=2") && resource.environment == "lab" };
    "#)]);
}

#[test]
fn where_many_read_nothing_is_changed_unless_the_file_says_so() {
    let file = format!("{FILE}\n[[rooms]]\nplatform = \"discord\"\nid = \"war-room\"\ncontrol = \"controlled\"\n");
    let access = Access::new(Some(&("access.toml".to_owned(), file)), &[], None).expect("it is sound");
    let (otto, main, war_room) = (human(OTTO), room("discord", "elsewhere"), room("discord", "war-room"));
    let kinds =
        [ConversationKind::Direct, ConversationKind::Group, ConversationKind::Channel, ConversationKind::Unknown];
    let may = |thread: &ThreadKey, right: &Right| {
        kinds.map(|room| access.may(&Asker { room, ..Asker::at(&otto, thread) }, right)).map(u8::from)
    };
    assert_eq!(may(&main, &request(ToolKind::Write, "host:web-1", &[])), [1, 1, 0, 0]);
    assert_eq!(may(&main, &request(ToolKind::Read, "host:web-1", &[])), [1, 1, 1, 1]);
    assert_eq!(may(&war_room, &request(ToolKind::Write, "host:web-1", &[])), [1, 1, 1, 1]);
}

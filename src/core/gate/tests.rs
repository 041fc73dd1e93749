//! Tests of the stack: its order, and for each gate what it refuses, with which code, and what it lets pass.

use serde_json::{Value, json};

use super::*;
use crate::egress::Destinations;
use crate::env::Credential;
use crate::envelope::Code;
use crate::port::{Block, Claim, Lane, Mark, Outgoing, Source, Visibility};
use crate::proposal::Proposal;
use crate::resource::ResourceId;
use crate::signal::{ActorKind, Mono, Signal};
use crate::testkit::{TOOLS, World, resource, signal, thread_key};
use crate::thread::{Budget, OpenWrite, State};
use crate::tool::Registry;
use crate::usage::Origin;

fn proposal(call: &str, target: Option<&str>, args: &Value) -> Proposal {
    let (tool, action) = call.split_once('.').expect("tool.action");
    let args = args.as_object().cloned().unwrap_or_default();
    Proposal {
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: target.map(str::to_owned),
        args,
        because: "a test asks".to_owned(),
    }
}

/// A world in which the host and its services were discovered.
fn discovered() -> World {
    let mut world = World::with_fleet();
    world.say("load");
    world.say("list services");
    world
}

fn refused(world: &mut World, proposal: &Proposal) -> (&'static str, Code) {
    let refusal = world.propose(proposal).expect_err("it must be refused");
    (refusal.gate, refusal.code)
}

#[test]
fn the_stack_is_in_order() {
    let order: Vec<String> = STACK.iter().map(|gate| format!("{} {}", gate.priority, gate.name)).collect();
    let mut sorted: Vec<&Gate> = STACK.iter().collect();
    sorted.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.name.cmp(b.name)));
    let sorted: Vec<String> = sorted.iter().map(|gate| format!("{} {}", gate.priority, gate.name)).collect();
    assert_eq!(order, sorted);
    insta::assert_snapshot!(order.join(", "), @"1000 schema, 950 depth, 900 actor, 850 allowance, 800 repetition, 750 workflow, 700 resolution, 650 routing, 600 intent, 560 vault, 550 secrets, 500 explanation, 450 egress, 400 self, 100 approval");
}

#[test]
fn a_sound_read_is_cleared_with_its_casts_and_its_whole_trace() {
    let mut world = discovered();
    let call = world
        .propose(&proposal("lab_read.LOAD", Some("host:web-1"), &json!({})))
        .expect("a sound read")
        .expect("a call");
    assert_eq!((call.spoke.as_str(), call.name().as_str(), call.limit_ms), ("lab", "lab_read.load", 1000));
    let mut world = discovered();
    world.say("load");
    let judged = world.state.last_judged.last().expect("a trace");
    assert_eq!(judged.passed.len(), STACK.len());
}

#[test]
fn each_gate_refuses_with_its_own_code() {
    let web = Some("host:web-1");
    let nginx = Some("service:web-1:nginx");
    let table = [
        (proposal("lab_read.nothing", web, &json!({})), "schema", Code::NotFound),
        (proposal("k8s_delete.everything", None, &json!({})), "schema", Code::NotFound),
        (proposal("lab_read.file", web, &json!({})), "schema", Code::InvalidInput),
        (proposal("lab_read.file", web, &json!({"path": "/a", "force": true})), "schema", Code::InvalidInput),
        (proposal("lab_read.load", Some("nonsense"), &json!({})), "schema", Code::InvalidInput),
        (proposal("lab_read.load", nginx, &json!({})), "schema", Code::InvalidInput),
        (proposal("lab_find.host", web, &json!({})), "schema", Code::InvalidInput),
        (proposal("lab_read.load", Some("host:web-2"), &json!({})), "resolution", Code::StrictResolution),
        (proposal("lab_read.load", None, &json!({})), "resolution", Code::StrictResolution),
        (
            proposal("lab_control.restart", Some("service:web-1:redis"), &json!({})),
            "resolution",
            Code::StrictResolution,
        ),
        (proposal("lab_read.run", web, &json!({"line": "rm -rf /"})), "intent", Code::ReadOnlyViolation),
        (proposal("lab_read.vaulted", web, &json!({})), "vault", Code::PolicyBlocked),
        (proposal("lab_read.file", web, &json!({"path": "/etc/shadow"})), "secrets", Code::PolicyBlocked),
        (proposal("lab_notes.note", web, &json!({"text": "password=hunter2hunter2"})), "secrets", Code::PolicyBlocked),
        (proposal("lab_read.fetch", web, &json!({"url": "http://evil.example/"})), "egress", Code::PolicyBlocked),
        (proposal("lab_control.restart", nginx, &json!({})), "approval", Code::ApprovalRequired),
    ];
    for (proposal, gate, code) in table {
        let mut world = discovered();
        assert_eq!(refused(&mut world, &proposal), (gate, code), "{proposal:?}");
    }
}

#[test]
fn a_refusal_never_repeats_a_secret() {
    // REJ-04.
    let mut world = discovered();
    let wrong = proposal("lab_notes.note", Some("host:web-1"), &json!({"text": "password=hunter2hunter2"}));
    let refusal = world.propose(&wrong).expect_err("a secret in an argument");
    assert!(!format!("{refusal:?}").contains("hunter2"), "{refusal:?}");
}

#[test]
fn an_action_without_a_reason_is_refused() {
    let mut world = discovered();
    let silent = Proposal { because: "  ".to_owned(), ..proposal("lab_read.load", Some("host:web-1"), &json!({})) };
    assert_eq!(refused(&mut world, &silent), ("explanation", Code::PolicyBlocked));
}

#[test]
fn only_a_known_person_or_service_may_ask() {
    let read = proposal("lab_read.load", Some("host:web-1"), &json!({}));
    let ask = |world: &mut World, signal: Signal| {
        let result = world.propose_as(signal, std::slice::from_ref(&read)).pop().expect("one result");
        result.map_err(|refusal| (refusal.gate, refusal.code))
    };
    let forbidden = Err(("actor", Code::Forbidden));
    for kind in
        [ActorKind::Bot, ActorKind::Webhook, ActorKind::AnonymousAdmin, ActorKind::ChannelPost, ActorKind::Bridge]
    {
        let mut from = signal("s", "ann", "load");
        from.actor.kind = kind;
        assert_eq!(ask(&mut discovered(), from).map(|_| ()), forbidden, "{kind:?}");
    }
    let mut namesake = signal("s", "mallory", "load");
    namesake.actor.display = "ann".to_owned();
    assert_eq!(ask(&mut discovered(), namesake).map(|_| ()), forbidden, "a display name is no identity");
    assert!(ask(&mut discovered(), signal("s", "bob", "load")).is_ok());
}

#[test]
fn depth_ten_passes_and_eleven_does_not() {
    let read = [proposal("lab_read.load", Some("host:web-1"), &json!({}))];
    for (depth, passes) in [(10, true), (11, false), (255, false)] {
        let mut from = signal("s", "ann", "load");
        from.depth = depth;
        let result = discovered().propose_as(from, &read).pop().expect("one result");
        assert_eq!(result.is_ok(), passes, "depth {depth}");
    }
}

#[test]
fn the_fourth_identical_call_is_a_loop() {
    let same = proposal("lab_read.load", Some("host:web-1"), &json!({}));
    let mut calls = vec![same.clone(); 3];
    calls.push(proposal("LAB_READ.Load", Some("host:web-1"), &json!({})));
    calls.push(proposal("lab_read.file", Some("host:web-1"), &json!({"path": "/etc/hosts"})));
    let results = discovered().propose_as(signal("s", "ann", "x"), &calls);
    let codes: Vec<Option<Code>> = results.into_iter().map(|r| r.err().map(|refusal| refusal.code)).collect();
    assert_eq!(codes, [None, None, None, Some(Code::LoopDetected), None]);
}

#[test]
fn the_turns_of_a_request_are_bounded() {
    let calls: Vec<Proposal> = (0..25)
        .map(|n| proposal("lab_read.file", Some("host:web-1"), &json!({"path": format!("/var/log/{n}")})))
        .collect();
    let results = discovered().propose_as(signal("s", "ann", "x"), &calls);
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 20);
    assert!(results.iter().skip(20).all(|r| r.as_ref().is_err_and(|refusal| refusal.code == Code::BudgetExceeded)));
}

#[test]
fn the_vault_wants_a_credential_that_is_present_private_and_unchanged() {
    let call = proposal("lab_read.vaulted", Some("host:web-1"), &json!({}));
    let table = [
        (Some(Credential::Sound), None),
        (Some(Credential::Exposed), Some("the credential `lab-token` can be read by others; make it private")),
        (Some(Credential::Changed), Some("the credential `lab-token` changed since it was loaded; restart the bot")),
        (Some(Credential::Missing), Some("the credential `lab-token` is missing; `countersign doctor` says where")),
        (None, Some("the credential `lab-token` is not configured; add `[credentials.lab-token]`")),
    ];
    for (state, said) in table {
        let mut world = discovered();
        world.vault.credentials.extend(state.map(|state| ("lab-token".to_owned(), state)));
        let refusal = world.propose(&call).err();
        assert_eq!(refusal.as_ref().map(|refusal| refusal.message.as_str()), said, "{state:?}");
        assert!(refusal.is_none_or(|refusal| (refusal.gate, refusal.code) == ("vault", Code::PolicyBlocked)));
    }
}

#[test]
fn an_argument_names_no_credential_but_the_declared_ones() {
    let declared = r#"credentials = ["lab-token"]
args.token = { type = "credential", about = "its token", default = "secret:lab-token" }"#;
    let tools = TOOLS.replace(r#"credentials = ["lab-token"]"#, declared);
    let mut world = discovered();
    world.registry = Registry::load([("tools.toml", tools.as_str())]).expect("it is sound");
    for name in ["lab-token", "database"] {
        world.vault.credentials.insert(name.to_owned(), Credential::Sound);
    }
    let with = |args: &Value| proposal("lab_read.vaulted", Some("host:web-1"), args);
    let call = world.propose(&with(&json!({}))).expect("its own default passes");
    assert_eq!(call.expect("a call").args["token"], "secret:lab-token", "only the name, until it is sent");
    assert_eq!(refused(&mut world, &with(&json!({"token": "secret:database"}))), ("vault", Code::PolicyBlocked));
    assert_eq!(refused(&mut world, &with(&json!({"token": "hunter2"}))), ("schema", Code::InvalidInput));
    for wrong in [
        declared.replace("\"secret:lab-token\"", "\"secret:database\""),
        declared.replace(", default = \"secret:lab-token\"", ""),
    ] {
        let tools = TOOLS.replace(r#"credentials = ["lab-token"]"#, &wrong);
        let error = Registry::load([("tools.toml", tools.as_str())]).expect_err("it is not declared").to_string();
        assert_eq!(
            error,
            "tools.toml: `lab_read.vaulted`: `args.token` is a credential; give it `default = \"secret:NAME\"`, and NAME in `credentials`"
        );
    }
}

#[test]
fn the_bot_s_own_files_are_nobody_s_business() {
    let mut world = discovered();
    world.own.paths.push("/srv/countersign".into());
    for path in ["/srv/countersign", "/srv/countersign/config.toml", "/srv/./countersign//x"] {
        let call = proposal("lab_read.file", Some("host:web-1"), &json!({ "path": path }));
        assert_eq!(refused(&mut world, &call), ("self", Code::PolicyBlocked), "{path}");
    }
    world.own.programs.push("/usr/bin/countersign".into());
    let program = proposal("lab_read.file", Some("host:web-1"), &json!({"path": "/usr/bin/countersign"}));
    assert!(world.propose(&program).is_ok(), "what starts the bot may be read");
    let other = proposal("lab_read.file", Some("host:web-1"), &json!({"path": "/srv/countersign-notes/x"}));
    assert!(world.propose(&other).is_ok());
}

#[test]
fn a_file_is_looked_at_by_its_path_also_where_it_is_the_target() {
    let mut world = discovered();
    world.own.paths.push("/srv/countersign".into());
    let mut content = |path: &str| {
        let id = ResourceId::scoped("file", "web-1", path).expect("an id");
        world.state.resolved.register(resource(id.as_str(), path), Mono(0));
        let call = proposal("lab_read.content", Some(id.as_str()), &json!({}));
        world.propose(&call).map(|_| ()).map_err(|refusal| (refusal.gate, refusal.code))
    };
    assert_eq!(content("/srv/countersign/a:b"), Err(("self", Code::PolicyBlocked)));
    assert_eq!(content("/etc/shadow"), Err(("secrets", Code::PolicyBlocked)));
    assert_eq!(content("/etc/hosts"), Ok(()));
}

#[test]
fn an_allowed_destination_passes() {
    let mut world = discovered();
    world.limits.egress = Destinations::parse(["docs.example:443"]).expect("a destination");
    let call = |url: &str| proposal("lab_read.fetch", Some("host:web-1"), &json!({ "url": url }));
    assert!(world.propose(&call("https://docs.example/page")).is_ok());
    for elsewhere in [
        "https://docs.example@evil.example/",
        "https://docs.example.evil.example/",
        "https://evil.example\\@docs.example/",
        "evil.example/?https://docs.example/",
        "http://docs.example/",
        "http://127.0.0.1/",
    ] {
        assert_eq!(refused(&mut world, &call(elsewhere)), ("egress", Code::PolicyBlocked), "{elsewhere}");
    }
}

/// A place inside a place: the container `media` in the LXC 141 on the node `pve`.
fn nested() -> World {
    let mut world = discovered();
    let id = |text: &str| -> ResourceId { text.parse().expect("an id") };
    let mut media = resource("host:media", "media");
    media.chain = vec![id("lxc:pve:141"), id("host:pve")];
    let mut lxc = resource("lxc:pve:141", "docker-lxc");
    lxc.chain = vec![id("host:pve")];
    for resource in [media, lxc, resource("host:pve", "pve")] {
        world.state.resolved.register(resource, Mono(world.clock));
    }
    world
}

fn mean(world: &mut World, id: &str, by: &str) {
    let now = Mono(world.clock);
    let id = id.parse().expect("an id");
    world.state.resolved.mark_explicit(&id, &crate::signal::ActorId::new(by), now);
    world.clock += 1;
}

#[test]
fn a_wrong_host_read_is_refused_when_the_child_was_meant() {
    // TST-04, FM-5, RTE-06: two levels up.
    let mut world = nested();
    mean(&mut world, "host:media", "ann");
    let on_parent = proposal("lab_read.file", Some("host:pve"), &json!({"path": "/app/config"}));
    let refusal = world.propose(&on_parent).expect_err("the parent was not meant");
    assert_eq!((refusal.gate, refusal.code), ("routing", Code::RoutingMismatch));
    assert_eq!(refusal.details.suggestions.first().map(|s| s.id.as_str()), Some("host:media"));
    // RTE-03, NEW-09: as data, too.
    let details = serde_json::to_value(&refusal.details).expect("details are plain data");
    assert_eq!(
        (
            &details["target_host"],
            &details["resource_id"],
            &details["more_specific_resources"],
            &details["more_specific_resource_ids"]
        ),
        (&json!("pve"), &json!("host:pve"), &json!(["media"]), &json!(["host:media"]))
    );
    let on_child = proposal("lab_read.file", Some("host:media"), &json!({"path": "/app/config"}));
    assert!(world.propose(&on_child).is_ok());
}

#[test]
fn bulk_discovery_does_not_poison_routing() {
    // TST-05, FM-6: everything is known, nothing was meant.
    let mut world = nested();
    assert!(world.propose(&proposal("lab_read.load", Some("host:pve"), &json!({}))).is_ok());
}

#[test]
fn meaning_grows_old_belongs_to_somebody_and_can_change() {
    let on_parent = proposal("lab_read.load", Some("host:pve"), &json!({}));
    let mut world = nested();
    mean(&mut world, "host:media", "bob");
    assert!(world.propose(&on_parent).is_ok(), "another person's meaning does not bind a read");
    mean(&mut world, "host:media", "ann");
    world.clock += world.limits.recently_ms;
    assert!(world.propose(&on_parent).is_ok(), "fifteen minutes later it is no longer recent");
    mean(&mut world, "host:media", "ann");
    assert!(world.propose(&on_parent).is_err());
    mean(&mut world, "host:pve", "ann");
    assert!(world.propose(&on_parent).is_ok(), "whoever then means the parent is believed");
}

/// Found by the simulation: there was one mark for all, so that the second one to mean a thing took it from the first.
#[test]
fn what_somebody_else_means_since_takes_back_nobodys_word_for_them() {
    let on_parent = proposal("lab_read.load", Some("host:pve"), &json!({}));
    for since in ["host:media", "host:pve"] {
        let mut world = nested();
        mean(&mut world, "host:media", "ann");
        mean(&mut world, since, "bob");
        assert_eq!(refused(&mut world, &on_parent), ("routing", Code::RoutingMismatch), "{since}");
    }
}

/// RTE-08, PRE-01: a refusal because somebody meant what lies inside names that to who may see it; and who may not see a thing
/// does not mean it, whatever they write.
#[test]
fn what_lies_inside_is_named_to_who_may_see_it() {
    let mut world = nested();
    let mut media = resource("host:media", "media");
    media.chain = vec!["host:pve".parse().expect("an id")];
    media.attrs.insert("owner".to_owned(), "ann".to_owned());
    let mut db = resource("service:pve:db", "db");
    db.chain.clone_from(&media.chain);
    for resource in [media, db] {
        world.state.resolved.register(resource, Mono(world.clock));
    }
    world.hear(signal("b", "bob", "what about @@media"));
    let change = proposal("lab_control.restart", Some("service:pve:db"), &json!({}));
    assert_eq!(refused(&mut world, &change).0, "approval");
    mean(&mut world, "host:media", "ann");
    for (who, named) in [("ann", "media"), ("bob", "something")] {
        let refused = world.propose_as(signal("p", who, "x"), std::slice::from_ref(&change));
        let refused = refused.into_iter().next().expect("one").expect_err("it is refused");
        let names = refused.details.suggestions.iter().any(|one| one.name == "media");
        assert!(refused.message.contains(&format!(": {named} lies inside")), "{who}: {}", refused.message);
        assert_eq!(names, who == "ann", "{who}");
    }
}

#[test]
fn what_is_not_allowed_on_a_thing_is_refused() {
    let mut world = discovered();
    let mut frozen = resource("service:web-1:frozen", "frozen");
    frozen.allowed = vec!["lab_read.status".to_owned()];
    world.state.resolved.register(frozen, Mono(world.clock));
    let target = Some("service:web-1:frozen");
    assert!(world.propose(&proposal("lab_read.status", target, &json!({}))).is_ok());
    let refusal = world.propose(&proposal("lab_control.restart", target, &json!({}))).expect_err("not allowed");
    assert_eq!((refusal.gate, refusal.code), ("resolution", Code::ActionNotAllowed));
}

#[test]
fn alike_names_are_suggested_and_never_picked() {
    let mut world = discovered();
    let refusal =
        world.propose(&proposal("lab_control.restart", Some("service:web-2:ngnix"), &json!({}))).expect_err("unknown");
    assert_eq!(refusal.code, Code::StrictResolution);
    assert_eq!(refusal.details.suggestions.first().map(|s| s.id.as_str()), Some("service:web-1:nginx"));
    assert!(refusal.details.auto_recoverable);
}

#[test]
fn the_hundredth_attempt_meets_the_same_rule_as_the_first() {
    // Invariants 1, 2 and 5.
    let mut world = World::with_fleet();
    let write = proposal("lab_control.restart", Some("service:web-1:nginx"), &json!({}));
    for attempt in 0..100 {
        assert_eq!(
            refused(&mut world, &write),
            ("workflow", Code::FsmBlocked),
            "attempt {attempt}, nothing discovered"
        );
    }
    let mut world = discovered();
    for attempt in 0..100 {
        assert_eq!(refused(&mut world, &write), ("approval", Code::ApprovalRequired), "attempt {attempt}, discovered");
    }
}

#[test]
fn an_unverified_write_blocks_the_next_write_and_no_read() {
    // Invariants 3 and 6.
    let mut world = discovered();
    let target: ResourceId = "service:web-1:nginx".parse().expect("an id");
    world.state.fsm.on_open_write_found(OpenWrite { call: "lab_control.restart".to_owned(), target });
    let write = proposal("lab_control.restart", Some("service:web-1:nginx"), &json!({}));
    assert_eq!(refused(&mut world, &write), ("workflow", Code::FsmBlocked));
    for read in ["lab_read.status", "lab_find.service"] {
        let target = if read == "lab_read.status" { Some("service:web-1:nginx") } else { None };
        assert!(world.propose(&proposal(read, target, &json!({}))).is_ok(), "{read}");
    }
    assert_eq!(world.state.fsm.state(), State::Verifying);
}

fn outgoing(text: &str, claim: Claim) -> Outgoing {
    Outgoing {
        to: thread_key("main"),
        answers: crate::signal::SignalId::new("s"),
        mark: Mark::Plain,
        lane: Lane::Answer,
        visibility: Visibility::Everybody,
        claim,
        blocks: vec![Block::Text { text: text.to_owned() }],
    }
}

fn judge(world: &mut World, post: Outgoing, readings: &[Source]) -> Result<(), (&'static str, Code)> {
    let (asked, budget, now) = (signal("s", "ann", "x"), Budget::default(), world.now());
    let ctx = Ctx {
        spent: None,
        effects: &[],
        env: world.env(),
        now,
        signal: &asked,
        fsm: &world.state.fsm,
        resolved: &world.state.resolved,
        budget: &budget,
        desk: &world.state.desk,
        carrying: None,
        offered: &[],
        named: &world.state.named,
    };
    judge_post(post, &ctx, readings).map(|_| ()).map_err(|refusal| (refusal.gate, refusal.code))
}

#[test]
fn a_message_passes_the_outgoing_gates_or_stays() {
    let reading = Source { call: "lab_read.load".to_owned(), target: None, observed_at: 1 };
    let claim =
        |sources: &[&Source]| Claim::Readings { sources: sources.iter().copied().cloned().collect(), unverified: None };
    let world = &mut discovered();
    assert_eq!(judge(world, outgoing("hello", Claim::Nothing), &[]), Ok(()));
    assert_eq!(judge(world, outgoing("0.5", claim(&[&reading])), std::slice::from_ref(&reading)), Ok(()));
    let refusals = [
        (outgoing(" ", Claim::Nothing), ("schema", Code::InvalidInput)),
        (outgoing("0.5", claim(&[&reading])), ("schema", Code::PolicyBlocked)), // no such reading was made
        (outgoing("0.5", claim(&[])), ("schema", Code::PolicyBlocked)),
        (outgoing("token=ghp_0123456789abcdefghijklmnopqrstuvwxyz", Claim::Nothing), ("secrets", Code::PolicyBlocked)),
        (outgoing("look @everyone", Claim::Nothing), ("egress", Code::PolicyBlocked)),
        (Outgoing { to: thread_key("other"), ..outgoing("hello", Claim::Nothing) }, ("egress", Code::PolicyBlocked)),
    ];
    for (post, expected) in refusals {
        assert_eq!(judge(world, post.clone(), &[]), Err(expected), "{post:?}");
    }
    let target: ResourceId = "service:web-1:nginx".parse().expect("an id");
    world.state.fsm.on_open_write_found(OpenWrite { call: "lab_control.restart".to_owned(), target });
    let readings = std::slice::from_ref(&reading);
    assert_eq!(judge(world, outgoing("done", claim(&[&reading])), readings), Err(("workflow", Code::FsmBlocked)));
    assert_eq!(judge(world, outgoing("wait", Claim::Nothing), readings), Ok(()), "what claims nothing may be said");
}

#[test]
fn a_stored_message_is_judged_again() {
    let world = discovered();
    assert!(reissue(outgoing("hello", Claim::Nothing), world.env()).is_ok());
    let leaked = outgoing("password=hunter2hunter2", Claim::Nothing);
    assert_eq!(reissue(leaked, world.env()).map_err(|refusal| refusal.gate), Err("secrets"));
    let shout = outgoing("@everyone", Claim::Nothing);
    assert_eq!(reissue(shout, world.env()).map_err(|refusal| refusal.gate), Err("egress"));
}

#[test]
fn the_kind_of_a_call_does_not_depend_on_its_arguments() {
    // Invariant 13, FSM-12: a harmless word does not make a write a read, nor a dreadful one a read a write.
    let world = discovered();
    let kind = |call: &str, args: Value| CallCase::new(&proposal(call, None, &args), Origin::Rule, &world.env()).kind;
    for args in [json!({}), json!({"line": "rm -rf /"}), json!({"line": "uptime", "action": "load"})] {
        assert_eq!(kind("lab_control.restart", args.clone()), crate::tool::ToolKind::Write);
        assert_eq!(kind("lab_read.run", args.clone()), crate::tool::ToolKind::Read);
        assert_eq!(kind("lab_read.unheard_of", args), crate::tool::ToolKind::Write);
    }
}

//! Who may allow what beforehand, and on which plan; what is listed to whom; and who takes it back.

use serde_json::json;

use super::*;

type Cannot = fn(&mut World) -> Told;

fn bob_grants(world: &mut World, terms: &str) -> Told {
    let plan = newest(world).id().clone();
    says(world, "bob", &format!("grant {plan} {terms}"))
}

fn asked_and_granted(world: &mut World) -> Told {
    says(world, "ann", "restart nginx");
    bob_grants(world, "")
}

/// Every way in which nothing is allowed, with what is said.
const CANNOT: [(&str, Cannot, &str); 17] = [
    (
        "who only decides",
        |world| {
            says(world, "ann", "restart nginx");
            let plan = newest(world).id().clone();
            says(world, "carl", &format!("grant {plan}"))
        },
        "(FORBIDDEN, gate `grant`)",
    ),
    (
        "who only gives",
        |world| {
            world.rights = Some(Box::new(Team { decides_nothing: true, ..Team::default() }));
            asked_and_granted(world)
        },
        "(FORBIDDEN, gate `decision`)",
    ),
    (
        "who gives by a role of the platform",
        |world| {
            world.rights = Some(Box::new(Team { by_role_only: true, ..Team::default() }));
            says(world, "ann", "restart nginx");
            let words = format!("grant {}", newest(world).id());
            world.hear(Signal { platform_roles: vec!["admins".to_owned()], ..signal("g", "bob", &words) })
        },
        "(FORBIDDEN, gate `grant`)",
    ),
    (
        "a bot with the giver's id",
        |world| {
            says(world, "ann", "restart nginx");
            let mut bot = signal("g", "bob", &format!("grant {}", newest(world).id()));
            bot.actor.kind = ActorKind::Bot;
            world.hear(bot)
        },
        "(FORBIDDEN, gate `decision`)",
    ),
    (
        "the requester",
        |world| {
            says(world, "bob", "restart nginx");
            bob_grants(world, "")
        },
        "Somebody else has to countersign",
    ),
    (
        "in another thread",
        |world| {
            says(world, "ann", "restart nginx");
            let mut elsewhere = signal("g", "bob", &format!("grant {}", newest(world).id()));
            elsewhere.thread = crate::testkit::thread_key("another");
            world.hear(elsewhere)
        },
        "(FORBIDDEN, gate `decision`)",
    ),
    ("no plan", |world| says(world, "bob", "grant 00000000000000000000000000000000"), "(NOT_FOUND, gate `grant`)"),
    ("no full id", |world| says(world, "bob", "grant for 8 hours"), "Say on which plan"),
    (
        "too long",
        |world| {
            says(world, "ann", "restart nginx");
            bob_grants(world, "for 31 days")
        },
        "For how long and how often is said as `for 8 hours` (at most 30 days) and `10 times` (at most 100)",
    ),
    (
        "high risk",
        |world| {
            declare(
                world,
                "change.title = \"restart {target.name}\"\nchange.risk = \"medium\"",
                "change.title = \"restart {target.name}\"\nchange.risk = \"high\"",
            );
            asked_and_granted(world)
        },
        "(POLICY_BLOCKED, gate `grant`)",
    ),
    (
        "the bot itself",
        |world| {
            says(world, "ann", "restart nginx");
            world.own.resources.push(NGINX.to_owned());
            bob_grants(world, "")
        },
        "(POLICY_BLOCKED, gate `grant`)",
    ),
    (
        "what a service asked for",
        |world| {
            let mut asked = signal("s", "ann", "restart nginx");
            asked.actor.kind = ActorKind::Service;
            world.hear(asked);
            bob_grants(world, "")
        },
        "(POLICY_BLOCKED, gate `grant`)",
    ),
    (
        "a command line",
        |world| {
            let content = "resolve = \"lab_find.service\"\nargs.text = { type = \"content\", about = \"the new text\", required = true }\nchange";
            declare(world, content, &content.replace("content", "command"));
            says(world, "ann", "edit nginx: b");
            bob_grants(world, "")
        },
        "(POLICY_BLOCKED, gate `grant`)",
    ),
    (
        "what was denied",
        |world| {
            says(world, "ann", "restart nginx");
            says(world, "carl", &format!("deny {}", newest(world).id()));
            bob_grants(world, "")
        },
        "(FSM_BLOCKED, gate `grant`)",
    ),
    (
        "what did not work",
        |world| {
            says(world, "ann", "restart nginx");
            world.answers(
                "lab_read.status",
                json!({ "name": "nginx", "present": true, "state": "stopped", "run": "2" }),
            );
            says(world, "carl", &format!("approve {}", newest(world).id()));
            assert_eq!(newest(world).state(), PlanState::Verified(Outcome::Differs));
            bob_grants(world, "")
        },
        "(FSM_BLOCKED, gate `grant`)",
    ),
    (
        "what expired",
        |world| {
            says(world, "ann", "restart nginx");
            world.pass(world.limits.plan_ms_max);
            bob_grants(world, "")
        },
        "(FSM_BLOCKED, gate `grant`)",
    ),
    (
        "beside an unverified change",
        |world| {
            let down = Envelope::failed(Code::ExecutionFailed, "down", true, Details::default());
            says(world, "ann", "restart nginx");
            let first = newest(world).id().clone();
            says(world, "ann", "edit nginx: b");
            world.script.answers.insert("lab_read.status".to_owned(), down);
            says(world, "carl", &format!("approve {first}"));
            bob_grants(world, "")
        },
        "(FSM_BLOCKED, gate `decision`)",
    ),
];

#[test]
fn what_cannot_be_allowed_beforehand_is_refused_and_decides_nothing() {
    for (what, cannot, said) in CANNOT {
        let mut world = world();
        let told = cannot(&mut world);
        assert!(told.said.contains(said), "{what}: {}", told.said);
        assert!(told.calls.is_empty() && world.files.ledger.grants().next().is_none(), "{what}");
    }
}

#[test]
fn what_was_done_and_verified_can_be_allowed_from_then_on() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let plan = newest(&world).id().clone();
    says(&mut world, "carl", &format!("approve {plan}"));
    let told = bob_grants(&mut world, "5 times, for 20 minutes");
    assert!(told.calls.is_empty() && !told.said.contains("countersigned"), "{}", told.said);
    assert!(told.said.contains("Until: 2023-11-14 22:33:20 UTC\nUses: 5 of 5 left"), "{}", told.said);
    assert_eq!(writes(&says(&mut world, "ann", "restart nginx")), 1);
}

#[test]
fn nobody_vouches_for_what_was_proposed_after_untrusted_text() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "");
    let (_, grant) = the_grant(&world);
    let known = newest(&world);
    let tainted = crate::approval::Plan { tainted: true, ..known.frozen.plan().clone() };
    let tainted = Filed { frozen: crate::approval::Frozen::freeze(tainted), ..known.clone() };
    assert!(crate::approval::allowed_now(&grant, &known, &world.env()).is_some());
    assert!(crate::approval::allowed_now(&grant, &tainted, &world.env()).is_none());
    let (bob, thread) = (signal("g", "bob", "").actor, crate::testkit::thread_key("main"));
    let given = crate::approval::may_be_given(&tainted, &Asker::at(&bob, &thread), &world.env());
    assert_eq!(given.expect_err("it is tainted").code, Code::PolicyBlocked);
}

#[test]
fn terms_are_read_to_the_letter_or_not_at_all() {
    use crate::approval::Extent;
    let rows = [
        ("", Some((480, 10))),
        ("for 1 hour", Some((60, 10))),
        ("for 30 days and 100 times", Some((43_200, 100))),
        ("1 time for 5 minutes", Some((5, 1))),
        ("FOR 2 Days, 3 TIMES", Some((2_880, 3))),
        ("for 31 days", None),
        ("for 0 hours", None),
        ("for -1 hours", None),
        ("101 times", None),
        ("0 times", None),
        ("for ever", None),
        ("for 8 hours for 9 hours", None),
        ("5 times 6 times", None),
        ("always", None),
        ("for 9223372036854775807 days", None),
    ];
    for (words, expected) in rows {
        let read = Extent::read(words).map(|terms| (terms.lifetime_ms / 60_000, terms.uses));
        assert_eq!(read, expected, "{words}");
    }
}

#[test]
fn the_list_shows_what_is_live_here_and_everything_to_who_administers() {
    let mut world = world();
    insta::assert_snapshot!(says(&mut world, "ann", "grants").said, @"Nothing is allowed beforehand in this room now.");
    given_on(&mut world, "edit nginx: b", "");
    insta::assert_snapshot!(plain(&says(&mut world, "ann", "grants"), &world), @r"
    What: edit nginx
    Does: lab_control.edit
    To: service:web-1:nginx
    With text: b
    Only while: a card would show the same lines as this one's did
    In: test:room
    For: ann
    By: bob
    Until: 2023-11-15 06:13:20 UTC
    Uses: 10 of 10 left
    Id: GRANT
    ");
    let from_elsewhere = |world: &mut World, who: &str| {
        let mut asked = signal(&format!("l{}", world.now().seed), who, "grants");
        asked.thread.conversation = ConversationId::new("another");
        world.hear(asked)
    };
    assert!(from_elsewhere(&mut world, "ann").said.starts_with("Nothing is allowed beforehand in this room now."));
    assert!(from_elsewhere(&mut world, "dora").said.contains("What: edit nginx"));
    // What has ended is not listed, is taken out, and that is recorded.
    change(&mut world, |grant| grant.uses = grant.uses_max);
    let told = says(&mut world, "ann", "grants");
    assert!(told.said.starts_with("Nothing is allowed beforehand"), "{}", told.said);
    assert!(
        told.effects.iter().any(|effect| effect.contains("what: \"grant_ended\"") && effect.contains("used 10 of 10"))
    );
    assert!(world.files.ledger.grants().next().is_none());
}

#[test]
fn a_use_that_comes_too_late_takes_the_permission_out() {
    let mut world = world();
    given_on(&mut world, "restart nginx", "for 1 minutes");
    world.pass(60_000);
    let told = says(&mut world, "ann", "restart nginx");
    assert!(told.said.contains(" asks to "), "{}", told.said);
    assert!(told.effects.iter().any(|effect| effect.contains("what: \"grant_ended\"")));
    assert!(world.files.ledger.grants().next().is_none());
}

#[test]
fn who_gave_it_who_has_it_and_who_may_give_one_take_it_back_and_nobody_else() {
    for (who, gives_nothing, may) in
        [("bob", true, true), ("ann", true, true), ("bob", false, true), ("carl", false, false), ("dora", false, false)]
    {
        let mut world = world();
        let id = given_on(&mut world, "restart nginx", "");
        world.rights = Some(Box::new(Team { gives_nothing, ..Team::default() }));
        let told = says(&mut world, who, &format!("revoke {}", id.as_str()));
        let is_gone = world.files.ledger.grants().next().is_none();
        assert_eq!(is_gone, may, "{who}: {}", told.said);
        assert_eq!(told.effects.iter().any(|effect| effect.contains("what: \"revoked\"")), may, "{who}");
        let said = if may { "Taken back: restart nginx." } else { "(FORBIDDEN, gate `grant`)" };
        assert!(told.said.contains(said), "{who}: {}", told.said);
    }
    let mut world = world();
    let id = given_on(&mut world, "restart nginx", "");
    world.rights = Some(Box::new(Team { gives_nothing: true, ..Team::default() }));
    let mut bot = signal("r", "ann", &format!("revoke {}", id.as_str()));
    bot.actor.kind = ActorKind::Bot;
    assert!(world.hear(bot).said.contains("FORBIDDEN"), "nobody but a person is a party");
    // Somebody else's may be taken back by who could give it.
    change(&mut world, |grant| grant.by.1.person = "zoe".to_owned());
    world.rights = Some(Box::new(Team::default()));
    assert!(says(&mut world, "bob", &format!("revoke {}", id.as_str())).said.starts_with("Taken back"));
    assert!(says(&mut world, "bob", &format!("revoke {}", id.as_str())).said.contains("(NOT_FOUND, gate `grant`)"));
    assert!(says(&mut world, "bob", "revoke it").said.contains("by its full id"));
}

#[test]
fn a_room_has_at_most_fifty() {
    let mut world = world();
    given_on(&mut world, "edit nginx: b", "");
    let (_, grant) = the_grant(&world);
    let before = world.files.ledger.clone();
    for n in 1..50_u128 {
        let another = Record::Grant(Box::new(Grant { uses_max: 1, ..grant.clone() }));
        let keep = world.files.ledger.put(Key::Grant(GrantId::from_random(n << 64)), Some(another));
        world.files.ledger.apply(&keep).expect("a new row");
    }
    let now = world.now();
    world.files.ledger = std::mem::take(&mut world.files.ledger).timed(&before, now);
    let told = asked_and_granted(&mut world);
    assert!(told.said.contains("(BUDGET_EXCEEDED, gate `grant`)") && told.calls.is_empty(), "{}", told.said);
    // What has ended does not count.
    change(&mut world, |grant| grant.uses = grant.uses_max);
    assert!(bob_grants(&mut world, "").said.starts_with("From now on"));
}

#[test]
fn yes_to_a_misspelt_word_allows_nothing() {
    let mut world = world();
    let id = given_on(&mut world, "edit nginx: b", "");
    says(&mut world, "ann", "restart nginx");
    for words in [format!("grnat {}", newest(&world).id()), format!("revoek {}", id.as_str())] {
        let told = says(&mut world, "bob", &words);
        assert!(told.said.contains("I don't understand"), "{}", told.said);
        says(&mut world, "bob", "yes");
        assert_eq!(world.files.ledger.grants().count(), 1, "{words}");
    }
}

#[test]
fn a_file_of_the_bot_is_the_bot_itself() {
    let own = crate::env::OwnDeployment {
        paths: vec!["/data".into()],
        programs: vec!["/bin/x".into()],
        ..Default::default()
    };
    for (target, expected) in [
        ("file:web-1:/data/x", true),
        ("file:web-1:/bin/x", true),
        ("file:web-1:/date/x", false),
        ("service:web-1:x", false),
    ] {
        assert_eq!(crate::gate::is_own_target(&target.parse().expect("an id"), &own), expected, "{target}");
    }
}

#[test]
fn what_takes_two_people_is_never_allowed_beforehand() {
    let (mut world, mut other) = (world(), world());
    world.rights = Some(Box::new(Team { terms: two_people(), ..Team::default() }));
    says(&mut world, "ann", "restart nginx");
    let refused = bob_grants(&mut world, "");
    assert!(
        refused.said.contains("What needs more than one countersignature is asked for each time"),
        "{}",
        refused.said
    );
    assert!(world.files.ledger.grants().next().is_none() && newest(&world).state() == PlanState::Pending);
    // Nor does one that was given before wear the quorum down.
    given_on(&mut other, "restart nginx", "");
    other.rights = Some(Box::new(Team { terms: two_people(), ..Team::default() }));
    let asked = says(&mut other, "ann", "restart nginx");
    assert!(asked.said.contains(" asks to ") && writes(&asked) == 0, "{}", asked.said);
}

#[test]
fn what_would_be_shown_otherwise_than_on_the_card_is_asked_for() {
    let mut world = world();
    world.answers("lab_read.preview", json!({ "before": { "run": "1" }, "preview": "+b", "after": "sum" }));
    given_on(&mut world, "edit nginx: b", "");
    let more = json!({ "before": { "run": "1" }, "preview": "-what carol wrote\n+b", "after": "sum" });
    world.answers("lab_read.preview", more);
    let told = says(&mut world, "ann", "edit nginx: b");
    assert!(told.said.contains(" asks to ") && writes(&told) == 0, "{}", told.said);
}

#[test]
fn who_has_countersigned_and_then_allows_it_has_one_vote() {
    let mut world = world();
    says(&mut world, "ann", "restart nginx");
    let plan = newest(&world).id().clone();
    world.rights = Some(Box::new(Team { terms: two_people(), ..Team::default() }));
    says(&mut world, "bob", &format!("approve {plan}"));
    assert_eq!(newest(&world).standing.votes.len(), 1);
    world.rights = Some(Box::new(Team::default()));
    let told = bob_grants(&mut world, "");
    assert_eq!((writes(&told), newest(&world).standing.votes.len()), (1, 1), "{}", told.said);
}

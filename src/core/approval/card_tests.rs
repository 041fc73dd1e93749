//! The card of every shipped write: what it takes on a phone, and that nothing is missing on it or in its details.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::*;
use crate::approval::{Expectation, Terms};
use crate::signal::{Actor, ActorId, ActorKind, ConversationKind, SignalId, Wall};
use crate::testkit::thread_key;
use crate::tool::{ActionSpec, ArgKind, Registry};

/// The columns of a phone and of a terminal.
const PHONE: usize = 44;
const TERMINAL: usize = 80;

/// The most lines beside the change and the buttons (DESIGN.md section 4).
const LINES_MAX: usize = 6;

fn shipped() -> Registry {
    Registry::load([("host.toml", include_str!("../../../config/tools/host.toml"))]).expect("it is sound")
}

/// A target of each kind, as the host's tools find it: its id, its name, what it is and how it is now.
fn target(kind: &str) -> (&'static str, &'static str, &'static str, BTreeMap<String, String>) {
    let attrs =
        |all: &[(&str, &str)]| all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let sum = "812702a1550d251abb2b813409daf5960269f1b9d62fa1c027c319e7baca3ae8";
    match kind {
        "process" => ("process:web-1:4711-5512345", "sleep", "sleep 600", attrs(&[("pid", "4711")])),
        "service" => {
            let now = attrs(&[("state", "active"), ("run", "812-99"), ("script", sum)]);
            ("service:web-1:nginx", "nginx", "A high performance web server", now)
        }
        "file" => (
            "file:web-1:/etc/motd",
            "/etc/motd",
            "text, 11 bytes",
            attrs(&[("sha256", sum), ("access", "0644 root:root")]),
        ),
        other => panic!("no target of the kind {other} is known to this test"),
    }
}

fn argument(name: &str, kind: ArgKind, choices: &[String]) -> Value {
    match (kind, choices.first()) {
        (_, Some(first)) => Value::from(first.clone()),
        (ArgKind::Content, _) => Value::from("welcome"),
        (other, None) => panic!("no value of the kind {other:?} for `{name}` is known to this test"),
    }
}

fn plan_of(tool: &str, action: &str, spec: &ActionSpec) -> Plan {
    let change = spec.change.as_ref().expect("it is a write");
    let (id, name, about, attrs) = target(spec.target.as_deref().expect("it has a target"));
    let args: Map<String, Value> =
        spec.args.iter().map(|(name, arg)| (name.clone(), argument(name, arg.kind, &arg.choices))).collect();
    let mut known: Map<String, Value> =
        attrs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
    known.extend([("id".to_owned(), Value::from(id)), ("name".to_owned(), Value::from(name))]);
    let after = "0684d87ec389f46322d7caedd699ce24136ce3876fff12b294e1d82dbb778f9e";
    let scope = json!({ "target": known, "preview": { "after": after } });
    let fill = |text: &str| answer::sentence(text, &scope, &args).expect("it can be filled in");
    let equals = change.expect.equals.iter().map(|(path, value)| (path.clone(), fill(value))).collect();
    let before = change.precondition.iter().filter_map(|name| Some((name.clone(), attrs.get(name)?.clone()))).collect();
    let title = fill(&change.title);
    Plan {
        form: 0,
        id: PlanId::from_random(0xbb4e << 112),
        thread: thread_key("main"),
        signal: SignalId::new("s"),
        event: None,
        requester: Actor { id: ActorId::new("ann"), kind: ActorKind::Human, display: "ann".to_owned() },
        requester_person: "ann".to_owned(),
        requester_roles: Vec::new(),
        room: ConversationKind::Group,
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: id.parse().expect("an id"),
        target_name: name.to_owned(),
        target_about: about.to_owned(),
        labels: Vec::new(),
        environment: Some("staging".to_owned()),
        deciders: Some(vec!["bob".to_owned(), "carol".to_owned()]),
        because: format!("asked by ann: {title}"),
        title,
        risk: change.risk,
        risk_because: None,
        tainted: false,
        before,
        expect: Expectation { equals, ..change.expect.clone() },
        preview: change
            .preview
            .is_some()
            .then(|| "--- /etc/motd\n+++ /etc/motd\n@@ -1 +1,2 @@\n first line\n+welcome".to_owned()),
        args,
        limit_ms: spec.limit_ms,
        alone: false,
        terms: Terms::default(),
        requested_at: Wall(1_790_000_000_000),
        expires_at: Wall(1_790_000_900_000),
    }
}

/// Every shipped write.
fn writes() -> Vec<Plan> {
    let registry = shipped();
    let actions =
        registry.tools().flat_map(|tool| tool.actions.iter().map(|(action, spec)| (&tool.name, action, spec)));
    let writes = actions.filter(|(_, _, spec)| spec.change.is_some());
    writes.map(|(tool, action, spec)| plan_of(tool, action, spec)).collect()
}

/// A line as a screen of so many columns breaks it.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut().filter(|last| last.chars().count() + 1 + word.chars().count() <= columns) {
            Some(last) => *last = format!("{last} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn summary_on(columns: usize, blocks: &[Block]) -> Vec<String> {
    let Some(Block::Text { text }) = blocks.first() else { panic!("it begins with its summary: {blocks:?}") };
    text.lines().flat_map(|line| wrapped(line, columns)).collect()
}

fn all_text(blocks: &[Block]) -> String {
    blocks.iter().flat_map(crate::gate::texts_of).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_card_of_every_shipped_write_takes_six_lines_and_misses_nothing_that_binds() {
    let plans = writes();
    assert!(plans.len() >= 8, "{} writes", plans.len());
    for plan in plans {
        let frozen = Frozen::freeze(plan.clone());
        let blocks = card(&frozen).expect("it can be shown whole");
        for columns in [PHONE, TERMINAL] {
            let lines = summary_on(columns, &blocks);
            assert!(lines.len() <= LINES_MAX, "{}: {}", plan.call(), lines.join("\n"));
        }
        let shown = all_text(&blocks);
        let risk = plan.risk.as_str();
        let until = "can approve until 14:28 UTC.";
        for needed in ["ann asks to", &plan.title, "web-1", "(staging)", "bob or carol can approve", until, "Plan bb4e"]
        {
            assert!(shown.contains(needed), "{needed} is missing: {shown}");
        }
        assert!(shown.to_lowercase().contains(&format!("{risk} risk")), "{shown}");
        assert!(plan.args.values().all(|value| shown.contains(value.as_str().unwrap_or_default())), "{shown}");
        assert!(plan.preview.iter().all(|preview| shown.contains(preview)), "{shown}");
        assert!(!plan.expect.absent || shown.contains("It will be gone"), "{shown}");
        assert!(!plan.expect.equals.contains_key("state") || shown.contains("ctive → "), "{shown}");
        assert!(matches!(blocks.last(), Some(Block::Card { choices, .. }) if choices.len() == 2));
    }
}

#[test]
fn the_details_show_everything_that_is_bound() {
    for plan in writes() {
        let frozen = Frozen::freeze(plan.clone());
        let shown = all_text(&details(&frozen).expect("it can be shown"));
        let args = plan.args.values().filter_map(Value::as_str);
        let own = [
            plan.target.as_str(),
            &plan.title,
            &plan.because,
            plan.id.as_str(),
            frozen.digest().as_str(),
            &plan.target_about,
        ];
        let bound = plan.before.values().chain(plan.expect.equals.values()).map(String::as_str);
        let call = plan.call();
        for needed in own.into_iter().chain(args).chain(bound).chain(plan.preview.as_deref()).chain([call.as_str()]) {
            assert!(shown.contains(needed), "{needed} is missing: {shown}");
        }
    }
}

#[test]
fn a_service_and_a_file_on_a_phone() {
    let drawn = |call: &str| {
        let plan = writes().into_iter().find(|plan| plan.call() == call).expect("it is shipped");
        let blocks = card(&Frozen::freeze(plan)).expect("it can be shown whole");
        let lines = summary_on(PHONE, &blocks).join("\n");
        format!("{lines}\n{}", all_text(blocks.get(1..).unwrap_or_default()))
    };
    insta::assert_snapshot!(drawn("host_service.restart"), @"
    ann asks to restart service nginx on web-1
    (staging).
    It is: A high performance web server
    Medium risk. Active → active, another run.
    bob or carol can approve until 14:28 UTC.
    Plan bb4e: “restart service nginx”
    ");
    insta::assert_snapshot!(drawn("host_file.append"), @"
    ann asks to append to /etc/motd on web-1
    (staging).
    It is: text, 11 bytes
    Medium risk.
    bob or carol can approve until 14:28 UTC.
    Plan bb4e: “append to /etc/motd”
    --- /etc/motd
    +++ /etc/motd
    @@ -1 +1,2 @@
     first line
    +welcome
    ");
}

#[test]
fn who_can_approve_is_said_in_every_case() {
    let of = |change: fn(&mut Plan)| {
        let mut plan = writes().into_iter().find(|plan| plan.call() == "host_service.restart").expect("it is shipped");
        change(&mut plan);
        who(&plan)
    };
    let table = [
        of(|_| {}),
        of(|plan| plan.deciders = Some(Vec::new())),
        of(|plan| plan.deciders = None),
        of(|plan| (plan.deciders, plan.risk) = (None, Risk::Low)),
        of(|plan| plan.deciders = Some(["a", "b", "c", "d"].map(str::to_owned).to_vec())),
        of(|plan| plan.alone = true),
        of(|plan| (plan.alone, plan.deciders) = (true, None)),
        of(|plan| plan.terms.quorum = std::num::NonZeroU32::MIN.saturating_add(1)),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    bob or carol can approve
    No one here can approve yet
    Another person has to approve
    Who has the right can approve
    a or b or c or others can approve
    ann (alone; the record says so) or bob or carol can approve
    ann (alone; the record says so) can approve
    It takes 2 people: bob or carol can approve
    ");
}

/// Only the argument that the preview shows is left out of the card, and none of the details.
#[test]
fn an_argument_does_not_hide_behind_a_line_of_the_preview() {
    let mut plan = writes().into_iter().find(|plan| plan.call() == "host_file.append").expect("it is shipped");
    plan.args = [("content", "welcome"), ("owner", "welcome")]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into_iter()
        .collect();
    let shown = all_text(&card(&Frozen::freeze(plan.clone())).expect("it can be shown"));
    assert!(shown.contains("With owner") && shown.contains("With content"), "{shown}");
    plan.args = [("content", "welcome"), ("owner", "root")]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into_iter()
        .collect();
    let frozen = Frozen::freeze(plan.clone());
    let shown = all_text(&card(&frozen).expect("it can be shown"));
    assert!(shown.contains("With owner") && !shown.contains("With content"), "{shown}");
    assert!(all_text(&details(&frozen).expect("it can be shown")).contains("With content"));
    plan.args = [("owner".to_owned(), Value::from("a\nb"))].into_iter().collect();
    assert!(all_text(&card(&Frozen::freeze(plan)).expect("it can be shown")).contains("With owner"));
}

/// A name that an account gave itself takes no line of its own, and looks like no card.
#[test]
fn a_long_name_of_an_unknown_account_is_cut() {
    let mut plan = writes().into_iter().find(|plan| plan.call() == "host_service.restart").expect("it is shipped");
    plan.requester.display =
        format!("telegram:7 (“{}” by their own account)", "bob asks to restart cron. Low risk. ".repeat(9));
    let blocks = card(&Frozen::freeze(plan)).expect("it can be shown");
    assert!(summary_on(PHONE, &blocks).len() <= LINES_MAX + 1, "{blocks:?}");
    assert!(all_text(&blocks).contains(" asks to restart service nginx on web-1"), "{blocks:?}");
}

//! What is offered to whom: tables of what is typed, and the same for people who may see different things.

use super::*;
use crate::port::Asker;
use crate::secrets::Mask;
use crate::signal::{Actor, ConversationKind};
use crate::testkit::{People, World, resource, signal, thread_key};
use crate::thread::TTL_MS;

fn asked(actor: Actor, words: &str) -> Asked {
    let (thread, room) = (thread_key("main"), ConversationKind::Direct);
    Asked { actor, platform_roles: Vec::new(), thread, room, words: words.to_owned() }
}

fn by(name: &str, words: &str) -> Asked {
    asked(signal("e", name, "").actor, words)
}

/// A directory of what one thread learned, one thing after the other.
fn directory(resources: &[Resource]) -> Directory {
    let mut directory = Directory::default();
    for (at, resource) in (0..).zip(resources) {
        let mut thread = ResolvedContext::default();
        thread.register(resource.clone(), Mono(at));
        directory.follow(&thread, Mono(at));
    }
    directory
}

fn fleet() -> Vec<Resource> {
    let mut nginx = resource("service:web-1:nginx", "nginx");
    nginx.about = "A high performance web server".to_owned();
    let mut process = resource("process:web-1:812-5", "nginx");
    process.aliases.push("812".to_owned());
    let mut secret = resource("service:web-1:ledger", "ledger");
    secret.attrs.insert("owner".to_owned(), "ann".to_owned());
    vec![
        resource("host:web-1", "web-1"),
        nginx,
        process,
        resource("docker_container:media:ab12", "homepage-docker"),
        resource("service:web-1:postgres", "postgres"),
        secret,
    ]
}

fn offered_to(directory: &Directory, asked: &Asked) -> Vec<String> {
    let all = directory.suggest(asked, &People::default(), &Mask::default(), Mono(10));
    all.into_iter().map(|one| one.mention).collect()
}

#[test]
fn what_was_typed_begins_a_name_a_part_of_one_or_what_it_is() {
    let directory = directory(&fleet());
    let table: [(&str, &[&str]); 14] = [
        ("post", &["@@postgres"]),
        ("POSTGRES", &["@@postgres"]),
        ("@@post", &["@@postgres"]),
        ("dock", &["@@homepage-docker"]),
        ("ostgres", &[]),
        ("ng", &["@@process:web-1:812-5", "@@service:web-1:nginx"]),
        ("81", &["@@process:web-1:812-5"]),
        ("nginx serv", &["@@service:web-1:nginx"]),
        ("process web", &["@@process:web-1:812-5"]),
        ("web", &["@@web-1", "@@ledger", "@@process:web-1:812-5", "@@service:web-1:nginx", "@@postgres"]),
        ("host", &["@@web-1"]),
        ("host:WEB-1", &["@@web-1"]),
        ("nginx nowhere", &[]),
        (
            " ",
            &[
                "@@ledger",
                "@@postgres",
                "@@homepage-docker",
                "@@process:web-1:812-5",
                "@@service:web-1:nginx",
                "@@web-1",
            ],
        ),
    ];
    for (typed, expected) in table {
        assert_eq!(offered_to(&directory, &by("ann", typed)), expected, "{typed}");
    }
}

#[test]
fn nobody_is_offered_what_they_may_not_see() {
    // PRE-01. Tom may talk and see nothing; eve is nobody.
    let directory = directory(&fleet());
    assert_eq!(offered_to(&directory, &by("ann", "ledger")), ["@@ledger"]);
    for (who, typed) in [("bob", "ledger"), ("tom", ""), ("eve", ""), ("eve", "nginx")] {
        assert!(offered_to(&directory, &by(who, typed)).is_empty(), "{who}: {typed}");
    }
}

#[test]
fn a_namesake_that_somebody_may_not_see_is_none() {
    let mut hidden = resource("process:web-1:900-1", "postgres");
    hidden.attrs.insert("owner".to_owned(), "ann".to_owned());
    let directory = directory(&[hidden, resource("service:web-1:postgres", "postgres")]);
    assert_eq!(offered_to(&directory, &by("ann", "post")), ["@@process:web-1:900-1", "@@service:web-1:postgres"]);
    assert_eq!(offered_to(&directory, &by("bob", "post")), ["@@postgres"]);
}

#[test]
fn a_mention_is_one_word_that_leads_to_its_thing() {
    let rows = [
        ("process:web-1:1-1", "Web Content", Some("@@process:web-1:1-1")),
        ("service:web-1:a", "a.", Some("@@service:web-1:a")),
        ("service:web-1:b", "@@b", Some("@@service:web-1:b")),
        ("service:web-1:c", "everyone", Some("@@service:web-1:c")),
        ("service:web-1:d", "", Some("@@service:web-1:d")),
        ("service:web-1:e", "x\u{202e}y", Some("@@service:web-1:e")),
        ("file:web-1:/srv/the notes", "the notes", None),
        ("service:web-1:hunter2-hunter2", "key-hunter2-hunter2", None),
    ];
    let mask = Mask::new(["hunter2-hunter2".to_owned()]);
    for (id, name, expected) in rows {
        let directory = directory(&[resource(id, name)]);
        let offered = directory.suggest(&by("ann", ""), &People::default(), &mask, Mono(10));
        assert_eq!(offered.first().map(|one| one.mention.as_str()), expected, "{id}");
    }
}

#[test]
fn what_is_shown_says_what_it_is_and_no_secret() {
    let mut process = resource("process:web-1:1-1", "backup");
    process.about = format!("backup --password=correct-horse-battery {}", "x".repeat(200));
    let all = directory(&[fleet().remove(1), process]);
    let offered = all.suggest(&by("ann", ""), &People::default(), &Mask::default(), Mono(10));
    let shown: Vec<String> = offered.iter().map(|one| format!("{} | {}", one.title, one.about)).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    backup | process on web-1: backup --password=[masked: password] xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    nginx | service on web-1: A high performance web server
    ");
}

#[test]
fn it_is_as_fresh_as_the_threads() {
    let mut thread = ResolvedContext::default();
    thread.register(resource("service:web-1:nginx", "nginx"), Mono(0));
    let mut directory = Directory::default();
    directory.follow(&thread, Mono(0));
    let offered = |directory: &Directory, now| {
        directory.suggest(&by("ann", "nginx"), &People::default(), &Mask::default(), Mono(now)).len()
    };
    assert_eq!((offered(&directory, TTL_MS), offered(&directory, TTL_MS + 1)), (1, 0));
    thread.begin_step(Mono(TTL_MS));
    thread.touch(&"service:web-1:nginx".parse().expect("an id"), Mono(TTL_MS));
    directory.follow(&thread, Mono(TTL_MS));
    assert_eq!(offered(&directory, TTL_MS + 1), 1, "it was used");
    thread.begin_step(Mono(TTL_MS + 1));
    thread.clear(false, None);
    directory.follow(&thread, Mono(TTL_MS + 1));
    assert_eq!(offered(&directory, TTL_MS + 1), 1, "what a thread forgets is not gone");
    thread.lose(&"service:web-1:nginx".parse().expect("an id"));
    directory.follow(&thread, Mono(TTL_MS + 1));
    assert_eq!(offered(&directory, TTL_MS + 1), 0, "what it lost is");
}

#[test]
fn only_so_many_are_judged_and_offered() {
    let many: Vec<Resource> =
        (0..200).map(|n| resource(&format!("service:web-1:s{n:03}"), &format!("s{n:03}"))).collect();
    let mut last = resource("service:web-1:s999", "s999");
    last.attrs.insert("owner".to_owned(), "ann".to_owned());
    let directory = directory(&[many, vec![last]].concat());
    let offered = offered_to(&directory, &by("ann", "s"));
    assert_eq!((offered.len(), offered[0].as_str(), offered[9].as_str()), (SUGGESTIONS_MAX, "@@s000", "@@s009"));
    let mut counting = Counting::default();
    directory.suggest(&by("ann", "s"), &counting, &Mask::default(), Mono(300));
    assert_eq!(*counting.asked.get_mut().expect("no test panics here"), JUDGED_MAX + 1);
}

/// May talk and see nothing; counts what it is asked.
#[derive(Default)]
struct Counting {
    asked: std::sync::Mutex<usize>,
}

impl Rights for Counting {
    fn may(&self, _: &Asker<'_>, right: &Right) -> bool {
        *self.asked.lock().expect("no test panics here") += 1;
        *right == Right::Talk
    }

    fn may_decide_alone(&self, _: &Asker<'_>, _: crate::approval::Risk) -> bool {
        false
    }

    fn roles(&self, _: &Asker<'_>) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_step_says_what_it_learned_and_a_picked_mention_is_meant() {
    let mut world = World::with_fleet();
    let mut directory = Directory::default();
    assert!(offered_to(&directory, &by("ann", "")).is_empty(), "nothing was looked for yet");
    world.say("status of nginx");
    directory.follow(world.state.resolved(), Mono(world.clock));
    let now = Mono(world.clock);
    let offered = directory.suggest(&by("ann", "ngi"), &People::default(), &Mask::default(), now);
    let [picked] = offered.as_slice() else { panic!("{offered:?}") };
    assert_eq!(picked.mention, "@@nginx");
    let told = world.say(&format!("what do you know about {}", picked.mention));
    assert!(told.calls.is_empty() && told.said.contains("target: service:web-1:nginx"), "{}", told.said);
    let told = world.say(&format!("status of {}", picked.mention));
    assert!(told.calls.iter().any(|call| call.target.as_ref().is_some_and(|id| id.as_str() == "service:web-1:nginx")));
    world.say("help");
    assert!(!world.state.resolved().has_moved(), "what said nothing of a thing moves none");
}

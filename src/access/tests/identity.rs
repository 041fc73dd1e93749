//! Linked accounts, through the real policies and the core's own step: how one comes to be whose, and what nobody can do
//! about it. Threads, tools and plans are the testkit's; the store's side is in `tests/it/store/ledger.rs`.

use std::collections::BTreeMap;

use countersign_core::approval::{Filed, PlanId, PlanState};
use countersign_core::effect::{Effect, Input};
use countersign_core::ledger::{Account, Key, Ledger, Link, Overtaken, Record};
use countersign_core::people::{Holding, People};
use countersign_core::port::CardChoice;
use countersign_core::signal::{Payload, Signal, Wall};
use countersign_core::step;
use countersign_core::testkit::{Told, World, signal};
use countersign_core::thread::ThreadState;

use super::*;

pub(super) const ANNA: &str = "100000000000000003";
pub(super) const ADAM: &str = "100000000000000004";
const TEN_MINUTES: u64 = 10 * 60 * 1000;

/// A world with the access file of these tests, that a test may rewrite.
pub(super) struct Club {
    home: tempfile::TempDir,
    pub(super) live: LiveAccess,
    pub(super) world: World,
    /// What accounts call themselves, by their ids.
    pub(super) displays: BTreeMap<String, String>,
    said: u32,
}

impl Club {
    pub(super) fn new(file: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder for the test");
        let path = home.path().join("access.toml");
        std::fs::write(&path, file).expect("it can be written");
        let owner = Owner::new(Platform::new("console"), ActorId::new("uid:1000"));
        let live = LiveAccess::open(Sources { file: Some(path), policies: None, ..Sources::default() }, Some(owner))
            .expect("it is sound");
        let mut world = World::with_fleet();
        world.rights = Some(Box::new(live.clone()));
        Self { home, live, world, displays: BTreeMap::new(), said: 0 }
    }

    pub(super) fn rewrite(&self, file: &str) {
        std::fs::write(self.home.path().join("access.toml"), file).expect("it can be written");
        assert_eq!(self.live.reload(), Ok(true));
    }

    /// Words from an account of a platform, in a closed group.
    pub(super) fn words(&mut self, platform: &str, id: &str, text: &str) -> Signal {
        self.said += 1;
        let thread = room(platform, "main");
        let mut actor = human(id);
        actor.display = self.displays.get(id).cloned().unwrap_or(actor.display);
        Signal { thread, actor, ..signal(&format!("s{}", self.said), id, text) }
    }

    pub(super) fn hears(&mut self, platform: &str, id: &str, text: &str) -> Told {
        let words = self.words(platform, id, text);
        self.world.hear(words)
    }

    /// The same in a direct conversation.
    pub(super) fn alone(&mut self, platform: &str, id: &str, text: &str) -> Told {
        let words = self.words(platform, id, text);
        self.world.hear(Signal { room: ConversationKind::Direct, ..words })
    }

    /// Two administrators say that an account is somebody's.
    pub(super) fn given(&mut self, person: &str, account: &str) {
        let words = format!("link {person} {account}");
        self.hears("discord", ADAM, &words);
        self.hears("console", "uid:1000", &words);
    }

    /// The ledger says that one administrator linked an account.
    pub(super) fn was_linked(&mut self, by: &str, person: &str, written: &str) {
        let link = Link::new(person, by, Wall(self.world.wall));
        let change = self.world.files.ledger.put(Key::Link(account(written)), Some(Record::Link(link)));
        self.world.files.ledger.apply(&change).expect("it starts where the ledger stands");
        self.live.follow(&self.world.files.ledger);
    }

    /// A fresh code of a person's.
    pub(super) fn code(&mut self, platform: &str, id: &str) -> String {
        let said = self.alone(platform, id, "link").said;
        let code = said.split("`link ").nth(1).and_then(|rest| rest.split('`').next());
        code.expect("it shows a code").to_owned()
    }

    pub(super) fn holding(&self, written: &str) -> Holding {
        self.live.holding(&account(written))
    }

    /// Asks for a change of nginx; its plan.
    pub(super) fn plan(&mut self, platform: &str, id: &str) -> PlanId {
        self.hears(platform, id, "restart nginx");
        self.world.files.rows.keys().next_back().expect("a plan is filed").clone()
    }

    pub(super) fn click(&mut self, platform: &str, id: &str, plan: &PlanId) -> Signal {
        let digest = self.world.files.rows.get(plan).expect("it is filed").frozen.digest().clone();
        let reason = String::new();
        let payload = Payload::Decision { plan: plan.clone(), digest, choice: CardChoice::Approve, reason };
        Signal { payload, ..self.words(platform, id, "") }
    }

    pub(super) fn state(&self, plan: &PlanId) -> Option<PlanState> {
        self.world.files.rows.get(plan).map(Filed::state)
    }
}

pub(super) fn account(written: &str) -> Account {
    let (platform, id) = written.split_once(':').expect("platform:id");
    Account { platform: Platform::new(platform), id: ActorId::new(id) }
}

/// The audit rows of what was done.
pub(super) fn rows(told: &Told) -> Vec<&String> {
    told.effects.iter().filter(|effect| effect.starts_with("Audit")).collect()
}

const NOT_OPEN: &str = "refused: That code is not open.\n(NOT_FOUND, gate `link`)\n";

#[test]
fn a_code_shown_in_one_place_and_typed_in_the_other_makes_the_account_one_persons() {
    let mut club = Club::new(FILE);
    let shown = club.alone("discord", OTTO, "link");
    let code = shown.said.split('`').nth(1).and_then(|typed| typed.strip_prefix("link ")).expect("a code").to_owned();
    insta::assert_snapshot!(
        shown.said.replace(&code, "CODE"),
        @"Within 10 minutes type `link CODE` to me from the other account. Who types it first becomes you, with all your rights: show it to nobody."
    );
    let stored = format!("{:?}{:?}{:?}", club.world.files.ledger, rows(&shown), shown.counted);
    assert!(!stored.contains(&code) && !stored.contains(&code.replace('-', "")), "only its hash is kept");
    assert!(rows(&shown)[0].contains("code_shown") && rows(&shown)[0].contains(OTTO), "{:?}", rows(&shown));

    let typed = club.hears("telegram", "4711", &format!("Link {}", code.to_lowercase()));
    insta::assert_snapshot!(typed.said, @"`telegram:4711` is otto's from now on. The code is used up. `whoami` shows all of your accounts.");
    let row = rows(&typed)[0];
    assert!(row.contains("\"linked\"") && row.contains("telegram:4711") && row.contains(OTTO), "{row}");
    assert_eq!(club.holding("telegram:4711"), Holding::Linked("otto".to_owned()));
    insta::assert_snapshot!(club.hears("telegram", "4711", "who am i").said, @"
    you are: otto (a person)
    known as: 4711 on telegram
    person: otto
    accounts: discord:100000000000000002, discord:100000000000000022, telegram:2002, telegram:4711 (linked)
    groups: none
    roles: operator
    may ask for: resolve, read, write, record
    ");
    assert_eq!(club.hears("telegram", "4712", &format!("link {code}")).said, NOT_OPEN, "it works once");
    assert_eq!(club.holding("telegram:4712"), Holding::Nobodys);
    let both =
        [("discord", OTTO), ("telegram", "4711")].map(|(on, id)| club.live.person(&Platform::new(on), &human(id)));
    assert_eq!(both, ["otto", "otto"], "a second account is no second pair of eyes");
    let can = club.live.who_can("declare", &Asker::at(&human(VERA), &room("x", "y")));
    assert!(can.contains("otto (operator), on discord, telegram"), "{can}");
}

#[test]
fn wrong_used_expired_and_mistyped_codes_are_answered_alike_and_then_not_looked_at() {
    let mut club = Club::new(FILE);
    let first = club.code("discord", VERA);
    let second = club.code("discord", VERA);
    let late = club.code("discord", GIL);
    club.world.pass(TEN_MINUTES);
    let last = club.code("discord", VERA);
    for typed in [&first, &second, &late, "ABCDE-FGHJK", "a poem, please"] {
        let told = club.hears("telegram", "4711", &format!("link {typed}"));
        assert_eq!(told.said, NOT_OPEN, "{typed}");
        assert!(told.counted.iter().any(|count| count.contains("link") && count.contains("NOT_FOUND")));
        assert!(rows(&told)[0].contains("NotFound") && !rows(&told)[0].contains(typed), "{:?}", rows(&told));
    }
    let refused = club.hears("telegram", "4711", &format!("link {last}"));
    insta::assert_snapshot!(refused.said, @"
    refused: Too many wrong codes were typed; wait 10 minutes.
    (RATE_LIMITED, gate `link`)
    ");
    assert_eq!(club.holding("telegram:4711"), Holding::Nobodys, "the right one is not looked at any more");
    club.world.pass(TEN_MINUTES);
    let fresh = club.code("discord", VERA);
    club.hears("telegram", "4711", &format!("link {fresh}"));
    assert_eq!(club.holding("telegram:4711"), Holding::Linked("vera".to_owned()));
}

#[test]
fn a_code_ends_by_the_wall_also_where_that_is_set_back() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", VERA);
    club.world.wall -= 1;
    assert_eq!(club.hears("telegram", "4711", &format!("link {code}")).said, NOT_OPEN, "from before it was shown");
    club.world.wall += i64::try_from(TEN_MINUTES).expect("it fits");
    club.hears("telegram", "4711", &format!("link {code}"));
    assert_eq!(club.holding("telegram:4711"), Holding::Linked("vera".to_owned()), "the last millisecond");
}

#[test]
fn a_code_dies_with_the_account_that_it_was_shown_to() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", VERA);
    club.hears("telegram", "7", &format!("link {code}"));
    let code = club.code("telegram", "7");
    club.hears("discord", ADAM, "unlink telegram:7");
    assert_eq!(club.hears("telegram", "8", &format!("link {code}")).said, NOT_OPEN);
    let code = club.code("discord", VERA);
    club.rewrite(&FILE.replace("name = \"vera\"", "name = \"vesna\""));
    assert_eq!(club.hears("telegram", "8", &format!("link {code}")).said, NOT_OPEN, "nobody has that name any more");
}

#[test]
fn a_code_is_shown_to_a_person_alone_and_nobody_elses_is_told_of() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", VERA);
    let said = [
        club.hears("discord", VERA, "link").said,
        club.alone("console", "uid:1000", "link").said,
        club.alone("discord", VERA, &format!("link {code}")).said,
        club.alone("discord", OTTO, &format!("link {code}")).said,
        club.alone("discord", OTTO, "link 00000-00000").said,
    ];
    insta::assert_snapshot!(said.join("---\n"), @"
    refused: Everybody here would see the code, and who types it becomes you.
    (POLICY_BLOCKED, gate `link`)
    What to do: type `link` to me in a direct conversation.
    ---
    refused: This account is no person's of the access file, so that it has no code.
    (FORBIDDEN, gate `link`)
    What to do: type `link` to me from an account that I know.
    ---
    refused: This account is known to me already, and an account belongs to one person.
    (FORBIDDEN, gate `link`)
    What to do: that code is yours; type it from the account that I do not know yet.
    ---
    refused: This account is known to me already, and an account belongs to one person.
    (FORBIDDEN, gate `link`)
    ---
    refused: This account is known to me already, and an account belongs to one person.
    (FORBIDDEN, gate `link`)
    ");
    club.hears("telegram", "4711", &format!("link {code}"));
    assert_eq!(club.holding("telegram:4711"), Holding::Linked("vera".to_owned()), "none of that used it up");
}

#[test]
fn who_administers_links_and_unlinks_and_nobody_else_but_their_own() {
    let mut club = Club::new(FILE);
    let asked = [
        (OTTO, "link vera telegram:4711"),
        (ADAM, "link vira telegram:4711"),
        (ADAM, "link vera telegram:@vera"),
        (ADAM, "link vera matrix:@vera:evil.example"),
        (ADAM, "link vera telegram:2002"),
        (ADAM, "link vera telegram:4711"),
        (VERA, "link vera telegram:4711"),
        (ADAM, "link otto telegram:4711"),
        (OTTO, "unlink telegram:4711"),
        (OTTO, "unlink telegram:2002"),
        (ADAM, "unlink telegram:2002"),
        (ADAM, "unlink vera"),
        (VERA, "unlink telegram:4711"),
    ];
    let said: Vec<String> =
        asked.iter().map(|(who, text)| format!("> {text}\n{}", club.hears("discord", who, text).said)).collect();
    insta::assert_snapshot!(said.join(""), @r#"
    > link vera telegram:4711
    refused: You may not link somebody else's account.
    (FORBIDDEN, gate `link`)
    > link vira telegram:4711
    refused: Nobody in the access file has that name; who is new is added there.
    (NOT_FOUND, gate `link`)
    Did you mean:
    - vera
    - nina
    > link vera telegram:@vera
    refused: `telegram:@vera` is no Telegram account; use the person's positive number, not a @name and not a chat's id.
    (INVALID_INPUT, gate `link`)
    > link vera matrix:@vera:evil.example
    refused: `matrix:@vera:evil.example` is on a homeserver that is not allowed; write `homeservers = ["evil.example"]` under `[matrix]` in the access file, or use another account.
    (INVALID_INPUT, gate `link`)
    > link vera telegram:2002
    refused: `telegram:2002`: it stands in the access file, which nothing in chat changes.
    (POLICY_BLOCKED, gate `link`)
    What to do: change it there; it is taken up while I run.
    > link vera telegram:4711
    `telegram:4711` is not vera's yet. Within a day vera types `link vera telegram:4711` to me from an account that they had before, or a second administrator does; or it is written into the access file. Who has both accounts at hand types `link` alone, and the code that it shows.
    > link vera telegram:4711
    `telegram:4711` is vera's from now on. `unlink telegram:4711` takes that back.
    > link otto telegram:4711
    refused: `telegram:4711` is linked to vera, and an account belongs to one person.
    (FORBIDDEN, gate `link`)
    What to do: type `unlink telegram:4711` first.
    > unlink telegram:4711
    refused: You may only unlink accounts of your own.
    (FORBIDDEN, gate `link`)
    > unlink telegram:2002
    refused: `telegram:2002`: it stands in the access file, which nothing in chat changes.
    (POLICY_BLOCKED, gate `link`)
    What to do: change it there; it is taken up while I run.
    > unlink telegram:2002
    refused: `telegram:2002`: it stands in the access file, which nothing in chat changes.
    (POLICY_BLOCKED, gate `link`)
    What to do: change it there; it is taken up while I run.
    > unlink vera
    refused: An account is written `platform:id`, with the immutable id, like telegram:4711.
    (INVALID_INPUT, gate `link`)
    > unlink telegram:4711
    `telegram:4711` is not vera's any more. What it may is what an unknown account may.
    "#);
    assert_eq!(club.holding("telegram:4711"), Holding::Nobodys);
    assert_eq!(club.world.files.ledger, Ledger::default());
}

#[test]
fn roles_say_what_each_may_here_and_names_only_to_who_administers() {
    let mut club = Club::new(FILE);
    insta::assert_snapshot!(club.hears("discord", VERA, "roles").said, @"
    role | may, here
    admin | talk, resolve, read, write, record, decide low, decide medium, decide high, acknowledge, declare, grant, administer
    approver | talk, resolve, read, decide low, decide medium, decide high, acknowledge
    operator | talk, resolve, read, write, record, acknowledge, declare
    viewer | talk, resolve, read
    ");
    insta::assert_snapshot!(club.hears("discord", ADAM, "roles").said, @"
    role | may, here | who has it
    admin | talk, resolve, read, write, record, decide low, decide medium, decide high, acknowledge, declare, grant, administer | adam, nightly (a service)
    approver | talk, resolve, read, decide low, decide medium, decide high, acknowledge | anna, nightly (a service)
    operator | talk, resolve, read, write, record, acknowledge, declare | otto, gil, nightly (a service)
    viewer | talk, resolve, read | vera, gil, nightly (a service)
    ");
}

#[test]
fn the_file_wins_over_what_was_linked_and_a_reload_keeps_the_links() {
    let mut club = Club::new(FILE);
    club.given("vera", "telegram:4711");
    club.given("vera", "matrix:@vera:example.org");
    club.rewrite(&FILE.replace("\"telegram:2002\"", "\"telegram:2002\", \"telegram:4711\""));
    assert_eq!(club.holding("telegram:4711"), Holding::InFile("otto".to_owned()));
    assert_eq!(club.live.person(&Platform::new("telegram"), &human("4711")), "otto");
    assert_eq!(club.holding("matrix:@vera:example.org"), Holding::Linked("vera".to_owned()), "a reload keeps it");
    club.rewrite(
        &FILE
            .replace("homeservers = [\"example.org\"]", "homeservers = [\"other.example\"]")
            .replace(", \"matrix:@anna:example.org\"", ""),
    );
    assert!(
        matches!(club.holding("matrix:@vera:example.org"), Holding::Refused(_)),
        "its homeserver is not allowed now"
    );
    assert!(!club.live.may(&Asker::at(&human("@vera:example.org"), &room("matrix", "main")), &Right::Talk));
    club.rewrite(&FILE.replace("name = \"vera\"", "name = \"vesna\""));
    assert_eq!(club.holding("telegram:4711"), Holding::Nobodys, "nobody has that name");
    club.rewrite(FILE);
    assert_eq!(club.holding("telegram:4711"), Holding::Linked("vera".to_owned()));
}

#[test]
fn an_account_unlinked_between_request_and_click_neither_decides_nor_lends_its_eyes() {
    // Who clicks: anna, by an account that is taken from her.
    let mut club = Club::new(FILE);
    club.given("anna", "discord:100000000000000033");
    let plan = club.plan("discord", OTTO);
    club.hears("discord", ANNA, "unlink discord:100000000000000033");
    let click = club.click("discord", "100000000000000033", &plan);
    assert!(club.world.hear(click).said.contains("I do not know this account"));
    assert_eq!(club.state(&plan), Some(PlanState::Pending));
    // Who asked: adam, who may also decide, by an account that he takes from himself.
    let mut club = Club::new(FILE);
    let code = club.code("discord", ADAM);
    club.hears("discord", "100000000000000044", &format!("link {code}"));
    let plan = club.plan("discord", "100000000000000044");
    let click = club.click("discord", ADAM, &plan);
    assert!(club.world.hear(click).said.contains("Somebody else has to countersign"));
    club.hears("discord", ADAM, "unlink discord:100000000000000044");
    let click = club.click("discord", ADAM, &plan);
    insta::assert_snapshot!(club.world.hear(click).said, @"
    refused: Somebody else has to countersign what you asked for yourself.
    (FORBIDDEN, gate `decision`)
    ");
    assert_eq!(club.state(&plan), Some(PlanState::Pending));
}

#[test]
fn a_demoted_person_decides_nothing_from_the_next_set_on() {
    let mut club = Club::new(FILE);
    let plan = club.plan("discord", OTTO);
    club.rewrite(&FILE.replace("roles = [\"approver\"]", "roles = [\"viewer\"]"));
    let click = club.click("discord", ANNA, &plan);
    assert!(club.world.hear(click).said.contains("You may not approve this plan"));
    assert_eq!(club.state(&plan), Some(PlanState::Pending));
}

/// What two steps would write that both saw this ledger.
fn changes(club: &mut Club, id: &str, code: &str) -> Vec<countersign_core::ledger::Change> {
    let input = Input::Signal(Box::new(club.words("telegram", id, &format!("link {code}"))));
    let now = club.world.now();
    let (_, effects) = step(club.world.env(), ThreadState::default(), input, now);
    let kept = effects.into_iter().filter_map(|effect| match effect {
        Effect::Keep(change) => Some(*change),
        _ => None,
    });
    kept.collect()
}

#[test]
fn of_two_accounts_that_type_one_code_exactly_one_wins() {
    let mut club = Club::new(FILE);
    let code = club.code("discord", VERA);
    let (one, other) = (changes(&mut club, "1", &code), changes(&mut club, "2", &code));
    assert_eq!((one.len(), other.len()), (2, 2), "each takes the code away and writes its link");
    let mut ledger = club.world.files.ledger.clone();
    assert!(one.iter().all(|change| ledger.apply(change) == Ok(())));
    assert_eq!(ledger.apply(&other[0]), Err(Overtaken), "and with it the whole step");
    club.live.follow(&ledger);
    assert_eq!(club.holding("telegram:1"), Holding::Linked("vera".to_owned()));
    assert_eq!(club.holding("telegram:2"), Holding::Nobodys);
}

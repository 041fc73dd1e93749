//! What a reviewer who attacked it found open once: labels that lead out of the environment a rule is about, and a policy
//! file that was cut off.

use std::time::Duration;

use countersign_core::port::Standing;
use tokio::time::Instant;

use super::*;

#[test]
fn no_label_that_is_found_leads_out_of_a_rule() {
    let rules = r#"
        forbid (principal, action == Action::"decide", resource)
            when { resource.environment == "production" && resource.labels.contains("tier=gold") };
    "#;
    let access = access_with(&[("own.cedar", rules)]);
    let may = |labels: &[&str]| {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let on = "host:web-1".parse().expect("an id");
        let right = Right::Decide { risk: Risk::High, on, is_requester: false, labels };
        access.may(&Asker::at(&human("100000000000000003"), &room("discord", "main")), &right)
    };
    assert_eq!((may(&[]), may(&["tier=gold"])), (true, false));
    assert!(!may(&["tier=gold", "env=staging"]), "a second label must not lift what the first one forbids");
}

#[test]
fn a_policy_file_that_was_cut_off_is_refused() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (file, policies) = (folder.path().join("access.toml"), folder.path().join("policies"));
    let own = policies.join("own.cedar");
    std::fs::create_dir(&policies).expect("writable");
    std::fs::write(&file, FILE).expect("writable");
    std::fs::write(&own, "// Nobody declares.\nforbid (principal, action == Action::\"declare\", resource);")
        .expect("it");
    let sources = Sources { file: Some(file), policies: Some(policies), ..Sources::default() };
    let live = LiveAccess::open(sources, None).expect("it is sound");
    let may = || live.may(&Asker::at(&human(OTTO), &room("discord", "main")), &Right::Declare);
    assert!(!may());
    let mut told = Vec::new();
    for cut in ["", "\n", "// Nobody decl"] {
        std::fs::write(&own, cut).expect("writable");
        told.extend(live.reload().err().map(|error| error.problem));
        assert!(!may(), "the set before stays");
    }
    assert_eq!(told, ["access.policies: holds no policy; write one into it, or take the file away"], "told once");
}

#[test]
fn a_file_that_is_being_written_is_not_taken_up() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("access.toml");
    std::fs::write(&file, FILE).expect("writable");
    let live = LiveAccess::open(Sources { file: Some(file.clone()), ..Sources::default() }, None).expect("it is sound");
    let may = || live.may(&Asker::at(&human(OTTO), &room("discord", "main")), &Right::Talk);
    let begun = Instant::now();
    let look = |after_ms: u64| live.look(begun + Duration::from_millis(after_ms));
    let write = |text: &str| std::fs::write(&file, text).expect("writable");
    assert_eq!(look(0), Standing::Current);
    write("");
    assert_eq!((look(100), look(1_050), may()), (Standing::Changing, Standing::Changing, true), "it may be half");
    write(FILE);
    assert_eq!((look(1_150), look(2_200), may()), (Standing::Changing, Standing::Current, true));
    write("");
    assert_eq!((look(3_000), may()), (Standing::Changing, true));
    assert_eq!((look(4_000), may()), (Standing::Current, false), "a second later it is what is meant");
    write("[[people]\n");
    assert_eq!((look(5_000), look(6_000), look(7_000)), (Standing::Changing, Standing::Unsound, Standing::Unsound));
    write("");
    assert_eq!((look(8_000), look(9_000), may()), (Standing::Changing, Standing::Current, false));
}

//! Links, codes, unlinking, wrong codes and clocks that jump, in whatever order: an account is one person's, and a code works
//! once. Each rule by itself is in `identity.rs`.

use countersign_core::ledger::Ledger;
use countersign_core::people::Holding;
use countersign_core::thread::ThreadState;

use super::identity::{ADAM, Club};
use super::*;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Op {
    Show(usize),
    Type(usize, usize),
    Wrong(usize),
    Give(usize, usize),
    Unlink(usize),
    Clock(i64),
}

const PEOPLE: [(&str, &str); 3] = [("vera", VERA), ("otto", OTTO), ("gil", GIL)];
const ACCOUNTS: [&str; 3] = ["11", "12", "13"];

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..PEOPLE.len()).prop_map(Op::Show),
        6 => (0..ACCOUNTS.len(), 0..3usize).prop_map(|(who, code)| Op::Type(who, code)),
        1 => (0..ACCOUNTS.len()).prop_map(Op::Wrong),
        1 => (0..PEOPLE.len(), 0..ACCOUNTS.len()).prop_map(|(person, who)| Op::Give(person, who)),
        2 => (0..ACCOUNTS.len()).prop_map(Op::Unlink),
        2 => prop_oneof![Just(-60_000), Just(60_000), Just(599_999), Just(600_000), Just(-700_000)].prop_map(Op::Clock),
    ]
}

/// A code as the test remembers it: whose, and from when to when.
struct Shown {
    code: String,
    person: usize,
    at: i64,
    is_over: bool,
}

/// Lets one thing happen and says what must not have. `codes` are the newest first.
fn happens(club: &mut Club, op: &Op, codes: &mut Vec<Shown>) -> Result<bool, String> {
    let before = ACCOUNTS.map(|id| club.holding(&format!("telegram:{id}")));
    let mut may_change = None;
    let mut worked = false;
    match op {
        Op::Show(person) => {
            codes.iter_mut().filter(|code| code.person == *person).for_each(|code| code.is_over = true);
            let (person, at) = (*person, club.world.wall);
            let code = club.code("discord", PEOPLE[person].1);
            codes.insert(0, Shown { code, person, at, is_over: false });
        }
        Op::Type(who, which) => {
            let Some(shown) = codes.get_mut(*which) else { return Ok(false) };
            let told = club.hears("telegram", ACCOUNTS[*who], &format!("link {}", shown.code));
            worked = told.said.contains("from now on");
            let in_time = (shown.at..shown.at + 600_000).contains(&club.world.wall);
            if worked && (shown.is_over || !in_time || before[*who] != Holding::Nobodys) {
                return Err(format!("{} worked: {}", shown.code, told.said));
            }
            shown.is_over |= worked;
            may_change = worked.then(|| (*who, Holding::Linked(PEOPLE[shown.person].0.to_owned())));
        }
        Op::Wrong(who) => {
            club.hears("telegram", ACCOUNTS[*who], "link 22222-22222");
        }
        Op::Give(person, who) => {
            club.given(PEOPLE[*person].0, &format!("telegram:{}", ACCOUNTS[*who]));
            let given = Holding::Linked(PEOPLE[*person].0.to_owned());
            may_change = (before[*who] == Holding::Nobodys).then_some((*who, given));
        }
        Op::Unlink(who) => {
            club.hears("discord", ADAM, &format!("unlink telegram:{}", ACCOUNTS[*who]));
            may_change = Some((*who, Holding::Nobodys));
        }
        Op::Clock(by) => {
            club.world.wall += by;
            club.world.clock += u64::try_from(*by).unwrap_or_default();
        }
    }
    for (at, id) in ACCOUNTS.iter().enumerate() {
        let expected = may_change.as_ref().filter(|(who, _)| *who == at).map_or(&before[at], |(_, to)| to);
        let is = club.holding(&format!("telegram:{id}"));
        if is != *expected {
            return Err(format!("{op:?}: telegram:{id} is {is:?} and should be {expected:?}"));
        }
    }
    Ok(worked)
}

#[test]
fn an_account_is_one_persons_and_a_code_works_once_whatever_happens() {
    let mut club = Club::new(FILE);
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let worked_in = std::cell::Cell::new(0);
    let club_in = std::cell::RefCell::new(&mut club);
    let ran = runner.run(&prop::collection::vec(op(), 1..40), |ops| {
        let mut club = club_in.borrow_mut();
        club.world.files.ledger = Ledger::default();
        club.world.state = ThreadState::default();
        club.live.follow(&Ledger::default());
        let mut codes = Vec::new();
        for op in &ops {
            let one = happens(&mut club, op, &mut codes).map_err(TestCaseError::fail)?;
            worked_in.set(worked_in.get() + u32::from(one));
        }
        Ok(())
    });
    let worked = worked_in.get();
    assert!(ran.is_ok(), "{ran:?}");
    assert!(worked > 20, "only {worked} codes worked: the test shows nothing");
}

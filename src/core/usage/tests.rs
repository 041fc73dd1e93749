//! Sums, days and budgets by themselves: properties against plain arithmetic, and what is said.

use proptest::prelude::*;

use super::*;
use crate::signal::{ActorId, Ground, Platform};

fn usage() -> impl Strategy<Value = Usage> {
    let number = || prop_oneof![Just(0), 0..50_u64, any::<u64>()];
    (number(), number(), number()).prop_map(|(tokens_in, tokens_out, cost_micros)| Usage {
        tokens_in,
        tokens_out,
        cost_micros,
    })
}

fn ground() -> impl Strategy<Value = Ground> {
    prop_oneof![Just(Ground::Foreground), Just(Ground::Background)]
}

fn limit() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (1..100_u64).prop_map(Some), any::<u64>().prop_map(Some)]
}

fn daily() -> impl Strategy<Value = Daily> {
    (limit(), limit()).prop_map(|(tokens, cost_micros)| Daily { tokens, cost_micros })
}

prop_compose! {
    fn budgets()(person in daily(), room in daily(), team in daily(), background_percent in 0..=100_u8) -> Budgets {
        Budgets { person, room, team, background_percent, ..Budgets::default() }
    }
}

fn account(name: &str) -> Payer {
    Payer::Account(Platform::new("test"), ActorId::new(name))
}

fn payers_of(name: &str) -> [Payer; 3] {
    [account(name), Payer::Person("room".to_owned()), Payer::Team]
}

/// Whether a model may go on, in plain arithmetic: at every payer, of each measure, something is left of the whole and,
/// where nobody waits, of the background's share.
fn something_is_left(budgets: &Budgets, spent: &Spent, ground: Ground) -> bool {
    let payers = [(budgets.person, spent.person), (budgets.room, spent.room), (budgets.team, spent.team)];
    let percent = u128::from(budgets.background_percent);
    payers.iter().all(|(daily, tally)| {
        let (all, quiet) = (tally.total(), tally.background);
        let measures =
            [(daily.tokens, all.tokens(), quiet.tokens()), (daily.cost_micros, all.cost_micros, quiet.cost_micros)];
        measures.iter().all(|(limit, used, quietly)| {
            limit.is_none_or(|limit| {
                let whole = *used < limit;
                let share = u128::from(*quietly) < u128::from(limit) * percent / 100;
                whole && (ground == Ground::Foreground || share)
            })
        })
    })
}

proptest! {
    #[test]
    fn a_model_is_refused_exactly_when_a_budget_is_used_up(
        budgets in budgets(),
        uses in prop::collection::vec((ground(), usage(), 0..3_usize), 0..6),
        ground in ground(),
    ) {
        let mut book = Book::new(Day(7));
        for (on, usage, who) in &uses {
            let who = ["ann", "bob", "cy"].get(*who).expect("one of three");
            for payer in payers_of(who) {
                book.add(payer, *on, usage.believed());
            }
        }
        let spent = book.spent(&payers_of("ann"), Day(7));
        let allowed = budgets.allow(Some(&spent), ground);
        prop_assert_eq!(allowed.is_ok(), something_is_left(&budgets, &spent, ground), "{:?}", spent);
        if let Err(NoBudget::UsedUp(line, over_at)) = allowed {
            prop_assert_eq!(line.left(), Some(0));
            prop_assert_eq!(over_at, Wall(8 * DAY_MS));
        }
        for line in budgets.lines(&spent) {
            let exact = line.limit.is_none_or(|limit| line.used >= limit || line.left() == Some(limit - line.used));
            prop_assert!(exact && line.left().is_some() == line.limit.is_some(), "{:?}", line);
        }
    }

    #[test]
    fn sums_never_go_down_within_a_day(uses in prop::collection::vec((ground(), usage()), 1..8)) {
        let mut book = Book::new(Day(1));
        let mut before = book.spent(&payers_of("ann"), Day(1));
        for (ground, usage) in uses {
            book.add(account("ann"), ground, usage);
            book.add(Payer::Team, ground, usage);
            let after = book.spent(&payers_of("ann"), Day(1));
            for (was, is) in [(before.person, after.person), (before.team, after.team)] {
                let (was, is) = (was.total(), is.total());
                prop_assert!(is.tokens() >= was.tokens() && is.cost_micros >= was.cost_micros);
                prop_assert!(is.tokens() == u64::MAX || is.tokens() >= usage.tokens());
            }
            prop_assert_eq!(after.room, Tally::default(), "nobody else pays");
            before = after;
        }
    }

    #[test]
    fn what_one_turn_claims_is_bounded(usage in usage(), turns in 1..1_000_000_u64) {
        let believed = usage.believed();
        let all = believed.tokens_in.checked_mul(turns).map(i64::try_from);
        prop_assert!(matches!(all, Some(Ok(_))), "a million turns a day fit into the store");
        prop_assert!(believed == usage || usage.tokens_in.max(usage.tokens_out).max(usage.cost_micros) > 1_000_000_000);
    }
}

#[test]
fn a_day_is_one_of_the_calendar_in_utc() {
    let midnight = 1_700_006_400_000;
    let rows = [
        (midnight - 1, "2023-11-14", midnight),
        (midnight, "2023-11-15", midnight + DAY_MS),
        (midnight + DAY_MS - 1, "2023-11-15", midnight + DAY_MS),
        (0, "1970-01-01", DAY_MS),
        (-1, "1969-12-31", 0),
    ];
    for (at, name, over_at) in rows {
        let day = Day::of(Wall(at));
        assert_eq!((day.to_string().as_str(), day.over_at()), (name, Wall(over_at)), "{at}");
    }
    let mut book = Book::new(Day(1));
    book.add(Payer::Team, Ground::Foreground, Usage { tokens_in: 1, ..Usage::default() });
    assert_eq!(book.spent(&payers_of("ann"), Day(1)).team.total().tokens(), 1);
    assert_eq!(book.spent(&payers_of("ann"), Day(2)).team, Tally::default(), "a new day begins with nothing");
}

#[test]
fn what_is_not_known_is_refused_where_there_is_a_budget() {
    assert_eq!(Budgets::default().allow(None, Ground::Background), Ok(()), "nothing is limited");
    for limited in 0..3 {
        let mut budgets = Budgets::default();
        let some = Daily { tokens: None, cost_micros: Some(1) };
        match limited {
            0 => budgets.person = some,
            1 => budgets.room = some,
            _ => budgets.team = some,
        }
        assert!(budgets.is_any());
        assert_eq!(budgets.allow(None, Ground::Foreground), Err(NoBudget::Unknown));
    }
    assert!(!Budgets { background_percent: 1, ..Budgets::default() }.is_any());
}

#[test]
fn a_budget_that_is_used_up_is_said_in_a_sentence() {
    let daily = |tokens: u64, cents: u64| Daily { tokens: Some(tokens), cost_micros: Some(cents * 10_000) };
    let budgets = Budgets { person: daily(1000, 250), team: daily(5000, 900), ..Budgets::default() };
    let mut spent = Book::new(Day(19_676)).spent(&payers_of("ann"), Day(19_676));
    let said = |spent: &Spent, ground: Ground| {
        let why = budgets.allow(Some(spent), ground).expect_err("nothing is left");
        budgets.sentence(&why)
    };
    let half = Usage { tokens_in: 400, tokens_out: 101, cost_micros: 1 };
    spent.add(Ground::Background, half);
    assert_eq!(budgets.allow(Some(&spent), Ground::Foreground), Ok(()), "somebody who waits may still ask");
    insta::assert_snapshot!(said(&spent, Ground::Background), @"your budget for background work of 500 tokens a day is used up (501 tokens today); it begins anew at 2023-11-16 00:00:00 UTC");
    spent.add(Ground::Foreground, Usage { tokens_out: 499, ..Usage::default() });
    insta::assert_snapshot!(said(&spent, Ground::Foreground), @"your budget of 1000 tokens a day is used up (1000 tokens today); it begins anew at 2023-11-16 00:00:00 UTC");
    let dear = Usage { cost_micros: 9_000_001, ..Usage::default() };
    let team = Tally { foreground: dear, ..Tally::default() };
    let spent = Spent { team, ..Book::new(Day(19_676)).spent(&payers_of("ann"), Day(19_676)) };
    insta::assert_snapshot!(said(&spent, Ground::Foreground), @"the team's budget of 9.00 USD a day is used up (9.000001 USD today); it begins anew at 2023-11-16 00:00:00 UTC");
    insta::assert_snapshot!(budgets.sentence(&NoBudget::Unknown), @"what was used today cannot be read, so that no model may go on while there is a budget");
}

#[test]
fn money_is_said_in_full() {
    let budgets = Budgets { currency: "EUR".to_owned(), ..Budgets::default() };
    let rows = [
        (0, "0.00 EUR"),
        (1, "0.000001 EUR"),
        (10_000, "0.01 EUR"),
        (500_000, "0.50 EUR"),
        (1_234_500, "1.2345 EUR"),
        (12_000_000, "12.00 EUR"),
    ];
    for (micros, said) in rows {
        assert_eq!(budgets.amount(Measure::Cost, micros), said);
    }
}

//! The section `[budget]`: how many tokens and how much money a person, a room and the team may use a day. Counting and
//! refusing are done elsewhere.

use countersign_core::usage::{Budgets, Daily};
use serde::{Deserialize, Serialize};

use super::error::Problem;

/// More than anybody means: a larger number is a slip.
const TOKENS_MAX: u64 = 1_000_000_000_000;

/// How many digits an amount has before and after its point.
const DIGITS_MAX: (usize, usize) = (9, 6);

/// How much may be used a day. Unset is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens of each person a day, read and written together. Unset by default.
    pub tokens_per_person_day: Option<u64>,
    /// Tokens of each room a day. Unset by default.
    pub tokens_per_room_day: Option<u64>,
    /// Tokens of everybody together a day. Unset by default.
    pub tokens_per_team_day: Option<u64>,
    /// Cost of each person a day, in whole units of the currency, as text: `"2.50"`. Unset by default.
    pub cost_per_person_day: Option<String>,
    /// Cost of each room a day. Unset by default.
    pub cost_per_room_day: Option<String>,
    /// Cost of everybody together a day. Unset by default.
    pub cost_per_team_day: Option<String>,
    /// What amounts are followed by. Default USD.
    pub currency: String,
    /// Of each limit, how many percent work may use that nobody waits for. Default 50.
    pub background_percent: u8,
}

impl Default for Budget {
    fn default() -> Self {
        let Budgets { currency, background_percent, .. } = Budgets::default();
        Self {
            tokens_per_person_day: None,
            tokens_per_room_day: None,
            tokens_per_team_day: None,
            cost_per_person_day: None,
            cost_per_room_day: None,
            cost_per_team_day: None,
            currency,
            background_percent,
        }
    }
}

impl Budget {
    /// What the core refuses by. An error names the key that is wrong.
    pub fn budgets(&self) -> Result<Budgets, Problem> {
        let daily = |whose: &str, tokens: Option<u64>, cost: Option<&String>| {
            let (tokens_key, cost_key) = (format!("tokens_per_{whose}_day"), format!("cost_per_{whose}_day"));
            if tokens.is_some_and(|tokens| !(1..=TOKENS_MAX).contains(&tokens)) {
                let fix = format!("must be from 1 to {TOKENS_MAX}; leave it unset for no limit");
                return Err(Problem::new(format!("budget.{tokens_key}"), fix));
            }
            let cost_micros =
                cost.map(|cost| micros(cost).map_err(|fix| Problem::new(format!("budget.{cost_key}"), fix)));
            Ok(Daily { tokens, cost_micros: cost_micros.transpose()? })
        };
        if self.background_percent > 100 {
            return Err(Problem::new("budget.background_percent", "must be from 0 to 100"));
        }
        let letters = self.currency.chars().all(char::is_alphanumeric) || self.currency.chars().count() == 1;
        if self.currency.is_empty() || self.currency.chars().count() > 8 || !letters {
            return Err(Problem::new("budget.currency", "must be a short word or a sign, such as \"EUR\""));
        }
        Ok(Budgets {
            person: daily("person", self.tokens_per_person_day, self.cost_per_person_day.as_ref())?,
            room: daily("room", self.tokens_per_room_day, self.cost_per_room_day.as_ref())?,
            team: daily("team", self.tokens_per_team_day, self.cost_per_team_day.as_ref())?,
            background_percent: self.background_percent,
            currency: self.currency.clone(),
        })
    }
}

/// Millionths of an amount such as `2.50`. Digits and one point only: with a comma, `2,500` would be read in two ways.
pub(super) fn micros(amount: &str) -> Result<u64, &'static str> {
    let fix = "must be an amount above zero such as \"2.50\": digits, and a point with at most 6 more";
    let (whole, decimals) = amount.split_once('.').unwrap_or((amount, "0"));
    let digits = |text: &str, max: usize| (1..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, DIGITS_MAX.0) || !digits(decimals, DIGITS_MAX.1) {
        return Err(fix);
    }
    format!("{whole}{decimals:0<6}").parse().ok().filter(|micros| *micros > 0).ok_or(fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_to_the_millionth_or_refused() {
        let rows = [
            ("2.50", Some(2_500_000)),
            ("2.5", Some(2_500_000)),
            ("3", Some(3_000_000)),
            ("0.000001", Some(1)),
            ("007.10", Some(7_100_000)),
            ("999999999.999999", Some(999_999_999_999_999)),
        ];
        let wrong =
            ["", "0", "0.00", "-1", "+1", "2,50", "1 000", "1.", ".5", "1.2.3", "1e3", "2.1234567", "1000000000", "٣"];
        for (text, expected) in rows.into_iter().chain(wrong.map(|text| (text, None))) {
            assert_eq!(micros(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_budget_that_cannot_be_meant_is_refused_by_its_key() {
        let said = |budget: Budget| {
            let problem = budget.budgets().expect_err("it must be refused");
            format!("`{}` {}", problem.key, problem.problem)
        };
        insta::assert_snapshot!(said(Budget { tokens_per_room_day: Some(0), ..Budget::default() }),
            @"`budget.tokens_per_room_day` must be from 1 to 1000000000000; leave it unset for no limit");
        insta::assert_snapshot!(said(Budget { cost_per_team_day: Some("2,50".to_owned()), ..Budget::default() }),
            @r#"`budget.cost_per_team_day` must be an amount above zero such as "2.50": digits, and a point with at most 6 more"#);
        insta::assert_snapshot!(said(Budget { background_percent: 101, ..Budget::default() }),
            @"`budget.background_percent` must be from 0 to 100");
        insta::assert_snapshot!(said(Budget { currency: "a lot of".to_owned(), ..Budget::default() }),
            @r#"`budget.currency` must be a short word or a sign, such as "EUR""#);
    }

    #[test]
    fn each_key_limits_what_it_names() {
        assert_eq!(Budget::default().budgets(), Ok(Budgets::default()));
        let budget = Budget {
            tokens_per_person_day: Some(1),
            tokens_per_room_day: Some(2),
            tokens_per_team_day: Some(3),
            cost_per_person_day: Some("4".to_owned()),
            cost_per_room_day: Some("5".to_owned()),
            cost_per_team_day: Some("6".to_owned()),
            currency: "€".to_owned(),
            background_percent: 7,
        };
        let daily = |tokens, units: u64| Daily { tokens: Some(tokens), cost_micros: Some(units * 1_000_000) };
        let (person, room, team) = (daily(1, 4), daily(2, 5), daily(3, 6));
        let expected = Budgets { person, room, team, background_percent: 7, currency: "€".to_owned() };
        assert_eq!(budget.budgets(), Ok(expected));
    }
}

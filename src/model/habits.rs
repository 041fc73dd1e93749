//! What was learnt about a model while it was asked, and is kept until the process ends: how calls are asked for, and which
//! parts of a question its server takes. It only ever goes from more to less, so that nothing is tried for ever.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::trouble::Refusal;
use crate::config::Calls;

/// The way that is gone with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// By functions.
    Native,
    /// In two steps.
    Steps,
    /// It is told what it may write, because its server holds it to nothing.
    Written,
}

impl Way {
    /// The stable name; a label of metrics.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Steps => "steps",
            Self::Written => "written",
        }
    }
}

/// A part of a question that a server may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Without it, what was used is estimated.
    StreamOptions,
    /// Some models have one temperature.
    Temperature,
    /// The newer models of `OpenAI` know it by another name.
    MaxTokens,
}

/// Each part, with what a refusal of it has in it.
const PARTS: [(Part, &str); 3] =
    [(Part::StreamOptions, "stream_options"), (Part::Temperature, "temperature"), (Part::MaxTokens, "max_tokens")];

/// How often in a row a model may write its calls into its text until nobody offers it functions any more.
const LEAKS_MAX: u32 = 3;

/// What is known of one model.
#[derive(Clone, Debug, Default)]
struct Habit {
    way: Option<Way>,
    without: Vec<Part>,
    /// How often in a row it wrote its calls into its text, where functions were offered.
    leaks: u32,
}

/// What is known of each.
#[derive(Default)]
pub(super) struct Habits(Mutex<BTreeMap<String, Habit>>);

impl Habits {
    /// The way that is gone with this model.
    pub(super) fn way(&self, model: &str, calls: Calls) -> Way {
        let first = match calls {
            Calls::Auto | Calls::Native => Way::Native,
            Calls::Steps => Way::Steps,
        };
        self.of(model).way.unwrap_or(first)
    }

    /// It wrote its calls into its text: whether often enough in a row that it is to be asked in another way for good. A
    /// model that does it once may do it right the next time.
    pub(super) fn leaks(&self, model: &str) -> bool {
        let mut habits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let habit = habits.entry(model.to_owned()).or_default();
        habit.leaks = habit.leaks.saturating_add(1);
        habit.leaks >= LEAKS_MAX
    }

    /// It made calls by functions.
    pub(super) fn calls(&self, model: &str) {
        if let Some(habit) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(model) {
            habit.leaks = 0;
        }
    }

    /// Which parts its server does not take.
    pub(super) fn without(&self, model: &str) -> Vec<Part> {
        self.of(model).without
    }

    /// From now on it is asked in this way. Whether that is new.
    pub(super) fn go(&self, model: &str, way: Way) -> bool {
        let mut habits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let habit = habits.entry(model.to_owned()).or_default();
        let is_less = habit.way.is_none_or(|known| known < way);
        if is_less {
            habit.way = Some(way);
        }
        is_less
    }

    /// From now on it is asked without the part that was refused, where it was one of these, and was not left out before.
    pub(super) fn leave_out(&self, model: &str, refusal: &Refusal) -> bool {
        let part = PARTS.iter().find(|(_, name)| refusal.is_about(&[name])).map(|(part, _)| *part);
        let Some(part) = part else { return false };
        let mut habits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let without = &mut habits.entry(model.to_owned()).or_default().without;
        let is_new = !without.contains(&part);
        if is_new {
            without.push(part);
        }
        is_new
    }

    fn of(&self, model: &str) -> Habit {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_only_goes_down_and_for_one_model_alone() {
        let habits = Habits::default();
        assert_eq!(habits.way("small", Calls::Auto), Way::Native);
        assert_eq!(habits.way("small", Calls::Steps), Way::Steps);
        assert!(habits.go("small", Way::Written) && !habits.go("small", Way::Steps));
        assert_eq!(habits.way("small", Calls::Auto), Way::Written);
        assert_eq!(habits.way("big", Calls::Auto), Way::Native);
    }

    #[test]
    fn what_happens_now_and_then_is_no_habit() {
        let habits = Habits::default();
        let often: Vec<bool> = (0..2).map(|_| habits.leaks("small")).collect();
        habits.calls("small");
        let often_again: Vec<bool> = (0..3).map(|_| habits.leaks("small")).collect();
        assert_eq!((often, often_again), (vec![false, false], vec![false, false, true]));
        assert!(!habits.leaks("big"));
    }

    #[test]
    fn a_part_is_left_out_once_and_only_where_it_was_named() {
        let habits = Habits::default();
        let refusal = |status, said: &str| Refusal { status, said: said.to_owned(), retry_after: None };
        let newer =
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.";
        assert!(habits.leave_out("o", &refusal(400, newer)));
        assert!(!habits.leave_out("o", &refusal(400, newer)), "the second time it is something else");
        assert!(!habits.leave_out("o", &refusal(401, "temperature")));
        assert!(!habits.leave_out("o", &refusal(400, "no such model")));
        assert!(habits.leave_out("o", &refusal(422, "Extra inputs are not permitted: stream_options")));
        assert_eq!(habits.without("o"), [Part::MaxTokens, Part::StreamOptions]);
        assert!(habits.without("p").is_empty());
    }
}

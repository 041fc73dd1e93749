//! What must be true after whatever went wrong, each rule a function from the facts to a line for each violation. A rule that
//! looked at nothing fails, and each is proven on planted violations (`judge/planted.rs`). Nothing is read here.

mod delivered;
mod done;
mod missed;
mod order;
mod planted;
mod said;

use super::facts::Facts;

/// How many things a rule looked at, and what is wrong with them.
type Found = (usize, Vec<String>);

type Rule = fn(&Facts) -> Found;

/// The rules, by what they say.
const RULES: [(&str, Rule); 8] = [
    ("what was told is in the inbox, once, unless it may be missed", delivered::taken),
    ("whatever was asked has one ending and an answer", said::ended),
    ("whatever is answered came out, and nothing came out twice without saying so", said::once),
    ("nothing came out that is not in the outbox", said::known),
    ("a request has one plan, however many copies of its card there are", done::one_plan),
    ("a change is made at most once, and was made where that is said", done::at_most_once),
    ("messages are taken in the order in which they came, in each thread", order::taken),
    ("answers stand in the order of what they answer, in each thread", order::answered),
];

/// Everything that is wrong, a line each.
pub(super) fn judge(facts: &Facts) -> Vec<String> {
    RULES.iter().flat_map(|(name, rule)| broken(name, rule(facts))).collect()
}

fn broken(name: &str, (looked_at, wrong): Found) -> Vec<String> {
    let nothing = (looked_at == 0).then(|| format!("{name}: nothing was looked at"));
    nothing.into_iter().chain(wrong.into_iter().map(|line| format!("{name}: {line}"))).collect()
}

//! Whether a question has several steps: then the larger model is asked from the start (SPB-03). By its words alone.

use std::sync::LazyLock;

use regex::Regex;

/// What joins two steps.
const JOINTS: [&str; 8] = [
    " and then ",
    ", then ",
    "; then ",
    ". then ",
    " after that",
    " afterwards",
    " once that is done",
    " followed by ",
];

/// Whether these words ask for one thing after another.
pub(super) fn are_several(words: &str) -> bool {
    static LISTED: LazyLock<Regex> = LazyLock::new(|| {
        let item = r"(?m)^\s*(?:step\s+)?\d{1,2}[.):]\s+\S";
        Regex::new(item).expect("invariant: the pattern is sound")
    });
    let lower = format!(" {} ", words.to_lowercase());
    let in_order = lower.find(" first").is_some_and(|at| lower.get(at..).is_some_and(|rest| rest.contains(" then ")));
    in_order || JOINTS.iter().any(|joint| lower.contains(joint)) || LISTED.find_iter(words).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_after_another_is_several() {
        let table = [
            ("first look at the disk, then tell me what to delete", true),
            ("find the slowest service and then say why it is slow", true),
            ("check the load; after that the memory", true),
            ("1. look at the load\n2. look at the disks", true),
            ("do this:\n  1) load\n  2) disks", true),
            ("why is the shop slow", false),
            ("the first page is slow", false),
            ("is 1. of May a holiday", false),
            ("load and memory", false),
        ];
        for (words, expected) in table {
            assert_eq!(are_several(words), expected, "{words}");
        }
    }
}

//! The tables that lines are judged by: the shipped ones, and what a team adds to them. A team may make a shipped tool
//! stricter, never looser, and may say what a tool of its own does.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use thiserror::Error;

use super::table::{self, Tools};
use super::{Judgement, judge_with};

/// What is wrong with a team's tables: the tool, the key, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TablesError(String);

/// A set of tables. Cheap to make where nothing was added.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// All tools, where a team added some.
    own: Option<Tools>,
}

impl Tables {
    /// The shipped tables with a team's additions, in the notation that `README.md` beside this file explains. Of a shipped
    /// tool only `acts`, `write`, `writes` and, inside `sub`, the same may be given: what they name is refused from then
    /// on. Any other tool is described whole.
    pub fn with(additions: &str) -> Result<Self, TablesError> {
        table::with_additions(additions).map(|tools| Self { own: Some(tools) }).map_err(TablesError)
    }

    /// Judges a command line; see [`super::judge()`].
    pub fn judge(&self, line: &str) -> Judgement {
        judge_with(self.own.as_ref().unwrap_or_else(|| table::shipped()), line, true)
    }
}

/// Reads a shipped table that has one row for several tools, under each of their names. Panics where the table cannot be read:
/// a test reads each.
pub(super) fn rows_by_name<R: Clone + DeserializeOwned>(text: &str, also: fn(&R) -> &[String]) -> BTreeMap<String, R> {
    let table: BTreeMap<String, R> = toml::from_str(text).unwrap_or_else(|mistake| panic!("a table: {mistake}"));
    let names = |(name, row): (String, R)| {
        let all: Vec<String> = also(&row).iter().cloned().chain([name]).collect();
        all.into_iter().map(move |name| (name, row.clone()))
    };
    table.into_iter().flat_map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(text: &str) -> Tables {
        Tables::with(text).expect("sound additions")
    }

    #[test]
    fn a_team_makes_a_shipped_tool_stricter() {
        let own = tables(
            "[kubectl.sub.get.acts]\n\"--all-namespaces -A\" = \"looks into other teams\"\n[git.writes]\nlog = \"is ours\"\n[dig]\nwrite = \"asks strangers\"",
        );
        let refused = |line: &str| own.judge(line).reason;
        assert!(own.judge("kubectl get pods").is_proven() && own.judge("git status").is_proven());
        assert_eq!(refused("kubectl get pods -A"), "looks into other teams (kubectl get -A)");
        assert_eq!(refused("git log"), "is ours (git log)");
        let own_parent = tables("[kubectl.acts]\n\"-A\" = \"looks into other teams\"");
        assert!(
            !own_parent.judge("kubectl get pods -A").is_proven(),
            "also where a sub-command knows the option itself"
        );
        assert_eq!(refused("dig example.com"), "asks strangers (dig)");
        assert!(Tables::default().judge("git log").is_proven(), "only in this set");
    }

    #[test]
    fn a_team_describes_a_tool_of_its_own() {
        let line = "shopctl orders list -n 5";
        assert!(!Tables::default().judge(line).is_proven());
        let own = tables(
            "[shopctl.sub.orders]\nreads = \"list\"\noptions = \"-n=\"\nwrites = { drop = \"deletes orders !3\" }",
        );
        assert!(own.judge(line).is_proven(), "{}", own.judge(line).reason);
        assert_eq!(own.judge("timeout 5 shopctl orders drop").risk.level(), 3);
    }

    #[test]
    fn nothing_makes_a_shipped_tool_looser() {
        let wrong = [
            "[rm]\nany_words = true",
            "[sort]\noptions = \"-o=\"",
            "[kubectl]\nreads = \"delete\"",
            "[kubectl.sub.delete]\noptions = \"-f=\"",
            "[curl]\nstyle = \"words\"",
            "[mine]\nalso = [\"rm\"]\nany_words = true",
            "[mine]\nodd = 1",
            "not a table",
        ];
        let said: Vec<String> = wrong.map(|text| Tables::with(text).expect_err(text).to_string()).into();
        assert!(said.iter().take(5).all(|error| error.contains("only `acts`, `write` and `writes`")), "{said:#?}");
        assert_eq!(said.get(5).map(String::as_str), Some("`rm` is in the shipped tables already"));
    }
}

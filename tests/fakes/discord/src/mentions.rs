//! Who is called by a text: the marks that Discord finds in it, and what `allowed_mentions` leaves of them. What stands in
//! code calls nobody.

use std::collections::BTreeSet;

use crate::form::Fields;

/// Users or roles that `allowed_mentions` may list (API reference, "Allowed Mentions Object").
const LISTED_MAX: usize = 100;

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    User(u64),
    Role(u64),
    Everyone(&'static str),
}

impl Mark {
    /// As it stands in a text.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::User(id) => format!("<@{id}>"),
            Self::Role(id) => format!("<@&{id}>"),
            Self::Everyone(word) => (*word).to_owned(),
        }
    }
}

/// The marks of a text.
pub(crate) fn marks(text: &str) -> BTreeSet<Mark> {
    let plain = without_code(text);
    let mut marks = BTreeSet::new();
    for word in ["@everyone", "@here"] {
        if plain.contains(word) {
            marks.insert(Mark::Everyone(word));
        }
    }
    for part in plain.split("<@").skip(1) {
        let Some((inside, _)) = part.split_once('>') else { continue };
        let (role, digits) = match inside.strip_prefix('&') {
            Some(digits) => (true, digits),
            None => (false, inside.strip_prefix('!').unwrap_or(inside)),
        };
        if let Ok(id) = digits.parse() {
            marks.insert(if role { Mark::Role(id) } else { Mark::User(id) });
        }
    }
    marks
}

/// The text without blocks of code and code in lines. A fence that is not closed is no fence.
fn without_code(text: &str) -> String {
    let mut left = text;
    let mut plain = String::new();
    while let Some(at) = left.find('`') {
        let (before, rest) = left.split_at(at);
        plain.push_str(before);
        let fence: String = rest.chars().take_while(|letter| *letter == '`').collect();
        let inside = rest.get(fence.len()..).unwrap_or_default();
        match inside.find(&fence) {
            Some(end) => left = inside.get(end + fence.len()..).unwrap_or_default(),
            None => {
                plain.push_str(&fence);
                left = inside;
            }
        }
    }
    plain + left
}

/// What `allowed_mentions` lets through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    users: Option<Vec<u64>>,
    roles: Option<Vec<u64>>,
    everyone: bool,
    replied_user: bool,
}

impl Allowed {
    /// What holds where a bot says nothing: everything.
    pub(crate) fn everything() -> Self {
        Self { users: None, roles: None, everyone: true, replied_user: true }
    }

    /// `None` where the field is absent; problems are written down.
    pub(crate) fn read(form: &Fields<'_>) -> Option<Self> {
        let fields = form.object("allowed_mentions")?;
        fields.only(&["parse", "users", "roles", "replied_user"]);
        let parse = fields.list("parse", 3).unwrap_or_default();
        let parsed = |word: &str| parse.iter().any(|value| value == word);
        if parse.iter().any(|value| !["users", "roles", "everyone"].iter().any(|word| value == word)) {
            fields.wrong("parse", "BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').");
        }
        let listed = |name: &str| -> Option<Vec<u64>> {
            let ids = fields.list(name, LISTED_MAX).unwrap_or_default();
            if parsed(name) && !ids.is_empty() {
                fields.wrong(
                    name,
                    "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                    &format!("parse:[\"{name}\"] and {name}: [ids...] are mutually exclusive."),
                );
            }
            let id = |value: &serde_json::Value| {
                value.as_str().and_then(|text| text.parse().ok()).or_else(|| value.as_u64())
            };
            (!parsed(name)).then(|| ids.iter().filter_map(id).collect())
        };
        let (users, roles) = (listed("users"), listed("roles"));
        Some(Self { users, roles, everyone: parsed("everyone"), replied_user: fields.flag("replied_user") })
    }

    fn lets(&self, mark: &Mark) -> bool {
        let listed = |ids: &Option<Vec<u64>>, id: &u64| ids.as_ref().is_none_or(|ids| ids.contains(id));
        match mark {
            Mark::User(id) => listed(&self.users, id),
            Mark::Role(id) => listed(&self.roles, id),
            Mark::Everyone(_) => self.everyone,
        }
    }

    /// Whom a message calls: by its marks, and by answering somebody.
    pub(crate) fn pings(&self, text: &str, answers: Option<u64>) -> BTreeSet<Mark> {
        let mut called: BTreeSet<Mark> = marks(text).into_iter().filter(|mark| self.lets(mark)).collect();
        called.extend(answers.filter(|_| self.replied_user).map(Mark::User));
        called
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_outside_of_code() {
        let found = |text: &str| marks(text).iter().map(Mark::written).collect::<Vec<_>>();
        assert_eq!(found("<@11> and <@!12>, <@&5>, @here"), ["<@11>", "<@12>", "<@&5>", "@here"]);
        assert!(found("`<@11>` ```\n@everyone <@&5>\n``` <@x> <@").is_empty());
        assert_eq!(found("``` <@11>"), ["<@11>"], "a fence that is not closed is no fence");
    }
}

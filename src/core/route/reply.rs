//! A reply as an intent file has it: words of the team's own, with the names of groups in braces. What stands in the place
//! of a group is somebody's words; making them fit to be shown is the thread's business.

/// The most characters of a reply, as it is written.
const CHARS_MAX: usize = 1_000;

/// A reply, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Group(String),
}

impl Reply {
    /// Reads `ok restart {service}`; `{{` and `}}` are braces. An error says what is wrong and the fix.
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        if written.chars().nth(CHARS_MAX).is_some() {
            return Err(format!("its reply is longer than {CHARS_MAX} characters"));
        }
        let mut parts = Vec::new();
        let mut rest = written;
        while let Some(at) = rest.find(['{', '}']) {
            let (words, from) = rest.split_at(at);
            push_words(&mut parts, words);
            rest = match from.strip_prefix("{{").map(|after| ("{", after)) {
                Some((brace, after)) => {
                    push_words(&mut parts, brace);
                    after
                }
                None => group_or_brace(&mut parts, from)?,
            };
        }
        push_words(&mut parts, rest);
        match parts.first() {
            Some(Part::Words(words)) if !words.trim().is_empty() => Ok(Self(parts)),
            Some(_) => {
                Err("its reply begins with somebody else's words; begin with words of its own, so that nobody can \
                            have the bot say whatever they like"
                    .to_owned())
            }
            None => Err("its reply is empty".to_owned()),
        }
    }

    /// The names of its groups, in order.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Words(_) => None,
            Part::Group(name) => Some(name.as_str()),
        })
    }

    /// The reply with this in the place of each group.
    pub fn fill(&self, group: impl Fn(&str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Group(name) => group(name),
        };
        self.0.iter().map(part).collect()
    }
}

/// What begins with one opening brace or with a closing one; returns what comes after it.
fn group_or_brace<'a>(parts: &mut Vec<Part>, from: &'a str) -> Result<&'a str, String> {
    if let Some(after) = from.strip_prefix("}}") {
        push_words(parts, "}");
        return Ok(after);
    }
    let unclosed =
        || "its reply has a brace that has no other; write `{{` or `}}` for one that is to be shown".to_owned();
    let (name, after) = from.strip_prefix('{').and_then(|from| from.split_once('}')).ok_or_else(unclosed)?;
    parts.push(Part::Group(name.to_owned()));
    Ok(after)
}

fn push_words(parts: &mut Vec<Part>, words: &str) {
    match parts.last_mut() {
        Some(Part::Words(before)) => before.push_str(words),
        Some(Part::Group(_)) | None if words.is_empty() => {}
        Some(Part::Group(_)) | None => parts.push(Part::Words(words.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_words_and_groups() {
        let table = [
            ("ok restart {service} {nonce}", "ok restart <service> <nonce>"),
            ("ok", "ok"),
            ("a {{b}} {c}{d}}}", "a {b} <c><d>}"),
            ("a {{{b}}}", "a {<b>}"),
            ("{{{a}", "{<a>"),
            ("two\nlines", "two\nlines"),
        ];
        for (written, filled) in table {
            let reply = Reply::parse(written).expect(written);
            assert_eq!(reply.fill(|name| format!("<{name}>")), filled, "{written}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_no_reply() {
        let long = "x".repeat(CHARS_MAX + 1);
        let said =
            ["", " {a}", "{a} ok", "ok {a", "ok a}", "ok {a{b}", &long].map(|written| match Reply::parse(written) {
                Ok(reply) => format!("{:?}", reply.groups().collect::<Vec<_>>()),
                Err(problem) => problem,
            });
        insta::assert_snapshot!(said.join("\n"), @r#"
        its reply is empty
        its reply begins with somebody else's words; begin with words of its own, so that nobody can have the bot say whatever they like
        its reply begins with somebody else's words; begin with words of its own, so that nobody can have the bot say whatever they like
        its reply has a brace that has no other; write `{{` or `}}` for one that is to be shown
        its reply has a brace that has no other; write `{{` or `}}` for one that is to be shown
        ["a{b"]
        its reply is longer than 1000 characters
        "#);
    }
}

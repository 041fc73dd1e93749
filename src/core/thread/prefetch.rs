//! Mentions: which known things a message names, and the short, bounded text about them (PRE-*). It only looks up what the
//! thread has already discovered, after the rights were checked; it calls no tool.

use std::fmt::Write;

use crate::resource::{Resource, ResourceId};
use crate::text;

use super::sight::Sight;
use super::{Fact, Found, Knowledge, ResolvedContext};

/// The most characters of a brief; what does not fit is left out and said (PRE-10).
pub const BRIEF_CHARS_MAX: usize = 2_000;
/// The shortest name that is looked for in plain text (C-12).
const NAME_CHARS_MIN: usize = 3;
/// The shortest word that may be the beginning of a name (PRE-05).
const PREFIX_CHARS_MIN: usize = 4;
/// How many plain-text matches are taken (C-12).
const FUZZY_MAX: usize = 5;
/// The mark of a resource mention; a single `@` is a person's (PRE-14).
const MARK: &str = "@@";
/// What may stand after a mention without being part of it.
const AFTER: [char; 6] = ['?', '!', ',', '.', ';', ':'];

/// What a message names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// Written as `@@name`, with the word, and known. Its author meant it: it counts as explicit access (PRE-12).
    Meant(ResourceId, String),
    /// Written as `@@name`, and the name is shared by several.
    Ambiguous(String, Vec<ResourceId>),
    /// Written as `@@name`, and nothing in this thread is called so (PRE-11).
    Unknown(String),
    /// Found in plain text by its name. A hint, no more.
    Fuzzy(ResourceId),
}

/// What a message names, marked mentions first. Plain text is only searched where nothing is marked.
pub fn mentions(message: &str, resolved: &ResolvedContext) -> Vec<Mention> {
    let marked: Vec<Mention> = message
        .split_whitespace()
        .filter_map(|word| word.strip_prefix(MARK))
        .map(|name| name.trim_end_matches(AFTER))
        .filter(|name| !name.is_empty())
        .map(|name| marked(name, resolved))
        .collect();
    if !marked.is_empty() {
        return marked;
    }
    let words: Vec<String> = message.split_whitespace().map(|word| trimmed(word).to_lowercase()).collect();
    let named = resolved.iter().filter(|resource| is_named(&resource.name.to_lowercase(), &words));
    named.take(FUZZY_MAX).map(|resource| Mention::Fuzzy(resource.id.clone())).collect()
}

/// The same, without what whoever asks may not see: to them it is as if nothing were called so (PRE-01).
pub(super) fn seen(found: Vec<Mention>, sight: &Sight<'_>) -> Vec<Mention> {
    let is_seen = |id: &ResourceId| sight.sees_known(id);
    let of_several = |called: String, mut ids: Vec<ResourceId>| {
        ids.retain(is_seen);
        match (ids.pop(), ids.is_empty()) {
            (None, _) => Mention::Unknown(called),
            (Some(only), true) => Mention::Meant(only, called),
            (Some(last), false) => Mention::Ambiguous(called, [ids, vec![last]].concat()),
        }
    };
    let one = |mention| match mention {
        Mention::Meant(id, called) if !is_seen(&id) => Some(Mention::Unknown(called)),
        Mention::Fuzzy(id) if !is_seen(&id) => None,
        Mention::Ambiguous(called, ids) => Some(of_several(called, ids)),
        Mention::Meant(..) | Mention::Fuzzy(_) | Mention::Unknown(_) => Some(mention),
    };
    found.into_iter().filter_map(one).collect()
}

/// A name or an id as a mention; none where it would be read as something else, or wake a whole room.
pub(super) fn written(name: &str) -> Option<String> {
    let is_one_word = !name.is_empty() && !name.contains(char::is_whitespace) && text::escape(name) == name;
    let is_whole = !name.starts_with('@') && !name.ends_with(AFTER);
    let mention = format!("{MARK}{name}");
    (is_one_word && is_whole && !text::mentions_everyone(&mention)).then_some(mention)
}

fn marked(name: &str, resolved: &ResolvedContext) -> Mention {
    match resolved.find(name) {
        Found::One(resource) => Mention::Meant(resource.id.clone(), name.to_owned()),
        Found::Several(several) => Mention::Ambiguous(name.to_owned(), several.iter().map(|r| r.id.clone()).collect()),
        Found::Nothing => Mention::Unknown(name.to_owned()),
    }
}

/// The three rules of plain text (PRE-04 to PRE-06), each at word edges: a word is the name; a word of four characters or
/// more begins the name; the parts of a compound name all stand in the message.
fn is_named(name: &str, words: &[String]) -> bool {
    if name.chars().count() < NAME_CHARS_MIN {
        return false;
    }
    let is_word = words.iter().any(|word| word == name);
    let is_prefix =
        words.iter().any(|word| word.chars().count() >= PREFIX_CHARS_MIN && name.starts_with(word.as_str()));
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    let all_parts = parts.len() > 1 && parts.iter().all(|part| words.iter().any(|word| word == part));
    is_word || is_prefix || all_parts
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// The text about what a message names: for each thing the one right target, the chain it lies in, its path mappings and
/// the facts known about it that may be told (PRE-07 to PRE-11). All of it is escaped; it never suggests a change (C-11).
pub fn brief(
    mentions: &[Mention],
    resolved: &ResolvedContext,
    knowledge: &Knowledge,
    may_tell: impl Fn(&Resource, &Fact) -> bool,
) -> String {
    let mut brief = String::new();
    for mention in mentions {
        let part = match mention {
            Mention::Meant(id, _) | Mention::Fuzzy(id) => match resolved.peek(id) {
                Some(resource) => {
                    about(resource, knowledge.about(&resource.id).filter(|fact| may_tell(resource, fact)))
                }
                None => continue,
            },
            Mention::Ambiguous(name, ids) => ambiguous(name, ids),
            Mention::Unknown(name) => {
                let name = text::one_line(name, 64);
                format!("{name}: nothing in this thread is called so. Ask which machine or service is meant.\n")
            }
        };
        if brief.chars().count().saturating_add(part.chars().count()) > BRIEF_CHARS_MAX {
            brief.push_str("(more was named than fits here)\n");
            break;
        }
        brief.push_str(&part);
    }
    brief
}

fn about<'a>(resource: &Resource, facts: impl Iterator<Item = &'a Fact>) -> String {
    let mut part =
        format!("{} ({})\n  target: {}\n", text::one_line(&resource.name, 64), resource.id.kind(), resource.id);
    let mut line = |text: std::fmt::Arguments<'_>| {
        part.write_fmt(text).expect("invariant: writing into a String cannot fail");
    };
    if !resource.chain.is_empty() {
        let chain: Vec<&str> = resource.chain.iter().map(ResourceId::as_str).collect();
        line(format_args!("  inside: {}\n", chain.join(" inside ")));
    }
    for (outer, inner) in &resource.mounts {
        let (outer, inner) = (text::one_line(outer, 120), text::one_line(inner, 120));
        line(format_args!("  path {inner} in it is {outer} outside; outer paths belong to the outer file system\n"));
    }
    if !resource.about.is_empty() {
        line(format_args!("  {}\n", text::one_line(&resource.about, 120)));
    }
    for fact in facts {
        let attr = fact.key.rsplit(':').next().unwrap_or_default();
        line(format_args!("  {attr}: {}\n", text::one_line(&fact.value, 200)));
    }
    part
}

fn ambiguous(name: &str, ids: &[ResourceId]) -> String {
    let ids: Vec<&str> = ids.iter().map(ResourceId::as_str).collect();
    format!("{}: several are called so: {}. Say which by its id.\n", text::one_line(name, 64), ids.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Mono;
    use crate::testkit::resource;
    use crate::thread::Category;

    fn context() -> ResolvedContext {
        let mut context = ResolvedContext::default();
        let mut homepage = resource("docker_container:media:ab12", "homepage-docker");
        homepage.chain = vec!["lxc:pve:141".parse().expect("an id"), "node:pve".parse().expect("an id")];
        homepage.mounts = vec![("/srv/homepage".to_owned(), "/app/config".to_owned())];
        context.register(homepage, Mono(0));
        context.register(resource("service:web-1:db", "db"), Mono(0));
        context.register(resource("service:web-1:nginx", "nginx"), Mono(0));
        context.register(resource("process:web-1:812-1", "nginx"), Mono(0));
        context
    }

    #[test]
    fn plain_text_is_matched_at_word_edges() {
        let table = [
            ("how is homepage doing", 1),   // rule b: the beginning of the name
            ("restart docker homepage", 1), // rule c: all its parts
            ("how is the home", 1),
            ("my dashboard is slow", 0), // "db" is too short, "dashboard" is another word
            ("the db is slow", 0),
            ("doc", 0), // too short for a prefix
            ("nginx!", 2),
        ];
        for (message, found) in table {
            assert_eq!(mentions(message, &context()).len(), found, "{message}");
        }
    }

    #[test]
    fn marked_mentions_mean_what_they_say() {
        let found = mentions("is @@homepage-docker up, and @@nginx, and @@nowhere? ask @ann", &context());
        assert!(
            matches!(found.as_slice(), [Mention::Meant(..), Mention::Ambiguous(_, two), Mention::Unknown(n)] if two.len() == 2 && n == "nowhere"),
            "{found:?}"
        );
    }

    #[test]
    fn the_brief_shows_the_one_right_target() {
        let mut knowledge = Knowledge::default();
        for (attr, value, call) in
            [("status", "running, cpu:12%", "lab_read.status"), ("owner", "the board", "lab_read.owner")]
        {
            let (key, value) = (format!("docker_container:media:ab12:{attr}"), value.to_owned());
            let call = call.to_owned();
            knowledge.learn(Fact { category: Category::Resource, key, value, call, observed_at: 0, turn: 1 });
        }
        let may_tell = |_: &Resource, fact: &Fact| fact.call != "lab_read.owner";
        let found = mentions("@@homepage-docker @@nginx @@nowhere", &context());
        insta::assert_snapshot!(brief(&found, &context(), &knowledge, may_tell), @r#"
        homepage-docker (docker_container)
          target: docker_container:media:ab12
          inside: lxc:pve:141 inside node:pve
          path /app/config in it is /srv/homepage outside; outer paths belong to the outer file system
          status: running, cpu:12%
        nginx: several are called so: process:web-1:812-1, service:web-1:nginx. Say which by its id.
        nowhere: nothing in this thread is called so. Ask which machine or service is meant.
        "#);
    }

    #[test]
    fn the_brief_is_bounded() {
        let mut context = ResolvedContext::default();
        let mut message = String::new();
        for n in 0..200 {
            context.register(resource(&format!("service:web-1:name{n}"), &format!("name{n}")), Mono(0));
            message.push_str("@@name");
            message.push_str(&n.to_string());
            message.push(' ');
        }
        let text = brief(&mentions(&message, &context), &context, &Knowledge::default(), |_, _| true);
        assert!(text.chars().count() <= BRIEF_CHARS_MAX + 40 && text.ends_with("(more was named than fits here)\n"));
    }
}

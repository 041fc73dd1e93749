//! Finding by name: which of many things a person means, best first, and what they may have meant where nothing fits.
//! Offered, never picked: choosing is the core's business.

use countersign_core::envelope::Suggestion;
use countersign_core::resource::Resource;
use countersign_core::text::mistakes;
use serde_json::json;

use super::answer::Found;

/// The most resources in one answer.
const RESOURCES_MAX: usize = 50;

/// The most similar names where nothing matched (`Details::suggestions` says the same).
const NEAREST_MAX: usize = 5;

/// Longer names are nobody's slip of the keyboard, and comparing them costs the square of their length.
const COMPARED_CHARS_MAX: usize = 64;

/// How well a thing fits a query, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its name, an alias or its id, letter by letter.
    Exact,
    /// A word of its name begins like that.
    WordPrefix,
    /// It stands somewhere in its name, an alias or its description.
    Contains,
}

/// The answer of a resolve action: the things that fit the query, or all of them where there is none. `plural` names them
/// for people.
pub(super) fn answer(query: Option<&str>, things: &[Resource], plural: &str) -> Found {
    let Some(query) = query.map(str::to_lowercase) else {
        let mut all = things.to_vec();
        all.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        return listed(all, &[], plural);
    };
    let mut fitting: Vec<(Fit, &Resource)> =
        things.iter().filter_map(|thing| fit(&query, thing).map(|fit| (fit, thing))).collect();
    fitting.sort_by(|(a_fit, a), (b_fit, b)| (a_fit, &a.name, &a.id).cmp(&(b_fit, &b.name, &b.id)));
    let matches: Vec<Resource> = fitting.into_iter().map(|(_, thing)| thing.clone()).collect();
    let names = things.iter().map(|thing| (thing.name.as_str(), thing.id.as_str()));
    let near = if matches.is_empty() { nearest(&query, names) } else { Vec::new() };
    listed(matches, &near, plural)
}

fn listed(mut resources: Vec<Resource>, nearest: &[Suggestion], plural: &str) -> Found {
    let total = resources.len();
    resources.truncate(RESOURCES_MAX);
    let left_out = if total > RESOURCES_MAX {
        format!("{RESOURCES_MAX} of {total} {plural} are shown; give a longer name to see others")
    } else {
        String::new()
    };
    Found::part(json!({ "resources": resources, "nearest": nearest }), left_out)
}

fn fit(query: &str, thing: &Resource) -> Option<Fit> {
    let name = thing.name.to_lowercase();
    let aliases = || thing.aliases.iter().map(|alias| alias.to_lowercase());
    if name == query || thing.id.as_str().to_lowercase() == query || aliases().any(|alias| alias == query) {
        return Some(Fit::Exact);
    }
    if name.split(|c: char| !c.is_alphanumeric()).any(|word| !word.is_empty() && word.starts_with(query)) {
        return Some(Fit::WordPrefix);
    }
    // A number is a pid or a port: one that merely contains it is not meant.
    if query.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let contains = name.contains(query)
        || thing.about.to_lowercase().contains(query)
        || aliases().any(|alias| alias.contains(query));
    contains.then_some(Fit::Contains)
}

/// The names most like the query, nearest first. Names are (name, id).
pub(super) fn nearest<'a>(query: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Suggestion> {
    let query: String = query.to_lowercase().chars().take(COMPARED_CHARS_MAX).collect();
    let mistakes_max = slips_max(query.chars().count());
    let mut near: Vec<(usize, &str, &str)> = names
        .filter(|(name, _)| name.chars().count() <= COMPARED_CHARS_MAX)
        .map(|(name, id)| (mistakes(&query, &name.to_lowercase()), name, id))
        .filter(|(made, ..)| *made <= mistakes_max)
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name, _)| *name);
    near.truncate(NEAREST_MAX);
    near.into_iter().map(|(_, name, id)| Suggestion { name: name.to_owned(), id: id.to_owned() }).collect()
}

/// How many mistakes a name may hold: of a short word too little would be left.
const fn slips_max(letters: usize) -> usize {
    match letters {
        0..4 => 1,
        4..9 => 2,
        _ => letters / 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing(name: &str, alias: &str, about: &str) -> Resource {
        Resource {
            id: format!("process:web-1:{alias}-7").parse().expect("a sound id"),
            name: name.to_owned(),
            aliases: vec![alias.to_owned()],
            chain: Vec::new(),
            allowed: Vec::new(),
            mounts: Vec::new(),
            about: about.to_owned(),
            attrs: std::collections::BTreeMap::new(),
        }
    }

    fn names(query: &str) -> String {
        let things = vec![
            thing("bash", "10", "bash /opt/nginx-reload.sh"),
            thing("my-nginx-proxy", "11", ""),
            thing("nginx", "812", "nginx: master process"),
            thing("postgres", "8120", "postgres -D /data"),
        ];
        let found = answer(Some(query), &things, "processes");
        let list = |key: &str| {
            let rows = found.data().get(key).and_then(|rows| rows.as_array()).expect("a list");
            rows.iter().filter_map(|row| row.get("name")?.as_str()).collect::<Vec<_>>().join(" ")
        };
        format!("{} | {}", list("resources"), list("nearest"))
    }

    #[test]
    fn the_best_match_comes_first() {
        let queries =
            ["nginx", "NGINX", "812", "81", "post", "master", "process:web-1:812-7", "ngnix", "postgers", "zzz"];
        let answers: Vec<String> = queries.iter().map(|query| format!("{query}: {}", names(query))).collect();
        insta::assert_snapshot!(answers.join("\n"), @"
        nginx: nginx my-nginx-proxy bash | 
        NGINX: nginx my-nginx-proxy bash | 
        812: nginx | 
        81:  | 
        post: postgres | 
        master: nginx | 
        process:web-1:812-7: nginx | 
        ngnix:  | nginx
        postgers:  | postgres
        zzz:  | 
        ");
    }

    #[test]
    fn an_answer_is_bounded_and_says_so() {
        let things: Vec<Resource> = (0..60).map(|n| thing(&format!("worker-{n:02}"), &n.to_string(), "")).collect();
        let found = answer(Some("worker"), &things, "processes");
        assert_eq!(found.data().pointer("/resources").and_then(|r| r.as_array()).map(Vec::len), Some(50));
        assert_eq!(found.left_out(), "50 of 60 processes are shown; give a longer name to see others");
    }
}

//! Where something is: which environment and which labels a resource has, and what holds in a room. All of it comes from the
//! access file. What was found on a resource is looked at beside that, and what it leads to can only restrict
//! (`rights.rs` asks both ways).

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::resource::ResourceId;
use countersign_core::signal::ConversationKind;

use super::account::PLATFORMS;
use super::error::AccessError;
use super::file::{AccessFile, Control, RoomEntry, Word, Written};
use super::people::check_name;

/// What has no environment counts as this.
pub(super) const PRODUCTION: &str = "production";

/// Environments, labels and rooms.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    environments: Vec<Environment>,
    labels: Vec<(Patterns, BTreeSet<String>)>,
    rooms: BTreeMap<(String, String), Known>,
    /// Every action that is done without a countersignature, where it is listed, for the check against the declarations.
    pub(super) alone_given: Vec<(String, AccessError)>,
}

#[derive(Clone, Debug)]
struct Environment {
    name: String,
    fits: Patterns,
    found: Vec<String>,
}

/// Patterns over an id; any one is enough.
#[derive(Clone, Debug)]
struct Patterns {
    ids: Vec<String>,
    hosts: Vec<String>,
    names: Vec<String>,
}

/// What the file says of a room.
#[derive(Clone, Debug, Default)]
struct Known {
    control: Option<Control>,
    kind: Option<ConversationKind>,
    environment: Option<String>,
    alone: Alone,
}

/// What is done without a countersignature in a room.
#[derive(Clone, Debug, Default)]
struct Alone {
    actions: BTreeSet<String>,
    /// None is every environment but production.
    environments: Option<BTreeSet<String>>,
}

/// What holds in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) control: Control,
    pub(super) kind: ConversationKind,
    pub(super) environment: String,
}

impl Places {
    pub(super) fn new(written: &Written<'_>, file: &AccessFile) -> Result<Self, AccessError> {
        let mut places = Self::default();
        for entry in &file.environments {
            check_name(written, &entry.name)?;
            let fits = Patterns::new([&entry.ids, &entry.hosts, &entry.names]);
            if fits.is_empty() && entry.labels.is_empty() {
                let problem =
                    format!("environment `{}` has no pattern; give it ids, hosts or names", entry.name.get_ref());
                return Err(written.wrong(&entry.name, problem));
            }
            places.environments.push(Environment {
                name: entry.name.get_ref().clone(),
                fits,
                found: texts(&entry.labels),
            });
        }
        for entry in &file.resources {
            let fits = Patterns::new([&entry.ids, &entry.hosts, &entry.names]);
            if let Some(label) = entry.labels.first().filter(|_| fits.is_empty()) {
                return Err(written.wrong(label, "these labels are given to nothing; give ids, hosts or names"));
            }
            places.labels.push((fits, texts(&entry.labels).into_iter().collect()));
        }
        places.add_rooms(written, file)?;
        Ok(places)
    }

    fn add_rooms(&mut self, written: &Written<'_>, file: &AccessFile) -> Result<(), AccessError> {
        for entry in &file.rooms {
            let platform = entry.platform.get_ref().as_str();
            if !PLATFORMS.contains(&platform) {
                // A room that no message comes from would restrict nothing, and nobody would notice.
                let problem = format!("`{platform}` is no platform; write one of {}", PLATFORMS.join(", "));
                return Err(written.wrong(&entry.platform, problem));
            }
            self.check_environments(written, entry.environment.as_ref())?;
            let environment = entry.environment.as_ref().map(|word| word.get_ref().clone());
            let alone = self.alone(written, entry)?;
            let room = Known { control: entry.control, kind: entry.kind, environment, alone };
            let key = (entry.platform.get_ref().clone(), entry.id.get_ref().clone());
            if self.rooms.insert(key, room).is_some() {
                return Err(written.wrong(&entry.id, "this room stands here twice; keep one entry"));
            }
        }
        Ok(())
    }

    /// Every room that the file names: its platform, its id, and its kind where that is said.
    pub(super) fn rooms(&self) -> impl Iterator<Item = (&str, &str, ConversationKind)> {
        let kind = |known: &Known| known.kind.unwrap_or(ConversationKind::Group);
        self.rooms.iter().map(move |((platform, id), known)| (platform.as_str(), id.as_str(), kind(known)))
    }

    /// Returns whether the file has an entry for this room.
    pub(super) fn names_room(&self, platform: &str, id: &str) -> bool {
        self.rooms.contains_key(&(platform.to_owned(), id.to_owned()))
    }

    fn check_environments<'w>(
        &self,
        written: &Written<'_>,
        words: impl IntoIterator<Item = &'w Word>,
    ) -> Result<(), AccessError> {
        let Some(word) = words.into_iter().find(|word| !self.knows(word.get_ref())) else { return Ok(()) };
        let names: Vec<&str> = self.environments().into_iter().collect();
        let problem = format!("`{}` is no environment of this file ({})", word.get_ref(), names.join(", "));
        Err(written.wrong(word, problem))
    }

    /// Which actions there are, and how much they can hurt, is checked where the declarations are at hand
    /// (`autonomous.rs`).
    fn alone(&mut self, written: &Written<'_>, entry: &RoomEntry) -> Result<Alone, AccessError> {
        let environments = entry.autonomous_environments.as_ref();
        let mut listed = entry.autonomous.iter().chain(environments.into_iter().flatten());
        if let Some(word) = listed.next().filter(|_| entry.control != Some(Control::Autonomous)) {
            let problem = "only a room with control = \"autonomous\" lists what is done without a countersignature";
            return Err(written.wrong(word, problem));
        }
        self.check_environments(written, environments.into_iter().flatten())?;
        let at = |word: &Word| (word.get_ref().clone(), written.wrong(word, String::new()));
        self.alone_given.extend(entry.autonomous.iter().map(at));
        let environments = environments.map(|words| texts(words).into_iter().collect());
        Ok(Alone { actions: texts(&entry.autonomous).into_iter().collect(), environments })
    }

    /// Whether an action is done without a countersignature in this room, on what is in this environment.
    pub(super) fn is_alone(&self, platform: &str, id: &str, call: &str, environment: &str) -> bool {
        let Some(known) = self.rooms.get(&(platform.to_owned(), id.to_owned())) else { return false };
        let there = match &known.alone.environments {
            Some(environments) => environments.contains(environment),
            None => environment != PRODUCTION,
        };
        known.alone.actions.contains(call) && there
    }

    /// The names of all environments.
    pub(super) fn environments(&self) -> BTreeSet<&str> {
        self.environments.iter().map(|one| one.name.as_str()).chain([PRODUCTION]).collect()
    }

    /// Returns whether the file names any environment of the team's own.
    pub(super) fn names_environments(&self) -> bool {
        !self.environments.is_empty()
    }

    /// Whether there is such an environment.
    pub(super) fn knows(&self, environment: &str) -> bool {
        self.environments().contains(environment)
    }

    /// The environment of a resource, by its id and by what was found on it: the first entry that fits.
    pub(super) fn environment(&self, id: &ResourceId, found: &[String]) -> &str {
        let by_label =
            |one: &Environment| one.found.iter().any(|pattern| found.iter().any(|label| fits(pattern, label)));
        let first = self.environments.iter().find(|one| one.fits.fit(id) || by_label(one));
        first.map_or(PRODUCTION, |one| one.name.as_str())
    }

    /// The labels that the team gives to a resource.
    pub(super) fn labels(&self, id: &ResourceId) -> BTreeSet<String> {
        let fitting = self.labels.iter().filter(|(patterns, _)| patterns.fit(id));
        fitting.flat_map(|(_, labels)| labels.iter().cloned()).collect()
    }

    /// What holds in a room. One that is not in the file is controlled, and what is asked there counts as production.
    pub(super) fn room(&self, platform: &str, id: &str, kind: ConversationKind) -> Room {
        let known = self.rooms.get(&(platform.to_owned(), id.to_owned())).cloned().unwrap_or_default();
        let kind = known.kind.unwrap_or(kind);
        let environment = known.environment.unwrap_or_else(|| PRODUCTION.to_owned());
        Room { control: known.control.unwrap_or_else(|| control_of(kind)), kind, environment }
    }
}

/// How much may be done from a room of which the file says nothing: where many read, nothing is changed (CARD-07).
const fn control_of(kind: ConversationKind) -> Control {
    match kind {
        ConversationKind::Direct | ConversationKind::Group => Control::Controlled,
        ConversationKind::Channel | ConversationKind::Unknown => Control::ReadOnly,
    }
}

impl Patterns {
    fn new([ids, hosts, names]: [&Vec<Word>; 3]) -> Self {
        Self { ids: texts(ids), hosts: texts(hosts), names: texts(names) }
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.hosts.is_empty() && self.names.is_empty()
    }

    fn fit(&self, id: &ResourceId) -> bool {
        let host = if id.kind() == "host" { Some(id.uid()) } else { id.scope() };
        let any = |patterns: &[String], text: &str| patterns.iter().any(|pattern| fits(pattern, text));
        any(&self.ids, id.as_str()) || host.is_some_and(|host| any(&self.hosts, host)) || any(&self.names, id.uid())
    }
}

fn texts(words: &[Word]) -> Vec<String> {
    words.iter().map(|word| word.get_ref().clone()).collect()
}

/// Whether a text fits a pattern, in which `*` is any run of characters and everything else is itself.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = text.get(at + part.len()..).unwrap_or_default();
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_is_any_run_of_characters() {
        let rows = [
            ("host:web-1", "host:web-1", true),
            ("host:web-1", "host:web-10", false),
            ("host:web-*", "host:web-", true),
            ("*:web-*:nginx", "service:web-1:nginx", true),
            ("*:web-*:nginx", "service:db-1:nginx", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("**b", "ab", true),
            ("", "x", false),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The plain definition, slow and obviously right.
    fn plainly(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => (0..=text.len()).any(|skip| plainly(rest, &text[skip..])),
            (Some((a, pattern)), Some((b, text))) => a == b && plainly(pattern, text),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_fit_as_they_are_defined(pattern in "[ab*]{0,6}", text in "[ab]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &text), plainly(&chars(&pattern), &chars(&text)));
        }
    }

    #[test]
    fn the_environment_comes_from_the_file_and_else_it_is_production() {
        let text = "[[environments]]\nname = \"staging\"\nhosts = [\"stage-*\"]\nlabels = [\"env=staging\"]\n\
            [[environments]]\nname = \"lab\"\nids = [\"host:lab\"]\nnames = [\"*-lab\"]\n";
        let (written, file) = Written::parse("access.toml", text).expect("it is sound");
        let places = Places::new(&written, &file).expect("it is sound");
        let rows = [
            ("host:stage-1", "staging"),
            ("service:stage-1:nginx", "staging"),
            ("file:stage-1:/etc/x", "staging"),
            ("host:lab", "lab"),
            ("service:lab:x", "production"),
            ("service:web-1:nginx-lab", "lab"),
            ("host:web-1", "production"),
            ("host:Stage-1", "production"),
        ];
        for (id, expected) in rows {
            let id: ResourceId = id.parse().expect("an id");
            assert_eq!(places.environment(&id, &[]), expected, "{id}");
        }
    }
}

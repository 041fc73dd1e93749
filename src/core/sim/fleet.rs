//! The machines of a simulation: of every kind of thing that the declared tools know a few, which appear when they are asked
//! for, change, drift and vanish. What a tool would say of them is said here, with the worst that a log can hold in it. Which
//! call is answered, and how badly, is not decided here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Dice;
use super::hostile::{BAIT, SECRET};
use crate::approval::Plan;
use crate::gate::ToolCall;
use crate::resource::{Resource, ResourceId};
use crate::tool::{ActionSpec, ChangeSpec, Registry};

/// The host that everything lives on, and the place inside of it.
const HOST: &str = "alpha";

/// How many things of a kind there are at most.
const KIND_MAX: usize = 6;

/// The longest name that a thing appears under.
const NAME_CHARS_MAX: usize = 40;

#[derive(Clone, Debug)]
struct Thing {
    resource: Resource,
    present: bool,
}

/// Every thing that there is, and was.
#[derive(Clone, Debug)]
pub(super) struct Fleet {
    /// Which attributes a kind of thing has: what its changes bind and look at.
    attrs: BTreeMap<String, Vec<String>>,
    things: BTreeMap<ResourceId, Thing>,
    /// Counts changes, so that what changed differs from all before.
    changes: u64,
}

impl Fleet {
    /// One thing of each kind that the tools know.
    pub(super) fn new(registry: &Registry) -> Self {
        let mut attrs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let specs = registry.tools().flat_map(|tool| tool.actions.values());
        for spec in specs {
            if let Some(kind) = spec.target.as_ref().or(spec.resolves.as_ref()).filter(|kind| *kind != "any") {
                attrs.entry(kind.clone()).or_default().extend(spec.change.iter().flat_map(names));
            }
        }
        let mut fleet = Self { attrs, things: BTreeMap::new(), changes: 0 };
        let kinds: Vec<String> = fleet.attrs.keys().cloned().collect();
        for kind in kinds {
            fleet.appear(&kind, "one");
        }
        fleet
    }

    /// The ids of everything that there is.
    pub(super) fn ids(&self) -> Vec<ResourceId> {
        self.things.values().filter(|thing| thing.present).map(|thing| thing.resource.id.clone()).collect()
    }

    fn appear(&mut self, kind: &str, name: &str) -> Option<ResourceId> {
        let host: ResourceId = format!("host:{HOST}").parse().ok()?;
        let (id, chain) = if kind == "host" {
            (ResourceId::global("host", if name == "one" { HOST } else { name }).ok()?, Vec::new())
        } else {
            (ResourceId::scoped(kind, HOST, &ResourceId::escape(name)).ok()?, vec![host])
        };
        let attrs = self.attrs.get(kind).into_iter().flatten().map(|attr| (attr.clone(), format!("{attr} 0")));
        let resource = Resource {
            id: id.clone(),
            name: if kind == "host" { id.uid().to_owned() } else { name.to_owned() },
            aliases: Vec::new(),
            chain,
            allowed: Vec::new(),
            mounts: Vec::new(),
            about: BAIT.first().copied().unwrap_or_default().to_owned(),
            attrs: attrs.collect(),
        };
        self.things.insert(id.clone(), Thing { resource, present: true });
        Some(id)
    }

    /// What a discovery finds: what is called so, or has this id; all of the kind where nothing is asked for. Whoever asks by
    /// a name finds something most of the time, and now and then two.
    fn found(&mut self, spec: &ActionSpec, query: Option<&str>, dice: &mut Dice) -> Vec<Resource> {
        let kind = spec.resolves.clone().unwrap_or_default();
        let is_kind = |id: &ResourceId| kind == "any" || id.kind() == kind;
        if let Some(query) = query {
            let known =
                self.things.values().any(|thing| thing.resource.name == query || thing.resource.id.as_str() == query);
            let few = self.things.keys().filter(|id| is_kind(id)).count() < KIND_MAX;
            let is_name = !query.contains(':') && !query.is_empty() && query.chars().count() <= NAME_CHARS_MAX;
            if !known && few && is_name && kind != "any" && !dice.one_in(4) {
                self.appear(&kind, query);
            }
        }
        let twins = dice.one_in(12);
        let fits = |thing: &&Thing| {
            let resource = &thing.resource;
            let named = query.is_none_or(|query| resource.name == query || resource.id.as_str() == query);
            thing.present
                && is_kind(&resource.id)
                && (named || (twins && query.is_some_and(|query| !query.contains(':'))))
        };
        self.things.values().filter(fits).map(|thing| thing.resource.clone()).collect()
    }

    /// What a call of a discovery or of a read says.
    pub(super) fn answer(&mut self, call: &ToolCall, spec: &ActionSpec, dice: &mut Dice) -> Value {
        if spec.resolves.is_some() {
            let query = call.args.get("query").and_then(Value::as_str);
            return json!({ "resources": self.found(spec, query, dice) });
        }
        self.reading(call, dice)
    }

    fn reading(&self, call: &ToolCall, dice: &mut Dice) -> Value {
        let thing = call.target.as_ref().and_then(|target| self.things.get(target)).filter(|thing| thing.present);
        let mut data = Map::new();
        data.insert("present".to_owned(), Value::from(thing.is_some()));
        for (path, value) in thing.iter().flat_map(|thing| &thing.resource.attrs) {
            put(&mut data, path, Value::from(value.as_str()));
        }
        if let Some(thing) = thing {
            data.insert("name".to_owned(), Value::from(thing.resource.name.as_str()));
        }
        let after = format!("after {}", Value::Object(call.args.clone()));
        data.insert("after".to_owned(), Value::from(after));
        data.insert("preview".to_owned(), Value::from("- before\n+ after"));
        let mut lines: Vec<&str> = (0..dice.below(4)).filter_map(|_| dice.any(&BAIT).copied()).collect();
        if dice.one_in(4) {
            lines.push(SECRET);
        }
        data.insert("text".to_owned(), Value::from(lines.join("\n")));
        data.insert("lines".to_owned(), Value::from(lines));
        Value::Object(data)
    }

    /// A change takes effect: as it was meant most of the time.
    pub(super) fn act(&mut self, plan: &Plan, dice: &mut Dice) {
        self.changes = self.changes.wrapping_add(1);
        let changes = self.changes;
        let Some(thing) = self.things.get_mut(&plan.target) else { return };
        match dice.below(16) {
            0 => thing.present = false,
            1 => {}
            _ if plan.expect.absent => thing.present = false,
            _ => {
                for (path, value) in &plan.expect.equals {
                    thing.resource.attrs.insert(path.clone(), value.clone());
                }
                for path in &plan.expect.changed {
                    thing.resource.attrs.insert(path.clone(), format!("{path} {changes}"));
                }
            }
        }
    }

    /// Somebody else does something to a thing.
    pub(super) fn drift(&mut self, dice: &mut Dice) {
        self.changes = self.changes.wrapping_add(1);
        let ids: Vec<ResourceId> = self.things.keys().cloned().collect();
        let Some(thing) = dice.any(&ids).and_then(|id| self.things.get_mut(id)) else { return };
        if dice.one_in(3) && thing.resource.id.kind() != "host" {
            thing.present = !thing.present;
        } else if let Some(value) = thing.resource.attrs.values_mut().next() {
            *value = format!("drifted {}", self.changes);
        }
    }
}

/// Which attributes a change needs of its target: what it binds, what it looks at, and what its words name.
fn names(change: &ChangeSpec) -> Vec<String> {
    let expect = &change.expect;
    let named = expect.equals.values().chain([&change.title]).flat_map(|text| templates(text, "target."));
    let seen = expect.equals.keys().chain(&expect.changed).chain(&change.precondition).cloned();
    let own = |name: &String| !["id", "name"].contains(&name.as_str());
    let all: BTreeSet<String> = seen.chain(named).filter(own).collect();
    all.into_iter().collect()
}

/// The names after this prefix in the braces of a template.
fn templates(text: &str, prefix: &str) -> Vec<String> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split(['}', '|']).next());
    inside.filter_map(|name| name.strip_prefix(prefix)).map(str::to_owned).collect()
}

/// Puts a value at a dotted path.
fn put(data: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            data.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = data.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

//! A route as a procedure: resolve the target, then act. Each step is a `Proposal` that meets every gate, as a model's
//! would (DESIGN.md section 3). It proposes; it runs nothing and knows no tool by name.

use serde_json::{Map, Value};

use crate::env::Env;
use crate::proposal::Proposal;
use crate::resource::{Resource, ResourceId};

use super::{Entity, ResolvedContext};

/// The most choices of a question: what a person can still tell apart on a phone.
pub(super) const CHOICES_MAX: usize = 9;

/// Which thing the procedure is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The only one of its kind: this machine. Or nothing at all, for a discovery.
    TheOnly,
    /// What somebody called it.
    Named(String),
    /// A thing that was spoken of or picked. It is discovered again all the same (C-03).
    Known(Entity),
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Discover the target.
    Find,
    /// Act on it.
    Act(Option<ResourceId>),
}

/// One procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Procedure {
    /// The intent's name; a label of metrics.
    pub intent: String,
    /// The action's tool.
    pub tool: String,
    /// The action.
    pub action: String,
    /// Its arguments, uncast.
    pub args: Map<String, Value>,
    /// Its target.
    pub wanted: Wanted,
    /// How far it has come.
    pub stage: Stage,
    /// What "it" became, to be said before the answer (PRE-13).
    pub said_it: Option<String>,
}

/// What a discovery comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This one.
    One(ResourceId),
    /// One of these.
    Ask(Vec<Resource>),
    /// None.
    Missing,
}

impl Procedure {
    /// A procedure that begins where it can: a discovery and a call on the machine that is already known need no
    /// resolving first.
    pub(crate) fn begin(
        intent: &str,
        call: (&str, &str),
        args: Map<String, Value>,
        wanted: Wanted,
        (env, resolved): (&Env<'_>, &ResolvedContext),
    ) -> Self {
        let (tool, action) = call;
        let spec = env.registry.action(tool, action);
        let kind = spec.and_then(|spec| spec.target.as_deref());
        let stage = match (kind, &wanted) {
            (None, _) => Stage::Act(None),
            (Some(kind), Wanted::TheOnly) => only_one(resolved, kind).map_or(Stage::Find, |id| Stage::Act(Some(id))),
            (Some(_), Wanted::Named(_) | Wanted::Known(_)) => Stage::Find,
        };
        let (intent, tool, action) = (intent.to_owned(), tool.to_owned(), action.to_owned());
        Self { intent, tool, action, args, wanted, stage, said_it: None }
    }

    /// The next thing to ask for.
    pub(crate) fn proposal(&self, env: &Env<'_>, because: &str) -> Proposal {
        let resolver = env.registry.action(&self.tool, &self.action).and_then(|spec| spec.resolve.as_deref());
        match (&self.stage, resolver.and_then(|call| call.split_once('.'))) {
            (Stage::Find, Some((tool, action))) => Proposal {
                tool: tool.to_owned(),
                action: action.to_owned(),
                target: None,
                args: self.query().map(|query| ("query".to_owned(), Value::from(query))).into_iter().collect(),
                because: because.to_owned(),
            },
            // Without a resolver there is nothing to find with; the gates will say so.
            (Stage::Find, None) => self.act(None, because),
            (Stage::Act(target), _) => self.act(target.as_ref(), because),
        }
    }

    /// Which of the things that a discovery found is meant. Exact names win; several equals are asked about and never
    /// guessed from (STR-11, ENT-06).
    pub(crate) fn choose(&self, found: &[Resource]) -> Choice {
        match &self.wanted {
            Wanted::Known(entity) => match found.iter().find(|resource| resource.id == entity.id) {
                Some(same) => Choice::One(same.id.clone()),
                None => Choice::Missing,
            },
            Wanted::Named(name) => {
                let exact: Vec<Resource> =
                    found.iter().filter(|resource| answers_to(resource, name)).cloned().collect();
                one_of(if exact.is_empty() { found.to_vec() } else { exact })
            }
            Wanted::TheOnly => one_of(found.to_vec()),
        }
    }

    /// Returns whether the requester named this thing: by its name, an alias, its id, or the beginning of a word of its name. Words of a
    /// description name nothing.
    pub(crate) fn names(&self, thing: &Resource) -> bool {
        match &self.wanted {
            Wanted::Named(name) => answers_to(thing, name) || begins_a_word(&thing.name, name),
            Wanted::Known(_) | Wanted::TheOnly => true,
        }
    }

    /// Returns whether the requester gave the whole name of this thing, an alias or its id.
    pub(crate) fn names_exactly(&self, thing: &Resource) -> bool {
        match &self.wanted {
            Wanted::Named(name) => answers_to(thing, name),
            Wanted::Known(_) | Wanted::TheOnly => true,
        }
    }

    /// Whether it is about a thing that was spoken of or picked, and that is among these.
    pub(crate) fn is_found_in(&self, found: &[Resource]) -> bool {
        match &self.wanted {
            Wanted::Known(entity) => found.iter().any(|resource| resource.id == entity.id),
            Wanted::Named(_) | Wanted::TheOnly => false,
        }
    }

    /// What it is about, in words.
    pub(crate) fn wanted_name(&self) -> &str {
        match &self.wanted {
            Wanted::TheOnly => "this machine",
            Wanted::Named(name) => name,
            Wanted::Known(entity) => &entity.name,
        }
    }

    fn query(&self) -> Option<String> {
        match &self.wanted {
            Wanted::TheOnly => None,
            Wanted::Named(name) => Some(name.clone()),
            Wanted::Known(entity) => Some(entity.id.to_string()),
        }
    }

    fn act(&self, target: Option<&ResourceId>, because: &str) -> Proposal {
        Proposal {
            tool: self.tool.clone(),
            action: self.action.clone(),
            target: target.map(ToString::to_string),
            args: self.args.clone(),
            because: because.to_owned(),
        }
    }
}

fn only_one(resolved: &ResolvedContext, kind: &str) -> Option<ResourceId> {
    let mut of_kind = resolved.iter().filter(|resource| resource.id.kind() == kind);
    let only = of_kind.next()?;
    of_kind.next().is_none().then(|| only.id.clone())
}

fn one_of(mut found: Vec<Resource>) -> Choice {
    match found.len() {
        0 => Choice::Missing,
        1 => found.pop().map_or(Choice::Missing, |only| Choice::One(only.id)),
        _ => Choice::Ask(found),
    }
}

/// The least characters that name a thing by the beginning of a word of its name.
const BEGINNING_CHARS_MIN: usize = 3;

fn begins_a_word(known: &str, typed: &str) -> bool {
    let (known, typed) = (known.to_lowercase(), typed.to_lowercase());
    let mut words = known.split(|c: char| !c.is_alphanumeric());
    typed.chars().count() >= BEGINNING_CHARS_MIN
        && (known.starts_with(&typed) || words.any(|word| word.starts_with(&typed)))
}

fn answers_to(resource: &Resource, name: &str) -> bool {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    same(&resource.name) || same(resource.id.as_str()) || resource.aliases.iter().any(|alias| same(alias))
}

//! What one thread has discovered: the only source of targets (RES-01). In memory only: the type has no `Serialize`, no
//! table, and is gone after a restart (RES-03, invariant 1). Which call may use an entry is the gates' business.

use std::collections::{BTreeMap, BTreeSet};

use crate::resource::{Resource, ResourceId};
use crate::signal::{ActorId, Mono};

/// How long an entry lives after it was last used (RES-09).
pub const TTL_MS: u64 = 45 * 60 * 1000;

/// How many entries a thread keeps; the least recently used make room (RES-10).
pub const ENTRIES_MAX: usize = 500;

/// What a name or an alias leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// To nothing.
    Nothing,
    /// To one thing.
    One(&'a Resource),
    /// To several: somebody has to say which (RES-04).
    Several(Vec<&'a Resource>),
}

/// Who meant a thing, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explicit<'a> {
    /// When.
    pub at: Mono,
    /// Who: in a shared thread the next command may be somebody else's (RTE-08).
    pub by: &'a ActorId,
}

/// What one thread has discovered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedContext {
    entries: BTreeMap<ResourceId, Resource>,
    names: BTreeMap<String, BTreeSet<ResourceId>>,
    /// Every use, of any kind: for the cache only. Never read by the routing check.
    last_accessed: BTreeMap<ResourceId, Mono>,
    /// Intent only, for the routing check. Never moved by the cache (RES-12).
    /// Each person's own: what one means takes nothing away from what another meant.
    explicitly_accessed: BTreeMap<ResourceId, BTreeMap<ActorId, Mono>>,
    pinned: BTreeSet<ResourceId>,
    /// What was learned, used or lost since the step began.
    moved: BTreeSet<ResourceId>,
}

impl ResolvedContext {
    /// Adds what a discovery found. Does not mark it as meant: bulk results must not (RES-14). Nor does it take that mark away:
    /// what somebody meant stays meant, however often it is found again.
    pub fn register(&mut self, resource: Resource, now: Mono) {
        let meant = self.explicitly_accessed.get(&resource.id).cloned();
        self.drop_entry(&resource.id.clone());
        self.explicitly_accessed.extend(meant.map(|meant| (resource.id.clone(), meant)));
        self.moved.insert(resource.id.clone());
        for name in names_of(&resource) {
            self.names.entry(name).or_default().insert(resource.id.clone());
        }
        self.last_accessed.insert(resource.id.clone(), now);
        self.entries.insert(resource.id.clone(), resource);
        self.evict();
    }

    /// Adds what a get of one single thing found, and marks it as meant by this actor (RES-13, RES-15).
    pub fn register_explicit(&mut self, resource: Resource, by: &ActorId, now: Mono) {
        let id = resource.id.clone();
        self.register(resource, now);
        self.mark_explicit(&id, by, now);
    }

    /// Somebody meant this thing: by a mention, by a single get, by a choice. The one setter of that stamp (RES-12).
    pub fn mark_explicit(&mut self, id: &ResourceId, by: &ActorId, now: Mono) {
        if self.entries.contains_key(id) {
            self.explicitly_accessed.entry(id.clone()).or_default().insert(by.clone(), now);
        }
    }

    /// The entry, without touching it: what gates use.
    pub fn peek(&self, id: &ResourceId) -> Option<&Resource> {
        self.entries.get(id)
    }

    /// What its discovery said about it, as `name=value`: for rights, which it may restrict and never widen.
    pub fn labels(&self, id: &ResourceId) -> Vec<String> {
        self.peek(id).map(Resource::labels).unwrap_or_default()
    }

    /// Notes that the entry was used.
    pub fn touch(&mut self, id: &ResourceId, now: Mono) {
        if self.entries.contains_key(id) {
            self.last_accessed.insert(id.clone(), now);
            self.moved.insert(id.clone());
        }
    }

    /// When the entry was last used, in any way; none where it is not known, or has grown old.
    pub(super) fn used(&self, id: &ResourceId, now: Mono) -> Option<Mono> {
        self.last_accessed.get(id).copied().filter(|at| now.since(*at) <= TTL_MS)
    }

    /// A step begins: what is old is forgotten, and what moved is counted from here.
    pub(crate) fn begin_step(&mut self, now: Mono) {
        self.expire(now);
        self.moved.clear();
    }

    /// What this step learned or used, and, without a record, what it lost. What only made room is not lost.
    pub(super) fn moved(&self) -> impl Iterator<Item = (&ResourceId, Option<&Resource>)> {
        self.moved.iter().map(|id| (id, self.entries.get(id)))
    }

    /// Whether this step learned, used or lost anything.
    pub fn has_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// What a name, an alias or a canonical id leads to. Case does not matter for names.
    pub fn find(&self, name: &str) -> Found<'_> {
        if let Some(resource) = name.parse().ok().and_then(|id| self.entries.get(&id)) {
            return Found::One(resource);
        }
        let ids = self.names.get(&name.to_lowercase());
        let mut found: Vec<&Resource> = ids.into_iter().flatten().filter_map(|id| self.entries.get(id)).collect();
        match (found.pop(), found.is_empty()) {
            (None, _) => Found::Nothing,
            (Some(only), true) => Found::One(only),
            (Some(last), false) => {
                found.push(last);
                Found::Several(found)
            }
        }
    }

    /// Everything known, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.entries.values()
    }

    /// How many things are known.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// When this person last meant this thing.
    pub fn meant_at(&self, id: &ResourceId, by: &ActorId) -> Option<Mono> {
        self.explicitly_accessed.get(id)?.get(by).copied()
    }

    /// What each person meant within the last `window_ms`, by the explicit stamp alone (RES-16, RTE-05).
    pub fn recently_meant(&self, window_ms: u64, now: Mono) -> impl Iterator<Item = (&Resource, Explicit<'_>)> {
        let known = self.explicitly_accessed.iter().filter_map(|(id, by)| Some((self.entries.get(id)?, by)));
        let each = known.flat_map(|(resource, by)| by.iter().map(move |(by, at)| (resource, Explicit { at: *at, by })));
        each.filter(move |(_, explicit)| now.since(explicit.at) <= window_ms)
    }

    /// Protects an entry from eviction and age (RES-11). False where it is not known.
    pub fn pin(&mut self, id: &ResourceId) -> bool {
        let known = self.entries.contains_key(id);
        if known {
            self.pinned.insert(id.clone());
        }
        known
    }

    /// Takes a pin away. Returns whether there was one.
    pub fn unpin(&mut self, id: &ResourceId) -> bool {
        self.pinned.remove(id)
    }

    /// Forgets one thing: it is gone, or has become another.
    pub fn lose(&mut self, id: &ResourceId) {
        self.drop_entry(id);
        self.moved.insert(id.clone());
    }

    fn drop_entry(&mut self, id: &ResourceId) {
        let Some(resource) = self.entries.remove(id) else {
            return;
        };
        for name in names_of(&resource) {
            if let Some(ids) = self.names.get_mut(&name) {
                ids.remove(id);
                if ids.is_empty() {
                    self.names.remove(&name);
                }
            }
        }
        self.last_accessed.remove(id);
        self.explicitly_accessed.remove(id);
    }

    /// Forgets what was not used for [`TTL_MS`], unless it is pinned.
    pub fn expire(&mut self, now: Mono) {
        let old: Vec<ResourceId> = self
            .last_accessed
            .iter()
            .filter(|(id, at)| now.since(**at) > TTL_MS && !self.pinned.contains(*id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in old {
            self.drop_entry(&id);
        }
    }

    /// Forgets everything, or everything that is not pinned; the target of an open write stays, so that it can still be
    /// verified. Returns whether something is left. Private to the thread: context and workflow are reset together or not
    /// at all (RES-17).
    pub(super) fn clear(&mut self, keep_pinned: bool, open: Option<&ResourceId>) -> bool {
        let mut kept = if keep_pinned { self.pinned.clone() } else { BTreeSet::new() };
        kept.extend(open.cloned());
        let gone: Vec<ResourceId> = self.entries.keys().filter(|id| !kept.contains(*id)).cloned().collect();
        for id in gone {
            self.drop_entry(&id);
        }
        self.pinned.retain(|id| kept.contains(id));
        !self.entries.is_empty()
    }

    fn evict(&mut self) {
        while self.entries.len() > ENTRIES_MAX {
            let oldest =
                self.last_accessed.iter().filter(|(id, _)| !self.pinned.contains(*id)).min_by_key(|(_, at)| **at);
            // Where everything is pinned the cap still holds: the newest entry goes.
            let victim =
                oldest.or_else(|| self.last_accessed.iter().max_by_key(|(_, at)| **at)).map(|(id, _)| id.clone());
            let Some(victim) = victim else {
                return;
            };
            self.pinned.remove(&victim);
            self.drop_entry(&victim);
            self.moved.remove(&victim);
        }
    }
}

fn names_of(resource: &Resource) -> impl Iterator<Item = String> {
    std::iter::once(&resource.name).chain(&resource.aliases).map(|name| name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::resource;

    fn bob() -> ActorId {
        ActorId::new("uid:1000")
    }

    fn id(text: &str) -> ResourceId {
        text.parse().expect("a canonical id")
    }

    #[test]
    fn a_name_an_alias_and_an_id_lead_to_the_same_thing() {
        let mut context = ResolvedContext::default();
        let mut nginx = resource("process:web-1:812-5", "nginx");
        nginx.aliases.push("812".to_owned());
        context.register(nginx.clone(), Mono(0));
        for name in ["nginx", "NGINX", "812", "process:web-1:812-5"] {
            assert_eq!(context.find(name), Found::One(&nginx), "{name}");
        }
        assert_eq!(context.find("81"), Found::Nothing);
        context.register(resource("process:web-1:813-5", "nginx"), Mono(0));
        assert!(matches!(context.find("nginx"), Found::Several(both) if both.len() == 2));
        context.lose(&id("process:web-1:812-5"));
        assert!(matches!(context.find("nginx"), Found::One(_)));
        assert_eq!(context.find("812"), Found::Nothing, "its names go with it");
    }

    #[test]
    fn entries_age_by_use_and_pins_do_not() {
        let mut context = ResolvedContext::default();
        for name in ["used", "idle", "pinned"] {
            context.register(resource(&format!("service:web-1:{name}"), name), Mono(0));
        }
        assert!(context.pin(&id("service:web-1:pinned")));
        context.touch(&id("service:web-1:used"), Mono(TTL_MS));
        context.expire(Mono(TTL_MS));
        assert_eq!(context.len(), 3, "exactly the time to live is still alive");
        context.expire(Mono(TTL_MS + 1));
        let left: Vec<&str> = context.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(left, ["pinned", "used"]);
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut context = ResolvedContext::default();
        let count = u64::try_from(ENTRIES_MAX).expect("500 fits");
        for n in 0..count {
            context.register(resource(&format!("service:web-1:s{n}"), "s"), Mono(n));
        }
        context.touch(&id("service:web-1:s0"), Mono(count));
        assert!(context.pin(&id("service:web-1:s1")));
        context.register(resource("service:web-1:new", "new"), Mono(count + 1));
        assert_eq!(context.len(), ENTRIES_MAX);
        assert!(context.peek(&id("service:web-1:s0")).is_some(), "it was just used");
        assert!(context.peek(&id("service:web-1:s1")).is_some(), "it is pinned");
        assert!(context.peek(&id("service:web-1:s2")).is_none(), "it was the oldest");
    }

    #[test]
    fn only_intent_moves_the_explicit_stamp() {
        // RES-12, RES-14, FM-6, TST-05, TST-06.
        let mut context = ResolvedContext::default();
        for n in 0..50 {
            context.register(resource(&format!("lxc:pve:{n}"), "c"), Mono(1));
        }
        context.touch(&id("lxc:pve:7"), Mono(2));
        assert_eq!(
            context.recently_meant(u64::MAX, Mono(3)).count(),
            0,
            "bulk discovery and cache touches do not mark"
        );
        context.register_explicit(resource("lxc:pve:99", "media"), &bob(), Mono(4));
        let meant: Vec<&str> = context.recently_meant(10, Mono(5)).map(|(r, _)| r.id.as_str()).collect();
        assert_eq!(meant, ["lxc:pve:99"], "a single get marks");
        context.register(resource("lxc:pve:99", "media"), Mono(6));
        assert_eq!(context.recently_meant(10, Mono(6)).count(), 1, "to be found again takes nothing away");
        assert_eq!(context.recently_meant(10, Mono(15)).count(), 0, "and the mark grows old");
        context.lose(&id("lxc:pve:99"));
        context.register(resource("lxc:pve:99", "media"), Mono(7));
        assert_eq!(context.recently_meant(10, Mono(7)).count(), 0, "what was lost is another one when it comes back");
    }

    #[test]
    fn clearing_keeps_what_is_pinned_only_where_asked() {
        let mut context = ResolvedContext::default();
        context.register(resource("service:web-1:a", "a"), Mono(0));
        context.register(resource("service:web-1:b", "b"), Mono(0));
        assert!(context.pin(&id("service:web-1:b")));
        assert!(context.clone().clear(true, None), "the pinned one is left");
        assert!(!context.clear(false, None), "nothing is left");
        assert!(!context.pin(&id("service:web-1:b")), "what is not known cannot be pinned");
    }
}

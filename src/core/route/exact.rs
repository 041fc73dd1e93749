//! Exact: the route of a question that was asked before in the same thread by the same roles. A route and never a result,
//! and never of a write, so that nothing stale and nothing twice can come of it (CAS-05, C-29).

use std::collections::BTreeMap;

use super::Route;
use crate::signal::ThreadKey;

/// In which thread, for which roles, which words.
type Key = (ThreadKey, String, String);

/// Routes of questions asked before, the least recently used making room.
#[derive(Clone, Debug)]
pub struct ExactRoutes {
    routes: BTreeMap<Key, (Route, u64)>,
    order: BTreeMap<u64, Key>,
    next: u64,
    routes_max: usize,
}

impl ExactRoutes {
    /// The default size (C-13).
    pub const ROUTES_MAX: usize = 1_000;

    /// Keeps at most so many.
    pub const fn new(routes_max: usize) -> Self {
        Self { routes: BTreeMap::new(), order: BTreeMap::new(), next: 0, routes_max }
    }

    /// The route of these words, if they were routed before.
    pub fn get(&self, key: &Key) -> Option<&Route> {
        self.routes.get(key).map(|(route, _)| route)
    }

    /// Remembers a route, or that it was used again.
    pub fn remember(&mut self, key: Key, route: Route) {
        if let Some((_, old)) = self.routes.get(&key) {
            self.order.remove(old);
        }
        self.next = self.next.saturating_add(1);
        self.order.insert(self.next, key.clone());
        self.routes.insert(key, (route, self.next));
        while self.routes.len() > self.routes_max {
            let Some((_, oldest)) = self.order.pop_first() else {
                return;
            };
            self.routes.remove(&oldest);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }
}

impl Default for ExactRoutes {
    fn default() -> Self {
        Self::new(Self::ROUTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;
    use crate::testkit::thread_key;

    fn route(name: &str) -> Route {
        Route { intent: name.to_owned(), args: serde_json::Map::new(), target: None, layer: Layer::Pattern }
    }

    fn key(thread: &str, roles: &str, words: &str) -> Key {
        (thread_key(thread), roles.to_owned(), words.to_owned())
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut exact = ExactRoutes::new(2);
        exact.remember(key("main", "", "a"), route("a"));
        exact.remember(key("main", "", "b"), route("b"));
        exact.remember(key("main", "", "a"), route("a"));
        exact.remember(key("main", "", "c"), route("c"));
        assert_eq!(exact.len(), 2);
        assert!(exact.get(&key("main", "", "a")).is_some());
        assert!(exact.get(&key("main", "", "b")).is_none());
    }

    #[test]
    fn another_thread_and_another_role_share_nothing() {
        let mut exact = ExactRoutes::default();
        exact.remember(key("main", "operator", "disk"), route("disk"));
        assert!(exact.get(&key("other", "operator", "disk")).is_none());
        assert!(exact.get(&key("main", "viewer", "disk")).is_none());
    }
}

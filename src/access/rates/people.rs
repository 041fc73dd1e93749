//! Who an account belongs to, by the access file.

use countersign_core::signal::{Actor, Platform};

use super::{People, Who};
use crate::access::{Access, LiveAccess};

impl People for Access {
    fn who(&self, actor: &Actor, platform: &Platform) -> Who {
        match self.subject(actor, platform) {
            None => Who::Stranger,
            Some(subject) if subject.is_owner => Who::Owner,
            Some(subject) if subject.who.is_service => Who::Service,
            Some(subject) => Who::Person { name: subject.who.name, roles: subject.who.roles.into_iter().collect() },
        }
    }
}

impl People for LiveAccess {
    fn who(&self, actor: &Actor, platform: &Platform) -> Who {
        self.snapshot().who(actor, platform)
    }
}

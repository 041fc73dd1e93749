//! Who an account belongs to, by the access file.

use countersign_core::port::Asker;

use super::{Who, WhoIs};
use crate::access::{Access, LiveAccess};

impl WhoIs for Access {
    fn who(&self, asker: &Asker<'_>) -> Who {
        match self.subject(asker) {
            None => Who::Stranger,
            // What a policy lets anybody do makes nobody known.
            Some(subject) if subject.is_a_stranger() => Who::Stranger,
            Some(subject) if subject.is_owner => Who::Owner,
            Some(subject) if subject.who.is_service => Who::Service,
            Some(subject) => Who::Person { name: subject.who.name, roles: subject.who.roles.into_iter().collect() },
        }
    }
}

impl WhoIs for LiveAccess {
    fn who(&self, asker: &Asker<'_>) -> Who {
        self.snapshot().who(asker)
    }
}

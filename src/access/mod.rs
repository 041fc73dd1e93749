//! Who may what. This version knows one principal: the operating system's user who runs the process, at the console. On
//! every other platform nobody may anything.

mod os_user;

use countersign_core::approval::Risk;
use countersign_core::port::{Right, Rights};
use countersign_core::signal::{Actor, ActorId, ActorKind, Platform, ThreadKey};

pub use os_user::OsUser;

/// The rights of the console's one person. Whoever owns the process owns what it can reach; every gate still stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleOwner {
    platform: Platform,
    id: ActorId,
}

impl ConsoleOwner {
    /// The owner of the process, known at the console by this id.
    pub const fn new(platform: Platform, id: ActorId) -> Self {
        Self { platform, id }
    }

    fn is_owner(&self, actor: &Actor, platform: &Platform) -> bool {
        actor.kind == ActorKind::Human && actor.id == self.id && *platform == self.platform
    }
}

impl Rights for ConsoleOwner {
    fn may(&self, actor: &Actor, thread: &ThreadKey, right: &Right) -> bool {
        match right {
            Right::Talk | Right::Request(_, _) | Right::Decide(_, _) => self.is_owner(actor, &thread.platform),
        }
    }

    /// Whoever owns the process owns the machine, so that a second pair of eyes would be theirs as well. The card and the
    /// record say each time that this was a waiver.
    fn may_decide_alone(&self, actor: &Actor, thread: &ThreadKey, _: Risk) -> bool {
        self.is_owner(actor, &thread.platform)
    }

    fn roles(&self, actor: &Actor) -> Vec<String> {
        if self.is_owner(actor, &self.platform) { vec!["owner of this process".to_owned()] } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::testkit::{signal, thread_key};
    use countersign_core::tool::ToolKind;

    use super::*;

    #[test]
    fn nobody_but_the_owner_may_anything() {
        let owner = ConsoleOwner::new(Platform::new("test"), ActorId::new("uid:1000"));
        let actor = |id: &str| signal("s", id, "").actor;
        let rights = [Right::Talk, Right::Request(ToolKind::Read, None), Right::Request(ToolKind::Write, None)];
        for right in rights {
            assert!(owner.may(&actor("uid:1000"), &thread_key("main"), &right));
            assert!(!owner.may(&actor("uid:0"), &thread_key("main"), &right));
            let mut elsewhere = thread_key("main");
            elsewhere.platform = Platform::new("telegram");
            assert!(!owner.may(&actor("uid:1000"), &elsewhere, &right), "the same id elsewhere is somebody else");
            let mut bot = actor("uid:1000");
            bot.kind = ActorKind::Bot;
            assert!(!owner.may(&bot, &thread_key("main"), &right));
        }
    }
}

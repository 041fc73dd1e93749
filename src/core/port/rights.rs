//! Who may what, as the core asks it. How it is judged is in the shell.

use std::sync::Arc;

use crate::approval::{Plan, Risk, Terms};
use crate::ledger::{Ledger, Link};
use crate::people::{Nobody, People};
use crate::resource::ResourceId;
use crate::signal::{Actor, Assurance, ConversationKind, Platform, ThreadKey};
use crate::tool::ToolKind;

/// Who asks, and from where: everything of a signal that rights depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker<'a> {
    /// Who.
    pub actor: &'a Actor,
    /// The actor's roles on their platform, by immutable id, as the adapter fetched them with the signal.
    pub platform_roles: &'a [String],
    /// How far it is known that it was the actor.
    pub assurance: Assurance,
    /// Where.
    pub thread: &'a ThreadKey,
    /// What kind of room that is.
    pub room: ConversationKind,
}

impl<'a> Asker<'a> {
    /// Somebody in a closed group, without any role of their platform.
    pub const fn at(actor: &'a Actor, thread: &'a ThreadKey) -> Self {
        let (platform_roles, room) = (&[], ConversationKind::Group);
        Self { actor, platform_roles, assurance: Assurance::Platform, thread, room }
    }
}

/// What an actor wants to do. Seven different rights: none follows from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// To be answered at all.
    Talk,
    /// To have a call made.
    Request {
        /// What kind of call.
        kind: ToolKind,
        /// Which one, as `tool.action`; none asks about the kind in general.
        tool: Option<String>,
        /// On which resource; none is the thread's own place.
        on: Option<ResourceId>,
        /// What was found on the resource, as `name=value`. Untrusted: it may restrict, and never permit.
        labels: Vec<String>,
    },
    /// To decide a plan. Whoever may talk or request may not decide for that alone.
    Decide {
        /// Its risk.
        risk: Risk,
        /// Its target.
        on: ResourceId,
        /// Whether the same person asked for it.
        is_requester: bool,
        /// What was found on its target, as `name=value`. Untrusted: it may restrict, and never permit.
        labels: Vec<String>,
    },
    /// To take notice of an alert or an incident for everybody.
    Acknowledge,
    /// To declare an incident.
    Declare,
    /// To give somebody a standing permission.
    Grant,
    /// To change who may what.
    Administer,
}

impl Right {
    /// A call of this kind in general, here.
    pub const fn request(kind: ToolKind) -> Self {
        Self::Request { kind, tool: None, on: None, labels: Vec::new() }
    }
}

/// What the terms of a plan depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermsAbout<'a> {
    /// Its risk.
    pub risk: Risk,
    /// Its target.
    pub target: &'a ResourceId,
    /// What was found on the target, as `name=value`. Untrusted: it may only make the terms stricter.
    pub labels: &'a [String],
    /// What is called, as `tool.action`.
    pub tool: &'a str,
}

/// Whether rights are those that were written last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// They are.
    #[default]
    Current,
    /// They were changed a moment ago, and the change may not be whole yet.
    Changing,
    /// What they were changed to is not sound, so that the ones before are in use.
    Unsound,
}

/// Who may what. Pure: a snapshot of policies and roles. Fails closed.
pub trait Rights: Send + Sync {
    /// Whether they may, here.
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool;

    /// Whether policy lets them countersign alone what they asked for themselves. A waiver of four eyes, which is
    /// recorded each time.
    fn may_decide_alone(&self, asker: &Asker<'_>, risk: Risk) -> bool;

    /// Whether policy lets them approve what is of high risk by an event that a server could have made up
    /// ([`Assurance::Unsealed`]). Recorded each time.
    fn may_decide_unsealed(&self, _: &Asker<'_>, _: Risk) -> bool {
        false
    }

    /// Whether the control level of the room lets them do this without anybody's countersignature: a call as
    /// `tool.action`, a target with what was found on it as `name=value`, and its risk. Only the room's entry in the access
    /// file can say so; nothing that is said in a chat ever does.
    fn acts_alone(&self, _: &Asker<'_>, _call: &str, _on: (&ResourceId, &[String]), _: Risk) -> bool {
        false
    }

    /// Their roles, here, for `who`. An id alone says nothing: the same one may be somebody else elsewhere.
    fn roles(&self, asker: &Asker<'_>) -> Vec<String>;

    /// The name of the person or of the service that this account belongs to; none where nobody known has it.
    fn name(&self, _: &Platform, _: &Actor) -> Option<String> {
        None
    }

    /// Who an account belongs to: one text for all accounts of one person, so that a second account is no second pair of
    /// eyes. An account that nobody is known by is somebody of its own; no name has a colon in it.
    fn person(&self, platform: &Platform, actor: &Actor) -> String {
        self.name(platform, actor).unwrap_or_else(|| format!("{platform}:{}", actor.id))
    }

    /// How an account was made its person's, where that was done in chat by somebody else. None where the account is in the
    /// access file, or the person typed a code themselves.
    fn linked_by_another(&self, _: &Platform, _: &Actor) -> Option<Link> {
        None
    }

    /// Returns whether a person has this name now. A plan may name a person by a name since given up. No I/O.
    fn knows_person(&self, _name: &str) -> bool {
        true
    }

    /// What must come together before such a plan is approved, beside the right of each who countersigns.
    fn terms(&self, _about: &TermsAbout<'_>) -> Terms {
        Terms::default()
    }

    /// Whether somebody is in a group that terms name. Nobody is, where there are no groups.
    fn is_in(&self, _asker: &Asker<'_>, _group: &str) -> bool {
        false
    }

    /// Returns the environment of a resource with these labels; none where the team names no environments. No I/O.
    fn environment(&self, _: &ResourceId, _labels: &[String]) -> Option<String> {
        None
    }

    /// Returns the names of people who may approve this plan where it waits, in the order of the access file and one more than
    /// [`NAMED_DECIDERS_MAX`](crate::approval::NAMED_DECIDERS_MAX) at most; the requester only where no waiver is needed. None
    /// where there is no list of people. No I/O.
    fn deciders(&self, _: &Plan) -> Option<Vec<String>> {
        None
    }

    /// The rights as they are at this moment, for one step: where they can change while it runs, all its questions must be
    /// asked of the same ones. None where they never change.
    fn at_this_moment(&self) -> Option<Arc<dyn Rights>> {
        None
    }

    /// Whether these are the rights that were written last. May look at files, and takes up what is whole by now.
    fn standing(&self) -> Standing {
        Standing::Current
    }

    /// Takes note of the accounts that were linked in chat. No I/O.
    fn follow(&self, _ledger: &Ledger) {}

    /// The people themselves. No I/O.
    fn people(&self) -> &dyn People {
        &Nobody
    }

    /// Answers `who can`, asked in this thread with the words after it: sentences and names, no words of the asker's.
    fn who_can(&self, _asked: &str, _: &Asker<'_>) -> String {
        "Nobody keeps a list here.".to_owned()
    }
}

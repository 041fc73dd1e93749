//! Answers that one snapshot has given already. A snapshot never changes, so that the same question has the same answer for
//! as long as it stands; policies are asked the same very often within a request, and each answer takes them tens of
//! microseconds. Everything that an answer can depend on is in the question.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_core::port::Asker;
use countersign_core::resource::ResourceId;
use countersign_core::signal::{ActorId, ActorKind, Assurance, ConversationKind, ThreadKey};

use super::entities::Act;

/// How many are kept; then all are forgotten. A few megabytes at most.
const ANSWERS_MAX: usize = 8_192;

/// One question: all of who asks, what they want to do, and on what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    actor: (ActorId, ActorKind),
    platform_roles: Vec<String>,
    assurance: Assurance,
    thread: ThreadKey,
    room: ConversationKind,
    act: Act,
    on: Option<(ResourceId, Vec<String>)>,
}

impl Question {
    pub(super) fn new(asker: &Asker<'_>, act: &Act, on: Option<(&ResourceId, &[String])>) -> Self {
        let Asker { actor, platform_roles, assurance, thread, room } = *asker;
        Self {
            // The name that is shown is nobody's right.
            actor: (actor.id.clone(), actor.kind),
            platform_roles: platform_roles.to_vec(),
            assurance,
            thread: thread.clone(),
            room,
            act: act.clone(),
            on: on.map(|(id, found)| (id.clone(), found.to_vec())),
        }
    }
}

/// What was answered.
#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<HashMap<Question, bool>>);

impl Answers {
    /// The answer to a question: as it was given, else as it is judged now. Judged outside of the lock.
    pub(super) fn to(&self, question: Question, judge: impl FnOnce() -> bool) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&question).copied();
        known.unwrap_or_else(|| {
            let answer = judge();
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= ANSWERS_MAX {
                known.clear();
            }
            known.insert(question, answer);
            answer
        })
    }
}

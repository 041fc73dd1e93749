//! The state of one thread and what moves it: workflow, resolved context, knowledge, entities, and the request that is
//! being worked on. In memory only; a restart begins anew (RES-20). The way in is `step.rs`.

mod agent;
mod budget;
mod carry;
mod conclude;
mod decision;
mod details;
mod directory;
mod draft;
mod drift;
mod entities;
mod follow_up;
mod fsm;
mod grants;
mod knowledge;
mod limited;
mod link;
mod link_news;
mod live;
mod named;
mod outputs;
mod perceive;
mod pins;
mod plans;
mod prefetch;
mod procedure;
mod recall;
mod request;
mod resolved;
mod room;
mod run;
mod say;
mod sight;
mod spend;
mod state;
mod stop;
mod trouble;
mod talk;
mod waiting;

pub use budget::Budget;
pub use directory::Directory;
pub use entities::{Entities, Entity, It};
pub use fsm::{Event, Fsm, OpenWrite, PendingRecovery, State, may_execute, next};
pub use knowledge::{Category, Fact, Knowledge};
pub use named::{Named, paths_in};
pub use prefetch::{BRIEF_CHARS_MAX, Mention, brief, mentions};
pub use resolved::{ENTRIES_MAX, Explicit, Found, ResolvedContext, TTL_MS};
pub use state::ThreadState;
pub use stop::is_heard_at_once;

pub(crate) use agent::on_thought;
pub(crate) use perceive::{interrupted, perceive};
pub(crate) use plans::{on_filed, on_held, on_lost, on_overtaken};
pub(crate) use request::Request;
pub(crate) use run::{on_answer, on_deadline};
pub(crate) use sight::Sight;
pub(crate) use spend::on_used;
pub(crate) use state::Turn;
pub(crate) use stop::{on_aside, on_halt};

#[cfg(any(test, feature = "testkit"))]
mod probe;
#[cfg(any(test, feature = "testkit"))]
pub(crate) use probe::{begin_request, judge_for_test};

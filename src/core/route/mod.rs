//! The layers of the cascade that need no I/O, from cheap to costly, first hit wins (CAS-01): sticky domain, exact,
//! pattern, phrase; and similarity, which only ever suggests. A route says which procedure to run; it runs nothing, and whatever
//! it leads to meets every gate (C-30).

mod cascade;
mod catalogue;
mod exact;
mod groups;
mod hear;
mod intent_file;
mod intents;
mod keywords;
mod own_command;
mod phrases;
mod reply;
mod similarity;
mod spelling;
mod verbatim;

pub use cascade::{Layer, Route, Suggested, route};
pub(crate) use cascade::{exact_key, in_part, is_proven_command, may_be_remembered, mended, near, respelt};
pub use catalogue::Catalogue;
pub use exact::ExactRoutes;
pub use hear::{Heard, hear, is_pronoun};
pub use intents::{Does, Intent, Intents, IntentsError};
pub use own_command::OwnCommand;
pub use reply::Reply;
pub use similarity::Lexical;

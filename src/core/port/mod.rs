//! The seam: what the core asks of the shell and of the adapters. Outgoing blocks are neutral and the adapter renders
//! them; capabilities are data; what I/O a method may do stands in its comment. Nothing here decides.

mod adapter;
mod message;
mod rights;
mod suggest;

use std::future::Future;
use std::pin::Pin;

use crate::gate::{Cleared, ToolCall};
use crate::mind::{Ask, Thought, Unheard};

pub use adapter::{
    Adapter, Admission, Capabilities, Condition, Delivery, DeliveryNotes, Editor, Ended, Finding, Ingress, Pace,
    Parcel, Sign, Touch, Touched,
};
pub use message::{Block, CardChoice, Choice, Claim, Lane, Mark, Outgoing, Source, TableColumn, Visibility};
pub use rights::{Asker, Right, Rights, Standing, TermsAbout};
pub use suggest::{Asked, SUGGESTIONS_MAX, Suggestion};

/// A boxed future, so that the traits below can be used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How alike two texts are, from 0 to 1000. Pure. The thresholds belong to the implementation (C-26).
pub trait Similarity: Send + Sync {
    /// 1000 is equal.
    fn alike(&self, a: &str, b: &str) -> u16;

    /// Prepares texts, so that another one can be compared with all of them at once.
    fn prepare(&self, texts: &[String]) -> Box<dyn Likeness>;

    /// From where on a suggestion is worth making.
    fn worth_suggesting(&self) -> u16;
}

/// Texts that were prepared by a [`Similarity`]. Pure.
pub trait Likeness: Send + Sync {
    /// How alike this text and each of them are, in their order: as [`Similarity::alike`] has it.
    fn alike_each(&self, text: &str) -> Vec<u16>;
}

/// Asks models. Implemented by the shell's `model/`; takes cleared questions only.
pub trait Mind: Send + Sync {
    /// Asks, within a limit of its own. Always answers; why not is in the error.
    fn think(&self, ask: Cleared<Ask>) -> BoxFuture<'_, Result<Thought, Unheard>>;
}

/// Calls tools. Implemented by the shell's `tools/`; takes cleared calls only.
pub trait Tools: Send + Sync {
    /// Runs one call on its server within its time limit; may start the server. Always answers, with
    /// `EXECUTION_FAILED` or `TIMEOUT` where the server did not.
    fn call(&self, call: Cleared<ToolCall>) -> BoxFuture<'_, crate::envelope::Envelope>;
}

//! What a reader comes back with: something found, or the trouble it met. The server wraps both into the one envelope.

use std::io;
use std::path::Path;

use countersign_core::envelope::{Code, Details, Envelope, Meta, Suggestion};
use serde_json::Value;

use super::this_host;

/// What every reader returns.
pub(super) type Answer = Result<Found, Trouble>;

/// What was found, and what was left out of it.
#[derive(Debug)]
pub(super) struct Found {
    data: Value,
    left_out: String,
}

impl Found {
    /// Everything there was.
    pub(super) const fn all(data: Value) -> Self {
        Self { data, left_out: String::new() }
    }

    /// A part of what there was; `left_out` says how to see more, and is empty where nothing was left out.
    pub(super) const fn part(data: Value, left_out: String) -> Self {
        Self { data, left_out }
    }

    /// The envelope, stamped with the time at which the machine was looked at (milliseconds since the Unix epoch).
    pub(super) fn into_envelope(self, observed_at: i64) -> Envelope {
        Envelope::success(self.data, Meta { observed_at, left_out: self.left_out })
    }

    #[cfg(test)]
    pub(super) const fn data(&self) -> &Value {
        &self.data
    }

    #[cfg(test)]
    pub(super) fn left_out(&self) -> &str {
        &self.left_out
    }
}

/// Why there is no answer. Boxed, because an envelope is large and trouble is rare.
#[derive(Debug)]
pub(super) struct Trouble {
    envelope: Box<Envelope>,
    /// Whether what was tried has certainly come to its end.
    over: bool,
}

impl Trouble {
    fn of(envelope: Envelope) -> Self {
        Self { envelope: Box::new(envelope), over: false }
    }

    /// There is no such thing; `suggestions` are names that might have been meant.
    pub(super) fn not_found(message: impl Into<String>, suggestions: Vec<Suggestion>) -> Self {
        let details = Details { suggestions, ..Details::default() };
        Self::of(Envelope::failed(Code::NotFound, message, false, details))
    }

    /// There is no such thing here, and this is what to do about it.
    pub(super) fn absent(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let details = Details { recovery_hint: Some(hint.into()), ..Details::default() };
        Self::of(Envelope::failed(Code::NotFound, message, false, details))
    }

    /// An argument is wrong.
    pub(super) fn invalid(argument: &str, message: impl Into<String>) -> Self {
        let details = Details { argument: Some(argument.to_owned()), ..Details::default() };
        Self::of(Envelope::blocked(Code::InvalidInput, message, details))
    }

    /// A safety rule forbids it.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::of(Envelope::blocked(Code::PolicyBlocked, message, Details::default()))
    }

    /// The target is not what it was when the plan was made: nothing was done.
    pub(super) fn drifted(message: impl Into<String>) -> Self {
        Self::of(Envelope::blocked(Code::Drifted, message, Details::default()))
    }

    /// It was refused by the machine, so that nothing was done.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self::of(Envelope::blocked(Code::ExecutionFailed, message, Details::default()))
    }

    /// A command that is not proven to only read and to end.
    pub(super) fn unproven(message: impl Into<String>, suggested_rewrite: Option<String>) -> Self {
        let details =
            Details { auto_recoverable: suggested_rewrite.is_some(), suggested_rewrite, ..Details::default() };
        Self::of(Envelope::blocked(Code::ReadOnlyViolation, message, details))
    }

    /// It was tried and did not work.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::of(Envelope::failed(Code::ExecutionFailed, message, false, Details::default()))
    }

    /// It was tried, did not work, and has come to its end: a look at its target now shows what it left.
    pub(super) fn failed_and_over(message: impl Into<String>) -> Self {
        Self { over: true, ..Self::failed(message) }
    }

    /// It was tried, did not work, and only a person can mend that.
    pub(super) fn failed_with_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let details = Details { recovery_hint: Some(hint.into()), ..Details::default() };
        Self::of(Envelope::failed(Code::ExecutionFailed, message, false, details))
    }

    /// It took too long; later it may work.
    pub(super) fn too_slow(message: impl Into<String>) -> Self {
        Self::of(Envelope::failed(Code::Timeout, message, true, Details::default()))
    }

    /// What the operating system said about a path, in plain words.
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        match error.kind() {
            io::ErrorKind::NotFound => Self::not_found(format!("`{shown}` does not exist"), Vec::new()),
            io::ErrorKind::PermissionDenied => Self::denied(&format!("`{shown}`")),
            _ => Self::failed(format!("`{shown}` could not be read: {error}")),
        }
    }

    /// We may not look at it.
    pub(super) fn denied(what: &str) -> Self {
        let me = this_host::user_name();
        Self::failed_with_hint(
            format!("{what} may not be read: countersign runs as `{me}`, who may not read it"),
            format!("let `{me}` read it, or look at it on the machine itself"),
        )
    }

    /// What a crate that reads the machine said. Its own words are kept: they are all there is to go by.
    pub(super) fn reading(what: &str, error: impl std::fmt::Display) -> Self {
        Self::failed(format!("{what} could not be read: {error}"))
    }

    /// The same trouble, met before anything was done: a refusal.
    pub(super) fn nothing_done(mut self) -> Self {
        if let Some(failure) = &mut self.envelope.error {
            (failure.blocked, failure.failed, failure.retryable) = (true, false, false);
        }
        self
    }

    /// The same trouble, met after something may have been done. A refusal says for certain that nothing was, and what is
    /// over can be looked at.
    pub(super) fn outcome_unknown(mut self) -> Self {
        let over = self.over;
        if let Some(failure) = self.envelope.error.as_mut().filter(|failure| !failure.blocked) {
            failure.retryable = false;
            failure.details.outcome_unknown = !over;
        }
        self
    }

    /// Whether it says that there is no such thing.
    pub(super) fn is_not_found(&self) -> bool {
        self.envelope.error.as_ref().is_some_and(|failure| failure.code == Code::NotFound)
    }

    /// The envelope; the time says when the machine was looked at.
    pub(super) fn into_envelope(mut self, observed_at: i64) -> Envelope {
        self.envelope.meta.observed_at = observed_at;
        *self.envelope
    }

    #[cfg(test)]
    pub(super) fn failure(&self) -> &countersign_core::envelope::Failure {
        self.envelope.error.as_ref().expect("invariant: trouble is never a success")
    }
}

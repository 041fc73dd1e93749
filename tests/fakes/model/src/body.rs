//! The body of an answer: pieces that leave one by one, and what comes after the last. What is in them is not looked at.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

use crate::End;

/// How many bytes of a stream leave at once: a number that fits no line and no character.
const PIECE_BYTES: usize = 61;

/// The connection is cut: hyper does that when a service or a body fails.
#[derive(Debug)]
pub(crate) struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the fake closed the connection, as it was told to")
    }
}

impl std::error::Error for Closed {}

impl From<Infallible> for Closed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// What leaves.
pub(crate) struct Pieces {
    left: VecDeque<Bytes>,
    last: Bytes,
    end: End,
    /// What was given out is on its way, so that the next may follow.
    is_flushed: bool,
}

impl Pieces {
    /// All at once.
    pub(crate) fn whole(body: String) -> Self {
        Self::new(vec![Bytes::from(body)], End::Closes)
    }

    /// Cut wherever it may be.
    pub(crate) fn cut(body: &str) -> Self {
        Self::new(body.as_bytes().chunks(PIECE_BYTES).map(Bytes::copy_from_slice).collect(), End::Closes)
    }

    /// These, and then that.
    pub(crate) fn new(pieces: Vec<Bytes>, end: End) -> Self {
        let last = pieces.last().cloned().unwrap_or_default();
        Self { left: pieces.into(), last, end, is_flushed: true }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Closed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Closed>>> {
        if !self.is_flushed {
            // hyper writes what it has whenever there is nothing for it to take.
            self.is_flushed = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.is_flushed = false;
        if let Some(piece) = self.left.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            End::Closes => Poll::Ready(None),
            End::Breaks => Poll::Ready(Some(Err(Closed))),
            End::GoesOn => Poll::Ready(Some(Ok(Frame::data(self.last.clone())))),
            End::Hangs => {
                self.is_flushed = true;
                Poll::Pending
            }
        }
    }
}

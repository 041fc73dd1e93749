//! The spoke's input, with a bell at its end: whoever sent the calls is gone then, and nothing more is begun for them,
//! although the session still takes some seconds to end in order.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Passes everything on unchanged, and cancels `over` at the end or at the first error.
pub(super) struct Input<R> {
    inner: R,
    over: CancellationToken,
}

impl<R> Input<R> {
    /// Watches a reader.
    pub(super) const fn new(inner: R, over: CancellationToken) -> Self {
        Self { inner, over }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let (before, room) = (buf.filled().len(), buf.remaining());
        let read = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        if read.is_err() || (room > 0 && buf.filled().len() == before) {
            self.over.cancel();
        }
        Poll::Ready(read)
    }
}

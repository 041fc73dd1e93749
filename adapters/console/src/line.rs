//! Lines from a stream, one at a time and bounded. What a line means is decided elsewhere.

use std::io::{self, BufRead, BufReader, Read};
use std::thread;

use tokio::sync::mpsc;

/// The most bytes of one line, without its end. Longer ones are a file sent by mistake more often than a question.
pub(crate) const LINE_BYTES_MAX: usize = 8 * 1024;

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its end; invalid UTF-8 is replaced.
    Whole(String),
    /// Longer than the limit. Only its length in bytes is kept.
    TooLong(usize),
}

/// The next line, or none at the end. A longer line is read to its end without being kept, so that the one after it is
/// whole.
pub(crate) fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut kept = Vec::new();
    let mut bytes = 0;
    let mut any = false;
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(any.then(|| finish(kept, bytes)));
        }
        any = true;
        let end = chunk.iter().position(|&b| b == b'\n');
        let part = end.unwrap_or(chunk.len());
        bytes += part;
        // One byte more than the limit is kept, for the carriage return of a line that ends in one.
        let room = (LINE_BYTES_MAX + 1).saturating_sub(kept.len()).min(part);
        kept.extend_from_slice(&chunk[..room]);
        reader.consume(part + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(finish(kept, bytes)));
        }
    }
}

fn finish(mut kept: Vec<u8>, mut bytes: usize) -> Line {
    if kept.len() == bytes && kept.last() == Some(&b'\r') {
        kept.pop();
        bytes -= 1;
    }
    if bytes > LINE_BYTES_MAX { Line::TooLong(bytes) } else { Line::Whole(String::from_utf8_lossy(&kept).into_owned()) }
}

/// Reads lines on a thread of its own, at most one ahead. The thread is not joined: a read of standard input cannot be
/// called off, and it ends with the process.
pub(crate) fn spawn(input: Box<dyn Read + Send>) -> io::Result<mpsc::Receiver<io::Result<Line>>> {
    let (sender, receiver) = mpsc::channel(1);
    thread::Builder::new().name("console-input".to_owned()).spawn(move || {
        let mut reader = BufReader::new(input);
        while let Some(line) = read_line(&mut reader).transpose() {
            let over = line.is_err();
            if sender.blocking_send(line).is_err() || over {
                return;
            }
        }
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Line> {
        // A buffer of 7 bytes makes every line span several reads.
        let mut reader = BufReader::with_capacity(7, bytes);
        std::iter::from_fn(|| read_line(&mut reader).expect("memory can be read")).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.to_owned())
    }

    #[test]
    fn a_line_may_end_in_any_way() {
        assert_eq!(all(b"one\ntwo\r\n\nlast"), [whole("one"), whole("two"), whole(""), whole("last")]);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn the_limit_is_exact_and_the_next_line_is_whole() {
        let fits = "x".repeat(LINE_BYTES_MAX);
        assert_eq!(all(format!("{fits}\r\nnext\n").as_bytes()), [whole(&fits), whole("next")]);
        let over = format!("{fits}y\nnext\n");
        assert_eq!(all(over.as_bytes()), [Line::TooLong(LINE_BYTES_MAX + 1), whole("next")]);
        let far = format!("{}\nnext", "z".repeat(100_000));
        assert_eq!(all(far.as_bytes()), [Line::TooLong(100_000), whole("next")]);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(all(b"a\xffb\n"), [whole("a\u{fffd}b")]);
    }
}

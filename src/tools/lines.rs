//! One bounded way to read the lines of a server, whatever it writes: memory never grows past what the reader asked for.
//! What a line means is for `stdout.rs` and `stderr.rs`.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Reads up to the next newline, or to the end of the input. `line` then holds at most `bytes_max` bytes of it, without
/// the newline; the answer says whether more was there. `None` is the end. Every byte passes through `seen`, kept or not.
pub(super) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
    line: &mut Vec<u8>,
    mut seen: impl FnMut(&[u8]),
) -> io::Result<Option<Fit>> {
    line.clear();
    let (mut fit, mut anything) = (Fit::Whole, false);
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(anything.then_some(fit));
        }
        anything = true;
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        seen(part);
        let room = bytes_max - line.len();
        if part.len() > room {
            fit = Fit::Cut;
        }
        line.extend_from_slice(&part[..part.len().min(room)]);
        let consumed = part.len() + usize::from(newline.is_some());
        reader.consume(consumed);
        if newline.is_some() {
            return Ok(Some(fit));
        }
    }
}

/// Whether a line was short enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// All of it was kept.
    Whole,
    /// Its end is missing.
    Cut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_kept_up_to_the_limit_and_the_next_one_is_whole_again() {
        let mut input: &[u8] = b"one\nfive5\n\nlast";
        let (mut line, mut found, mut seen) = (Vec::new(), Vec::new(), 0);
        while let Some(fit) = next_line(&mut input, 4, &mut line, |part| seen += part.len()).await.expect("in memory") {
            found.push((String::from_utf8_lossy(&line).into_owned(), fit));
        }
        let expected = [("one", Fit::Whole), ("five", Fit::Cut), ("", Fit::Whole), ("last", Fit::Whole)];
        assert_eq!(found, expected.map(|(text, fit)| (text.to_owned(), fit)));
        assert_eq!(seen, "onefive5last".len());
    }
}

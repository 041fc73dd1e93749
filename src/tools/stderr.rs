//! What a server writes to its standard error, merged into our log under the target "spoke": bounded by line and by
//! second, so that a server in a loop fills neither memory nor disk. The text is a stranger's: it is escaped, and it goes
//! nowhere but the log.

use std::time::Duration;

use tokio::io::{AsyncRead, BufReader};
use tokio::time::Instant;

use super::lines::{Fit, next_line};

/// The longest line that is logged, in bytes.
const LINE_BYTES_MAX: usize = 2_000;

/// The most lines logged for one server in one [`WINDOW`].
const LINES_MAX: u32 = 100;

/// How long a window lasts.
const WINDOW: Duration = Duration::from_secs(1);

/// Logs what a server writes until it closes its side. What is too much is still read, so that the server never blocks on
/// a full pipe.
pub(super) async fn log(spoke: String, from: impl AsyncRead + Unpin) {
    let read = carry(from, |line| tracing::info!(target: "spoke", spoke, "{line}")).await;
    if let Err(error) = read {
        tracing::warn!(target: "spoke", spoke, "cannot read its log any more: {error}");
    }
}

async fn carry(from: impl AsyncRead + Unpin, mut sink: impl FnMut(&str)) -> std::io::Result<()> {
    let mut from = BufReader::new(from);
    let (mut line, mut flood) = (Vec::new(), Flood::new(Instant::now()));
    while let Some(fit) = next_line(&mut from, LINE_BYTES_MAX, &mut line, |_| {}).await? {
        let (left_out, admitted) = flood.admit(Instant::now());
        if left_out > 0 {
            sink(&format!("({left_out} lines left out: it writes too fast)"));
        }
        if admitted {
            sink(&printable(&line, fit));
        }
    }
    if flood.left_out > 0 {
        sink(&format!("({} lines left out: it writes too fast)", flood.left_out));
    }
    Ok(())
}

/// Escapes control characters, so that a line of the log is one line and moves no cursor.
fn printable(line: &[u8], fit: Fit) -> String {
    let mut text = String::with_capacity(line.len());
    for character in String::from_utf8_lossy(line).trim_end().chars() {
        if character.is_control() && character != '\t' {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    if fit == Fit::Cut {
        text.push_str(" (cut)");
    }
    text
}

/// Counts lines by window.
struct Flood {
    since: Instant,
    admitted: u32,
    left_out: u64,
}

impl Flood {
    const fn new(now: Instant) -> Self {
        Self { since: now, admitted: 0, left_out: 0 }
    }

    /// How many lines were left out before this one and are to be reported now, and whether this one is logged.
    fn admit(&mut self, now: Instant) -> (u64, bool) {
        let mut report = 0;
        if now.duration_since(self.since) >= WINDOW {
            report = self.left_out;
            *self = Self::new(now);
        }
        let admitted = self.admitted < LINES_MAX;
        if admitted {
            self.admitted += 1;
        } else {
            self.left_out += 1;
        }
        (report, admitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_reported_when_it_ebbs() {
        let start = Instant::now();
        let mut flood = Flood::new(start);
        let admitted = (0..250).filter(|_| flood.admit(start).1).count();
        assert_eq!(admitted, 100);
        assert_eq!(flood.admit(start + WINDOW), (150, true), "the next window reports what is missing");
        assert_eq!(flood.admit(start + WINDOW), (0, true), "and reports it once");
    }

    #[tokio::test]
    async fn lines_are_cut_and_escaped() {
        let input = format!("ok\r\n\u{1b}[31mred\u{7}\n{}\n", "x".repeat(3_000));
        let mut lines = Vec::new();
        carry(input.as_bytes(), |line| lines.push(line.to_owned())).await.expect("in memory");
        assert_eq!(lines, ["ok", "\\u{1b}[31mred\\u{7}", &format!("{} (cut)", "x".repeat(2_000))]);
    }
}

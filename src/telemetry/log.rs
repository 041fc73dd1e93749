//! Log lines: text or JSON, one event a line, masked before they leave. What is a secret is the core's mask's matter.

use std::io::{self, Write};
use std::sync::Arc;

use countersign_core::secrets::Mask;
use serde_json::Value;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::TelemetryError;
use crate::config::{Log, LogFormat};

/// Starts logging to standard error for the rest of the process. `interactive`: a person sits at the console and reads the
/// same terminal, so that an unset level is `warn`. Does no I/O before the first event.
pub fn start(log: &Log, interactive: bool, mask: Arc<Mask>) -> Result<(), TelemetryError> {
    let subscriber = subscriber(log, interactive, mask, io::stderr)?;
    subscriber.try_init().map_err(|error| TelemetryError::Twice(error.to_string()))
}

/// The subscriber that [`start`] installs, writing to `out`.
fn subscriber<W: Write>(
    log: &Log,
    interactive: bool,
    mask: Arc<Mask>,
    out: impl Fn() -> W + Send + Sync + 'static,
) -> Result<Box<dyn Subscriber + Send + Sync>, TelemetryError> {
    let filter = log.filter(interactive).map_err(TelemetryError::Filter)?;
    // Colours are escape sequences, and those are what a line must not hold.
    let lines = tracing_subscriber::fmt::layer().with_ansi(false);
    let masked = Masked { format: log.format, mask, out };
    let registry = tracing_subscriber::registry().with(filter).with(filter_fn(carries_no_answers));
    Ok(match log.format {
        LogFormat::Text => Box::new(registry.with(lines.with_writer(masked))),
        LogFormat::Json => Box::new(registry.with(lines.json().with_writer(masked))),
    })
}

/// The MCP client writes whole answers of tools to its finer levels, in a form that no mask sees through.
fn carries_no_answers(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::WARN || !metadata.target().starts_with("rmcp")
}

/// Gives each event a writer of its own.
struct Masked<O> {
    format: LogFormat,
    mask: Arc<Mask>,
    out: O,
}

impl<'a, O: Fn() -> W + 'a, W: Write> MakeWriter<'a> for Masked<O> {
    type Writer = Event<'a, W>;

    fn make_writer(&'a self) -> Self::Writer {
        Event { format: self.format, mask: &self.mask, out: (self.out)(), bytes: Vec::new() }
    }
}

/// Collects one event, because a secret may be cut in two by two writes, and writes it masked when it is whole.
struct Event<'a, W: Write> {
    format: LogFormat,
    mask: &'a Mask,
    out: W,
    bytes: Vec<u8>,
}

impl<W: Write> Write for Event<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Event<'_, W> {
    fn drop(&mut self) {
        let event = String::from_utf8_lossy(&self.bytes);
        let event = event.trim_end_matches('\n');
        let line = match self.format {
            LogFormat::Text => one_line(&self.mask.apply(event)),
            LogFormat::Json => masked_json(self.mask, event),
        };
        // A log that cannot be written has nowhere to say so, and must not end the bot.
        let _ = self.out.write_all((line + "\n").as_bytes());
    }
}

/// Makes what could start a new line, move the cursor or reverse the reading order visible instead.
fn one_line(text: &str) -> String {
    let unsafe_to_show = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_to_show(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Masks each string by itself, before JSON's own escapes could hide a secret from the mask.
fn masked_json(mask: &Mask, event: &str) -> String {
    match serde_json::from_str(event) {
        Ok(mut value) => {
            mask_value(mask, None, &mut value);
            value.to_string()
        }
        Err(_) => one_line(&mask.apply(event)),
    }
}

fn mask_value(mask: &Mask, key: Option<&str>, value: &mut Value) {
    match value {
        Value::String(text) => *text = mask_field(mask, key, text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(mask, key, item)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| mask_value(mask, Some(key), value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The mask knows `password=...` by its name, so that it is shown the name as well.
fn mask_field(mask: &Mask, key: Option<&str>, text: &str) -> String {
    let text = mask.apply(text);
    let Some(key) = key else { return text.into_owned() };
    let named = format!("{key}={text}");
    match mask.apply(&named).strip_prefix(key).and_then(|rest| rest.strip_prefix('=')) {
        Some(masked) => masked.to_owned(),
        None => "[masked]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn seen(log: &Log, interactive: bool, act: impl FnOnce()) -> String {
        let screen = Screen::default();
        let mask = Arc::new(Mask::new(["hunter2".to_owned(), "say \"please\"".to_owned()]));
        let out = screen.clone();
        let subscriber = subscriber(log, interactive, mask, move || out.clone()).expect("a sound filter");
        tracing::subscriber::with_default(subscriber, act);
        let bytes = screen.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).expect("a log is text")
    }

    #[test]
    fn every_event_is_one_masked_line_of_text() {
        let text = seen(&Log::default(), false, || {
            tracing::info!(target: "spoke", answer = "hunter2", "it said\nfake line\u{202e} \u{7} hunter2");
            tracing::info_span!("signal", thread = "hunter2").in_scope(|| tracing::warn!("second"));
        });
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("spoke: it said\\nfake line\\u{202e} "), "{text}");
        assert!(text.contains("signal{thread=") && !text.contains("hunter2"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn json_lines_are_masked_below_their_escapes() {
        let log = Log { format: LogFormat::Json, ..Log::default() };
        let text = seen(&log, false, || {
            tracing::info!(asked = "say \"please\"", password = "swordfish", "two\nlines, hunter2");
        });
        let line: Value = serde_json::from_str(&text).expect("one JSON object");
        assert_eq!(line["level"], "INFO");
        assert!(
            line["fields"]["message"].as_str().is_some_and(|message| message.starts_with("two\nlines, ")),
            "{text}"
        );
        for secret in ["please", "hunter2", "swordfish"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    #[test]
    fn a_person_at_the_console_sees_warnings_only_unless_asked_otherwise() {
        let act = || {
            tracing::info!("quiet");
            tracing::warn!("loud");
        };
        let lines = |log: &Log, interactive| seen(log, interactive, act).lines().count();
        assert_eq!((lines(&Log::default(), true), lines(&Log::default(), false)), (1, 2));
        let debug = Log { level: Some("debug".to_owned()), ..Log::default() };
        assert_eq!(lines(&debug, true), 2);
    }

    #[test]
    fn a_bad_filter_names_its_key() {
        let log = Log { level: Some("inof".to_owned()), ..Log::default() };
        let Err(error) = subscriber(&log, false, Arc::new(Mask::default()), io::stderr) else {
            panic!("it is no level")
        };
        assert!(error.to_string().starts_with("`log.level` has `inof`"), "{error}");
    }
}

//! `host_log`: the end of a log, from a file or from the journal of systemd. How lines are read and bounded is in
//! `lines.rs`.

use std::io::Cursor;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target};
use super::exec::{self, Reaches, Run};
use super::masked_files::masked_text;
use super::this_host::ThisHost;
use super::{file, file_secrets, lines, matching};

/// How long `journalctl` may take.
const JOURNAL_LIMIT: Duration = Duration::from_secs(15);

/// The most that is taken from `journalctl`: its JSON says each line with some thirty fields around it.
const JOURNAL_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The last lines of a file, or the last that contain a text.
pub(super) fn tail(host: &ThisHost, call: &Call) -> Answer {
    let opened = file::open(call.required("path")?)?;
    host.refuse_own(&opened.path)?;
    host.refuse_private(&opened.path)?;
    let count = call.count("lines").unwrap_or(20);
    let wanted = call.text("contains");
    let masked = masked_text(&opened.file, opened.size);
    let excerpt = match &masked {
        Some(text) => lines::backward(Cursor::new(text), count, wanted),
        None => lines::backward(&opened.file, count, wanted),
    };
    let excerpt = excerpt.map_err(|error| Trouble::io(&opened.path, &error))?;
    let left_out = left_out(&excerpt, opened.size);
    let data = json!({
        "path": opened.path,
        "size": opened.size,
        "modified": opened.modified,
        "count": excerpt.lines.len(),
        "filter": wanted.map(|wanted| format!(" with “{wanted}”")).unwrap_or_default(),
        "lines": match masked {
            Some(_) => excerpt.lines.into_iter().collect(),
            None => file_secrets::masked(&excerpt.lines, &opened.file, opened.size),
        },
    });
    Ok(Found::part(data, left_out))
}

fn left_out(excerpt: &lines::Excerpt, size: u64) -> String {
    let searched = lines::SEARCH_BYTES_MAX / 1024 / 1024;
    match (excerpt.has_more, excerpt.cut) {
        (false, _) => String::new(),
        (true, true) if size > lines::SEARCH_BYTES_MAX && excerpt.lines.is_empty() => {
            format!("only the last {searched} MiB were searched; read the file itself to see what is before")
        }
        (true, true) => format!(
            "only the last {} lines fit; ask for those with a word in them, or read the file itself",
            excerpt.lines.len()
        ),
        (true, false) => {
            "only the end is shown; ask for more lines (at most 500), or for those with a word in them".to_owned()
        }
    }
}

/// The last entries that a service wrote to the journal. Unproven: no machine of ours with systemd has run it.
pub(super) async fn journal(host: &ThisHost, call: &Call) -> Answer {
    let Target::Service(name) = &call.target else {
        return Err(Trouble::invalid("target", "the journal is read of a service"));
    };
    if !host.places.systemd.exists() {
        return Err(no_journal(host, name));
    }
    let count = call.count("lines").unwrap_or(20).to_string();
    let unit = format!("--unit={name}");
    let lines = format!("--lines={count}");
    let args = ["--output=json", "--no-pager", "--quiet", unit.as_str(), lines.as_str()];
    let run = Run {
        program: "journalctl",
        args: &args,
        limit: JOURNAL_LIMIT,
        input: None,
        reaches: Reaches::default(),
        output_bytes_max: JOURNAL_BYTES_MAX,
    };
    let outcome = exec::run(host, run).await?;
    if outcome.code != Some(0) && !outcome.cut {
        return Err(Trouble::failed(format!("the journal could not be read: {}", outcome.errors)));
    }
    let entries = entries(&outcome.output);
    let left_out =
        if outcome.cut { "only a part of the journal fits; ask for fewer `lines`".to_owned() } else { String::new() };
    Ok(Found::part(json!({ "service": name, "count": entries.len(), "entries": entries }), left_out))
}

/// Entries of `journalctl --output=json`, one object a line. Newest last; as many as fit are kept, from the end.
fn entries(output: &[u8]) -> Vec<Value> {
    let mut room = lines::TEXT_BYTES_MAX;
    let parsed = output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut kept: Vec<Value> = Vec::new();
    for entry in parsed.collect::<Vec<_>>().into_iter().rev() {
        let message = message(&entry);
        let Some(left) = room.checked_sub(message.len()) else {
            break;
        };
        room = left;
        let micros =
            entry.get("__REALTIME_TIMESTAMP").and_then(Value::as_str).and_then(|text| text.parse::<i64>().ok());
        kept.push(json!({ "at": micros.map(|micros| micros / 1000), "text": message }));
    }
    kept.reverse();
    kept
}

/// The text of an entry: a string, or a list of bytes where it is not UTF-8 (systemd's "Journal JSON Format").
fn message(entry: &Value) -> String {
    let message = entry.get("MESSAGE");
    if let Some(text) = message.and_then(Value::as_str) {
        return lines::clean(text.as_bytes());
    }
    let bytes = message.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let bytes: Vec<u8> = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
    lines::clean(&bytes)
}

fn no_journal(host: &ThisHost, service: &str) -> Trouble {
    let entries = std::fs::read_dir(&host.places.logs).into_iter().flatten().flatten();
    let names: Vec<(String, String)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().display().to_string()))
        .filter(|(name, _)| !name.starts_with('.'))
        .collect();
    let stem = |name: &str| name.trim_end_matches(".log").to_owned();
    let stems: Vec<(String, &str)> = names.iter().map(|(name, path)| (stem(name), path.as_str())).collect();
    let near = matching::nearest(service, stems.iter().map(|(name, path)| (name.as_str(), *path)));
    Trouble::not_found(
        "this machine keeps no systemd journal; read the service's log file, like `last 20 lines of /var/log/NAME.log`",
        near,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_entries_are_text_or_bytes() {
        let output = br#"{"__REALTIME_TIMESTAMP":"1763766425123456","MESSAGE":"started"}
{"__REALTIME_TIMESTAMP":"1763766426000000","MESSAGE":[104,105,255]}
{"MESSAGE":null}
not json
"#;
        let expected = json!([
            { "at": 1_763_766_425_123_i64, "text": "started" },
            { "at": 1_763_766_426_000_i64, "text": "hi\u{fffd}" },
            { "at": null, "text": "" },
        ]);
        assert_eq!(Value::from(entries(output)), expected);
    }
}

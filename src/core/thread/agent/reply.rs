//! Reads what a model said: takes the leaked marks of its provider out, finds the calls wherever it wrote them, and mends
//! JSON that is nearly JSON. What comes out is a proposal like any other: nothing in it is believed, and nothing is guessed
//! that was not written.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::mind::{RawCall, Thought};
use crate::tool::Registry;

/// The most calls that are read from one answer; more is a run-away.
const CALLS_MAX: usize = 8;

/// The most characters of an answer that are looked at.
const TEXT_CHARS_MAX: usize = 16_000;

/// What stands between a tool and its action where a name may have no dot in it, as in the function names of the providers.
const JOINT: &str = "__";

/// A call that a model wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) tool: String,
    pub(super) action: String,
    pub(super) target: Option<String>,
    /// Its arguments; none where they are no JSON object.
    pub(super) args: Option<Map<String, Value>>,
}

impl Wanted {
    /// `tool.action`.
    pub(super) fn name(&self) -> String {
        if self.action.is_empty() { self.tool.clone() } else { format!("{}.{}", self.tool, self.action) }
    }
}

/// What an answer comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// It wants these calls. What it says beside them is not shown.
    Calls(Vec<Wanted>),
    /// It says this, in prose.
    Says(String),
    /// There is nothing in it.
    Nothing,
}

/// Reads an answer. Calls that the model made by its own means count before calls that it wrote down.
pub(super) fn read(thought: &Thought) -> Reply {
    let calls: Vec<Wanted> = thought.calls.iter().take(CALLS_MAX).map(wanted).collect();
    if !calls.is_empty() {
        return Reply::Calls(calls);
    }
    let text = cleaned(&crate::text::cut(&thought.text, TEXT_CHARS_MAX));
    let written: Vec<Wanted> = written_calls(&text).into_iter().take(CALLS_MAX).collect();
    match (written.is_empty(), text.is_empty()) {
        (false, _) => Reply::Calls(written),
        (true, false) => Reply::Says(text),
        (true, true) => Reply::Nothing,
    }
}

/// Returns true if a text contains a call of a registered tool as plain text (LOOP-13): `host_service__status`, or
/// `host_service.status(...)`, or `host_service(...)`.
pub(super) fn writes_a_call(text: &str, registry: &Registry) -> bool {
    let text = text.to_lowercase();
    registry.tools().filter(|tool| text.contains(&tool.name)).any(|tool| {
        let name = &tool.name;
        let is_called = |action: &String| {
            text.contains(&format!("{name}{JOINT}{action}")) || text.contains(&format!("{name}.{action}("))
        };
        text.contains(&format!("{name}(")) || tool.actions.keys().any(is_called)
    })
}

/// Without what leaks out of providers and is no part of an answer: blocks of calls, ends of thinking, thoughts (LOOP-24).
/// The bars in them are ASCII, full-width or not there at all (C-40).
pub(super) fn cleaned(text: &str) -> String {
    static LEAKS: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = concat!(
            r"(?s)<[|｜]?DSML[|｜]?\s*function_calls>.*?(</[|｜]?DSML[|｜]?\s*function_calls>|$)",
            r"|<think>.*?(</think>|$)",
            r"|</?[|｜]?DSML[|｜]?[^>]*>",
            r"|<[|｜]?(end|begin)[▁_ ]of[▁_ ](thinking|sentence)[|｜]?>",
        );
        Regex::new(pattern).expect("invariant: the pattern is sound")
    });
    LEAKS.replace_all(text, "").trim().to_owned()
}

fn wanted(call: &RawCall) -> Wanted {
    let args = match call.arguments.trim() {
        "" => Some(Map::new()),
        arguments => json_in(arguments).and_then(object),
    };
    let mut wanted = named(&call.name, args);
    // Some wrap it once more.
    if let Some(inner) = wanted.args.as_ref().and_then(|args| args.get("arguments")).cloned().and_then(object)
        && wanted.args.as_ref().is_some_and(|args| args.len() == 1)
    {
        wanted.args = Some(inner);
    }
    with_target(wanted)
}

fn named(name: &str, args: Option<Map<String, Value>>) -> Wanted {
    let (tool, action) = name.split_once('.').or_else(|| name.split_once(JOINT)).unwrap_or((name, ""));
    Wanted { tool: tool.trim().to_owned(), action: action.trim().to_owned(), target: None, args }
}

/// The target stands among the arguments, where an action has one.
fn with_target(mut wanted: Wanted) -> Wanted {
    let Some(args) = &mut wanted.args else { return wanted };
    if let Some(Value::String(target)) = args.get("target") {
        wanted.target = Some(target.clone()).filter(|target| !target.is_empty());
        args.remove("target");
    }
    wanted
}

/// Calls in prose: the first object or array that is JSON, or nearly, and has the shape of a call (VAL-02, VAL-03).
fn written_calls(text: &str) -> Vec<Wanted> {
    let Some(found) = json_in(text) else { return Vec::new() };
    let each = match found {
        Value::Array(each) => each,
        one @ (Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => vec![one],
    };
    each.into_iter().filter_map(written_call).collect()
}

fn written_call(call: Value) -> Option<Wanted> {
    let mut call = object(call)?;
    if let Some(function) = call.remove("function").and_then(object) {
        call = function;
    }
    let name = ["name", "tool"].iter().find_map(|key| call.get(*key)?.as_str().map(str::to_owned))?;
    let args = ["arguments", "args", "parameters"].iter().find_map(|key| call.remove(*key));
    let args = match args {
        None | Some(Value::Null) => Some(Map::new()),
        // The providers' own form: an object, written as a text.
        Some(Value::String(text)) => json_in(&text).and_then(object),
        Some(other) => object(other),
    };
    let mut wanted = named(&name, args);
    if let Some(action) = call.get("action").and_then(Value::as_str).filter(|_| wanted.action.is_empty()) {
        action.clone_into(&mut wanted.action);
    }
    wanted = with_target(wanted);
    wanted.target = wanted.target.or_else(|| call.get("target")?.as_str().map(str::to_owned));
    Some(wanted)
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// The first object or array in a text, mended where only its end or a comma is wrong (VAL-01).
fn json_in(text: &str) -> Option<Value> {
    let from = text.find(['{', '['])?;
    let mended = mended(text.get(from..)?);
    serde_json::from_str(&mended).ok()
}

/// From an opening bracket to the one that closes it: without commas before a closing bracket, and with the closing brackets
/// that are missing. No other fault is mended, so that nothing is made up.
fn mended(text: &str) -> String {
    let (mut whole, mut open) = (String::new(), Vec::new());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            whole.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                drop_comma(&mut whole);
                while let Some(closing) = open.pop() {
                    whole.push(closing);
                    if closing == c {
                        break;
                    }
                }
                if open.is_empty() {
                    return whole;
                }
                continue;
            }
            _ => {}
        }
        whole.push(c);
    }
    if in_string {
        whole.push('"');
    }
    drop_comma(&mut whole);
    whole.extend(open.into_iter().rev());
    whole
}

fn drop_comma(whole: &mut String) {
    let kept = whole.trim_end().trim_end_matches(',').len();
    whole.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Reply {
        read(&Thought { text: text.to_owned(), ..Thought::default() })
    }

    fn called(name: &str, arguments: &str) -> Reply {
        let calls = vec![RawCall { name: name.to_owned(), arguments: arguments.to_owned() }];
        read(&Thought { calls, ..Thought::default() })
    }

    fn shown(reply: Reply) -> String {
        match reply {
            Reply::Says(text) => format!("says {text}"),
            Reply::Nothing => "nothing".to_owned(),
            Reply::Calls(calls) => {
                let one = |call: &Wanted| {
                    let args =
                        call.args.clone().map_or_else(|| "no JSON".to_owned(), |args| Value::Object(args).to_string());
                    format!("{} on {} with {args}", call.name(), call.target.as_deref().unwrap_or("-"))
                };
                calls.iter().map(one).collect::<Vec<_>>().join("; ")
            }
        }
    }

    #[test]
    fn a_call_is_found_wherever_it_was_written() {
        let table = [
            (called("lab_read__load", r#"{"target":"host:web-1"}"#), "lab_read.load on host:web-1 with {}"),
            (called("lab_read.load", r#"{"target":"host:web-1",}"#), "lab_read.load on host:web-1 with {}"),
            (called("lab_find__service", r#"{"query":"ngi"#), r#"lab_find.service on - with {"query":"ngi"}"#),
            (called("lab_find__service", ""), "lab_find.service on - with {}"),
            (called("lab_find__service", "nginx"), "lab_find.service on - with no JSON"),
            (called("delete_everything", "{}"), "delete_everything on - with {}"),
            (
                said(
                    "Sure!\n```json\n[{\"name\": \"lab_read.load\", \"arguments\": {\"target\": \"host:web-1\"}}]\n```",
                ),
                "lab_read.load on host:web-1 with {}",
            ),
            (
                said(r#"{"tool":"lab_read","action":"load","target":"host:web-1"}"#),
                "lab_read.load on host:web-1 with {}",
            ),
            (
                said(r#"{"function":{"name":"lab_find__host","arguments":"{\"query\":\"w\"}"}}"#),
                r#"lab_find.host on - with {"query":"w"}"#,
            ),
            (said("The load is high {see above}."), "says The load is high {see above}."),
            (said("  "), "nothing"),
        ];
        for (reply, expected) in table {
            assert_eq!(shown(reply), expected);
        }
    }

    /// LOOP-24, C-40: each of the three bars.
    #[test]
    fn what_leaks_from_a_provider_is_no_answer() {
        for bar in ["|", "｜", ""] {
            let leaked = format!(
                "<think>they want it</think>All is well.<{bar}DSML{bar}function_calls>x</{bar}DSML{bar}function_calls>\
                 <{bar}end▁of▁thinking{bar}>"
            );
            assert_eq!(cleaned(&leaked), "All is well.", "{bar}");
        }
        assert_eq!(cleaned("<think>it never ends"), "");
    }

    #[test]
    fn only_an_end_or_a_comma_is_mended() {
        let table = [
            (r#"{"a":[1,2"#, Some(r#"{"a":[1,2]}"#)),
            (r#"{"a":1,}"#, Some(r#"{"a":1}"#)),
            (r#"{"a":"x"#, Some(r#"{"a":"x"}"#)),
            (r#"{"a":"}\""} and more"#, Some(r#"{"a":"}\""}"#)),
            ("{'a':1}", None),
            (r#"{"a":}"#, None),
            ("{a:1}", None),
        ];
        for (text, expected) in table {
            assert_eq!(json_in(text).map(|json| json.to_string()).as_deref(), expected, "{text}");
        }
    }
}

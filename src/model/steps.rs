//! Calls of a model that has no functions, or does not use them: first it chooses from what is offered, and then it says
//! what that is called with, each held to a JSON schema by its server. What comes out is a call as any other model makes it,
//! and is believed no more. Here is how it is asked and how its answers are read; who asks is `client`.

use countersign_core::mind::{Offer, RawCall, Situation};
use serde_json::{Map, Value, json};

use super::prompt;
use super::wire::{Message, Whole, raw_call};

/// The most characters of one argument: a model of this kind has nothing longer to say.
const ARGUMENT_CHARS_MAX: usize = 500;

/// What stands for an answer among the names of functions; none of them is called so, for each has a tool and an action.
const ANSWER: &str = "answer";

/// What a model chose.
#[derive(Debug, PartialEq)]
pub(super) enum Choice<'a> {
    /// This call.
    Call(&'a Offer),
    /// To answer in words.
    Answer,
    /// Something that was not to be chosen: its server holds it to nothing.
    Free,
}

/// What it may choose.
pub(super) fn choice_format(offers: &[Offer]) -> Value {
    let names: Vec<String> = offers.iter().map(prompt::function).chain([ANSWER.to_owned()]).collect();
    let next = json!({ "type": "string", "enum": names });
    format("choice", &json!({ "type": "object", "properties": { "next": next }, "required": ["next"] }))
}

/// What it chose.
pub(super) fn choice<'a>(said: &Whole, offers: &'a [Offer]) -> Choice<'a> {
    let json: Value = serde_json::from_str(said.text.trim()).unwrap_or_default();
    match json.get("next").and_then(Value::as_str) {
        Some(ANSWER) => Choice::Answer,
        Some(name) => offers.iter().find(|offer| prompt::function(offer) == name).map_or(Choice::Free, Choice::Call),
        None => Choice::Free,
    }
}

/// What a call has to be called with; none where it is called with nothing. A target is one of those that are known to be
/// there, where some are: the call would be refused with any other.
pub(super) fn arguments_format(offer: &Offer, situation: &Situation) -> Option<Value> {
    let mut schema = prompt::parameters(offer);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut)?;
    if properties.is_empty() {
        return None;
    }
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        bound(property);
    }
    let known = offer.target.as_deref().map(|kind| known(kind, situation)).unwrap_or_default();
    if let Some(target) = properties.get_mut("target").filter(|_| offer.target.is_some() && !known.is_empty()) {
        *target = json!({ "type": "string", "enum": known });
    }
    Some(format(&prompt::function(offer), &schema))
}

/// A text is held to a length, or a model that repeats itself would never come to the end of it.
fn bound(property: &mut Map<String, Value>) {
    if property.get("type") == Some(&json!("string")) && !property.contains_key("enum") {
        property.insert("maxLength".to_owned(), json!(ARGUMENT_CHARS_MAX));
    }
}

fn known(kind: &str, situation: &Situation) -> Vec<String> {
    let ids = situation.targets.iter().chain(&situation.since).filter_map(|line| line.split("  ").next());
    ids.filter(|id| id.split_once(':').is_some_and(|(is, _)| is == kind)).map(str::to_owned).collect()
}

fn format(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema["additionalProperties"] = json!(false);
    // Not `strict`: in that mode OpenAI takes no argument that may be left out. Others hold to a schema in either.
    json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema } })
}

/// The call that came of it.
pub(super) fn call(offer: &Offer, arguments: String) -> RawCall {
    raw_call(&prompt::function(offer), arguments)
}

/// A question with more at its end, and no two messages of one role in a row, which some templates refuse.
pub(super) fn with(mut messages: Vec<Message>, more: &str) -> Vec<Message> {
    match messages.last_mut().filter(|last| last.role == "user") {
        Some(last) => {
            last.content.push_str("\n\n");
            last.content.push_str(more);
        }
        None => messages.push(Message { role: "user", content: more.to_owned() }),
    }
    messages
}

/// The same after what the model said to it.
pub(super) fn after(mut messages: Vec<Message>, said: &str, more: &str) -> Vec<Message> {
    messages.push(Message { role: "assistant", content: said.to_owned() });
    with(messages, more)
}

/// Whether a model that was given functions wrote a call into its text instead, in a form that nobody reads: it knows the
/// functions and does not make calls by them.
pub(super) fn leaks(said: &Whole, offers: &[Offer]) -> bool {
    const MARKUP: [&str; 9] = [
        "<tool_call",
        "<|tool_call",
        "[tool_calls]",
        "<function=",
        "<function_call",
        "<|python_tag|>",
        "dsml",
        "```tool",
        "<invoke",
    ];
    if !said.calls.is_empty() {
        return false;
    }
    let text = said.text.to_lowercase();
    let is_markup = |text: &str| MARKUP.iter().any(|mark| text.contains(mark));
    let is_called = offers.iter().any(|offer| {
        let names = [prompt::function(offer), offer.name.clone()];
        names.iter().any(|name| text.contains(&format!("{}(", name.to_lowercase())))
    });
    (is_markup(&text) || is_called) && !is_readable(&said.text)
}

/// Whether a call in JSON stands in a text, which the core finds.
fn is_readable(text: &str) -> bool {
    let from = text.find(['{', '[']).unwrap_or(text.len());
    let first = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next();
    let first = match first {
        Some(Ok(Value::Array(all))) => all.into_iter().next(),
        Some(Ok(one)) => Some(one),
        Some(Err(_)) | None => None,
    };
    first.is_some_and(|call| ["name", "tool", "function"].iter().any(|key| call.get(key).is_some()))
}

#[cfg(test)]
mod tests {
    use countersign_core::mind::OfferedArg;

    use super::*;

    fn offers() -> Vec<Offer> {
        let arg = |name: &str, kind, choices: &[&str], required| OfferedArg {
            name: name.to_owned(),
            about: format!("the {name}"),
            kind,
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            required,
        };
        let args = vec![arg("by", "string", &["cpu", "memory"], false), arg("count", "integer", &[], false)];
        vec![
            Offer {
                name: "host_machine.find".to_owned(),
                about: "finds it".to_owned(),
                target: None,
                args: Vec::new(),
            },
            Offer {
                name: "host_file.read".to_owned(),
                about: "reads it".to_owned(),
                target: Some("host".to_owned()),
                args: [args, vec![arg("path", "string", &[], true)]].concat(),
            },
        ]
    }

    fn situation(targets: &[&str]) -> Situation {
        Situation {
            question: String::new(),
            unverified: None,
            offers: offers(),
            targets: targets.iter().map(|line| (*line).to_owned()).collect(),
            known: Vec::new(),
            earlier: Vec::new(),
            since: Vec::new(),
            exchanges: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn said(text: &str) -> Whole {
        Whole { text: text.to_owned(), ..Whole::default() }
    }

    #[test]
    fn a_choice_and_its_arguments_are_held_to_a_schema() {
        let offers = offers();
        insta::assert_snapshot!(choice_format(&offers), @r#"{"type":"json_schema","json_schema":{"name":"choice","schema":{"type":"object","properties":{"next":{"type":"string","enum":["host_machine__find","host_file__read","answer"]}},"required":["next"],"additionalProperties":false}}}"#);
        assert_eq!(arguments_format(&offers[0], &situation(&[])), None, "it is called with nothing");
        insta::assert_snapshot!(arguments_format(&offers[1], &situation(&[])).unwrap_or_default(), @r#"{"type":"json_schema","json_schema":{"name":"host_file__read","schema":{"type":"object","properties":{"by":{"type":"string","description":"the by","enum":["cpu","memory"]},"count":{"type":"integer","description":"the count"},"path":{"type":"string","description":"the path","maxLength":500},"target":{"type":"string","description":"the id of a host that is known to be there","maxLength":500}},"required":["path","target"],"additionalProperties":false}}}"#);
        let known = situation(&["host:web-1  web-1, this machine", "process:web-1:1-2  init", "host:web-2  web-2"]);
        let narrowed = arguments_format(&offers[1], &known).unwrap_or_default();
        let target = &narrowed["json_schema"]["schema"]["properties"]["target"];
        assert_eq!(target["enum"], json!(["host:web-1", "host:web-2"]), "what is there, and of that kind");
    }

    #[test]
    fn what_was_not_to_be_chosen_is_no_choice() {
        let offers = offers();
        assert_eq!(choice(&said(r#" {"next":"host_file__read"} "#), &offers), Choice::Call(&offers[1]));
        assert_eq!(choice(&said(r#"{"next": "answer"}"#), &offers), Choice::Answer);
        for free in ["I would read the file.", r#"{"next":"rm"}"#, r#"{"next":7}"#, "", r#"{"next":"host_fi"#] {
            assert_eq!(choice(&said(free), &offers), Choice::Free, "{free}");
        }
    }

    #[test]
    fn a_call_that_leaks_and_cannot_be_read_is_seen() {
        let offers = offers();
        let leaks = |text: &str| leaks(&said(text), &offers);
        for leaked in [
            "<tool_call>host_file__read</tool_call>",
            "<function=host_file__read><parameter=path>/etc/hosts</parameter></function>",
            "<｜DSML｜function_calls>host_file",
            "host_file__read(path=\"/etc/hosts\")",
            "I call host_file.read(\"/etc/hosts\").",
            "<tool_call>{\"path\": \"/etc/hosts\"}</tool_call>",
            // The core takes the first bracket for the call, too.
            "[TOOL_CALLS][{\"name\": \"host_file__read\"}]",
        ] {
            assert!(leaks(leaked), "{leaked}");
        }
        for fine in ["The disk is full.", "<tool_call>{\"name\": \"host_file__read\", \"arguments\": {}}</tool_call>"] {
            assert!(!leaks(fine), "{fine}");
        }
        let called = Whole { calls: vec![call(&offers[1], String::new())], ..said("<tool_call>") };
        assert!(!super::leaks(&called, &offers));
    }

    #[test]
    fn no_two_messages_of_one_role_follow_each_other() {
        let user = |content: &str| Message { role: "user", content: content.to_owned() };
        let first = with(vec![user("a")], "b");
        assert_eq!(first, [user("a\n\nb")]);
        let roles: Vec<_> = after(first, "c", "d").iter().map(|message| message.role).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
    }
}

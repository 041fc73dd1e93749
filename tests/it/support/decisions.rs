//! What a replay prints of what the core decided, as somebody would discuss it. How it is played is elsewhere.

use serde_json::Value;

use super::bot::Answer;

/// A decision on one line; what is said stands below it.
fn told(decision: &Value) -> String {
    let word = |key: &str| decision[key].as_str().unwrap_or("-").to_owned();
    let text = |message: &Value| Answer { messages: vec![message.clone()] }.text();
    let what = match word("decided").as_str() {
        "call" => format!("{} {} {}, plan {}", word("call"), word("target"), decision["args"], word("plan")),
        "say" => format!("{}\n    {}", word("mark"), text(decision).replace('\n', "\n    ")),
        "progress" => text(&decision["message"]),
        "redraw" => {
            let card = text(&decision["message"]);
            let mark = decision["message"]["mark"].as_str().unwrap_or("-");
            format!("{}: {mark} {}", word("plan"), card.lines().next_back().unwrap_or("-"))
        }
        "file" => format!("{}: {}", word("plan"), word("title")),
        "move" => format!("{}: {} -> {}", word("plan"), word("from"), word("to")),
        "record" => format!("{} {} {}: {}", word("what"), word("call"), word("code"), word("detail")),
        "finish" => format!("{} {}", word("signal"), word("ending")),
        other => panic!("an unknown decision: {other}"),
    };
    format!("{} {} {what}", decision["line"], word("decided"))
}

/// Those that are said, or everything else.
pub(crate) fn listed(decisions: &[Value], is_said: bool) -> String {
    let wanted = decisions.iter().filter(|decision| (decision["decided"] == "say") == is_said);
    wanted.map(told).collect::<Vec<_>>().join("\n")
}

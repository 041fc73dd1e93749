//! Which models the server has: `OpenAI`'s list, and Ollama's own, with which it also gets a model that it does not have.

use serde_json::{Value, json};

use crate::Ways;

/// `GET /v1/models`.
pub(crate) fn models(ways: &Ways) -> Value {
    let one = |id: &String| json!({ "id": id, "object": "model", "created": 1, "owned_by": "fake" });
    json!({ "object": "list", "data": ways.models.iter().map(one).collect::<Vec<_>>() })
}

/// `GET /api/tags`.
pub(crate) fn tags(ways: &Ways) -> Value {
    let one = |name: &String| json!({ "name": name, "model": name, "size": 1 });
    json!({ "models": ways.models.iter().map(one).collect::<Vec<_>>() })
}

/// `POST /api/pull`: what it says while it does, a line each; then it has the model.
pub(crate) fn pull(ways: &mut Ways, asked: &Value) -> String {
    let name = asked["model"].as_str().unwrap_or_default();
    let begun = json!({ "status": "pulling manifest" });
    let can = ways.pulls.iter().flatten().any(|one| one == name);
    if !can {
        return format!("{begun}\n{}\n", json!({ "error": "pull model manifest: file does not exist" }));
    }
    ways.models.push(name.to_owned());
    let of = |completed: u64| json!({ "status": "pulling 6a0746a1ec1a", "total": 2000, "completed": completed });
    let lines = [begun, of(0), of(1000), of(2000), json!({ "status": "success" })];
    lines.map(|line| line.to_string()).join("\n") + "\n"
}

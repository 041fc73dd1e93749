//! The one text of a JSON value, for what is hashed or compared: plans, audit rows, identical calls. What a value means
//! is not known here.

use serde_json::Value;

/// JSON without white space and with sorted keys at every depth. Sorted here, and not left to `serde_json`: whether its
/// objects keep the order of insertion is a feature (`preserve_order`) that any dependency may switch on for the whole
/// build, and a digest must not change with it.
pub fn text(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth_and_in_lists() {
        let value: Value =
            serde_json::from_str(r#"{"b": [{"z": 1, "a": {"y": 2, "x": 3}}], "a": null}"#).expect("JSON");
        assert_eq!(text(value), r#"{"a":null,"b":[{"a":{"x":3,"y":2},"z":1}]}"#);
    }
}

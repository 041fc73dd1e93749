//! Groups of a pattern in the arguments of an intent.

use serde_json::Value;

use crate::command::quoted;

/// Puts groups into a command line, as in `du -h {path}`: each as one quoted word. Other braces stay.
pub(super) fn with_groups<'t>(
    line: &str,
    is_group: impl Fn(&str) -> bool,
    group: impl Fn(&str) -> Option<&'t str>,
) -> String {
    let (mut filled, mut rest) = (String::new(), line);
    // In one pass: what was typed is not looked through for groups.
    while let Some((before, from)) = rest.split_once('{') {
        filled.push_str(before);
        let named = from.split_once('}').filter(|(name, _)| is_group(name));
        rest = match named {
            Some((name, after)) => {
                filled.push_str(&quoted(&[group(name).unwrap_or_default().to_owned()]));
                after
            }
            None => {
                filled.push('{');
                from
            }
        };
    }
    filled + rest
}

/// Returns the group of the pattern that is the whole value of an argument.
pub(super) fn whole_group(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix('{')?.strip_suffix('}')
}

/// Returns the name of a group as it is written in an argument.
pub(super) fn placeholder(group: &str) -> String {
    format!("{{{group}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_is_one_word_and_other_braces_stay() {
        let table = [
            ("du -h {a}", "/var", "", "du -h /var"),
            ("du {a} {b}", "/x;reboot", "it's $HOME", r#"du "/x;reboot" 'it'\''s $HOME'"#),
            ("x {a} {b}", "{b}", "`id`", "x \"{b}\" '`id`'"),
            ("docker ps --format '{{.Names}}' {c} {", "", "", "docker ps --format '{{.Names}}' {c} {"),
        ];
        for (line, a, b, expected) in table {
            let group = |name: &str| if name == "a" { Some(a) } else { Some(b) };
            assert_eq!(with_groups(line, |name| ["a", "b"].contains(&name), group), expected, "{line}");
        }
    }
}

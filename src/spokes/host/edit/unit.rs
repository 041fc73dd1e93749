//! A strict reader for the files that systemd configures units with (`systemd.syntax(7)`): sections, `key=value`,
//! comments, continued lines. Which keys there are is not its business.

/// The suffixes of files that are written like this.
const SUFFIXES: [&str; 13] = [
    "automount",
    "device",
    "link",
    "mount",
    "netdev",
    "network",
    "path",
    "scope",
    "service",
    "slice",
    "socket",
    "swap",
    "target",
];

/// Whether a file is one of systemd's: by its own name, or as a drop-in by its folder's.
pub(super) fn is_one(folder: &str, name: &str) -> bool {
    let is_unit =
        |name: &str| name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "timer" || SUFFIXES.contains(&suffix));
    let is_setting = name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "conf");
    is_unit(name) || (is_setting && folder.strip_suffix(".d").is_some_and(is_unit))
}

/// The first line that systemd would not understand, counted from 1.
pub(super) fn faulty_line(content: &str) -> Option<usize> {
    let (mut in_section, mut continued, mut last) = (false, false, 0);
    for (number, line) in (1..).zip(content.lines()) {
        last = number;
        let trimmed = line.trim();
        // A comment may stand between the parts of a continued line.
        if trimmed.starts_with('#') || trimmed.starts_with(';') {
            continue;
        }
        if continued {
            continued = trimmed.ends_with('\\');
            continue;
        }
        if trimmed.is_empty() {
            continue;
        }
        continued = trimmed.ends_with('\\');
        if trimmed.starts_with('[') {
            if continued || !is_section(trimmed) {
                return Some(number);
            }
            in_section = true;
        } else if !in_section || !is_assignment(trimmed) {
            return Some(number);
        }
    }
    continued.then_some(last)
}

fn is_section(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '[' && c != ']'))
}

fn is_assignment(line: &str) -> bool {
    let key = line.split_once('=').map(|(key, _)| key.trim_end());
    key.is_some_and(|key| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_by_their_names_and_drop_ins_by_their_folders() {
        let table = [
            ("system", "nginx.service", true),
            ("system", "backup.timer", true),
            ("nginx.service.d", "override.conf", true),
            ("nginx.conf.d", "site.conf", false),
            ("system", "service", false),
            ("etc", "motd", false),
        ];
        for (folder, name, expected) in table {
            assert_eq!(is_one(folder, name), expected, "{folder}/{name}");
        }
    }

    #[test]
    fn the_first_faulty_line_is_named() {
        let table = [
            ("", None),
            ("# only a comment\n", None),
            ("[Unit]\nDescription=a = b\n\n; x\n[Service]\nExecStart=/bin/x \\\n  # why\n  --more\nUser=\n", None),
            ("Description=x\n", Some(1)),
            ("[Unit]\nnonsense\n", Some(2)),
            ("[Unit]\n=x\n", Some(2)),
            ("[Unit]\nTwo words=x\n", Some(2)),
            ("[Unit\nA=b\n", Some(1)),
            ("[]\n", Some(1)),
            ("[Unit]\n[Service] x\n", Some(2)),
            ("[Service]\nExecStart=/bin/x \\\n", Some(2)),
        ];
        for (content, expected) in table {
            assert_eq!(faulty_line(content), expected, "{content:?}");
        }
    }
}

//! Patterns of file names (`/var/log/*.log`) and `~`, as a shell would read them, but bounded. Only folders are read; which
//! of the files may be shown is judged afterwards, by their names.

use std::fs;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::answer::Trouble;

/// The most names that one pattern may come to.
const NAMES_MAX: usize = 500;

/// The most entries of folders that are looked at for one pattern.
const ENTRIES_MAX: usize = 20_000;

/// Returns the paths that a pattern matches, sorted. Only absolute ones match anything.
pub(super) fn pattern(pattern: &str) -> Result<Vec<String>, Trouble> {
    if !pattern.starts_with('/') {
        let message = format!(
            "`{}` is no absolute path; write all of it, as in `/var/log/*.log`, or put it in quotes where it is no file",
            unescaped(pattern)
        );
        return Err(Trouble::invalid("line", message));
    }
    let mut found = vec![String::new()];
    let mut looked_at = 0;
    for (index, part) in pattern.split('/').enumerate() {
        let slash = if index == 0 { "" } else { "/" };
        found = if is_pattern(part) {
            let matcher = matcher(part)?;
            let mut more = Vec::new();
            for before in &found {
                more.extend(
                    entries(before, part, &matcher, &mut looked_at)?
                        .iter()
                        .map(|name| format!("{before}{slash}{name}")),
                );
            }
            more
        } else {
            let name = unescaped(part);
            let whole = found.iter().map(|before| format!("{before}{slash}{name}"));
            whole.filter(|path| path.is_empty() || Path::new(path).symlink_metadata().is_ok()).collect()
        };
        if found.len() > NAMES_MAX {
            return Err(too_many(pattern));
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Trouble::not_found(format!("no file matches `{}`", unescaped(pattern)), Vec::new()));
    }
    Ok(found)
}

/// Returns the home folder of the user that commands run for, with something behind it.
pub(super) fn home(rest: &str) -> Result<String, Trouble> {
    let home = etcetera::home_dir().map_err(|_| Trouble::invalid("line", "`~` has no meaning here; write the path"))?;
    Ok(format!("{}{rest}", home.display()))
}

fn too_many(pattern: &str) -> Trouble {
    let pattern = unescaped(pattern);
    Trouble::invalid("line", format!("`{pattern}` matches more than {NAMES_MAX} files; narrow it down"))
}

fn is_pattern(part: &str) -> bool {
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '*' | '?' | '[' => return true,
            _ => {}
        }
    }
    false
}

fn unescaped(part: &str) -> String {
    let mut text = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

fn matcher(part: &str) -> Result<GlobMatcher, Trouble> {
    // Two stars are one to a shell, and any number of folders to the matcher.
    let single = part.split("**").collect::<Vec<_>>().join("*").replace("**", "*");
    let glob = GlobBuilder::new(&single).literal_separator(true).backslash_escape(true).build();
    let glob = glob.map_err(|_| Trouble::invalid("line", format!("`{}` is no pattern", unescaped(part))))?;
    Ok(glob.compile_matcher())
}

/// The names in a folder that one part of a pattern matches. Hidden files only where the part begins with a dot.
fn entries(folder: &str, part: &str, matcher: &GlobMatcher, looked_at: &mut usize) -> Result<Vec<String>, Trouble> {
    let folder = Path::new(if folder.is_empty() { "/" } else { folder });
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *looked_at += 1;
        if *looked_at > ENTRIES_MAX {
            return Err(too_many(part));
        }
        // A name that is no text could not be shown, nor judged.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if (!name.starts_with('.') || part.starts_with('.')) && matcher.is_match(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(names: &[&str], wanted: &str) -> Result<Vec<String>, String> {
        let dir = tempfile::tempdir().expect("a folder for the test");
        let root = dir.path().canonicalize().expect("it is there").display().to_string();
        for name in names {
            let path = Path::new(&root).join(name);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
            fs::write(path, "").expect("a file can be written");
        }
        let found = pattern(&format!("{root}/{wanted}")).map_err(|trouble| trouble.failure().message.clone());
        let short = |path: String| path.strip_prefix(&format!("{root}/")).map(str::to_owned).unwrap_or(path);
        Ok(found.map_err(|message| message.replace(&root, ""))?.into_iter().map(short).collect())
    }

    #[test]
    fn a_pattern_is_read_as_a_shell_reads_it() {
        let names = ["a.log", "b.log", ".hidden.log", "x y", "d/a.txt", "d/b.txt", "e/a.txt", "[z]", "c-1"];
        let table: [(&str, &[&str]); 10] = [
            ("*.log", &["a.log", "b.log"]),
            (".*.log", &[".hidden.log"]),
            ("?.log", &["a.log", "b.log"]),
            ("[ab].log", &["a.log", "b.log"]),
            ("[!a].log", &["b.log"]),
            ("*/a.txt", &["d/a.txt", "e/a.txt"]),
            ("d/*", &["d/a.txt", "d/b.txt"]),
            ("**.log", &["a.log", "b.log"]),
            ("\\[z\\]*", &["[z]"]),
            ("[a-c]\\-*", &["c-1"]),
        ];
        for (wanted, expected) in table {
            assert_eq!(in_folder(&names, wanted).expect(wanted), expected, "{wanted}");
        }
        assert_eq!(in_folder(&names, "*.gz"), Err("no file matches `/*.gz`".to_owned()));
        assert_eq!(in_folder(&names, "d/a.txt/*"), Err("no file matches `/d/a.txt/*`".to_owned()));
    }

    #[test]
    fn a_pattern_comes_to_a_bounded_number_of_names() {
        let names: Vec<String> = (0..=NAMES_MAX).map(|number| format!("f{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(in_folder(&names, "f*"), Err(format!("`/f*` matches more than {NAMES_MAX} files; narrow it down")));
    }
}

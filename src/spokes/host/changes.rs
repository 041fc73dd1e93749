//! Changes printed by git. The setting `diff.context` makes git print the whole file around each change. This module masks each
//! version of the file as a whole, because the key of a secret may be far above it, and then cuts the output back to three lines
//! around each change.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};

use countersign_core::secrets::{Mask, secret_path};

use super::between::uncoloured;

/// The lines shown around a change, as git does by itself.
const LINES_AROUND: usize = 3;

/// The most bytes that are masked together: the changes of one file with all of it, or other output.
const PART_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The fewest bytes that are masked together, if more follow.
const PART_BYTES_MIN: usize = 64 * 1024;

/// Shown in place of the changes of a file that is secret by its name.
const SECRET_BY_NAME: &str = "(a secret by its name; not shown)\n";

/// Shown in place of a file whose changes are larger than [`PART_BYTES_MAX`].
const TOO_LARGE: &str = "(more than 8 MiB with the file around it; not shown)\n";

/// Masks what git writes, cuts it back and passes it on, until either end is gone. Returns true if anything was masked. Blocks.
pub(super) fn pass_on(from: PipeReader, mut to: PipeWriter) -> bool {
    let mut parts = Parts { from: BufReader::new(from), next: Vec::new() };
    let mut is_masked = false;
    while let Some(part) = parts.next_part() {
        let (shown, masked) = shown(&part);
        is_masked |= masked;
        // The reader has read enough.
        if to.write_all(&shown).is_err() {
            break;
        }
    }
    is_masked
}

/// The output of git, a few files or commits at a time.
struct Parts<R> {
    from: BufReader<R>,
    /// The first line of the next part.
    next: Vec<u8>,
}

impl<R: Read> Parts<R> {
    /// Returns the next part; none at the end. Of a file that is too large, only its name is in it.
    fn next_part(&mut self) -> Option<Vec<u8>> {
        let mut part = std::mem::take(&mut self.next);
        let mut file_at = begins_file(&part).then_some(0);
        let mut is_too_large = false;
        loop {
            let mut line = Vec::new();
            let most = u64::try_from(PART_BYTES_MAX).unwrap_or(u64::MAX);
            // What cannot be read any further has come to its end.
            let read = self.from.by_ref().take(most).read_until(b'\n', &mut line).unwrap_or_default();
            let is_first = begins_file(&line) || line.starts_with(b"commit ");
            if is_first && part.len() >= PART_BYTES_MIN {
                self.next = line;
                break;
            }
            if is_first {
                file_at = begins_file(&line).then_some(part.len());
                is_too_large = false;
            }
            if !is_too_large {
                part.append(&mut line);
            }
            match file_at {
                _ if read == 0 || is_too_large => {}
                Some(at) if part.len() - at > PART_BYTES_MAX => {
                    let name =
                        part.iter().skip(at).position(|byte| *byte == b'\n').map_or(part.len(), |end| at + end + 1);
                    part.truncate(name);
                    part.extend_from_slice(TOO_LARGE.as_bytes());
                    is_too_large = true;
                }
                None if part.len() > PART_BYTES_MAX => break,
                Some(_) | None => {}
            }
            if read == 0 {
                break;
            }
        }
        (!part.is_empty()).then_some(part)
    }
}

fn begins_file(line: &[u8]) -> bool {
    line.starts_with(b"diff --")
}

/// Returns a part as it is shown, and true if anything was masked in it.
fn shown(part: &[u8]) -> (Vec<u8>, bool) {
    let text = String::from_utf8_lossy(part);
    let text = uncoloured(&text);
    let mut shown = String::new();
    let (mut is_masked, mut has_hunks) = (false, false);
    let mut is_secret = false;
    for piece in pieces(&text) {
        let masked = match &piece {
            Piece::Text(text) => {
                is_secret = names_secret(text, is_secret);
                Mask::default().apply(text)
            }
            Piece::Hunk(_) if is_secret => {
                (has_hunks, is_masked) = (true, true);
                Cow::Borrowed(SECRET_BY_NAME)
            }
            Piece::Hunk(hunk) => {
                has_hunks = true;
                let masked = hunk.masked();
                is_masked |= masked.is_some();
                Cow::Owned(masked.as_ref().unwrap_or(hunk).cut_back())
            }
        };
        is_masked |= matches!((&piece, &masked), (Piece::Text(_), Cow::Owned(_)));
        shown.push_str(&masked);
    }
    // What holds no secret goes on as it is, text or not.
    if is_masked || has_hunks { (shown.into_bytes(), is_masked) } else { (part.to_vec(), false) }
}

/// Returns whether the last file named in a text before a hunk is secret by its name; `before` if the text names none.
fn names_secret(text: &str, before: bool) -> bool {
    text.lines().fold(before, |is_secret, line| {
        let named = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ "));
        match named.map(|name| name.trim_end().trim_matches('"')) {
            _ if line.starts_with("diff --") => false,
            Some(name) => is_secret || secret_path(&format!("/{name}")).is_some(),
            None => is_secret,
        }
    })
}

/// A piece of git's output.
enum Piece<'t> {
    Text(&'t str),
    Hunk(Hunk<'t>),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = 0;
    while let Some(line) = rest.get(plain..).and_then(|rest| rest.split_inclusive('\n').next()) {
        let behind = rest.get(plain + line.len()..).unwrap_or_default();
        let Some((hunk, after)) = Header::of(line).map(|header| Hunk::of(header, behind)) else {
            plain += line.len();
            continue;
        };
        pieces.push(Piece::Text(rest.get(..plain).unwrap_or_default()));
        pieces.push(Piece::Hunk(hunk));
        (rest, plain) = (after, 0);
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// The lines of one version of a file in a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lines {
    /// The number of the first.
    first: usize,
    count: usize,
}

impl Lines {
    fn of(text: &str) -> Option<Self> {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some(Self { first: first.parse().ok()?, count: count.parse().ok()? })
    }
}

/// The first line of a hunk: `@@ -1,8 +1,9 @@`, with one more `@` and one more version for each further parent.
#[derive(Clone, Debug)]
struct Header {
    /// The parents, then the result.
    versions: Vec<Lines>,
}

impl Header {
    fn of(line: &str) -> Option<Self> {
        let ats = line.bytes().take_while(|byte| *byte == b'@').count();
        let mut words = line.get(ats..)?.strip_prefix(' ')?.split(' ');
        let parents = words.by_ref().take(ats.checked_sub(1)?).map(|word| Lines::of(word.strip_prefix('-')?));
        let mut versions = parents.collect::<Option<Vec<Lines>>>()?;
        versions.push(Lines::of(words.next()?.strip_prefix('+')?)?);
        (ats >= 2).then_some(Self { versions })
    }
}

/// A line of a hunk.
#[derive(Clone, Debug)]
struct Line<'t> {
    /// One sign for each parent: `-` is in the parent alone, `+` is in the result alone.
    signs: &'t str,
    text: Cow<'t, str>,
    /// The note "\\ No newline at end of file" that follows the line, if any.
    note: &'t str,
}

impl Line<'_> {
    fn is_change(&self) -> bool {
        self.signs.contains(['-', '+'])
    }

    /// Returns whether a version has the line. The result comes after the parents.
    fn is_in(&self, version: usize) -> bool {
        match self.signs.as_bytes().get(version) {
            Some(b'-') => true,
            Some(b'+') => false,
            Some(_) | None => !self.signs.contains('-'),
        }
    }
}

/// A change with the lines around it: all of a file, as git is set here.
#[derive(Clone, Debug)]
struct Hunk<'t> {
    header: Header,
    lines: Vec<Line<'t>>,
}

impl<'t> Hunk<'t> {
    /// Reads the lines behind a header. Returns the rest, too.
    fn of(header: Header, text: &'t str) -> (Self, &'t str) {
        let parents = header.versions.len() - 1;
        let mut missing: Vec<usize> = header.versions.iter().map(|lines| lines.count).collect();
        let mut hunk = Self { header, lines: Vec::new() };
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            if let Some(last) = hunk.lines.last_mut().filter(|_| line.starts_with('\\')) {
                last.note = line;
            } else if let Some((signs, text)) = line.split_at_checked(parents)
                && signs.chars().all(|sign| matches!(sign, ' ' | '-' | '+'))
                && missing.iter().any(|lines| *lines > 0)
            {
                let line = Line { signs, text: Cow::Borrowed(text), note: "" };
                for (version, missing) in missing.iter_mut().enumerate() {
                    *missing = missing.saturating_sub(usize::from(line.is_in(version)));
                }
                hunk.lines.push(line);
            } else {
                break;
            }
            rest = rest.get(line.len()..).unwrap_or_default();
        }
        (hunk, rest)
    }

    /// Returns the hunk with every version of the file masked; none where no secret is in any.
    fn masked(&self) -> Option<Self> {
        let mut masked = self.clone();
        let mut has_secret = false;
        for version in 0..self.header.versions.len() {
            let text: String =
                self.lines.iter().filter(|line| line.is_in(version)).map(|line| line.text.as_ref()).collect();
            let Cow::Owned(of_version) = Mask::default().apply_by_line(&text) else { continue };
            let mut of_version = of_version.split_inclusive('\n');
            for line in masked.lines.iter_mut().filter(|line| line.is_in(version)) {
                let text = of_version.next().unwrap_or_default();
                // What is a secret in one version is none to show in another.
                if text != line.text && !line.text.contains("[masked: ") {
                    has_secret = true;
                    line.text = Cow::Owned(text.to_owned());
                }
            }
        }
        has_secret.then_some(masked)
    }

    /// Returns the text of the hunk with a few lines around each change.
    fn cut_back(&self) -> String {
        let changes: Vec<usize> =
            (0..self.lines.len()).filter(|n| self.lines.get(*n).is_some_and(Line::is_change)).collect();
        let mut text = String::new();
        let mut after = 0;
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for change in changes {
            let (from, to) = (change.saturating_sub(LINES_AROUND), (change + LINES_AROUND + 1).min(self.lines.len()));
            match ranges.last_mut().filter(|(_, end)| from <= *end) {
                Some((_, end)) => *end = to,
                None => ranges.push((from, to)),
            }
        }
        let mut at = self.begin();
        for (from, to) in ranges {
            self.count(after..from, &mut at);
            let begin = at.clone();
            self.count(from..to, &mut at);
            after = to;
            text.push_str(&header(&begin, &at));
            for line in self.lines.get(from..to).unwrap_or_default() {
                text.extend([line.signs, line.text.as_ref(), line.note]);
            }
        }
        text
    }

    /// The numbers of the first lines of each parent and of the result, or of the one that would come next where there is none.
    fn begin(&self) -> Vec<usize> {
        let versions = self.header.versions.iter();
        versions.map(|lines| if lines.count == 0 { lines.first + 1 } else { lines.first }).collect()
    }

    /// Moves the numbers on by these lines.
    fn count(&self, lines: std::ops::Range<usize>, at: &mut [usize]) {
        for line in self.lines.get(lines).unwrap_or_default() {
            for (version, number) in at.iter_mut().enumerate() {
                *number += usize::from(line.is_in(version));
            }
        }
    }
}

fn header(begin: &[usize], end: &[usize]) -> String {
    let ats = "@".repeat(begin.len());
    let parents = begin.len() - 1;
    let versions = begin.iter().zip(end).enumerate().map(|(version, (begin, end))| {
        let sign = if version == parents { '+' } else { '-' };
        match end - begin {
            0 => format!("{sign}{},0", begin - 1),
            1 => format!("{sign}{begin}"),
            count => format!("{sign}{begin},{count}"),
        }
    });
    format!("{ats} {} {ats}\n", versions.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use insta::assert_snapshot;

    use super::*;

    /// A repository with some commits, whose changes git shows with whole files around them and without.
    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Self(tempfile::tempdir().expect("a folder for the test"));
            repository.git(&["init", "-qb", "main"]);
            repository
        }

        fn git(&self, args: &[&str]) -> String {
            let own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
            let command = Command::new("git").current_dir(self.0.path()).args(own).args(args).output();
            let done = command.expect("git is installed");
            String::from_utf8(done.stdout).expect("it is a text")
        }

        fn commit(&self, name: &str, text: &str) {
            std::fs::write(self.0.path().join(name), text).expect("it can be written");
            self.git(&["add", "."]);
            self.git(&["commit", "-qm", "a message"]);
        }

        /// Returns the output of git with these arguments after masking and cutting.
        fn shown(&self, args: &[&str]) -> String {
            let whole = self.git(&[&["-c", "diff.context=1000000000"], args].concat());
            String::from_utf8(shown(whole.as_bytes()).0).expect("it is a text")
        }
    }

    fn lines(count: usize, changed: &[usize]) -> String {
        (1..=count)
            .map(|n| if changed.contains(&n) { format!("changed {n}\n") } else { format!("line {n}\n") })
            .collect()
    }

    #[test]
    fn changes_without_secrets_are_shown_as_git_shows_them() {
        let repository = Repository::new();
        let with_function_names = regex::Regex::new("(?m)^(@@+ .* @@+) .*$").expect("a sound pattern");
        let states = [
            lines(40, &[]),
            lines(40, &[1, 8, 9, 16, 24, 40]),
            lines(39, &[20]).trim_end().to_owned(),
            lines(60, &[20, 50]),
            String::new(),
            lines(2, &[]),
        ];
        for state in &states {
            repository.commit("a.txt", state);
        }
        repository.commit("b @@ -1 +1 @@.txt", "@@ -1,4 +1,4 @@\n a\n-b\n+c\n");
        repository.git(&["checkout", "-qb", "side", "HEAD~2"]);
        repository.commit("a.txt", &lines(30, &[3]));
        repository.git(&["merge", "-q", "main"]);
        repository.commit("a.txt", &lines(31, &[3, 30]));
        for args in [["log", "-p"].as_slice(), &["log", "-p", "--cc"], &["log", "-p", "-c", "-m"], &["diff", "HEAD~2"]]
        {
            let own = repository.git(args);
            let own = with_function_names.replace_all(&own, "$1");
            assert!(own.contains("@@ -"), "{own}");
            assert_same_lines(&repository.shown(args), &own);
        }
    }

    fn assert_same_lines(left: &str, right: &str) {
        let differs = left.lines().zip(right.lines()).find(|(left, right)| left != right);
        assert_eq!((differs, left.lines().count()), (None, right.lines().count()));
    }

    #[test]
    fn changes_of_files_that_are_secret_by_name_are_not_shown() {
        let repository = Repository::new();
        for name in [".env", ".htpasswd", "id_rsa", "plain.txt"] {
            repository.commit(name, "one word\n");
            repository.commit(name, "another word\n");
        }
        for args in [["log", "-p"].as_slice(), &["log", "-p", "--no-prefix"], &["diff", "HEAD~7", "HEAD"]] {
            let shown = repository.shown(args);
            let files = if args[0] == "diff" { 4 } else { 8 };
            assert_eq!(shown.matches("(a secret by its name; not shown)").count(), files * 3 / 4, "{shown}");
            assert_eq!(shown.matches("word").count(), if args[0] == "diff" { 1 } else { 3 }, "{shown}");
        }
    }

    #[test]
    fn a_secret_far_below_its_key_is_masked() {
        let repository = Repository::new();
        let key: Vec<String> =
            (0..20).map(|n| format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7{n:02}\n")).collect();
        let key = key.concat();
        let pem = |key: &str| format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n");
        let passwords = |changed: &str| {
            format!(
                "name: shop\npasswords:\n  - Qw7hJ2kLm1\n  - Qw7hJ2kLm2\n  - Qw7hJ2kLm3\n  - Qw7hJ2kLm4\n  - {changed}\n"
            )
        };
        repository.commit("key.txt", &pem(&key));
        repository.commit("a.yaml", &passwords("Qw7hJ2kLm5"));
        repository.commit("key.txt", &pem(&key.replace("C710", "C8xy")));
        repository.commit("a.yaml", &passwords("Qw7hJ2kLm6"));
        let shown = repository.shown(&["log", "--format=%s", "-p", "-2", "--no-prefix"]);
        let shown = regex::Regex::new("index .*").expect("a sound pattern").replace_all(&shown, "index").into_owned();
        assert_snapshot!(shown, @"
        a message

        diff --git a.yaml a.yaml
        index
        --- a.yaml
        +++ a.yaml
        @@ -4,4 +4,4 @@
           - [masked: secret]
           - [masked: secret]
           - [masked: secret]
        -  - [masked: secret]
        +  - [masked: secret]
        a message

        diff --git key.txt key.txt
        index
        --- key.txt
        +++ key.txt
        @@ -9,7 +9,7 @@
         [masked: private key]
         [masked: private key]
         [masked: private key]
        -[masked: private key]
        +[masked: private key]
         [masked: private key]
         [masked: private key]
         [masked: private key]
        ");
    }
}

//! Tools whose words have a grammar of their own: what no table of options can say is looked at here, and what is inside a
//! statement or a little program is handed to its own judge.

use super::args::Parsed;
use super::inner::Danger;
use super::judge::Case;
use super::judgement::{Finding, Risk};
use super::script::Word;
use super::table::{Does, Inspect};
use super::{find, inner, little, settings};

/// Looks at a command by the grammar of its tool.
pub(super) fn look(inspect: Inspect, case: &Case<'_, '_>) -> Finding {
    match inspect {
        Inspect::Find => find::look(case),
        Inspect::Http => http(case),
        Inspect::Dd => dd(case),
        Inspect::Ps => ps(case),
        Inspect::Tar => tar(case),
        Inspect::Test => test(case),
        Inspect::Printf => printf(case),
        Inspect::Env => env(case),
        Inspect::Date => date(&case.parsed, &case.name),
        Inspect::GitGrep => git_grep(case),
        Inspect::GitLines => git_lines(case),
        Inspect::GitRevisions => git_revisions(case),
        Inspect::Awk => little_program(case, &little::awk::judge),
        Inspect::Sed => {
            let sandboxed = case.parsed.has("--sandbox");
            little_program(case, &|script| little::sed::judge(script, sandboxed))
        }
        Inspect::Psql => statements(case, 0, inner::client::psql).and(connection(case)),
        Inspect::Mysql => statements(case, 0, inner::client::mysql),
        Inspect::Sqlite => statements(case, 1, inner::client::sqlite),
        Inspect::Mongo => statements(case, 0, inner::mongo::judge).and(mongo_scripts(case)),
        Inspect::Redis => redis(case),
    }
}

/// The program that `awk` or `sed` is given: the values of its options joined by line feeds, or the first operand.
fn little_program(case: &Case<'_, '_>, judge: &dyn Fn(&str) -> Result<(), String>) -> Finding {
    let mut parts: Vec<Option<&Word>> = case.parsed.values(&Does::Program).map(|(_, value)| value).collect();
    if parts.is_empty() {
        parts.extend(case.parsed.operands.first().map(|(_, word)| Some(word)));
    } else {
        // Where options end at the first operand, an operand before `-e` is the program.
        let first = case.parsed.operands.first().map_or(usize::MAX, |(at, _)| *at);
        let late = case.parsed.options.iter().any(|given| given.rule.does == Does::Program && given.at > first);
        if late {
            return Finding::unknown(format!("write the options of `{}` before its files", case.name));
        }
    }
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.and_then(Word::known)).collect();
    let Some(texts) = texts else {
        return Finding::unknown(format!("the program of `{}` is not known before it runs", case.name));
    };
    match judge(&texts.join("\n")) {
        Ok(()) => Finding::reads().by_content(),
        Err(reason) => Finding::unknown(format!("{reason} ({})", case.name)),
    }
}

/// The statements that a database's client is given: the values of its options, and, for some, the operands after so many.
fn statements(case: &Case<'_, '_>, operands_before: usize, judge: fn(&str) -> Result<(), Danger>) -> Finding {
    let options = case.parsed.values(&Does::Program).map(|(_, value)| value);
    let skip = if operands_before == 0 { usize::MAX } else { operands_before };
    let operands = case.parsed.operands.iter().skip(skip).map(|(_, word)| Some(word));
    let judged = options.chain(operands).map(|statement| match statement.and_then(Word::known) {
        Some(text) => of_danger(judge(text), &case.name),
        None => Finding::unknown(format!("what `{}` runs is not known before it runs", case.name)),
    });
    judged.fold(Finding::reads(), Finding::and).by_content()
}

/// What `psql` connects to may hold settings that load code or name programs; these few do not.
fn connection(case: &Case<'_, '_>) -> Finding {
    const HARMLESS: [&str; 8] =
        ["host", "hostaddr", "port", "dbname", "user", "connect_timeout", "sslmode", "application_name"];
    let texts = case.parsed.operands.iter().filter_map(|(_, word)| word.known());
    let named = case.parsed.options.iter().filter(|given| matches!(given.name.as_str(), "-d" | "--dbname"));
    let texts = texts.chain(named.filter_map(|given| given.value.as_ref().and_then(Word::known)));
    let settings = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || c == '?' || c == '&'));
    let mut keys = settings.filter_map(|setting| setting.split_once('=')).map(|(key, _)| key);
    match keys.find(|key| !HARMLESS.contains(key)) {
        Some(key) => Finding::unknown(format!("sets {key} for the connection, which may load code (psql)")),
        None => Finding::reads(),
    }
}

/// One operand is the database; any other is a script.
fn mongo_scripts(case: &Case<'_, '_>) -> Finding {
    let is_script = |word: &Word| word.known().is_none_or(|text| text.contains(".js") || text.contains(".mongodb"));
    let script = case.parsed.operands.iter().enumerate().find(|(place, (_, word))| *place > 0 || is_script(word));
    script.map_or_else(Finding::reads, |(_, (_, word))| {
        Finding::unknown(format!("runs the script {} ({})", word.shown(), case.name))
    })
}

fn redis(case: &Case<'_, '_>) -> Finding {
    let words: Option<Vec<&str>> = case.parsed.operands.iter().map(|(_, word)| word.known()).collect();
    match words {
        None => Finding::unknown(format!("what `{}` runs is not known before it runs", case.name)),
        Some(words) if words.is_empty() => Finding::reads(),
        Some(words) => of_danger(inner::redis::judge(&words), &case.name).by_content(),
    }
}

fn of_danger(judged: Result<(), Danger>, name: &str) -> Finding {
    judged.map_or_else(
        |danger| Finding::writes(format!("{} ({name})", danger.reason), danger.risk),
        |()| Finding::reads(),
    )
}

/// Schemes that only fetch.
const FETCHING: [&str; 2] = ["http://", "https://"];

/// Beginnings of host names that `curl` takes for a protocol that is told what to do.
const GUESSED: [&str; 5] = ["dict.", "imap.", "ldap.", "pop3.", "smtp."];

/// Headers by which a server takes a request for another one, without `-`.
const OTHER_METHOD: [&str; 3] = ["xhttpmethod", "xmethodoverride", "xhttpmethodoverride"];

/// `curl` and its kin: a plain address, a method that only fetches, headers that are plain text.
fn http(case: &Case<'_, '_>) -> Finding {
    let addresses = case.parsed.operands.iter().map(|(_, word)| address(word, &case.name));
    let options = case.parsed.values(&Does::Program).map(|(name, value)| http_option(name, value));
    let redirects = (case.name == "wget" && !case.parsed.has("--max-redirect") && !case.parsed.operands.is_empty())
        .then(|| {
            Finding::unknown("follows redirects to hosts that nobody named; add --max-redirect=0 (wget)".to_owned())
        });
    addresses.chain(options).chain(redirects).fold(Finding::reads(), Finding::and)
}

fn address(word: &Word, program: &str) -> Finding {
    match word {
        Word::Known(text) if FETCHING.iter().any(|scheme| text.starts_with(scheme)) => Finding::reads(),
        Word::Known(text) if text.contains(":/") => Finding::unknown(format!("{text} is not an address of the web")),
        // Without a scheme, `curl` guesses one by the name of the host.
        Word::Known(text)
            if program == "curl" && GUESSED.iter().any(|name| text.to_ascii_lowercase().starts_with(name)) =>
        {
            Finding::unknown(format!("{text} may not be an address of the web; write http:// before it"))
        }
        Word::Known(_) => Finding::reads(),
        Word::Unseen(unseen) => Finding::unknown(format!("`{}` could send what it holds to somebody", unseen.text)),
    }
}

fn http_option(name: &str, value: Option<&Word>) -> Finding {
    let Some(Word::Known(value)) = value else {
        return Finding::unknown(format!("the value of {name} is not known before it runs"));
    };
    if value.contains(char::is_control) {
        return Finding::unknown(format!("the value of {name} holds a line break, which could begin another request"));
    }
    match name {
        "-X" | "--request" | "--method" => match value.as_str() {
            "GET" | "HEAD" | "OPTIONS" => Finding::reads(),
            method => Finding::writes(format!("sends a {method} request"), Risk::MediumWrite),
        },
        "--max-redirect" if value != "0" => Finding::unknown("follows redirects to hosts that nobody named".to_owned()),
        "-w" | "--write-out" if value.contains("%output{") => {
            Finding::writes("writes to the file in %output{...}".to_owned(), Risk::MediumWrite)
        }
        "-H" | "--header" if overrides_method(value) => {
            Finding::writes(format!("sends another method in a header ({value})"), Risk::MediumWrite)
        }
        _ if value.starts_with('@') => Finding::unknown(format!("sends the content of {value} ({name})")),
        _ => Finding::reads(),
    }
}

/// `X-HTTP-Method-Override: DELETE` turns a GET into a DELETE.
fn overrides_method(header: &str) -> bool {
    let name = header.split([':', ';']).next().unwrap_or_default().trim().replace(['-', '_'], "").to_ascii_lowercase();
    OTHER_METHOD.contains(&name.as_str())
}

fn dd(case: &Case<'_, '_>) -> Finding {
    let mut found = Finding::reads();
    let mut counted = false;
    let mut device = None;
    for (_, word) in &case.parsed.operands {
        let start = word.start();
        counted |= start.starts_with("count=");
        if let Some(target) = start.strip_prefix("of=") {
            if !matches!(word.known(), Some("of=/dev/null" | "of=/dev/stdout")) {
                found = found.and(Finding::writes(format!("writes to {target} (dd of=)"), Risk::HighWrite));
            }
        } else if !start.contains('=') {
            found = found.and(Finding::unknown(format!("`{}` could become an output of `dd`", word.shown())));
        }
        device = device.or(start.strip_prefix("if=").and_then(super::paths::endless));
    }
    match device {
        Some(endless) if !counted => found.and(endless),
        _ => found,
    }
}

/// `ps e` shows what programs were started with, passwords among it. In the old style without a dash the letter stands
/// in any word (`ps -ef e`), but not in the columns behind `o`, `O` or `k`.
fn ps(case: &Case<'_, '_>) -> Finding {
    if let Some(word) = case.words.iter().find(|word| matches!(word, Word::Unseen(unseen) if !unseen.number)) {
        return Finding::unknown(format!("`{}` could ask for the environment of programs (ps)", word.shown()));
    }
    let mut takes_columns = false;
    for (_, word) in &case.parsed.operands {
        let text = word.start();
        let letters = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic());
        if letters && !takes_columns && text.contains('e') {
            return Finding::unknown(format!("shows the environment of programs, with their secrets (ps {text})"));
        }
        let old_style = text.strip_suffix('o').is_some_and(|rest| rest.chars().all(|c| "auxwfjl".contains(c)));
        takes_columns = letters && !takes_columns && old_style;
    }
    Finding::reads()
}

/// The old style without a dash is read as the new one, where both mean the same: `f` last, with its value behind it.
fn tar(case: &Case<'_, '_>) -> Finding {
    let Some(Word::Known(first)) = case.words.first() else {
        return Finding::unknown("what `tar` does is not known before it runs".to_owned());
    };
    // `host:file` is fetched by rsh or ssh.
    let remote = |text: &str| text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    if !case.parsed.has("--force-local")
        && let Some(word) =
            case.words.iter().filter_map(Word::known).find(|word| remote(word.trim_start_matches("--file=")))
    {
        return Finding::unknown(format!("fetches {word} from another machine (tar)"));
    }
    if first.starts_with('-') {
        let lists = case.parsed.has("-t") || case.parsed.has("--list");
        return if lists { Finding::reads() } else { packs() };
    }
    let is_list = first.contains('t')
        && first.chars().all(|c| "tvzjJaf".contains(c))
        && first.find('f').is_none_or(|at| at + 1 == first.len());
    let dashes = case
        .words
        .iter()
        .skip(1)
        .any(|word| word.start().starts_with('-') || matches!(word, Word::Unseen(u) if !u.plain));
    match (is_list, dashes) {
        (true, false) => Finding::reads(),
        (true, true) => Finding::unknown("mixes the old and the new way of options (tar)".to_owned()),
        (false, _) => packs(),
    }
}

fn packs() -> Finding {
    Finding::writes("packs or unpacks files (tar)".to_owned(), Risk::MediumWrite)
}

/// `test` and `[`: `-v` evaluates the name of a variable, commands in it among it.
fn test(case: &Case<'_, '_>) -> Finding {
    let operators = [
        "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o", "]", ")",
    ];
    for (at, word) in case.words.iter().enumerate() {
        let next = case.words.get(at + 1).map(|word| word.known().unwrap_or_default());
        match word {
            Word::Known(text) if matches!(text.as_str(), "-v" | "-R") => {
                return Finding::unknown(format!("looks up a variable by a computed name ([ {text} ])"));
            }
            Word::Unseen(unseen) if unseen.many && !unseen.plain && !unseen.number => {
                return Finding::unknown(format!("write \"{}\" in quotes inside `[ ]`", unseen.text));
            }
            // It could be an operator of one word, if a word follows.
            Word::Unseen(unseen) if !unseen.plain && next.is_some_and(|next| !operators.contains(&next)) => {
                return Finding::unknown(format!("`{}` could become an operator inside `[ ]`", unseen.text));
            }
            Word::Known(_) | Word::Unseen(_) => {}
        }
    }
    Finding::reads()
}

/// The shell's own `printf` sets a variable at `%n`.
fn printf(case: &Case<'_, '_>) -> Finding {
    let format = case.parsed.operands.first().map(|(_, word)| word);
    match format {
        Some(Word::Known(text))
            if text.split('%').skip(1).any(|rest| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*'".contains(c)).starts_with('n')
            }) =>
        {
            Finding::unknown("sets a variable of the shell (printf %n)".to_owned())
        }
        Some(Word::Unseen(unseen)) => {
            Finding::unknown(format!("the format `{}` of `printf` is not known before it runs", unseen.text))
        }
        Some(Word::Known(_)) | None => Finding::reads(),
    }
}

/// `env A=b PROGRAM ...`: settings, then what it runs.
fn env(case: &Case<'_, '_>) -> Finding {
    let mut found = Finding::reads();
    for (at, word) in &case.parsed.operands {
        match word.known().and_then(|text| text.split_once('=')) {
            Some((name, value)) => found = found.and(settings::judge(name, &Word::from(value))),
            None => {
                let inner = case.words.get(*at..).unwrap_or_default();
                return found.and(case.judge.words(inner, case.input, case.depth + 1).by_content());
            }
        }
    }
    found
}

/// The lines that git shows of a file, by their numbers. A pattern, or the name of a function, would tell whether a text is in
/// what is not masked, and a line alone may be a part of a secret.
fn git_lines(case: &Case<'_, '_>) -> Finding {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_end = |text: &str| text.is_empty() || is_number(text.trim_start_matches(['+', '-']));
    let is_range = |text: &str| {
        let (begin, end) = text.split_once(',').unwrap_or((text, ""));
        is_number(begin) && is_end(end)
    };
    // What stands behind `--` is a path; an older version is not masked before.
    let of_now_max = usize::from(case.parsed.dashes.is_none());
    let is_of_now = case.names_before_dashes() <= of_now_max;
    // The file is masked before git reads it; in an older version nothing tells a line from what git writes before it.
    if !is_of_now && ["git blame", "git annotate"].contains(&case.name.as_str()) {
        return Finding::unknown(format!("shows an older version; write `git show COMMIT:FILE` ({})", case.name));
    }
    for given in &case.parsed.options {
        let value = given.value.as_ref().and_then(Word::known).unwrap_or_default();
        let problem = match given.name.as_str() {
            "-L" if !is_range(value) => "may search what is not masked; write the numbers of lines",
            "-L" if !is_of_now => "shows lines without what stands above them; name the file alone",
            "--graph" if SHOW_CHANGES.iter().any(|option| case.parsed.has(option)) => {
                "draws before the lines of changes, in which no secret can be masked then"
            }
            _ => continue,
        };
        return Finding::unknown(format!("{problem} ({} {})", case.name, given.name));
    }
    Finding::reads()
}

/// What git searches: files as they are. Of an older version, which is not masked, it would tell whether a guess is right.
fn git_grep(case: &Case<'_, '_>) -> Finding {
    let is_pattern = |option: &&str| case.parsed.has(option);
    let patterns_max = usize::from(!["-e", "-f"].iter().any(is_pattern));
    if case.names_before_dashes() <= patterns_max {
        return Finding::reads();
    }
    Finding::unknown(format!(
        "may search older versions, which are not masked; write `--` before paths ({})",
        case.name
    ))
}

/// Options that make git print changes line by line.
const SHOW_CHANGES: [&str; 8] =
    ["-p", "-u", "--patch", "--patch-with-raw", "--patch-with-stat", "-c", "--cc", "--diff-merges"];

/// The commits that git is given. Naming one by its message would tell whether a text is in messages, which are not masked.
fn git_revisions(case: &Case<'_, '_>) -> Finding {
    let searches = |text: &str| {
        let revision = text.split_once('=').map_or(text, |(_, value)| value);
        revision.starts_with(":/") || ["^{/", "..:/", "^:/"].iter().any(|by_message| revision.contains(by_message))
    };
    match case.words.iter().filter_map(Word::known).find(|word| searches(word)) {
        Some(word) => Finding::unknown(format!("`{word}` searches messages; write `git log | grep TEXT`")),
        None => Finding::reads(),
    }
}

fn date(parsed: &Parsed<'_>, name: &str) -> Finding {
    let formats = parsed.operands.iter().all(|(_, word)| word.start().starts_with('+'));
    if formats { Finding::reads() } else { Finding::writes(format!("sets the clock ({name})"), Risk::HighWrite) }
}

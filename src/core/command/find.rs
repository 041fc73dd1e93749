//! `find`: its tests and actions stand between its places and may run commands (`-exec ... ;`). Everything that is not
//! listed here, or cannot be told from an action, is not known to only read.

use super::judge::Case;
use super::judgement::{Finding, Risk};
use super::script::{Feed, Input, Unseen, Word};

/// Tests and actions without a value.
const ALONE: &str = "\
    -print -print0 -ls -prune -quit -depth -d -empty -executable -readable -writable -nouser -nogroup -true \
    -false -mount -xdev -daystart -noleaf -ignore_readdir_race -follow -not -a -and -o -or \
    -noignore_readdir_race -nowarn -warn ! ( ) , -help --help -version --version -H -L -P";

/// Tests with one value.
const WITH_VALUE: &str = "\
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime \
    -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -maxdepth -mindepth -user -group -uid -gid -perm \
    -links -inum -samefile -fstype -lname -ilname -used -printf -context -newermt -newerct -newerat -newermm \
    -newercc -newerma -newermc -D";

/// Looks at the words of `find`.
pub(super) fn look(case: &Case<'_, '_>) -> Finding {
    let mut found = Finding::reads();
    let mut words = case.words;
    while let Some((word, rest)) = words.split_first() {
        let (finding, after) = match word {
            Word::Known(text) => primary(case, text, rest),
            Word::Unseen(_) => (of_unseen(word), rest),
        };
        found = found.and(finding);
        words = after;
    }
    found
}

/// One test or action: what it does, and the words behind its own.
fn primary<'w>(case: &Case<'_, '_>, text: &str, rest: &'w [Word]) -> (Finding, &'w [Word]) {
    let after_value = rest.get(1..).unwrap_or_default();
    match text {
        "-delete" => (Finding::writes("deletes what it finds (find -delete)".to_owned(), Risk::HighWrite), rest),
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => (print_into(text, rest), after_value),
        "-exec" | "-execdir" => exec(case, text, rest),
        "-ok" | "-okdir" => (Finding::unknown(format!("asks before it runs a program (find {text})")), rest),
        option if ALONE.split_whitespace().any(|known| known == option) => (Finding::reads(), rest),
        option if WITH_VALUE.split_whitespace().any(|known| known == option) => (value(text, rest), after_value),
        option if option.starts_with("-O") && option.len() == 3 => (Finding::reads(), rest),
        option if option.starts_with('-') => {
            (Finding::unknown(format!("the test {option} of `find` is not known to only read")), rest)
        }
        _ => (Finding::reads(), rest),
    }
}

fn print_into(action: &str, rest: &[Word]) -> Finding {
    let target = rest.first().map_or("a file", Word::shown);
    if matches!(target, "/dev/stdout" | "/dev/stderr" | "/dev/null") {
        return Finding::reads();
    }
    Finding::writes(format!("writes to {target} (find {action})"), Risk::MediumWrite)
}

fn value(test: &str, rest: &[Word]) -> Finding {
    match rest.first() {
        Some(Word::Known(found)) if looks_like_an_option(found) => {
            Finding::unknown(format!("{found} as the value of {test} (find)"))
        }
        Some(Word::Unseen(unseen)) if unseen.many => {
            Finding::unknown(format!("`{}` may become several words; put it in quotes (find {test})", unseen.text))
        }
        _ => Finding::reads(),
    }
}

/// `-5` is a number.
fn looks_like_an_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-'))
}

fn exec<'w>(case: &Case<'_, '_>, action: &str, rest: &'w [Word]) -> (Finding, &'w [Word]) {
    let end = end_of_command(rest);
    let (inner, after) = end.map_or((rest, Default::default()), |at| rest.split_at(at));
    let many = end.and_then(|at| rest.get(at)).and_then(Word::known) == Some("+");
    case.judge.traits.borrow_mut().takes_names = true;
    let mut found = run(case, inner, many);
    if inner.iter().any(could_be_end) {
        found = found.and(Finding::unknown(format!("where the command of {action} ends is not known (find)")));
    }
    (found, after.get(1..).unwrap_or_default())
}

/// The place of `;`, or of `+` right behind `{}`: any other `+` is a word of the command.
fn end_of_command(words: &[Word]) -> Option<usize> {
    let mut before = None;
    words.iter().position(|word| {
        let known = word.known();
        let ends = known == Some(";") || (known == Some("+") && before == Some("{}"));
        before = known;
        ends
    })
}

/// A word that may turn out to be the `;` or `+` that ends the command.
fn could_be_end(word: &Word) -> bool {
    match word {
        Word::Known(_) => false,
        Word::Unseen(unseen) => matches!(unseen.start.as_str(), "" | ";" | "+") || unseen.many,
    }
}

fn of_unseen(word: &Word) -> Finding {
    match word {
        Word::Unseen(unseen) if !unseen.plain => {
            Finding::unknown(format!("`{}` could become an action of `find`", unseen.text))
        }
        Word::Unseen(_) | Word::Known(_) => Finding::reads(),
    }
}

/// What `-exec` runs, with `{}` for a path that `find` puts there: it begins as the places do, never with a dash.
fn run(case: &Case<'_, '_>, inner: &[Word], many: bool) -> Finding {
    let place = |word: &Word| match word {
        Word::Known(text) if text == "{}" => Word::Unseen(Unseen {
            text: text.clone(),
            start: String::new(),
            plain: true,
            number: false,
            many,
            pieces: false,
        }),
        Word::Known(text) if text.contains("{}") => Word::Unseen(Unseen {
            text: text.clone(),
            start: text.split("{}").next().unwrap_or_default().to_owned(),
            plain: !text.starts_with(['-', '{']),
            number: false,
            many: false,
            pieces: false,
        }),
        Word::Known(_) | Word::Unseen(_) => word.clone(),
    };
    let words: Vec<Word> = inner.iter().map(place).collect();
    case.judge.words(&words, Input::Given(Feed::Unknown), case.depth + 1).by_content()
}

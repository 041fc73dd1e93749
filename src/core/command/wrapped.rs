//! What a command runs inside: the rest of its words, a shell line, or words that come from its input (`timeout`, `sh -c`,
//! `ssh`, `xargs`). The inner command is judged like any other.

use super::judge::Case;
use super::judgement::Finding;
use super::script::{Feed, Input, Unseen, Word};
use super::table::Runs;

impl Case<'_, '_> {
    /// Judges the line that an option's value is.
    pub(super) fn of_line(&self, value: Option<&Word>) -> Finding {
        match value {
            Some(Word::Known(line)) => self.inner_line(&[line]).by_content(),
            Some(Word::Unseen(unseen)) => Finding::unknown(format!("runs `{}`, which nobody has seen", unseen.text)),
            None => Finding::unknown(format!("`{}` runs what somebody types", self.name)),
        }
    }

    /// Judges a line for a shell of the command's own. Only bash knows here-strings; all else is written as each reads it.
    fn inner_line(&self, words: &[&str]) -> Finding {
        if words.iter().any(|word| word.contains("<<<")) && !self.name.ends_with("bash") {
            return Finding::unknown(format!("`<<<` means nothing to the shell of `{}`", self.name));
        }
        self.judge.line(words, self.input, self.depth + 1)
    }

    /// The command that this one runs.
    pub(super) fn of_inner(&self) -> Finding {
        let Some(runs) = self.usage.runs else {
            return Finding::reads();
        };
        if self.parsed.has_any(&self.usage.operands_with) {
            return Finding::reads();
        }
        let inner: &[Word] = match runs {
            Runs::Argv(skip) | Runs::Line(skip) => {
                if self.parsed.operands.iter().take(skip).any(|(_, word)| matches!(word, Word::Unseen(u) if u.many)) {
                    return Finding::unknown(format!("what `{}` runs is not known before it runs", self.name));
                }
                let first = self.parsed.operands.get(skip).map(|(at, _)| *at);
                first.and_then(|at| self.words.get(at..)).unwrap_or_default()
            }
            Runs::AfterDashes => {
                if self.names_before_dashes() > 1 {
                    return Finding::unknown(format!("write `--` before the command that `{}` runs", self.name));
                }
                let after = self.parsed.dashes.and_then(|at| self.words.get(at + 1..));
                match after {
                    Some(words) if !words.is_empty() => words,
                    _ => return Finding::unknown(format!("write `--` before the command that `{}` runs", self.name)),
                }
            }
        };
        if inner.is_empty() {
            return Finding::reads();
        }
        let found = match runs {
            Runs::Line(_) => self.joined(inner),
            Runs::Argv(_) | Runs::AfterDashes if self.usage.adds_words => self.with_added_words(inner),
            Runs::Argv(_) | Runs::AfterDashes => self.judge.words(inner, self.input, self.depth + 1),
        };
        found.by_content()
    }

    /// The operands before `--`, or all where there is none. For a wrapper, one may stand there: with more, the command begins
    /// there already (`lxc exec web rm -- ls`).
    pub(super) fn names_before_dashes(&self) -> usize {
        let is_before = |at: usize| self.parsed.dashes.is_none_or(|dashes| at < dashes);
        let names = self.parsed.operands.iter().filter(|(at, _)| is_before(*at));
        names.map(|(_, word)| if matches!(word, Word::Unseen(unseen) if unseen.many) { 2 } else { 1 }).sum()
    }

    fn joined(&self, inner: &[Word]) -> Finding {
        let texts: Option<Vec<&str>> = inner.iter().map(Word::known).collect();
        match texts {
            Some(texts) => self.inner_line(&texts).and(self.judge.for_any_shell()),
            None => Finding::unknown(format!("what `{}` runs is not known before it runs", self.name)),
        }
    }

    /// `xargs`: words from its input come behind the command's own, or in place of a mark in them.
    fn with_added_words(&self, inner: &[Word]) -> Finding {
        self.judge.traits.borrow_mut().takes_names = true;
        let mut marks =
            self.parsed.options.iter().filter(|given| matches!(given.name.as_str(), "-I" | "-i" | "--replace"));
        let mark = marks.next();
        let limits = ["-n", "-L", "-l", "--max-args", "--max-lines"];
        if mark.is_some() && (marks.next().is_some() || limits.iter().any(|name| self.parsed.has(name))) {
            return Finding::unknown(format!("which option counts, -I or another, is not known ({})", self.name));
        }
        let words: Vec<Word> = match mark {
            None => inner.iter().cloned().chain([self.added()]).collect(),
            Some(given) => {
                let mark = match &given.value {
                    None => "{}",
                    Some(Word::Known(mark)) if !mark.is_empty() => mark,
                    Some(word) => {
                        return Finding::unknown(format!("`{}` stands for words that nobody has seen", word.shown()));
                    }
                };
                inner.iter().map(|word| replaced(word, mark, self.feed().is_plain())).collect()
            }
        };
        self.judge.words(&words, Input::Given(Feed::Unknown), self.depth + 1)
    }

    /// What its words are made of. With options that split them in another way, anything.
    fn feed(&self) -> Feed {
        let splits =
            ["-d", "--delimiter", "-a", "--arg-file", "-0", "--null", "-E", "-e", "--eof", "-s", "--max-chars"];
        match self.input {
            Input::Given(feed) if !splits.iter().any(|name| self.parsed.has(name)) => feed,
            Input::Given(_) | Input::Terminal => Feed::Unknown,
        }
    }

    /// The words that come from its input.
    fn added(&self) -> Word {
        let (plain, number) = (self.feed().is_plain(), self.feed() == Feed::Numbers);
        Word::Unseen(Unseen {
            text: "what it reads".to_owned(),
            start: String::new(),
            plain,
            number,
            many: true,
            pieces: plain,
        })
    }
}

fn replaced(word: &Word, mark: &str, feed_is_plain: bool) -> Word {
    let Word::Known(text) = word else {
        return word.clone();
    };
    match text.split_once(mark) {
        None => word.clone(),
        Some((before, _)) => Word::Unseen(Unseen {
            text: text.clone(),
            start: before.to_owned(),
            plain: if before.is_empty() { feed_is_plain } else { !before.starts_with('-') },
            number: false,
            many: false,
            pieces: false,
        }),
    }
}

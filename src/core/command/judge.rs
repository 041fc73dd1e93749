//! Judges the commands of a script against the tables: settings before a program, its options and operands, and what it
//! runs inside. The worst part decides.

use std::cell::{Cell, RefCell};

use super::args::{self, Parsed};
use super::content::Traits;
use super::inspect;
use super::judgement::{Category, Finding, Risk};
use super::line::{Argument, Stage};
use super::reach;
use super::script::{Feed, Input, Script, Simple, Word};
use super::table::{Does, Sub, Tools, Usage};
use super::{parse, settings};

/// How deep wrappers may wrap (`timeout 5 sh -c 'nice ls'` is three).
const DEPTH_MAX: u32 = 8;

/// The most words that are judged for one line, wrapped ones counted again.
const STEPS_MAX: u32 = 20_000;

/// The places where a system's programs are; a program by another path could be anything.
const PROGRAM_PLACES: [&str; 6] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// One line's judge.
pub(super) struct Judge<'t> {
    pub(super) tools: &'t Tools,
    steps: Cell<u32>,
    shows_unseen: RefCell<Option<String>>,
    /// Lines inside the command that is judged, each as it was given and as it is quoted anew.
    inner_lines: RefCell<Vec<InnerLine>>,
    /// Findings about the current command beside its intent and risk.
    pub(super) traits: RefCell<Traits>,
}

/// A line that a command hands to a shell of its own: the words that hold it, and the same line with our quotes.
struct InnerLine {
    given: Vec<String>,
    line: String,
}

/// A tool or sub-command with its words, while it is judged.
pub(super) struct Case<'j, 't> {
    pub(super) judge: &'j Judge<'t>,
    /// As people write it: `kubectl get`.
    pub(super) name: String,
    /// The sub-command first, then what it belongs to.
    pub(super) chain: Vec<&'t Usage>,
    pub(super) usage: &'t Usage,
    pub(super) words: &'j [Word],
    pub(super) parsed: Parsed<'t>,
    pub(super) input: Input,
    pub(super) depth: u32,
}

impl<'t> Judge<'t> {
    pub(super) const fn new(tools: &'t Tools) -> Self {
        Self {
            tools,
            steps: Cell::new(0),
            shows_unseen: RefCell::new(None),
            inner_lines: RefCell::new(Vec::new()),
            traits: RefCell::new(Traits::nothing()),
        }
    }

    /// Why something that was judged could show a file that nobody named.
    pub(super) fn shows_unseen(&self) -> Option<String> {
        self.shows_unseen.borrow().clone()
    }

    fn note_unseen(&self, reason: String) {
        self.shows_unseen.borrow_mut().get_or_insert(reason);
    }

    /// Judges every command of a line, and returns the line as it runs: what each must reach is in it, and lines inside
    /// its commands are quoted anew.
    pub(super) fn script(&self, script: &Script, input: Input, depth: u32) -> (Finding, Script) {
        let mut judged = script.clone();
        let mut found = Finding::reads();
        for (simple, stage) in script.commands.iter().zip(judged.list.stages_mut()) {
            let given = if simple.input == Input::Terminal { input } else { simple.input };
            found = found.and(self.stage(&Simple { input: given, ..simple.clone() }, stage, depth));
        }
        (found, judged)
    }

    /// Judges one command with what stands before it.
    fn stage(&self, simple: &Simple, stage: &mut Stage, depth: u32) -> Finding {
        let outer_lines = self.inner_lines.take();
        let outer = self.traits.replace(Traits::nothing());
        let before = simple.settings.iter().map(|(name, value)| settings::judge(name, value));
        let found = before.fold(self.words(&simple.words, simple.input, depth), Finding::and);
        let traits = self.traits.replace(outer);
        self.traits.borrow_mut().add(&traits);
        stage.traits = traits;
        let lines = self.inner_lines.replace(outer_lines);
        lines.iter().fold(found, |found, inner| found.and(inner.put_into(&mut stage.words)))
    }

    /// Judges a shell line inside another command, which these words hold.
    pub(super) fn line(&self, given: &[&str], input: Input, depth: u32) -> Finding {
        let line = given.join(" ");
        if depth > DEPTH_MAX {
            return Finding::unknown("wraps commands too deep to be judged".to_owned());
        }
        if let Some(problem) = super::limits::problem(&line) {
            return Finding::unknown(problem);
        }
        let script = match parse::read(&line) {
            Err(finding) => return finding,
            Ok(script) => script,
        };
        let is_pattern = |word: &Argument| matches!(word, Argument::Pattern(_));
        if script.list.stages().flat_map(|stage| &stage.words).any(is_pattern) {
            return Finding::unknown("has a pattern of file names in an inner command; write the names out".to_owned());
        }
        let (found, judged) = self.script(&script, input, depth);
        self.traits.borrow_mut().pipes_inside |= judged.list.0.iter().any(|(_, pipeline)| pipeline.len() > 1);
        let given = given.iter().map(|word| (*word).to_owned()).collect();
        self.inner_lines.borrow_mut().push(InnerLine { given, line: judged.list.to_line() });
        found
    }

    /// Whether the line that was judged last means the same to whatever shell somebody logs in with: to one, a backslash
    /// counts within quotes as well, and another computes what stands in a word (`printf %d 'a[$(reboot)]'`).
    pub(super) fn for_any_shell(&self) -> Finding {
        let lines = self.inner_lines.borrow();
        let line = lines.last().map_or("", |inner| &inner.line);
        match ["\\'", "\\\\", "$(", "`", "[$"].iter().find(|text| line.contains(**text)) {
            Some(text) => Finding::unknown(format!("`{text}` does not mean the same to every shell that may be there")),
            None => Finding::reads(),
        }
    }

    /// A program with its arguments.
    pub(super) fn words(&self, words: &[Word], input: Input, depth: u32) -> Finding {
        let steps = self.steps.get().saturating_add(u32::try_from(words.len()).unwrap_or(u32::MAX));
        self.steps.set(steps);
        if depth > DEPTH_MAX || steps > STEPS_MAX {
            return Finding::unknown("wraps commands too deep to be judged".to_owned());
        }
        let Some((program, rest)) = words.split_first() else {
            return Finding::reads();
        };
        if let Some(secret) = words.iter().filter_map(Word::known).find_map(super::paths::secret) {
            return Finding::unknown(secret);
        }
        let Word::Known(program) = program else {
            return Finding::unknown(format!("runs `{}`, which nobody has seen", program.shown()));
        };
        match self.tool(program) {
            Ok((name, usage)) => self.usage(name, vec![usage], rest, input, depth),
            Err(finding) => finding,
        }
    }

    /// The table of a program by its name, or by its path in a place where programs are.
    fn tool(&self, program: &str) -> Result<(String, &'t Usage), Finding> {
        let name = match program.rsplit_once('/') {
            None => program,
            Some((place, name)) if PROGRAM_PLACES.contains(&place) => name,
            Some(_) => return Err(Finding::unknown(format!("runs the file {program}, which could be anything"))),
        };
        match self.tools.get(name) {
            Some(usage) => Ok((name.to_owned(), usage)),
            None => Err(Finding::unknown(format!("`{name}` is not known to only read"))),
        }
    }

    fn usage(&self, name: String, chain: Vec<&'t Usage>, words: &[Word], input: Input, depth: u32) -> Finding {
        let Some(usage) = chain.first().copied() else {
            return Finding::reads();
        };
        if let Some((what, risk)) = &usage.write {
            return Finding::writes(format!("{what} ({name})"), *risk);
        }
        let has_subs = usage.has_subs();
        let parsed = args::parse(&chain, words, has_subs);
        if has_subs && let Some((at, word)) = parsed.operands.first().cloned() {
            let here = Case { judge: self, name, chain, usage, words, parsed, input, depth };
            let before = here.of_options();
            return before.and(here.sub(at, &word));
        }
        let case = Case { judge: self, name, chain, usage, words, parsed, input, depth };
        // `kubectl` alone prints how it is used.
        match (has_subs && !usage.bare, input) {
            // But with a text to read it may take that for commands.
            (true, Input::Given(Feed::Unknown | Feed::Literal | Feed::Names | Feed::Numbers)) => {
                Finding::unknown(format!("what `{}` does with what it reads is not known", case.name))
            }
            (true, Input::Given(Feed::Nothing) | Input::Terminal) => case.of_options().and(case.of_need()),
            (false, _) => case.whole(),
        }
    }
}

impl Case<'_, '_> {
    /// The sub-command that a word names.
    fn sub(&self, at: usize, word: &Word) -> Finding {
        let Word::Known(sub) = word else {
            return Finding::unknown(format!("`{}` of `{}` is not known before it runs", word.shown(), self.name));
        };
        let name = format!("{} {sub}", self.name);
        let rest = self.words.get(at + 1..).unwrap_or_default();
        match self.usage.sub(sub) {
            Sub::Writes(what, risk) => Finding::writes(format!("{what} ({name})"), risk),
            Sub::Usage(usage) if usage.first_only && self.is_behind_group() => {
                Finding::unknown(format!("`{name}` is not known to only read"))
            }
            Sub::Usage(usage) => {
                let chain = std::iter::once(usage).chain(self.chain.iter().copied()).collect();
                self.judge.usage(name, chain, rest, self.input, self.depth)
            }
            Sub::Group => self.judge.usage(name, self.chain.clone(), rest, self.input, self.depth),
            Sub::Strange if self.usage.bare => self.judge_bare(),
            Sub::Strange => Finding::unknown(format!("`{name}` is not known to only read")),
        }
    }

    /// A release track is no group.
    fn is_behind_group(&self) -> bool {
        self.name.split(' ').skip(1).any(|word| !matches!(word, "alpha" | "beta"))
    }

    /// A tool that may stand without a sub-command, with an operand that is none.
    fn judge_bare(&self) -> Finding {
        let parsed = args::parse(&self.chain, self.words, false);
        let case = Case {
            judge: self.judge,
            name: self.name.clone(),
            chain: self.chain.clone(),
            usage: self.usage,
            words: self.words,
            parsed,
            input: self.input,
            depth: self.depth,
        };
        case.whole()
    }

    /// Everything about a command without a sub-command.
    fn whole(&self) -> Finding {
        self.judge.traits.borrow_mut().add_content(&self.name, &self.parsed);
        let reached = match reach::of(&self.name, &self.parsed) {
            Ok(reach) => {
                self.judge.traits.borrow_mut().reach.add(&reach);
                Finding::reads()
            }
            Err(finding) => finding,
        };
        let parts = [
            self.of_options(),
            self.of_operands(),
            self.of_need(),
            self.of_content(),
            self.of_inner(),
            self.of_sending(),
        ];
        let found = parts.into_iter().fold(Finding::reads(), Finding::and);
        let inspects = self.chain.iter().filter_map(|usage| usage.inspect);
        let found = inspects.fold(found, |found, inspect| found.and(inspect::look(inspect, self)));
        let found = found.and(reached).and(self.of_end());
        if self.usage.bounds_inner && self.bounds() { found.bounded() } else { found }
    }

    /// Whether what it runs is really ended: `timeout 0` waits for ever, and not every signal ends a program.
    fn bounds(&self) -> bool {
        let signals = self.parsed.options.iter().filter(|given| matches!(given.name.as_str(), "-s" | "--signal"));
        let mut signals = signals.map(|given| given.value.as_ref().and_then(Word::known).unwrap_or_default());
        let ends = |signal: &str| {
            let name = signal.strip_prefix("SIG").unwrap_or(signal);
            matches!(name, "TERM" | "KILL" | "INT" | "QUIT" | "HUP" | "1" | "2" | "3" | "9" | "15")
        };
        let time = self.parsed.operands.first().and_then(|(_, word)| word.known()).unwrap_or_default();
        let number = time.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(time);
        let is_number = number.bytes().all(|b| b.is_ascii_digit() || b == b'.') && number.len() <= 7;
        is_number && number.bytes().any(|b| matches!(b, b'1'..=b'9')) && signals.all(ends)
    }

    /// What the options do, and whether all of them are known.
    pub(super) fn of_options(&self) -> Finding {
        let mut found = Finding::reads();
        for given in &self.parsed.options {
            let finding = match &given.rule.does {
                Does::Acts(text, risk) => self.acts(&given.name, text, *risk, given.value.as_ref()),
                // Shells take what stands behind the `c` of `-cls` for more options, and the next word for the line.
                Does::Line if given.value_at.is_none() && !given.name.starts_with("--") => Finding::unknown(format!(
                    "write a blank between {} and the line that `{}` runs",
                    given.name, self.name
                )),
                Does::Line => self.of_line(given.value.as_ref()),
                Does::Goes(category) if !is_false(given.value.as_ref()) => {
                    Finding::endless(*category, format!("{} ({} {})", why_endless(*category), self.name, given.name))
                }
                Does::Reveals => reveals(given.value.as_ref()),
                Does::Sets => self.sets(&given.name, given.value.as_ref()),
                Does::Goes(_) | Does::Reads | Does::Bounds | Does::Program | Does::Recurses => Finding::reads(),
            };
            found = found.and(finding);
        }
        let separators = || self.chain.iter().flat_map(|usage| &usage.separators);
        if let Some(word) = self.words.iter().find(|word| separators().any(|one| word.shown() == one)) {
            found =
                found.and(Finding::unknown(format!("`{}` begins another command of `{}`", word.shown(), self.name)));
        }
        let texts = || self.chain.iter().flat_map(|usage| &usage.refuses_text);
        if let Some(word) = self.words.iter().find(|word| texts().any(|text| word.shown().contains(text.as_str()))) {
            found =
                found.and(Finding::unknown(format!("`{}` may run or fetch something ({})", word.shown(), self.name)));
        }
        if self.usage.any_words {
            return found;
        }
        for strange in &self.parsed.strange {
            found = found
                .and(Finding::unknown(format!("the option {strange} of `{}` is not known to only read", self.name)));
        }
        for unseen in &self.parsed.unseen {
            found = found.and(Finding::unknown(format!("`{unseen}` could become an option of `{}`", self.name)));
        }
        found
    }

    fn acts(&self, option: &str, text: &str, risk: Risk, value: Option<&Word>) -> Finding {
        let known = value.and_then(Word::known);
        let thrown_away = match known {
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => {
                text.starts_with("writes to {value}") || text.starts_with("saves to {value}")
            }
            Some("-") => text.starts_with("saves to {value}"),
            _ => false,
        };
        if thrown_away {
            return Finding::reads();
        }
        let shown = value.map_or("a file", Word::shown);
        Finding::writes(format!("{} ({} {option})", text.replace("{value}", shown), self.name), risk)
    }

    /// `-o KEY=VALUE`: only the keys that the table allows.
    fn sets(&self, option: &str, value: Option<&Word>) -> Finding {
        let known = value.and_then(Word::known).unwrap_or_default();
        let key = known.split(['=', ' ']).next().unwrap_or_default().to_lowercase();
        if self.chain.iter().any(|usage| usage.settings_allowed.contains(&key)) {
            return Finding::reads();
        }
        let shown = value.map_or("something", Word::shown);
        Finding::unknown(format!("sets {shown}, which may run a program ({} {option})", self.name))
    }

    /// What it reads goes to the other side: harmless where that is nothing.
    fn of_sending(&self) -> Finding {
        let harmless = match self.input {
            Input::Terminal => self.usage.runs.is_some(),
            Input::Given(feed) => feed == Feed::Nothing || self.parsed.has("-n"),
        };
        let sent =
            self.words.iter().find(|word| matches!(word, Word::Unseen(unseen) if !(unseen.number && unseen.plain)));
        if let Some(word) = sent.filter(|_| self.chain.iter().any(|usage| usage.sends_words)) {
            return Finding::unknown(format!(
                "`{}` could send what it holds to somebody ({})",
                word.shown(),
                self.name
            ));
        }
        if self.usage.sends_input && !harmless {
            return Finding::unknown(format!("sends its input to the other side; add `</dev/null` ({})", self.name));
        }
        Finding::reads()
    }

    fn of_operands(&self) -> Finding {
        let count = self.parsed.operands.len();
        let unsure = self.parsed.operands.iter().any(|(_, word)| matches!(word, Word::Unseen(unseen) if unseen.many));
        if let Some(place) = self.usage.output_operand {
            if let Some((_, word)) = self.parsed.operands.get(place - 1) {
                return Finding::writes(format!("writes to {} ({})", word.shown(), self.name), Risk::MediumWrite);
            }
            if unsure || !self.parsed.unseen.is_empty() {
                return Finding::unknown(format!(
                    "`{}` writes to its operand {place}, and how many there are is not known",
                    self.name
                ));
            }
        }
        match &self.usage.operands_max {
            Some((max, what, risk)) if (count > *max || unsure) && !self.parsed.has_any(&self.usage.operands_with) => {
                Finding::writes(format!("{what} ({})", self.name), *risk)
            }
            _ => Finding::reads(),
        }
    }

    fn has_needed(&self, names: &[String]) -> bool {
        let first_operand = self.parsed.operands.first().map_or(usize::MAX, |(at, _)| *at);
        let counts = |given: &args::Given<'_>| {
            names.contains(&given.name) && (given.at < first_operand || !EXPLAINING.contains(&given.name.as_str()))
        };
        self.parsed.has_any(names) && self.parsed.options.iter().any(counts)
    }

    fn of_need(&self) -> Finding {
        match &self.usage.needs {
            Some((names, otherwise, risk)) if !self.has_needed(names) => {
                Finding::writes(format!("{otherwise} ({})", self.name), *risk)
            }
            _ => Finding::reads(),
        }
    }

    /// Files that a content reader is given, and its standard input.
    fn of_content(&self) -> Finding {
        if !self.usage.content {
            return Finding::reads();
        }
        let mut unseen = self.words.iter().filter(|word| matches!(word, Word::Unseen(unseen) if !unseen.number));
        if let Some(word) = unseen.next() {
            self.judge.note_unseen(format!("`{}` could name a file with secrets; write the names out", word.shown()));
        }
        if let Some(given) = self.parsed.options.iter().find(|given| given.rule.does == Does::Recurses) {
            self.judge.note_unseen(format!(
                "`{} {}` could come to files with secrets; name the files",
                self.name, given.name
            ));
        }
        let paths = self.parsed.operands.iter().filter_map(|(_, word)| word.known());
        paths.filter_map(super::paths::endless).fold(Finding::reads(), Finding::and)
    }

    /// Whether it ends by itself.
    fn of_end(&self) -> Finding {
        let operands = self.parsed.operands.iter().filter(|(_, word)| word.known() != Some("-")).count();
        if self.parsed.has_bound() || self.usage.bounded_by_operands.is_some_and(|least| operands >= least) {
            return Finding::reads();
        }
        if let Some(category) = self.usage.endless {
            let finding = Finding::endless(category, format!("{} ({})", why_endless(category), self.name));
            return match category {
                Category::InteractiveRepl => {
                    finding.and(Finding::unknown(format!("runs what somebody types ({})", self.name)))
                }
                Category::TtyFlag | Category::Pager | Category::UnboundedStream => finding,
            };
        }
        let stand_ins = self.usage.stands_for_operand.iter().filter(|name| self.parsed.has(name)).count();
        let reads_stdin = self.usage.stdin_below.is_some_and(|least| operands + stand_ins.min(1) < least);
        let sure = self.parsed.unseen.is_empty();
        if reads_stdin && sure && self.input == Input::Terminal && self.depth == 0 {
            return Finding::endless(
                Category::InteractiveRepl,
                format!("waits for what somebody types ({})", self.name),
            );
        }
        Finding::reads()
    }
}

impl InnerLine {
    /// Puts the line in the place of the words that held it.
    fn put_into(&self, words: &mut Vec<Argument>) -> Finding {
        let is_given = |place: &[Argument]| {
            place.iter().zip(&self.given).all(|(word, given)| *word == Argument::Literal(given.clone()))
        };
        let Some(at) = words.windows(self.given.len().max(1)).position(is_given) else {
            return Finding::unknown("write the line that it runs as a word of its own, in quotes".to_owned());
        };
        words.splice(at..at + self.given.len(), [Argument::Literal(self.line.clone())]);
        Finding::reads()
    }
}

/// Options that only explain: with an operand before one, the operand decides, and the option is its own.
const EXPLAINING: [&str; 7] = ["--version", "-V", "--help", "-h", "-version", "-help", "-v"];

/// A file that is shown by an option.
fn reveals(value: Option<&Word>) -> Finding {
    match value {
        Some(Word::Known(path)) => super::paths::endless(path).unwrap_or_else(Finding::reads),
        Some(Word::Unseen(_)) | None => Finding::reads(),
    }
}

fn is_false(value: Option<&Word>) -> bool {
    value.and_then(Word::known) == Some("false")
}

fn why_endless(category: Category) -> &'static str {
    match category {
        Category::TtyFlag => "asks for a terminal",
        Category::Pager => "shows a page and waits for a key",
        Category::UnboundedStream => "goes on until somebody stops it",
        Category::InteractiveRepl => "waits for what somebody types",
    }
}

//! From text to a [`Script`], by two grammars that must agree (C-62): one builds the tree that is judged, the other is the
//! second opinion. A line that either of them cannot read whole, or in which they see different programs, is not judged.
//! What needs a shell to run (variables, loops, commands inside words) is refused here: no shell runs it.

mod list;
mod redirect;
mod sitter;
mod word;

use shuck_parser::parser::{ParseResult, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

use super::judgement::Finding;
use super::script::Script;
use list::Reader;

/// The deepest tree the first parser builds.
const TREE_DEPTH_MAX: usize = 100;

/// The steps the first parser takes before it gives up. A line of [`super::limits::LINE_BYTES_MAX`] comes to a tenth.
const PARSER_STEPS_MAX: usize = 100_000;

/// Reads a line that [`super::limits::problem`] has let pass. The error says what does not run, in a sentence for people.
pub(super) fn read(line: &str) -> Result<Script, Finding> {
    let unreadable = |why: &str| Finding::unknown(format!("the line cannot be read as a shell command{why}"));
    let parsed = first_opinion(line).ok_or_else(|| unreadable(""))?;
    if !parsed.is_ok() {
        return Err(unreadable(&format!(": {}", parsed.strict_error())));
    }
    let mut reader = Reader::new(line);
    let script = reader.sequence(&parsed.file.body)?;
    let second = sitter::programs(line).ok_or_else(|| unreadable(""))?;
    if reader.programs() != second {
        return Err(Finding::unknown("the line can be read in two ways, which is not safe to run".to_owned()));
    }
    Ok(script)
}

/// The first parser's tree. A mistake of the parser's own must not end the bot (C-62): a panic in it is no tree.
fn first_opinion(line: &str) -> Option<ParseResult> {
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parse = || Parser::with_limits_and_profile(line, TREE_DEPTH_MAX, PARSER_STEPS_MAX, profile).parse();
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse)).ok()
}

/// Parses with both grammars and throws the trees away: what a judgement cannot be faster than. For the bench.
#[cfg(any(test, feature = "testkit"))]
pub(super) fn parse_only(line: &str) -> bool {
    first_opinion(line).is_some_and(|parsed| parsed.is_ok()) && sitter::parses(line)
}

//! The second opinion: which programs tree-sitter's grammar sees in a line, and whether it reads the line whole.

use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

thread_local! {
    /// A parser takes longer to make than to use.
    static PARSER: RefCell<Option<Parser>> = RefCell::new(bash());
}

fn bash() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

fn tree(line: &str) -> Option<Tree> {
    let plain = in_ascii(line);
    PARSER.with_borrow_mut(|parser| parser.as_mut()?.parse(&plain, None))
}

/// The line with an `x` for each byte of a character beyond ASCII, so that places stay what they are. The grammar's scanner
/// hands characters to C's `isalpha` and its kin, which read beyond their table for a large one and end the process. To a
/// shell all of them are letters.
fn in_ascii(line: &str) -> String {
    line.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { 'x' }).collect()
}

/// Whether the line parses without a mistake.
#[cfg(any(test, feature = "testkit"))]
pub(super) fn parses(line: &str) -> bool {
    tree(line).is_some_and(|tree| !tree.root_node().has_error())
}

/// Where in the line the name of each program begins, and the name as it is written, sorted; `None` where the line does
/// not parse. `[` and declarations (`export`, `local`) have no name here, as the grammar has nodes of their own for them.
pub(super) fn programs(line: &str) -> Option<Vec<(usize, String)>> {
    let tree = tree(line)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut names = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "command_name"
            && let Some(program) = program(node, line)
        {
            names.push((program.start_byte(), text_of(program, line)?.to_owned()));
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                names.sort_unstable();
                return Some(names);
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// The node that names a program. `time` is a word of the shell to the other grammar, so that what it times is meant;
/// `time` alone names none.
fn program<'t>(name: Node<'t>, line: &str) -> Option<Node<'t>> {
    if text_of(name, line) != Some("time") {
        return Some(name);
    }
    let mut next = name.next_named_sibling();
    while let Some(node) = next {
        if !text_of(node, line).is_some_and(|text| text.starts_with('-')) {
            return Some(node);
        }
        next = node.next_named_sibling();
    }
    None
}

fn text_of<'a>(node: Node<'_>, line: &'a str) -> Option<&'a str> {
    line.get(node.start_byte()..node.end_byte())
}

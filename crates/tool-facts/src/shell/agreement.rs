//! Compares the syntax tree of a text with its strict reading.

use tree_sitter::Node;

use super::collector::Argv;
use super::strict::{self, StatedCommand, StrictReading};

/// Operators between commands. Line ends are not compared: if they separate commands, the lists of commands differ.
const OPERATORS: &[&str] = &["&&", "||", "|&", ";;", "((", "))", ";", "&", "|", "(", ")"];

/// The reason why a text cannot be relied on: it is not plain, or the readings differ.
pub(super) fn find_doubt(text: &str, root: Node<'_>, commands: Vec<StatedCommand>) -> Option<String> {
    match strict::read(text) {
        Err(reason) => Some(format!("shells may read the command differently: {reason}")),
        Ok(strict) if strict == (StrictReading { commands, operators: operators(root) }) => None,
        Ok(_) => Some("two independent parsers read the command differently".to_owned()),
    }
}

/// Returns a command of the syntax tree in the form of the strict reading.
pub(super) fn state_command(argv: &Argv) -> StatedCommand {
    StatedCommand {
        assignments: argv.assignments.clone(),
        words: argv.words.iter().map(|word| (word.text.clone(), word.glob)).collect(),
        redirects: argv.redirects.clone(),
    }
}

/// The operators among the leaves of a tree, in order.
fn operators(root: Node<'_>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        let node = cursor.node();
        if !node.is_named() && OPERATORS.contains(&node.kind()) {
            found.push((node.start_byte(), node.kind().to_owned()));
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

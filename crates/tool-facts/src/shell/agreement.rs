//! Whether the syntax tree and the strict reading of a text find the same in it.

use tree_sitter::Node;

use super::strict::{self, Reading, Stated};
use super::walk::Argv;

/// Signs between commands. Line ends are not among them: where they part commands, the commands differ.
const SIGNS: &[&str] = &["&&", "||", "|&", ";;", "((", "))", ";", "&", "|", "(", ")"];

/// Says why a text cannot be relied on: it is not plain, or the readings differ.
pub(super) fn doubt(text: &str, root: Node<'_>, commands: Vec<Stated>) -> Option<String> {
    match strict::read(text) {
        Err(reason) => Some(format!("it is no plain command that every shell reads alike: {reason}")),
        Ok(strict) if strict == (Reading { commands, operators: operators(root) }) => None,
        Ok(_) => Some("two readings of the command find different things in it".to_owned()),
    }
}

/// A command as the syntax tree states it.
pub(super) fn stated(argv: &Argv) -> Stated {
    Stated {
        assignments: argv.assignments.clone(),
        words: argv.words.iter().map(|word| (word.text.clone(), word.glob)).collect(),
        redirects: argv.redirects.clone(),
    }
}

/// The signs among the leaves of a tree, in order.
fn operators(root: Node<'_>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        let node = cursor.node();
        if !node.is_named() && SIGNS.contains(&node.kind()) {
            found.push((node.start_byte(), node.kind().to_owned()));
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

//! Checks for any text, used as a shell command.

use tool_facts::Shell;

/// Checks one text.
pub(crate) fn check(text: &str) {
    let Ok(shell) = Shell::parse(text) else { return };
    assert!(!shell.commands.is_empty(), "a parsed text has at least one command");
    assert!(shell.doubt.is_some() || !shell.dynamic, "a command with dynamic words is in doubt");
    if shell.plain {
        assert_eq!(shell.commands.len(), 1);
        assert!(
            shell.writes.is_empty() && shell.reads.is_empty() && !shell.cwd_changed,
            "a plain command reads and writes no file and stays in its directory"
        );
    }
    // A wrapper around a command hides no commands.
    if let Ok(wrapped) = Shell::parse(&format!("( {text}\n)")) {
        assert_eq!(wrapped.commands.len(), shell.commands.len());
    }
}

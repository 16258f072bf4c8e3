//! Reads the text of a command line.

mod braced;
mod commands;
mod compound;
mod dollar;
mod heredoc;
pub(crate) mod parser;
mod powershell;
mod redirects;
pub(crate) mod tree;
mod words;

use crate::lister::{Context, Lister, Output};
use crate::{Directory, Doubt, Line, ShellLanguage};

/// Longest text, in bytes.
const LONGEST: usize = 64 * 1024;

impl Line {
    /// Reads a text as the shell would, without running anything. An error if the text as a whole cannot be read; nothing may be allowed then.
    pub fn parse(language: ShellLanguage, text: &str) -> Result<Self, Doubt> {
        let fail = |reason: &str| Doubt { span: 0..text.len(), reason: reason.to_owned() };
        if text.len() > LONGEST {
            return Err(fail("the command is too long"));
        }
        if text.contains('\0') {
            return Err(fail("the text has the character U+0000"));
        }
        let line = if language == ShellLanguage::PowerShell {
            powershell::parse(text)?
        } else {
            let (list, doubts) = parser::parse(language, text, 0)?;
            let mut output = Output::default();
            let mut lister = Lister::new(&mut output, language, &list, Directory::Start);
            lister.add_doubts(doubts);
            lister.list(&list, &Context::default());
            output.into_line()
        };
        if line.runs.is_empty() && line.doubts.is_empty() { Err(fail("there is no command")) } else { Ok(line) }
    }
}

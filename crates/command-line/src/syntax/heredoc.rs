//! Here-documents.

use std::cell::OnceCell;
use std::rc::Rc;

use super::parser::{Parser, Pending, ReadResult};
use super::tree::{Atom, RawWord};

impl Parser<'_> {
    /// Notes a here-document whose body begins after the line.
    pub(super) fn announce(&mut self, delimiter: &RawWord, strips_tabs: bool) -> ReadResult<Rc<OnceCell<RawWord>>> {
        let text = delimiter.literal().filter(|text| !text.is_empty() && !text.contains('\n'));
        let Some(text) = text.filter(|_| !delimiter.continued) else {
            return Err(self.fail("the end of a here-document is not certain"));
        };
        let quoted = delimiter.bare().is_none();
        if !quoted && text.contains(['$', '`']) {
            return Err(self.fail("the end of a here-document is not certain"));
        }
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { delimiter: text, quoted, strips_tabs, body: Rc::clone(&body) });
        Ok(body)
    }

    /// Fails if the text ends before the body of a here-document.
    pub(super) fn require_documents(&self) -> ReadResult<()> {
        if self.pending.is_empty() { Ok(()) } else { Err(self.fail("a here-document has no body")) }
    }

    /// Reads the bodies that begin at this line.
    pub(super) fn documents(&mut self) -> ReadResult<()> {
        for pending in std::mem::take(&mut self.pending) {
            let word = self.document(&pending)?;
            let _ = pending.body.set(word);
        }
        Ok(())
    }

    fn document(&mut self, pending: &Pending) -> ReadResult<RawWord> {
        let start = self.at;
        let mut body = String::new();
        let mut continued = false;
        // The lines that a shell joins with this one, as they stand and without the tabs before each.
        let mut joined = [String::new(), String::new()];
        loop {
            if self.at >= self.text.len() {
                self.at = start;
                return Err(self.fail("a here-document has no end"));
            }
            let raw = self.rest().split('\n').next().unwrap_or_default();
            let line = if pending.strips_tabs { raw.trim_start_matches('\t') } else { raw };
            let ends = line == pending.delimiter;
            if ends && continued {
                return Err(self.fail("a continued line looks like the end of a here-document"));
            }
            let continues = !pending.quoted && line.len().abs_diff(line.trim_end_matches('\\').len()) % 2 == 1;
            let pieces = [raw, raw.trim_start_matches('\t')];
            for (text, piece) in joined.iter_mut().zip(pieces) {
                text.push_str(if continues { piece.strip_suffix('\\').unwrap_or(piece) } else { piece });
            }
            if !ends && joined.iter().any(|text| may_end(text, &pending.delimiter, continued || continues)) {
                return Err(self.fail("a line may be the end of a here-document"));
            }
            let next = self.at + raw.len();
            if ends {
                let span = start..self.at;
                // The line end is the end of the line before the body as well.
                self.at = next.saturating_add(usize::from(next < self.text.len()));
                return self.document_word(pending, &body, span);
            }
            continued = continues;
            if !continued {
                joined.iter_mut().for_each(String::clear);
            }
            body.push_str(line);
            body.push('\n');
            self.at = (next + 1).min(self.text.len());
        }
    }

    fn document_word(&mut self, pending: &Pending, body: &str, span: std::ops::Range<usize>) -> ReadResult<RawWord> {
        if body.contains('\0') {
            return Err(self.fail("the text has the character U+0000"));
        }
        if pending.quoted || !body.contains(['$', '`', '\\']) {
            return Ok(RawWord { atoms: vec![Atom::Quoted(body.to_owned())], span, continued: false });
        }
        let (language, depth) = (self.language, self.depth + 1);
        let mut inner = Parser { text: body, at: 0, language, depth, pending: Vec::new(), doubts: Vec::new() };
        let mut atoms = Vec::new();
        while inner.at < body.len() {
            inner.quoted_atom(&mut atoms, "$`\\").map_err(|mut doubt| {
                doubt.span = span.clone();
                doubt
            })?;
        }
        let reasons: Vec<String> = inner.doubts.into_iter().map(|doubt| doubt.reason).collect();
        reasons.into_iter().for_each(|reason| self.doubt(span.clone(), reason));
        Ok(RawWord { atoms, span, continued: false })
    }
}

/// Says whether some shell may end the body at a line that is not the delimiter.
///
/// Inside a command substitution, Bash ends the body at a line that begins with the delimiter and has `)`, and runs the rest of the line. Lines
/// that a backslash joins are one line, whose parts may form the delimiter together.
fn may_end(line: &str, delimiter: &str, is_joined: bool) -> bool {
    let begins = line.starts_with(delimiter) || line.trim_start_matches('\t').starts_with(delimiter);
    begins && (is_joined || line.contains(')'))
}

//! Reads redirections, here-documents and here-strings of a command.

use tree_sitter::Node;

use super::Redirect;
use super::collector::Stdin;
use super::guard::refused;
use super::reader::{Reader, TrailingParts, children};
use super::word::Word;
use crate::Unparsed;

/// Reads one redirection, and the parts of the command that the tree has inside it.
pub(super) fn read<'t>(reader: &mut Reader<'_>, node: Node<'t>, extra: &mut TrailingParts<'t>) -> Result<(), Unparsed> {
    let before = reader.source.get(..node.start_byte()).unwrap_or_default();
    let touching = before.rsplit([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']).next().unwrap_or_default();
    if !touching.is_empty() && touching.chars().all(|c| c.is_ascii_digit()) {
        return Err(refused(format!("`{touching}` before a redirection may be a file descriptor")));
    }
    match node.kind() {
        "file_redirect" => file(reader, node, extra),
        "herestring_redirect" => here_string(reader, node, extra),
        "heredoc_redirect" => here_document(reader, node, extra),
        kind => Err(refused(format!("`{kind}` is not supported as a redirection"))),
    }
}

fn file<'t>(reader: &mut Reader<'_>, node: Node<'t>, extra: &mut TrailingParts<'t>) -> Result<(), Unparsed> {
    let mut operator = String::new();
    let mut descriptor = String::new();
    let mut targets: Vec<Word> = Vec::new();
    let mut end = None;
    for child in children(node) {
        match child.kind() {
            "file_descriptor" => {
                descriptor = reader.raw(child).to_owned();
                let before = reader.source.get(..child.start_byte()).and_then(|before| before.chars().next_back());
                let begins =
                    before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>'));
                if !begins || !descriptor.chars().all(|c| c.is_ascii_digit()) {
                    return Err(refused(format!("`{descriptor}` may not be a file descriptor")));
                }
            }
            _ if child.is_named() || !operator.is_empty() => {
                if let Some(end) = end.replace(child.end_byte()) {
                    reader.require_blank(end, child.start_byte())?;
                }
                targets.push(reader.read_word(child)?);
            }
            _ => operator = reader.raw(child).to_owned(),
        }
    }
    let mut targets = targets.into_iter();
    let target = targets.next().unwrap_or_default();
    extra.words.extend(targets);
    let numbered = !target.text.is_empty() && target.text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
    let kind = match operator.as_str() {
        "<" => "read",
        ">" | ">|" | "&>" => "write",
        ">>" | "&>>" => "append",
        ">&" if numbered || target.text == "-" => "duplicate",
        ">&" => "write",
        "<&" | "<&-" | ">&-" => "duplicate",
        other => return Err(refused(format!("the redirection `{other}` is not supported"))),
    };
    if target.dynamic || target.glob {
        reader
            .collector
            .add_doubt(format!("the target `{}` of a redirection is known only when the command runs", target.text));
    }
    if ["/dev/tcp/", "/dev/udp/"].iter().any(|start| target.text.starts_with(start)) {
        reader.collector.add_doubt("a redirection reaches another machine");
    }
    reader.collector.shell.dynamic |= target.dynamic;
    if operator.starts_with('<') && (descriptor.is_empty() || descriptor == "0") {
        extra.stdin.push(Stdin::Other);
    }
    extra.redirects.push(Redirect { kind, target: target.text });
    Ok(())
}

fn here_string<'t>(reader: &mut Reader<'_>, node: Node<'t>, extra: &mut TrailingParts<'t>) -> Result<(), Unparsed> {
    let mut words = Vec::new();
    let mut descriptor = false;
    for child in children(node) {
        match child.kind() {
            "file_descriptor" => descriptor = true,
            "<<<" => {}
            _ if words.is_empty() => words.push(reader.read_word(child)?),
            kind => return Err(refused(format!("`{kind}` is not supported after a here-string"))),
        }
    }
    let text = words.pop().ok_or_else(|| refused("a here-string is missing"))?;
    reader.collector.shell.dynamic |= text.dynamic;
    let known = !text.dynamic && !descriptor;
    extra.stdin.push(if known { Stdin::Text(text.text.clone()) } else { Stdin::Other });
    extra.redirects.push(Redirect { kind: "here_string", target: text.text });
    Ok(())
}

fn here_document<'t>(reader: &mut Reader<'_>, node: Node<'t>, extra: &mut TrailingParts<'t>) -> Result<(), Unparsed> {
    let mut document = Document::default();
    for child in children(node) {
        match child.kind() {
            "<<" => {}
            "<<-" => document.tabs = true,
            "file_descriptor" => document.descriptor = true,
            "heredoc_start" => document.start = reader.raw(child).to_owned(),
            "heredoc_body" => {
                document.body = reader.raw(child).to_owned();
                document.expands =
                    child.named_child_count() > children(child).filter(|part| part.kind() == "heredoc_content").count();
                reader.inside(child)?;
            }
            "heredoc_end" => {
                let before = reader.source.get(..child.start_byte()).unwrap_or_default();
                let line = before.rsplit('\n').next().unwrap_or_default();
                let after = reader.source.get(child.end_byte()..).unwrap_or_default();
                let rest = after.split('\n').next().unwrap_or_default();
                document.end = format!("{line}{}{rest}", reader.raw(child));
            }
            "&&" | "||" | ";" => {}
            "|" | "|&" => reader.collector.shell.pipes = true,
            "&" => reader.collector.shell.background = true,
            "pipeline" => {
                reader.collector.shell.pipes = true;
                extra.after.push(child);
            }
            kind if kind.ends_with("_redirect") => read(reader, child, extra)?,
            _ if node_is_right(node, child) => extra.after.push(child),
            _ => {
                let word = reader.read_word(child)?;
                extra.words.push(word);
            }
        }
    }
    let text = document.text()?;
    reader.collector.shell.dynamic |= text.is_none();
    extra.redirects.push(Redirect { kind: "here_document", target: document.body.clone() });
    extra.stdin.push(match text {
        Some(text) if !document.descriptor => Stdin::Text(text),
        _ => Stdin::Other,
    });
    Ok(())
}

fn node_is_right(node: Node<'_>, child: Node<'_>) -> bool {
    node.child_by_field_name("right").is_some_and(|right| right.id() == child.id())
}

/// A here-document as the tree gives it, to be checked by the rules of the shell.
#[derive(Default)]
struct Document {
    start: String,
    body: String,
    end: String,
    tabs: bool,
    descriptor: bool,
    expands: bool,
}

impl Document {
    /// Returns the text that the command reads, or `None` if the document has expansions. Refuses a document that a shell would
    /// end at another line.
    fn text(&self) -> Result<Option<String>, Unparsed> {
        let misread = || refused("the end of a here-document is not clear");
        let quoted = self.start.starts_with(['\'', '"']);
        let delimiter = match self.start.chars().next() {
            Some(quote @ ('\'' | '"')) => {
                self.start.strip_prefix(quote).and_then(|start| start.strip_suffix(quote)).ok_or_else(misread)?
            }
            _ => self.start.as_str(),
        };
        let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if delimiter.is_empty() || !delimiter.chars().all(simple) {
            return Err(misread());
        }
        let strip = |line: &str| if self.tabs { line.trim_start_matches('\t').to_owned() } else { line.to_owned() };
        let mut body = self.body.as_str();
        // With `<<-` the tree counts the tabs before the delimiter as part of the body.
        if self.tabs {
            body = body.trim_end_matches('\t');
        }
        let lines: Vec<String> = body.lines().map(strip).collect();
        if strip(&self.end) != delimiter || lines.iter().any(|line| line == delimiter) {
            return Err(misread());
        }
        if !quoted && (self.expands || body.contains(['\\', '$', '`'])) {
            return Ok(None);
        }
        Ok(Some(lines.iter().map(|line| format!("{line}\n")).collect()))
    }
}

//! Converts the content of results to JSON of limited size.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

/// Largest size of the text of a result and of a message, in bytes.
const SHOWN: usize = 64 << 10;
const SHORT: usize = 1000;

/// Converts the result of a call: `text`, with notes in place of other content, and `structured` if it says more than
/// the text.
pub(crate) fn result(result: CallToolResult) -> Value {
    let text = result.content.iter().map(block).collect::<Vec<_>>().join("\n");
    let structured = result.structured_content.filter(|value| !value.is_null());
    let Some(structured) = structured else {
        return json!({"text": cut(&text, SHOWN)});
    };
    // Servers repeat structured content as text for clients that read only text.
    let repeated = text.is_empty() || serde_json::from_str::<Value>(&text).is_ok_and(|said| said == structured);
    let whole = structured.to_string();
    let structured = if whole.len() > SHOWN { Value::String(cut(&whole, SHOWN)) } else { structured };
    if repeated {
        json!({"structured": structured})
    } else {
        json!({"text": cut(&text, SHOWN), "structured": structured})
    }
}

/// Extracts the message and result of a call that the server reports as an error.
pub(crate) fn failure(failed: CallToolResult) -> (String, Value) {
    let result = result(failed);
    let message = result["text"]
        .as_str()
        .filter(|text| !text.trim().is_empty())
        .map_or_else(|| "the tool says that it failed".to_owned(), short);
    (message, result)
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => note("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => note("sound", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                note("file", mime_type.as_deref().unwrap_or("of an unknown type"), blob.len())
            }
            _ => "[content that cannot be shown]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link to {}: {}]", short(&link.name), short(&link.uri)),
        _ => "[content that cannot be shown]".to_owned(),
    }
}

/// Describes content that cannot be shown. Its data is base64, with four letters for three bytes.
fn note(what: &str, kind: &str, letters: usize) -> String {
    format!("[{what}, {}, about {} bytes]", short(kind), letters / 4 * 3)
}

/// Shortens a message to its beginning.
pub(crate) fn short(text: &str) -> String {
    cut(text, SHORT)
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let shown = &text[..text.floor_char_boundary(most)];
    format!("{shown}\n[cut: {} of {} bytes shown]", thousands(shown.len()), thousands(text.len()))
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_ends_with_a_mark() {
        assert_eq!(cut("äöü", 3), "ä\n[cut: 2 of 6 bytes shown]");
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(thousands), ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn content_that_is_no_text_becomes_a_note() {
        let said = CallToolResult::success(vec![
            ContentBlock::text("one"),
            ContentBlock::image("AAAAAAAA", "image/png"),
            ContentBlock::audio("AAAA", "audio/wav"),
        ]);
        assert_eq!(
            result(said),
            json!({"text": "one\n[image, image/png, about 6 bytes]\n[sound, audio/wav, about 3 bytes]"})
        );
    }

    #[test]
    fn structured_content_is_not_repeated_as_text() {
        assert_eq!(result(CallToolResult::structured(json!({"a": 1}))), json!({"structured": {"a": 1}}));
        let mut both = CallToolResult::structured(json!({"a": 1}));
        both.content = vec![ContentBlock::text("one")];
        assert_eq!(result(both), json!({"text": "one", "structured": {"a": 1}}));
        let large = json!({"a": "x".repeat(SHOWN)});
        let shown = result(CallToolResult::structured(large));
        assert!(shown["structured"].as_str().is_some_and(|text| text.ends_with("[cut: 65,536 of 65,544 bytes shown]")));
    }

    #[test]
    fn failure_without_text_gets_a_default_message() {
        assert_eq!(failure(CallToolResult::error(Vec::new())).0, "the tool says that it failed");
        assert_eq!(
            failure(CallToolResult::error(vec![ContentBlock::text("no")])),
            ("no".to_owned(), json!({"text": "no"}))
        );
    }
}

//! Questions that are messages of a conversation, and the replies to them.

use crate::text::LINE;
use crate::{Answer, Kind, Question};

/// Largest number of characters of a title that is made from a longer text.
const TITLE: usize = 120;

impl Question {
    /// Builds a question from a text. A text that fits in one line becomes the title.
    #[must_use]
    pub fn in_words(kind: Kind, words: String, title: Option<String>) -> Self {
        let (title, message) = match title {
            Some(title) => (title, Some(words)),
            None if words.chars().count() <= LINE && !words.contains(char::is_control) => (words, None),
            None => (shortened(&words), Some(words)),
        };
        Self { message, ..Self::plain(kind, title) }
    }

    /// Text of the question.
    #[must_use]
    pub fn words(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.title)
    }

    /// Text of the reply. `None` if the answer has no text.
    #[must_use]
    pub fn reply_of(&self, answer: &Answer) -> Option<String> {
        let chosen = answer.options.iter().filter_map(|id| self.option(id)).map(|option| option.label.as_str());
        let said = answer.data.as_str().into_iter().chain(answer.feedback.as_deref());
        let words: Vec<&str> = chosen.chain(said).filter(|words| !words.trim().is_empty()).collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }
}

fn shortened(words: &str) -> String {
    let line = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= TITLE {
        return line;
    }
    let cut: String = line.chars().take(TITLE - 1).collect();
    format!("{}…", cut.trim_end())
}

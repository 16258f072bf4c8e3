//! Builds and resolves JSON Pointers.

use serde_json::Value;

/// Appends one token to a JSON Pointer, escaped according to RFC 6901.
pub(crate) fn child(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// Resolves the JSON Pointer of a URI fragment. Returns the decoded pointer and its target.
pub(crate) fn resolve<'a>(schema: &'a Value, fragment: &str) -> Option<(String, &'a Value)> {
    let decoded = percent_decode(fragment)?;
    let target = schema.pointer(&decoded)?;
    Some((decoded, target))
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_escaped() {
        #[track_caller]
        fn check(token: &str, expected: &str) {
            assert_eq!(child("/a", token), expected);
        }
        check("b", "/a/b");
        check("b/c", "/a/b~1c");
        check("b~c", "/a/b~0c");
        check("", "/a/");
    }

    #[test]
    fn fragments_are_resolved() {
        let schema = json!({"$defs": {"a b": 1, "c/d": 2, "é": 3}});
        let check = |fragment: &str, expected: Option<i64>| {
            assert_eq!(resolve(&schema, fragment).and_then(|(_, value)| value.as_i64()), expected, "{fragment}");
        };
        check("/$defs/a%20b", Some(1));
        check("/$defs/c~1d", Some(2));
        check("/%24defs/%C3%A9", Some(3));
        check("/$defs/none", None);
        check("/$defs/%2", None);
        check("/$defs/%FF", None);
    }
}

//! Long results are cut and say so.

use serde_json::json;

use crate::tools::ground::Ground;

#[tokio::test]
async fn a_long_file_says_where_to_read_on() {
    let ground = Ground::new();
    let text: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    ground.put("long", &text);
    let mut read = String::new();
    let mut from = 1;
    loop {
        let result = ground.done("read_file", json!({"path": "long", "from_line": from})).await;
        let content = result["content"].as_str().unwrap();
        if result["cut"] == json!(false) {
            read.push_str(content);
            break;
        }
        let next = usize::try_from(result["next_line"].as_u64().unwrap()).unwrap();
        let (shown, mark) = content.rsplit_once("\n[cut: ").unwrap();
        assert!(mark.ends_with(" bytes shown]"), "{mark}");
        read.extend(shown.split_inclusive('\n').take(next - from));
        from = next;
    }
    assert!(from > 1);
    assert_eq!(read, text);
}

#[tokio::test]
async fn one_line_that_is_too_long_cannot_be_read_on() {
    let ground = Ground::new();
    ground.put("line", "x".repeat(99_999));
    let result = ground.done("read_file", json!({"path": "line"})).await;
    let content = result["content"].as_str().unwrap();
    assert!(content.ends_with("\n[cut: 65,536 of 99,999 bytes shown]"));
    assert_eq!(result["next_line"], json!(null));
}

#[tokio::test]
async fn a_long_list_says_that_there_is_more() {
    let ground = Ground::new();
    for number in 0..1001 {
        ground.put(&format!("{number:04}"), "");
    }
    let result = ground.done("list_files", json!({})).await;
    assert_eq!(result["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(result["note"], json!("[cut: 1000 entries shown, and there are more]"));
    std::fs::remove_file(ground.path("1000")).unwrap();
    let result = ground.done("list_files", json!({})).await;
    assert_eq!((result["entries"].as_array().unwrap().len(), &result["cut"]), (1000, &json!(false)));
}

#[tokio::test]
async fn many_matches_are_cut() {
    let ground = Ground::new();
    ground.put("many", "hit\n".repeat(201));
    let result = ground.done("search_files", json!({"pattern": "hit"})).await;
    assert_eq!(result["matches"].as_array().unwrap().len(), 200);
    assert_eq!(result["note"], json!("[cut: 200 matches of 1 files shown, and not everything was looked at]"));
}

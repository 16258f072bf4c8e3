//! Long results are cut and say so.

use serde_json::json;

use crate::tools::test_workspace::TestWorkspace;

#[tokio::test]
async fn cut_file_names_the_next_line_to_read() {
    let test_workspace = TestWorkspace::new();
    let text: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    test_workspace.put("long", &text);
    let mut read = String::new();
    let mut from = 1;
    loop {
        let result = test_workspace.done("read_file", json!({"path": "long", "from_line": from})).await;
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
async fn cut_line_has_no_next_line() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("line", "x".repeat(99_999));
    let result = test_workspace.done("read_file", json!({"path": "line"})).await;
    let content = result["content"].as_str().unwrap();
    assert!(content.ends_with("\n[cut: 65,536 of 99,999 bytes shown]"));
    assert_eq!(result["next_line"], json!(null));
}

#[tokio::test]
async fn cut_directory_listing_has_a_note() {
    let test_workspace = TestWorkspace::new();
    for number in 0..1001 {
        test_workspace.put(&format!("{number:04}"), "");
    }
    let result = test_workspace.done("list_files", json!({})).await;
    assert_eq!(result["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(result["note"], json!("[cut: 1000 entries shown, and there are more]"));
    std::fs::remove_file(test_workspace.path("1000")).unwrap();
    let result = test_workspace.done("list_files", json!({})).await;
    assert_eq!((result["entries"].as_array().unwrap().len(), &result["cut"]), (1000, &json!(false)));
}

#[tokio::test]
async fn many_matches_are_cut() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("many", "hit\n".repeat(201));
    let result = test_workspace.done("search_files", json!({"pattern": "hit"})).await;
    assert_eq!(result["matches"].as_array().unwrap().len(), 200);
    assert_eq!(result["note"], json!("[cut: 200 matches of 1 files shown, and the search is incomplete]"));
}

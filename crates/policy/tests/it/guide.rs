//! Tests that the example and the fields in the policy guide load.

use holdpoint_policy::Policy;

const GUIDE: &str = include_str!("../../../../docs/guides/policy.md");

fn loads(text: &str) {
    if let Err(findings) = Policy::load("guide.toml", text) {
        panic!("{text}\n{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn the_example_of_the_guide_loads() {
    let (_, rest) = GUIDE.split_once("```toml\n").unwrap();
    loads(rest.split_once("```").unwrap().0);
}

#[test]
fn every_file_in_the_guide_loads() {
    let blocks: Vec<&str> = GUIDE.split("```toml\n").skip(2).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 2);
    blocks.iter().for_each(|block| loads(&format!("version = 1\n{block}")));
}

#[test]
fn every_field_in_the_guide_exists() {
    for variable in ["shell", "path", "url", "sql"] {
        let table = GUIDE.split_once("| variable | fields |").unwrap().1;
        let row = table.lines().find(|line| line.starts_with(&format!("| `{variable}`"))).unwrap();
        let (_, fields) = row.trim_matches('|').split_once('|').unwrap();
        let outer = fields
            .split_once('(')
            .map_or(fields.to_owned(), |(start, rest)| format!("{start}{}", rest.split_once(')').unwrap().1));
        let fields: Vec<&str> = outer.split('`').skip(1).step_by(2).collect();
        assert!(fields.len() > 3, "{row}");
        for field in fields {
            let when = format!("has({variable}.{field})");
            loads(&format!("version = 1\n[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"ask\"\nwhen = '{when}'"));
        }
    }
}

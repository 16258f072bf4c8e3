//! The examples of the guide are valid.

use domain::agent::ModelChoice;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::KEY;
use crate::models::open;

#[derive(Deserialize)]
struct Example {
    model: ModelChoice,
}

#[test]
fn every_example_of_the_guide_opens_a_model() {
    let guide = include_str!("../../../../../docs/guides/models.md");
    let examples = guide.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect::<Vec<_>>();
    assert!(examples.len() >= 4);
    for example in examples {
        let Example { model } = toml::from_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        assert!(open(&model, Some(Zeroizing::new(KEY.to_owned()))).is_ok(), "{example}");
    }
}

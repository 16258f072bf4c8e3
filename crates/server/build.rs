//! Rebuilds the crate when the built web page has changed. Creates the directory of the page if it is missing, because
//! Cargo treats a missing path as changed at every build.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    // If the directory cannot be created, the binary contains no page, which is allowed.
    let _ = std::fs::create_dir_all(&page);
    println!("cargo:rerun-if-changed={}", page.display());
}

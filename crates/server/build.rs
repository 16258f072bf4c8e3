//! Has the crate built again when the page was. The folder is made if absent, since one that is not there looks changed each time.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    // Where it cannot be made, the binary has no page: that is allowed.
    let _ = std::fs::create_dir_all(&page);
    println!("cargo:rerun-if-changed={}", page.display());
}

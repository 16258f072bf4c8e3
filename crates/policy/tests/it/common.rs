//! What holds for any input, for the corpus here and for the fuzz targets.

pub(crate) mod any_path;
pub(crate) mod any_policy;
pub(crate) mod any_shell;
pub(crate) mod any_sql;
pub(crate) mod any_url;

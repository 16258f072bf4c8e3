//! Checks for any input, shared by the corpus test and the fuzz targets.

pub(crate) mod any_path;
pub(crate) mod any_policy;
pub(crate) mod any_shell;
pub(crate) mod any_sql;
pub(crate) mod any_url;

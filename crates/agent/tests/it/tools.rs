//! The tools of a workspace, on real files and with real processes.

mod command;
mod confinement;
mod cut;
mod files;
mod search;
mod test_workspace;
mod writing;

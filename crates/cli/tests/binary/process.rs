//! Tests one process: how it starts, stops, refuses settings, and behaves when the disk or database fails.

mod backup;
mod definitions;
mod full_disk;
mod keys;
mod master_key;
mod outage;
mod people;
mod policy_explain;
mod policy_file;
mod policy_test;
mod privacy;
mod proxies;
mod readers;
mod settings;
mod starting;
mod stopping;

//! One process: how it starts, what it refuses, how it stops, and how it behaves when the disk or database fails.

mod backup;
mod definitions;
mod full_disk;
mod keys;
mod master_key;
mod outage;
mod people;
mod policy_file;
mod privacy;
mod proxies;
mod readers;
mod settings;
mod starting;
mod stopping;

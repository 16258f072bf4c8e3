//! One process: how it starts, what it refuses, how it stops, and what it does when what it stands on gives way.

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

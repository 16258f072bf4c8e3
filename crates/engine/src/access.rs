//! Who calls, and what they may see.
//!
//! `authenticate.rs`, `visit.rs` and `ticket.rs` turn a credential into a `Caller`; `current_caller.rs` reads it again in the transaction of every
//! change. `sign_in.rs`, `password.rs` and `links.rs` let people in. `keys.rs` and `users.rs` manage keys and people. `sight.rs` limits what an agent
//! reads to its own sessions. Start with `authenticate.rs`, then `current_caller.rs`.

pub(crate) mod authenticate;
pub(crate) mod current_caller;
pub(crate) mod hashing;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod me;
pub(crate) mod password;
pub(crate) mod sight;
pub(crate) mod sign_in;
pub(crate) mod ticket;
pub(crate) mod user_change;
pub(crate) mod users;
pub(crate) mod visit;

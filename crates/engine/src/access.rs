//! Authenticates callers, manages keys and accounts, and limits what an agent reads.
//!
//! `authenticate.rs` and `ticket.rs` turn a credential into a `Caller`; `run/transaction.rs` reads the caller again in the transaction of every
//! change. `sign_in.rs`, `password.rs` and `links.rs` sign people in; `me.rs` returns the caller's own account and signs out. `keys.rs`,
//! `users.rs` and `user_change.rs` manage keys and people. `sight.rs` limits an agent's reads to its own sessions. What a role may do is
//! not decided here but in `domain::access`. Start with `authenticate.rs`, then `sight.rs`.

pub(crate) mod authenticate;
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

pub(crate) use keys::revoke_key;
pub(crate) use links::list_administered_projects;
pub(crate) use sight::{lock_question, lock_session};
pub(crate) use user_change::{remove_role, revoke_excess_keys, save_membership};
pub(crate) use users::{
    add_member, create_account, find_member, protect_foreign_admins, require_member_room, void_sign_ins,
};

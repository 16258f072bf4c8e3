//! One use case a file: load, decide, save, append, commit, ring.
//!
//! Duty: carry out commands and queries of authenticated callers. A use case runs in one transaction of the store; the domain
//! decides; what others should hear (bells, figures, log lines) is gathered meanwhile and performed only after the commit.
//!
//! This crate must never know HTTP, SQL or a model's API.
//!
//! Start reading at [`Engine`] and `work.rs` (what every command shares), then `answer.rs`. Time is in `timers.rs`: one loop
//! that sleeps until the next due moment. Waiting is in `bell.rs`: a ring is a hint, the store is the truth.

mod answer;
mod answer_many;
mod ask;
mod authenticate;
mod auto;
mod bell;
mod cancel;
mod claim;
mod complete;
mod control;
mod engine;
mod error;
mod expire;
mod fail;
mod follow;
mod forms_check;
mod heartbeat;
mod housekeeping;
mod ids;
mod keep;
mod kept;
mod keys;
mod list;
mod master;
mod once;
mod release;
mod rotate;
mod seen;
mod start;
mod stats;
mod take;
mod timers;
mod unlock;
mod vault;
mod wait;
mod work;

pub use answer_many::{Entry, EntryResult};
pub use ask::Ask;
pub use bell::{Bell, Listener};
pub use engine::{Engine, Settings};
pub use error::Error;
pub use follow::{ProjectFollower, SessionFollower};
pub use ids::Ids;
pub use keys::NewKey;
pub use list::InteractionQuery;
pub use master::{MasterKey, Reread};
pub use once::Idempotency;
pub use rotate::Rotated;
pub use start::Start;
pub use take::Taken;
pub use vault::Vault;

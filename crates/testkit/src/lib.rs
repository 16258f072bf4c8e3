//! What tests share: a clock that is moved by hand, and a private PostgreSQL server.
//!
//! Never an ordinary dependency: only `[dev-dependencies]` name this crate.

mod clock;
pub mod postgres;

pub use clock::ManualClock;

//! Tests which schemas are admitted, and which answers fit them.

mod admit;
mod check;
mod never_panics;

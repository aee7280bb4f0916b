//! When to call a person: several signs of being stuck, seen together, for several rounds
//! (docs/spec-map.md, signals and escalation).
//!
//! Decision and action are split. What is decided here is a fold over recorded facts: it reads no file, starts no
//! program and keeps no state but what it returns, so that a test, another clone and a replay all decide alike. What
//! is done about it (handoff, notification, marker, PAUSE) stands in `policy` and `effect`.

mod decide;
mod rounds;

pub use decide::{Memory, SeenBy, SignalFacts, step};
pub use rounds::{episode, every_round};

#[cfg(test)]
mod tests;

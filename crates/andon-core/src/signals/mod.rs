//! When to call a person: several signs of being stuck, seen together, for several iterations (docs/spec-map.md,
//! signals and escalation).
//!
//! Deciding and acting are separate. The decision is a fold over recorded facts: it reads no file, starts no program
//! and keeps no state but what it returns, so that a test, another clone and a replay all decide alike. The responses
//! (handoff, notification, marker, PAUSE) are in `policy` and `effect`.

mod decide;
mod iterations;

pub use decide::{Memory, Observation, SignalFacts, step};
pub use iterations::{episode, every_iteration};

#[cfg(test)]
mod tests;

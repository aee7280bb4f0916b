#![doc = include_str!("../README.md")]

// The kit of the tests names this crate as every other crate does.
#[cfg(test)]
extern crate self as andon_core;

#[doc(no_inline)]
pub use testreport::{WordList, command_words, shell_reading, words};

pub mod change;
pub mod detect;
pub mod domain;
pub mod escape;
pub mod format;
pub mod history;
pub mod policy;
pub mod signals;
#[cfg(test)]
#[path = "../../andon-testkit/src/facts/mod.rs"]
#[allow(
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    reason = "facts for tests, named by what they are"
)]
pub mod testkit;

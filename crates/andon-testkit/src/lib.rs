#![doc = include_str!("../README.md")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up must fail")]
#![allow(clippy::missing_panics_doc, clippy::return_self_not_must_use, reason = "the same")]

pub mod facts;
mod programs;
pub mod samples;

pub use programs::write_program;

//! Everything a person or a program sees, rendered from values.
//!
//! One value, two voices: each view struct here has a `text` and a `json` function that carry the same.
//! Kept apart from the commands, so that a hook, `andon status` and a CHECKPOINT.md can never tell different
//! stories, and so that untrusted text (commit subjects, test names, paths, reasons) is escaped in one place:
//! views hold raw text, renderers escape it.
//!
//! Rank 2, pure: reads no clock, no terminal, no environment. Whether to colour is decided in `cli` and
//! passed in as [`style::Style`].

pub mod advice;
pub mod agent;
pub mod backfill;
pub mod briefing;
pub mod calibration;
pub mod check;
pub mod ci;
pub mod complete;
pub mod config;
pub mod context;
pub mod escape;
pub mod explain;
mod halted;
pub mod handoff;
pub mod html;
pub mod json;
pub mod log;
pub mod message;
pub mod observe;
mod page;
mod phrase;
pub mod pin;
pub mod replay;
pub mod report_file;
pub mod rule_counts;
pub mod safety;
#[cfg(test)]
pub(crate) mod samples;
pub mod show;
pub mod spark;
pub mod status;
pub mod style;
pub mod sync;
pub mod telemetry;
pub mod trajectory;
pub mod watch;

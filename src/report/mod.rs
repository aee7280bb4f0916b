//! The JSON that several verbs print, rendered from values.
//!
//! The text that a person reads and the JSON that a program reads are made from the same view, so that a hook, `andon status`
//! and a CHECKPOINT.md cannot tell different stories. Views hold raw text; renderers escape it.
//!
//! Pure: reads no clock, no terminal, no environment.

pub mod json;

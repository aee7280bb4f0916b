//! Everything a person or a program sees, rendered from values.
//!
//! One value, two voices: each view struct here has a `text` and a `json` function that carry the same.
//! Kept apart from the commands, so that a hook, `andon status` and a CHECKPOINT.md can never tell different
//! stories, and so that untrusted text (commit subjects, test names, paths, reasons) is escaped in one place:
//! views hold raw text, renderers escape it.
//!
//! Pure: reads no clock, no terminal, no environment. Whether to colour is decided in `cli` and
//! passed in as [`andon_engine::text::style::Style`].

pub mod json;

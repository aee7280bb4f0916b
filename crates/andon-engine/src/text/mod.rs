//! The report files of a halt, briefings and handoffs as text, and the parts that every text for people is made of.
//!
//! Pure: reads no clock, no terminal, no environment. Values hold raw text; renderers escape it.

pub mod briefing;
pub mod decisions;
pub mod forge;
pub mod halt;
pub mod handoff;
pub mod line_summary;
pub mod message;
pub mod named_files;
pub mod page;
pub mod phrase;
pub mod report_file;
pub mod shown_change;
pub mod spark;
pub mod style;

pub use self::{
    forge::*, handoff::Material, line_summary::*, message::Consequence, page::*, shown_change::*,
    spark::Glyphs, style::*,
};

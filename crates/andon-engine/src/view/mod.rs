//! What the engine found out, as values that a report shows. Texts are raw.

pub mod complete;
pub mod context;
pub mod sync;

//! What the program prints for programs (`--format json`), and the JSON files it writes for them: one type a document.
//! docs/formats.md fixes the keys. Every key is always there, and what is not known is `null`, unless a type says
//! otherwise. Keys are printed sorted, in whatever order a type declares them.
//!
//! Here are the types, and what is made of values of the product; the types that show a view of `report` are filled there.

mod findings;

pub use findings::{DecisionJson, HandedInJson, ObservedJson, TestRunJson};

/// How documents are printed.
pub mod printing {
    pub use andon_engine::json::{document, documents, line, one_line};

    use andon_core::domain::diagnostic::Diagnostic;

    /// Messages as a list.
    pub fn diagnostics(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
        diagnostics.iter().collect()
    }
}

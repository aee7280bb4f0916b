//! What a watch over the working tree tells when it ends, wherever there is one.

use std::collections::BTreeSet;

/// What happened under a watch.
#[derive(Debug)]
pub struct Events {
    /// Where to look again, in order: directories, and files that are there or were.
    pub paths: BTreeSet<Vec<u8>>,
    /// Files that are as they were and held something else for a while.
    pub put_back: BTreeSet<Vec<u8>>,
    /// Whether git wrote the index.
    pub index: IndexFile,
}

/// The index after a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFile {
    /// The same file.
    AsItWas,
    /// Another one, or none.
    Written,
}

//! git's index, read from its bytes: what a hook needs of it costs a tenth of what libgit2 takes for all of it.

pub(crate) mod entries;
pub(crate) mod hidden_files;
pub(crate) mod tree;

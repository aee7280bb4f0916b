//! git's index, read from its bytes: what a hook needs of it costs a tenth of what libgit2 takes for all of it.

pub(in crate::git) mod entries;
pub(in crate::git) mod examined;
pub(in crate::git) mod paths;
pub(in crate::git) mod tree;

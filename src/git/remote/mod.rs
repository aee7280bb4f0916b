//! Other repositories: what is fetched, pushed and read of them.

pub(in crate::git) mod bundle;
pub(in crate::git) mod online;

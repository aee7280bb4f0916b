//! Other repositories: what is fetched, pushed and read of them.

pub(crate) mod bundle;
pub(crate) mod online;

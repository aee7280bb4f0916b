//! Halts leave traces outside their own ref, and records travel with the branch.

//! `check` believes nothing that the branch says of itself.

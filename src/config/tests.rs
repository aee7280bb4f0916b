//! Tests over whole files.

//! detect

//! Whole stories: entries in, what follows from them out. Every code and every rule has its case.

#![allow(clippy::needless_pass_by_value, reason = "stories are told in values")]

mod codes;
mod keys;
mod money;
mod panels;
mod people;
mod properties;
mod story;
